//! What can go wrong with the operator's disk or with files of ours.

use std::io;
use std::path::{Path, PathBuf};

use geomi_state::StateError;

/// Why something could not be kept or read back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk, or the user's share of it, is full; nothing half-written was
    /// left behind, and writing may be tried again once there is room.
    #[error("no space left to write {}", path.display())]
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
    },
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else writes to this crawl directory.
    #[error("{} is in use by {owner}", path.display())]
    Locked {
        /// The crawl directory.
        path: PathBuf,
        /// The owner as its lock names it.
        owner: String,
    },
    /// The Parquet library refused a file.
    #[error("cannot read or write the table {}", path.display())]
    Table {
        /// The table.
        path: PathBuf,
        /// What the library said.
        source: parquet::errors::ParquetError,
    },
    /// A file of ours does not hold what it should.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An earlier durable write of the partition's state failed, so nobody
    /// knows what reached the disk; open the state again to go on.
    #[error("an earlier write of the crawl's state failed; open it again")]
    Poisoned,
    /// The state store failed in a way that only this store knows.
    #[error("the state store failed: {0}")]
    State(String),
}

impl StoreError {
    /// Wraps what the system said about `path`; a full disk keeps its own name,
    /// because the crawl stops cleanly on it instead of failing.
    pub fn from_io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io {
                action,
                path,
                source,
            },
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::from_io(action, path, source)
    }

    /// A file that does not hold what it should.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

impl From<StateError> for StoreError {
    fn from(error: StateError) -> Self {
        match error {
            StateError::DiskFull { path } => Self::DiskFull { path },
            StateError::Io {
                action,
                path,
                source,
            } => Self::Io {
                action,
                path,
                source,
            },
            StateError::Locked { path, owner } => Self::Locked { path, owner },
            StateError::Damaged { path, reason } => Self::Damaged { path, reason },
            StateError::Poisoned => Self::Poisoned,
            StateError::Store(reason) => Self::State(reason),
        }
    }
}
