//! URLs that have never been fetched successfully.
//!
//! A first visit may fail, lead elsewhere, or find nothing. Such a URL is not a page of the
//! plan: there is no copy that could be fresh or stale, and its change rate is unknown. But
//! sites recover, and announced pages get published. So the URL is retried after 1 day, then 2,
//! 4 and so on, up to the longest gap. If the server answered that it does not exist (404, 410),
//! it is retried after the longest gap.
//!
//! A URL *waits* until its time, is *out* while it is visited or retried, and is *fetched* once
//! there is a copy: from then on it is a page of the plan. All of this is computed from visits.
//!
//! These requests are made in addition to the plan, so no page is visited less often. They are
//! subject to the budgets of their sites and of the hour, and to a separate allowance: one tenth
//! of the requests of the plan, but at least one per hour.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use geomi_model::{Fate, Visit};
use geomi_url::CrawlUrl;

use super::pages::Pages;
use super::plan::{RefreshPlan, rest};
use crate::PageId;

/// Maximum requests to never-fetched URLs, per request of the plan.
const SHARE: f64 = 0.1;
/// Requests per day that are always allowed.
const PER_DAY_MIN: f64 = 24.0;
/// Days until the next try if the budget of the site or hour is used up.
const NO_ROOM_REST: f64 = 1.0 / 24.0;
/// Ticks per day of the queue: one per minute.
const TICKS: f64 = 1_440.0;

/// The number of a never-fetched URL, from 0.
pub type NeverFetchedId = u32;

/// The state of a never-fetched URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Waits,
    Out,
    Fetched,
}

#[derive(Clone, Copy, Debug)]
struct NeverFetchedUrl {
    stage: Stage,
    /// Failed visits in a row.
    times: u8,
    /// The time of the next try. Queue entries with another time are void.
    tick: u32,
}

/// All never-fetched URLs of a plan.
#[derive(Debug, Default)]
pub(super) struct NeverFetched {
    urls: Pages,
    all: Vec<NeverFetchedUrl>,
    queue: BinaryHeap<Reverse<(u32, NeverFetchedId)>>,
    /// The requests allowed at time `at`. Initially those of one day.
    allowance: Option<f64>,
    at: f64,
}

impl NeverFetched {
    /// The URLs, with the data needed to queue them.
    pub(super) fn urls(&self) -> &Pages {
        &self.urls
    }

    /// Takes in a visit of a URL that is not a page of the plan. `via` is the page that led
    /// to it.
    fn take(
        &mut self,
        (visit, at): (&Visit, f64),
        fate: Fate,
        via: Option<PageId>,
        longest_gap: f64,
    ) {
        let known = self.urls.find(&visit.url);
        if fate == Fate::Retry {
            // If it is known, it waits in the queue of its site.
            if let Some(id) = known {
                self.all[id as usize].stage = Stage::Out;
            }
            return;
        }
        let id = known.unwrap_or_else(|| {
            self.all.push(NeverFetchedUrl {
                stage: Stage::Out,
                times: 0,
                tick: 0,
            });
            self.urls.add(visit, via)
        });
        let is_gone = matches!(visit.code, Some(404 | 410));
        let times = self.all[id as usize].times;
        self.all[id as usize].times = times.saturating_add(1);
        let retry = at + rest(is_gone, i32::from(times), longest_gap);
        self.wait(id, retry);
    }

    /// Notes that a URL has been fetched.
    fn fetched(&mut self, url: &CrawlUrl) {
        if let Some(id) = self.urls.find(url) {
            self.all[id as usize].stage = Stage::Fetched;
        }
    }

    fn wait(&mut self, id: NeverFetchedId, retry: f64) {
        let tick = (retry * TICKS).ceil() as u32;
        let url = &mut self.all[id as usize];
        (url.stage, url.tick) = (Stage::Waits, tick);
        self.queue.push(Reverse((tick, id)));
    }

    /// The first waiting URL and its time. Drops void entries.
    fn first(&mut self) -> Option<(u32, NeverFetchedId)> {
        while let Some(Reverse((tick, id))) = self.queue.peek().copied() {
            let url = self.all[id as usize];
            if url.stage == Stage::Waits && url.tick == tick {
                return Some((tick, id));
            }
            self.queue.pop();
        }
        None
    }

    /// Updates the allowance. Returns whether a request is allowed.
    fn is_allowed(&mut self, per_day: f64, now: f64) -> bool {
        let held = self.allowance.unwrap_or(per_day);
        let more = (now - self.at).max(0.0) * per_day;
        self.at = now.max(self.at);
        let allowance = self.allowance.insert((held + more).min(per_day));
        // The tolerance is larger than the rounding error of the sum.
        *allowance >= 1.0 - 1e-6
    }

    /// When a request is allowed, if none is made before.
    fn allowed_at(&self, per_day: f64) -> f64 {
        let held = self.allowance.unwrap_or(per_day);
        self.at + (1.0 - held).max(0.0) / per_day
    }
}

