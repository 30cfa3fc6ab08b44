//! The seen test: has this URL been admitted before? Exact, by 64-bit hash.
//!
//! New hashes gather in a table in memory, the *young*. When it is full it is
//! frozen, sorted, and merged in the background with the *base*, one sorted list
//! of everything older, into the next base. The base is held in memory while it
//! is small; past that only the first hash of every block is, beside a Bloom filter
//! of all hashes, old and young. Most that are not there end at the filter; one it
//! lets through that is not young costs one read of one block. Hashes found that way
//! are kept in a small table of recent finds, because links repeat. Which of the two
//! holds is decided by the memory given, at each merge.
//!
//! What is promised:
//!
//! - The answer is exact and immediate; nothing offered is held back.
//! - Memory stays within the budget, however many hashes there are.
//! - A merge reads and writes sequentially, beside the caller's thread. The
//!   caller waits for one only if the next is due before it is done.
//! - A base is complete or not there. Which one counts is the caller's to keep, as
//!   a [`Manifest`].
//!
//! Where bases are stored and merges run is a port, [`BaseStore`]: files and a
//! thread, or [`MemoryBases`] for tests and simulation. While the base is in memory,
//! a question does not touch the port.
//!
//! What it does not do: make single hashes durable. The caller logs them in the
//! commit that acknowledges them, offers the log again after
//! [`Seen::open`], and commits the manifest of a merge with the deletion of the
//! log rows it covers:
//!
//! ```text
//! insert ... insert ─▶ commit (log row) ─▶ freeze ─▶ merge, in the background
//!                                                        │
//! young + frozen + old base  ◀── crash: log and old manifest still hold
//!                                                        ▼
//! adopt ◀─ commit (manifest, log rows deleted) ◀─ merged
//! ```

mod base;
mod bloom;
#[doc(hidden)]
pub mod conformance;
mod memory;
mod merge;
mod recent;
mod store;

use std::sync::Arc;

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

pub use memory::MemoryBases;
pub use store::{BaseReader, BaseStore, BaseWriter, MergeJob, MergeTask};

use crate::StateError;
use base::{Base, Needs, NewBase};
use bloom::Bloom;
use merge::Merge;
use recent::Recent;

/// Fewer new hashes than this are not worth a merge, if there is room for them.
const MERGE_LEN_MIN: usize = 256 << 10;
/// Bytes of a bucket of the young table: a hash and a byte of control.
const BUCKET_BYTES: usize = 9;

/// Which base holds, and what of the caller's log is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Number of the base.
    pub generation: u64,
    /// Hashes in it.
    pub len: u64,
    /// The first row of the log that is not in it.
    pub log_from: u64,
}

/// How the memory is shared out.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// A base of this many hashes is held in memory.
    base_len: usize,
    /// Bytes of the filter.
    bloom_bytes: usize,
    /// Hashes the young table takes without growing past its share, while the base
    /// is in memory and when it is not.
    young_len: usize,
    young_len_beside_disk: usize,
    /// Places for recent finds.
    recent_len: usize,
}

impl Budget {
    /// A quarter for the base, twice during a merge, and a quarter for the young, of
    /// which the table takes half and the frozen the rest. When the base is not in memory,
    /// five sixteenths are for the filter and the rest for the young: the larger that
    /// is, the fewer merges.
    fn of(bytes: usize) -> Self {
        let young_len = |table_bytes: usize| {
            let buckets = (table_bytes / BUCKET_BYTES).max(8);
            (1 << buckets.ilog2()) / 8 * 7
        };
        Self {
            base_len: bytes / 4 / size_of::<u64>(),
            bloom_bytes: bytes / 16 * 5,
            young_len: young_len(bytes / 4),
            young_len_beside_disk: young_len(bytes / 16 * 5),
            recent_len: (bytes / 32 / size_of::<u64>()).max(1),
        }
    }
}

/// The seen test of one partition. See the [module](self).
#[derive(Debug)]
pub struct Seen {
    bases: Arc<dyn BaseStore>,
    budget: Budget,
    young: Young,
    base: Base,
    /// Of all hashes, while the base is not in memory.
    filter: Option<Bloom>,
    recent: Recent,
    merge: Option<Merge>,
}

