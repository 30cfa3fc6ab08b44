//! The price of a request: how it is found first, and how it follows the budget.

use super::{Planner, Stand, TICKS};
use crate::policy::{Pace, PageId, Policy};

/// Pages that must have been looked at before the price moves, in a plan of so many:
/// a price that errs by chance makes pages stand where they should not.
fn sample(pages: usize) -> usize {
    (pages / 256).clamp(256, 16_384)
}

/// Pages asked for the first price.
const FIRST_SAMPLE: usize = 2_048;
/// A step of the price is no more than this, in the logarithm.
const STEP_MAX: f64 = 0.7;
/// How much of a mismatch one step corrects: demand may answer more than in
/// proportion, and a sample errs.
const DAMPING: f64 = 0.3;
/// How much of the budget a bucket that was full or empty for a day adds or takes.
const LEAN: f64 = 0.1;
/// Days by which the first page of the queue may be late.
const LATE_FREE: f64 = 0.5;
/// Days beyond them that halve what pages may ask for.
const LATE_HALF: f64 = 1.0;
/// In a plan with few requests it is the time for so many of them.
const LATE_REQUESTS: f64 = 16.0;
/// A page is moved forward in the queue by no less than this part of its gap.
const MOVED_MIN: f64 = 0.1;
/// The least price of a plan with accounts.
const PRICE_MIN: f64 = 1e-6;

impl<P: Policy> Planner<P> {
    /// Finds the price at which a sample of the pages would use up the budget.
    pub(super) fn find_price(&mut self) {
        let count = self.places.len();
        let asked = count.min(FIRST_SAMPLE);
        for _ in 0..60 {
            let mut demand = 0.0;
            for at in 0..asked {
                let page = if asked == count { at } else { self.roll() };
                demand += 1.0 / self.settled_gap(page as PageId);
            }
            let step = self.step(demand / asked.max(1) as f64, self.wanted_a_day());
            self.move_price(step);
            if step.abs() < 1e-3 {
                break;
            }
        }
    }

    /// Asks some page how often it would like to be visited, and moves it if it
    /// stands far too late.
    pub(super) fn look_at_another(&mut self) {
        let (page, enough) = if self.asks_all() {
            (self.looked_at, self.places.len())
        } else {
            (self.roll(), sample(self.places.len()))
        };
        let page = page as PageId;
        let settled = self.settled_gap(page);
        self.demand += 1.0 / settled;
        self.looked_at += 1;
        let is_limited = self.price_of(page) > self.price;
        // It comes up sooner than it is visited, and waits for its account.
        let comes_up = if is_limited {
            self.settled_gap_at(page, self.price)
        } else {
            settled
        };
        self.move_forward(page, comes_up);
        if self.looked_at >= enough {
            self.reprice();
        }
    }

    /// Whether all pages are looked at in turn before the price moves. A rule that
    /// stretches intervals may have a few pages that ask for most of the budget: whether
    /// chance finds them would move the price up and down for ever.
    fn asks_all(&self) -> bool {
        self.policy.pace() == Pace::Even && self.places.len() <= FIRST_SAMPLE
    }

    /// Moves a page that stands far too late. The question that was asked for the
    /// price anyway spares most the other one.
    fn move_forward(&mut self, page: PageId, settled: f64) {
        let place = self.places[page as usize];
        let is_late = |gap| place.last + (1.0 + MOVED_MIN) * gap < f64::from(place.tick) / TICKS;
        if place.stand == Stand::Queued && !place.is_resting && is_late(settled) {
            let gap = self.gap(page);
            if is_late(gap) {
                self.push(page, (place.last + gap).max(self.bucket_at));
            }
        }
    }

    fn reprice(&mut self) {
        let wanted = match self.policy.pace() {
            Pace::Even => self.wanted_a_day(),
            Pace::WhenDue => {
                let leaned = 1.0 + LEAN * (2.0 * self.fullness - 1.0);
                self.wanted_a_day() * leaned / (1.0 + self.lateness())
            }
        };
        let step = self.step(self.demand / self.looked_at as f64, wanted);
        self.move_price(step);
        self.demand = 0.0;
        self.looked_at = 0;
    }

