//! The best allocation of a budget when every rate is known: Cho and
//! Garcia-Molina's, by a Lagrange multiplier.
//!
//! Freshness gains `(w/r)[1 - (1 + r t) e^(-r t)]` from one more visit a day to a
//! page seen every `t` days. The best allocation is the one in which that is the
//! same for all pages that are visited, and pages for which it cannot reach the
//! common price are not visited at all. No crawler knows the rates; it is what
//! the others are measured against.

use super::{Pace, Page, PageId, Policy, Sight};
use crate::rates::gain;

/// The optimal policy.
#[derive(Clone, Debug)]
pub struct Optimal {
    rates: Vec<f64>,
    weights: Vec<f32>,
}

impl Optimal {
    /// With the true rates of all pages, in changes a day.
    pub fn new(rates: Vec<f64>) -> Self {
        Self {
            rates,
            weights: Vec::new(),
        }
    }
}

impl Policy for Optimal {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, page: &Page) {
        self.weights.push(page.weight);
    }

    fn observe(&mut self, _sight: &Sight) {}

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let weight = f64::from(self.weights[page as usize]);
        last + best_gap(self.rates[page as usize], price / weight)
    }
}

/// The gap at which one more visit a day is worth the price; infinite if none
/// is.
pub fn best_gap(rate: f64, price: f64) -> f64 {
    let wanted = price * rate;
    if rate <= 0.0 || wanted >= 1.0 {
        return f64::INFINITY;
    }
    // 1 - (1 + x) e^-x grows from 0 to 1: halve until x is found.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..48 {
        let middle = f64::midpoint(low, high);
        if gain(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high / rate
}

/// The share of the time a page of this rate is fresh when it is seen at this
/// gap.
pub fn freshness(rate: f64, gap: f64) -> f64 {
    let x = rate * gap;
    if x < 1e-9 {
        return 1.0;
    }
    if x.is_infinite() {
        return 0.0;
    }
    -(-x).exp_m1() / x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_solves_its_equation() {
        for (rate, price) in [(0.1, 0.5), (1.0, 0.5), (1.9, 0.5), (0.01, 3.0)] {
            let gap = best_gap(rate, price);
            assert!((gain(rate * gap) / rate - price).abs() < 1e-9, "{rate}");
        }
    }

    #[test]
    fn who_changes_too_fast_is_given_up() {
        assert!(best_gap(2.1, 0.5).is_infinite());
        assert!(best_gap(0.0, 0.5).is_infinite());
    }

    #[test]
    fn freshness_is_right_at_both_ends() {
        assert!((freshness(0.0, 5.0) - 1.0).abs() < 1e-12);
        assert!((freshness(1.0, 1.0) - 0.632_120_558).abs() < 1e-8);
        assert!(freshness(1.0, f64::INFINITY).abs() < 1e-12);
    }
}
