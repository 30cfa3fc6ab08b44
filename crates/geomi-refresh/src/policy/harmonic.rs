//! As often as the root of its rate, rates known: the allocation that is best
//! for age over long gaps, and a robust one for freshness.
//!
//! The name is that of harmonic crawling, whose closed form it shares: the visits
//! of a page grow with the geometric mean of its rate and the rate at which
//! visits are worth least.

use super::{Pace, Page, PageId, Policy, Sight};

/// The harmonic policy.
#[derive(Clone, Debug)]
pub struct Harmonic {
    rates: Vec<f64>,
    weights: Vec<f32>,
}

impl Harmonic {
    /// With the true rates of all pages, in changes a day.
    pub fn new(rates: Vec<f64>) -> Self {
        Self {
            rates,
            weights: Vec::new(),
        }
    }
}

impl Policy for Harmonic {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, page: &Page) {
        self.weights.push(page.weight);
    }

    fn observe(&mut self, _sight: &Sight) {}

    /// Loses `w ln((r + v) / v)` at `v` visits a day: the closed form of Azar and
    /// others, whose marginal value is the price.
    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let (r, w) = (
            self.rates[page as usize],
            f64::from(self.weights[page as usize]),
        );
        last + interval(r, w, price)
    }
}

/// `w / v - w / (v + r) = price`, solved for the gap `1 / v`.
fn interval(r: f64, w: f64, price: f64) -> f64 {
    if r <= 0.0 {
        return f64::INFINITY;
    }
    let visits = ((r * r + 4.0 * w * r / price).sqrt() - r) / 2.0;
    1.0 / visits
}
