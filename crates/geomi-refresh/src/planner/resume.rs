//! A plan that goes on from an earlier one: what was seen before it began, and
//! pages that are visited for reasons of their own.

use super::{GAP_MIN, Planner, Stand, TICKS};
use crate::policy::{PageId, Policy, Sight};

impl<P: Policy> Planner<P> {
    /// Takes in a visit that was made before the plan begins. A page that was
    /// looked at twice has an interval of its own already: [`Planner::start`]
    /// does not spread it.
    pub fn recall(&mut self, page: PageId, changed: bool, at: f64) {
        self.recall_early(page, changed, at, at);
    }

    /// The same of a visit that was made before its turn at `due`: see [`Sight::called`].
    pub fn recall_early(&mut self, page: PageId, changed: bool, at: f64, due: f64) {
        let place = &mut self.places[page as usize];
        let from = std::mem::replace(&mut place.last, at);
        place.is_first = false;
        let sight = Sight::called(page, changed, (from.min(at), at), due);
        self.policy.observe(&sight);
    }

    /// [`Planner::start`], with a budget that fills from this time on. A page that was
    /// seen later than `now`, by a clock that was ahead, counts as seen now: it would be
    /// left alone until that time comes.
    pub fn start_at(&mut self, from: f64, now: f64) {
        self.bucket_at = from;
        for place in &mut self.places {
            place.last = place.last.min(now);
        }
        self.start();
    }

    /// A page is visited now though it was not its turn: somebody said that it
    /// has changed, or it waits already. It is paid for like any other and must
    /// be given back like any other. Says whether it was still in the queue.
    pub fn call(&mut self, page: PageId) -> bool {
        if self.is_out(page) {
            return false;
        }
        self.hand_out(page);
        true
    }

    /// There is a new copy of a page, and nothing was learned of how often it
    /// changes.
    pub fn renew(&mut self, page: PageId, at: f64) {
        self.places[page as usize].last = at;
        if self.is_started {
            let due = self.plan(page);
            self.push(page, due);
        }
    }

    /// Whether a page was handed out and not given back yet.
    pub fn is_out(&self, page: PageId) -> bool {
        self.places[page as usize].stand == Stand::Out
    }

    /// When a page was last seen.
    pub fn last(&self, page: PageId) -> f64 {
        self.places[page as usize].last
    }

    /// When a page stands in the queue.
    pub fn due(&self, page: PageId) -> f64 {
        f64::from(self.places[page as usize].tick) / TICKS
    }

    /// When a page would be due after a visit at this time, as things stand.
    pub fn due_after(&mut self, page: PageId, visit: f64) -> f64 {
        let due = self.policy.due(page, visit, self.price_of(page));
        visit + (due - visit).clamp(GAP_MIN, self.terms.longest_gap)
    }

    /// Another budget from now on. The price follows; where it has far to go it is
    /// found anew, for it moves with visits, of which there may be few.
    pub fn set_requests_per_day(&mut self, requests: f64) {
        const FAR: f64 = 1.5;
        let before = std::mem::replace(&mut self.terms.requests_per_day, requests);
        if self.is_started && !(1.0 / FAR..=FAR).contains(&(requests / before)) {
            self.find_price();
        }
    }

    /// Another longest gap from now on. Pages that stand later are noticed as those
    /// are that a lower price makes due.
    pub fn set_longest_gap(&mut self, days: f64) {
        self.terms.longest_gap = days.max(GAP_MIN);
    }

    /// What may be spent, and what must be done.
    pub fn terms(&self) -> super::Terms {
        self.terms
    }

