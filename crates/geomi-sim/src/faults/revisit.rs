//! The plan in the loop of the model process: what is due is queued, what was
//! seen is told.

use std::time::Duration;

use geomi_frontier::Entry;
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use super::mutation::Mutation;
use super::plan::{Plan, Wishes, days};
use super::row::Row;
use super::world::{Stop, World};
use crate::entry::entry;

impl World {
    /// A process that keeps the crawl fresh begins: its plan is made of the rows
    /// that are durable.
    pub(super) fn take_up_plan(&mut self) -> Result<(), String> {
        let mut rows: Vec<&Row> = self.disks.iter().flat_map(|disk| &disk.rows).collect();
        rows.sort_by_key(|row| row.number);
        if self.is(Mutation::HistoryDropped) {
            rows.pop();
        }
        if self.is(Mutation::VisitCountedTwice) {
            rows.extend_from_within(rows.len().saturating_sub(1)..);
        }
        let now = self.clock();
        let (plan, out) = Plan::of(rows.into_iter(), self.wishes(), days(now));
        self.ledger.begins(&plan, &out, now)?;
        self.plan = Some(plan);
        // A page that was to be tried again may have been refused since, which leaves
        // no row.
        for url in out {
            if self
                .records
                .get(&url)
                .is_some_and(|record| record.is_refused)
            {
                self.hear_refused(&url);
            }
        }
        Ok(())
    }

    /// What the process asks of its plan.
    fn wishes(&self) -> Wishes {
        let mut wishes = self.wishes;
        match self.mutation {
            Some(Mutation::BudgetIgnored) => wishes.budget = wishes.budget.times(3.0),
            Some(Mutation::LongestGapIgnored) => wishes.longest_gap *= 10.0,
            _ => {}
        }
        wishes
    }

    /// When the plan wants to be asked again, in true time.
    pub(super) fn plan_wakeup(&self) -> Option<Timestamp> {
        let plan = self.plan.as_ref().filter(|_| self.now < self.ends_at)?;
        // A plan that does not move on is asked again all the same, a second later.
        let soon = self.clock() + Duration::from_secs(1);
        Some(self.true_time(plan.wake()?.max(soon)))
    }

    /// Queues the pages that are due.
    pub(super) fn queue_due(&mut self) -> Result<(), Stop> {
        let now = self.clock();
        let is_over = self.now >= self.ends_at;
        let Some(plan) = self.plan.as_ref().filter(|_| !is_over) else {
            return Ok(());
        };
        if plan.wake().is_some_and(|wake| wake <= now) {
            // Records are read from what is durable.
            self.commit()?;
        }
        while let Some(plan) = &mut self.plan
            && let Some(url) = plan.next(days(now))
        {
            self.ledger.hands_out(&url, now);
            self.put_back(url)?;
        }
        self.ledger.check(now)?;
        Ok(self.ledger.check_out(self.now, &self.web)?)
    }

    /// Puts a page back into its queue, unless it waits there.
    fn put_back(&mut self, url: CrawlUrl) -> Result<(), String> {
        let mut record = self.record(&url);
        if record.attempts == 0 && !self.is(Mutation::PutBackTwice) {
            return Ok(());
        }
        self.tell(format_args!("due {url}"));
        self.watch.put_back(&url)?;
        self.ledger.spends(&url, self.clock())?;
        record.attempts = 0;
        record.is_refused = false;
        record.round += 1;
        self.keep_record(&url, record);
        let again = Entry {
            is_revisit: true,
            ..entry(url, 1)
        };
        self.enqueue(again);
        Ok(())
    }

    /// A row is written: the plan hears of it.
    pub(super) fn hear(&mut self, row: &Row) -> Result<(), String> {
        if self.is(Mutation::VisitUntold) && self.draws.once_in(20) {
            return Ok(());
        }
        let Some(plan) = &mut self.plan else {
            return Ok(());
        };
        self.ledger.hears(row)?;
        if plan.take(row) {
            self.ledger.hands_out(&row.url, row.at);
        }
        if self.mutation == Some(Mutation::VisitHeardTwice) {
            self.ledger.hears(row)?;
            plan.take(row);
        }
        Ok(())
    }

    /// A page was refused when its turn came: it makes no row.
    pub(super) fn hear_refused(&mut self, url: &CrawlUrl) {
        let now = self.clock();
        if let Some(plan) = &mut self.plan {
            self.ledger.refused(url, now);
            if self.mutation != Some(Mutation::RefusalUntold) {
                plan.missed(url, days(now));
            }
        }
    }
}
