//! Site queues: chunks written, read back, and looked through.

use geomi_frontier::{Append, Entry, LaneState, Position, Save};
use geomi_store::state::Scan;
use geomi_url::{CrawlUrl, SiteHash};

use super::Partition;
use super::compact::{self, Chunk};
use crate::{CrawlError, keys};

/// Entries read at once when looking for a URL.
const FIND_QUEUED_LEN: usize = 4_096;

/// Past every chunk a lane can have.
const LANE_END: Position = Position {
    chunk: u64::MAX,
    index: 0,
};

/// Chunks of a lane that are looked up before the rest is scanned.
const LOOKED_UP: u64 = 3;

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
        self.batch.put(&key, chunk.as_bytes());
    }

    /// Writes a site's state and drops the chunks it is done with.
    pub(crate) fn save(&mut self, save: &Save) {
        let site = save.state.key.hash64();
        self.batch
            .put(&keys::site(site), &keys::encode(&save.state));
        for (lane, chunks) in &save.freed {
            for chunk in chunks.clone() {
                self.batch.delete(&keys::chunk(site, *lane, chunk));
            }
        }
    }

    /// Reads up to `len` entries of a lane that are not dealt with, and says
    /// where it stopped.
    pub(crate) fn read_lane(
        &self,
        site: SiteHash,
        lane: u8,
        from: Position,
        Reading { len, is_ragged }: Reading,
    ) -> Result<(Vec<(Position, Entry)>, Position), CrawlError> {
        // The first chunk may be half used.
        let enough = len + from.index as usize;
        let chunks = self.read_chunks(site, lane, from.chunk, enough)?;
        let found: usize = chunks.iter().map(|(_, entries)| entries.len()).sum();
        let mut out = Vec::with_capacity(len);
        let mut next = LANE_END;
        for (chunk, entries) in chunks {
            let skip = if chunk == from.chunk { from.index } else { 0 };
            for (index, entry) in (0u32..).zip(entries).skip(skip as usize) {
                let position = Position { chunk, index };
                if out.len() == len {
                    return Ok((out, position));
                }
                if !(is_ragged && self.is_dealt_with(&entry)?) {
                    out.push((position, entry));
                }
            }
            next = Position {
                chunk: chunk + 1,
                index: 0,
            };
        }
        Ok((out, if found >= enough { next } else { LANE_END }))
    }

    /// Chunks of a lane from that number on, with at least that many entries if
    /// there are as many.
    fn read_chunks(
        &self,
        site: SiteHash,
        lane: u8,
        first: u64,
        enough: usize,
    ) -> Result<Vec<(u64, Vec<Entry>)>, CrawlError> {
        let mut chunks = Vec::new();
        let mut found = 0;
        // Most lanes are short, and to look a chunk up is much cheaper than to
        // begin a scan.
        for number in first..first.saturating_add(LOOKED_UP) {
            let stored = self.store.get(&keys::chunk(site, lane, number))?;
            let Some(value) = stored else {
                return Ok(chunks);
            };
            let entries = compact::decode(&value)?;
            found += entries.len();
            chunks.push((number, entries));
            if found >= enough {
                return Ok(chunks);
            }
        }
        let from = keys::chunk(site, lane, first.saturating_add(LOOKED_UP));
        let mut broken = None;
        self.store
            .scan(&from, &keys::chunk(site, lane + 1, 0), &mut |key, value| {
                let number = keys::chunk_number(key).ok_or_else(|| CrawlError::Damaged {
                    what: "a queue key".to_owned(),
                });
                match number.and_then(|number| Ok((number, compact::decode(value)?))) {
                    Ok((number, entries)) => {
                        found += entries.len();
                        chunks.push((number, entries));
                    }
                    Err(error) => broken = Some(error),
                }
                if found >= enough || broken.is_some() {
                    Scan::Stop
                } else {
                    Scan::Continue
                }
            })?;
        broken.map_or(Ok(chunks), Err)
    }

    /// Looks for a URL among the queues of its site: how many wait before it in
    /// its own, and its entry.
    pub(crate) fn find_queued(
        &self,
        url: &CrawlUrl,
        lanes: &[LaneState],
    ) -> Result<Option<(u64, Entry)>, CrawlError> {
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
    pub(crate) fn is_dealt_with(&self, entry: &Entry) -> Result<bool, CrawlError> {
        Ok(self
            .record(&entry.url)?
            .is_some_and(|record| record.attempts > entry.attempts))
    }
}
