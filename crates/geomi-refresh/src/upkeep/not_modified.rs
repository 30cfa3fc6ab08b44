//! Whether a site admits its changes.
//!
//! A page that has validators is asked for in one of two ways: *conditionally*,
//! where the server may say "not modified", or *in full*, as an audit. Which of
//! them is by chance, so an honest site admits changes to the one as often as the
//! other finds them, whatever its validators look like. One that says "not
//! modified" to everybody admits none.
//!
//! Two estimates are made of the changes that should have been admitted. The
//! plain one raises doubt, and doubt only means more audits; the cautious one, below
//! the other by what chance may do, is what a site is judged by.
//!
//! Counts are halved as they grow, so that what a site did long ago is forgotten.
//! While a site is asked in full every time its word is not heard and those counts
//! stand still; so that it can mend its ways they are forgotten from time to time
//! ([`NotModifiedRecord::forget_word`]), and it is judged anew by what it says then.

use serde::{Deserialize, Serialize};

/// Counts are halved when they are of so many requests.
const REMEMBERED: u32 = 512;
/// Changes that audits must have found before a site is judged by them.
const FOUND_MIN: u32 = 3;
/// Conditional requests that must have been answered before that.
const ASKED_MIN: u32 = 8;
/// Standard deviations by which the number of changes found may be too high.
const CAUTION: f64 = 1.5;

/// What a site answered to either way of asking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NotModifiedRecord {
    /// Conditional requests that were answered.
    pub asked: u32,
    /// Those of them that brought a change.
    pub admitted: u32,
    /// Pages asked for in full that have validators.
    pub full: u32,
    /// Those of them that had changed.
    pub full_changed: u32,
}

impl NotModifiedRecord {
    /// Takes in an answer to a conditional request.
    pub fn answered(&mut self, changed: bool) {
        self.asked += 1;
        self.admitted += u32::from(changed);
        self.fade();
    }

    /// Takes in a page that was asked for in full.
    pub fn audited(&mut self, changed: bool) {
        self.full += 1;
        self.full_changed += u32::from(changed);
        self.fade();
    }

    /// Forgets how the site answered, and half of how often its pages change: they
    /// may do so no longer.
    pub fn forget_word(&mut self) {
        *self = Self {
            asked: 0,
            admitted: 0,
            full: self.full / 2,
            full_changed: self.full_changed / 2,
        };
    }

    /// The share of its changes that it admits, by the cautious estimate: 1 until
    /// there is reason to say otherwise.
    pub fn share(&self) -> f64 {
        if self.full_changed < FOUND_MIN || self.asked < ASKED_MIN {
            return 1.0;
        }
        let found = f64::from(self.full_changed);
        self.admits(found - CAUTION * found.sqrt())
    }

    /// The share by the plain estimate: below the other, and 1 before any audit
    /// found a change.
    pub fn plain_share(&self) -> f64 {
        self.admits(f64::from(self.full_changed))
    }

    /// Changes that should have been admitted, by the plain estimate.
    pub fn expected(&self) -> f64 {
        self.should_admit(f64::from(self.full_changed))
    }

    fn admits(&self, found: f64) -> f64 {
        let share = (f64::from(self.admitted) + 1.0) / (self.should_admit(found) + 1.0);
        share.min(1.0)
    }

    fn should_admit(&self, found: f64) -> f64 {
        f64::from(self.asked) * found / f64::from(self.full.max(1))
    }

    fn fade(&mut self) {
        if self.asked + self.full >= REMEMBERED {
            for count in [
                &mut self.asked,
                &mut self.admitted,
                &mut self.full,
                &mut self.full_changed,
            ] {
                *count /= 2;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record([asked, admitted, full, full_changed]: [u32; 4]) -> NotModifiedRecord {
        NotModifiedRecord {
            asked,
            admitted,
            full,
            full_changed,
        }
    }

    #[test]
    fn a_site_is_judged_by_what_audits_find() {
        assert!((NotModifiedRecord::default().share() - 1.0).abs() < 1e-9);
        // As many as expected, somewhat fewer, and none.
        assert!((record([90, 30, 30, 10]).share() - 1.0).abs() < 1e-9);
        assert!((record([90, 18, 30, 10]).share() - 1.0).abs() < 1e-9);
        assert!(record([90, 0, 30, 10]).share() < 0.1);
        // Nothing changes: there is nothing to admit.
        assert!((record([400, 0, 100, 0]).share() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn little_evidence_raises_doubt_but_no_verdict() {
        let two = record([30, 0, 4, 2]);
        assert!((two.share() - 1.0).abs() < 1e-9);
        assert!(two.plain_share() < 0.1);
        assert!((record([7, 0, 9, 9]).share() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_long_ago_is_forgotten() {
        let mut site = NotModifiedRecord::default();
        (0..5_000).for_each(|_| site.answered(true));
        assert!(site.asked < REMEMBERED && site.admitted == site.asked);
        site.forget_word();
        assert_eq!(site, NotModifiedRecord::default());
    }
}
