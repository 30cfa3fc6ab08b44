//! REFRESH's rule: pages in groups by their changes a week, each group as often
//! as its name says.
//!
//! The paper counts changes by looking every 20 minutes for a month, which is to
//! know the rates; where there was no such month they are learned. Where the groups
//! together need another number of requests than the budget has, all intervals
//! are stretched alike.

use super::{Pace, Page, PageId, Policy, Sight};
use crate::groups::Grouping;
use crate::learner::Knowledge;

/// The policy of 16 or 6 groups.
#[derive(Debug)]
pub struct Grouped {
    grouping: Grouping,
    rates: Knowledge,
}

impl Grouped {
    /// With this many groups.
    pub fn new(grouping: Grouping, rates: Knowledge) -> Self {
        Self { grouping, rates }
    }
}

impl Policy for Grouped {
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
        let weekly = self.rates.rate(page) * 7.0;
        last + price * 7.0 / self.grouping.of(weekly).visits_a_week()
    }
}
