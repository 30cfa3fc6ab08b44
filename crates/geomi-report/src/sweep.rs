//! The pass over every visit: everything that one visit alone decides.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use geomi_model::{CaptureKind, Fate, NetworkState, Timestamp, Visit};
use geomi_url::{CrawlUrl, UrlHash};

use crate::dead::Dead;
use crate::likeness::Likeness;
use crate::sites::{Sites, comparison};
use crate::top::Top;

/// Servers write what they like into Content-Type: types beyond so many
/// different ones are counted as one.
const TYPES_MAX: usize = 10_000;
/// The name they are counted under.
const OTHER_TYPES: &str = "(other types)";

/// The columns this pass reads.
pub(crate) const COLUMNS: &[&str] = &[
    "number",
    "time",
    "url",
    "topic",
    "depth",
    "attempt",
    "is_robots",
    "state",
    "code",
    "ip",
    "mime",
    "charset",
    "fingerprint",
    "kind",
    "near_url",
    "near_distance",
    "spam_percent",
    "soft_404",
    "wire_bytes",
    "body_bytes",
    "changed",
    "change_size",
    "location",
    "link_type",
    "links",
    "rtt_us",
    "download_us",
    "total_us",
    "capture_file",
    "capture_offset",
    "capture_length",
    "capture_kind",
];

/// Everything counted.
#[derive(Debug)]
pub(crate) struct Sweep {
    pub(crate) tries: u8,
    pub(crate) totals: Totals,
    pub(crate) states: BTreeMap<NetworkState, u64>,
    pub(crate) codes: BTreeMap<u16, u64>,
    pub(crate) types: BTreeMap<Option<String>, Group>,
    pub(crate) charsets: BTreeMap<String, Group>,
    pub(crate) depths: BTreeMap<u16, Group>,
    pub(crate) link_types: BTreeMap<&'static str, Group>,
    pub(crate) topics: BTreeMap<Option<String>, Group>,
    pub(crate) sites: Sites,
    pub(crate) slowest: Top<Slow>,
    pub(crate) biggest: Top<Big>,
    pub(crate) dead: Dead,
    pub(crate) likeness: Likeness,
    pub(crate) known: Option<Known>,
}

/// Sums over all visits.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) first: Option<Timestamp>,
    pub(crate) last: Option<Timestamp>,
    pub(crate) visits: u64,
    pub(crate) robots: u64,
    pub(crate) requests: u64,
    pub(crate) captured: u64,
    pub(crate) revisits: u64,
    pub(crate) saved: u64,
    pub(crate) redirected: u64,
    pub(crate) failed: u64,
    pub(crate) answered: u64,
    pub(crate) retried: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) body_bytes: u64,
    pub(crate) links: u64,
    pub(crate) comparisons: u64,
    pub(crate) changes: u64,
}

/// Page visits that have something in common. Visits that will be tried again
/// are left out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    pub(crate) visits: u64,
    pub(crate) saved: u64,
    pub(crate) redirected: u64,
    pub(crate) failed: u64,
    pub(crate) body_bytes: u64,
}

impl Group {
    fn add(&mut self, visit: &Visit, fate: Fate) {
        self.visits += 1;
        self.body_bytes += visit.body_bytes;
        match fate {
            Fate::Saved => self.saved += 1,
            Fate::Redirected => self.redirected += 1,
            Fate::Failed => self.failed += 1,
            Fate::Answered | Fate::Retry => {}
        }
    }
}

/// What is told of a slow page.
#[derive(Debug)]
pub(crate) struct Slow {
    pub(crate) total: Duration,
    pub(crate) rtt: Option<Duration>,
    pub(crate) download: Option<Duration>,
    pub(crate) wire_bytes: u64,
    pub(crate) state: NetworkState,
    pub(crate) code: Option<u16>,
}

/// What is told of a big page.
#[derive(Debug)]
pub(crate) struct Big {
    pub(crate) wire_bytes: u64,
    pub(crate) mime: Option<String>,
}

/// A list of URLs that should be there, and which of them are.
#[derive(Debug, Default)]
pub(crate) struct Known {
    urls: HashMap<UrlHash, (CrawlUrl, Found)>,
}

/// How far the crawl came with a known URL.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Found {
    /// Never visited.
    #[default]
    No,
    /// Visited, but never saved.
    Visited,
    /// Saved at least once.
    Saved,
}

impl Known {
    /// A list; a URL that stands in it twice counts once.
    pub(crate) fn new(urls: impl IntoIterator<Item = CrawlUrl>) -> Self {
        let urls = urls.into_iter();
        Self {
            urls: urls.map(|url| (url.hash64(), (url, Found::No))).collect(),
        }
    }

    fn add(&mut self, visit: &Visit, fate: Fate) {
        if let Some((_, found)) = self.urls.get_mut(&visit.url.hash64()) {
            *found = (*found).max(match fate {
                Fate::Saved => Found::Saved,
                _ => Found::Visited,
            });
        }
    }

