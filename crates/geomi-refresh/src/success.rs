//! Whether the next visit will succeed, from how often visits did.
//!
//! ROBOT's equations (1) and (2): of pages that were asked for `N` times each,
//! `SS` is the probability that a success is followed by a success and `FF` that
//! a failure is followed by a failure, taking the visits of a page to be
//! exchangeable.

/// What follows what.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Follows {
    /// Success after success.
    pub success: f64,
    /// Failure after failure.
    pub failure: f64,
}

/// From how many pages succeeded 0, 1, ... `N` times; `None` if there are not two
/// visits, or no page that ever succeeded or ever failed.
pub fn follows(pages_by_successes: &[u64]) -> Option<Follows> {
    let visits = pages_by_successes
        .len()
        .checked_sub(1)
        .filter(|visits| *visits >= 2)?;
    let pages: u64 = pages_by_successes.iter().sum();
    let ever_well = pages - pages_by_successes[0];
    let ever_ill = pages - pages_by_successes[visits];
    if ever_well == 0 || ever_ill == 0 {
        return None;
    }
    let sum = |weigh: &dyn Fn(usize) -> usize| -> f64 {
        let terms = pages_by_successes.iter().enumerate();
        terms
            .map(|(times, pages)| (*pages as usize * weigh(times)) as f64)
            .sum()
    };
    let others = (visits - 1) as f64;
    Some(Follows {
        success: sum(&|times| times.saturating_sub(1)) / others / ever_well as f64,
        failure: sum(&|times| (visits - times).saturating_sub(1)) / others / ever_ill as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_table_8() {
        let found = follows(&[328, 6, 7, 3, 6, 7, 9, 12, 93, 953]).unwrap();
        assert!((found.success - 0.9638).abs() < 5e-5, "{found:?}");
        assert!((found.failure - 0.7426).abs() < 5e-5, "{found:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(follows(&[]), None);
        assert_eq!(follows(&[3, 4]), None);
        assert_eq!(follows(&[0, 0, 5]), None);
    }
}
