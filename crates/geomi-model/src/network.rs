//! How a visit ended on the network, and how long each part of it took.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The network state of a visit, in the order in which a visit can get stuck.
///
/// The names in archives and logs ([`NetworkState::as_str`]) are those of Kim
/// and Lee's robot study of 2003, which geomi keeps so that results compare.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub enum NetworkState {
    /// No attempt was made.
    #[default]
    NotTried,
    /// The host name has no address.
    NoIp,
    /// The connection was refused or reset, or TLS could not be agreed on.
    ConnectError,
    /// No connection within the time allowed for it.
    ConnectTimeout,
    /// Connected, but the request could not be sent.
    Connected,
    /// The connection broke before the header was complete.
    HeaderError,
    /// No complete header in time.
    HeaderTimeout,
    /// The server closed after too few bytes to be a header.
    HeaderShort,
    /// What came back is not HTTP.
    HeaderNotHttp,
    /// A complete answer that is not 200 of a wanted type; its number is kept.
    Code,
    /// The connection broke, or the framing did, inside the body.
    DownloadError,
    /// The body fell silent or passed the time for a whole answer.
    DownloadTimeout,
    /// A complete 200 of a wanted type, or 304 to a conditional request.
    Ok,
}

impl NetworkState {
    /// Every state, in order.
    pub const ALL: [Self; 13] = [
        Self::NotTried,
        Self::NoIp,
        Self::ConnectError,
        Self::ConnectTimeout,
        Self::Connected,
        Self::HeaderError,
        Self::HeaderTimeout,
        Self::HeaderShort,
        Self::HeaderNotHttp,
        Self::Code,
        Self::DownloadError,
        Self::DownloadTimeout,
        Self::Ok,
    ];

    /// The name written to archives and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotTried => "not tried",
            Self::NoIp => "noIP",
            Self::ConnectError => "cErr",
            Self::ConnectTimeout => "cTim",
            Self::Connected => "Conn",
            Self::HeaderError => "hErr",
            Self::HeaderTimeout => "hTim",
            Self::HeaderShort => "hSht",
            Self::HeaderNotHttp => "hNpr",
            Self::Code => "code",
            Self::DownloadError => "dErr",
            Self::DownloadTimeout => "dTim",
            Self::Ok => "OK",
        }
    }

    /// Reads a name written by [`NetworkState::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// Whether a complete answer came, whatever its code.
    pub const fn is_answer(self) -> bool {
        matches!(self, Self::Code | Self::Ok)
    }
}

impl fmt::Display for NetworkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was spoken with a server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Protocol {
    /// HTTP/1.1, or an earlier one the server answered in.
    #[default]
    Http1,
    /// HTTP/2, of which an archive keeps an HTTP/1.1 view.
    Http2,
}

impl Protocol {
    /// The name under which it is registered for ALPN, and known to archives.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http1 => "http/1.1",
            Self::Http2 => "h2",
        }
    }
}

/// Why an answer is shorter than the server meant it, in the words WARC uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Truncation {
    /// It passed the limit on its length.
    Length,
    /// It took too long.
    Time,
    /// The connection, or the framing, broke.
    Disconnect,
}

impl Truncation {
    /// The value of the `WARC-Truncated` field.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }

    /// Reads what [`Truncation::as_str`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Length, Self::Time, Self::Disconnect]
            .into_iter()
            .find(|cause| cause.as_str() == name)
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where the time of a visit went. A phase that did not happen is `None`: a
/// reused connection has neither DNS nor connect time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Phases {
    /// Looking the address up.
    pub dns: Option<Duration>,
    /// TCP handshake.
    pub connect: Option<Duration>,
    /// TLS handshake.
    pub tls: Option<Duration>,
    /// Request sent to first byte of the answer: the round-trip time.
    pub first_byte: Option<Duration>,
    /// First byte to last byte.
    pub download: Option<Duration>,
    /// Everything, from the start of the attempt to its end.
    pub total: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for state in NetworkState::ALL {
            assert_eq!(NetworkState::from_name(state.as_str()), Some(state));
        }
        assert_eq!(NetworkState::from_name("ok"), None);
    }
}
