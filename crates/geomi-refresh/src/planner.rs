//! The plan: which page is next, and what a request costs.
//!
//! A [`Planner`] keeps every page in a queue under the time at which its policy
//! says it is due at the present price. A page is planned anew when it has been
//! visited and at no other time, so a decision costs one question to the policy
//! and one place in a heap, however many pages there are.
//!
//! **The price** keeps the budget. Every so often a sample of pages is asked how
//! often they would be visited at the present price; if that is more than the
//! budget the price goes up, if less it goes down. Pages that were planned at
//! another price stand slightly wrong in the queue until their turn; when a page
//! comes up and is not yet due at the present price it goes back.
//!
//! **The budget** is a bucket of requests that fills evenly and holds half a
//! day's worth, so that a policy that knows the hours can use them but nobody
//! spends in an afternoon what was meant for a week.
//!
//! **The longest gap** holds whatever the policy says, so that no page is
//! abandoned.
//!
//! The planner has no clock: `next` is asked at a time, and [`Planner::wake`] says
//! when to ask again. It knows nothing of politeness, which may delay any visit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::policy::{Pace, Page, PageId, Policy, Sight};

/// Pages asked when the price is set.
const SAMPLE: usize = 512;
/// A step of the price is no more than this, in the logarithm.
const STEP_MAX: f64 = 0.7;
/// How much of a mismatch one step corrects: demand may answer more than in
/// proportion.
const DAMPING: f64 = 0.3;
/// How much of the budget a bucket that is full or empty adds or takes.
const LEAN: f64 = 0.1;
/// Ticks of the queue's clock a day: about ten seconds.
const TICKS: f64 = 8_192.0;

/// What may be spent, and what must be done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Terms {
    /// Requests a day, for all pages together.
    pub requests_per_day: f64,
    /// The longest time a page is left alone, in days.
    pub longest_gap: f64,
}

/// A plan that is followed and renewed visit by visit.
#[derive(Debug)]
pub struct Planner<P> {
    policy: P,
    terms: Terms,
    queue: BinaryHeap<Reverse<(u32, PageId)>>,
    last: Vec<f64>,
    price: f64,
    /// Requests that may be made at `bucket_at`.
    bucket: f64,
    bucket_at: f64,
    until_pricing: usize,
    dice: u64,
    is_started: bool,
}

impl<P: Policy> Planner<P> {
    /// A plan without pages, beginning now.
    pub fn new(policy: P, terms: Terms, now: f64) -> Self {
        Self {
            policy,
            terms,
            queue: BinaryHeap::new(),
            last: Vec::new(),
            price: 1.0,
            bucket: 0.0,
            bucket_at: now,
            until_pricing: 0,
            dice: 0x9E37_79B9_7F4A_7C15,
            is_started: false,
        }
    }

    /// One more page, of which there has been a copy since `last`.
    pub fn add(&mut self, page: &Page, last: f64) -> PageId {
        let id = self.last.len() as PageId;
        self.policy.add(page);
        self.last.push(last);
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
        self.seek_price(self.terms.requests_per_day, 60);
        for page in 0..self.last.len() {
            self.plan_first(page as PageId);
        }
    }

    fn plan_first(&mut self, page: PageId) {
        let last = self.last[page as usize];
        let gap = self.due(page) - last;
        // Multiples of the golden ratio fall evenly whatever their number.
        let part = (f64::from(page) * 0.618_033_988_749_895).fract();
        self.push(page, last + gap * (1.0 - part));
    }

    /// When to ask for the next page; `None` without pages.
    pub fn wake(&self) -> Option<f64> {
        let Reverse((tick, _)) = self.queue.peek()?;
        let wanted = 1.0 - self.bucket;
        let paid = self.bucket_at + wanted.max(0.0) / self.terms.requests_per_day;
        Some(match self.policy.pace() {
            Pace::Even => paid,
            Pace::WhenDue => paid.max(f64::from(*tick) / TICKS),
        })
    }

