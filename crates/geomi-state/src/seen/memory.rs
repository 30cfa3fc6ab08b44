//! Bases in memory, for tests and simulation. No thread is started.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{BaseReader, BaseStore, BaseWriter, MergeJob, MergeTask};
use crate::StateError;

type Bytes = Arc<[u8]>;

/// Bases in memory. Clones are handles on the same bases; they outlive a seen test,
/// as a disk outlives a process.
#[derive(Clone, Debug, Default)]
pub struct MemoryBases {
    bases: Arc<Mutex<BTreeMap<u64, Bytes>>>,
    /// Whether merges run as late as possible.
    is_late: bool,
}

impl MemoryBases {
    /// No bases. A merge is done when it is spawned.
    pub fn new() -> Self {
        Self::default()
    }

    /// No bases. A merge runs when the seen test waits for it: when the next one is
    /// due, or when the seen test is dropped.
    pub fn late() -> Self {
        Self {
            is_late: true,
            ..Self::default()
        }
    }

    /// A second store with what is there now: what a crash at this moment would
    /// leave.
    #[must_use]
    pub fn crash_image(&self) -> Self {
        Self {
            bases: Arc::new(Mutex::new(self.lock().clone())),
            is_late: self.is_late,
        }
    }

    /// The numbers of the bases that exist.
    pub fn generations(&self) -> Vec<u64> {
        self.lock().keys().copied().collect()
    }

    /// The bytes of a base.
    pub fn bytes(&self, generation: u64) -> Option<Vec<u8>> {
        Some(self.lock().get(&generation)?.to_vec())
    }

    /// Replaces the bytes of a base, as damage would.
    pub fn set_bytes(&self, generation: u64, bytes: &[u8]) {
        self.lock().insert(generation, bytes.into());
    }

    fn find(&self, generation: u64) -> Result<Bytes, StateError> {
        let found = self.lock().get(&generation).cloned();
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let path = self.path(generation);
        found.ok_or_else(|| StateError::from_io("open", &path, missing()))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Bytes>> {
        self.bases
            .lock()
            .expect("no code panics while it holds the bases")
    }
}

impl BaseStore for MemoryBases {
    fn path(&self, generation: u64) -> PathBuf {
        format!("memory/{generation}").into()
    }

    fn create(&self, generation: u64) -> Result<Box<dyn BaseWriter>, StateError> {
        Ok(Box::new(MemoryWriter {
            store: self.clone(),
            generation,
            bytes: Vec::new(),
        }))
    }

    fn open(&self, generation: u64) -> Result<Box<dyn BaseReader>, StateError> {
        Ok(Box::new(MemoryReader(self.find(generation)?)))
    }

    fn read(&self, generation: u64) -> Result<Box<dyn Read + Send>, StateError> {
        Ok(Box::new(Cursor::new(self.find(generation)?)))
    }

    fn remove_others(&self, kept: Option<u64>) -> Result<(), StateError> {
        self.lock()
            .retain(|generation, _| Some(*generation) == kept);
        Ok(())
    }

    fn spawn(&self, job: MergeJob) -> Result<Box<dyn MergeTask>, StateError> {
        if self.is_late {
            return Ok(Box::new(MemoryTask(Some(job))));
        }
        job();
        Ok(Box::new(MemoryTask(None)))
    }
}

struct MemoryWriter {
    store: MemoryBases,
    generation: u64,
    bytes: Vec<u8>,
}

impl Write for MemoryWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BaseWriter for MemoryWriter {
    fn finish(self: Box<Self>) -> Result<(), StateError> {
        self.store.set_bytes(self.generation, &self.bytes);
        Ok(())
    }
}

#[derive(Debug)]
struct MemoryReader(Bytes);

impl BaseReader for MemoryReader {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).ok();
        let bytes = start.and_then(|start| self.0.get(start..)?.get(..into.len()));
        into.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// A job that waits to be run, if any.
struct MemoryTask(Option<MergeJob>);

impl MergeTask for MemoryTask {
    fn is_done(&self) -> bool {
        self.0.is_none()
    }

    fn wait(self: Box<Self>) {
        if let Some(job) = self.0 {
            job();
        }
    }
}
