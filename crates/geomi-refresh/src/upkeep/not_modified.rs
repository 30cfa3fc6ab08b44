//! How reliable the "not modified" answers (304) of a site are.
//!
//! A page with validators is requested in one of two ways: *conditionally*, so that the
//! server may answer "not modified", or *in full*, as an audit. The choice is random, so for
//! a correct site both find changes equally often, whatever its validators look like. A site
//! that answers every conditional request with "not modified" reports no change at all.
//!
//! The expected number of reported changes is estimated twice. The plain estimate raises
//! doubt, and doubt only causes more audits. The cautious estimate is lower by the random
//! error, and the site is judged by it.
//!
//! Counts are halved as they grow, so that old behaviour is forgotten. While every request to
//! a site is in full, its conditional counts do not change. They are therefore reset from time
//! to time ([`NotModifiedRecord::reset_answers`]), and the site is judged by its new answers.

use serde::{Deserialize, Serialize};

/// Number of requests at which the counts are halved.
const REMEMBERED: u32 = 512;
/// Minimum number of changes found by audits before a site is judged.
const FOUND_MIN: u32 = 3;
/// Minimum number of answered conditional requests before a site is judged.
const ASKED_MIN: u32 = 8;
/// Standard deviations by which the cautious estimate is lower.
const CAUTION: f64 = 1.5;

/// Counts of answers to conditional and to full requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NotModifiedRecord {
    /// Answered conditional requests.
    pub asked: u32,
    /// Conditional requests that returned a change.
    pub admitted: u32,
    /// Full requests of pages that have validators.
    pub full: u32,
    /// Full requests that found a change.
    pub full_changed: u32,
}

impl NotModifiedRecord {
    /// Counts an answer to a conditional request.
    pub fn answered(&mut self, changed: bool) {
        self.asked += 1;
        self.admitted += u32::from(changed);
        self.fade();
    }

    /// Counts an answer to a full request.
    pub fn audited(&mut self, changed: bool) {
        self.full += 1;
        self.full_changed += u32::from(changed);
        self.fade();
    }

    /// Resets the conditional counts and halves the full ones: the pages may change less
    /// often than before.
    pub fn reset_answers(&mut self) {
        *self = Self {
            asked: 0,
            admitted: 0,
            full: self.full / 2,
            full_changed: self.full_changed / 2,
        };
    }

    /// The share of changes that the site reports, by the cautious estimate. 1 until there
    /// is enough evidence.
    pub fn share(&self) -> f64 {
        if self.full_changed < FOUND_MIN || self.asked < ASKED_MIN {
            return 1.0;
        }
        let found = f64::from(self.full_changed);
        self.admits(found - CAUTION * found.sqrt())
    }

    /// The share by the plain estimate. At most the cautious one, and 1 before any audit
    /// found a change.
    pub fn plain_share(&self) -> f64 {
        self.admits(f64::from(self.full_changed))
    }

    /// The expected number of reported changes, by the plain estimate.
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
        site.reset_answers();
        assert_eq!(site, NotModifiedRecord::default());
    }
}
