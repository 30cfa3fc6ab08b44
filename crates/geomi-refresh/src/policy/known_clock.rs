//! At the best hours, when every rate and the hours of every page are known: what
//! [`Clock`](super::Clock) would come to had it nothing left to learn.
//!
//! No crawler knows them, and no name stands for it: it is the yardstick for what hours are
//! worth at most. A page is visited by the thresholds of its own rate and
//! [shape](mod@crate::shape), the rate taken as the nearest of those that are told apart.

use super::clock::at_best_hour;
use super::{Pace, Page, PageId, Policy, Sight, best_gap};
use crate::course::Course;
use crate::posterior::Posterior;
use crate::rates::{nearest, rate};
use crate::shape::SHAPES;
use crate::worth::Worths;

/// The clock of pages that are known.
#[derive(Clone, Debug)]
pub struct KnownClock {
    /// The rate in changes a day, and which of [`shapes`](crate::shape::shapes) a page has.
    pages: Vec<(f64, usize)>,
    weights: Vec<f32>,
    worths: Worths,
}

impl KnownClock {
    /// With the true rates of all pages, in changes a day, and their shapes by number.
    pub fn new(pages: Vec<(f64, usize)>) -> Self {
        Self {
            pages,
            weights: Vec::new(),
            worths: Worths::default(),
        }
    }
}

impl Policy for KnownClock {
    fn pace(&self) -> Pace {
        Pace::WhenDue
    }

    /// A day's worth, for most pages are visited in a few hours of it.
    fn saves_days(&self) -> f64 {
        1.0
    }

    fn add(&mut self, page: &Page) {
        self.weights.push(page.weight);
    }

    fn observe(&mut self, _sight: &Sight) {}

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let (known, shape) = self.pages[page as usize];
        let price = price / f64::from(self.weights[page as usize]);
        if known <= 0.0 {
            return f64::INFINITY;
        }
        let steady = best_gap(rate(nearest(known)), price);
        if steady.is_infinite() {
            return f64::INFINITY;
        }
        let mut belief = [0.0; SHAPES];
        belief[shape] = 1.0;
        let posterior = Posterior::known(known);
        let course = Course::new(&posterior, &belief, &mut self.worths, price, None, steady);
        at_best_hour(course, last, steady)
    }
}