impl RefreshPlan {
    /// Takes in a visit of a URL without a copy.
    pub(super) fn take_never_fetched(&mut self, visit: &Visit, fate: Fate) {
        if visit.is_robots || self.pages.find(&visit.url).is_some() {
            return;
        }
        let via = visit.via.as_ref().and_then(|via| self.pages.find(via));
        let longest = self.planner.terms().longest_gap;
        let at = self.days(visit.time);
        self.never_fetched.take((visit, at), fate, via, longest);
    }

    /// Notes that a URL was fetched for the first time.
    pub(super) fn now_fetched(&mut self, url: &CrawlUrl) {
        self.never_fetched.fetched(url);
    }

    /// The URLs that were waiting for a retry when the last run ended.
    pub fn tried_never_fetched(&self) -> Vec<NeverFetchedId> {
        let all = (0..).zip(&self.never_fetched.all);
        let out = all.filter(|(_, url)| url.stage == Stage::Out);
        out.map(|(id, _)| id).collect()
    }

    /// The next URL to try, if one is due and allowed. It is returned by its visit or by [`RefreshPlan::missed_never_fetched`].
    pub fn next_never_fetched(&mut self, now: f64) -> Option<NeverFetchedId> {
        let per_day = self.never_fetched_per_day();
        while let Some((tick, id)) = self.never_fetched.first() {
            if f64::from(tick) / TICKS > now || !self.never_fetched.is_allowed(per_day, now) {
                return None;
            }
            self.never_fetched.queue.pop();
            if self.pays_for(id, now) {
                self.never_fetched.all[id as usize].stage = Stage::Out;
                self.never_fetched.allowance = self.never_fetched.allowance.map(|held| held - 1.0);
                return Some(id);
            }
            self.never_fetched.wait(id, now + NO_ROOM_REST);
        }
        None
    }

    /// Charges the request to the budgets of the site and the hour; `false` if one is used
    /// up.
    fn pays_for(&mut self, id: NeverFetchedId, now: f64) -> bool {
        // Stored URLs parse, unless a row is damaged.
        let Ok(url) = CrawlUrl::parse(self.never_fetched.urls.url(id)) else {
            return false;
        };
        let accounts = self.budgets.accounts_of(&mut self.planner, &url);
        self.planner.pay_beside(&accounts, now)
    }

    fn never_fetched_per_day(&self) -> f64 {
        (self.planner.requests_per_day() * SHARE).max(PER_DAY_MIN)
    }

    /// When the next URL may be due.
    pub(super) fn never_fetched_wake(&self) -> Option<f64> {
        // The first entry may be void. It is then dropped at its time.
        let Reverse((tick, _)) = self.never_fetched.queue.peek()?;
        let due = f64::from(*tick) / TICKS;
        let allowed = self.never_fetched.allowed_at(self.never_fetched_per_day());
        Some(self.planner.opens_at(due.max(allowed)))
    }

    /// Notes that a URL returned by [`RefreshPlan::next_never_fetched`] could not be visited.
    pub fn missed_never_fetched(&mut self, id: NeverFetchedId, now: f64) {
        if self.never_fetched.all[id as usize].stage == Stage::Out {
            self.never_fetched
                .wait(id, now + rest(false, 0, f64::INFINITY));
        }
    }

    /// The number of a URL, if it has never been fetched.
    pub fn find_never_fetched(&self, url: &CrawlUrl) -> Option<NeverFetchedId> {
        let id = self.never_fetched.urls.find(url)?;
        let has_come = self.never_fetched.all[id as usize].stage == Stage::Fetched;
        (!has_come).then_some(id)
    }

    /// The never-fetched URLs, by number.
    pub fn never_fetched_urls(&self) -> &Pages {
        self.never_fetched.urls()
    }

    /// When a never-fetched URL is retried, in days since 1970. The outer [`None`] means that
    /// the URL is not in the list, the inner one that it is being visited.
    pub fn never_fetched_due(&self, url: &CrawlUrl) -> Option<Option<f64>> {
        let found = self.never_fetched.all[self.find_never_fetched(url)? as usize];
        let waits = found.stage == Stage::Waits;
        Some(waits.then(|| f64::from(found.tick) / TICKS))
    }