    /// Each URL and how far the crawl came with it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(CrawlUrl, Found)> {
        self.urls.values()
    }
}

impl Sweep {
    /// An empty one that keeps `top` rows where rows are ranked.
    pub(crate) fn new(tries: u8, top: Option<usize>, known: Option<Known>) -> Self {
        Self {
            tries,
            totals: Totals::default(),
            states: BTreeMap::new(),
            codes: BTreeMap::new(),
            types: BTreeMap::new(),
            charsets: BTreeMap::new(),
            depths: BTreeMap::new(),
            link_types: BTreeMap::new(),
            topics: BTreeMap::new(),
            sites: Sites::default(),
            slowest: Top::new(top),
            biggest: Top::new(top),
            dead: Dead::default(),
            likeness: Likeness::new(top),
            known,
        }
    }

    /// Takes the next visit.
    pub(crate) fn add(&mut self, visit: &Visit) {
        let fate = (!visit.is_robots).then(|| Fate::of(visit, self.tries));
        self.totals.add(visit);
        *self.states.entry(visit.state).or_default() += 1;
        if let Some(code) = visit.code {
            *self.codes.entry(code).or_default() += 1;
        }
        self.sites.add(visit, fate);
        if let Some(fate) = fate {
            self.add_page(visit, fate);
        }
    }

    fn add_page(&mut self, visit: &Visit, fate: Fate) {
        let totals = &mut self.totals;
        match fate {
            Fate::Saved => totals.saved += 1,
            Fate::Redirected => totals.redirected += 1,
            Fate::Failed => totals.failed += 1,
            Fate::Answered => totals.answered += 1,
            Fate::Retry => totals.retried += 1,
        }
        self.dead.add(visit, fate);
        if let Some(known) = &mut self.known {
            known.add(visit, fate);
        }
        if fate == Fate::Retry {
            return;
        }
        self.depths.entry(visit.depth).or_default().add(visit, fate);
        let topic = self.topics.entry(visit.topic.clone()).or_default();
        topic.add(visit, fate);
        if visit.state.is_answer() {
            self.add_answer(visit, fate);
        }
    }

    fn add_answer(&mut self, visit: &Visit, fate: Fate) {
        self.likeness.add(visit);
        let mut mime = visit.mime.as_ref().map(|mime| mime.to_ascii_lowercase());
        if self.types.len() >= TYPES_MAX && !self.types.contains_key(&mime) {
            mime = Some(OTHER_TYPES.to_owned());
        }
        self.types.entry(mime).or_default().add(visit, fate);
        if let Some(charset) = &visit.charset {
            if !self.charsets.contains_key(charset) {
                self.charsets.insert(charset.clone(), Group::default());
            }
            if let Some(group) = self.charsets.get_mut(charset) {
                group.add(visit, fate);
            }
        }
        if let Some(kinds) = visit.link_type {
            let group = self.link_types.entry(kinds.as_str()).or_default();
            group.add(visit, fate);
        }
        let total = visit.phases.total;
        self.slowest
            .add(total.as_micros() as u64, &visit.url, || Slow {
                total,
                rtt: visit.phases.first_byte,
                download: visit.phases.download,
                wire_bytes: visit.wire_bytes,
                state: visit.state,
                code: visit.code,
            });
        self.biggest.add(visit.body_bytes, &visit.url, || Big {
            wire_bytes: visit.wire_bytes,
            mime: visit.mime.clone(),
        });
    }
}

impl Totals {
    fn add(&mut self, visit: &Visit) {
        let end = visit.time + visit.phases.total;
        self.first = Some(self.first.map_or(visit.time, |first| first.min(visit.time)));
        self.last = Some(self.last.map_or(end, |last| last.max(end)));
        self.visits += 1;
        self.robots += u64::from(visit.is_robots);
        self.requests += u64::from(was_requested(visit));
        self.captured += u64::from(visit.capture.is_some());
        let kind = visit.capture.as_ref().map(|capture| capture.kind);
        self.revisits += u64::from(kind == Some(CaptureKind::Revisit));
        self.wire_bytes += visit.wire_bytes;
        self.body_bytes += visit.body_bytes;
        self.links += u64::from(visit.links);
        if let Some(changed) = comparison(visit).filter(|_| !visit.is_robots) {
            self.comparisons += 1;
            self.changes += u64::from(changed);
        }
    }

    /// From the start of the first visit to the end of the last.
    pub(crate) fn span(&self) -> Option<Duration> {
        Some(self.last?.since(self.first?))
    }
}

/// Whether a request was sent. A visit that was given up with its site has the
/// state of the site and took no time.
fn was_requested(visit: &Visit) -> bool {
    visit.state > NetworkState::Connected && visit.phases.total > Duration::ZERO
}
