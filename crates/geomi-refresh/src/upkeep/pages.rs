//! The pages of a plan, and what a visit means for its page.
//!
//! The plan is computed from visits only: those in the files when it is built, and those made
//! while it runs. Both pass through [`Pages::take`], so a rebuilt plan has the same estimates
//! as before a crash. A page needs its URL and about 50 bytes of memory.

use geomi_model::{Fate, Timestamp, Visit};
use geomi_url::template::Template;
use geomi_url::{CrawlUrl, public_suffix};
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Kin, Page, PageId};

/// Microseconds per day.
const DAY_US: f64 = 86_400e6;

/// A time in days since 1970, in UTC. A plan counts in its own time zone:
/// [`RefreshPlan::days`](super::RefreshPlan::days).
pub fn days(at: Timestamp) -> f64 {
    at.micros() as f64 / DAY_US
}

/// The instant of a number of days since 1970, in UTC. For a plan in another time zone the
/// result shows the local date and hour, formatted as UTC.
pub fn instant(days: f64) -> Timestamp {
    Timestamp::from_micros((days * DAY_US) as i64)
}

/// The result of a visit, compared with the stored copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sighting {
    /// There was no copy before.
    First,
    /// The server answered "not modified" (304).
    Unchanged,
    /// The content was sent again and is the same.
    Same,
    /// The content has changed in a way that a reader notices.
    Changed,
    /// The template of the site changed, not the text of the page.
    Edited,
    /// The server answered that the page does not exist (404, 410).
    Gone,
    /// The visit failed: no answer, an error, or a redirect to another page.
    Failed,
}

impl Sighting {
    /// All values.
    pub const ALL: [Self; 7] = [
        Self::First,
        Self::Unchanged,
        Self::Same,
        Self::Changed,
        Self::Edited,
        Self::Gone,
        Self::Failed,
    ];

    /// The name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Unchanged => "unchanged",
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Edited => "edited",
            Self::Gone => "gone",
            Self::Failed => "failed",
        }
    }

    /// Whether the text of the page had changed; `None` if the visit does not show it.
    pub const fn changed(self) -> Option<bool> {
        match self {
            Self::Unchanged | Self::Same => Some(false),
            Self::Changed => Some(true),
            Self::First | Self::Edited | Self::Gone | Self::Failed => None,
        }
    }

    /// The result of a visit to a page with a copy.
    fn again(visit: &Visit, fate: Fate) -> Self {
        match (fate, visit.changed, visit.code) {
            (Fate::Saved, Some(change), _) if change.changed => Self::Changed,
            (Fate::Saved, Some(_), Some(304)) => Self::Unchanged,
            (Fate::Saved, Some(_), _) => Self::Same,
            (_, _, Some(404 | 410)) => Self::Gone,
            _ => Self::Failed,
        }
    }
}

/// A visit of a page of the plan, with its result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sighted {
    /// The page.
    pub page: PageId,
    /// The result.
    pub kind: Sighting,
    /// The time of the visit, in days since 1970.
    pub at: f64,
    /// The number of bits in which the simhashes of the main texts differ; `None` if one
    /// of them is missing.
    pub bits_apart: Option<u32>,
    /// The weight of the page on its first visit; 1 on later visits.
    pub weight: f32,
}

/// All pages that have been fetched successfully, in the order of their first fetch.
#[derive(Debug, Default)]
pub struct Pages {
    /// All URLs, concatenated.
    text: String,
    notes: Vec<Note>,
    by_url: HashMap<u64, PageId>,
    seeds: Vec<CrawlUrl>,
    seed_numbers: HashMap<u64, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Note {
    /// The end of its URL in `text`.
    end: u64,
    seed: u32,
    /// The page with the link that led to it, if that page is in the list.
    via: u32,
    depth: u16,
    /// Simhash of the main text of the copy; 0 if there is none.
    simhash: u64,
}

/// Stands for a missing page or seed.
const NONE: u32 = u32::MAX;

impl Pages {
    /// Takes in a visit that was made at time `at` of the plan; `None` if it is not the last
    /// try of a visit to a page of the plan.
    pub fn take(&mut self, visit: &Visit, tries: u8, at: f64) -> Option<Sighted> {
        if visit.is_robots {
            return None;
        }
        let fate = Fate::of(visit, tries);
        let known = self.find(&visit.url);
        let (page, kind) = match (known, fate) {
            (_, Fate::Retry) => return None,
            (Some(page), fate) => (page, Sighting::again(visit, fate)),
            (None, Fate::Saved) => {
                let via = visit.via.as_ref().and_then(|via| self.find(via));
                (self.add(visit, via), Sighting::First)
            }
            // No copy yet: see `never_fetched`.
            (None, _) => return None,
        };
        let note = &mut self.notes[page as usize];
        let (then, now) = (note.simhash, visit.facts.simhash.unwrap_or(0));
        let are_known = then != 0 && now != 0;
        // A 304 has no text.
        if now != 0 {
            note.simhash = now;
        }
        Some(Sighted {
            page,
            kind,
            at,
            bits_apart: are_known.then(|| (then ^ now).count_ones()),
            weight: 1.0,
        })
    }

