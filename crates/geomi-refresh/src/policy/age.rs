//! As greedy, for age: how old a copy is grows without end, so no page is ever
//! hopeless and those that change fast are followed.
//!
//! A visit after `t` days ends an age of expected size `t - (1 - e^(-r t)) / r`;
//! one more visit a day saves `t^2/2 - t/r + (1 - e^(-r t)) / r^2 + ...` of it. The
//! index is `t A(t) - integral of A`, with `A` that expected age, averaged over the
//! posterior.

use super::greedy::crossing;
use super::{Pace, Page, PageId, Policy, Sight};
use crate::learner::Learner;
use crate::posterior::Posterior;
use crate::rates::{Span, rates};

/// The age policy.
#[derive(Debug, Default)]
pub struct Age {
    learner: Learner,
}

impl Policy for Age {
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

fn gap(posterior: &Posterior, price: f64) -> f64 {
    crossing(price, |entry| {
        let (span, days) = (Span::entry(entry), Span::days(f64::from(entry)));
        let terms = posterior.0.iter().zip(rates()).enumerate();
        let index = |at: usize, r: f64| {
            let x = r * days;
            if x < 0.02 {
                // The first term of the series: the difference below cancels.
                return x * days * days / 3.0;
            }
            days * days / 2.0 - f64::from(span.gain(at)) / (r * r)
        };
        terms
            .map(|(at, (p, r))| f64::from(*p) * index(at, f64::from(*r)))
            .sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_a_page_the_sooner_it_is_due() {
        let gaps = [0.01, 0.1, 1.0, 10.0].map(|rate| gap(&Posterior::known(rate), 1.0));
        assert!(gaps.is_sorted_by(|slow, fast| slow > fast), "{gaps:?}");
        assert!(gaps[3] > 1.0, "{gaps:?}");
    }
}