    /// How late the first page of the queue is, 1 halving what pages may ask for.
    ///
    /// The price goes by how often pages would be visited were all known of them; new
    /// ones are visited more often, and after a pause all are due. While that is more than is
    /// paid for, it is those who have the time that must wait, by a higher price, and not
    /// all by the same days: what a visit after some hours was to find out, one after
    /// three days will not.
    fn lateness(&self) -> f64 {
        let Some((tick, _)) = self.queue.peek() else {
            return 0.0;
        };
        let late = self.passed(f64::from(tick) / TICKS, self.bucket_at);
        let half = LATE_HALF.max(LATE_REQUESTS / self.requests_per_day());
        (late - LATE_FREE).max(0.0) / half
    }

    fn move_price(&mut self, step: f64) {
        self.price *= step.exp();
        if self.accounts.len() > 0 {
            // Where no page may be visited more, nothing keeps the price up.
            self.price = self.price.max(PRICE_MIN);
        }
    }

    /// How the logarithm of the price must change, given what a page would like
    /// on average and what all may have.
    fn step(&self, demand_a_page: f64, wanted: f64) -> f64 {
        // Where the longest gap alone asks for more than there is, no price is high
        // enough, and one that rose for ever would take as long to come down.
        let least = 1.0 / self.terms.longest_gap;
        let is_least = demand_a_page <= least * (1.0 + 1e-3);
        let demand = demand_a_page * self.places.len() as f64;
        let highest = if is_least { 0.0 } else { STEP_MAX };
        (DAMPING * (demand / wanted).ln()).clamp(-STEP_MAX, highest)
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::{Clock, Greedy};
    use crate::{Page, Planner, Terms};

    #[test]
    fn new_pages_that_change_often_are_not_kept_waiting_for_days() {
        let (pages, days) = (700_u32, 28.0);
        let terms = Terms {
            requests_per_day: 100.0,
            longest_gap: 90.0,
            learning: None,
        };
        let mut planner = Planner::new(Clock::default(), terms, 0.0);
        for _ in 0..pages {
            planner.add(&Page::default(), 0.0);
        }
        planner.start();
        // Of seven pages one has changed whenever it is seen; the others never do.
        let is_fast = |page| page % 7 == 0;
        let mut shortest = vec![days; pages as usize];
        let mut now = 0.0_f64;
        while let Some(wake) = planner.wake().filter(|wake| *wake < days) {
            now = wake.max(now);
            if let Some(page) = planner.next(now) {
                let gap = now - planner.last(page);
                let slot = &mut shortest[page as usize];
                *slot = gap.min(*slot);
                planner.observe(page, is_fast(page), now);
            }
        }
        let mut fast: Vec<f64> = (0..pages)
            .filter(|page| is_fast(*page))
            .map(|page| shortest[page as usize])
            .collect();
        fast.sort_by(f64::total_cmp);
        let median = fast[fast.len() / 2];
        assert!(median < 0.5, "{median}");
    }

    #[test]
    fn a_price_that_cannot_help_does_not_rise_for_ever() {
        let terms = Terms {
            requests_per_day: 1.0,
            longest_gap: 30.0,
            learning: None,
        };
        let mut planner = Planner::new(Greedy::default(), terms, 0.0);
        for _ in 0..300 {
            planner.add(&Page::default(), 0.0);
        }
        planner.start();
        let mut now = 0.0_f64;
        let mut visits_until = |planner: &mut Planner<Greedy>, day: f64| {
            let mut visits = 0;
            while let Some(wake) = planner.wake().filter(|wake| *wake < day) {
                now = wake.max(now);
                if let Some(page) = planner.next(now) {
                    // It changes every so many days.
                    let every = f64::from(page % 20 + 1);
                    let changed = (now / every).floor() > (planner.last(page) / every).floor();
                    planner.observe(page, changed, now);
                    visits += 1;
                }
            }
            visits
        };
        // Ten a day would be needed for the longest gap alone.
        visits_until(&mut planner, 400.0);
        planner.set_requests_per_day(100.0);
        visits_until(&mut planner, 410.0);
        let visits = visits_until(&mut planner, 440.0);
        assert!((2_700..=3_050).contains(&visits), "{visits}");
    }
}
