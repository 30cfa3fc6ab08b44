//! Running crawls, seen and steered from another terminal.
//!
//! A crawl listens on a socket in its own directory ([`server`]) and leaves a
//! note of itself where the user's other processes find it ([`registry`]). The
//! commands `ls`, `pause`, `resume`, `stop`, `set`, `add` and `explain` talk to it
//! in one line of JSON each way ([`protocol`], [`client`]). Only the user who
//! started a crawl may connect. A crawl on a file system without sockets runs all
//! the same; it just cannot be reached.

pub(crate) mod client;
pub(crate) mod commands;
pub(crate) mod list;
pub(crate) mod protocol;
pub(crate) mod registry;
pub(crate) mod server;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

/// The socket's name in the crawl directory.
const SOCKET: &str = "control.sock";
/// Longer paths do not fit into the address of a socket.
const ADDRESS_BYTES_MAX: usize = 100;

/// How a socket is reached.
struct Address {
    path: PathBuf,
    /// Kept open while the path through it is in use.
    _folder: Option<File>,
}

/// The address of a directory's socket. A path that is too long is gone around
/// by way of the open directory.
fn address(dir: &Path) -> io::Result<Address> {
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
