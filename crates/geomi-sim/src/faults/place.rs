//! Where the state of a partition is: a model disk, whose commits may become durable
//! late, behind a fence that refuses whoever lost the partition.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use geomi_engine::Place;
use geomi_state::seen::MemoryBases;
use geomi_state::{Batch, CommitNo, MemoryDisk, MemoryStore, Scan, StateError, StateStore};

/// Memory for the seen test: so little that it merges.
const SEEN_BYTES: usize = 4 << 10;
/// What a commit is refused with once another worker has the partition.
const FENCED: &str = "another worker has this partition";

/// The state of a partition, and who may write it.
#[derive(Debug)]
pub(super) struct SimPlace {
    disk: MemoryDisk,
    bases: MemoryBases,
    is_late: bool,
    /// How often the partition was given to a worker.
    epoch: Arc<AtomicU64>,
}

impl SimPlace {
    pub(super) fn new(is_late: bool, merges_late: bool) -> Self {
        let (late, usual) = (MemoryDisk::late, MemoryDisk::new);
        let bases = if merges_late {
            MemoryBases::late()
        } else {
            MemoryBases::new()
        };
        Self {
            disk: if is_late { late() } else { usual() },
            bases,
            is_late,
            epoch: Arc::default(),
        }
    }

    /// Whether commits become durable late.
    pub(super) const fn is_late(&self) -> bool {
        self.is_late
    }

    /// Makes commits durable.
    pub(super) fn flush(&self, commits: usize) {
        self.disk.flush(commits);
    }

    /// Opens it for a worker. Whoever had it open before can write no more.
    pub(super) fn open(&mut self, is_taken_away: bool) -> Result<Place, StateError> {
        if is_taken_away {
            // What a worker that sleeps still holds is not what is durable.
            self.disk = self.disk.crash_image();
            self.bases = self.bases.crash_image();
        }
        let epoch = self.epoch.fetch_add(1, Ordering::Relaxed) + 1;
        let store = Fenced {
            store: self.disk.open()?,
            current: Arc::clone(&self.epoch),
            epoch,
        };
        Ok(Place {
            store: Box::new(store),
            bases: Arc::new(self.bases.clone()),
            seen_bytes: SEEN_BYTES,
        })
    }
}

/// Whether a commit was refused because another worker has the partition.
pub(super) fn is_fenced(error: &geomi_engine::EngineError) -> bool {
    let geomi_engine::EngineError::State(StateError::Store(reason)) = error else {
        return false;
    };
    reason == FENCED
}

struct Fenced {
    store: MemoryStore,
    current: Arc<AtomicU64>,
    epoch: u64,
}

impl StateStore for Fenced {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        self.store.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StateError> {
        self.store.scan(from, to, visit)
    }

    fn commit(&mut self, batch: &Batch) -> Result<CommitNo, StateError> {
        if self.current.load(Ordering::Relaxed) == self.epoch {
            return self.store.commit(batch);
        }
        Err(StateError::Store(FENCED.to_owned()))
    }

    fn durable(&self) -> CommitNo {
        self.store.durable()
    }
}
