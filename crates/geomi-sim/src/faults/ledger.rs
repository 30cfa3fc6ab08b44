//! The invariants of refreshing, kept by a book-keeper of its own: it hears what
//! the servers really held and what the process wrote down, and knows nothing of
//! the plan but what it promises.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_testweb::Content;
use geomi_url::CrawlUrl;

use super::plan::{FAILED_REST, Plan, SAVED_MAX, Wishes, days, of_days};
use super::row::{Row, Seen};
use super::web::FaultyWeb;
use super::world::PARTITIONS;

/// Clocks are put forward and back, and the plan counts in steps of ten seconds.
const TOLERANCE: Duration = Duration::from_mins(10);
/// How long a page that is due may wait for a site that answers.
const OUT_MAX: Duration = Duration::from_hours(24);
/// Rounding.
const CENT: f64 = 0.01;

/// The book-keeper.
#[derive(Debug)]
pub(super) struct Ledger {
    wishes: Wishes,
    /// The copy of each page: what was really in it.
    copies: BTreeMap<CrawlUrl, Content>,
    /// The same as of the last commit.
    copies_kept: BTreeMap<CrawlUrl, Content>,
    /// Rows written and not committed, by partition.
    fresh: Vec<Vec<(Row, Option<Content>)>>,
    /// Every row that is durable, by its number.
    rows: BTreeMap<u64, Row>,
    /// Rows that the plan of this process has heard.
    heard: BTreeSet<u64>,
    account: Account,
    /// When each page must have been handed out.
    deadlines: BTreeSet<(Timestamp, CrawlUrl)>,
    deadline_of: BTreeMap<CrawlUrl, Timestamp>,
    /// Pages that are handed out, and since when.
    out: BTreeMap<CrawlUrl, Timestamp>,
}

/// What may be spent: no less than `least` requests and no more than `most`.
/// They differ because nobody says how full the plan's bucket was.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    most: f64,
    most_at: f64,
    /// Whether that goes back to before the process began.
    has_saved: bool,
    least: f64,
    least_at: f64,
}

impl Ledger {
    pub(super) fn new(wishes: Wishes) -> Self {
        Self {
            wishes,
            copies: BTreeMap::new(),
            copies_kept: BTreeMap::new(),
            fresh: vec![Vec::new(); PARTITIONS],
            rows: BTreeMap::new(),
            heard: BTreeSet::new(),
            account: Account::default(),
            deadlines: BTreeSet::new(),
            deadline_of: BTreeMap::new(),
            out: BTreeMap::new(),
        }
    }

    /// A row is written, for an answer that `holds` this.
    pub(super) fn writes(
        &mut self,
        row: &Row,
        holds: Option<Content>,
        partition: usize,
    ) -> Result<(), String> {
        let before = self.copies.get(&row.url);
        let Row { url, seen, .. } = row;
        let truth = match (before, holds) {
            (_, None) => None,
            (None, Some(_)) => Some(Seen::First),
            (Some(before), Some(now)) if *before == now => Some(Seen::Same),
            _ => Some(Seen::Changed),
        };
        match truth {
            Some(truth) if truth != *seen => {
                return Err(format!(
                    "a change is seen if there is one and only then: {url} is {truth:?}, not {seen:?}"
                ));
            }
            None if seen.is_copy() => {
                return Err(format!(
                    "what failed is neither changed nor unchanged: {url} is {seen:?}"
                ));
            }
            _ => {}
        }
        if let Some(holds) = holds {
            self.copies.insert(url.clone(), holds);
        }
        if *seen != Seen::Retry {
            self.out.remove(url);
        }
        if *seen != Seen::Retry && self.copies.contains_key(url) {
            self.set_deadline(url, row.at + of_days(self.wishes.longest_gap));
        }
        self.fresh[partition].push((row.clone(), holds));
        Ok(())
    }

    /// The plan hears of a row.
    pub(super) fn hears(&mut self, row: &Row) -> Result<(), String> {
        if self.heard.insert(row.number) {
            return Ok(());
        }
        Err(format!("a visit is counted once: {}", row.url))
    }

    /// A batch of a partition is applied.
    pub(super) fn committed(&mut self, partition: usize) {
        for (row, holds) in self.fresh[partition].drain(..) {
            if let Some(holds) = holds {
                self.copies_kept.insert(row.url.clone(), holds);
            }
            self.rows.insert(row.number, row);
        }
    }