    /// The number of URLs that have never been fetched.
    pub fn never_fetched_len(&self) -> usize {
        let all = self.never_fetched.all.iter();
        all.filter(|url| url.stage != Stage::Fetched).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::budgets::SitePlan;
    use super::super::plan::tests::{TRIES, visit};
    use super::super::plan::{Budget, RefreshConfig};
    use super::*;

    fn plan() -> RefreshPlan {
        RefreshPlan::new(&RefreshConfig::default())
    }

    /// Runs a plan for some days; when each URL was tried, if every visit ends with this code.
    fn follow(
        plan: &mut RefreshPlan,
        (from, to): (f64, f64),
        code: u16,
    ) -> Vec<(NeverFetchedId, f64)> {
        let (mut asked, mut now) = (Vec::new(), from);
        while now < to {
            while let Some(id) = plan.next_never_fetched(now) {
                asked.push((id, now));
                let mut seen = visit(0, now, code, None);
                seen.url = CrawlUrl::parse(plan.never_fetched_urls().url(id)).unwrap();
                plan.take(&seen, TRIES);
            }
            let wake = plan.never_fetched_wake().unwrap_or(to);
            assert!(wake > now, "it is asked for nothing at {now}");
            now = wake;
        }
        asked
    }

    #[test]
    fn what_failed_at_first_is_asked_for_less_and_less_often() {
        let mut plan = plan();
        assert_eq!(plan.take(&visit(7, 100.0, 503, None), TRIES), None);
        plan.start(100.0, 1.0);
        let asked = follow(&mut plan, (100.0, 400.0), 503);
        let days: Vec<f64> = asked.iter().map(|(_, at)| (at - 100.0).floor()).collect();
        assert_eq!(days, [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 127.0, 217.0]);
        assert_eq!(plan.never_fetched_len(), 1);
        assert!(plan.pages().is_empty(), "it is no page of the plan");
    }

    #[test]
    fn what_is_not_there_rests_for_the_longest_gap() {
        let mut plan = plan();
        plan.take(&visit(7, 100.0, 404, None), TRIES);
        plan.start(101.0, 1.0);
        let asked = follow(&mut plan, (101.0, 300.0), 410);
        let days: Vec<f64> = asked.iter().map(|(_, at)| (at - 100.0).floor()).collect();
        assert_eq!(days, [90.0, 180.0]);
    }

    #[test]
    fn once_there_is_a_copy_it_is_a_page_of_the_plan() {
        let mut plan = plan();
        plan.take(&visit(7, 100.0, 503, None), TRIES);
        plan.start(102.0, 1.0);
        assert_eq!(plan.next_never_fetched(102.0), Some(0));
        assert_eq!(plan.next_never_fetched(109.0), None, "it is out");
        let url = CrawlUrl::parse("http://a.test/7").unwrap();
        assert_eq!(plan.never_fetched_due(&url), Some(None));
        plan.take(&visit(7, 102.0, 200, None), TRIES);
        assert_eq!(plan.never_fetched_due(&url), None);
        assert_eq!((plan.never_fetched_len(), plan.pages().len()), (0, 1));
        assert_eq!(plan.next_never_fetched(400.0), None);
        // Should it fail from now on, that is the plan's concern.
        plan.take(&visit(7, 130.0, 503, None), TRIES);
        assert_eq!(plan.never_fetched_len(), 0);
    }

    #[test]
    fn one_that_is_being_tried_again_is_not_queued_twice() {
        let mut plan = plan();
        plan.take(&visit(7, 100.0, 404, None), 3);
        let mut again = visit(7, 190.0, 503, None);
        again.attempt = 1;
        plan.take(&again, 3);
        plan.start(190.1, 1.0);
        assert_eq!(plan.tried_never_fetched(), [0]);
        assert_eq!(
            plan.next_never_fetched(300.0),
            None,
            "it waits in its queue"
        );
        plan.missed_never_fetched(0, 300.0);
        assert_eq!(plan.next_never_fetched(300.5), None, "it rests for a day");
        assert_eq!(plan.next_never_fetched(301.0), Some(0));
    }

    #[test]
    fn a_crowd_of_them_keeps_to_its_allowance() {
        for (budget, at_once, in_ten_days) in [(10.0, 24, 240), (1_000.0, 100, 1_000)] {
            let mut plan = RefreshPlan::new(&RefreshConfig {
                budget: Budget::PerDay(budget),
                ..RefreshConfig::default()
            });
            for page in 0..5_000 {
                plan.take(&visit(page, 100.0, 503, None), TRIES);
            }
            plan.start(110.0, 1.0);
            let asked = follow(&mut plan, (110.0, 120.0), 503);
            let first = asked.iter().filter(|(_, at)| *at < 110.01).count();
            assert!((at_once..at_once + 3).contains(&first), "{first}");
            let all = asked.len() - first;
            assert!(all.abs_diff(in_ten_days) <= 3, "{all}");
        }
    }

    #[test]
    fn the_budget_of_a_site_holds_for_them_too() {
        let mut plan = RefreshPlan::new(&RefreshConfig {
            sites: vec![SitePlan {
                names: vec!["a.test".to_owned()],
                each_per_day: Some(3),
                ..SitePlan::default()
            }],
            ..RefreshConfig::default()
        });
        for page in 0..50 {
            plan.take(&visit(page, 100.0, 503, None), TRIES);
        }
        plan.start(110.0, 1.0);
        let asked = follow(&mut plan, (110.0, 120.0), 503);
        assert!((25..=30).contains(&asked.len()), "{}", asked.len());
    }
}
