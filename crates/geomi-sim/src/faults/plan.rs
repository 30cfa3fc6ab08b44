//! The plan of the model process: the real planner and its policies, fed with the
//! rows of visits and with nothing else (ADR 0017).
//!
//! It does what the crawler's refresh book does. While the process runs, each row
//! is taken in as it is made; when a process begins, [`Plan::of`] takes in every
//! row that is durable, through the same function.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_refresh::policy::Policy;
use geomi_refresh::{Kin, Page, PageId, Planner, Terms, named};
use geomi_url::CrawlUrl;

use super::row::{Row, Seen};
use crate::draws::Draws;

/// How long a page rests after a visit that came to nothing, in days; it doubles
/// with each further one.
pub(super) const FAILED_REST: f64 = 1.0;
/// Days of budget that are spent at once after a time in which nobody ran.
pub(super) const SAVED_MAX: f64 = 1.0;
/// Shortest gap that is believed, in days: a second.
const GAP_MIN: f64 = 1.0 / 86_400.0;

/// A time in days since 1970.
pub(super) fn days(at: Timestamp) -> f64 {
    at.micros() as f64 / 86_400e6
}

/// What is asked of a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wishes {
    pub(super) policy: &'static str,
    pub(super) budget: Budget,
    /// The longest time a page is left alone, in days.
    pub(super) longest_gap: f64,
}

/// Requests for the sake of freshness.
#[derive(Clone, Copy, Debug)]
pub(super) enum Budget {
    /// Visits a page a day.
    PerPage(f64),
    /// Requests a day in all.
    PerDay(f64),
}

impl Budget {
    /// Requests a day for so many pages.
    pub(super) fn requests_per_day(self, pages: usize) -> f64 {
        match self {
            Self::PerPage(visits) => visits * pages.max(1) as f64,
            Self::PerDay(requests) => requests,
        }
    }

    /// So many times as much.
    pub(super) fn times(self, factor: f64) -> Self {
        match self {
            Self::PerPage(visits) => Self::PerPage(visits * factor),
            Self::PerDay(requests) => Self::PerDay(requests * factor),
        }
    }
}

impl Wishes {
    /// Those of a history: half of them follow the policy that is the default.
    pub(super) fn drawn(draws: &mut Draws) -> Self {
        let policy = if draws.once_in(2) {
            "clock"
        } else {
            named::NAMES[draws.below(named::NAMES.len() as u64) as usize]
        };
        let budget = if draws.once_in(2) {
            Budget::PerPage(draws.within(0.35, 0.9))
        } else {
            Budget::PerDay(draws.within(40.0, 90.0))
        };
        Self {
            policy,
            budget,
            longest_gap: draws.within(3.0, 7.0),
        }
    }
}

/// A plan.
#[derive(Debug)]
pub(super) struct Plan {
    wishes: Wishes,
    planner: Planner<Box<dyn Policy>>,
    urls: Vec<CrawlUrl>,
    pages: BTreeMap<CrawlUrl, PageId>,
    is_started: bool,
    /// The time up to which it was asked, and that of the last visit.
    at: f64,
    last: f64,
    /// Visits in a row that came to nothing, and when the page is asked for again.
    troubles: BTreeMap<PageId, (i32, f64)>,
    /// Pages that were being tried again when the process ended.
    tried: BTreeSet<PageId>,
}

