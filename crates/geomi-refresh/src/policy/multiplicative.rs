//! The rule of every crawler that adapts: after a change the interval times one
//! factor, without a change times another.
//!
//! It drives each page towards the gap at which a visit finds a change with one
//! certain probability, the same for all, which is again proportional to the
//! rate. What saves it is that it asks for more than the budget: overdue pages
//! wait in line, and a line is a static cycle.

use super::{INTERVAL_MAX, INTERVAL_MIN, Pace, Page, PageId, Policy, Sight};

/// A policy of two factors.
#[derive(Clone, Debug)]
pub struct Multiplicative {
    after_change: f32,
    without_change: f32,
    first: f32,
    min: f32,
    intervals: Vec<f32>,
}

impl Multiplicative {
    fn new(after_change: f32, without_change: f32, first: f64, min: f64) -> Self {
        Self {
            after_change,
            without_change,
            first: first as f32,
            min: min as f32,
            intervals: Vec::new(),
        }
    }

    /// REFRESH's reference 6: times 0.5, or times 1.2. The first interval is in
    /// days.
    pub fn reference6(first: f64) -> Self {
        Self::new(0.5, 1.2, first, INTERVAL_MIN)
    }

    /// Nutch's `AdaptiveFetchSchedule` with its defaults: a fifth shorter after a
    /// change, two fifths longer without one.
    pub fn nutch(first: f64) -> Self {
        Self::new(0.8, 1.4, first, 1.0 / 1_440.0)
    }

    /// StormCrawler's `AdaptiveScheduler` with its defaults: half shorter, or half
    /// longer.
    pub fn stormcrawler(first: f64) -> Self {
        Self::new(0.5, 1.5, first, INTERVAL_MIN)
    }
}

impl Policy for Multiplicative {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, _page: &Page) {
        self.intervals.push(self.first);
    }

    fn observe(&mut self, sight: &Sight) {
        let interval = &mut self.intervals[sight.page as usize];
        *interval *= if sight.changed {
            self.after_change
        } else {
            self.without_change
        };
        *interval = interval.clamp(self.min, INTERVAL_MAX as f32);
    }

    fn due(&mut self, page: PageId, last: f64, _price: f64) -> f64 {
        last + f64::from(self.intervals[page as usize])
    }
}
