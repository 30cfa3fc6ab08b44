//! What a site says of its own changes, and how often that was true.
//!
//! *Not modified* is believed, but audited: now and then a page is asked for
//! without validators. An audit takes the place of a conditional request, so it
//! costs a server no request more. It tells two things. If the page comes with the
//! validators we hold, a 304 would have been the answer: was it the same content?
//! And changes must be admitted as often as audits find them (see `not_modified`), which
//! catches a server that hides changes behind validators that are always new.
//!
//! A site that is not trusted is asked for the content every time. After
//! [`PAROLE_AFTER`] such requests its word is forgotten and it is asked
//! conditionally again, a few times if it still hides what it changes and from then on
//! if it does not.
//!
//! *lastmod* of sitemaps and dates of feeds make a page due at once, as long as such
//! signals proved true often enough. Sitemaps and feeds are judged apart, for they are
//! written by different programs: many a sitemap has the time of its own making on
//! every page, beside a feed that is right. All is counted a site and kept in its
//! partition's state.

use geomi_model::{DocumentKind, UrlRecord};
use serde::{Deserialize, Serialize};

use super::not_modified::NotModifiedRecord;

/// Conditional requests between two audits of a site nobody knows, on average.
const AUDIT_EVERY: u32 = 16;
/// The same of a site that seems to hide changes.
const AUDIT_EVERY_IN_DOUBT: u32 = 4;
/// Audits that went well before they become half as frequent.
const AUDITS_TO_RELAX: u32 = 4;
/// How often that is done.
const RELAXED_MAX: u32 = 4;
/// How often, to a site that never admitted a change: it may hide rare ones.
const RELAXED_MAX_SILENT: u32 = 2;
/// Audits that are remembered: both counts are halved beyond.
const AUDITS_REMEMBERED: u32 = 64;
/// A site below this is asked for the content every time.
const TRUST_MIN: f64 = 0.75;
/// After so many requests for the content it is given another chance.
const PAROLE_AFTER: u32 = 128;
/// SignalRecord of a site below this are passed over, but for a few.
const RELIABILITY_MIN: f64 = 1.0 / 3.0;
/// One in so many is followed all the same: a site may mend its ways.
const SIGNALS_SPARED: u32 = 8;

/// What was learned of a site's own words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteSignals {
    /// Answers that said "not modified".
    pub not_modified: u32,
    /// Requests since the last audit; of a site that is not trusted, since it was
    /// last asked conditionally.
    pub since_audit: u32,
    /// Full answers that came with the validators we hold.
    pub audits: u32,
    /// Those of them whose content had changed nevertheless.
    pub lies: u32,
    /// What dates of sitemaps came to. Up to the second format those of feeds are
    /// among them.
    pub sitemaps: SignalRecord,
    /// What is known of it from the second format on: see
    /// the record `c` of the state.
    #[serde(skip)]
    pub later: LaterSignals,
    /// What dates of feeds came to, from the third format on.
    #[serde(skip)]
    pub feeds: SignalRecord,
}

/// Who says that a page has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalSource {
    /// A sitemap, or a list of them.
    Sitemap,
    /// A feed.
    Feed,
}

impl SignalSource {
    /// Who it is in a document of this kind.
    pub const fn of(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Feed => Self::Feed,
            _ => Self::Sitemap,
        }
    }
}

/// What an answer says of whether its page has changed.
#[derive(Clone, Copy, Debug)]
pub struct ComparedAnswer<'a> {
    /// Whether the page was asked for only if it had changed.
    pub is_conditional: bool,
    /// Whether the answer was "not modified".
    pub is_not_modified: bool,
    /// Its validators.
    pub etag: Option<&'a str>,
    /// The other one.
    pub last_modified: Option<&'a str>,
}

/// What came of the signals of one source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SignalRecord {
    /// Those that were followed.
    pub followed: u32,
    /// Those of them that proved true.
    pub proved: u32,
    /// Those that were passed over.
    pub passed: u32,
}

