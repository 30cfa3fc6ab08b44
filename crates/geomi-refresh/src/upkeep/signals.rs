//! Change signals of sites, and how reliable they are.
//!
//! **"Not modified" (304).** These answers are used, but audited: now and then a page is
//! requested without validators. An audit replaces a conditional request, so it costs no extra
//! request. It checks two things. If the page arrives with the validators that are stored, the
//! server would have answered 304: is the content the same? And conditional requests must
//! report changes as often as audits find them (see `not_modified`), which detects a server
//! that hides changes behind validators that always differ.
//!
//! From a site that is not trusted every page is requested in full. After [`PAROLE_AFTER`] such
//! requests its record is reset and it is requested conditionally again: a few times if it
//! still hides changes, permanently if it does not.
//!
//! **Dates.** The `lastmod` of a sitemap or the date of a feed makes a page due at once, as long
//! as enough of these signals were right. Sitemaps and feeds are counted separately, because
//! different programs write them: many sitemaps have their own creation time on every page,
//! beside a correct feed. Counts are per site and are kept in the state of its partition.

use geomi_model::{DocumentKind, UrlRecord};
use serde::{Deserialize, Serialize};

use super::not_modified::NotModifiedRecord;

/// Average number of conditional requests between two audits of a new site.
const AUDIT_EVERY: u32 = 16;
/// The same for a site that seems to hide changes.
const AUDIT_EVERY_IN_DOUBT: u32 = 4;
/// Number of good audits after which audits become half as frequent.
const AUDITS_TO_RELAX: u32 = 4;
/// How often the frequency is halved at most.
const RELAXED_MAX: u32 = 4;
/// The same for a site that never reported a change: it may hide rare changes.
const RELAXED_MAX_SILENT: u32 = 2;
/// Number of audits at which their counts are halved.
const AUDITS_REMEMBERED: u32 = 64;
/// Minimum trust. Below it every page is requested in full.
const TRUST_MIN: f64 = 0.75;
/// Number of full requests after which an untrusted site is tried again.
const PAROLE_AFTER: u32 = 128;
/// Minimum reliability. Below it most signals of a source are ignored.
const RELIABILITY_MIN: f64 = 1.0 / 3.0;
/// Of the signals below that, one in this number is followed: the source may improve.
const SIGNALS_SPARED: u32 = 8;

/// The change signals of one site, and how often they were right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteSignals {
    /// Number of "not modified" answers.
    pub not_modified: u32,
    /// Requests since the last audit. For an untrusted site: since the last conditional
    /// request.
    pub since_audit: u32,
    /// Full answers with the validators that are stored.
    pub audits: u32,
    /// The number of these whose content had changed nevertheless.
    pub lies: u32,
    /// Dates in sitemaps. In formats 1 and 2 those of feeds are included.
    pub sitemaps: SignalRecord,
    /// Fields that were added with format 2: see
    /// the record `c` of the state.
    #[serde(skip)]
    pub later: LaterSignals,
    /// Dates in feeds, since format 3.
    #[serde(skip)]
    pub feeds: SignalRecord,
}

/// The source of a signal that a page has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalSource {
    /// A sitemap, or a sitemap index.
    Sitemap,
    /// A feed.
    Feed,
}

impl SignalSource {
    /// The source for a document of this kind.
    pub const fn of(kind: DocumentKind) -> Self {
        match kind {
            DocumentKind::Feed => Self::Feed,
            _ => Self::Sitemap,
        }
    }
}

/// The parts of an answer that show whether its page has changed.
#[derive(Clone, Copy, Debug)]
pub struct ComparedAnswer<'a> {
    /// Whether the request was conditional.
    pub is_conditional: bool,
    /// Whether the answer was "not modified".
    pub is_not_modified: bool,
    /// The `ETag` header.
    pub etag: Option<&'a str>,
    /// The `Last-Modified` header.
    pub last_modified: Option<&'a str>,
}

/// How often the signals of one source were right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SignalRecord {
    /// Signals that were followed.
    pub followed: u32,
    /// Followed signals that were right.
    pub proved: u32,
    /// Signals that were ignored.
    pub passed: u32,
}

impl SignalRecord {
    /// The share of signals that are right; 0.5 without data.
    pub fn reliability(&self) -> f64 {
        share(self.proved, self.followed)
    }

    /// Whether to follow the next signal. Counts ignored ones.
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

/// Fields that format 1 does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaterSignals {
    not_modified_record: NotModifiedRecord,
    /// State of the random numbers for the time of the next audit. With a fixed interval, a
    /// site whose pages are visited in turn would always be audited with the same page.
    dice: u32,
}

impl SiteSignals {
    /// How reliable "not modified" is: the share of correct audits (0.5 without data), times
    /// the share of changes that the site reports.
    pub fn trust(&self) -> f64 {
        share(self.audits - self.lies, self.audits) * self.not_modified_record().share()
    }

    /// Whether every page is requested in full. Missing audits alone are no reason.
    pub fn is_distrusted(&self) -> bool {
        let trust = match self.lies {
            0 => self.not_modified_record().share(),
            _ => self.trust(),
        };
        trust < TRUST_MIN
    }

    /// Its answers to conditional and to full requests.
    pub fn not_modified_record(&self) -> &NotModifiedRecord {
        &self.later.not_modified_record
    }

    /// Whether the next request may be conditional. Counts the request.
    pub fn may_ask_conditionally(&mut self) -> bool {
        self.since_audit += 1;
        if self.is_distrusted() {
            if self.since_audit <= PAROLE_AFTER {
                return false;
            }
            self.since_audit = 1;
            self.audits = 0;
            self.lies = 0;
            self.later.not_modified_record.reset_answers();
        }
        if self.since_audit < self.audit_gap() {
            return true;
        }
        self.since_audit = 0;
        self.later.dice = scrambled(self.later.dice);
        false
    }

    /// The number of requests between two audits: 0.5 to 1.5 times the average.
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
        // The low bits of this generator are not random enough.
        every / 2 + (self.later.dice >> 16) % (every + 1)
    }

    /// Takes in the answer for a page that was compared with its copy.
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

    /// Whether to follow a signal. Counts ignored ones.
    pub fn heeds_signal(&mut self, source: SignalSource) -> bool {
        self.record(source).is_heeded()
    }

    /// Counts whether a followed signal was right.
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

/// The next random number.
const fn scrambled(dice: u32) -> u32 {
    dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
}

/// A share by Laplace's rule of succession.
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
