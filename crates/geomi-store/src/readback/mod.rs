//! Reading back: captures by URL and time.
//!
//! [`Archive`] finds the captures of a URL in the sorted index by binary search,
//! and in the index parts a running crawl has not merged yet, and reads them
//! from the WARC files. A revisit record holds no content, so it is followed to
//! the record it refers to. Records read lately stay in memory within a bound.
//!
//! It promises: the directory may belong to a crawl that is running, because
//! nothing here writes or locks and each question looks at the files anew; an
//! `Archive` may be shared by many threads; memory is bounded by the cache, the
//! longest record and the index lines of one key.
//!
//! It does not take codings off a body, nor read a page: see `StoredAnswer` of
//! geomi-fetch and the readers of geomi-page. Visits that are in no segment yet
//! lie in the crawl's own state and are not found here.

mod cache;
mod lines;

use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use geomi_model::{Digest, Timestamp};
use geomi_url::CrawlUrl;
use geomi_url::surt::surt_key;

use crate::cdxj::{Entry, Fields};
use crate::warc::{Captures, ReadError, RecordInfo};
use crate::{CrawlDir, StoreError, segment};
use cache::Cache;
pub use cache::CacheCounters;
use lines::SortedLines;

/// Revisits of revisits followed at most; geomi itself writes none.
const REVISITS_MAX: usize = 5;
/// Other captures of a site named at most on each side of a missing one.
const NEIGHBOURS_MAX: usize = 3;

/// How much an [`Archive`] may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArchiveLimits {
    /// Bytes of a record's content read at most; a longer one is cut there.
    pub block_bytes_max: usize,
    /// Bytes of records kept in memory.
    pub cache_bytes_max: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self {
            block_bytes_max: 256 << 20,
            cache_bytes_max: 64 << 20,
        }
    }
}

/// Why something could not be read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadbackError {
    /// The directory has no index of captures.
    #[error("{} has no index of captures: it is no crawl directory, or its crawl has not closed a segment yet", .0.display())]
    NoIndex(std::path::PathBuf),
    /// A file could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record could not be read.
    #[error(transparent)]
    Record(#[from] ReadError),
    /// What a revisit refers to is in no file of this directory.
    #[error(
        "the capture of {url} at {time} repeats one of {refers_to} that this directory does not hold"
    )]
    Lost {
        /// The URL of the revisit.
        url: String,
        /// Its time, 14 digits.
        time: String,
        /// What its record refers to.
        refers_to: String,
    },
}

/// A record and its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The record's header.
    pub info: RecordInfo,
    /// An HTTP header and, in a response, the body as received.
    pub block: Vec<u8>,
    /// Whether it was longer than the limit, and was cut there.
    pub truncated: bool,
}

/// A capture read back.
#[derive(Clone, Debug)]
pub struct Readback {
    /// Its own record: for a revisit, the header that came that time.
    pub record: Arc<Record>,
    /// Where its content is, if that is in another capture's record.
    pub original: Option<(Entry, Arc<Record>)>,
}

impl Readback {
    /// The record that holds the content: header and body as received.
    pub fn content(&self) -> &Arc<Record> {
        self.original
            .as_ref()
            .map_or(&self.record, |(_, record)| record)
    }
}

/// Which captures count as those of a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spelling {
    /// Those of exactly this URL.
    Exact,
    /// Those of every URL with the same archive key: `http` and `https`, with
    /// and without `www.`, whatever the case of the path.
    SameKey,
}

/// The captures of one crawl directory.
#[derive(Debug)]
pub struct Archive {
    dir: CrawlDir,
    captures: Captures,
    limits: ArchiveLimits,
    cache: Mutex<Cache>,
}

impl Archive {
    /// Opens a crawl directory that has an index.
    pub fn open(dir: CrawlDir, limits: ArchiveLimits) -> Result<Self, ReadbackError> {
        let archive = Self {
            captures: Captures::of(&dir),
            cache: Mutex::new(Cache::new(limits.cache_bytes_max)),
            dir,
            limits,
        };
        if archive.indexes()?.is_empty() {
            return Err(ReadbackError::NoIndex(archive.dir.root().to_owned()));
        }
        Ok(archive)
    }

    /// The captures of a URL, the earliest first.
    pub fn captures(
        &self,
        url: &CrawlUrl,
        spelling: Spelling,
    ) -> Result<Vec<Entry>, ReadbackError> {
        let mut entries = self.of_key(&surt_key(url.as_str()))?;
        if spelling == Spelling::Exact {
            entries.retain(|entry| entry.fields.url == url.as_str());
        }
        Ok(entries)
    }

