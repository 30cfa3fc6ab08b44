//! The storage port of the seen test: where bases are kept and merges run.
//!
//! What every implementation promises, and [`conformance`](super::conformance)
//! checks:
//!
//! - a base exists only after [`BaseWriter::finish`] has returned, and is then
//!   complete and durable; until then nothing under its number changes;
//! - creating a base that exists replaces it;
//! - a base never changes and can be read by several readers;
//! - one seen test writes: at most one merge runs at a time.
//!
//! Bytes are opaque to the store; the seen test checks what it reads.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

use crate::StateError;

/// Stores the bases of one seen test, each under the number of its generation.
pub trait BaseStore: Debug + Send + Sync {
    /// The name of a base in error messages.
    fn path(&self, generation: u64) -> PathBuf;

    /// Starts to write a base.
    fn create(&self, generation: u64) -> Result<Box<dyn BaseWriter>, StateError>;

    /// Opens a base to read single blocks of it.
    fn open(&self, generation: u64) -> Result<Box<dyn BaseReader>, StateError>;

    /// Opens a base to read it once from start to end. The caller buffers.
    fn read(&self, generation: u64) -> Result<Box<dyn io::Read + Send>, StateError>;

    /// Removes every base but one, and what unfinished writers left behind. Called
    /// while no merge runs.
    fn remove_others(&self, kept: Option<u64>) -> Result<(), StateError>;

    /// Runs a job beside the caller, on a thread or wherever the store chooses.
    fn spawn(&self, job: MergeJob) -> Result<Box<dyn MergeTask>, StateError>;
}

/// A base being written. The caller buffers. Dropped before it is finished, it
/// leaves nothing.
pub trait BaseWriter: io::Write + Send {
    /// Makes the base durable; from now on it exists.
    fn finish(self: Box<Self>) -> Result<(), StateError>;
}

/// A base opened for reading blocks.
pub trait BaseReader: Debug + Send {
    /// Fills a buffer with the bytes from `offset` on. An offset past the end is an
    /// error.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()>;
}

/// The work of one merge. It reports its result itself.
pub type MergeJob = Box<dyn FnOnce() + Send>;

/// A spawned [`MergeJob`].
pub trait MergeTask: Send {
    /// Whether the job has ended, so that waiting for it takes no time.
    fn is_done(&self) -> bool;

    /// Waits until the job has ended.
    fn wait(self: Box<Self>);
}
