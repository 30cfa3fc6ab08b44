//! Template edits: a new menu changes every page of a site at once, and says nothing about how
//! often its pages change.
//!
//! An edit adds the same text to many pages, so it shows as *similar* changes: each page grows
//! or shrinks by about the same number of bytes ([`ALIKE`]), and most of its text stays the
//! same. Such a change is *slight*: the size differs by at least [`BYTES_MIN`] bytes, and the
//! simhashes of the main text by at most [`BITS_MAX`] bits (very short pages have no simhash).
//! Each page can show an edit only once, when its copy is older than the edit.
//!
//! **The rule.** Any slight change may begin an edit. From then on, every comparison of a page
//! whose copy is older is weighed: a similar change is evidence for the edit, any other result
//! is evidence against it. The weight is the likelihood ratio between an edit ([`EDIT_SHARE`] of
//! the pages show it) and the usual share of similar changes on that site, averaged over about
//! the last [`SLOW`] comparisons. When the evidence falls to 0 the suspicion ends, and the next
//! slight change begins a new one: this is Page's cumulative sum (1954). From [`EVIDENCE_MIN`]
//! on, similar changes are *edited*. The first 3 pages count as changed on a site where similar
//! changes are rare, and 15 where they are half of all comparisons. By chance this happens in at
//! most one of a thousand comparisons, and ends with the next few changes that are not similar.
//! An edit stays in force as long as pages with older copies show it, however many visits there
//! are to others: pages that are visited once per month show it a month later.
//!
//! **What is not an edit.** Changes of different sizes, or of most of the text, however many
//! there are at once, as on a news site. A price that changes (a few bytes, on any number of
//! pages) is a change of each page. Where comparisons usually find a change of the same size
//! (*in stock*, *sold out*), that is normal for the site.
//!
//! **Where it fails.** These edits count as changes of all pages: one that keeps the size of
//! pages (the year in a footer), a new design, which changes each page by a different size, and
//! an edit of the smaller part of a site with two templates. A sale that adds the same label to
//! every page counts as an edit. The usual share is unknown when a site is revisited for the
//! first time: a similar change of most pages then counts as an edit, once. A page with its own
//! change in addition to the edit counts as changed. Only one edit per site is tracked: a page
//! that was last visited before two edits counts as changed.
//!
//! All of this is computed from the rows of visits, in their order.

use geomi_model::{Change, Visit};
use geomi_url::SiteHash;
use hashbrown::HashMap;

use super::pages::Sighted;

/// Minimum size change of an edit, in bytes. Prices, dates and counters differ by less.
const BYTES_MIN: u64 = 24;
/// Maximum number of bits in which the simhashes of an edited page differ: a quarter of them.
/// Doubling the text changes about as many.
const BITS_MAX: u32 = 16;
/// Sizes are similar if they differ by at most one part in this number: the links and marks in
/// a menu differ from page to page.
const ALIKE: u64 = 8;
/// Share of the pages with older copies that show an edit as a similar change.
const EDIT_SHARE: f32 = 0.8;
/// The share of similar changes on a new site, and the minimum share that is used.
const USUAL_MIN: f32 = 0.05;
/// The maximum share that is used. With more, nothing could be evidence for an edit.
const USUAL_MAX: f32 = 0.75;
/// The number of comparisons that the initial share counts as.
const SEEN_FIRST: f32 = 16.0;
/// Number of comparisons after which the average has moved by two thirds.
const SLOW: f32 = 64.0;
/// Evidence from which on it is an edit: the logarithm of 1,000, the minimum average number
/// of comparisons between two false detections.
const EVIDENCE_MIN: f32 = 6.9;
/// Upper limit of the evidence, so that a false edit ends soon. With two thirds of this value,
/// one edit in ten was given up half-way on a site where two pages in five also have their own
/// changes.
const EVIDENCE_MAX: f32 = 3.0 * EVIDENCE_MIN;

/// The comparison of a page with its copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The time of the comparison, in days since 1970.
    at: f64,
    /// When the copy was made or last confirmed.
    copied: f64,
    /// The size change in bytes, if it is a slight change.
    slight: Option<u64>,
}

impl Comparison {
    /// The comparison made by a visit. The copy was last confirmed at `copied`.
    pub(super) fn of(visit: &Visit, sighted: &Sighted, copied: f64) -> Self {
        let is_slight = |change: &Change| {
            change.changed
                && change.size >= BYTES_MIN
                && sighted.bits_apart.is_none_or(|bits| bits <= BITS_MAX)
        };
        Self {
            at: sighted.at,
            copied,
            slight: visit.changed.filter(is_slight).map(|change| change.size),
        }
    }
}

/// The template edits of all sites.
#[derive(Debug, Default)]
pub(super) struct TemplateEdits {
    sites: HashMap<SiteHash, Site>,
}

