//! State on disk in fjall, a log-structured merge tree (ADR 0002).
//!
//! A commit appends to fjall's journal and ends with `fdatasync`; memtables are
//! written out and merged by one background thread (more of them only spin).
//!
//! Left alone, fjall has that thread seal a full memtable too, so that memory
//! grows without bound while it merges (230 MiB at a budget of 8 was seen).
//! Here the writer seals, and a commit waits while two sealed memtables wait to
//! be written out. That also keeps clear of fjall's own halt at four of them,
//! which does not end if the background thread has failed.
//!
//! A failure of the background thread shows at the next commit. A full disk is
//! recognised wherever it shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fjall::compaction::Leveled;
use fjall::config::PartitioningPolicy;
use fjall::{
    AbstractTree, CompressionType, Database, Error, Keyspace, KeyspaceCreateOptions,
    KvSeparationOptions, OwnedWriteBatch, PersistMode,
};
use geomi_state::{Batch, CommitNo, Operation, Scan, StateError, StateStore};

/// The one keyspace of a state database.
const KEYSPACE: &str = "state";

/// Less free space than this, and a failed background write is taken for a
/// full disk: fjall allocates its next journal file in one piece of this size.
const FULL_BELOW_BYTES: u64 = 64 * 1024 * 1024;

/// Sealed memtables that may wait before a commit waits too.
const SEALED_MAX: usize = 2;

/// fjall's own bound on a memtable; it is never reached, because we seal first.
const FJALL_MEMTABLE_BYTES: u64 = 1 << 40;

/// A state that takes less than this on disk is a small one.
const SMALL_BYTES: u64 = 128 * 1024 * 1024;
/// Memory for writes to a large state, in parts of what it takes on disk beyond
/// that: a few large pieces are merged far less often than many small ones.
const MEMTABLE_SHARE: u64 = 8;
/// Memory for blocks read from it, in parts of all of it.
const CACHE_SHARE: u64 = 16;

/// Tables that gather before they are merged into the first level. Twice as many
/// as fjall's default halve what merging costs; a filter a table spares most
/// look-ups from reading them.
const TABLES_BEFORE_MERGE: u8 = 8;

/// Values of this many bytes lie in files of their own, and merges move only their
/// keys: chunks of queues, nine tenths of a large state, are read once and never
/// changed. Records of URLs and sites are smaller.
const APART_FROM_BYTES: u32 = 512;

/// How often a commit that waits looks again: fjall has no signal to wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Memory and disk budgets of a [`FjallStore`].
///
/// The default suits a small crawl (see ADR 0002 for the figures).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FjallOptions {
    /// Blocks read from disk and kept in memory, of a small state; see
    /// [`FjallOptions::cache_bytes_max`].
    pub cache_bytes: u64,
    /// The same of a large one: a share of what is there when it is opened.
    pub cache_bytes_max: u64,
    /// Writes held in memory before they are sorted onto the disk; three times
    /// as much while the background thread is behind.
    pub memtable_bytes: u64,
    /// The same of a large state: larger pieces mean fewer merges (ADR 0002), so
    /// that the budget grows with what is there, to this.
    pub memtable_bytes_max: u64,
    /// Journals kept on disk before the memtable is written out early; less
    /// than 64 MiB counts as 64 MiB.
    pub journal_bytes_max: u64,
    /// Table files held open.
    pub open_files_max: usize,
}

impl FjallOptions {
    const JOURNAL_BYTES_MIN: u64 = 64 * 1024 * 1024;
    const OPEN_FILES_MIN: usize = 10;

    /// The budgets of one of so many partitions: what a large state may take is for
    /// all of them.
    #[must_use]
    pub fn shared_by(self, partitions: u16) -> Self {
        let share = u64::from(partitions.max(1));
        Self {
            cache_bytes_max: self.cache_bytes_max / share,
            memtable_bytes_max: self.memtable_bytes_max / share,
            ..self
        }
    }

    fn memtable_at(&self, disk_bytes: u64) -> u64 {
        let (least, most) = (self.memtable_bytes, self.memtable_bytes_max);
        let share = disk_bytes.saturating_sub(SMALL_BYTES) / MEMTABLE_SHARE;
        share.clamp(least, most.max(least))
    }

    fn cache_at(&self, disk_bytes: u64) -> u64 {
        let (least, most) = (self.cache_bytes, self.cache_bytes_max);
        (disk_bytes / CACHE_SHARE).clamp(least, most.max(least))
    }
}

impl Default for FjallOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 8 * 1024 * 1024,
            cache_bytes_max: 256 * 1024 * 1024,
            memtable_bytes: 4 * 1024 * 1024,
            memtable_bytes_max: 128 * 1024 * 1024,
            journal_bytes_max: 512 * 1024 * 1024,
            open_files_max: 128,
        }
    }
}

