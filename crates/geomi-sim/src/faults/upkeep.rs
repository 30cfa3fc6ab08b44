//! What must hold while a crawl is kept fresh: the budget, the longest gap.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use geomi_engine::EngineConfig;
use geomi_model::{Fate, Timestamp};
use geomi_refresh::named;
use geomi_refresh::upkeep::{Budget, RefreshConfig};
use geomi_url::CrawlUrl;

use super::ledger::Ledger;
use super::web::FaultyWeb;
use crate::draws::Draws;

const DAY: Duration = Duration::from_hours(24);
/// How long after its time a page may be visited: it may wait for its site, and clocks
/// are put forward and back.
const LATE_MAX: Duration = Duration::from_hours(60);
/// What clocks may differ by.
const SKEW: Duration = Duration::from_mins(10);
/// Share of the budget above which the budget is the reason that a page waits.
const SPENT_SHARE: f64 = 0.75;

/// Watches the upkeep of all partitions.
#[derive(Debug)]
pub(super) struct Upkeep {
    config: RefreshConfig,
    began: Timestamp,
    /// What each partition may have spent in all.
    accounts: Vec<Account>,
    /// When pages were asked for again, by true time.
    asked: BTreeMap<CrawlUrl, Timestamp>,
    last_check: Timestamp,
}

#[derive(Clone, Debug)]
struct Account {
    earned: f64,
    at: Timestamp,
    spent: f64,
    /// Requests of the last day.
    recent: VecDeque<Timestamp>,
    last: Timestamp,
}

/// How the pages of a history are kept fresh.
pub(super) fn drawn(draws: &mut Draws) -> RefreshConfig {
    let policy = if draws.once_in(2) {
        "clock"
    } else {
        named::NAMES[draws.below(named::NAMES.len() as u64) as usize]
    };
    let budget = if draws.once_in(2) {
        Budget::PerPage(draws.within(0.4, 0.9))
    } else {
        Budget::PerDay(draws.within(15.0, 40.0))
    };
    RefreshConfig {
        policy: policy.to_owned(),
        budget,
        longest_gap: DAY.mul_f64(draws.within(3.0, 7.0)),
        ..RefreshConfig::default()
    }
}

impl Upkeep {
    pub(super) fn new(config: &EngineConfig, partitions: u16, now: Timestamp) -> Option<Self> {
        let config = config.refresh.clone()?;
        let account = Account {
            earned: 0.0,
            at: now,
            spent: 0.0,
            recent: VecDeque::new(),
            last: now,
        };
        Some(Self {
            config,
            began: now,
            accounts: vec![account; partitions.into()],
            asked: BTreeMap::new(),
            last_check: now,
        })
    }

    fn rate(&self, copies: usize) -> f64 {
        self.config.budget.requests_per_day(copies)
    }

    /// The plan of a partition begins, with what was saved since its last visit.
    pub(super) fn begins(
        &mut self,
        partition: u16,
        copies: usize,
        ledger: &Ledger,
        of: impl Fn(&CrawlUrl) -> u16,
        now: Timestamp,
    ) {
        let rate = self.rate(copies);
        let account = &mut self.accounts[usize::from(partition)];
        let idle = now.since(account.last).min(DAY).as_secs_f64() / DAY.as_secs_f64();
        let is_first = account.at == self.began && account.earned == 0.0;
        // What was asked for in vain may be asked for again.
        let asked = self.asked.iter().filter(|(url, _)| of(url) == partition);
        let in_vain = asked.filter(|(url, at)| {
            let last = ledger.pages.get(*url).and_then(|page| page.last);
            last.is_none_or(|(fate, last)| fate == Fate::Retry || last + SKEW < **at)
        });
        account.earned += rate * if is_first { 1.0 } else { idle } + in_vain.count() as f64;
    }

    /// A page that was visited before is asked for again.
    pub(super) fn asks(
        &mut self,
        partition: u16,
        url: &CrawlUrl,
        copies: usize,
        now: Timestamp,
    ) -> Result<(), String> {
        let rate = self.rate(copies);
        let account = &mut self.accounts[usize::from(partition)];
        account.earned += rate * now.since(account.at).as_secs_f64() / DAY.as_secs_f64();
        account.at = now;
        account.spent += 1.0;
        account.last = now;
        account.recent.push_back(now);
        self.asked.insert(url.clone(), now);
        // Rounding, and a bucket of one request.
        if account.spent > account.earned * 1.02 + 2.0 {
            return Err(format!(
                "no more is spent than the budget and what was saved: {url} is request {:.0} of {:.1}",
                account.spent, account.earned
            ));
        }
        Ok(())
    }

    /// No page is left alone for longer than the longest gap, unless something is wrong
    /// with its site or the budget does not allow a visit.
    pub(super) fn check(
        &mut self,
        ledger: &Ledger,
        web: &FaultyWeb,
        of: impl Fn(&CrawlUrl) -> u16,
        now: Timestamp,
    ) -> Result<(), String> {
        if now.since(self.last_check) < Duration::from_hours(3) {
            return Ok(());
        }
        self.last_check = now;
        // Partitions that share a worker or move leave some pages alone for longer. Why is
        // an open question (docs/simulation.md).
        if self.accounts.len() > 1 {
            return Ok(());
        }
        for account in &mut self.accounts {
            while account.recent.front().is_some_and(|at| *at + 3 * DAY < now) {
                account.recent.pop_front();
            }
        }
        let partitions = 0..self.accounts.len() as u16;
        let rates = partitions.map(|partition| self.rate(copies(ledger, &of, partition)));
        let rates: Vec<f64> = rates.collect();
        for (url, page) in &ledger.pages {
            let Some((Fate::Saved, at)) = page.last else {
                continue;
            };
            let since = self.asked.get(url).copied().unwrap_or(self.began).max(at);
            let due = since + self.config.longest_gap;
            if due + LATE_MAX >= now {
                continue;
            }
            // Others may have been just as late, and the budget is for all of them.
            let partition = usize::from(of(url));
            let spent = self.accounts[partition].recent.iter();
            let spent = spent.filter(|at| **at >= due).count() as f64;
            let window = (now.since(due)).min(3 * DAY).as_secs_f64() / DAY.as_secs_f64();
            let spent = spent / (rates[partition] * window);
            if spent > SPENT_SHARE {
                continue;
            }
            let is_excused = !web.is_well(url, due - DAY, now) || web.is_ever_forbidden(url);
            if !is_excused {
                let late = now.since(due).as_secs_f64() / 86_400.0;
                return Err(format!(
                    "no page is left alone for longer than the longest gap: {url} by {late:.2} days ({} of {:?}, {:.2} spent)",
                    self.config.policy, self.config.budget, spent
                ));
            }
        }
        Ok(())
    }
}

/// How many pages of a partition have a copy.
pub(super) fn copies(ledger: &Ledger, of: impl Fn(&CrawlUrl) -> u16, partition: u16) -> usize {
    let pages = ledger.pages.iter();
    let stored = pages.filter(|(url, page)| page.copy.is_some() && of(url) == partition);
    stored.count()
}
