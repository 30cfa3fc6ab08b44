//! Where a body ends (RFC 9112 §6.3).
//!
//! | header says | the body is |
//! |---|---|
//! | 204 or 304, whatever else | empty |
//! | `Transfer-Encoding`, `chunked` last | chunked |
//! | `Transfer-Encoding`, anything else last | everything until the close |
//! | `Content-Length`, one value | that long |
//! | `Content-Length`, values that differ or are no numbers | not to be trusted: an error |
//! | neither | everything until the close |
//!
//! Where both `Transfer-Encoding` and `Content-Length` are sent the former
//! counts, and the connection is in doubt: somebody between us and the server
//! may have counted otherwise. So is it where a 204 or 304 announces a body,
//! since one may follow, and where `chunked` is named twice. `identity`, which
//! RFC 2616 still had, means nothing. [`BodyReader`] does no I/O; it is shown the bytes
//! there are and says what it wants next.

use bytes::Bytes;

use crate::chunked::Chunked;
use crate::head::Head;

/// The most room made at once for a body whose length was announced.
const ROOM_KNOWN_MAX: usize = 256 << 10;

/// The most room made at once for any other; the buffer doubles by itself.
const ROOM_UNKNOWN_MAX: usize = 8 << 10;

/// How the end of a body is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Framing {
    Empty,
    Length(u64),
    Chunked,
    UntilClose,
}

impl Framing {
    /// Whether a body is known to be at most this long.
    pub(crate) const fn is_short(self, bytes_max: u64) -> bool {
        match self {
            Self::Empty => true,
            Self::Length(length) => length <= bytes_max,
            Self::Chunked | Self::UntilClose => false,
        }
    }
}

/// What a header says about body and connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) framing: Framing,
    /// Whether the connection may serve again after a complete body.
    pub(crate) keeps_alive: bool,
}

impl Frame {
    /// Reads the fields of a final (not 1xx) answer.
    pub(crate) fn of(head: &Head, block: &[u8]) -> Result<Self, &'static str> {
        let length = content_length(head, block);
        let codings: Vec<&[u8]> = head.members(block, "transfer-encoding").collect();
        let is = |coding: &[u8], name: &[u8]| coding.eq_ignore_ascii_case(name);
        let real = || codings.iter().filter(|coding| !is(coding, b"identity"));
        let framing = match (real().next_back(), length) {
            _ if matches!(head.code, 204 | 304) => Framing::Empty,
            (Some(coding), _) if is(coding, b"chunked") => Framing::Chunked,
            (Some(_), _) | (None, Ok(None)) => Framing::UntilClose,
            (None, Ok(Some(length))) => Framing::Length(length),
            (None, Err(error)) => return Err(error),
        };
        let has_length = !matches!(length, Ok(None | Some(0)));
        let times_chunked = real().filter(|coding| is(coding, b"chunked")).count();
        let is_doubtful = head.is_malformed
            || (!codings.is_empty() && (length != Ok(None) || head.minor_version == 0))
            || real().count() != codings.len()
            || times_chunked > 1
            || (framing == Framing::Empty && (has_length || !codings.is_empty()));
        Ok(Self {
            framing,
            keeps_alive: !is_doubtful
                && framing != Framing::UntilClose
                && wants_keep_alive(head, block),
        })
    }
}

fn content_length(head: &Head, block: &[u8]) -> Result<Option<u64>, &'static str> {
    let mut length = None;
    let is_sent = head.values(block, "content-length").next().is_some();
    if is_sent && head.members(block, "content-length").next().is_none() {
        return Err("the content length is empty");
    }
    for member in head.members(block, "content-length") {
        let value = parse_digits(member).ok_or("the content length is not a number")?;
        if length.is_some_and(|earlier| earlier != value) {
            return Err("there are two content lengths");
        }
        length = Some(value);
    }
    Ok(length)
}

