//! Site queues: chunks written, read back, and searched.

use geomi_frontier::{Append, Entry, LaneState, Position, Save};
use geomi_url::{CrawlUrl, SiteHash};

use super::Partition;
use super::compact::{self, Chunk};
use crate::{EngineError, keys};

/// Entries read at once when looking for a URL.
const FIND_QUEUED_LEN: usize = 4_096;

/// Past every chunk a lane can have.
const LANE_END: Position = Position {
    chunk: u64::MAX,
    index: 0,
};

/// How a lane is read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Entries, at most.
    pub(crate) len: usize,
    /// Entries may be dealt with already: their records are looked up.
    pub(crate) is_ragged: bool,
}

impl Partition {
    /// Writes a new chunk of a queue.
    pub(crate) fn append(&mut self, append: &Append) {
        let Some(first) = append.entries.first() else {
            return;
        };
        let mut chunk = Chunk::new(first.url.origin());
        for entry in &append.entries {
            chunk.push(entry);
        }
        let key = keys::chunk(append.site, append.lane, append.chunk);
        self.state.put(&key, chunk.as_bytes());
    }

    /// Writes a site's state and drops the chunks it is done with.
    pub(crate) fn save(&mut self, save: &Save) {
        let site = save.state.key.hash64();
        self.state
            .put(&keys::site(site), &keys::encode(&save.state));
        for (lane, chunks) in &save.freed {
            for chunk in chunks.clone() {
                self.state.delete(&keys::chunk(site, *lane, chunk));
            }
        }
    }

    /// Reads up to `len` entries of a lane that are not dealt with, and says
    /// where it stopped. Its chunks are numbered without gaps.
    pub(crate) fn read_lane(
        &self,
        site: SiteHash,
        lane: u8,
        from: Position,
        Reading { len, is_ragged }: Reading,
    ) -> Result<(Vec<(Position, Entry)>, Position), EngineError> {
        let mut out = Vec::with_capacity(len.min(FIND_QUEUED_LEN));
        let mut at = from;
        while let Some(chunk) = self.state.get(&keys::chunk(site, lane, at.chunk))? {
            let mut entries = compact::Entries::of(&chunk)?;
            entries.pass_over(at.index)?;
            while !entries.is_over() && out.len() < len {
                let entry = entries.next().transpose()?;
                let entry = entry.expect("there is one more");
                if !(is_ragged && self.is_dealt_with(&entry)?) {
                    out.push((at, entry));
                }
                at.index += 1;
            }
            if entries.is_over() {
                at = Position {
                    chunk: at.chunk + 1,
                    index: 0,
                };
            }
            if out.len() == len {
                return Ok((out, at));
            }
        }
        Ok((out, LANE_END))
    }

    /// Looks for a URL among the queues of its site: how many wait before it in
    /// its own, and its entry.
    pub(crate) fn find_queued(
        &self,
        url: &CrawlUrl,
        lanes: &[LaneState],
    ) -> Result<Option<(u64, Entry)>, EngineError> {
        for (lane, state) in (0u8..).zip(lanes) {
            let mut from = state.watermark;
            let mut ahead = 0;
            while state.len > 0 && from != LANE_END {
                let reading = Reading {
                    len: FIND_QUEUED_LEN,
                    is_ragged: true,
                };
                let (entries, next) = self.read_lane(url.site_hash(), lane, from, reading)?;
                let found = entries.iter().position(|(_, entry)| entry.url == *url);
                if let Some(at) = found {
                    let (_, entry) = entries.into_iter().nth(at).expect("it was just found");
                    return Ok(Some((ahead + at as u64, entry)));
                }
                ahead += entries.len() as u64;
                from = next;
            }
        }
        let Some(list) = &self.sites else {
            return Ok(None);
        };
        let parked = list.parked().entries(url.site_hash())?;
        let found = (0..).zip(parked).find(|(_, entry)| entry.url == *url);
        Ok(found)
    }

    /// Whether an entry was visited before a crash could move the watermark.
    pub(crate) fn is_dealt_with(&self, entry: &Entry) -> Result<bool, EngineError> {
        Ok(self
            .record(&entry.url)?
            .is_some_and(|record| record.attempts > entry.attempts))
    }
}