impl TemplateEdits {
    /// Takes in a comparison. Returns whether it is part of a template edit.
    pub(super) fn take(&mut self, site: SiteHash, comparison: Comparison) -> bool {
        self.sites.entry(site).or_default().take(comparison)
    }
}

#[derive(Clone, Copy, Debug)]
struct Site {
    /// The current edit.
    edit: Option<Edit>,
    /// The suspected next edit.
    suspected: Option<Edit>,
    /// The average share of similar changes.
    usual: f32,
    /// The number of comparisons in the average, up to [`SLOW`].
    seen: f32,
}

impl Default for Site {
    fn default() -> Self {
        Self {
            edit: None,
            suspected: None,
            usual: USUAL_MIN,
            seen: SEEN_FIRST,
        }
    }
}

impl Site {
    fn take(&mut self, comparison: Comparison) -> bool {
        let of_edit = weigh(&mut self.edit, comparison);
        if of_edit == Some(true) {
            self.count(true);
            return true;
        }
        let of_suspected = weigh(&mut self.suspected, comparison);
        if let Some(is_alike) = of_suspected.or(of_edit) {
            self.count(is_alike);
        }
        // Evidence grows with similar changes only, so this is one.
        if let Some(edit) = self.suspected.filter(Edit::is_proven) {
            (self.edit, self.suspected) = (Some(edit), None);
            return true;
        }
        // A slight change begins a new suspicion if there is none, or if its copy is newer
        // than the suspected edit.
        let is_accounted_for = self.suspected.is_some() && of_suspected.is_some();
        if let Some(bytes) = comparison.slight
            && !is_accounted_for
        {
            self.suspected = Some(Edit {
                bytes,
                since: comparison.at,
                usual: self.usual.clamp(USUAL_MIN, USUAL_MAX),
                evidence: 0.0,
            });
        }
        false
    }

    fn count(&mut self, is_alike: bool) {
        let value = f32::from(u8::from(is_alike));
        self.seen = (self.seen + 1.0).min(SLOW);
        self.usual += (value - self.usual) / self.seen;
    }
}

/// An edit, proven or suspected.
#[derive(Clone, Copy, Debug)]
struct Edit {
    /// The size change in bytes.
    bytes: u64,
    /// The time of the first change, in days since 1970.
    since: f64,
    /// The usual share of similar changes at that time.
    usual: f32,
    /// The evidence for the edit: a logarithm of a likelihood ratio.
    evidence: f32,
}

impl Edit {
    const fn is_proven(&self) -> bool {
        self.evidence >= EVIDENCE_MIN
    }

    /// Whether a change is similar to this edit.
    fn is_alike(&self, comparison: Comparison) -> bool {
        comparison
            .slight
            .is_some_and(|bytes| bytes.abs_diff(self.bytes) <= bytes.max(self.bytes) / ALIKE)
    }
}

