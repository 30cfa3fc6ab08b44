//! State in memory, for tests and simulation.
//!
//! A [`MemoryDisk`] plays the disk: it outlives the [`MemoryStore`] opened on
//! it, as a disk outlives a process. Dropping the store is the crash; opening
//! the disk again is the restart. Since every commit is durable when it
//! returns, nothing but an unfinished commit can be lost, and
//! [`CommitFault`] chooses which way such a commit ends.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Batch, Operation, Scan, StateStore};
use crate::StoreError;

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// What outlives a [`MemoryStore`]. Clones are handles on the same disk.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Clone, Debug, Default)]
struct Inner {
    committed: Map,
    is_open: bool,
    fault: Option<CommitFault>,
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

    /// Opens the store on this disk; refused while another handle is open.
    pub fn open(&self) -> Result<MemoryStore, StoreError> {
        let mut inner = self.lock();
        if inner.is_open {
            return Err(StoreError::Locked {
                path: "memory".into(),
                owner: "another handle".to_owned(),
            });
        }
        inner.is_open = true;
        drop(inner);
        Ok(MemoryStore {
            disk: self.clone(),
            poisoned: false,
        })
    }

    /// Makes the next commit fail, once.
    pub fn fail_next_commit(&self, fault: CommitFault) {
        self.lock().fault = Some(fault);
    }

    /// A second disk with what is committed on this one now: what a crash at
    /// this moment would leave.
    #[must_use]
    pub fn crash_image(&self) -> Self {
        let committed = self.lock().committed.clone();
        Self {
            inner: Arc::new(Mutex::new(Inner {
                committed,
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
        self.disk.lock().is_open = false;
    }
}

impl StateStore for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.disk.lock().committed.get(key).cloned())
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StoreError> {
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

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        if self.poisoned {
            return Err(StoreError::Poisoned);
        }
        let mut inner = self.disk.lock();
        match inner.fault.take() {
            None => {
                apply(&mut inner.committed, batch);
                Ok(())
            }
            Some(CommitFault::DiskFull) => {
                self.poisoned = true;
                Err(StoreError::DiskFull {
                    path: "memory".into(),
                })
            }
            Some(CommitFault::WrittenButUnacknowledged) => {
                self.poisoned = true;
                apply(&mut inner.committed, batch);
                Err(StoreError::State("acknowledgement lost".to_owned()))
            }
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
    use super::super::conformance::{self, Place};
    use super::*;

    struct InMemory(MemoryDisk);

    impl Place for InMemory {
        type Store = MemoryStore;

        fn fresh() -> Self {
            Self(MemoryDisk::new())
        }

        fn open(&mut self) -> Result<MemoryStore, StoreError> {
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
        assert!(matches!(failed, Err(StoreError::DiskFull { .. })));
        assert!(matches!(
            store.commit(&put(b"b")),
            Err(StoreError::Poisoned)
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
