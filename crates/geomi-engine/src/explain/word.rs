//! How reliable the change signals of a site are: its 304 answers, its sitemaps and its
//! feeds. A plan checks them while it keeps the site fresh ([`SiteSignals`]); this is
//! the report of it.

use geomi_refresh::upkeep::{SignalRecord, SiteSignals};
use serde::{Deserialize, Serialize};

/// How far a site is believed, and what that rests on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteWord {
    /// How far its "not modified" can be believed, from 0 to 1.
    pub trust: f64,
    /// Whether every request asks for the content.
    pub is_distrusted: bool,
    /// Answers that said "not modified".
    pub not_modified: u32,
    /// Full answers that came with the validators of our copy.
    pub audits: u32,
    /// Those of them whose content had changed nevertheless.
    pub audits_wrong: u32,
    /// Changes it admitted when it could have hidden them.
    pub changes_admitted: u32,
    /// Changes it should have admitted, by what audits found.
    pub changes_expected: f64,
    /// What its sitemaps say of changes.
    pub sitemaps: SignalsWord,
    /// What its feeds say of them.
    pub feeds: SignalsWord,
}

/// How far signals of change are believed.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SignalsWord {
    /// The share that proves true, from 0 to 1.
    pub reliability: f64,
    /// Those that were followed.
    pub followed: u32,
    /// Those of them that proved true.
    pub proved: u32,
}

impl SignalsWord {
    fn of(signals: &SignalRecord) -> Self {
        Self {
            reliability: signals.reliability(),
            followed: signals.followed,
            proved: signals.proved,
        }
    }

    fn in_words(self) -> String {
        let Self {
            reliability,
            followed,
            proved,
        } = self;
        format!("reliability {reliability:.2} ({proved} of {followed} true)")
    }
}

impl SiteWord {
    /// What is known of it.
    pub fn of(signals: &SiteSignals) -> Self {
        let record = signals.not_modified_record();
        Self {
            trust: signals.trust(),
            is_distrusted: signals.is_distrusted(),
            not_modified: signals.not_modified,
            audits: signals.audits,
            audits_wrong: signals.lies,
            changes_admitted: record.admitted,
            changes_expected: record.expected(),
            sitemaps: SignalsWord::of(&signals.sitemaps),
            feeds: SignalsWord::of(&signals.feeds),
        }
    }

    /// For people.
    pub fn in_words(&self) -> String {
        let so = if self.is_distrusted {
            ", so it is asked for the content"
        } else {
            ""
        };
        format!(
            "304: trust {:.2} ({} believed, {} audited, {} wrong; {} changes admitted, {:.0} expected){so}; sitemaps: {}; feeds: {}",
            self.trust,
            self.not_modified,
            self.audits,
            self.audits_wrong,
            self.changes_admitted,
            self.changes_expected,
            self.sitemaps.in_words(),
            self.feeds.in_words()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_liar_is_told_apart_and_why() {
        let mut signals = SiteSignals {
            not_modified: 9,
            audits: 4,
            feeds: SignalRecord {
                followed: 2,
                proved: 1,
                ..SignalRecord::default()
            },
            ..SiteSignals::default()
        };
        let honest = SiteWord::of(&signals);
        assert!(!honest.is_distrusted && honest.trust > 0.8, "{honest:?}");
        let words = honest.in_words();
        for told in [
            "9 believed, 4 audited, 0 wrong",
            "feeds: reliability 0.50 (1 of 2 true)",
        ] {
            assert!(words.contains(told), "{words}");
        }
        signals.lies = 4;
        let liar = SiteWord::of(&signals);
        assert!(liar.is_distrusted && liar.trust < 0.2, "{liar:?}");
        assert!(liar.in_words().contains("so it is asked for the content"));
    }
}
