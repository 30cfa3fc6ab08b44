//! The plan: which page is next, and what a request costs.
//!
//! A [`Planner`] keeps every page in a queue under the time at which its policy
//! says it is due at the present price. A visit plans its page anew and looks at
//! a few others, taken by chance; so a decision costs a few questions to the policy
//! and a place in the queue, however many pages there are.
//!
//! **The price** keeps the budget. The pages looked at say how often they would be
//! visited at the present price; if that is more than the budget the price goes
//! up, if less it goes down. It goes up too while pages wait for more than half a day
//! because more is due than is paid for. A page looked at that is now due much
//! earlier than it stands in the queue is moved; one that stands too early is noticed
//! when it comes up, and goes back.
//!
//! **The budget** is a bucket of requests that fills evenly and holds half a day's
//! worth, a day's for a policy that knows the hours and visits most pages in a few
//! of them, or two for one that knows quiet days, so that nobody spends in an
//! afternoon what was meant for a week. For a rule that is served evenly it holds an
//! hour's, which is saved only by who asks less often than [`Planner::wake`] says.
//!
//! **Accounts** are budgets of some of the pages, with prices and buckets of their own
//! (see `accounts`). The budget of the whole plan stands above them.
//!
//! **The longest gap** holds whatever the policy says, so that no page is
//! abandoned.
//!
//! The planner has no clock: `next` is asked at a time, and [`Planner::wake`] says
//! when to ask again. It knows nothing of politeness, which may delay any visit.

mod hourly;
mod limits;
mod price;
mod resume;

pub use limits::Asked;

use crate::accounts::Accounts;
use crate::bucket::Bucket;
use crate::policy::{Pace, Page, PageId, Policy};
use crate::queue::Queue;

/// In a plan of so many pages, how many others are looked at, and after how many visits.
/// One after two is enough where there are many visits a day; where there are few, the
/// price would follow days too late.
const fn looked_at(pages: usize) -> (usize, usize) {
    match pages {
        ..4_096 => (4, 1),
        4_096..65_536 => (2, 1),
        65_536..262_144 => (1, 1),
        _ => (1, 2),
    }
}

/// Ticks of the queue's clock a day: about ten seconds.
const TICKS: f64 = 8_192.0;

/// No page is left alone for less than this, in days.
const GAP_MIN: f64 = 1.0 / TICKS;

/// What may be spent, and what must be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Requests a day, for all pages together.
    pub requests_per_day: f64,
    /// The longest time a page is left alone, in days.
    pub longest_gap: f64,
    /// More requests at the beginning, if they may be made.
    pub learning: Option<Learning>,
}

/// A time at the beginning in which more may be spent, to get to know the pages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Learning {
    /// When it is over, in days.
    pub until: f64,
    /// How many times the usual requests a day may be made.
    pub factor: f64,
}

impl Terms {
    /// Requests a day at a time.
    fn requests_at(&self, now: f64) -> f64 {
        let learning = self.learning.filter(|learning| now < learning.until);
        self.requests_per_day * learning.map_or(1.0, |learning| learning.factor)
    }
}

/// A page's place in the plan.
#[derive(Clone, Copy, Debug)]
struct Place {
    last: f64,
    /// When it is due; an entry of the queue with another time is void.
    tick: u32,
    stand: Stand,
    /// Whether it is left alone until its time, whatever its worth.
    is_resting: bool,
    /// Its first visit is where it was put to spread pages, not where the policy
    /// would like it.
    is_first: bool,
    /// About the price at which it was put there.
    price: PriceMark,
}

/// A price to a 32nd in the logarithm; marks of prices far apart may be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PriceMark(u8);

impl PriceMark {
    fn of(price: f64) -> Self {
        Self((price.ln() * 32.0).floor() as i64 as u8)
    }

    /// Whether the prices are the same or nearly so.
    fn is_near(self, other: Self) -> bool {
        self.0.wrapping_sub(other.0).wrapping_add(1) <= 2
    }
}

/// Where a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stand {
    /// In the queue.
    Queued,
    /// Due, and waiting for one of its accounts.
    Parked,
    /// The same, out of its turn: what it is worth does not matter.
    Asked,
    /// Handed out.
    Out,
}

/// A plan that is followed and renewed visit by visit.
#[derive(Debug)]
pub struct Planner<P> {
    policy: P,
    terms: Terms,
    queue: Queue,
    places: Vec<Place>,
    accounts: Accounts,
    /// What may be spent in an hour, if that is limited.
    hour: Option<Bucket>,
    price: f64,
    /// What the pages looked at since the last step would like, a day.
    demand: f64,
    looked_at: usize,
    /// Visits since others were looked at.
    visits: usize,
    /// Requests that may be made at `bucket_at`.
    bucket: f64,
    bucket_at: f64,
    /// How full it was on average over about a day, from 0 to 1.
    fullness: f64,
    dice: u64,
    is_started: bool,
}

