//! The end of the socket that asks.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use geomi_store::{CrawlDir, StoreError};
use thiserror::Error;

use super::address;
use super::protocol::{self, Request, Response};
use crate::Status;

/// Why a crawl could not be asked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The socket is there and cannot be connected to.
    #[error("cannot reach {}", dir.display())]
    Unreachable {
        /// The crawl directory.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was asked and said nothing.
    #[error("the crawl in {} gave no answer", dir.display())]
    NoAnswer {
        /// The crawl directory.
        dir: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Somebody works on the directory and has no socket there.
    #[error("{} belongs to {owner}, which cannot be reached from here: steer it from its own terminal", dir.display())]
    OutOfReach {
        /// The crawl directory.
        dir: PathBuf,
        /// Who holds its lock.
        owner: String,
    },
    /// The answer is of a kind that does not fit the question.
    #[error("the crawl in {} speaks another language: it was started by another version of geomi", dir.display())]
    Language {
        /// The crawl directory.
        dir: PathBuf,
    },
    /// The directory cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Asks the crawl in `dir`; `None` if none is running there.
pub fn ask(dir: &Path, request: &Request) -> Result<Option<Response>, RemoteError> {
    let stream = match address(dir).and_then(|address| UnixStream::connect(&address.path)) {
        Ok(stream) => stream,
        Err(error) if is_nobody(&error) => return nobody(dir),
        Err(source) => {
            let dir = dir.to_owned();
            return Err(RemoteError::Unreachable { dir, source });
        }
    };
    protocol::send(&stream, request)
        .and_then(|()| protocol::receive(&stream, None))
        .map(Some)
        .map_err(|source| RemoteError::NoAnswer {
            dir: dir.to_owned(),
            source,
        })
}

/// How a crawl stands, and which process runs it.
pub fn status(dir: &Path) -> Result<Option<(u32, Status)>, RemoteError> {
    match ask(dir, &Request::Status)? {
        Some(Response::Status { pid, status }) => Ok(Some((pid, *status))),
        Some(_) => Err(RemoteError::Language {
            dir: dir.to_owned(),
        }),
        None => Ok(None),
    }
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
    )
}

/// Nobody listens: is there really no crawl, or one that cannot be reached?
fn nobody(dir: &Path) -> Result<Option<Response>, RemoteError> {
    match CrawlDir::new(dir).lock_owner()? {
        None => Ok(None),
        Some(owner) => Err(RemoteError::OutOfReach {
            dir: dir.to_owned(),
            owner: owner.trim().to_owned(),
        }),
    }
}
