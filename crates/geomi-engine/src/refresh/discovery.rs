//! Discovery: the separate budget of pages that were never fetched.
//!
//! Pages of the plan lead to new ones, and a calendar leads to new ones for ever. So
//! while a crawl is kept fresh, first requests for URLs come out of an allowance that
//! grows by `refresh.discovery_per_day` and holds one day's at most. The default is as
//! much as the plan may spend on the pages known when the day began, and
//! [`PER_DAY_MIN`] at least: pages found during a day do not raise the allowance of that
//! day. A run with `--once` spends one day's allowance at most. A URL whose
//! turn comes when nothing is left is *postponed*: it is kept in the state, and queued
//! again when there is an allowance, also by a later run. A crawl that is not kept fresh
//! has no such limit and queues all of them.
//!
//! Seeds, retries and robots.txt are not counted.

use std::time::Duration;

use geomi_frontier::{Entry, Lease, Settlement};
use geomi_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::engine::{Around, Engine};
use crate::partition::Partition;

/// New pages a day that are visited whatever the budget of the plan is.
const PER_DAY_MIN: f64 = 24.0;
/// URLs queued again between two commits.
const RELEASED_MAX: usize = 512;
/// A URL whose turn has not come for so long, or was refused, is no longer waited for.
const RELEASED_KEPT: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The single record of the allowance.
const META: &str = "discovery";
/// The record of [`DayStart`].
const DAY_META: &str = "discovery-day";

/// What the default allowance of a day is computed from. It is durable, so that several
/// runs on one day share one allowance.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct DayStart {
    /// When the day began.
    at: Timestamp,
    /// Pages known at that time.
    pages: u64,
}

/// What may be spent on new pages. It is durable, or every run would begin with a day's.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Discovery {
    /// Requests of a day's that were spent at `at`.
    spent: f64,
    at: Timestamp,
    /// URLs that wait for an allowance.
    pub(crate) postponed: u64,
    /// New pages requested in runs that kept the crawl fresh.
    pub(crate) requested: u64,
    /// URLs that were queued again and whose turn has not come, and when the last was.
    #[serde(skip)]
    released: (u64, Timestamp),
    /// New pages requested in this run.
    #[serde(skip)]
    this_run: u64,
    /// Set while the crawl is kept fresh.
    #[serde(skip)]
    day: Option<DayStart>,
}

impl Discovery {
    /// As the last commit left it.
    pub(crate) fn load(home: &Partition) -> Result<Self, EngineError> {
        Ok(home.meta(META)?.unwrap_or_default())
    }

    /// What is left by now: a day's, less what was spent and has not come back since.
    fn left(&self, per_day: f64, now: Timestamp) -> f64 {
        let passed = now.since(self.at).as_secs_f64() / DAY.as_secs_f64();
        per_day - (self.spent - passed * per_day).max(0.0)
    }

    /// Takes one request, if there is one left. Sums of parts err by less than what is
    /// forgiven.
    fn take(&mut self, per_day: f64, now: Timestamp) -> bool {
        let left = self.left(per_day, now);
        if left < 1.0 - 1e-6 {
            return false;
        }
        (self.spent, self.at) = (per_day - left + 1.0, now);
        self.requested += 1;
        self.this_run += 1;
        true
    }

    /// How many URLs may be queued again: as many as are allowed, less those that are
    /// queued and were not asked for yet.
    fn free(&self, per_day: f64, now: Timestamp) -> f64 {
        let is_recent = now.since(self.released.1) < RELEASED_KEPT;
        let released = if is_recent { self.released.0 } else { 0 };
        self.left(per_day, now) - released as f64
    }

    /// When one more may be queued again.
    fn ready_at(&self, per_day: f64, now: Timestamp) -> Option<Timestamp> {
        let missing = (1.0 - 1e-6 - self.free(per_day, now)).max(0.0);
        (per_day > 0.0).then(|| now + DAY.mul_f64(missing / per_day))
    }
}

/// New pages per day in a partition with this share of the crawl: as configured, or as
/// many as its plan may request.
pub(crate) fn per_day(said: Option<u64>, requests_per_day: f64, share: f64) -> f64 {
    said.map_or(requests_per_day.max(PER_DAY_MIN * share), |said| {
        said as f64 * share
    })
}

impl Engine {
    /// New pages per day that may be requested; `None` if the crawl is not kept fresh.
    pub fn discovery_per_day(&self) -> Option<f64> {
        let book = self.upkeep.plan.as_ref()?;
        let pages = match self.upkeep.discovery.day {
            Some(day) => day.pages as usize,
            None => book.pages().len(),
        };
        Some(per_day(
            book.config().discovery_per_day,
            book.requests_per_day_of(pages),
            self.upkeep.share,
        ))
    }

    /// Notes how many pages are known if the last day has passed: the default allowance
    /// follows from it.
    pub(crate) fn begin_discovery_day(
        &mut self,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        let Some(book) = &self.upkeep.plan else {
            return Ok(());
        };
        let now = around.now;
        let known = match self.upkeep.discovery.day {
            None => self.store.meta(DAY_META)?,
            day => day,
        };
        // A clock that was set back must not make a day longer.
        let is_over = |day: &DayStart| now < day.at || now.since(day.at) >= DAY;
        let day = known.filter(|day| !is_over(day)).unwrap_or(DayStart {
            at: now,
            pages: book.pages().len() as u64,
        });
        if known != Some(day) {
            self.store.set_meta(DAY_META, &day);
        }
        self.upkeep.discovery.day = Some(day);
        Ok(())
    }