impl Plan {
    /// The plan of a process that begins now, made of the rows of the past. Also
    /// says which pages are out already: they wait to be tried again.
    pub(super) fn of<'a>(
        rows: impl Iterator<Item = &'a Row>,
        wishes: Wishes,
        now: f64,
    ) -> (Self, Vec<CrawlUrl>) {
        let policy = named::policy(wishes.policy).expect("the name of a policy");
        let terms = Terms {
            requests_per_day: wishes.budget.requests_per_day(0),
            longest_gap: wishes.longest_gap,
            learning: None,
        };
        let mut plan = Self {
            wishes,
            planner: Planner::new(policy, terms, 0.0),
            urls: Vec::new(),
            pages: BTreeMap::new(),
            is_started: false,
            at: 0.0,
            last: 0.0,
            troubles: BTreeMap::new(),
            tried: BTreeSet::new(),
        };
        for row in rows {
            plan.take(row);
        }
        let tried = plan.start(now);
        (plan, tried)
    }

    fn start(&mut self, now: f64) -> Vec<CrawlUrl> {
        self.is_started = true;
        self.at = self.last.clamp(now - SAVED_MAX, now);
        self.planner.start_at(self.at, now);
        for (page, (_, retry)) in &self.troubles {
            self.planner.failed(*page, *retry);
        }
        let tried = std::mem::take(&mut self.tried).into_iter();
        let called = tried.filter(|page| self.planner.call(*page));
        called
            .map(|page| self.urls[page as usize].clone())
            .collect()
    }

    /// Takes a row in: one of the past, or one just made. Says whether its page is
    /// out from now on, though it was not its turn: it was queued by a process
    /// that died, and waits to be tried again.
    pub(super) fn take(&mut self, row: &Row) -> bool {
        let Some(page) = self.pages.get(&row.url).copied() else {
            if row.seen.is_copy() {
                self.add(row);
            }
            return false;
        };
        if row.seen != Seen::Retry {
            self.see(page, row);
            return false;
        }
        if self.is_started {
            return self.planner.call(page);
        }
        self.tried.insert(page);
        false
    }

    fn see(&mut self, page: PageId, row: &Row) {
        self.tried.remove(&page);
        self.last = self.last.max(days(row.at));
        // A clock that was set back must not make a gap of less than nothing.
        let at = days(row.at).max(self.planner.last(page) + GAP_MIN);
        if !row.seen.is_copy() {
            self.trouble(page, row.seen, at);
            return;
        }
        let changed = row.seen == Seen::Changed;
        if self.is_started {
            self.planner.observe(page, changed, at);
        } else {
            self.planner.recall(page, changed, at);
        }
        self.troubles.remove(&page);
    }

    fn add(&mut self, row: &Row) {
        let kin = Kin {
            site: row.url.site_hash().0,
            ..Kin::default()
        };
        let facts = Page { weight: 1.0, kin };
        self.last = self.last.max(days(row.at));
        let page = self.planner.add(&facts, days(row.at));
        self.pages.insert(row.url.clone(), page);
        self.urls.push(row.url.clone());
        let requests = self.wishes.budget.requests_per_day(self.urls.len());
        self.planner.set_requests_per_day(requests);
    }

    fn trouble(&mut self, page: PageId, seen: Seen, at: f64) {
        let longest = self.wishes.longest_gap;
        let (times, retry) = self.troubles.entry(page).or_default();
        let rest = match seen {
            Seen::Gone => longest,
            _ => (FAILED_REST * 2.0_f64.powi(*times)).min(longest),
        };
        (*times, *retry) = (*times + 1, at + rest);
        let retry = *retry;
        if self.is_started {
            self.planner.failed(page, retry);
        }
    }

    /// What is asked of it.
    pub(super) const fn wishes(&self) -> Wishes {
        self.wishes
    }

    /// When to ask for the next page; `None` without pages.
    pub(super) fn wake(&self) -> Option<Timestamp> {
        let wake = self.planner.wake()?;
        Some(Timestamp::from_micros((wake * 86_400e6).ceil() as i64))
    }

    /// The page to visit next, if one is due by now. Time in which nobody asked is
    /// gone through as it would have been.
    pub(super) fn next(&mut self, now: f64) -> Option<CrawlUrl> {
        let mut idle = 0;
        while let Some(wake) = self.planner.wake().filter(|wake| *wake <= now) {
            let at = wake.max(self.at);
            if let Some(page) = self.planner.next(at) {
                self.at = at;
                return Some(self.urls[page as usize].clone());
            }
            // A plan that does not move on is left for later.
            idle = if at > self.at { 0 } else { idle + 1 };
            self.at = at;
            if idle > self.urls.len() {
                return None;
            }
        }
        None
    }

    /// A page that was handed out could not be visited.
    pub(super) fn missed(&mut self, url: &CrawlUrl, now: f64) {
        if let Some(page) = self.pages.get(url)
            && self.planner.is_out(*page)
        {
            self.planner.failed(*page, now + FAILED_REST);
        }
    }

    /// In what it differs from another plan, as far as anybody can tell.
    pub(super) fn differs_from(&self, other: &Self) -> Option<String> {
        if self.urls != other.urls {
            let (here, there) = (self.urls.len(), other.urls.len());
            return Some(format!("{here} pages, not {there}"));
        }
        (0..).zip(&self.urls).find_map(|(page, url)| {
            let (last, due) = (self.planner.last(page), self.planner.due(page));
            let (its_last, its_due) = (other.planner.last(page), other.planner.due(page));
            let is_same = last.to_bits() == its_last.to_bits() && due.to_bits() == its_due.to_bits();
            (!is_same).then(|| {
                format!("{url} was seen {last:.4} and is due {due:.4}, not {its_last:.4} and {its_due:.4}")
            })
        })
    }
}

/// A span in days.
pub(super) fn of_days(days: f64) -> Duration {
    Duration::from_secs_f64(days * 86_400.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WISHES: Wishes = Wishes {
        policy: "clock",
        budget: Budget::PerPage(1.0),
        longest_gap: 5.0,
    };

    fn row(number: u64, page: u64, day: f64, seen: Seen) -> Row {
        Row {
            number,
            url: CrawlUrl::parse(&format!("http://a.test/{page}")).unwrap(),
            at: Timestamp::EPOCH + of_days(day),
            seen,
        }
    }

    fn past() -> Vec<Row> {
        let first = (0..5).map(|page| row(page, page, 20.0, Seen::First));
        let later = (5..25).map(|number| {
            let seen = if number % 5 == 0 {
                Seen::Changed
            } else {
                Seen::Same
            };
            row(number, number % 5, 20.0 + number as f64 / 5.0, seen)
        });
        first.chain(later).collect()
    }

    #[test]
    fn a_plan_is_its_rows() {
        let rows = past();
        let of = |rows: &[Row]| Plan::of(rows.iter(), WISHES, 25.0).0;
        assert_eq!(of(&rows).differs_from(&of(&rows)), None);
        assert!(of(&rows).differs_from(&of(&rows[..24])).is_some());
        let mut twice = rows.clone();
        twice.push(rows[24].clone());
        assert!(of(&rows).differs_from(&of(&twice)).is_some());
        let mut other = rows.clone();
        other[24].seen = Seen::Changed;
        assert!(of(&rows).differs_from(&of(&other)).is_some());
    }

    #[test]
    fn pages_that_are_tried_again_are_out() {
        let mut rows = past();
        rows.push(row(25, 3, 24.9, Seen::Retry));
        let (mut plan, out) = Plan::of(rows.iter(), WISHES, 25.0);
        assert_eq!(out, [rows[25].url.clone()]);
        assert!(
            plan.take(&row(26, 2, 25.0, Seen::Retry)),
            "it was queued before"
        );
        assert!(
            !plan.take(&row(27, 2, 25.1, Seen::Retry)),
            "it is out already"
        );
        let mut handed_out = 0;
        while let Some(url) = plan.next(60.0) {
            assert!(url != rows[3].url && url != rows[2].url);
            handed_out += 1;
        }
        assert_eq!(handed_out, 3);
    }
}