    /// The process died: what was not committed is forgotten.
    pub(super) fn crashed(&mut self) {
        self.fresh.iter_mut().for_each(Vec::clear);
        self.copies.clone_from(&self.copies_kept);
        self.heard.clear();
        self.deadlines.clear();
        self.deadline_of.clear();
        self.out.clear();
    }

    /// A process begins with this plan, of which these pages are out already.
    pub(super) fn begins(
        &mut self,
        plan: &Plan,
        out: &[CrawlUrl],
        now: Timestamp,
    ) -> Result<(), String> {
        let (mine, _) = Plan::of(self.rows.values(), plan.wishes(), days(now));
        if let Some(difference) = plan.differs_from(&mine) {
            return Err(format!(
                "a plan is made of the visits that are durable: {difference}"
            ));
        }
        let mut last = 0.0_f64;
        let mut known = BTreeSet::new();
        for row in self.rows.values() {
            if row.seen.is_copy() {
                known.insert(&row.url);
            }
            if row.seen != Seen::Retry && known.contains(&row.url) {
                last = last.max(days(row.at));
                let deadline = row.at + of_days(self.wishes.longest_gap);
                self.deadline_of.insert(row.url.clone(), deadline);
            }
        }
        let deadlines = self.deadline_of.iter();
        self.deadlines = deadlines.map(|(url, at)| (*at, url.clone())).collect();
        let saved = (days(now) - last).clamp(0.0, SAVED_MAX);
        self.account = Account {
            most: 0.0,
            most_at: days(now) - saved,
            has_saved: true,
            least: 0.0,
            least_at: days(now),
        };
        for url in out {
            self.hands_out(url, now);
        }
        Ok(())
    }

    /// The plan hands a page out.
    pub(super) fn hands_out(&mut self, url: &CrawlUrl, now: Timestamp) {
        self.account.least -= 1.0;
        self.out.insert(url.clone(), now);
        if let Some(deadline) = self.deadline_of.remove(url) {
            self.deadlines.remove(&(deadline, url.clone()));
        }
    }

    /// A page is put back into its queue.
    pub(super) fn spends(&mut self, url: &CrawlUrl, now: Timestamp) -> Result<(), String> {
        let rate = self.requests_per_day();
        // What can be saved while the process runs; more by the policy that knows
        // the hours.
        let days_kept = if self.wishes.policy == "clock" {
            1.0
        } else {
            0.5
        };
        let Account {
            most,
            most_at,
            has_saved,
            ..
        } = &mut self.account;
        let days_saved = if *has_saved { SAVED_MAX } else { days_kept };
        let room = (rate * days_saved).max(1.0);
        let filled = *most + (days(now) - *most_at).max(0.0) * rate;
        *most = filled.min(room.max(*most)) - 1.0;
        *most_at = days(now);
        *has_saved = false;
        if *most < -CENT {
            return Err(format!(
                "no more is spent than the budget and what was saved: {url} is {:.2} too many",
                -*most
            ));
        }
        Ok(())
    }

    /// A page that was handed out is refused: it rests for a while.
    pub(super) fn refused(&mut self, url: &CrawlUrl, now: Timestamp) {
        self.out.remove(url);
        if self.copies.contains_key(url) {
            let rest = self.wishes.longest_gap.max(FAILED_REST);
            self.set_deadline(url, now + of_days(rest));
        }
    }

    /// What must hold whenever the plan has just been asked.
    pub(super) fn check(&mut self, now: Timestamp) -> Result<(), String> {
        let rate = self.requests_per_day();
        let Account {
            least, least_at, ..
        } = &mut self.account;
        *least = (*least + (days(now) - *least_at).max(0.0) * rate).min(1.0);
        *least_at = days(now);
        let is_allowed = *least >= 1.0;
        match self.deadlines.first() {
            Some((deadline, url)) if is_allowed && *deadline + TOLERANCE < now => {
                let late = days(now) - days(*deadline);
                Err(format!(
                    "no page is left alone for longer than the longest gap: {url} by {late:.2} days"
                ))
            }
            _ => Ok(()),
        }
    }

