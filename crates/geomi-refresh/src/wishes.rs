//! How often a page would be visited, were its rate known.
//!
//! The index of [`Greedy`](crate::policy::Greedy) averages what a visit *brings* over the rates a
//! page may have. A page that is probably beyond following weighs little there and
//! is given up, though it may as well be one that is worth many visits, and once
//! given up it is never found out. Averaging *how often* each of the rates would be
//! visited leaves every possibility its share of the visits. On its own that spends
//! too much on pages that are well known to be hopeless; so the two are mixed, half
//! and half.

use std::collections::HashMap;

use crate::policy::{best_gap, greedy_gap};
use crate::posterior::Posterior;
use crate::rates::{PerRate, dot, rate};

/// The part of the averaged visits in the mixture; the index has the rest.
const MIXED: f64 = 0.5;
/// Visits a day that every page is given, so that a gap is never endless.
const VISITS_MIN: f64 = 1e-3;
/// Prices are told apart by this part in the logarithm.
const CELLS: f64 = 48.0;

/// The best visits a day of all rates, at the prices that were asked about.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    found: HashMap<i32, PerRate>,
}

impl Wishes {
    /// How long a page is left alone at a price, whatever the hour.
    pub(crate) fn gap(&mut self, posterior: &Posterior, price: f64) -> f64 {
        let index = 1.0 / greedy_gap(posterior, price);
        let averaged = f64::from(dot(&posterior.0, self.at(price)));
        let visits = (1.0 - MIXED) * index + MIXED * averaged;
        1.0 / visits.max(VISITS_MIN)
    }

    fn at(&mut self, price: f64) -> &PerRate {
        let cell = (price.max(1e-9).ln() * CELLS).round();
        self.found.entry(cell as i32).or_insert_with(|| {
            let price = (cell / CELLS).exp();
            std::array::from_fn(|at| (1.0 / best_gap(rate(at), price)) as f32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rates::{RATES, nearest};

    #[test]
    fn a_page_that_is_known_is_visited_as_the_index_says() {
        let posterior = Posterior::known(0.5);
        let gap = Wishes::default().gap(&posterior, 0.4);
        let index = greedy_gap(&posterior, 0.4);
        assert!((gap / index - 1.0).abs() < 0.03, "{gap} {index}");
    }

    #[test]
    fn a_page_that_may_be_worth_it_is_not_given_up() {
        let hopeless = Posterior::known(20.0);
        assert!(Wishes::default().gap(&hopeless, 0.4) > 900.0);
        let mut doubtful = Posterior([0.0; RATES]);
        doubtful.0[nearest(20.0)] = 0.8;
        doubtful.0[nearest(1.0)] = 0.2;
        assert!(greedy_gap(&doubtful, 0.4).is_infinite());
        let gap = Wishes::default().gap(&doubtful, 0.4);
        assert!((4.0..20.0).contains(&gap), "{gap}");
    }
}
