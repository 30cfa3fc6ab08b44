//! Visit what brings most: the index of Cho and Garcia-Molina, learned.
//!
//! A visit after `t` days to a page of rate `r` brings `V = (w/r)[1 - (1 + r t)
//! e^(-r t)]` days of freshness more than it would have brought at once. With
//! known rates, visiting whenever `V` reaches one common price is the optimal
//! allocation. With rates that are only believed, `V` is averaged over the
//! posterior: a page that is probably hopeless, changing faster than it could be
//! followed, is left alone, and one that might change is looked at.

use super::{Pace, Page, PageId, Policy, Sight};
use crate::learner::Learner;
use crate::posterior::Posterior;
use crate::rates::{RATES, Span, rates};

/// The greedy policy.
#[derive(Debug, Default)]
pub struct Greedy {
    learner: Learner,
}

impl Greedy {
    /// What is believed of the pages.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }
}

impl Policy for Greedy {
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
        last + gap(&posterior, price / f64::from(self.learner.weight(page)))
    }
}

/// The gap at which the averaged index reaches a price; infinite if it never
/// does.
pub(crate) fn gap(posterior: &Posterior, price: f64) -> f64 {
    let rates = rates();
    let terms: [f32; RATES] = std::array::from_fn(|at| posterior.0[at] / rates[at]);
    crossing(price, |entry| f64::from(Span::sum_gain(entry, &terms)))
}

/// Shortest gap that is considered: a minute.
const GAP_MIN: f64 = 1.0 / 1_440.0;
/// Longest gap that is told from never.
const GAP_MAX: f64 = 1_000.0;

/// Where a growing function of the gap reaches a value.
pub(crate) fn crossing(value: f64, function: impl Fn(i32) -> f64) -> f64 {
    let (mut low, mut high) = (Span::of(GAP_MIN).floor(), Span::of(GAP_MAX).floor());
    if function(high) < value {
        return f64::INFINITY;
    }
    let (mut below, mut above) = (function(low), value);
    if below >= value {
        return GAP_MIN;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let found = function(middle);
        if found < value {
            (low, below) = (middle, found);
        } else {
            (high, above) = (middle, found);
        }
    }
    let part = if above > below {
        (value - below) / (above - below)
    } else {
        0.5
    };
    Span::days(f64::from(low) + part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::{gain, nearest, rate};

    #[test]
    fn the_gap_is_where_the_index_meets_the_price() {
        let r = rate(nearest(0.5));
        let gap = gap(&Posterior::known(0.5), 0.4);
        assert!((gain(r * gap) / r - 0.4).abs() < 2e-3, "{gap}");
    }

    #[test]
    fn a_hopeless_page_is_left_alone() {
        assert!(gap(&Posterior::known(20.0), 0.4).is_infinite());
        let dearer = gap(&Posterior::known(0.5), 0.8);
        assert!(dearer > gap(&Posterior::known(0.5), 0.4));
    }
}
