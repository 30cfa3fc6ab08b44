//! The chunked transfer coding (RFC 9112 §7.1), taken apart as it arrives.
//!
//! The decoder never owns the wire bytes: it walks over a buffer that grows and
//! remembers where it stopped. A body of one chunk needs no copy, its payload
//! is a slice of the wire; from the second chunk on the payload is joined.
//!
//! It is strict: a size is hexadecimal digits, lines end in CRLF, data is
//! followed by CRLF. The one liberty is white space behind the size, which old
//! servers pad with. Lines and trailers have a limit.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

/// The longest chunk line, its extensions included.
const LINE_BYTES_MAX: usize = 4096;

/// A chunked body on its way in.
#[derive(Debug)]
pub(crate) struct Chunked {
    state: State,
    /// Where in the wire bytes the next unread byte lies.
    pos: usize,
    /// Bytes of the line, or of all trailers, so far.
    line_len: usize,
    trailer_bytes_max: usize,
    /// The payload while it lies in one piece on the wire.
    piece: Range<usize>,
    /// The payload once it does not.
    joined: Option<BytesMut>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Size { value: u64, digits: u8 },
    Extension { value: u64 },
    SizeLf { value: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    TrailerStart,
    TrailerLine,
    EndLf,
    Done,
}

const SIZE: State = State::Size {
    value: 0,
    digits: 0,
};

impl Chunked {
    pub(crate) fn new(trailer_bytes_max: usize) -> Self {
        Self {
            state: SIZE,
            pos: 0,
            line_len: 0,
            trailer_bytes_max,
            piece: 0..0,
            joined: None,
        }
    }

    /// Walks on over `wire`, which is what it was before plus new bytes at its
    /// end. Returns the length of the whole body once its end is there.
    pub(crate) fn advance(&mut self, wire: &[u8]) -> Result<Option<usize>, &'static str> {
        while self.state != State::Done {
            if let State::Data { left } = self.state {
                let len = left.min((wire.len() - self.pos) as u64) as usize;
                if len == 0 {
                    return Ok(None);
                }
                self.take_data(wire, len);
                self.state = match left - len as u64 {
                    0 => State::DataCr,
                    left => State::Data { left },
                };
                continue;
            }
            let Some(&byte) = wire.get(self.pos) else {
                return Ok(None);
            };
            self.pos += 1;
            self.state = self.step(byte)?;
        }
        Ok(Some(self.pos))
    }

    /// Bytes of payload so far.
    pub(crate) fn payload_len(&self) -> usize {
        match &self.joined {
            Some(joined) => joined.len(),
            None => self.piece.len(),
        }
    }

    /// The payload so far; a slice of `wire` where it lies there in one piece.
    pub(crate) fn into_payload(self, wire: &Bytes) -> Bytes {
        match self.joined {
            Some(joined) => joined.freeze(),
            None => wire.slice(self.piece),
        }
    }