    /// The page of a visit that will be retried. It waits in its queue.
    pub fn tried(&self, visit: &Visit, tries: u8) -> Option<PageId> {
        let is_tried = !visit.is_robots && Fate::of(visit, tries) == Fate::Retry;
        self.find(&visit.url).filter(|_| is_tried)
    }

    /// Adds a page. `via` is the page that led to it.
    pub(super) fn add(&mut self, visit: &Visit, via: Option<PageId>) -> PageId {
        let page = self.notes.len() as PageId;
        self.text.push_str(visit.url.as_str());
        let seed = visit.seed.as_ref().map_or(NONE, |seed| self.seed(seed));
        self.notes.push(Note {
            end: self.text.len() as u64,
            seed,
            via: via.unwrap_or(NONE),
            depth: visit.depth,
            simhash: 0,
        });
        self.by_url.insert(visit.url.hash64().0, page);
        page
    }

    fn seed(&mut self, seed: &CrawlUrl) -> u32 {
        let next = self.seeds.len() as u32;
        let number = *self.seed_numbers.entry(seed.hash64().0).or_insert(next);
        if number == next {
            self.seeds.push(seed.clone());
        }
        number
    }

    /// The number of pages.
    pub fn len(&self) -> usize {
        self.notes.len()
    }

    /// Whether there are no pages.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The page of a URL.
    pub fn find(&self, url: &CrawlUrl) -> Option<PageId> {
        self.by_url.get(&url.hash64().0).copied()
    }

    /// The pages on the site of a URL. It scans all pages, so it is for diagnostics only.
    pub fn of_site<'a>(&'a self, url: &'a CrawlUrl) -> impl Iterator<Item = PageId> + use<'a> {
        let site = url.site_hash();
        (0..self.notes.len() as PageId).filter(move |page| {
            let own = self.url(*page);
            // A cheap test first: most pages are on other hosts.
            own.contains(url.host())
                && CrawlUrl::parse(own).is_ok_and(|own| own.site_hash() == site)
        })
    }

    /// The URL of a page, as text.
    pub fn url(&self, page: PageId) -> &str {
        let at = page as usize;
        let from = at
            .checked_sub(1)
            .map_or(0, |before| self.notes[before].end as usize);
        &self.text[from..self.notes[at].end as usize]
    }

    /// The seed of a page.
    pub fn seed_of(&self, page: PageId) -> Option<&CrawlUrl> {
        self.seeds.get(self.notes[page as usize].seed as usize)
    }

    /// The page that led to a page.
    pub fn via(&self, page: PageId) -> Option<PageId> {
        let via = self.notes[page as usize].via;
        (via != NONE).then_some(via)
    }

