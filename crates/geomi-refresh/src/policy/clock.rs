//! As greedy, at the hours in which a visit brings most.

use super::{Pace, Page, PageId, Policy, Sight};
use crate::learner::Learner;

/// The clock policy.
#[derive(Debug, Default)]
pub struct Clock {
    learner: Learner,
}

impl Policy for Clock {
    fn pace(&self) -> Pace {
        Pace::WhenDue
    }

    fn add(&mut self, page: &Page) {
        self.learner.add(page);
    }

    fn observe(&mut self, sight: &Sight) {
        self.learner.observe(sight);
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let posterior = self.learner.posterior(page);
        last + super::greedy::gap(&posterior, price)
    }
}