    fn step(&mut self, byte: u8) -> Result<State, &'static str> {
        self.count_line(byte)?;
        match self.state {
            State::Size { value, digits } => size_byte(byte, value, digits),
            State::Extension { value } => match byte {
                b'\r' => Ok(State::SizeLf { value }),
                b'\n' => Err("a chunk line ends in a bare line feed"),
                _ => Ok(State::Extension { value }),
            },
            State::SizeLf { value } => match (byte, value) {
                (b'\n', 0) => Ok(State::TrailerStart),
                (b'\n', left) => Ok(State::Data { left }),
                _ => Err("a chunk line holds a bare carriage return"),
            },
            State::DataCr if byte == b'\r' => Ok(State::DataLf),
            State::DataLf if byte == b'\n' => Ok(SIZE),
            State::DataCr | State::DataLf => Err("a chunk is longer than its size"),
            State::TrailerStart => Ok(match byte {
                b'\r' => State::EndLf,
                b'\n' => return Err("the trailers end in a bare line feed"),
                _ => State::TrailerLine,
            }),
            State::TrailerLine if byte == b'\n' => Ok(State::TrailerStart),
            State::TrailerLine => Ok(State::TrailerLine),
            State::EndLf if byte == b'\n' => Ok(State::Done),
            State::EndLf => Err("the trailers hold a bare carriage return"),
            State::Data { .. } | State::Done => unreachable!("data and end are not lines"),
        }
    }

    fn count_line(&mut self, byte: u8) -> Result<(), &'static str> {
        self.line_len += 1;
        match self.state {
            State::Size { .. } | State::Extension { .. } if self.line_len > LINE_BYTES_MAX => {
                Err("a chunk line is too long")
            }
            State::TrailerStart | State::TrailerLine if self.line_len > self.trailer_bytes_max => {
                Err("the trailers are too long")
            }
            State::SizeLf { .. } | State::DataLf if byte == b'\n' => {
                self.line_len = 0;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_data(&mut self, wire: &[u8], len: usize) {
        let data = self.pos..self.pos + len;
        self.pos = data.end;
        if let Some(joined) = &mut self.joined {
            joined.extend_from_slice(&wire[data]);
        } else if self.piece.is_empty() {
            self.piece = data;
        } else if self.piece.end == data.start {
            self.piece.end = data.end;
        } else {
            let mut joined = BytesMut::with_capacity(wire.len());
            joined.extend_from_slice(&wire[self.piece.clone()]);
            joined.extend_from_slice(&wire[data]);
            self.joined = Some(joined);
        }
    }
}

fn size_byte(byte: u8, value: u64, digits: u8) -> Result<State, &'static str> {
    match byte {
        b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => {
            // Fifteen digits are a petabyte; more could overflow.
            if digits == 15 {
                return Err("a chunk size is too large");
            }
            let digit = (byte as char).to_digit(16).expect("matched as a hex digit");
            Ok(State::Size {
                value: value << 4 | u64::from(digit),
                digits: digits + 1,
            })
        }
        _ if digits == 0 => Err("a chunk size is missing"),
        b'\r' => Ok(State::SizeLf { value }),
        b';' | b' ' | b'\t' => Ok(State::Extension { value }),
        _ => Err("a chunk size is not hexadecimal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `wire` in steps of `step` bytes.
    fn run(wire: &[u8], step: usize) -> Result<(Option<usize>, Bytes), &'static str> {
        let mut chunked = Chunked::new(64);
        let mut end = None;
        let mut fed = 0;
        while end.is_none() && fed < wire.len() {
            fed = (fed + step).min(wire.len());
            end = chunked.advance(&wire[..fed])?;
        }
        Ok((end, chunked.into_payload(&Bytes::copy_from_slice(wire))))
    }

    fn check(wire: &str, payload: &str, end: Option<usize>) {
        for step in [1, 2, 3, 7, 1000] {
            let (got_end, got) = run(wire.as_bytes(), step).unwrap();
            assert_eq!(got, payload.as_bytes(), "{wire:?} by {step}");
            assert_eq!(got_end, end, "{wire:?} by {step}");
        }
    }

    #[test]
    fn bodies_come_apart_however_they_arrive() {
        check("0\r\n\r\n", "", Some(5));
        check("5\r\nhello\r\n0\r\n\r\n", "hello", Some(15));
        check("5\r\nhello\r\n1\r\n!\r\n0\r\n\r\nEXTRA", "hello!", Some(21));
        check(
            "3;a=b\r\nabc\r\nA \r\n0123456789\r\n00\r\n\r\n",
            "abc0123456789",
            Some(34),
        );
        check("1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\n", "x", Some(23));
    }

    #[test]
    fn what_arrived_of_a_broken_body_is_kept() {
        check("5\r\nhel", "hel", None);
        check("5\r\nhello\r\n3\r\na", "helloa", None);
        check("5\r\nhello", "hello", None);
    }

    #[test]
    fn one_chunk_shares_the_memory_of_the_wire() {
        let wire = Bytes::from_static(b"5\r\nhello\r\n0\r\n\r\n");
        let mut chunked = Chunked::new(64);
        assert_eq!(chunked.advance(&wire), Ok(Some(15)));
        assert_eq!(chunked.into_payload(&wire).as_ptr(), wire[3..].as_ptr());
    }

    #[test]
    fn broken_framing_is_an_error() {
        for wire in [
            "\r\n",
            "x\r\n",
            "5x\r\n",
            "-1\r\n",
            "0x5\r\nhello\r\n",
            "5\nhello\r\n",
            "5\rhello",
            "5;a\nb",
            "2\r\nabc\r\n",
            "2\r\nab\n",
            "0\r\n\n",
            "0\r\n\rx",
            "1000000000000000\r\n",
        ] {
            assert!(run(wire.as_bytes(), 1).is_err(), "{wire:?}");
        }
        let long = format!("1;{}\r\n", "x".repeat(LINE_BYTES_MAX));
        assert_eq!(run(long.as_bytes(), 100), Err("a chunk line is too long"));
        let trailers = format!("0\r\nA: {}\r\n\r\n", "x".repeat(64));
        assert_eq!(
            run(trailers.as_bytes(), 100),
            Err("the trailers are too long")
        );
    }
}
