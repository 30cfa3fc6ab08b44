//! State in memory, for tests and simulation.
//!
//! A [`MemoryDisk`] plays the disk: it outlives the [`MemoryStore`] opened on
//! it, as a disk outlives a process. Dropping the store is the crash; opening
//! the disk again is the restart.
//!
//! On a usual disk every commit is durable when it returns, and nothing but an
//! unfinished commit can be lost; [`CommitFault`] chooses which way such a commit
//! ends. On a [late](MemoryDisk::late) disk commits become durable when the test
//! says so, and a crash loses the others: that is how an object store behaves.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::{Batch, CommitNo, Operation, Scan, StateError, StateStore};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// What outlives a [`MemoryStore`]. Clones are handles on the same disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Clone, Debug, Default)]
struct Inner {
    /// What readers see.
    committed: Map,
    /// What a crash leaves, on a late disk; elsewhere that is all of it.
    late: Option<Late>,
    is_open: bool,
    fault: Option<CommitFault>,
}

/// A disk whose commits become durable later.
#[derive(Clone, Debug, Default)]
struct Late {
    durable: Map,
    durable_no: CommitNo,
    /// Commits that are not durable yet, in order.
    waiting: VecDeque<Batch>,
}

/// How a commit that is made to fail leaves the disk. The writer cannot tell
/// the two apart, as it cannot with a real disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitFault {
    /// The disk was full: the error says so, and nothing was written.
    DiskFull,
    /// The batch reached the disk, and the acknowledgement was lost.
    WrittenButUnacknowledged,
}

impl MemoryDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty disk on which commits become durable when
    /// [`MemoryDisk::flush`] is called.
    pub fn late() -> Self {
        let inner = Inner {
            late: Some(Late::default()),
            ..Inner::default()
        };
        Self {
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    /// Makes the oldest commits of a late disk durable, so many at most.
    pub fn flush(&self, commits: usize) {
        if let Some(late) = &mut self.lock().late {
            for batch in late.waiting.drain(..commits.min(late.waiting.len())) {
                apply(&mut late.durable, &batch);
                late.durable_no = late.durable_no.next();
            }
        }
    }

    /// Opens the store on this disk; refused while another handle is open.
    pub fn open(&self) -> Result<MemoryStore, StateError> {
        let mut inner = self.lock();
        if inner.is_open {
            return Err(StateError::Locked {
                path: "memory".into(),
                owner: "another handle".to_owned(),
            });
        }
        inner.is_open = true;
        if let Some(late) = &mut inner.late {
            late.durable_no = CommitNo::default();
        }
        drop(inner);
        Ok(MemoryStore {
            disk: self.clone(),
            committed: CommitNo::default(),
            poisoned: false,
        })
    }

    /// Makes the next commit fail, once.
    pub fn fail_next_commit(&self, fault: CommitFault) {
        self.lock().fault = Some(fault);
    }

    /// A second disk with what is durable on this one now: what a crash at
    /// this moment would leave.
    #[must_use]
    pub fn crash_image(&self) -> Self {
        let inner = self.lock();
        let late = inner.late.as_ref().map(|late| Late {
            durable: late.durable.clone(),
            ..Late::default()
        });
        let committed = match &late {
            Some(late) => late.durable.clone(),
            None => inner.committed.clone(),
        };
        drop(inner);
        Self {
            inner: Arc::new(Mutex::new(Inner {
                committed,
                late,
                ..Inner::default()
            })),
        }
    }

    /// How many keys are committed.
    pub fn len(&self) -> usize {
        self.lock().committed.len()
    }

    /// Whether nothing is committed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .expect("no code panics while it holds a memory disk")
    }
}

/// The store on a [`MemoryDisk`].
#[derive(Debug)]
pub struct MemoryStore {
    disk: MemoryDisk,
    committed: CommitNo,
    poisoned: bool,
}

impl MemoryStore {
    /// A store on a new disk of its own.
    pub fn new() -> Self {
        MemoryDisk::new().open().expect("a new disk is not in use")
    }