impl<P: Policy> Planner<P> {
    /// A plan without pages, beginning now.
    pub fn new(policy: P, mut terms: Terms, now: f64) -> Self {
        terms.longest_gap = terms.longest_gap.max(GAP_MIN);
        Self {
            policy,
            terms,
            queue: Queue::default(),
            places: Vec::new(),
            accounts: Accounts::default(),
            hour: None,
            price: 1.0,
            demand: 0.0,
            looked_at: 0,
            visits: 0,
            bucket: 0.0,
            bucket_at: now,
            fullness: 0.5,
            dice: 0x9E37_79B9_7F4A_7C15,
            is_started: false,
        }
    }

    /// One more page, of which there has been a copy since `last`.
    pub fn add(&mut self, page: &Page, last: f64) -> PageId {
        let id = self.places.len() as PageId;
        self.policy.add(page);
        self.places.push(Place {
            last,
            tick: 0,
            stand: Stand::Queued,
            is_resting: false,
            is_first: true,
            price: PriceMark(0),
        });
        if self.is_started {
            self.plan_first(id);
        }
        id
    }

    /// Sets the first price and plans the first visits. Pages are spread over
    /// their first interval: were they not, all would be due together for ever,
    /// and always at the same hour.
    pub fn start(&mut self) {
        self.is_started = true;
        self.find_price();
        self.find_account_prices();
        for page in 0..self.places.len() {
            self.plan_first(page as PageId);
        }
    }

    fn plan_first(&mut self, page: PageId) {
        let usual = self.requests_per_day();
        let gap = self.settled_gap_at(page, self.price) * usual / self.requests_at(self.bucket_at);
        // Multiples of the golden ratio fall evenly whatever their number.
        let part = (f64::from(page) * 0.618_033_988_749_895).fract();
        let Place { last, is_first, .. } = self.places[page as usize];
        let part = if is_first { part } else { 0.0 };
        self.push(page, last + gap * (1.0 - part));
    }

    /// When to ask for the next page; `None` without pages.
    pub fn wake(&self) -> Option<f64> {
        let head = self.queue.peek().map(|(tick, _)| match self.policy.pace() {
            Pace::Even => 0,
            Pace::WhenDue => tick,
        });
        let first = head.into_iter().chain(self.accounts.first_room()).min()?;
        Some(self.opens_at(self.paid_at().max(f64::from(first) / TICKS)))
    }

    /// When the next request is paid for.
    fn paid_at(&self) -> f64 {
        let wanted = 1.0 - self.bucket;
        let days = wanted.max(0.0) / self.requests_at(self.bucket_at);
        self.later(self.bucket_at, days)
    }

    /// The page to visit now, if one is due and the budget allows it. It must be
    /// given back with [`Planner::observe`] or [`Planner::failed`].
    pub fn next(&mut self, now: f64) -> Option<PageId> {
        self.fill(now);
        if !self.is_open(now) {
            return None;
        }
        let now_tick = tick(now);
        if self.bucket >= 1.0 - 1e-6
            && let Some(page) = self.next_waiting(now)
        {
            return Some(page);
        }
        loop {
            let (tick, page) = self.queue.peek()?;
            let place = self.places[page as usize];
            if place.stand != Stand::Queued || place.tick != tick {
                self.queue.pop();
                continue;
            }
            if self.bucket < 1.0 - 1e-6 {
                return None;
            }
            if self.policy.pace() == Pace::WhenDue {
                if tick > now_tick {
                    return None;
                }
                if !place.is_first && self.is_put_off(page, now_tick) {
                    continue;
                }
            }
            self.queue.pop();
            if self.is_parked(page, now) {
                continue;
            }
            self.hand_out(page);
            return Some(page);
        }
    }

    /// Asks again about the page at the head of the queue if it was put there at
    /// another price; it goes back if it is not due after all.
    fn is_put_off(&mut self, page: PageId, now_tick: u32) -> bool {
        let place = self.places[page as usize];
        if place.price.is_near(PriceMark::of(self.price)) {
            return false;
        }
        let due = self.plan(page);
        if tick(due) <= now_tick {
            return false;
        }
        self.queue.pop();
        self.push(page, due);
        true
    }

    /// A page leaves the plan for a visit, and is paid for.
    fn hand_out(&mut self, page: PageId) {
        self.places[page as usize].stand = Stand::Out;
        self.bucket -= 1.0;
        self.accounts.spend(page);
        if let Some(hour) = &mut self.hour {
            hour.spend();
        }
    }

    /// A visit has found the page changed, or not.
    pub fn observe(&mut self, page: PageId, changed: bool, now: f64) {
        self.observe_early(page, changed, now, now);
    }

    /// The same of a visit that was made because somebody said that the page has
    /// changed, before its turn at `due`. See [`Planner::recall_early`].
    pub fn observe_early(&mut self, page: PageId, changed: bool, now: f64, due: f64) {
        self.recall_early(page, changed, now, due);
        let (looks, visits) = looked_at(self.places.len());
        self.visits = (self.visits + 1) % visits;
        if self.visits == 0 {
            (0..looks).for_each(|_| self.look_at_another());
        }
        self.look_at_members(page);
        let due = self.plan(page);
        self.push(page, due);
    }

