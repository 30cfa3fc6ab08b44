//! A running crawl, reached from another process.
//!
//! A crawl listens on a socket in its own directory, which only its user may
//! connect to (ADR 0006). Here is what both ends share: where the socket is
//! ([`address`]), what is said over it ([`protocol`]), and the end that asks
//! ([`ask`], [`status`]). The end that answers needs to know the configuration
//! as written and so belongs to the command line.
//!
//! A crawl answers between two rounds, so within milliseconds; but its process
//! may be suspended, and then it does not answer at all. [`ask`] and [`status`]
//! block until there is an answer, for a bounded time. Whoever serves others
//! from an event loop uses [`ask_async`], which takes no thread and has no
//! deadline of its own.

mod client;
pub mod protocol;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

pub use client::{RemoteError, ask, ask_async, status};
pub use protocol::{Request, Response};

/// The socket's name in the crawl directory.
pub const SOCKET: &str = "control.sock";
/// Longer paths do not fit into the address of a socket.
const ADDRESS_BYTES_MAX: usize = 100;

/// How a socket is reached.
#[derive(Debug)]
pub struct Address {
    /// What to connect to.
    pub path: PathBuf,
    /// Kept open while the path through it is in use.
    _folder: Option<File>,
}

/// The address of a directory's socket. A path that is too long is gone around
/// by way of the open directory.
pub fn address(dir: &Path) -> io::Result<Address> {
    let path = dir.join(SOCKET);
    if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return Ok(Address {
            path,
            _folder: None,
        });
    }
    let folder = File::open(dir)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd())).join(SOCKET);
    Ok(Address {
        path,
        _folder: Some(folder),
    })
}
