//! Errors of a state store and of the seen test.

use std::io;
use std::path::{Path, PathBuf};

/// Why state could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The disk or the user's quota is full. Writing may be tried again once there
    /// is room, in a store opened anew.
    #[error("no space left to write {}", path.display())]
    DiskFull {
        /// The file that did not fit.
        path: PathBuf,
    },
    /// An operation on a file or an object failed.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or object.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another handle or another process has the store open.
    #[error("{} is in use by {owner}", path.display())]
    Locked {
        /// Where the store is.
        path: PathBuf,
        /// Who has it open, for messages.
        owner: String,
    },
    /// The stored bytes are not what was written.
    #[error("{} is damaged: {reason}", path.display())]
    Damaged {
        /// The file or object.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An earlier commit failed, and it is unknown what became durable. The store
    /// must be opened again.
    #[error("an earlier write of the crawl's state failed; open it again")]
    Poisoned,
    /// The store failed in a way that only this store knows.
    #[error("the state store failed: {0}")]
    Store(String),
}

impl StateError {
    /// Wraps an I/O error on `path`. A full disk becomes [`StateError::DiskFull`],
    /// because the crawl stops cleanly on it.
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

    /// [`StateError::from_io`] as a function for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::from_io(action, path, source)
    }

    /// Stored bytes that are not what was written.
    pub fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}
