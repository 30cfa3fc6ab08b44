//! The gaps between visits that were compared, as far as the most likely rate needs them:
//! those with a change one by one, of the others the sum.

use geomi_refresh::estimators::irregular_mle;

/// Shortest gap that is believed, in days, as in the plan: a second.
const GAP_MIN: f64 = 1.0 / 86_400.0;

/// What the comparisons of a page, or of all pages of a site, found after which gaps.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Gaps {
    /// Days before each change that was found.
    changed: Vec<f32>,
    /// Days after which there was none, in all.
    quiet: f64,
}

impl Gaps {
    /// Takes in a comparison after so many days.
    pub(super) fn take(&mut self, days: f64, changed: bool) {
        // A clock that was set back must not make a gap of less than nothing.
        let days = days.max(GAP_MIN);
        if changed {
            self.changed.push(days as f32);
        } else {
            self.quiet += days;
        }
    }

    /// Takes in those of another page.
    pub(super) fn join(&mut self, other: &Self) {
        self.changed.extend_from_slice(&other.changed);
        self.quiet += other.quiet;
    }

    /// The most likely rate for gaps as they were: infinite if every comparison found a
    /// change, nothing before any was made.
    pub(super) fn most_likely(&self) -> Option<f64> {
        if self.changed.is_empty() && self.quiet <= 0.0 {
            return None;
        }
        let changed = self.changed.iter().map(|days| (f64::from(*days), true));
        let visits: Vec<(f64, bool)> = changed.chain([(self.quiet, false)]).collect();
        Some(irregular_mle(&visits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_quiet_gaps_says_what_each_of_them_says() {
        let visits = [(0.5, true), (2.0, false), (1.0, false), (3.0, true)];
        let mut gaps = Gaps::default();
        assert_eq!(gaps.most_likely(), None);
        for (days, changed) in visits {
            gaps.take(days, changed);
        }
        let (found, expected) = (gaps.most_likely().unwrap(), irregular_mle(&visits));
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        let mut of_site = Gaps::default();
        of_site.join(&gaps);
        of_site.join(&gaps);
        let pooled = of_site.most_likely().unwrap();
        assert!((pooled - expected).abs() < 1e-6, "{pooled} {expected}");
    }

    #[test]
    fn a_gap_of_no_time_is_one_of_a_second() {
        let mut gaps = Gaps::default();
        gaps.take(-0.1, true);
        assert!(gaps.most_likely().unwrap().is_infinite());
        gaps.take(1.0, false);
        assert!(gaps.most_likely().unwrap() > 0.5);
    }
}
