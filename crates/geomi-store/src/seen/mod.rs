//! The seen test: has this URL been admitted before? Exact, by 64-bit hash.
//!
//! New hashes gather in a table in memory, the *young*. When it is full it is
//! frozen, sorted, and merged in the background with the *base*, one sorted file
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
//! - A base is complete or not there: it is written under another name, synced
//!   and renamed. Which one counts is the caller's to keep, as a [`Manifest`].
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
mod merge;
mod recent;

use std::path::{Path, PathBuf};

use hashbrown::HashSet;
use serde::{Deserialize, Serialize};

use crate::StoreError;
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
    /// Number of the base file.
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
    /// which the table takes half and the frozen the rest. When the base is on disk,
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
    folder: PathBuf,
    budget: Budget,
    young: Young,
    base: Base,
    /// Of all hashes, while the base is on disk.
    filter: Option<Bloom>,
    recent: Recent,
    merge: Option<Merge>,
}

impl Seen {
    /// Opens the seen test in a folder of its own, which is created if it is not
    /// there, with about so many bytes of memory. Files of other bases than the
    /// manifest's are left over from a crash and removed.
    pub fn open(
        folder: &Path,
        memory_bytes: usize,
        manifest: Option<Manifest>,
    ) -> Result<Self, StoreError> {
        let budget = Budget::of(memory_bytes);
        std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        base::remove_others(folder, manifest.map(|manifest| manifest.generation))?;
        let new = manifest.map_or(Ok(NewBase::default()), |manifest| {
            base::open(folder, manifest.generation, manifest.len, &budget)
        })?;
        let mut seen = Self {
            folder: folder.to_owned(),
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

    /// Asks that base from now on; gives the one before back.
    fn go_over_to(&mut self, new: NewBase) -> Base {
        if new.base.is_on_disk() {
            self.recent.begin();
        }
        if let Some(mut filter) = new.filter {
            self.young.iter().for_each(|hash| filter.insert(*hash));
            self.filter = Some(filter);
        }
        std::mem::replace(&mut self.base, new.base)
    }

    /// Whether a hash was inserted before.
    pub fn contains(&self, hash: u64) -> Result<bool, StoreError> {
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
        if self.base.is_on_disk() {
            self.budget.young_len_beside_disk
        } else {
            self.budget.young_len
        }
    }

    /// Begins a merge if one is due and none is under way. To be called right
    /// after a commit: everything inserted must be in the log, below row
    /// `log_from`.
    pub fn freeze_if_due(&mut self, log_from: u64) -> Result<(), StoreError> {
        let share = (self.base.len() / 4) as usize;
        let due = share.max(MERGE_LEN_MIN).min(self.young_len_max());
        if self.merge.is_some() || self.young.len() < due {
            return Ok(());
        }
        let frozen = std::mem::take(&mut self.young).into_iter().collect();
        self.merge = Some(Merge::start(
            &self.folder,
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
    pub fn merged(&mut self) -> Result<Option<Manifest>, StoreError> {
        let is_full = self.young.len() >= self.young_len_max();
        match &mut self.merge {
            Some(merge) => merge.result(is_full),
            None => Ok(None),
        }
    }

    /// Goes over to the merged base, once its manifest is durable, and removes
    /// the file of the one before.
    pub fn adopt(&mut self) -> Result<(), StoreError> {
        let Some(base) = self.merge.as_mut().and_then(Merge::take_base) else {
            return Ok(());
        };
        self.merge = None;
        self.go_over_to(base).remove()
    }

    /// Waits until a merge under way is done.
    #[cfg(test)]
    fn settle(&mut self) -> Option<Manifest> {
        self.merge.as_mut()?.result(true).unwrap()
    }
}

/// They are hashes already, but of URLs that strangers choose: used as they are,
/// URLs made to share their low bits would all fall into one place of the table.
/// So they are hashed once more, with a seed that nobody outside knows.
type Young = HashSet<u64>;

#[cfg(test)]
mod tests;