    /// Whether a run with `--once` has spent the allowance of one day.
    fn has_spent_its_day(&self, per_day: f64) -> bool {
        let book = self.upkeep.plan.as_ref();
        book.is_some_and(|book| book.config().once)
            && self.upkeep.discovery.this_run as f64 + 1.0 > per_day + 1e-6
    }

    /// Whether the budget for new pages permits a URL.
    pub(crate) fn may_discover(&mut self, entry: &Entry, now: Timestamp) -> bool {
        let Some(per_day) = self.discovery_per_day().filter(|_| entry.is_first_visit()) else {
            return true;
        };
        let waiting = &mut self.upkeep.discovery.released.0;
        *waiting = waiting.saturating_sub(1);
        let is_allowed =
            !self.has_spent_its_day(per_day) && self.upkeep.discovery.take(per_day, now);
        if is_allowed {
            self.save_discovery();
        }
        is_allowed
    }

    /// Keeps a URL for later: no request was made.
    pub(crate) fn postpone(
        &mut self,
        around: &mut Around<'_>,
        lease: Lease,
        entry: &Entry,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        if !self.store.is_postponed(&entry.url)? {
            self.upkeep.discovery.postponed += 1;
            self.save_discovery();
        }
        self.store.set_postponed(entry);
        self.queues.frontier.settle(
            lease,
            Settlement::NotAsked,
            &mut around.shared.addresses,
            now,
        );
        Ok(())
    }

    /// Queues URLs again that were postponed, as many as are allowed.
    pub(crate) fn release_postponed(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let now = around.now;
        self.begin_discovery_day(around)?;
        if self.upkeep.discovery.postponed == 0 || !self.may_release() {
            return Ok(());
        }
        let free = self.discovery_per_day();
        let free = free.map(|per_day| self.upkeep.discovery.free(per_day, now) + 1e-6);
        let max = free.map_or(RELEASED_MAX, |free| (free as usize).min(RELEASED_MAX));
        let mut left = max;
        for entry in self.store.postponed(left)? {
            self.store.forget_postponed(&entry.url);
            left -= 1;
            // It may have been visited for another reason.
            if self.store.record(&entry.url)?.is_none() {
                self.upkeep.discovery.released.0 += 1;
                self.enqueue(entry, now)?;
            }
        }
        if left == max {
            // No URL is postponed, or the budget is 0.
            self.upkeep.discovery.postponed *= u64::from(max == 0);
            return Ok(());
        }
        self.upkeep.discovery.released.1 = now;
        let shown = (max - left) as u64;
        self.upkeep.discovery.postponed = self.upkeep.discovery.postponed.saturating_sub(shown);
        self.save_discovery();
        Ok(())
    }

    fn may_release(&self) -> bool {
        let per_day = self.discovery_per_day();
        self.is_running && per_day.is_none_or(|per_day| !self.has_spent_its_day(per_day))
    }

    /// Whether postponed URLs are still to be queued by this run.
    pub(crate) fn awaits_postponed(&self) -> bool {
        self.upkeep.discovery.postponed > 0 && self.upkeep.plan.is_none()
    }

    /// When a postponed URL may be queued. A run that ends with what is due waits for
    /// none.
    pub(crate) fn discovery_wakeup(&self, now: Timestamp) -> Option<Timestamp> {
        if self.upkeep.discovery.postponed == 0 || !self.may_release() {
            return None;
        }
        let Some(per_day) = self.discovery_per_day() else {
            return Some(now);
        };
        let ready = self.upkeep.discovery.ready_at(per_day, now)?;
        (!self.upkeep.is_over || ready <= now).then_some(ready)
    }

    /// Counts the postponed URLs anew. A URL that was in its queue twice may have been
    /// counted twice.
    pub(crate) fn recount_postponed(&mut self, postponed: u64) {
        if self.upkeep.discovery.postponed != postponed {
            self.upkeep.discovery.postponed = postponed;
            self.save_discovery();
        }
    }

    fn save_discovery(&mut self) {
        let discovery = self.upkeep.discovery;
        self.store.set_meta(META, &discovery);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_grows_by_the_day_and_holds_one() {
        let day = |days: f64| Timestamp::from_secs(1_000_000) + DAY.mul_f64(days);
        let mut discovery = Discovery::default();
        let mut spend = |at: f64| (0..99).filter(|_| discovery.take(10.0, day(at))).count();
        assert_eq!(spend(0.0), 10, "at first a day's");
        assert_eq!(spend(0.05), 0);
        assert_eq!(spend(0.5), 5);
        assert_eq!(spend(9.0), 10, "and never more");
        assert_eq!(discovery.requested, 25);
        let ready = discovery.ready_at(10.0, day(9.0)).unwrap();
        let off = day(9.1).since(ready).max(ready.since(day(9.1)));
        assert!(off < Duration::from_secs(1), "{off:?}");
        assert_eq!(discovery.ready_at(0.0, day(9.0)), None);
    }

    #[test]
    fn a_plan_gives_as_much_to_new_pages_as_to_known_ones() {
        assert!((per_day(None, 268.0, 1.0) - 268.0).abs() < 1e-9);
        assert!((per_day(None, 0.5, 1.0) - PER_DAY_MIN).abs() < 1e-9);
        assert!(per_day(Some(0), 268.0, 1.0) < 1e-9);
    }
}