    /// A visit came to nothing: neither changed nor unchanged. It is tried again
    /// at `retry`.
    pub fn failed(&mut self, page: PageId, retry: f64) {
        self.push(page, retry);
        self.places[page as usize].is_resting = true;
    }

    /// What a request costs at present.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// The rule.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// How long a page is left alone if it need not wait for its accounts.
    fn gap(&mut self, page: PageId) -> f64 {
        let last = self.places[page as usize].last;
        let due = self.policy.due(page, last, self.price);
        (due - last).clamp(GAP_MIN, self.terms.longest_gap)
    }

    /// How long it would be left alone, by its accounts too, were all known of it that
    /// can be.
    fn settled_gap(&mut self, page: PageId) -> f64 {
        self.settled_gap_at(page, self.price_of(page))
    }

    fn settled_gap_at(&mut self, page: PageId, price: f64) -> f64 {
        let last = self.places[page as usize].last;
        let due = self.policy.settled(page, last, price);
        let gap = (due - last).clamp(GAP_MIN, self.terms.longest_gap);
        match self.accounts.hours() {
            None => gap,
            // A page that is due when nothing is visited is visited later.
            Some(hours) => hours.next_open(last + gap) - last,
        }
    }

    /// When a page is to be visited next.
    fn plan(&mut self, page: PageId) -> f64 {
        self.places[page as usize].last + self.gap(page)
    }

    fn push(&mut self, page: PageId, due: f64) {
        if self.waits(page) {
            self.accounts.leave(page);
        }
        let place = &mut self.places[page as usize];
        place.tick = tick(due);
        place.stand = Stand::Queued;
        place.is_resting = false;
        place.price = PriceMark::of(self.price);
        self.queue.push((place.tick, page));
        if self.queue.len() > 2 * self.places.len() + 64 {
            self.sweep_queue();
        }
    }

    /// Throws void entries away.
    fn sweep_queue(&mut self) {
        let places = &self.places;
        self.queue.retain(|(tick, page)| {
            let place = places[page as usize];
            place.stand == Stand::Queued && place.tick == tick
        });
    }

    fn bucket_max(&self) -> f64 {
        match self.policy.pace() {
            Pace::Even => 1.0 + self.requests_at(self.bucket_at) / 24.0,
            Pace::WhenDue => (self.requests_at(self.bucket_at) * self.policy.saves_days()).max(1.0),
        }
    }

    fn fill(&mut self, now: f64) {
        let days = self.passed(self.bucket_at, now);
        let more = days * self.requests_at(self.bucket_at);
        let max = self.bucket_max();
        let filled = (self.bucket + more).min(max);
        let full = f64::midpoint(self.bucket, filled) / max;
        self.fullness += (full - self.fullness) * (1.0 - (-days).exp());
        self.bucket = filled;
        // Time that a clock goes through twice is paid for once.
        self.bucket_at = now.max(self.bucket_at);
    }

    /// A page by chance: the same chances in every run.
    fn roll(&mut self) -> usize {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.dice >> 33) as usize) % self.places.len()
    }
}

/// A time on the queue's clock; the cast stops at the last tick.
pub(crate) fn tick(days: f64) -> u32 {
    (days * TICKS).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Greedy;

    /// Visits until a day, of 700 pages with 100 requests a day.
    fn visits_until(day: f64, learning: Option<Learning>) -> usize {
        let terms = Terms {
            requests_per_day: 100.0,
            longest_gap: 90.0,
            learning,
        };
        let mut planner = Planner::new(Greedy::default(), terms, 0.0);
        for _ in 0..700 {
            planner.add(&Page::default(), 0.0);
        }
        planner.start();
        let (mut visits, mut now) = (0, 0.0_f64);
        while let Some(wake) = planner.wake().filter(|wake| *wake < day) {
            now = wake.max(now);
            if let Some(page) = planner.next(now) {
                planner.observe(page, page % 3 == 0, now);
                visits += 1;
            }
        }
        visits
    }

    #[test]
    fn marks_tell_prices_apart_that_matter() {
        for price in [1e-6, 0.02, 1.0, 3.7, 900.0_f64] {
            let mark = PriceMark::of(price);
            let is_near = |other: f64| mark.is_near(PriceMark::of(other));
            for other in [price / 1.02, price, price * 1.02] {
                assert!(is_near(other), "{price} {other}");
            }
            for other in [price / 1.1, price * 1.1, price * 1e4] {
                assert!(!is_near(other), "{price} {other}");
            }
        }
    }

    #[test]
    fn the_first_days_are_used_as_well() {
        let visits = visits_until(3.0, None);
        assert!((280..=301).contains(&visits), "{visits}");
    }

    #[test]
    fn more_is_spent_while_learning_and_not_afterwards() {
        let twice = |until| Some(Learning { until, factor: 2.0 });
        let visits = visits_until(3.0, twice(9.0));
        assert!((550..=601).contains(&visits), "{visits}");
        let visits = visits_until(20.0, twice(2.0));
        assert!(visits <= 2_200 + 100, "{visits}");
    }
}
