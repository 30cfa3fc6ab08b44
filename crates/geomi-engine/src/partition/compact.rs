//! Queue entries as they are stored: the origin of a chunk once, and of each
//! entry what differs from the usual.
//!
//! A chunk is the format byte, the origin of most of its URLs, and entries one
//! after the other. An entry is its marks, priority, depth and seed, its URL
//! without the origin, then the page that linked to it (without the origin, if it
//! is the same) and, of a retry, its tries. Chunks of earlier versions, a plain
//! list behind format 1, read as they always did.

use geomi_frontier::Entry;
use geomi_model::{LinkKind, PRIORITIES, Timestamp};
use geomi_url::CrawlUrl;
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as NotUrl;

use crate::EngineError;
use crate::keys;

/// Format of chunks that begin with an origin.
const FORMAT: u8 = 2;

/// The lower bits of the kind; the rest is beside the priority.
const KIND: u8 = 3;
const KIND_BITS: u32 = 2;
/// Bits of the priority in its byte; above them is the rest of the kind.
const PRIORITY: u8 = 0x3F;
const PRIORITY_BITS: u32 = 6;
const _: () = assert!(PRIORITIES <= PRIORITY);

/// The kinds, by the number they are stored as.
const KINDS: [LinkKind; 6] = [
    LinkKind::Frame,
    LinkKind::Anchor,
    LinkKind::Other,
    LinkKind::Embedded,
    LinkKind::Script,
    LinkKind::Form,
];

const fn kind_number(kind: LinkKind) -> u8 {
    match kind {
        LinkKind::Frame => 0,
        LinkKind::Anchor => 1,
        LinkKind::Other => 2,
        LinkKind::Embedded => 3,
        LinkKind::Script => 4,
        LinkKind::Form => 5,
    }
}

const SEED: u8 = 1 << 2;
const REVISIT: u8 = 1 << 3;
/// Tries, redirects and the time of a retry follow.
const TRIED: u8 = 1 << 4;
/// The page that linked to it follows, without the origin.
const VIA_HERE: u8 = 1 << 5;
/// The same, in full.
const VIA_ELSEWHERE: u8 = 1 << 6;
/// The URL is of another origin of the site, and in full.
const OTHER_ORIGIN: u8 = 1 << 7;

/// Priority and depth.
type Rank = (u8, u16);
type Fixed<'a> = (u8, u8, u16, u32, &'a str);
type Tried = (u8, u8, Option<i64>);

/// A chunk of a queue, to which entries of one site are added.
#[derive(Debug)]
pub(super) struct Chunk {
    bytes: Vec<u8>,
    origin_end: usize,
    origin_start: usize,
    len: u32,
}

impl Chunk {
    /// An empty chunk, for URLs of mostly that origin.
    pub(super) fn new(origin: &str) -> Self {
        let bytes = keys::encode_behind(origin, vec![FORMAT]);
        Self {
            origin_start: bytes.len() - origin.len(),
            origin_end: bytes.len(),
            bytes,
            len: 0,
        }
    }

    pub(super) fn origin(&self) -> &str {
        let bytes = &self.bytes[self.origin_start..self.origin_end];
        std::str::from_utf8(bytes).expect("an origin was text when it was written")
    }

    pub(super) fn push(&mut self, entry: &Entry) {
        let origin = &self.bytes[self.origin_start..self.origin_end];
        let is_here = |url: &CrawlUrl| url.origin().as_bytes() == origin;
        let spelling = |url| {
            if is_here(url) {
                Spelling::Short
            } else {
                Spelling::Full
            }
        };
        let via = entry.via.as_ref().map_or(Spelling::LeftOut, spelling);
        encode(entry, spelling(&entry.url), via, &mut self.bytes);
        self.len += 1;
    }

    /// Adds an entry as [`records`] gave it, of a chunk with the same origin.
    pub(super) fn push_record(&mut self, record: &[u8]) {
        self.bytes.extend_from_slice(record);
        self.len += 1;
    }

    pub(super) const fn len(&self) -> u32 {
        self.len
    }

    /// Bytes it takes in memory.
    pub(super) const fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The entries of a stored chunk, of this format or the one before.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Entry>, EngineError> {
    Entries::of(bytes)?.collect()
}

/// The entries of a stored chunk, read as they are asked for: a chunk may have
/// hundreds, of which a few are wanted.
pub(super) struct Entries<'a> {
    origin: &'a str,
    rest: &'a [u8],
    text: String,
    /// Those of a chunk of the earlier format.
    earlier: std::vec::IntoIter<Entry>,
}

