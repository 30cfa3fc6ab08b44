//! What the mirror will hold, before any of it is written: links can lead to
//! pages that come later.
//!
//! The visits are read several times, because remembering 16 bytes and a name
//! for each page is affordable where remembering its row would not be:
//!
//! 1. which visit of each URL is the latest, and which URLs redirect;
//! 2. where the content of revisits lies, if there are any among the latest;
//! 3. which file each page becomes.

use std::collections::{BTreeMap, HashMap, HashSet};

use geomi_model::{Capture, CaptureKind, Digest, Visit};
use geomi_store::warc::Captures;
use geomi_url::{CrawlUrl, UrlHash};

use super::kind::{FileKind, Treatment};
use super::names::Names;
use crate::export::source::Source;

/// Redirects followed from a link.
const REDIRECTS_MAX: usize = 10;
/// Pages of a site that the front page names.
const ENTRIES_MAX: usize = 50;

/// What the mirror will hold.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Visits that were considered.
    pub(super) considered: u64,
    /// Pages whose content nothing holds.
    pub(super) missing: u64,
    pages: HashMap<UrlHash, Page>,
    /// Where the content of a digest lies, for those that are needed.
    originals: HashMap<Digest, Original>,
    /// The digests of the visits that refer to other content, by URL and number: other
    /// pages may be in partitions that number their visits by themselves.
    revisits: HashMap<(UrlHash, u64), Digest>,
    /// Sites by name.
    pub(super) sites: BTreeMap<String, SiteEntry>,
}

/// What a link to a URL becomes.
#[derive(Debug)]
enum Page {
    /// The content of this visit, in the file of this name once it has one.
    Content { number: u64, name: Box<str> },
    /// Whatever the other URL becomes.
    Redirect(UrlHash),
}

/// Content that revisits refer to.
#[derive(Clone, Debug)]
struct Original {
    capture: Capture,
    mime: Option<String>,
    was_read: bool,
}

/// A site on the mirror's front page.
#[derive(Debug, Default)]
pub(super) struct SiteEntry {
    /// Files it has.
    pub(super) files: u64,
    /// Where to begin reading, with its title.
    pub(super) entries: Vec<(String, Box<str>)>,
    /// Seeds that found no room there.
    pub(super) more: u64,
    /// There is a seed among the entries; until then the first page stands in.
    has_seed: bool,
}

/// Content longer than this, as received or decoded, is left out: a page is held
/// in memory while its links are changed.
pub(super) const CONTENT_BYTES_MAX: usize = 256 << 20;

/// What a visit is known by: a page is in one partition, where numbers are unique.
fn key(visit: &Visit) -> (UrlHash, u64) {
    (visit.url.hash64(), visit.number)
}

/// Whether a visit has a place in a mirror: content, or where to find it.
fn has_place(visit: &Visit) -> bool {
    let is_content = matches!(visit.code, Some(200 | 304))
        && visit.capture.is_some()
        && visit.wire_bytes.max(visit.body_bytes) <= CONTENT_BYTES_MAX as u64;
    !visit.is_robots && (is_content || visit.location.is_some())
}

impl Plan {
    /// Reads the visits and decides.
    pub(super) fn make(source: &Source, captures: &Captures) -> anyhow::Result<Self> {
        let mut plan = Self::default();
        plan.considered = source.each(has_place, |visit| {
            plan.choose(&visit);
            Ok(())
        })?;
        plan.find_originals(source, captures)?;
        let mut names = Names::new();
        source.every(|visit| {
            if plan.is_chosen(&visit) {
                plan.name(&visit, &mut names);
            }
            Ok(())
        })?;
        Ok(plan)
    }

    /// The later visit wins: rows come in the order of time.
    fn choose(&mut self, visit: &Visit) {
        let known = self.pages.get(&visit.url.hash64());
        if visit.code == Some(304) && matches!(known, Some(Page::Content { .. })) {
            // It confirms the content found before, and knows less about it.
            return;
        }
        let page = match &visit.location {
            Some(location) => Page::Redirect(location.hash64()),
            None => Page::Content {
                number: visit.number,
                name: "".into(),
            },
        };
        self.pages.insert(visit.url.hash64(), page);
    }

