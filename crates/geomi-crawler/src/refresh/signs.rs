//! What a site says of its own changes, and how often that was true.
//!
//! *Not modified* is believed, but audited: now and then a page is asked for
//! without validators, and if it comes with those we hold, a 304 would have been
//! the answer: was it the same content? *lastmod* of sitemaps and dates of feeds
//! make a page due at once, as long as such signals proved true often enough.
//! Both are counted a site and kept in its partition's state.

use geomi_model::{Change, UrlRecord};
use serde::{Deserialize, Serialize};

use crate::stage::read::Answer;

/// Conditional requests between two audits of a site nobody knows.
const AUDIT_EVERY: u32 = 16;
/// Audits that went well before they become half as frequent.
const AUDITS_TO_RELAX: u32 = 4;
/// How often that is done.
const RELAXED_MAX: u32 = 4;
/// A site below this is asked for the content every time.
const TRUST_MIN: f64 = 0.75;
/// Signals of a site below this are passed over, but for a few.
const RELIABILITY_MIN: f64 = 1.0 / 3.0;
/// One in so many is followed all the same: a site may mend its ways.
const SIGNALS_SPARED: u32 = 8;

/// What was learned of a site's own words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteSigns {
    /// Answers that said "not modified".
    pub not_modified: u32,
    /// Conditional requests since the last audit.
    since_audit: u32,
    /// Full answers that came with the validators we hold.
    pub audits: u32,
    /// Those of them whose content had changed nevertheless.
    pub lies: u32,
    /// Signals of a change that were followed.
    pub signals: u32,
    /// Those of them that proved true.
    pub signals_true: u32,
    /// Signals that were passed over.
    pub signals_passed: u32,
}

impl SiteSigns {
    /// The share of its "not modified" that can be believed; 0.5 before anything
    /// is known.
    pub fn trust(&self) -> f64 {
        share(self.audits - self.lies, self.audits)
    }

    /// The share of its signals that prove true; 0.5 before anything is known.
    pub fn reliability(&self) -> f64 {
        share(self.signals_true, self.signals)
    }

    /// Whether the next request may ask for changes only. Counts it.
    pub(crate) fn may_ask_conditionally(&mut self) -> bool {
        let is_distrusted = self.lies > 0 && self.trust() < TRUST_MIN;
        let relaxed = ((self.audits - self.lies) / AUDITS_TO_RELAX).min(RELAXED_MAX);
        self.since_audit += 1;
        if is_distrusted || self.since_audit >= AUDIT_EVERY << relaxed {
            self.since_audit = 0;
            return false;
        }
        true
    }

    /// Takes in how a page compares with the copy there was.
    pub(crate) fn hear(&mut self, before: &UrlRecord, answer: &Answer, change: Change) {
        if answer.is_not_modified() {
            self.not_modified = self.not_modified.saturating_add(1);
            return;
        }
        let is_same = match (&before.etag, &answer.etag) {
            (Some(then), Some(now)) => then == now,
            _ => before.last_modified.is_some() && before.last_modified == answer.last_modified,
        };
        if is_same {
            self.audits = self.audits.saturating_add(1);
            self.lies += u32::from(change.changed);
        }
    }

    /// Whether a signal is worth a request. Counts those that are not.
    pub(crate) fn heeds_signal(&mut self) -> bool {
        if self.reliability() >= RELIABILITY_MIN {
            return true;
        }
        self.signals_passed = self.signals_passed.wrapping_add(1);
        self.signals_passed.is_multiple_of(SIGNALS_SPARED)
    }

    /// A page that was visited for the sake of a signal had changed, or not.
    pub(crate) fn signal_proved(&mut self, changed: bool) {
        self.signals = self.signals.saturating_add(1);
        self.signals_true += u32::from(changed);
    }
}

/// Laplace's estimate.
fn share(good: u32, all: u32) -> f64 {
    (f64::from(good) + 1.0) / (f64::from(all) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(signs: &mut SiteSigns, times: u32) -> usize {
        let asked = (0..times).filter(|_| signs.may_ask_conditionally());
        asked.count()
    }

    #[test]
    fn audits_become_rare_where_they_go_well() {
        let mut unknown = SiteSigns::default();
        assert_eq!(asked(&mut unknown, 160), 150);
        let mut proven = SiteSigns {
            audits: 40,
            ..SiteSigns::default()
        };
        assert_eq!(asked(&mut proven, 512), 510);
        assert!(proven.trust() > 0.95);
    }

    #[test]
    fn a_liar_is_asked_for_the_content() {
        let mut liar = SiteSigns {
            audits: 3,
            lies: 2,
            ..SiteSigns::default()
        };
        assert_eq!(asked(&mut liar, 20), 0);
    }

    #[test]
    fn signals_that_prove_false_are_passed_over() {
        let mut signs = SiteSigns::default();
        assert!(signs.heeds_signal());
        for _ in 0..6 {
            signs.signal_proved(false);
        }
        let heeded = (0..16).filter(|_| signs.heeds_signal()).count();
        assert_eq!(heeded, 2);
        for _ in 0..6 {
            signs.signal_proved(true);
        }
        assert!(signs.heeds_signal());
    }
}
