//! What came of one attempt.

use std::borrow::Cow;
use std::net::IpAddr;
use std::ops::Deref;

use bytes::Bytes;
use geomi_model::{NetworkState, Phases, Protocol, Truncation};

use crate::{Headers, TlsDescription};

/// One attempt at a URL and everything it brought.
///
/// How `state` is decided, first match first:
///
/// | state | when |
/// |---|---|
/// | not tried | the address policy refused the address |
/// | cErr, cTim | TCP or TLS was refused, broke or was not agreed on; took too long |
/// | Conn | connected, but the request could not be sent whole |
/// | hSht | the server closed in order after fewer than 12 bytes, none included |
/// | hErr | the connection broke before the header was complete, or closed in order after 12 bytes or more, or the header is longer or has more fields than the limit |
/// | hTim | no complete header in time |
/// | hNpr | the first 12 bytes do not begin like HTTP, the header cannot be parsed, or it does not say in one way where the body ends |
/// | dErr, dTim | the connection or the framing broke inside the body; the body took too long |
/// | OK | 200, or 304 to a conditional request |
/// | code | every other complete answer |
///
/// noIP belongs to [`Fetcher::resolve`](crate::Fetcher::resolve). A body cut by
/// the length limit is a complete answer as far as `state` goes; `truncated`
/// says that it was cut. Whether the type is wanted is the caller's question,
/// and so is a coding that does not decode, which `error` mentions.
///
/// `head`, `wire_body` and, where they can, `payload` and `body` are views of
/// one allocation: keeping one of them keeps them all.
#[derive(Clone, Debug, Default)]
pub struct FetchOutcome {
    /// How far the attempt came.
    pub state: NetworkState,
    /// Status code, where a header came.
    pub code: Option<u16>,
    /// The address asked; `None` only in a default value.
    pub ip: Option<IpAddr>,
    /// Where the time went. `dns` is the caller's to fill in.
    pub phases: Phases,
    /// The request head exactly as sent; empty where nothing was sent.
    pub request: Bytes,
    /// The header block exactly as received, its empty line included; what
    /// there was of it where it is not complete. Interim (1xx) blocks before it
    /// are left out.
    pub head: Bytes,
    /// The body exactly as received, chunk lines and trailers included.
    pub wire_body: Bytes,
    /// The body without chunk framing, content codings still on.
    pub payload: Bytes,
    /// The body with its codings taken off.
    pub body: Body,
    /// The fields of the header.
    pub headers: Headers,
    /// Why the wire bytes end early, if they do.
    pub truncated: Option<Truncation>,
    /// Whether the body was not read because its type is not wanted.
    pub is_left: bool,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// Whether the connection had served an earlier request.
    pub reused_connection: bool,
    /// What was spoken. Where it is HTTP/2, `request`, `head` and `wire_body`
    /// are an HTTP/1.1 view of what went over the wire.
    pub protocol: Protocol,
    /// A hash of the server's certificate, where the connection is new and
    /// encrypted: equal ones tell of one server.
    pub certificate: Option<u64>,
    /// How the connection was encrypted, where it was and the request asked to
    /// be told.
    pub tls: Option<Box<TlsDescription>>,
}

impl FetchOutcome {
    /// The first value of a header field, as text.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.headers.get(name)
    }

    /// Bytes of the answer that came over the wire.
    pub fn wire_bytes(&self) -> u64 {
        (self.head.len() + self.wire_body.len()) as u64
    }
}

/// A body with its codings taken off, at most the body limit long.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Body {
    /// The bytes; they share the payload's memory where there was no coding.
    pub bytes: Bytes,
    /// Whether the limit left something out.
    pub truncated: bool,
    /// Whether its codings could not be taken off.
    pub is_broken: bool,
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