    /// The disk under this store.
    pub fn disk(&self) -> &MemoryDisk {
        &self.disk
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for MemoryStore {
    fn drop(&mut self) {
        let mut inner = self.disk.lock();
        inner.is_open = false;
        let inner = &mut *inner;
        if let Some(late) = &mut inner.late {
            late.waiting.clear();
            inner.committed.clone_from(&late.durable);
        }
    }
}

impl StateStore for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.disk.lock().committed.get(key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StateError> {
        if from >= to {
            return Ok(());
        }
        // The visitor runs without the lock: it may read the store itself.
        let range = (Bound::Included(from), Bound::Excluded(to));
        let entries: Vec<_> = self
            .disk
            .lock()
            .committed
            .range::<[u8], _>(range)
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for (key, value) in entries {
            if visit(&key, &value) == Scan::Stop {
                break;
            }
        }
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> Result<CommitNo, StateError> {
        if self.poisoned {
            return Err(StateError::Poisoned);
        }
        let mut inner = self.disk.lock();
        match inner.fault.take() {
            None => {
                inner.take(batch);
                self.committed = self.committed.next();
                Ok(self.committed)
            }
            Some(CommitFault::DiskFull) => {
                self.poisoned = true;
                Err(StateError::DiskFull {
                    path: "memory".into(),
                })
            }
            Some(CommitFault::WrittenButUnacknowledged) => {
                self.poisoned = true;
                inner.take(batch);
                Err(StateError::Store("acknowledgement lost".to_owned()))
            }
        }
    }

    fn durable(&self) -> CommitNo {
        let inner = self.disk.lock();
        inner
            .late
            .as_ref()
            .map_or(self.committed, |late| late.durable_no)
    }
}

impl Inner {
    fn take(&mut self, batch: &Batch) {
        apply(&mut self.committed, batch);
        if let Some(late) = &mut self.late {
            late.waiting.push_back(batch.clone());
        }
    }
}

fn apply(map: &mut Map, batch: &Batch) {
    for operation in batch.operations() {
        match operation {
            Operation::Put(key, value) => map.insert(key.to_vec(), value.to_vec()),
            Operation::Delete(key) => map.remove(key),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{self, Place};

    struct InMemory(MemoryDisk);

    impl Place for InMemory {
        type Store = MemoryStore;

        fn fresh() -> Self {
            Self(MemoryDisk::new())
        }

        fn open(&mut self) -> Result<MemoryStore, StateError> {
            self.0.open()
        }
    }

    #[test]
    fn conforms() {
        conformance::run_all::<InMemory>();
    }

    fn put(key: &[u8]) -> Batch {
        let mut batch = Batch::new();
        batch.put(key, b"value");
        batch
    }

    #[test]
    fn a_failed_commit_poisons_until_reopened() {
        let disk = MemoryDisk::new();
        let mut store = disk.open().unwrap();
        disk.fail_next_commit(CommitFault::DiskFull);
        let failed = store.commit(&put(b"a"));
        assert!(matches!(failed, Err(StateError::DiskFull { .. })));
        assert!(matches!(
            store.commit(&put(b"b")),
            Err(StateError::Poisoned)
        ));
        drop(store);
        let mut store = disk.open().unwrap();
        assert_eq!(store.get(b"a").unwrap(), None);
        store.commit(&put(b"b")).unwrap();
    }

    #[test]
    fn a_lost_acknowledgement_leaves_the_batch_written() {
        let disk = MemoryDisk::new();
        let mut store = disk.open().unwrap();
        disk.fail_next_commit(CommitFault::WrittenButUnacknowledged);
        assert!(store.commit(&put(b"a")).is_err());
        drop(store);
        assert!(disk.open().unwrap().get(b"a").unwrap().is_some());
    }

    #[test]
    fn a_late_disk_loses_what_was_not_flushed() {
        let disk = MemoryDisk::late();
        let mut store = disk.open().unwrap();
        let first = store.commit(&put(b"a")).unwrap();
        let second = store.commit(&put(b"b")).unwrap();
        assert!(store.get(b"b").unwrap().is_some(), "readable at once");
        assert!(store.durable() < first);
        disk.flush(1);
        assert_eq!(store.durable(), first);
        assert!(store.durable() < second);
        assert_eq!(disk.crash_image().len(), 1);
        drop(store);
        let store = disk.open().unwrap();
        assert!(store.get(b"a").unwrap().is_some());
        assert_eq!(store.get(b"b").unwrap(), None);
    }

    #[test]
    fn a_crash_image_does_not_follow_later_commits() {
        let mut store = MemoryStore::new();
        store.commit(&put(b"a")).unwrap();
        let image = store.disk().crash_image();
        store.commit(&put(b"b")).unwrap();
        let image = image.open().unwrap();
        assert!(image.get(b"a").unwrap().is_some());
        assert_eq!(image.get(b"b").unwrap(), None);
    }
}