    /// Of the site of a URL, captures whose keys come just before and after it:
    /// the likeliest to be meant where it was never captured itself.
    pub fn neighbours(&self, url: &CrawlUrl) -> Result<Vec<String>, ReadbackError> {
        let key = surt_key(url.as_str());
        let Some(site) = key.find(')').map(|end| &key[..=end]) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for mut lines in self.indexes()? {
            let mut near: Vec<Vec<u8>> = lines.search(key.as_bytes())?.into_iter().collect();
            while near.len() <= NEIGHBOURS_MAX
                && let Some(line) = lines.next_line()?
            {
                near.push(line);
            }
            for line in near.iter().filter(|line| line.starts_with(site.as_bytes())) {
                found.push(self.entry(line)?.fields.url);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(NEIGHBOURS_MAX);
        Ok(found)
    }

    /// Reads a capture and, if it is a revisit, what it refers to.
    pub fn read(&self, entry: &Entry) -> Result<Readback, ReadbackError> {
        let record = self.record(entry)?;
        let mut original: Option<(Entry, Arc<Record>)> = None;
        for _ in 0..REVISITS_MAX {
            let last = original.as_ref().map_or(&record, |(_, record)| record);
            if last.info.kind() != "revisit" {
                return Ok(Readback { record, original });
            }
            let Some(next) = self.referred_to(&last.info)? else {
                break;
            };
            let read = self.record(&next)?;
            original = Some((next, read));
        }
        let field = |name| record.info.field(name).unwrap_or("?");
        Err(ReadbackError::Lost {
            url: entry.fields.url.clone(),
            time: entry.timestamp.clone(),
            refers_to: format!(
                "{} at {}",
                field("WARC-Refers-To-Target-URI"),
                field("WARC-Refers-To-Date")
            ),
        })
    }

    /// What the cache has done so far.
    pub fn cache_counters(&self) -> CacheCounters {
        self.cache().counters()
    }

    /// The capture a revisit record means: of the URL and second it names, or
    /// else any of that URL with the same content.
    fn referred_to(&self, revisit: &RecordInfo) -> Result<Option<Entry>, ReadbackError> {
        let Some(url) = revisit.field("WARC-Refers-To-Target-URI") else {
            return Ok(None);
        };
        let date = revisit.field("WARC-Refers-To-Date").unwrap_or("");
        let time: String = date.chars().filter(char::is_ascii_digit).collect();
        let digest = revisit.field("WARC-Payload-Digest").and_then(Digest::parse);
        let digest = digest.map(|digest| digest.to_string());
        let mut entries = self.of_key(&surt_key(url))?;
        entries.retain(|entry| entry.fields.url == url);
        // Compared from left to right: content before reference, the same
        // content before the same time.
        let rank = |entry: &Entry| {
            let same_content = digest.is_some() && entry.fields.digest == digest;
            (!entry.is_revisit(), same_content, entry.timestamp == time)
        };
        let best = entries.into_iter().max_by_key(rank);
        Ok(best.filter(|entry| {
            let (_, same_content, same_time) = rank(entry);
            same_content || same_time
        }))
    }

    fn record(&self, entry: &Entry) -> Result<Arc<Record>, ReadbackError> {
        let Some(capture) = entry.capture() else {
            let reason = format!("the line of {} has no place", entry.fields.url);
            return Err(StoreError::damaged(&self.dir.cdxj(), reason).into());
        };
        let place = (capture.file.clone(), capture.offset);
        if let Some(record) = self.cache().get(&place) {
            return Ok(record);
        }
        let block = self.captures.read(&capture, self.limits.block_bytes_max)?;
        let record = Arc::new(Record {
            info: block.info,
            block: block.bytes,
            truncated: block.truncated,
        });
        self.cache().put(place, Arc::clone(&record));
        Ok(record)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, Cache> {
        // A reader that panicked leaves a cache that is whole: each change of
        // it is done before anything that could fail.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines of one key in all indexes, each once, by time.
    fn of_key(&self, key: &str) -> Result<Vec<Entry>, ReadbackError> {
        let wanted = format!("{key} ").into_bytes();
        let mut found = Vec::new();
        for mut lines in self.indexes()? {
            lines.search(&wanted)?;
            while let Some(line) = lines.next_line()?
                && line.starts_with(&wanted)
            {
                found.push(line);
            }
        }
        // A line may be in a part and, already merged, in the index.
        found.sort_unstable();
        found.dedup();
        let entries: Result<Vec<Entry>, _> = found.iter().map(|line| self.entry(line)).collect();
        let mut entries = entries?;
        // Times have seconds: within one, the order in the archive tells which came first.
        let place = |entry: &Entry| {
            let Fields {
                filename, offset, ..
            } = &entry.fields;
            // One without a number is found to be damaged when it is read.
            let offset = offset.parse::<u64>().unwrap_or_default();
            (entry.timestamp.clone(), filename.clone(), offset)
        };
        entries.sort_by_cached_key(place);
        Ok(entries)
    }

    fn entry(&self, line: &[u8]) -> Result<Entry, ReadbackError> {
        let text = std::str::from_utf8(line).ok();
        text.and_then(Entry::parse).ok_or_else(|| {
            let reason = format!("no index line: {:?}", String::from_utf8_lossy(line));
            StoreError::damaged(&self.dir.index(), reason).into()
        })
    }

    /// The parts first, then the index they are merged into: a part that is
    /// gone when its turn comes is in an index opened later.
    fn indexes(&self) -> Result<Vec<SortedLines>, ReadbackError> {
        let mut indexes = Vec::new();
        for part in segment::parts(&self.dir)? {
            indexes.extend(SortedLines::open(&part.index_part(&self.dir))?);
        }
        indexes.extend(SortedLines::open(&self.dir.cdxj())?);
        Ok(indexes)
    }
}

/// The place in `entries`, which are sorted by time, of the one nearest to a
/// moment; of two equally near the earlier.
pub fn nearest(entries: &[Entry], moment: Timestamp) -> Option<usize> {
    let distance = |entry: &Entry| {
        let time = Timestamp::parse_compact(&entry.timestamp)?;
        Some(time.since(moment).max(moment.since(time)))
    };
    (0..entries.len()).min_by_key(|&at| distance(&entries[at]).unwrap_or(std::time::Duration::MAX))
}
