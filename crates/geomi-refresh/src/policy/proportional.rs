//! As often as it changes.
//!
//! It sounds right and is worse than the static cycle: pages that change faster
//! than they can be followed take most of the budget and are stale all the same.

use super::{Pace, Page, PageId, Policy, Sight};
use crate::learner::Knowledge;

/// The change-frequency-based policy.
#[derive(Debug)]
pub struct Proportional {
    rates: Knowledge,
}

impl Proportional {
    /// By these rates.
    pub fn new(rates: Knowledge) -> Self {
        Self { rates }
    }
}

impl Policy for Proportional {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, page: &Page) {
        self.rates.add(page);
    }

    fn observe(&mut self, sight: &Sight) {
        self.rates.observe(sight);
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        last + price / self.rates.rate(page)
    }
}
