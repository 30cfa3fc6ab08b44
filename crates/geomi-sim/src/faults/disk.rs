//! What is durable: a partition's state, its archive, and the mail between
//! partitions. Everything else is gone when the process dies.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use geomi_frontier::{Append, Entry, Position, Save, SiteState};
use geomi_robots::RobotsPolicy;
use geomi_url::{CrawlUrl, SiteHash};

use super::mutation::Mutation;
use super::row::{Record, Row};

/// One visit of a URL: how often it was queued before, and which try it was.
pub(super) type VisitKey = (CrawlUrl, u32, u8);

/// A link to a site of another partition, under way to it.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// No other has it.
    pub(super) number: u64,
    pub(super) url: CrawlUrl,
}

/// The state of a partition.
#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) chunks: BTreeMap<(SiteHash, u8, u64), Vec<Entry>>,
    pub(super) sites: BTreeMap<SiteHash, SiteState>,
    pub(super) records: BTreeMap<CrawlUrl, Record>,
    /// The visits made, in order.
    pub(super) rows: Vec<Row>,
    pub(super) seen: BTreeSet<CrawlUrl>,
    pub(super) rules: BTreeMap<SiteHash, RobotsPolicy>,
    pub(super) outbox: VecDeque<Letter>,
    /// Archive records that are safe.
    pub(super) archive: Vec<VisitKey>,
    /// Where the archive ends, as the state has it.
    pub(super) archive_end: usize,
    /// Mail from other partitions; it is kept until it is trimmed.
    pub(super) mailbox: VecDeque<Letter>,
}

/// What the next commit of a partition holds.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) appends: Vec<Append>,
    pub(super) saves: Vec<Save>,
    pub(super) records: Vec<(CrawlUrl, Record)>,
    pub(super) rows: Vec<Row>,
    pub(super) seen: Vec<CrawlUrl>,
    pub(super) rules: Vec<(SiteHash, RobotsPolicy)>,
    pub(super) outbox: Vec<Letter>,
    /// Archive records written and not synced.
    pub(super) archive: Vec<VisitKey>,
    /// Mail taken from the mailbox: how much of it, and which.
    pub(super) taken: usize,
    pub(super) received: Vec<u64>,
}

impl Disk {
    /// Syncs the archive. What was written before is safe from now on.
    pub(super) fn sync(&mut self, batch: &mut Batch) {
        self.archive.append(&mut batch.archive);
    }

    /// Applies a batch: all of it or, where the process dies before, nothing.
    pub(super) fn apply(
        &mut self,
        batch: &mut Batch,
        mutation: Option<Mutation>,
    ) -> Result<(), String> {
        let is = |wanted| mutation == Some(wanted);
        for append in batch.appends.drain(..) {
            let entries = append.entries.iter().map(|entry| (**entry).clone());
            let key = (append.site, append.lane, append.chunk);
            if self.chunks.insert(key, entries.collect()).is_some() {
                return Err("a chunk is written once".to_owned());
            }
        }
        for mut save in batch.saves.drain(..) {
            let site = save.state.key.hash64();
            for (lane, range) in save.freed {
                let more = u64::from(is(Mutation::FreedTooEarly));
                for chunk in range.start..range.end + more {
                    self.chunks.remove(&(site, lane, chunk));
                }
            }
            if is(Mutation::WatermarkTooFar) {
                let lanes = save.state.lanes.iter_mut();
                lanes.for_each(|lane| lane.watermark.index += u32::from(lane.len > 0));
            }
            self.sites.insert(site, save.state);
        }
        if !is(Mutation::VisitsNotRecorded) {
            self.records.extend(batch.records.drain(..));
        }
        self.rows.append(&mut batch.rows);
        self.seen.extend(batch.seen.drain(..));
        self.rules.extend(batch.rules.drain(..));
        if !is(Mutation::OutboxForgotten) {
            self.outbox.extend(batch.outbox.drain(..));
        }
        // With the archive not synced, the end points past what is safe.
        self.archive_end = self.archive.len() + batch.archive.len();
        Ok(())
    }

    /// Reads a lane from a position on, what was visited left out.
    pub(super) fn read(
        &self,
        site: SiteHash,
        lane: u8,
        from: Position,
        len: usize,
    ) -> (Vec<(Position, Entry)>, Position) {
        let mut entries = Vec::new();
        let end = self
            .sites
            .get(&site)
            .map_or(0, |state| state.lanes[usize::from(lane)].next_chunk);
        for ((.., chunk), stored) in self
            .chunks
            .range((site, lane, from.chunk)..(site, lane + 1, 0))
        {
            let skip = if *chunk == from.chunk { from.index } else { 0 };
            for (index, entry) in stored.iter().enumerate().skip(skip as usize) {
                let position = Position {
                    chunk: *chunk,
                    index: index as u32,
                };
                if entries.len() == len {
                    return (entries, position);
                }
                if !self.is_dealt_with(entry) {
                    entries.push((position, entry.clone()));
                }
            }
        }
        let next = Position {
            chunk: end,
            index: 0,
        };
        (entries, next)
    }

    /// Sites with something in their queues.
    pub(super) fn pending(&self) -> impl Iterator<Item = &SiteState> {
        self.sites.values().filter(|state| state.pending() > 0)
    }

    /// Whether a URL waits in a queue.
    pub(super) fn is_queued(&self, url: &CrawlUrl) -> bool {
        let site = url.site_hash();
        let stored = self.chunks.range((site, 0, 0)..(site, u8::MAX, 0));
        let mut entries = stored.flat_map(|(_, entries)| entries);
        entries.any(|entry| entry.url == *url && !self.is_dealt_with(entry))
    }

    /// Whether a queue entry was visited, though a crash kept its queue as it was.
    fn is_dealt_with(&self, entry: &Entry) -> bool {
        let record = self.records.get(&entry.url);
        record.is_some_and(|record| record.attempts > entry.attempts)
    }

    /// What is found after a crash: the archive is cut to where the state says
    /// it ends.
    pub(super) fn recover(&mut self) -> Result<(), String> {
        if self.archive.len() < self.archive_end {
            return Err("what was acknowledged survives a crash: the archive is shorter than the state says".to_owned());
        }
        self.archive.truncate(self.archive_end);
        let once: BTreeSet<&VisitKey> = self.archive.iter().collect();
        if once.len() < self.archive.len() {
            return Err("nothing is stored twice".to_owned());
        }
        Ok(())
    }
}
