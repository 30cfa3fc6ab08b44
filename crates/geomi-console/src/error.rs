//! What can go wrong with the console itself: the operator's or the machine's
//! failures. What is wrong with a request is a [`Problem`](crate::http::problem::Problem).

use std::net::SocketAddr;
use std::path::PathBuf;

use geomi_store::StoreError;
use thiserror::Error;

/// Why the console cannot do its work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// There is nothing to serve.
    #[error("{} is no folder: give a crawl directory, or a folder of them", .0.display())]
    NoFolder(PathBuf),
    /// Somebody else listens there, or may.
    #[error("cannot listen on {address}: choose another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("{}: {reason}", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file of accounts is there and is not one of ours.
    #[error("{} cannot be read as accounts: {reason}; move it away to begin anew", path.display())]
    Accounts {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system does not give what the console needs to run.
    #[error("cannot start the console")]
    Start(#[source] std::io::Error),
    /// Something on disk cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
