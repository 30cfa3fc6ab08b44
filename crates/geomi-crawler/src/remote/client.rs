//! The end of the socket that asks.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use geomi_store::{CrawlDir, StoreError};
use thiserror::Error;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::address;
use super::protocol::{self, LINE_BYTES_MAX, Request, Response};
use geomi_engine::Status;

/// How long a running crawl may take to say how it stands.
const STATUS_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take for anything else: some hundred thousand seeds take
/// seconds.
const PATIENCE: Duration = Duration::from_mins(2);

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
    #[error("the crawl in {} gave no answer: its process may be suspended", dir.display())]
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
    let patience = match request {
        Request::Status => STATUS_PATIENCE,
        _ => PATIENCE,
    };
    protocol::send(&stream, request)
        .and_then(|()| protocol::receive(&stream, patience))
        .map(Some)
        .map_err(no_answer(dir))
}

fn no_answer(dir: &Path) -> impl Fn(io::Error) -> RemoteError {
    move |source| RemoteError::NoAnswer {
        dir: dir.to_owned(),
        source,
    }
}

/// Asks the crawl in `dir` without blocking; `None` if none is running there.
/// Waits for as long as the crawl takes: put a timeout around it, and drop it to
/// give up.
pub async fn ask_async(dir: &Path, request: &Request) -> Result<Option<Response>, RemoteError> {
    let address = address(dir);
    let connected = match &address {
        Ok(address) => tokio::net::UnixStream::connect(&address.path).await,
        Err(error) => Err(error.kind().into()),
    };
    let mut stream = match connected {
        Ok(stream) => stream,
        Err(error) if is_nobody(&error) => {
            let dir = dir.to_owned();
            let found = tokio::task::spawn_blocking(move || nobody(&dir)).await;
            return found.expect("looking at a lock does not panic");
        }
        // The queue of its socket is full: it does not take connections.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            return Err(no_answer(dir)(error));
        }
        Err(source) => {
            let dir = dir.to_owned();
            return Err(RemoteError::Unreachable { dir, source });
        }
    };
    let line = protocol::line(request).map_err(no_answer(dir))?;
    let answer = async {
        stream.write_all(&line).await?;
        let mut line = Vec::new();
        let mut reader = BufReader::new(stream.take(LINE_BYTES_MAX));
        reader.read_until(b'\n', &mut line).await?;
        protocol::message(&line)
    };
    answer.await.map(Some).map_err(no_answer(dir))
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