fn parse_digits(digits: &[u8]) -> Option<u64> {
    // The standard parser would accept a plus sign.
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn wants_keep_alive(head: &Head, block: &[u8]) -> bool {
    let says = |option: &[u8]| {
        head.members(block, "connection")
            .any(|member| member.eq_ignore_ascii_case(option))
    };
    !says(b"close") && (head.minor_version >= 1 || says(b"keep-alive"))
}

/// A body on its way in.
#[derive(Debug)]
pub(crate) struct BodyReader {
    framing: Framing,
    chunked: Chunked,
    bytes_max: usize,
}

/// What a body needs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It is complete, and this many bytes of the wire are its own.
    Done(usize),
    /// It passed the limit.
    Cut,
    /// It wants at most `most` bytes more, and room for `room` is worth having.
    Want { most: usize, room: usize },
}

impl BodyReader {
    pub(crate) fn new(framing: Framing, bytes_max: usize, trailer_bytes_max: usize) -> Self {
        Self {
            framing,
            chunked: Chunked::new(trailer_bytes_max),
            bytes_max,
        }
    }

    /// Looks at the body's wire bytes so far.
    pub(crate) fn advance(&mut self, wire: &[u8]) -> Result<Step, &'static str> {
        let max = self.bytes_max;
        Ok(match self.framing {
            Framing::Empty => Step::Done(0),
            Framing::Length(length) if wire.len() as u64 >= length => Step::Done(length as usize),
            Framing::Length(_) if wire.len() >= max => Step::Cut,
            Framing::Length(length) => {
                let most = length.min(max as u64) as usize - wire.len();
                // The length is a stranger's word: memory follows the bytes.
                let room = most.min(ROOM_KNOWN_MAX);
                Step::Want { most, room }
            }
            // One byte more than the limit tells a longer body from one that fits.
            Framing::UntilClose if wire.len() > max => Step::Cut,
            Framing::UntilClose => want_some(max + 1 - wire.len()),
            Framing::Chunked => match self.chunked.advance(wire)? {
                Some(end) => Step::Done(end),
                None if self.chunked.payload_len() > max => Step::Cut,
                None => match chunked_wire_max(max).checked_sub(wire.len()) {
                    None | Some(0) => Step::Cut,
                    Some(left) => want_some(left),
                },
            },
        })
    }

    /// Whether a close at this point is the end of the body.
    pub(crate) fn ends_at_close(&self) -> bool {
        self.framing == Framing::UntilClose
    }

    /// The payload: the wire bytes without their framing.
    pub(crate) fn into_payload(self, wire: &Bytes) -> Bytes {
        match self.framing {
            Framing::Chunked => self.chunked.into_payload(wire),
            _ => wire.clone(),
        }
    }
}

fn want_some(most: usize) -> Step {
    let room = most.min(ROOM_UNKNOWN_MAX);
    Step::Want { most, room }
}

