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
    use crate::rates::{nearest, rate};

    #[test]
    fn the_faster_a_page_the_sooner_it_is_due() {
        let gaps = [0.01, 0.1, 1.0, 10.0].map(|rate| gap(&Posterior::known(rate), 1.0));
        assert!(gaps.is_sorted_by(|slow, fast| slow > fast), "{gaps:?}");
        assert!(gaps[3] > 1.0, "{gaps:?}");
    }

    #[test]
    fn the_gap_is_where_the_index_meets_the_price() {
        for (wanted, price) in [(0.001, 0.5), (0.1, 0.5), (1.0, 3.0), (20.0, 0.2)] {
            let gap = gap(&Posterior::known(wanted), price);
            let rate = rate(nearest(wanted));
            let age = |t: f64| t + (-rate * t).exp_m1() / rate;
            let steps = 20_000;
            let step = gap / f64::from(steps);
            let area: f64 = (0..steps).map(|at| age((f64::from(at) + 0.5) * step)).sum();
            let index = gap * age(gap) - area * step;
            assert!(
                (index / price - 1.0).abs() < 0.02,
                "{wanted}: {index}, not {price}"
            );
        }
    }

    /// When each of two pages is due that were visited every day for a week; the second
    /// had changed each time.
    fn due_after_a_week(weights: [f32; 2]) -> [f64; 2] {
        let mut policy = Age::default();
        for weight in weights {
            policy.add(&Page {
                weight,
                ..Page::default()
            });
        }
        for (day, page) in (0..7).flat_map(|day| [(day, 0), (day, 1)]) {
            let from = f64::from(day);
            policy.observe(&Sight {
                page,
                from,
                to: from + 1.0,
                changed: page == 1,
            });
        }
        [0, 1].map(|page| policy.due(page, 7.0, 1.0) - 7.0)
    }

    #[test]
    fn a_page_that_was_seen_to_change_is_due_sooner_and_never_given_up() {
        let [quiet, busy] = due_after_a_week([1.0, 1.0]);
        assert!(busy < quiet && busy < 3.0, "{busy} {quiet}");
    }

    #[test]
    fn a_page_that_matters_more_is_due_sooner() {
        let alike = due_after_a_week([1.0, 1.0]);
        let weighted = due_after_a_week([4.0, 1.0]);
        assert!(weighted[0] < alike[0], "{weighted:?} {alike:?}");
        assert!((weighted[1] - alike[1]).abs() < 1e-9);
    }
}
