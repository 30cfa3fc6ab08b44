//! What others read while the crawl runs: the index and the lists of seeds.
//!
//! Every `output.publish_every` (a minute by default), if there were visits:
//!
//! * `index/recent.cdxj` gets the index lines of visits that are in no segment yet, at
//!   most some thousands;
//! * `index/index.cdxj` is merged with it and with the parts of segments written since,
//!   by a thread of its own: the crawl goes on;
//! * `seeds-out.txt` and `seeds.parquet` are written anew.
//!
//! A merge and the lists read and write all there is, which takes long in a large crawl.
//! So each of them is left out until it has cost at most one part in [`COST_SHARE`] of
//! the time since: with some million captures the index is merged every few minutes,
//! and what it lacks is in `index/parts/` and `index/recent.cdxj` meanwhile.
//!
//! Each file is replaced as a whole and has committed visits only.

use std::thread::{self, JoinHandle};

use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError, segment};

use crate::CrawlError;
use crate::seeds::write_seeds;
use crate::worker::Worker;

/// One in this number of parts of the time may be spent on each file.
const COST_SHARE: u32 = 50;

/// What was published, and when more is due.
#[derive(Default)]
pub(crate) struct Publisher {
    next: Timestamp,
    /// Visits whose lines are in recent.cdxj or a segment.
    recent_to: u64,
    /// Visits that the merged index tells of.
    merged_to: u64,
    merge: Option<Merge>,
    merge_next: Timestamp,
    /// Seeds and visits that the lists of seeds tell of.
    seeds_of: (u64, u64),
    seeds_next: Timestamp,
}

/// A merge under way.
struct Merge {
    started: Timestamp,
    visits: u64,
    worker: Option<JoinHandle<Result<(), StoreError>>>,
}

impl Merge {
    fn start(dir: &CrawlDir, visits: u64, now: Timestamp) -> Result<Self, CrawlError> {
        let parts = segment::unmerged(dir)?;
        let theirs = dir.clone();
        let worker = thread::Builder::new()
            .name("index".to_owned())
            .spawn(move || segment::publish_index(&theirs, parts))
            .map_err(CrawlError::Thread)?;
        Ok(Self {
            started: now,
            visits,
            worker: Some(worker),
        })
    }

    fn is_over(&self) -> bool {
        self.worker.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn finish(mut self) -> Result<(), CrawlError> {
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(done)) => Ok(done?),
            Some(Err(_)) => Err(CrawlError::LostWork),
            None => Ok(()),
        }
    }
}

impl Drop for Merge {
    /// Nobody else may write to the directory before it is over.
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            // The crawl has failed already, and its error is the one that is told.
            drop(worker.join());
        }
    }
}

impl Publisher {
    /// The first time is one period from now.
    pub(crate) fn new(first: Timestamp) -> Self {
        Self {
            next: first,
            ..Self::default()
        }
    }
}

impl Worker<'_> {
    /// Publishes what is due. To be called after a commit.
    pub(crate) fn publish(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        self.end_merge(now)?;
        if now < self.files.publisher.next {
            return Ok(());
        }
        let period = self.clock.passes_in(self.config.output.publish_every);
        self.files.publisher.next = now + period;
        self.publish_index(now)?;
        self.publish_seeds(now)
    }

    fn publish_index(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        let visits = self.files.archive.visits();
        if self.files.publisher.recent_to != visits {
            self.files.archive.write_recent(&self.engines)?;
            self.files.publisher.recent_to = visits;
        }
        let publisher = &mut self.files.publisher;
        if publisher.merged_to != visits && publisher.merge.is_none() && now >= publisher.merge_next
        {
            publisher.merge = Some(Merge::start(&self.files.dir, visits, now)?);
        }
        Ok(())
    }

    fn publish_seeds(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        let seeds_of = (self.seed_counts().own, self.files.archive.visits());
        if self.files.publisher.seeds_of == seeds_of || now < self.files.publisher.seeds_next {
            return Ok(());
        }
        self.write_seeds()?;
        self.files.publisher.seeds_of = seeds_of;
        let over = self.clock.now();
        self.files.publisher.seeds_next = over + over.since(now) * COST_SHARE;
        Ok(())
    }

    /// Writes seeds.parquet and seeds-out.txt.
    pub(crate) fn write_seeds(&self) -> Result<(), CrawlError> {
        write_seeds(&self.files.dir, &self.engines)
    }

    /// Takes note of a merge that is over.
    fn end_merge(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        if !self
            .files
            .publisher
            .merge
            .as_ref()
            .is_some_and(Merge::is_over)
        {
            return Ok(());
        }
        self.await_merge(now)
    }

    /// Waits for a merge that is under way.
    pub(crate) fn await_merge(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        let Some(merge) = self.files.publisher.merge.take() else {
            return Ok(());
        };
        self.files.publisher.merged_to = merge.visits;
        self.files.publisher.merge_next = now + now.since(merge.started) * COST_SHARE;
        merge.finish()
    }
}
