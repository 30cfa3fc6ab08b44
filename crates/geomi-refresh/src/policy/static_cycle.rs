//! Every page as often as any other, in turn.

use super::{Pace, Page, PageId, Policy, Sight};

/// The static cycle, or round-robin: what all others are measured by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Static;

impl Policy for Static {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, _page: &Page) {}

    fn observe(&mut self, _sight: &Sight) {}

    fn due(&mut self, _page: PageId, last: f64, price: f64) -> f64 {
        last + price
    }
}