impl SignalRecord {
    /// The share that prove true; 0.5 before anything is known.
    pub fn reliability(&self) -> f64 {
        share(self.proved, self.followed)
    }

    /// Whether another one is worth a request. Counts those that are not.
    fn is_heeded(&mut self) -> bool {
        if self.reliability() >= RELIABILITY_MIN {
            return true;
        }
        self.passed = self.passed.wrapping_add(1);
        self.passed.is_multiple_of(SIGNALS_SPARED)
    }

    fn proved(&mut self, changed: bool) {
        self.followed = self.followed.saturating_add(1);
        self.proved = self.proved.saturating_add(u32::from(changed));
    }
}

/// What records of the first format do not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaterSignals {
    not_modified_record: NotModifiedRecord,
    /// Chance for the time of the next audit: were it always the same, a site whose
    /// pages are visited in turn would always be asked for the same page.
    dice: u32,
}

impl SiteSignals {
    /// How far its "not modified" can be believed: the share of audits without a lie,
    /// 0.5 before anything is known, times the share of its changes that it admits.
    pub fn trust(&self) -> f64 {
        share(self.audits - self.lies, self.audits) * self.not_modified_record().share()
    }

    /// Whether it is asked for the content every time. Where no audit told anything
    /// that is no reason for distrust.
    pub fn is_distrusted(&self) -> bool {
        let trust = match self.lies {
            0 => self.not_modified_record().share(),
            _ => self.trust(),
        };
        trust < TRUST_MIN
    }

    /// How it answered when it could have hidden a change, and when it could not.
    pub fn not_modified_record(&self) -> &NotModifiedRecord {
        &self.later.not_modified_record
    }

    /// Whether the next request may ask for changes only. Counts it.
    pub fn may_ask_conditionally(&mut self) -> bool {
        self.since_audit += 1;
        if self.is_distrusted() {
            if self.since_audit <= PAROLE_AFTER {
                return false;
            }
            self.since_audit = 1;
            self.audits = 0;
            self.lies = 0;
            self.later.not_modified_record.forget_word();
        }
        if self.since_audit < self.audit_gap() {
            return true;
        }
        self.since_audit = 0;
        self.later.dice = scrambled(self.later.dice);
        false
    }

    /// Requests from the last audit to the next: from a half to one and a half times
    /// what is usual.
    fn audit_gap(&self) -> u32 {
        let not_modified_record = self.not_modified_record();
        let every = if not_modified_record.plain_share() < TRUST_MIN {
            AUDIT_EVERY_IN_DOUBT
        } else {
            let most = match not_modified_record.admitted {
                0 => RELAXED_MAX_SILENT,
                _ => RELAXED_MAX,
            };
            AUDIT_EVERY << ((self.audits - self.lies) / AUDITS_TO_RELAX).min(most)
        };
        // The low digits of such dice are poor.
        every / 2 + (self.later.dice >> 16) % (every + 1)
    }

    /// Takes in how a page compares with the copy there was.
    pub fn take_answer(&mut self, before: &UrlRecord, answer: ComparedAnswer<'_>, changed: bool) {
        if answer.is_conditional {
            self.later.not_modified_record.answered(changed);
        } else if before.etag.is_some() || before.last_modified.is_some() {
            self.later.not_modified_record.audited(changed);
        }
        if answer.is_not_modified {
            self.not_modified = self.not_modified.saturating_add(1);
            return;
        }
        let is_same = match (before.etag.as_deref(), answer.etag) {
            (Some(then), Some(now)) => then == now,
            _ => {
                before.last_modified.is_some()
                    && before.last_modified.as_deref() == answer.last_modified
            }
        };
        if is_same {
            self.audits += 1;
            self.lies += u32::from(changed);
            if self.audits >= AUDITS_REMEMBERED {
                self.audits /= 2;
                self.lies /= 2;
            }
        }
    }

