//! The pass over contents: which of them several pages have.
//!
//! Content is told by the payload digest, so it is the same byte for byte as it
//! was sent. A page counts for a content when it takes it on: at its first
//! visit, and when it changes to it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use geomi_model::{Digest, Fate, Visit};

/// What the pass finds.
#[derive(Debug, Default)]
pub(crate) struct Duplicates {
    tries: u8,
    top_max: Option<usize>,
    /// Contents that several pages have.
    pub(crate) groups: u64,
    /// Pages that have one of them.
    pub(crate) pages: u64,
    /// Bytes of content that would be stored again if it were not noticed.
    pub(crate) redundant_bytes: u64,
    /// The contents with the most pages, the first by the key.
    pub(crate) top: BTreeMap<Rank, Content>,
    share: HashMap<u64, Content>,
}

/// More pages, then more bytes, then the content met first.
type Rank = Reverse<(u64, u64, Reverse<u64>)>;

/// A content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// The first visit that brought it.
    pub(crate) first: u64,
    pub(crate) pages: u64,
    pub(crate) body_bytes: u64,
}

/// What a content is told by: the first half of its digest is enough.
pub(crate) fn key(digest: &Digest) -> u64 {
    let mut half = [0; 8];
    half.copy_from_slice(&digest.0[..8]);
    u64::from_be_bytes(half)
}

impl Duplicates {
    /// An empty one.
    pub(crate) fn new(tries: u8, top_max: Option<usize>) -> Self {
        Self {
            tries,
            top_max,
            ..Self::default()
        }
    }

    /// Takes the next page visit whose content is in the share at hand.
    pub(crate) fn add(&mut self, visit: &Visit, key: u64) {
        let is_new = visit.changed.is_none_or(|change| change.changed);
        let is_page = visit.code == Some(200) && Fate::of(visit, self.tries) == Fate::Saved;
        // An empty body is nothing, and nothing is not worth a mention.
        if !is_new || !is_page || visit.body_bytes == 0 {
            return;
        }
        let content = self.share.entry(key).or_insert(Content {
            first: visit.number,
            pages: 0,
            body_bytes: visit.body_bytes,
        });
        content.pages += 1;
    }

    /// Ends a share: its contents are summed up and forgotten.
    pub(crate) fn end_share(&mut self) {
        for content in std::mem::take(&mut self.share).into_values() {
            if content.pages < 2 {
                continue;
            }
            let Content {
                first,
                pages,
                body_bytes,
            } = content;
            self.groups += 1;
            self.pages += pages;
            self.redundant_bytes += (pages - 1) * body_bytes;
            let rank = Reverse((pages, body_bytes, Reverse(first)));
            self.top.insert(rank, content);
            if self.top_max.is_some_and(|max| self.top.len() > max) {
                self.top.pop_last();
            }
        }
    }
}