impl<'a> Entries<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Result<Self, EngineError> {
        let (origin, rest, earlier) = match bytes.split_first() {
            Some((&FORMAT, bytes)) => {
                let (origin, rest) = postcard::take_from_bytes(bytes).map_err(damaged)?;
                (origin, rest, Vec::new())
            }
            _ => ("", [].as_slice(), keys::decode("queue", bytes)?),
        };
        Ok(Self {
            origin,
            rest,
            text: String::new(),
            earlier: earlier.into_iter(),
        })
    }

    /// Skips this number of entries.
    pub(super) fn pass_over(&mut self, count: u32) -> Result<(), EngineError> {
        for _ in 0..count {
            if self.earlier.next().is_none() && !self.rest.is_empty() {
                (_, self.rest) = record_rank(self.rest)?;
            }
        }
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.rest.is_empty() && self.earlier.as_slice().is_empty()
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return self.earlier.next().map(Ok);
        }
        let decoded = decode_one(self.origin, self.rest, &mut self.text);
        Some(decoded.map(|(entry, rest)| {
            self.rest = rest;
            entry
        }))
    }
}

/// The entries of a chunk in its stored form, each with its priority and depth.
pub(super) fn records(chunk: &Chunk) -> Result<Vec<(Rank, &[u8])>, EngineError> {
    let mut rest = &chunk.bytes[chunk.origin_end..];
    let mut records = Vec::with_capacity(chunk.len as usize);
    while !rest.is_empty() {
        let (rank, following) = record_rank(rest)?;
        records.push((rank, &rest[..rest.len() - following.len()]));
        rest = following;
    }
    Ok(records)
}

/// Priority and depth of the entry that begins here, and what follows the entry.
fn record_rank(bytes: &[u8]) -> Result<(Rank, &[u8]), EngineError> {
    let ((head, priority, depth, ..), mut rest): (Fixed<'_>, _) =
        postcard::take_from_bytes(bytes).map_err(damaged)?;
    if head & (VIA_HERE | VIA_ELSEWHERE) != 0 {
        (_, rest) = postcard::take_from_bytes::<&str>(rest).map_err(damaged)?;
    }
    if head & TRIED != 0 {
        (_, rest) = postcard::take_from_bytes::<Tried>(rest).map_err(damaged)?;
    }
    Ok(((priority & PRIORITY, depth), rest))
}

/// How a URL is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Full,
    /// Without the origin, which is the chunk's.
    Short,
    LeftOut,
}

/// Writes an entry with its URL in full, and with or without the page that linked
/// to it.
pub(super) fn encode_full(entry: &Entry, with_via: bool, out: &mut Vec<u8>) {
    let via = if with_via {
        Spelling::Full
    } else {
        Spelling::LeftOut
    };
    encode(entry, Spelling::Full, via, out);
}

/// Writes an entry behind what is there.
fn encode(entry: &Entry, url: Spelling, via: Spelling, out: &mut Vec<u8>) {
    let is_tried = entry.attempts != 0 || entry.redirects != 0 || entry.not_before.is_some();
    let kind = kind_number(entry.kind);
    let mut head = kind & KIND;
    let priority = entry.priority | (kind >> KIND_BITS) << PRIORITY_BITS;
    let url = if url == Spelling::Short {
        entry.url.path_and_query()
    } else {
        head |= OTHER_ORIGIN;
        entry.url.as_str()
    };
    let via = match (&entry.via, via) {
        (None, _) | (_, Spelling::LeftOut) => None,
        (Some(via), Spelling::Short) => {
            head |= VIA_HERE;
            Some(via.path_and_query())
        }
        (Some(via), Spelling::Full) => {
            head |= VIA_ELSEWHERE;
            Some(via.as_str())
        }
    };
    for (mark, is_set) in [
        (SEED, entry.is_seed),
        (REVISIT, entry.is_revisit),
        (TRIED, is_tried),
    ] {
        head |= if is_set { mark } else { 0 };
    }
    let fixed: Fixed<'_> = (head, priority, entry.depth, entry.seed, url);
    let mut bytes = keys::encode_behind(&fixed, std::mem::take(out));
    if let Some(via) = via {
        bytes = keys::encode_behind(via, bytes);
    }
    if is_tried {
        let due = entry.not_before.map(Timestamp::micros);
        bytes = keys::encode_behind(&(entry.attempts, entry.redirects, due), bytes);
    }
    *out = bytes;
}

