//! The pass over stored pages: which pages link to the dead ones.
//!
//! A visit knows one page that links to its URL, the one on which the URL was
//! found. To find them all, every page is read again as it is stored: the
//! visit that says what the page is now, and no older one. A page stored as a
//! revisit has its content in another record, which is read from that page's
//! address too, because relative links lead elsewhere from there. A page that
//! redirects to a dead one links to it as well.

use std::collections::HashMap;

use geomi_crawler::Rereader;
use geomi_model::{Capture, CaptureKind, Visit};
use geomi_store::segment::Segment;
use geomi_store::warc::Captures;
use geomi_store::warc::{ReadError, RecordInfo};
use geomi_store::{CrawlDir, StoreError};
use geomi_url::{CrawlUrl, UrlHash};

use crate::ReportError;
use crate::dead::Dead;
use crate::pages::Bits;
use crate::report::each_visit;

/// Linking pages kept in all, unless every one is asked for; beyond them, only
/// how many there are is kept. The dead links that are told first are those
/// with the most, which have theirs long before.
const KEPT_MAX: usize = 1 << 20;

const COLUMNS: &[&str] = &[
    "number",
    "time",
    "url",
    "code",
    "location",
    "links",
    "capture_file",
    "capture_offset",
    "capture_length",
    "capture_kind",
];

/// The pages that link to dead ones.
#[derive(Debug, Default)]
pub(crate) struct Linkers {
    /// Linking pages kept for each dead one.
    max: Option<usize>,
    by_dead: HashMap<UrlHash, Linking>,
    kept: usize,
    /// Stored pages read again.
    pub(crate) reread: u64,
    /// Stored pages that could not be.
    pub(crate) unreadable: u64,
}

/// The pages that link to one.
#[derive(Debug, Default)]
pub(crate) struct Linking {
    /// How many there are.
    pub(crate) count: u64,
    /// The first of them, by their visits.
    pub(crate) pages: Vec<CrawlUrl>,
}

/// What is read, and how.
pub(crate) struct Stored<'a> {
    pub(crate) dir: &'a CrawlDir,
    pub(crate) segments: &'a [Segment],
    pub(crate) current: &'a Bits,
    pub(crate) rereader: &'a Rereader,
}

/// Pages whose content lies in another record, by the URL and second of that
/// record.
type Elsewhere = HashMap<(UrlHash, String), Vec<CrawlUrl>>;

impl Linkers {
    /// Reads all stored pages.
    pub(crate) fn find(
        stored: &Stored<'_>,
        dead: &Dead,
        max: Option<usize>,
    ) -> Result<Self, ReportError> {
        let mut linkers = Self {
            max,
            ..Self::default()
        };
        let mut elsewhere = linkers.find_elsewhere(stored)?;
        each_visit(stored.dir, stored.segments, COLUMNS, |visit| {
            let is_current = stored.current.contains(visit.number);
            if let Some(target) = visit.location.as_ref().filter(|_| is_current)
                && dead.contains(target.hash64())
            {
                linkers.add(target.hash64(), &visit.url);
            }
            let Some(capture) = response(visit) else {
                return Ok(());
            };
            let key = (visit.url.hash64(), visit.time.to_compact());
            let mut pages = elsewhere.remove(&key).unwrap_or_default();
            if is_current && visit.links > 0 {
                pages.push(visit.url.clone());
            }
            linkers.read(stored, capture, &pages, dead)
        })?;
        linkers.unreadable += elsewhere
            .values()
            .map(|pages| pages.len() as u64)
            .sum::<u64>();
        Ok(linkers)
    }

    /// The pages that link to a dead one, if any do.
    pub(crate) fn to(&self, dead: UrlHash) -> Option<&Linking> {
        self.by_dead.get(&dead)
    }

    fn find_elsewhere(&mut self, stored: &Stored<'_>) -> Result<Elsewhere, ReportError> {
        let mut elsewhere = Elsewhere::new();
        each_visit(stored.dir, stored.segments, COLUMNS, |visit| {
            let capture = visit.capture.as_ref();
            let revisit = capture.filter(|capture| capture.kind == CaptureKind::Revisit);
            let is_page = stored.current.contains(visit.number) && visit.links > 0;
            let Some(revisit) = revisit.filter(|_| is_page) else {
                return Ok(());
            };
            let info = readable(Captures::of(stored.dir).info(revisit))?;
            match info.as_ref().and_then(referred_to) {
                Some(key) => elsewhere.entry(key).or_default().push(visit.url.clone()),
                None => self.unreadable += 1,
            }
            Ok(())
        })?;
        Ok(elsewhere)
    }

    /// Reads one record as each of `pages`.
    fn read(
        &mut self,
        stored: &Stored<'_>,
        capture: &Capture,
        pages: &[CrawlUrl],
        dead: &Dead,
    ) -> Result<(), ReportError> {
        if pages.is_empty() {
            return Ok(());
        }
        let bytes_max = stored.rereader.block_bytes_max();
        let record = readable(Captures::of(stored.dir).read(capture, bytes_max))?;
        let Some(record) = record else {
            self.unreadable += pages.len() as u64;
            return Ok(());
        };
        for page in pages {
            self.reread += 1;
            let document = stored.rereader.read(page, record.bytes.clone());
            for link in &document.links {
                let target = link.url.hash64();
                if dead.contains(target) {
                    self.add(target, page);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, dead: UrlHash, page: &CrawlUrl) {
        let linking = self.by_dead.entry(dead).or_default();
        linking.count += 1;
        let has_room = |max| linking.pages.len() < max && self.kept < KEPT_MAX;
        if self.max.is_none_or(has_room) {
            linking.pages.push(page.clone());
            self.kept += 1;
        }
    }
}

/// The place of a visit's content, if it is stored with the visit.
fn response(visit: &Visit) -> Option<&Capture> {
    let capture = visit.capture.as_ref()?;
    (capture.kind == CaptureKind::Response && visit.code == Some(200)).then_some(capture)
}

/// The URL and second a revisit record refers to.
fn referred_to(info: &RecordInfo) -> Option<(UrlHash, String)> {
    let url = CrawlUrl::parse(info.field("WARC-Refers-To-Target-URI")?).ok()?;
    let date = info.field("WARC-Refers-To-Date")?;
    let digits = date.chars().filter(char::is_ascii_digit).collect();
    Some((url.hash64(), digits))
}

/// `None` for a record that is damaged or whose file is gone: the report goes
/// on without it and says so. What else the system refuses is an error.
fn readable<T>(read: Result<T, ReadError>) -> Result<Option<T>, ReportError> {
    match read {
        Ok(record) => Ok(Some(record)),
        Err(ReadError::Damaged { .. }) => Ok(None),
        Err(ReadError::Store(StoreError::Io { source, .. }))
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
