//! Looking at a new page in order to know it.
//!
//! The index of [`Greedy`](crate::policy::Greedy) says what a visit brings, not what it
//! teaches. That leaves fast pages in a trap: a page that has changed at every
//! visit, a week apart, may change every two days and be worth many visits, or every
//! hour and be worth none, and visits a week apart will never tell.
//!
//! So in its first weeks a page is visited, unless it is due sooner, when a change has
//! become somewhat more likely than not. Each answer then halves what may be true,
//! and gaps become shorter as long as the page is found changed.

use crate::policy::crossing;
use crate::posterior::Posterior;
use crate::rates::Span;

/// How likely a page is to be unchanged when it is looked at. An even chance would
/// teach most a visit, but longer gaps cost fewer of them a day.
const UNCHANGED: f64 = 0.4;

/// The gap after which a visit to a page teaches most.
pub(crate) fn gap(posterior: &Posterior) -> f64 {
    crossing(1.0 - UNCHANGED, |entry| {
        1.0 - f64::from(Span::sum_fresh(entry, &posterior.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::Evidence;
    use crate::rates::RATES;

    #[test]
    fn the_question_is_as_even_as_wanted() {
        for rate in [0.01, 0.3, 4.0] {
            let posterior = Posterior::known(rate);
            let right = posterior.fresh(gap(&posterior));
            assert!((right - UNCHANGED).abs() < 0.01, "{rate}: {right}");
        }
    }

    #[test]
    fn gaps_close_in_on_a_page_that_is_always_changed() {
        let mut evidence = Evidence::default();
        let mut gaps = Vec::new();
        for _ in 0..3 {
            let gap = gap(&Posterior::new(&[1.0; RATES], &evidence));
            evidence.visit(gap, true, 1.0);
            gaps.push(gap);
        }
        assert!(gaps.is_sorted_by(|a, b| *b < a / 1.5), "{gaps:?}");
    }
}