impl Seen {
    /// Opens the seen test over the bases in a store, which no other seen test may
    /// use. It takes about `memory_bytes` of memory. Bases other than the manifest's
    /// are left over from a crash and removed.
    pub fn open(
        bases: Arc<dyn BaseStore>,
        memory_bytes: usize,
        manifest: Option<Manifest>,
    ) -> Result<Self, StateError> {
        let budget = Budget::of(memory_bytes);
        bases.remove_others(manifest.map(|manifest| manifest.generation))?;
        let new = manifest.map_or(Ok(NewBase::default()), |manifest| {
            base::open(&*bases, manifest.generation, manifest.len, &budget)
        })?;
        let mut seen = Self {
            bases,
            budget,
            young: Young::default(),
            recent: Recent::new(budget.recent_len),
            base: Base::default(),
            filter: None,
            merge: None,
        };
        seen.go_over_to(new);
        Ok(seen)
    }

    /// Asks that base from now on.
    fn go_over_to(&mut self, new: NewBase) {
        if !new.base.is_in_memory() {
            self.recent.begin();
        }
        if let Some(mut filter) = new.filter {
            self.young.iter().for_each(|hash| filter.insert(*hash));
            self.filter = Some(filter);
        }
        self.base = new.base;
    }

    /// Whether a hash was inserted before.
    pub fn contains(&self, hash: u64) -> Result<bool, StateError> {
        let filter = self.filter.as_ref();
        if filter.is_some_and(|filter| !filter.may_contain(hash)) {
            return Ok(false);
        }
        if self.young.contains(&hash) || self.recent.contains(hash) {
            return Ok(true);
        }
        let frozen = self.merge.as_ref().is_some_and(|merge| merge.holds(hash));
        if frozen {
            return Ok(true);
        }
        let found = self.base.contains(hash)?;
        if found {
            self.recent.note(hash);
        }
        Ok(found)
    }

    /// Adds a hash that is not there: ask [`Seen::contains`] first.
    pub fn insert(&mut self, hash: u64) {
        self.young.insert(hash);
        if let Some(filter) = &mut self.filter {
            filter.insert(hash);
        }
    }

    /// Hashes inserted so far.
    pub fn len(&self) -> u64 {
        let frozen = self.merge.as_ref().map_or(0, Merge::frozen_len);
        self.base.len() + (frozen + self.young.len()) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory taken by tables and filters.
    pub fn memory_bytes(&self) -> u64 {
        let young = self.young.capacity() / 7 * 8 * BUCKET_BYTES;
        let frozen = self
            .merge
            .as_ref()
            .map_or(0, |merge| merge.frozen_len() * 8);
        let filter = self.filter.as_ref().map_or(0, Bloom::bytes);
        (young + frozen + filter + self.recent.bytes() + self.base.memory_bytes()) as u64
    }

    /// Hashes the young table may take.
    fn young_len_max(&self) -> usize {
        if self.base.is_in_memory() {
            self.budget.young_len
        } else {
            self.budget.young_len_beside_disk
        }
    }

    /// Begins a merge if one is due and none is under way. To be called right
    /// after a commit: everything inserted must be in the log, below row
    /// `log_from`.
    pub fn freeze_if_due(&mut self, log_from: u64) -> Result<(), StateError> {
        let share = (self.base.len() / 4) as usize;
        let due = share.max(MERGE_LEN_MIN).min(self.young_len_max());
        if self.merge.is_some() || self.young.len() < due {
            return Ok(());
        }
        let frozen = std::mem::take(&mut self.young).into_iter().collect();
        self.merge = Some(Merge::start(
            &self.bases,
            self.base.share(),
            frozen,
            log_from,
            Needs {
                filter_bytes: self.filter.as_ref().map_or(0, Bloom::bytes),
                budget: self.budget,
            },
        )?);
        Ok(())
    }

    /// The manifest of a merge that is done, to be committed; then call
    /// [`Seen::adopt`]. Waits for a merge under way if the young table is full
    /// again.
    pub fn merged(&mut self) -> Result<Option<Manifest>, StateError> {
        let is_full = self.young.len() >= self.young_len_max();
        self.merge_result(is_full)
    }

    /// The manifest of a merge that is done, or that can be waited for.
    fn merge_result(&mut self, wait: bool) -> Result<Option<Manifest>, StateError> {
        match &mut self.merge {
            Some(merge) => merge.result(wait),
            None => Ok(None),
        }
    }

    /// Goes over to the merged base, once its manifest is durable, and removes
    /// the one before.
    pub fn adopt(&mut self) -> Result<(), StateError> {
        let Some(base) = self.merge.as_mut().and_then(Merge::take_base) else {
            return Ok(());
        };
        self.merge = None;
        self.go_over_to(base);
        self.bases.remove_others(Some(self.base.generation()))
    }
}

/// They are hashes already, but of URLs that strangers choose: used as they are,
/// URLs made to share their low bits would all fall into one place of the table.
/// So they are hashed once more, with a seed that nobody outside knows.
type Young = HashSet<u64>;

#[cfg(test)]
mod tests;