/// A partition's state in a folder of its own.
pub struct FjallStore {
    path: PathBuf,
    keyspace: Keyspace,
    database: Database,
    memtable_bytes: u64,
    options: FjallOptions,
    committed: CommitNo,
    poisoned: bool,
}

impl FjallStore {
    /// Opens the state in `path`, creating it if it is not there.
    pub fn open(path: impl AsRef<Path>, options: FjallOptions) -> Result<Self, StateError> {
        let path = path.as_ref();
        let found = disk_bytes(path).map_err(StateError::io("look into", path))?;
        let cache = options.cache_at(found);
        let open = || -> fjall::Result<(Database, Keyspace)> {
            let database = Database::builder(path)
                .worker_threads(1)
                .cache_size(cache)
                .max_journaling_size(
                    options
                        .journal_bytes_max
                        .max(FjallOptions::JOURNAL_BYTES_MIN),
                )
                .max_cached_files(Some(
                    options.open_files_max.max(FjallOptions::OPEN_FILES_MIN),
                ))
                .manual_journal_persist(true)
                // The journal is read only after a crash; compressing it costs the
                // thread that commits more than the bytes it saves (ADR 0002).
                .journal_compression(CompressionType::None)
                .open()?;
            let keyspace = database.keyspace(KEYSPACE, || {
                // A whole filter of a table would be about 500 KiB (64 MiB of
                // records, 10 bits a key), too large to come and go in a small
                // cache: with pieces revisits cost a third (ADR 0002).
                KeyspaceCreateOptions::default()
                    .filter_block_partitioning_policy(PartitioningPolicy::all(true))
                    .index_block_partitioning_policy(PartitioningPolicy::all(true))
                    .with_kv_separation(Some(
                        KvSeparationOptions::default().separation_threshold(APART_FROM_BYTES),
                    ))
                    .max_memtable_size(FJALL_MEMTABLE_BYTES)
                    .compaction_strategy(Arc::new(
                        Leveled::default().with_l0_threshold(TABLES_BEFORE_MERGE),
                    ))
                    .manual_journal_persist(true)
            })?;
            Ok((database, keyspace))
        };
        let (database, keyspace) = open().map_err(|error| translate(path, error))?;
        Ok(Self {
            path: path.to_path_buf(),
            keyspace,
            database,
            memtable_bytes: options.memtable_at(found),
            options,
            committed: CommitNo::default(),
            poisoned: false,
        })
    }

    /// The disk space the state takes, journals included.
    pub fn disk_bytes(&self) -> Result<u64, StateError> {
        self.database.disk_space().map_err(|error| self.fail(error))
    }

    /// Seals a full memtable, once there is room for another sealed one.
    #[expect(
        clippy::disallowed_methods,
        reason = "a commit blocks its thread by contract, and fjall has no signal to wait for"
    )]
    fn make_room(&mut self) -> fjall::Result<()> {
        if self.keyspace.tree.active_memtable().size() < self.memtable_bytes {
            return Ok(());
        }
        while self.keyspace.sealed_memtable_count() >= SEALED_MAX {
            // Writes nothing; it says whether the background thread has failed.
            self.database.persist(PersistMode::Buffer)?;
            std::thread::sleep(LOOK_AGAIN);
        }
        self.memtable_bytes = self.options.memtable_at(self.database.disk_space()?);
        self.keyspace.rotate_memtable().map(drop)
    }

    fn write(&mut self, batch: &Batch) -> fjall::Result<()> {
        self.make_room()?;
        let mut write = OwnedWriteBatch::with_capacity(self.database.clone(), batch.len())
            .durability(Some(PersistMode::SyncData));
        for operation in batch.operations() {
            match operation {
                Operation::Put(key, value) => write.insert(&self.keyspace, key, value),
                Operation::Delete(key) => write.remove(&self.keyspace, key),
            }
        }
        write.commit()
    }

    fn fail(&self, error: Error) -> StateError {
        translate(&self.path, error)
    }
}

impl StateStore for FjallStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let value = self.keyspace.get(key).map_err(|error| self.fail(error))?;
        Ok(value.map(|value| value.to_vec()))
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
        for entry in self.keyspace.range(from..to) {
            let (key, value) = entry.into_inner().map_err(|error| self.fail(error))?;
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
        self.write(batch).map_err(|error| {
            self.poisoned = true;
            self.fail(error)
        })?;
        self.committed = self.committed.next();
        Ok(self.committed)
    }

    fn durable(&self) -> CommitNo {
        self.committed
    }
}