    /// Whether a signal is worth a request. Counts those that are not.
    pub fn heeds_signal(&mut self, source: SignalSource) -> bool {
        self.record(source).is_heeded()
    }

    /// A page that was visited for the sake of a signal had changed, or not.
    pub fn signal_proved(&mut self, source: SignalSource, changed: bool) {
        self.record(source).proved(changed);
    }

    fn record(&mut self, source: SignalSource) -> &mut SignalRecord {
        match source {
            SignalSource::Sitemap => &mut self.sitemaps,
            SignalSource::Feed => &mut self.feeds,
        }
    }
}

/// The next throw of the dice.
const fn scrambled(dice: u32) -> u32 {
    dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// Laplace's estimate.
fn share(good: u32, all: u32) -> f64 {
    (f64::from(good) + 1.0) / (f64::from(all) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(signals: &mut SiteSignals, times: u32) -> usize {
        let asked = (0..times).filter(|_| signals.may_ask_conditionally());
        asked.count()
    }

    /// How a server answers a request for a page that changed, or not.
    #[derive(Clone, Copy, PartialEq)]
    enum Server {
        Honest,
        /// Its validators never change.
        SameTags,
        /// "Not modified" to everything conditional; every full answer has a new tag.
        NewTags,
    }

    /// Visits pages of a site in turn, each as likely to have changed as `chances` says;
    /// which of the visits were conditional.
    fn visits(
        signals: &mut SiteSignals,
        server: Server,
        chances: &[u32],
        dice: &mut u32,
        times: u32,
    ) -> Vec<bool> {
        let before = UrlRecord {
            etag: Some("then".to_owned()),
            ..UrlRecord::default()
        };
        let pages = chances.iter().cycle().take(times as usize);
        let visit = |percent: &u32| {
            *dice = scrambled(*dice);
            let has_changed = (*dice >> 16) % 100 < *percent;
            let is_conditional = signals.may_ask_conditionally();
            let is_new = match server {
                Server::Honest => has_changed,
                Server::SameTags => false,
                Server::NewTags => true,
            };
            let is_hidden = is_conditional && (!has_changed || server != Server::Honest);
            let answer = ComparedAnswer {
                is_conditional,
                is_not_modified: is_hidden,
                etag: Some(if is_new { "now" } else { "then" }),
                last_modified: None,
            };
            signals.take_answer(&before, answer, has_changed && !is_hidden);
            is_conditional
        };
        pages.map(visit).collect()
    }

    /// Visits until a site is not trusted, in so many at most.
    fn caught(server: Server, chances: &[u32], dice: u32, most: u32) -> Option<u32> {
        let (mut signals, mut dice) = (SiteSignals::default(), dice);
        (0..most).find(|_| {
            visits(&mut signals, server, chances, &mut dice, 1);
            signals.is_distrusted()
        })
    }

    fn share_of(asked: &[bool]) -> f64 {
        let yes = asked.iter().filter(|asked| **asked).count();
        yes as f64 / asked.len() as f64
    }

    #[test]
    fn audits_become_rare_where_they_go_well() {
        let mut unknown = SiteSignals::default();
        let asked_of = asked(&mut unknown, 1_600);
        assert!((1_490..=1_510).contains(&asked_of), "{asked_of}");
        let mut proven = SiteSignals {
            audits: 40,
            ..SiteSignals::default()
        };
        let asked_of = asked(&mut proven, 6_400);
        assert!((6_280..=6_320).contains(&asked_of), "silent: {asked_of}");
        proven.later.not_modified_record.answered(true);
        let asked_of = asked(&mut proven, 25_600);
        assert!((25_480..=25_520).contains(&asked_of), "{asked_of}");
        assert!(proven.trust() > 0.95);
    }

    #[test]
    fn a_liar_is_asked_for_the_content() {
        let mut liar = SiteSignals {
            audits: 3,
            lies: 2,
            ..SiteSignals::default()
        };
        assert_eq!(asked(&mut liar, 20), 0);
    }

    #[test]
    fn an_honest_site_is_trusted_whatever_changes() {
        // Pages visited in turn, as many as lie between two audits: were these always
        // of the same page, the site would be judged by that one.
        let one_of_sixteen: Vec<u32> = (0..16).map(|page| u32::from(page == 0) * 100).collect();
        for chances in [&[0][..], &[1], &[5], &[50], &[100], &one_of_sixteen] {
            for seed in 1..=20 {
                let (mut signals, mut dice) = (SiteSignals::default(), seed);
                let asked = visits(&mut signals, Server::Honest, chances, &mut dice, 4_000);
                let share = share_of(&asked);
                assert!(share > 0.85, "{share} of {chances:?}, {seed}");
            }
        }
        let (mut signals, mut dice) = (SiteSignals::default(), 1);
        visits(&mut signals, Server::Honest, &[0], &mut dice, 4_000);
        assert!(signals.trust() > 0.9 && !signals.is_distrusted());
    }

    #[test]
    fn a_site_that_hides_its_changes_is_caught() {
        let most = [(100, 60), (50, 250), (20, 2_000), (5, 10_000)];
        for (percent, most) in most {
            for server in [Server::NewTags, Server::SameTags] {
                for seed in 1..=20 {
                    let caught = caught(server, &[percent], seed, most);
                    assert!(caught.is_some(), "{percent} % with seed {seed}");
                }
            }
        }
        assert_eq!(caught(Server::Honest, &[100], 1, 4_000), None);
    }

    #[test]
    fn a_liar_is_asked_for_changes_only_to_see_whether_it_still_lies() {
        for server in [Server::NewTags, Server::SameTags] {
            let (mut signals, mut dice) = (SiteSignals::default(), 1);
            visits(&mut signals, server, &[50], &mut dice, 1_000);
            let asked = visits(&mut signals, server, &[50], &mut dice, 4_000);
            let share = share_of(&asked);
            assert!(share > 0.0 && share < 0.12, "{share}");
        }
    }

    #[test]
    fn a_liar_that_mends_its_ways_is_trusted_again() {
        for server in [Server::NewTags, Server::SameTags] {
            for percent in [0, 5, 50, 100] {
                let (mut signals, mut dice) = (SiteSignals::default(), 1);
                visits(&mut signals, server, &[50], &mut dice, 1_000);
                visits(&mut signals, Server::Honest, &[percent], &mut dice, 1_500);
                let asked = visits(&mut signals, Server::Honest, &[percent], &mut dice, 1_000);
                let share = share_of(&asked);
                // Some doubt may be left, which costs audits.
                assert!(share > 0.7, "{share} with {percent} %");
            }
        }
    }

    #[test]
    fn signals_that_prove_false_are_passed_over() {
        let (mut signals, source) = (SiteSignals::default(), SignalSource::Sitemap);
        assert!(signals.heeds_signal(source));
        for _ in 0..6 {
            signals.signal_proved(source, false);
        }
        let heeded = (0..16).filter(|_| signals.heeds_signal(source)).count();
        assert_eq!(heeded, 2);
        for _ in 0..6 {
            signals.signal_proved(source, true);
        }
        assert!(signals.heeds_signal(source));
    }

    #[test]
    fn a_sitemap_that_lies_does_not_silence_a_feed() {
        let mut signals = SiteSignals::default();
        for _ in 0..6 {
            signals.signal_proved(SignalSource::of(DocumentKind::Sitemap), false);
            signals.signal_proved(SignalSource::of(DocumentKind::Feed), true);
        }
        let heeded = |signals: &mut SiteSignals, source| {
            let heeded = (0..8).filter(|_| signals.heeds_signal(source));
            heeded.count()
        };
        assert_eq!(heeded(&mut signals, SignalSource::Sitemap), 1);
        assert_eq!(heeded(&mut signals, SignalSource::Feed), 8);
        assert!(signals.sitemaps.reliability() < 0.2 && signals.feeds.reliability() > 0.8);
    }
}
