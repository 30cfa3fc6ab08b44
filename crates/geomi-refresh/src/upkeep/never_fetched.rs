//! URLs of which there has never been a copy.
//!
//! A first visit may fail, be sent elsewhere, or find nothing there. Such a URL is no page
//! of the plan: nobody knows how often it changes, and there is no copy to be fresh or
//! stale. But a site that was down when it was found comes back, and a page that was
//! announced is published. So it is asked for again: after a day, then two, four and so on
//! up to the longest gap; at once after the longest gap where the server said that it is
//! not there (404, 410).
//!
//! A stray *waits* until its time, is *out* while it is being visited or tried again, and
//! has *come* once there is a copy: from then on it is a page of the plan. Like all of the
//! plan, strays are made of visits and of nothing else.
//!
//! They are asked for beside the plan, as new pages are, so that no page of it is visited
//! less; within the budgets of their sites and of the hour, and an allowance of their own: a
//! tenth of the plan's requests, but one an hour in any plan.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use geomi_model::{Fate, Visit};
use geomi_url::CrawlUrl;

use super::pages::Pages;
use super::plan::{RefreshPlan, rest};
use crate::PageId;

/// Requests to strays for each one of the plan, at most.
const SHARE: f64 = 0.1;
/// Requests to strays a day that every plan has.
const PER_DAY_MIN: f64 = 24.0;
/// Days that a stray waits whose site or hour has no room.
const NO_ROOM_REST: f64 = 1.0 / 24.0;
/// Ticks of the queue's clock a day: minutes.
const TICKS: f64 = 1_440.0;

/// A stray by its number, from 0 on.
pub type NeverFetchedId = u32;

/// Where a stray is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Waits,
    Out,
    Fetched,
}

#[derive(Clone, Copy, Debug)]
struct NeverFetchedUrl {
    stage: Stage,
    /// Visits in a row that came to nothing.
    times: u8,
    /// When it is asked for again; an entry of the queue with another time is void.
    tick: u32,
}

/// All strays of a plan.
#[derive(Debug, Default)]
pub(super) struct NeverFetched {
    urls: Pages,
    all: Vec<NeverFetchedUrl>,
    queue: BinaryHeap<Reverse<(u32, NeverFetchedId)>>,
    /// Requests that may be made at `at`; at first a day's.
    allowance: Option<f64>,
    at: f64,
}

impl NeverFetched {
    /// The URLs, with what is needed to queue them.
    pub(super) fn urls(&self) -> &Pages {
        &self.urls
    }

    /// Takes in a visit of a URL that is no page of the plan; `via` is the page that led
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
            // It waits in the queue of its site, if it was a stray before.
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

    /// There is a copy of a URL.
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

    /// The first that waits, and when it is asked for. Void entries are thrown away.
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

    /// Lets the allowance grow until now; whether it has a request.
    fn is_allowed(&mut self, per_day: f64, now: f64) -> bool {
        let held = self.allowance.unwrap_or(per_day);
        let more = (now - self.at).max(0.0) * per_day;
        self.at = now.max(self.at);
        let allowance = self.allowance.insert((held + more).min(per_day));
        // Sums of parts of a day err by less than what is taken off.
        *allowance >= 1.0 - 1e-6
    }

    /// When the allowance has a request, if none is made until then.
    fn allowed_at(&self, per_day: f64) -> f64 {
        let held = self.allowance.unwrap_or(per_day);
        self.at + (1.0 - held).max(0.0) / per_day
    }
}

impl RefreshPlan {
    /// Takes in a visit of which there is no copy to compare with.
    pub(super) fn take_never_fetched(&mut self, visit: &Visit, fate: Fate) {
        if visit.is_robots || self.pages.find(&visit.url).is_some() {
            return;
        }
        let via = visit.via.as_ref().and_then(|via| self.pages.find(via));
        let longest = self.planner.terms().longest_gap;
        let at = self.days(visit.time);
        self.never_fetched.take((visit, at), fate, via, longest);
    }

    /// There is a copy of a URL for the first time.
    pub(super) fn now_fetched(&mut self, url: &CrawlUrl) {
        self.never_fetched.fetched(url);
    }

    /// Those that were being tried again when the last run ended.
    pub fn tried_never_fetched(&self) -> Vec<NeverFetchedId> {
        let all = (0..).zip(&self.never_fetched.all);
        let out = all.filter(|(_, url)| url.stage == Stage::Out);
        out.map(|(id, _)| id).collect()
    }

    /// The stray to ask for by now, if there is one and it is allowed. It is given back
    /// by its visit or by [`RefreshPlan::missed_never_fetched`].
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

    /// Whether its site and the hour have room; then it is paid for.
    fn pays_for(&mut self, id: NeverFetchedId, now: f64) -> bool {
        // What is in the files was a URL once; a row that is damaged belongs to no site.
        let Ok(url) = CrawlUrl::parse(self.never_fetched.urls.url(id)) else {
            return false;
        };
        let accounts = self.budgets.accounts_of(&mut self.planner, &url);
        self.planner.pay_beside(&accounts, now)
    }

    fn never_fetched_per_day(&self) -> f64 {
        (self.planner.requests_per_day() * SHARE).max(PER_DAY_MIN)
    }

    /// When to ask for the next never_fetched.
    pub(super) fn never_fetched_wake(&self) -> Option<f64> {
        // The first entry may be void; then it is thrown away at its time.
        let Reverse((tick, _)) = self.never_fetched.queue.peek()?;
        let due = f64::from(*tick) / TICKS;
        let allowed = self.never_fetched.allowed_at(self.never_fetched_per_day());
        Some(self.planner.opens_at(due.max(allowed)))
    }

    /// A stray that was handed out could not be visited.
    pub fn missed_never_fetched(&mut self, id: NeverFetchedId, now: f64) {
        if self.never_fetched.all[id as usize].stage == Stage::Out {
            self.never_fetched
                .wait(id, now + rest(false, 0, f64::INFINITY));
        }
    }

    /// The stray of a URL, if it is one.
    pub fn find_never_fetched(&self, url: &CrawlUrl) -> Option<NeverFetchedId> {
        let id = self.never_fetched.urls.find(url)?;
        let has_come = self.never_fetched.all[id as usize].stage == Stage::Fetched;
        (!has_come).then_some(id)
    }

    /// The strays' URLs, by number.
    pub fn never_fetched_urls(&self) -> &Pages {
        self.never_fetched.urls()
    }

    /// When a URL of which there has never been a copy is asked for again, in days since
    /// 1970: [`None`] if it is no such URL, and no time while it is being visited.
    pub fn never_fetched_due(&self, url: &CrawlUrl) -> Option<Option<f64>> {
        let found = self.never_fetched.all[self.find_never_fetched(url)? as usize];
        let waits = found.stage == Stage::Waits;
        Some(waits.then(|| f64::from(found.tick) / TICKS))
    }

    /// How many URLs there are of which there has never been a copy.
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

    /// Follows a plan for some days: when each stray was asked for, if every visit ends
    /// with this code.
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