/// fjall's errors in our words. fjall reports a failed background write as
/// nothing but "poisoned", so the free space decides whether it was a full disk.
fn translate(path: &Path, error: Error) -> StateError {
    match error {
        Error::Io(source) | Error::Storage(fjall::LsmError::Io(source)) => {
            StateError::io("use the state in", path)(source)
        }
        Error::Locked => StateError::Locked {
            path: path.to_path_buf(),
            owner: "another process".to_owned(),
        },
        Error::Poisoned if is_full(path) => StateError::DiskFull {
            path: path.to_path_buf(),
        },
        Error::Poisoned => StateError::Poisoned,
        Error::JournalRecovery(_)
        | Error::Decompress(_)
        | Error::InvalidTrailer
        | Error::InvalidTag(_)
        | Error::InvalidVersion(_)
        | Error::Unrecoverable
        | Error::Storage(_) => StateError::damaged(path, error.to_string()),
        other => StateError::Store(other.to_string()),
    }
}

/// What the files of a folder take; nothing, if it is not there.
fn disk_bytes(folder: &Path) -> std::io::Result<u64> {
    if !folder.is_dir() {
        return Ok(0);
    }
    let mut sum = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        sum += if about.is_dir() {
            disk_bytes(&entry.path())?
        } else {
            about.len()
        };
    }
    Ok(sum)
}

fn is_full(path: &Path) -> bool {
    // If even this cannot be asked, "poisoned" is all there is to say.
    rustix::fs::statvfs(path).is_ok_and(|fs| fs.f_bavail * fs.f_frsize < FULL_BELOW_BYTES)
}

#[cfg(test)]
mod tests {
    use std::io;

    use geomi_state::conformance::{self, Place};
    use tempfile::TempDir;

    use super::*;

    struct OnDisk(TempDir);

    impl Place for OnDisk {
        type Store = FjallStore;

        fn fresh() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn open(&mut self) -> Result<FjallStore, StateError> {
            // A memtable this small is written out and merged within the suite.
            let options = FjallOptions {
                memtable_bytes: 64 * 1024,
                ..FjallOptions::default()
            };
            FjallStore::open(self.0.path(), options)
        }
    }

    #[test]
    fn conforms() {
        conformance::run_all::<OnDisk>();
    }

    #[test]
    fn memory_stays_bounded_while_the_background_thread_is_behind() {
        let mut place = OnDisk::fresh();
        let mut store = place.open().unwrap();
        let mut batch = Batch::new();
        let value = [7; 16 * 1024];
        for number in 0..200_u32 {
            batch.clear();
            batch.put(&number.to_be_bytes(), &value);
            store.commit(&batch).unwrap();
            assert!(store.keyspace.sealed_memtable_count() <= SEALED_MAX);
            let active = store.keyspace.tree.active_memtable().size();
            assert!(active < store.memtable_bytes + 2 * value.len() as u64);
        }
    }

    #[test]
    fn budgets_grow_with_the_state_within_their_bounds() {
        let options = FjallOptions::default();
        let mib = |bytes: u64| options.memtable_at(bytes << 20) >> 20;
        let grown = [mib(0), mib(100), mib(640), mib(100_000)];
        assert_eq!(grown, [4, 4, 64, 128]);
        assert_eq!(options.cache_at(1_024 << 20) >> 20, 64);
        let large = FjallOptions {
            memtable_bytes: 200 << 20,
            ..options
        };
        assert_eq!(large.memtable_at(1 << 40), 200 << 20);
    }

    #[test]
    fn a_poisoned_store_takes_writes_again_after_reopening() {
        let mut place = OnDisk::fresh();
        let mut store = place.open().unwrap();
        let mut batch = Batch::new();
        batch.put(b"a", b"1");
        store.poisoned = true;
        assert!(matches!(store.commit(&batch), Err(StateError::Poisoned)));
        assert_eq!(store.get(b"a").unwrap(), None);
        drop(store);
        let mut store = place.open().unwrap();
        store.commit(&batch).unwrap();
        assert!(store.get(b"a").unwrap().is_some());
    }

    #[test]
    fn a_full_disk_is_named_wherever_it_shows() {
        let full = || io::Error::from_raw_os_error(28);
        let path = Path::new("/state");
        for error in [
            Error::Io(full()),
            Error::Storage(fjall::LsmError::Io(full())),
        ] {
            assert!(matches!(
                translate(path, error),
                StateError::DiskFull { .. }
            ));
        }
    }

    #[test]
    fn damage_is_not_taken_for_an_engine_failure() {
        let place = tempfile::tempdir().unwrap();
        drop(FjallStore::open(place.path(), FjallOptions::default()).unwrap());
        let marker = place.path().join("version");
        assert!(marker.exists());
        std::fs::write(&marker, b"not a database").unwrap();
        let opened = FjallStore::open(place.path(), FjallOptions::default());
        assert!(matches!(opened, Err(StateError::Damaged { .. })));
    }
}