    /// The page to visit now, if one is due and the budget allows it. It must be
    /// given back with [`Planner::observe`] or [`Planner::failed`].
    pub fn next(&mut self, now: f64) -> Option<PageId> {
        self.fill(now);
        loop {
            let Reverse((tick, page)) = *self.queue.peek()?;
            let is_due = f64::from(tick) <= now * TICKS + 1.0;
            let may = self.bucket > 1.0 - 1e-6;
            match self.policy.pace() {
                _ if !may => return None,
                Pace::WhenDue if !is_due => return None,
                Pace::WhenDue => {
                    let due = self.due(page);
                    if due * TICKS > now * TICKS + 2.0 && due > now * (1.0 + 1e-12) {
                        self.queue.pop();
                        self.push(page, due);
                        continue;
                    }
                }
                Pace::Even => {}
            }
            self.queue.pop();
            self.bucket -= 1.0;
            return Some(page);
        }
    }

    /// A visit has found the page changed, or not.
    pub fn observe(&mut self, page: PageId, changed: bool, now: f64) {
        let from = self.last[page as usize];
        self.last[page as usize] = now;
        self.policy.observe(&Sight {
            page,
            from,
            to: now,
            changed,
        });
        self.reprice();
        let due = self.due(page);
        self.push(page, due);
    }

    /// A visit came to nothing: neither changed nor unchanged. It is tried again
    /// at `retry`.
    pub fn failed(&mut self, page: PageId, retry: f64) {
        self.push(page, retry);
    }

    /// What a request costs at present.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// The rule.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    fn due(&mut self, page: PageId) -> f64 {
        let last = self.last[page as usize];
        let due = self.policy.due(page, last, self.price);
        due.min(last + self.terms.longest_gap)
    }

    fn push(&mut self, page: PageId, due: f64) {
        // The cast stops at the largest tick, 1,400 years from the start.
        self.queue.push(Reverse(((due * TICKS).ceil() as u32, page)));
    }

    fn bucket_max(&self) -> f64 {
        match self.policy.pace() {
            Pace::Even => 1.0,
            Pace::WhenDue => (self.terms.requests_per_day / 2.0).max(1.0),
        }
    }

    fn fill(&mut self, now: f64) {
        let more = (now - self.bucket_at).max(0.0) * self.terms.requests_per_day;
        self.bucket = (self.bucket + more).min(self.bucket_max());
        self.bucket_at = now;
    }

    fn reprice(&mut self) {
        if self.until_pricing > 0 {
            self.until_pricing -= 1;
            return;
        }
        self.until_pricing = (self.last.len() / 8).max(8);
        let full = match self.policy.pace() {
            Pace::Even => 0.5,
            Pace::WhenDue => self.bucket / self.bucket_max(),
        };
        let wanted = self.terms.requests_per_day * (1.0 + LEAN * (2.0 * full - 1.0));
        self.seek_price(wanted, 1);
    }

    /// Moves the price until demand is what is wanted, in so many steps.
    fn seek_price(&mut self, wanted: f64, steps: u32) {
        for _ in 0..steps {
            let step = self.price_step(wanted);
            self.price *= step.exp();
            if step.abs() < 5e-3 {
                break;
            }
        }
    }

    /// How the logarithm of the price must change so that demand meets what is
    /// wanted.
    fn price_step(&mut self, wanted: f64) -> f64 {
        let count = self.last.len();
        let asked = count.min(SAMPLE);
        let mut demand = 0.0;
        for at in 0..asked {
            let page = if asked == count { at } else { self.roll(count) };
            let gap = self.due(page as PageId) - self.last[page];
            demand += 1.0 / gap.max(1e-6);
        }
        let demand = demand * count as f64 / asked.max(1) as f64;
        (DAMPING * (demand / wanted).ln()).clamp(-STEP_MAX, STEP_MAX)
    }

    /// A page by chance: the same chances in every run.
    fn roll(&mut self, count: usize) -> usize {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.dice >> 33) as usize) % count
    }
}