    fn is_chosen(&self, visit: &Visit) -> bool {
        let page = self.pages.get(&visit.url.hash64());
        matches!(page, Some(Page::Content { number, .. }) if *number == visit.number)
    }

    /// Revisits hold no content: their records say which content is meant.
    fn find_originals(&mut self, source: &Source, captures: &Captures) -> anyhow::Result<()> {
        let mut needed = HashSet::new();
        source.every(|visit| {
            if let Some(capture) = &visit.capture
                && capture.kind == CaptureKind::Revisit
                && self.is_chosen(&visit)
            {
                let block = captures.read(capture, 0)?;
                let digest = block.info.field("WARC-Payload-Digest");
                if let Some(digest) = digest.and_then(Digest::parse) {
                    needed.insert(digest);
                    self.revisits.insert(key(&visit), digest);
                }
            }
            Ok(())
        })?;
        if needed.is_empty() {
            return Ok(());
        }
        source.every(|visit| {
            if let (Some(digest), Some(capture)) = (visit.digest, visit.capture)
                && capture.kind == CaptureKind::Response
                && visit.code == Some(200)
                && needed.contains(&digest)
            {
                self.originals.entry(digest).or_insert(Original {
                    capture,
                    mime: visit.mime,
                    was_read: visit.charset.is_some(),
                });
            }
            Ok(())
        })
    }

    fn name(&mut self, visit: &Visit, names: &mut Names) {
        if self.content(visit).is_none() {
            self.pages.remove(&visit.url.hash64());
            self.missing += 1;
            return;
        }
        let kind = self.kind(visit);
        let given: Box<str> = names.give(&visit.url, kind).into();
        let is_page = kind.treatment == Treatment::Html;
        let site = self.sites.entry(visit.url.site().to_string()).or_default();
        site.files += 1;
        if is_page {
            site.add(visit, &given);
        }
        self.pages.insert(
            visit.url.hash64(),
            Page::Content {
                number: visit.number,
                name: given,
            },
        );
    }

    /// What a chosen visit's content is.
    pub(super) fn kind<'a>(&'a self, visit: &'a Visit) -> FileKind<'a> {
        let original = self.original(visit);
        let mime = visit.mime.as_deref();
        let mime = mime.or_else(|| original.and_then(|original| original.mime.as_deref()));
        let was_read = visit.charset.is_some() || original.is_some_and(|o| o.was_read);
        FileKind::of(mime, was_read)
    }

    fn original(&self, visit: &Visit) -> Option<&Original> {
        self.originals.get(self.revisits.get(&key(visit))?)
    }

    /// Where the content of a visit lies; `None` if nothing holds it.
    pub(super) fn content<'a>(&'a self, visit: &'a Visit) -> Option<&'a Capture> {
        let capture = visit.capture.as_ref()?;
        match capture.kind {
            CaptureKind::Response => Some(capture),
            CaptureKind::Revisit => self.original(visit).map(|original| &original.capture),
        }
    }

    /// The file of a visit, if its content is the one the mirror holds.
    pub(super) fn file_of(&self, visit: &Visit) -> Option<&str> {
        match self.pages.get(&visit.url.hash64())? {
            Page::Content { number, name } if *number == visit.number => Some(name),
            _ => None,
        }
    }

    /// The file a link leads to, redirects followed.
    pub(super) fn file_behind(&self, url: &CrawlUrl) -> Option<&str> {
        let mut at = url.hash64();
        for _ in 0..=REDIRECTS_MAX {
            match self.pages.get(&at)? {
                Page::Content { name, .. } => return Some(name),
                Page::Redirect(next) => at = *next,
            }
        }
        None
    }
}

impl SiteEntry {
    fn add(&mut self, visit: &Visit, name: &str) {
        let is_seed = visit.depth == 0;
        if is_seed && !self.has_seed {
            self.has_seed = true;
            self.entries.clear();
        } else if !is_seed && !self.entries.is_empty() {
            return;
        }
        if self.entries.len() < ENTRIES_MAX {
            let title = visit.title.clone().unwrap_or_else(|| visit.url.to_string());
            self.entries.push((title, name.into()));
        } else {
            self.more += 1;
        }
    }
}