    /// The number of links from the seed to a page.
    pub fn depth(&self, page: PageId) -> u16 {
        self.notes[page as usize].depth
    }
}

/// The groups a page belongs to, as far as its first visit shows: domain, depth, link type,
/// size, site and template.
pub fn facts(visit: &Visit) -> Page {
    let domain = public_suffix(visit.url.host()).map_or(0, |suffix| xxh3_64(suffix.as_bytes()));
    let site = visit.url.site_hash().0;
    let template = Template::of(&visit.url).hash();
    let links = visit
        .link_type
        .map_or(0, |kind| xxh3_64(kind.as_str().as_bytes()));
    let kin = Kin {
        domain,
        depth: u64::from(visit.depth) + 1,
        links,
        size: size_class(visit.body_bytes),
        site,
        // Templates of different sites are not related.
        template: template ^ site.rotate_left(1),
    };
    Page { weight: 1.0, kin }
}

/// The size class of a body: one class between two powers of two; 0 if the body is empty or
/// was not measured.
fn size_class(body_bytes: u64) -> u64 {
    body_bytes
        .checked_ilog2()
        .map_or(0, |log| u64::from(log) + 1)
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use geomi_model::{Change, LinkKind, LinkType, NetworkState};

    use super::*;

    pub(crate) fn visit(url: &str, code: u16, changed: Option<bool>) -> Visit {
        let mut visit = Visit::unknown(CrawlUrl::parse(url).unwrap());
        visit.time = Timestamp::from_secs(86_400);
        visit.state = if code < 400 {
            NetworkState::Ok
        } else {
            NetworkState::Code
        };
        visit.code = Some(code);
        visit.attempt = 1;
        visit.phases.total = Duration::from_millis(3);
        visit.changed = changed.map(|changed| Change { changed, size: 0 });
        visit
    }

    #[test]
    fn each_visit_says_one_thing() {
        let mut pages = Pages::default();
        let url = "http://a.test/x";
        let mut kind = |visit: &Visit| pages.take(visit, 1, 0.0).map(|sighted| sighted.kind);
        assert_eq!(kind(&visit(url, 404, None)), None, "there is no copy");
        assert_eq!(kind(&visit(url, 200, None)), Some(Sighting::First));
        assert_eq!(kind(&visit(url, 200, Some(true))), Some(Sighting::Changed));
        assert_eq!(kind(&visit(url, 200, Some(false))), Some(Sighting::Same));
        let unchanged = visit(url, 304, Some(false));
        assert_eq!(kind(&unchanged), Some(Sighting::Unchanged));
        assert_eq!(kind(&visit(url, 410, None)), Some(Sighting::Gone));
        assert_eq!(kind(&visit(url, 500, None)), Some(Sighting::Failed));
        let robots = Visit {
            is_robots: true,
            ..visit(url, 200, None)
        };
        assert_eq!(kind(&robots), None);
        assert_eq!(pages.len(), 1);
    }

    #[test]
    fn pages_are_found_by_url_and_number() {
        let mut pages = Pages::default();
        let seed = CrawlUrl::parse("http://a.test/").unwrap();
        for at in 0..5 {
            let mut one = visit(&format!("http://a.test/{at}"), 200, None);
            one.seed = Some(seed.clone());
            one.via = (at > 0).then(|| CrawlUrl::parse("http://a.test/0").unwrap());
            pages.take(&one, 3, 0.0);
        }
        assert_eq!(pages.url(0), "http://a.test/0");
        assert_eq!(pages.url(4), "http://a.test/4");
        let found = pages.find(&CrawlUrl::parse("http://a.test/3").unwrap());
        assert_eq!(found, Some(3));
        assert_eq!(pages.via(3), Some(0));
        assert_eq!(pages.via(0), None);
        assert_eq!(pages.seed_of(4), Some(&seed));
        pages.take(&visit("http://b.test/?from=a.test", 200, None), 3, 0.0);
        pages.take(&visit("https://a.test/5", 200, None), 3, 0.0);
        let of_site: Vec<PageId> = pages.of_site(&seed).collect();
        assert_eq!(of_site, [0, 1, 2, 3, 4, 6], "80 and 443 are one site");
    }

    /// In what two pages are no kin.
    fn apart(one: &Kin, other: &Kin) -> Vec<&'static str> {
        let pairs = [
            ("domain", one.domain, other.domain),
            ("depth", one.depth, other.depth),
            ("links", one.links, other.links),
            ("size", one.size, other.size),
            ("site", one.site, other.site),
            ("template", one.template, other.template),
        ];
        let differ = pairs.into_iter().filter(|(_, one, other)| one != other);
        differ.map(|(name, ..)| name).collect()
    }

    #[test]
    fn each_kinship_is_what_it_is_called() {
        let kin = |url: &str, change: fn(&mut Visit)| {
            let mut one = visit(url, 200, None);
            (one.depth, one.body_bytes) = (2, 5_000);
            one.link_type = Some(LinkType::default().with(LinkKind::Anchor));
            change(&mut one);
            facts(&one).kin
        };
        let url = "http://www.a.com/news/7";
        let page = kin(url, |_| ());
        let known = apart(&page, &Kin::default());
        assert_eq!(known.len(), 6, "{page:?}");

        let changed = |change| apart(&page, &kin(url, change));
        assert_eq!(changed(|visit| visit.depth = 3), ["depth"]);
        assert_eq!(changed(|visit| visit.link_type = None), ["links"]);
        assert_eq!(changed(|visit| visit.body_bytes = 8_191), [""; 0]);
        assert_eq!(changed(|visit| visit.body_bytes = 8_192), ["size"]);

        let elsewhere = |url| apart(&page, &kin(url, |_| ()));
        assert_eq!(elsewhere("http://www.a.com/news/8"), [""; 0]);
        assert_eq!(elsewhere("http://www.a.com/goods/7"), ["template"]);
        assert_eq!(elsewhere("http://b.com/news/7"), ["site", "template"]);
        let abroad = ["domain", "site", "template"];
        assert_eq!(elsewhere("http://b.co.kr/news/7"), abroad);
    }

    #[test]
    fn a_page_without_a_body_has_no_size() {
        assert_eq!([0, 1, 2, 3, 4].map(size_class), [0, 1, 2, 2, 3]);
    }

    #[test]
    fn instants_come_back() {
        let at = Timestamp::from_secs(1_790_000_000);
        let back = instant(days(at));
        assert!(back.since(at).max(at.since(back)) < Duration::from_millis(1));
    }
}