    /// What must hold at every step: what was handed out is visited within a day,
    /// unless something was wrong with its site.
    pub(super) fn check_out(&self, now: Timestamp, web: &FaultyWeb) -> Result<(), String> {
        let is_late = |since: Timestamp| since + OUT_MAX + TOLERANCE < now;
        let mut late = self.out.iter().filter(|(_, since)| is_late(**since));
        match late.find(|(url, _)| web.is_well(url, now - OUT_MAX, now)) {
            Some((url, _)) => Err(format!(
                "a page that is due is visited while its site answers: {url} waits for a day"
            )),
            None => Ok(()),
        }
    }

    fn requests_per_day(&self) -> f64 {
        self.wishes.budget.requests_per_day(self.copies.len())
    }

    fn set_deadline(&mut self, url: &CrawlUrl, at: Timestamp) {
        if let Some(before) = self.deadline_of.insert(url.clone(), at) {
            self.deadlines.remove(&(before, url.clone()));
        }
        self.deadlines.insert((at, url.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Budget;
    use super::*;

    const NOON: Timestamp = Timestamp::from_secs(1_000_000);
    const WISHES: Wishes = Wishes {
        policy: "greedy",
        budget: Budget::PerDay(24.0),
        longest_gap: 2.0,
    };

    fn url() -> CrawlUrl {
        CrawlUrl::parse("http://a.test/").unwrap()
    }

    fn row(number: u64, seen: Seen) -> Row {
        Row {
            number,
            url: url(),
            at: NOON + Duration::from_secs(number),
            seen,
        }
    }

    fn content(version: u64) -> Content {
        Content { page: 0, version }
    }

    /// One that has seen one page, with a process that begins now.
    fn ledger() -> Ledger {
        let mut ledger = Ledger::new(WISHES);
        ledger
            .writes(&row(1, Seen::First), Some(content(1)), 0)
            .unwrap();
        ledger.committed(0);
        ledger.crashed();
        let now = NOON + Duration::from_secs(1);
        let (plan, out) = Plan::of(ledger.rows.values(), WISHES, days(now));
        ledger.begins(&plan, &out, now).unwrap();
        ledger
    }

    #[test]
    fn only_the_truth_may_be_written() {
        let mut ledger = ledger();
        assert!(
            ledger
                .writes(&row(2, Seen::Same), Some(content(2)), 0)
                .is_err()
        );
        assert!(
            ledger
                .writes(&row(2, Seen::Changed), Some(content(1)), 0)
                .is_err()
        );
        assert!(ledger.writes(&row(2, Seen::Same), None, 0).is_err());
        ledger
            .writes(&row(2, Seen::Changed), Some(content(2)), 0)
            .unwrap();
        // What was not committed is forgotten, and differs again.
        ledger.crashed();
        ledger
            .writes(&row(2, Seen::Changed), Some(content(2)), 0)
            .unwrap();
        ledger.hears(&row(2, Seen::Changed)).unwrap();
        assert!(ledger.hears(&row(2, Seen::Changed)).is_err());
    }

    #[test]
    fn a_request_an_hour_and_no_more() {
        let mut ledger = ledger();
        assert!(ledger.spends(&url(), NOON).is_err(), "nothing is saved");
        let mut ledger = self::ledger();
        for hour in 1..=48 {
            let now = NOON + Duration::from_hours(hour) + Duration::from_secs(2);
            ledger.spends(&url(), now).unwrap();
        }
        let later = NOON + Duration::from_hours(480);
        let spent = (0..100).take_while(|_| ledger.spends(&url(), later).is_ok());
        assert_eq!(spent.count(), 12, "half a day of it is kept");
    }

    #[test]
    fn a_page_is_owed_a_visit_once_the_budget_allows_it() {
        let mut ledger = ledger();
        let late = NOON + Duration::from_hours(49);
        ledger.hands_out(&url(), NOON);
        ledger.check(late).unwrap();
        let mut ledger = self::ledger();
        ledger.check(NOON + Duration::from_hours(47)).unwrap();
        assert!(ledger.check(late).is_err());
    }

    #[test]
    fn a_plan_of_other_rows_is_noticed() {
        let mut ledger = ledger();
        ledger
            .writes(&row(2, Seen::Changed), Some(content(2)), 0)
            .unwrap();
        ledger.committed(0);
        let now = NOON + Duration::from_hours(1);
        let (plan, out) = Plan::of(ledger.rows.values().take(1), WISHES, days(now));
        assert!(ledger.begins(&plan, &out, now).is_err());
        let (plan, out) = Plan::of(ledger.rows.values(), WISHES, days(now));
        ledger.begins(&plan, &out, now).unwrap();
    }
}
