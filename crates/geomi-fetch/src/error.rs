//! What the operator or the machine can get wrong.

use std::path::PathBuf;

use crate::CidrError;

/// Why a [`Fetcher`](crate::Fetcher) cannot be made, or a setting not be read.
///
/// Nothing a site does ends up here; see [`FetchOutcome`](crate::FetchOutcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// A configured header value holds a byte that would end the header line.
    #[error("the value of {header} holds a control character: {value:?}")]
    HeaderValue {
        /// Name of the header.
        header: &'static str,
        /// The value as configured.
        value: String,
    },
    /// A limit is zero, so that nothing could ever be fetched.
    #[error("{setting} must be greater than zero")]
    ZeroLimit {
        /// Name of the setting.
        setting: &'static str,
    },
    /// An extra root certificate is not one.
    #[error("extra root certificate {index} cannot be used: {source}")]
    Root {
        /// Its place in `extra_roots`, from 0.
        index: usize,
        /// What is wrong with it.
        source: rustls::Error,
    },
    /// A file of certificate authorities cannot be read, or holds none.
    #[error("{} holds no certificates in PEM form: {problem}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The resolver could not be set up.
    #[error("name resolution cannot be set up: {0}")]
    Resolver(#[source] Box<hickory_resolver::net::NetError>),
    /// An override is not written `HOST:ADDR`.
    #[error("{text:?} is not HOST:ADDR, for example example.com:127.0.0.1 or *:127.0.0.1")]
    Override {
        /// The text as given.
        text: String,
    },
    /// A host is not written `HOST` or `HOST:PORT`.
    #[error("{text:?} is not a host: write HOST or HOST:PORT, for example wiki.local:8080")]
    NamedHost {
        /// The text as given.
        text: String,
    },
    /// A proxy is not written as a URL with a port.
    #[error("{text:?} is no proxy: write http://HOST:PORT or socks5://USER:PASSWORD@HOST:PORT")]
    Proxy {
        /// The text as given, without credentials.
        text: String,
    },
    /// An address range cannot be read.
    #[error(transparent)]
    Cidr(#[from] CidrError),
}