    /// Pages in the plan.
    pub fn pages(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::Greedy;
    use crate::{Page, Planner, Terms};

    fn planner() -> Planner<Greedy> {
        let terms = Terms {
            requests_per_day: 2.0,
            longest_gap: 90.0,
            learning: None,
        };
        let mut planner = Planner::new(Greedy::default(), terms, 10.0);
        for _ in 0..4 {
            planner.add(&Page::default(), 0.0);
        }
        planner
    }

    #[test]
    fn what_was_seen_before_is_believed() {
        let mut planner = planner();
        for day in 1..=10 {
            planner.recall(0, false, f64::from(day));
            planner.recall(1, day % 2 == 0, f64::from(day));
        }
        let rate = |page| planner.policy().learner().posterior(page).mean();
        assert!(rate(0) < rate(1), "{} {}", rate(0), rate(1));
        assert!((planner.last(0) - 10.0).abs() < 1e-9);
        planner.start();
        assert!(planner.due(1) >= 10.0, "{}", planner.due(1));
    }

    #[test]
    fn a_page_seen_by_a_clock_that_was_ahead_is_not_left_alone_for_years() {
        let mut planner = planner();
        planner.recall(0, false, 3_000.0);
        planner.start_at(10.0, 10.0);
        assert!(planner.due(0) <= 10.0 + 90.0, "{}", planner.due(0));
    }

    #[test]
    fn a_page_that_is_called_is_paid_for_and_comes_back() {
        let mut planner = planner();
        planner.start();
        let before = planner.wake().unwrap();
        assert!(planner.call(2) && planner.is_out(2));
        assert!(!planner.call(2), "it is under way");
        assert!(planner.wake().unwrap() > before);
        planner.observe(2, true, 10.5);
        assert!(!planner.is_out(2));
        assert!((planner.last(2) - 10.5).abs() < 1e-9);
    }

    /// The mean rate believed of pages that change `rate` times a day, of whose
    /// changes a part is told at once.
    fn believed(rate: f64, told: f64) -> f64 {
        const PAGES: usize = 60;
        let terms = Terms {
            requests_per_day: 3.0 * PAGES as f64,
            longest_gap: 90.0,
            learning: None,
        };
        let mut dice = 1_u64;
        let mut roll = || {
            dice = (dice.wrapping_mul(6_364_136_223_846_793_005)).wrapping_add(99);
            ((dice >> 11) as f64 + 1.0) / (1_u64 << 53) as f64
        };
        let mut planner = Planner::new(Greedy::default(), terms, 0.0);
        let mut changes = Vec::new();
        for _ in 0..PAGES {
            planner.add(&Page::default(), 0.0);
            changes.push(-roll().ln() / rate);
        }
        planner.start();
        let mut has_changed = [false; PAGES];
        let mut now = 0.0_f64;
        while now < 120.0 {
            let wake = planner.wake().unwrap().max(now);
            let of = (0..PAGES).min_by(|one, other| changes[*one].total_cmp(&changes[*other]));
            let (of, change) = of.map(|page| (page, changes[page])).unwrap();
            now = change.min(wake);
            if change > wake {
                if let Some(page) = planner.next(now) {
                    let changed = std::mem::take(&mut has_changed[page as usize]);
                    planner.observe(page, changed, now);
                }
                continue;
            }
            changes[of] = now - roll().ln() / rate;
            has_changed[of] = true;
            if roll() < told {
                let due = planner.due(of as u32);
                assert!(planner.call(of as u32));
                planner.observe_early(of as u32, true, now, due);
                has_changed[of] = false;
            }
        }
        let learner = planner.policy().learner();
        let means = (0..PAGES).map(|page| learner.posterior(page as u32).mean());
        means.sum::<f64>() / PAGES as f64
    }

    #[test]
    fn visits_made_because_of_a_change_do_not_bias_the_rate() {
        for rate in [0.1, 1.0] {
            for told in [0.0, 0.5, 1.0] {
                let ratio = believed(rate, told) / rate;
                assert!(
                    (0.8..1.2).contains(&ratio),
                    "{ratio} of {rate}, {told} told"
                );
            }
        }
    }

    #[test]
    fn a_page_that_failed_is_left_alone_until_its_time() {
        let mut planner = planner();
        planner.start();
        planner.failed(3, 80.0);
        for step in 1..600 {
            let now = 10.0 + f64::from(step) * 0.1;
            planner.observe(step % 3, step % 2 == 0, now);
        }
        assert!((planner.due(3) - 80.0).abs() < 0.01, "{}", planner.due(3));
    }
}