/// Chunk lines count too: without this limit a body of one-byte chunks with
/// long extensions would be thousands of times its payload.
fn chunked_wire_max(payload_max: usize) -> usize {
    payload_max + payload_max / 2 + (16 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(header: &str) -> Result<(Framing, bool), &'static str> {
        let block = format!("HTTP/1.{header}\r\n\r\n");
        let head = Head::parse(block.as_bytes()).unwrap();
        Frame::of(&head, block.as_bytes()).map(|frame| (frame.framing, frame.keeps_alive))
    }

    #[test]
    fn the_header_says_where_the_body_ends() {
        use Framing::{Chunked, Empty, Length, UntilClose};
        for (header, expected) in [
            ("1 200 OK\r\nContent-Length: 5", (Length(5), true)),
            ("1 200 OK\r\nContent-Length: 5, 5", (Length(5), true)),
            (
                "1 200 OK\r\nContent-Length: 5\r\nConnection: close",
                (Length(5), false),
            ),
            (
                "1 200 OK\r\nContent-Length: 5\r\nConnection: x, Close",
                (Length(5), false),
            ),
            ("0 200 OK\r\nContent-Length: 5", (Length(5), false)),
            (
                "0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive",
                (Length(5), true),
            ),
            ("1 200 OK\r\nTransfer-Encoding: Chunked", (Chunked, true)),
            (
                "1 200 OK\r\nTransfer-Encoding: gzip, chunked",
                (Chunked, true),
            ),
            (
                "1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
                (Chunked, true),
            ),
            (
                "1 200 OK\r\nTransfer-Encoding: chunked, gzip",
                (UntilClose, false),
            ),
            ("1 200 OK", (UntilClose, false)),
            ("1 204 No\r\nContent-Length: 0", (Empty, true)),
            ("1 304 No", (Empty, true)),
            ("1 304 No\r\nContent-Length: x", (Empty, false)),
            ("1 404 No\r\nContent-Length: 0", (Length(0), true)),
        ] {
            assert_eq!(frame(header), Ok(expected), "{header:?}");
        }
    }

    #[test]
    fn a_connection_in_doubt_is_not_used_again() {
        let both = "1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5";
        assert_eq!(frame(both), Ok((Framing::Chunked, false)));
        let old = "0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive";
        assert_eq!(frame(old), Ok((Framing::Chunked, false)));
        for (announced, framing) in [
            ("1 204 No\r\nContent-Length: 5", Framing::Empty),
            ("1 304 No\r\nContent-Length: 5", Framing::Empty),
            ("1 304 No\r\nTransfer-Encoding: chunked", Framing::Empty),
            (
                "1 200 OK\r\nTransfer-Encoding: chunked, chunked",
                Framing::Chunked,
            ),
            (
                "1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5",
                Framing::Length(5),
            ),
            (
                "1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: -5",
                Framing::Chunked,
            ),
        ] {
            assert_eq!(frame(announced), Ok((framing, false)), "{announced:?}");
        }
        let malformed = "1 200 OK\r\nContent-Length : 5";
        assert_eq!(frame(malformed), Ok((Framing::Length(5), false)));
    }

    #[test]
    fn lengths_that_cannot_be_trusted_are_errors() {
        for header in [
            "1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6",
            "1 200 OK\r\nContent-Length: 5, 6",
            "1 200 OK\r\nContent-Length: +5",
            "1 200 OK\r\nContent-Length: 0x5",
            "1 200 OK\r\nContent-Length: 5 5",
            "1 200 OK\r\nContent-Length:",
            "1 200 OK\r\nContent-Length: 1\r\n 0",
            "1 200 OK\r\nContent-Length: -5",
            "1 200 OK\r\nContent-Length: 5x",
            "1 200 OK\r\nContent-Length: 99999999999999999999",
        ] {
            assert!(frame(header).is_err(), "{header:?}");
        }
    }

    #[test]
    fn a_body_is_cut_where_it_passes_the_limit() {
        let step = |framing, wire: &[u8]| BodyReader::new(framing, 4, 64).advance(wire);
        let want = |most: usize| {
            let room = most.min(ROOM_UNKNOWN_MAX);
            Ok(Step::Want { most, room })
        };
        assert_eq!(step(Framing::Length(4), b"abc"), want(1));
        assert_eq!(step(Framing::Length(4), b"abcdX"), Ok(Step::Done(4)));
        assert_eq!(step(Framing::Length(9), b"abc"), want(1));
        assert_eq!(step(Framing::Length(9), b"abcd"), Ok(Step::Cut));
        assert_eq!(step(Framing::UntilClose, b"abcd"), want(1));
        assert_eq!(step(Framing::UntilClose, b"abcde"), Ok(Step::Cut));
        assert_eq!(step(Framing::Chunked, b"4\r\nabcd"), want(16_383));
        assert_eq!(step(Framing::Chunked, b"5\r\nabcde"), Ok(Step::Cut));
        assert_eq!(step(Framing::Empty, b"x"), Ok(Step::Done(0)));
    }
}