/// Weighs a comparison as evidence for or against an edit, and clears the edit if the evidence
/// falls below 0. Returns whether the change is similar; `None` if the page cannot show the
/// edit because its copy is newer.
fn weigh(place: &mut Option<Edit>, comparison: Comparison) -> Option<bool> {
    let edit = place
        .as_mut()
        .filter(|edit| comparison.copied < edit.since)?;
    let is_alike = edit.is_alike(comparison);
    let (in_edit, usually) = if is_alike {
        (EDIT_SHARE, edit.usual)
    } else {
        (1.0 - EDIT_SHARE, 1.0 - edit.usual)
    };
    edit.evidence = (edit.evidence + (in_edit / usually).ln()).min(EVIDENCE_MAX);
    if edit.evidence < 0.0 {
        *place = None;
    }
    Some(is_alike)
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use super::super::pages::Sighting;
    use super::*;

    const SITE: SiteHash = SiteHash(1);

    /// A site whose pages are visited in turn, twenty an hour.
    struct Visited {
        template_edits: TemplateEdits,
        copied: Vec<f64>,
        at: f64,
        visits: usize,
        dice: u64,
    }

    impl Visited {
        fn new(pages: usize) -> Self {
            Self {
                template_edits: TemplateEdits::default(),
                copied: vec![0.0; pages],
                at: 1.0,
                visits: 0,
                dice: 7,
            }
        }

        /// A number from 0 to 999.
        fn roll(&mut self) -> u64 {
            self.dice = self.dice.wrapping_mul(6_364_136_223_846_793_005) + 1_442_695_041;
            (self.dice >> 33) % 1_000
        }

        /// A size from 24 to 6,000 bytes, as likely to be doubled as halved.
        fn any_size(&mut self) -> u64 {
            let exponent = self.roll() as f64 / 1_000.0;
            (24.0 * 250.0_f64.powf(exponent)) as u64
        }

        /// The next page, which changed like this; whether it was edited.
        fn compare(&mut self, slight: Option<u64>) -> bool {
            let page = self.visits % self.copied.len();
            self.compare_page(page, slight)
        }

        fn compare_page(&mut self, page: usize, slight: Option<u64>) -> bool {
            self.at += 1.0 / 480.0;
            self.visits += 1;
            let comparison = Comparison {
                at: self.at,
                copied: std::mem::replace(&mut self.copied[page], self.at),
                slight,
            };
            self.template_edits.take(SITE, comparison)
        }

        /// So many visits; how many of them found an edit.
        fn edited(&mut self, times: usize, slight: impl Fn(&mut Self) -> Option<u64>) -> usize {
            let edited = (0..times).filter(|_| {
                let slight = slight(self);
                self.compare(slight)
            });
            edited.count()
        }

        /// One in ten changes, by any size.
        fn quietly(&mut self) -> Option<u64> {
            (self.roll() < 100).then(|| self.any_size())
        }
    }

    #[test]
    fn an_edit_of_all_pages_is_noticed_after_three() {
        // As many pages as the slow share would forget what was usual over.
        let mut site = Visited::new(500);
        assert_eq!(site.edited(1_000, Visited::quietly), 0);
        // Links in the new menu are shorter on some pages.
        let edited = site.edited(500, |site| Some(300 + site.roll() % 20));
        assert_eq!(edited, 497);
        assert_eq!(site.edited(1_000, Visited::quietly), 0);
        // And it is taken away again.
        assert!(site.edited(500, |_| Some(310)) > 490);
        let elsewhere = Comparison {
            at: site.at,
            copied: 0.0,
            slight: Some(310),
        };
        assert!(!site.template_edits.take(SiteHash(2), elsewhere));
    }

    #[test]
    fn pages_that_are_visited_rarely_show_it_late() {
        let mut site = Visited::new(40);
        site.edited(400, |_| None);
        let edited = site.edited(8, |_| Some(120));
        assert_eq!(edited, 5);
        for rare in 20..40 {
            // Fast pages, which have it, in the meantime.
            for page in 0..8 {
                let own = (page == 3).then_some(500);
                assert!(!site.compare_page(page, own));
            }
            assert!(site.compare_page(rare, Some(120)), "{rare}");
            // Who has it already cannot be given it again.
            assert!(!site.compare_page(rare, Some(120)), "{rare}");
        }
    }

    #[test]
    fn a_busy_site_that_is_edited_keeps_its_own_changes() {
        let mut site = Visited::new(300);
        let own = |site: &mut Visited| (site.roll() < 500).then(|| site.any_size());
        assert!(site.edited(900, own) < 9);
        let (mut edited, mut changed) = (0, 0);
        for _ in 0..300 {
            let has_own = site.roll() < 400;
            let own = if has_own { site.any_size() } else { 0 };
            let size = 150 + own;
            match (site.compare(Some(size)), has_own) {
                (true, false) => edited += 1,
                (true, true) => panic!("a change of its own was taken for the edit"),
                (false, _) => changed += 1,
            }
        }
        assert!(edited > 150, "{edited} and {changed}");
    }

    #[test]
    fn news_remain_news() {
        // Every page has changed at every visit, by whatever there was to say.
        let mut site = Visited::new(60);
        let edited = site.edited(6_000, |site| Some(site.any_size()));
        assert!(edited < 60, "{edited}");
        // The same, with changes of more even sizes: a quarter of them are alike.
        let edited = site.edited(6_000, |site| Some(200 + site.roll() * 2 / 5));
        assert!(edited < 120, "{edited}");
    }

    #[test]
    fn what_is_usual_on_a_site_is_no_edit() {
        // A label that comes and goes.
        let mut site = Visited::new(50);
        let label = |site: &mut Visited| (site.roll() < 500).then_some(40);
        site.edited(50, label);
        let edited = site.edited(5_000, label);
        assert!(edited < 50, "{edited}");
        let mut site = Visited::new(50);
        site.edited(50, |_| Some(40));
        assert_eq!(site.edited(5_000, |_| Some(40)), 0);
    }

    #[test]
    fn only_a_change_of_some_bytes_in_most_of_the_same_text_is_slight() {
        let slight = |changed, size, bits_apart| {
            let mut visit = Visit::unknown(CrawlUrl::parse("http://a.test/").unwrap());
            visit.changed = Some(Change { changed, size });
            let sighted = Sighted {
                page: 0,
                kind: Sighting::Changed,
                at: 2.0,
                bits_apart,
                weight: 1.0,
            };
            Comparison::of(&visit, &sighted, 1.0).slight
        };
        assert_eq!(slight(true, 200, Some(9)), Some(200), "a banner");
        assert_eq!(slight(true, 200, None), Some(200), "of a short page");
        assert_eq!(slight(true, 200, Some(30)), None, "another text");
        assert_eq!(slight(true, 1, Some(0)), None, "a price");
        assert_eq!(slight(false, 200, Some(0)), None, "an advertisement");
    }
}