/// Reads one entry; `text` is scratch space.
pub(super) fn decode_one<'a>(
    origin: &str,
    bytes: &'a [u8],
    text: &mut String,
) -> Result<(Entry, &'a [u8]), EngineError> {
    let ((head, priority, depth, seed, path), mut rest): (Fixed<'_>, _) =
        postcard::take_from_bytes(bytes).map_err(damaged)?;
    let mut whole = |is_short: bool, part: &str| {
        text.clear();
        text.push_str(if is_short { origin } else { "" });
        text.push_str(part);
        let read = CrawlUrl::deserialize(text.as_str().into_deserializer());
        read.map_err(|_: NotUrl| damaged(postcard::Error::DeserializeBadEncoding))
    };
    let url = whole(head & OTHER_ORIGIN == 0, path)?;
    let mut via = None;
    if head & (VIA_HERE | VIA_ELSEWHERE) != 0 {
        let page: &str;
        (page, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
        via = Some(whole(head & VIA_HERE != 0, page)?);
    }
    let mut tried: Tried = (0, 0, None);
    if head & TRIED != 0 {
        (tried, rest) = postcard::take_from_bytes(rest).map_err(damaged)?;
    }
    let kind = head & KIND | priority >> PRIORITY_BITS << KIND_BITS;
    let entry = Entry {
        url,
        seed,
        via,
        kind: (KINDS.get(usize::from(kind)).copied()).unwrap_or(LinkKind::Other),
        depth,
        priority: priority & PRIORITY,
        attempts: tried.0,
        redirects: tried.1,
        is_seed: head & SEED != 0,
        is_revisit: head & REVISIT != 0,
        not_before: tried.2.map(Timestamp::from_micros),
    };
    Ok((entry, rest))
}

fn damaged(error: postcard::Error) -> EngineError {
    EngineError::Damaged {
        what: format!("a stored queue ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let url = |text| CrawlUrl::parse(text).unwrap();
        let plain = Entry {
            url: url("https://a.test/x?y=1"),
            seed: 7,
            via: Some(url("https://a.test/")),
            kind: LinkKind::Anchor,
            depth: 3,
            priority: 4,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before: None,
        };
        let elsewhere = Entry {
            url: url("http://a.test/x"),
            via: Some(url("http://b.test/page")),
            kind: LinkKind::Frame,
            priority: 1,
            ..plain.clone()
        };
        let seed = Entry {
            via: None,
            is_seed: true,
            kind: LinkKind::Other,
            ..plain.clone()
        };
        let retry = Entry {
            attempts: 2,
            redirects: 1,
            is_revisit: true,
            not_before: Some(Timestamp::from_micros(1_234_567)),
            ..plain.clone()
        };
        vec![plain, elsewhere, seed, retry]
    }

    #[test]
    fn every_kind_of_link_reads_back() {
        for kind in KINDS {
            let mut chunk = Chunk::new("https://a.test");
            let entry = Entry {
                kind,
                priority: PRIORITIES,
                ..entries()[0].clone()
            };
            chunk.push(&entry);
            assert_eq!(records(&chunk).unwrap()[0].0.0, PRIORITIES, "{kind:?}");
            assert_eq!(decode(chunk.as_bytes()).unwrap(), [entry], "{kind:?}");
        }
    }

    #[test]
    fn entries_read_as_they_were_written_and_take_few_bytes() {
        let mut chunk = Chunk::new("https://a.test");
        let entries = entries();
        for entry in &entries {
            chunk.push(entry);
        }
        assert_eq!(chunk.origin(), "https://a.test");
        assert_eq!(decode(chunk.as_bytes()).unwrap(), entries);
        let records = records(&chunk).unwrap();
        let priorities: Vec<u8> = records.iter().map(|((priority, _), _)| *priority).collect();
        assert_eq!(priorities, [4, 1, 4, 4]);
        assert_eq!(records[0].1.len(), 13);
        let mut other = Chunk::new("https://a.test");
        other.push_record(records[2].1);
        assert_eq!(decode(other.as_bytes()).unwrap(), entries[2..3]);
    }

    #[test]
    fn chunks_of_earlier_versions_are_read() {
        let entries = entries();
        assert_eq!(decode(&keys::encode(&entries)).unwrap(), entries);
    }

    #[test]
    fn a_damaged_chunk_is_named() {
        let mut chunk = Chunk::new("https://a.test");
        chunk.push(&entries()[0]);
        let bytes = chunk.as_bytes();
        let error = decode(&bytes[..bytes.len() - 1]).unwrap_err();
        assert!(error.to_string().contains("queue"), "{error}");
        assert!(decode(&[9]).is_err());
    }
}
