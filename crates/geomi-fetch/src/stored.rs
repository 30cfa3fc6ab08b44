//! An answer read back from an archive, by the rules it was received by.
//!
//! The block of a WARC response record is the header and the body as they came
//! over the wire. Where its body ends, and which codings lie on it, is decided
//! here by the same code that decided it when the answer came, so that a page
//! read again has the same links.

use bytes::Bytes;

use crate::body::{BodyReader, Frame};
use crate::decode;
use crate::fetcher::coding_chain;
use crate::head::{Head, find_end};
use crate::{Body, Headers};

/// A header and a body from an archive.
#[derive(Clone, Debug)]
pub struct StoredAnswer {
    /// The status code.
    pub code: u16,
    /// The fields of the header.
    pub headers: Headers,
    /// The body with framing and codings taken off.
    pub body: Body,
}

impl StoredAnswer {
    /// Reads a stored block; what is wrong with it, in words, if it is not an
    /// answer. A body that breaks off gives what there is of it.
    ///
    /// ```
    /// let block = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    /// let answer = geomi_fetch::StoredAnswer::parse(block.to_vec(), 1 << 20).unwrap();
    /// assert_eq!(&answer.body[..], b"hello");
    /// ```
    pub fn parse(block: impl Into<Bytes>, body_bytes_max: usize) -> Result<Self, String> {
        let block: Bytes = block.into();
        let end = find_end(&block, 0).ok_or("the header is not complete")?;
        let (head_bytes, wire) = (block.slice(..end), block.slice(end..));
        let head = Head::parse(&head_bytes).map_err(|error| error.to_string())?;
        let frame = Frame::of(&head, &head_bytes)?;
        let mut reader = BodyReader::new(frame.framing, body_bytes_max, head_bytes.len());
        // Broken framing, and an end that is missing, leave what came before.
        let _ = reader.advance(&wire);
        let payload = reader.into_payload(&wire);
        // As when it came: a coding nobody knows is most often simply wrong.
        let chain = coding_chain(&head, &head_bytes).unwrap_or_default();
        let decoded = decode::decode(&chain, &payload, body_bytes_max);
        Ok(Self {
            code: head.code,
            headers: head.into_headers(head_bytes),
            body: Body {
                bytes: decoded.bytes,
                truncated: decoded.truncated,
                is_broken: decoded.error.is_some(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(block: &[u8]) -> StoredAnswer {
        StoredAnswer::parse(block.to_vec(), 1000).unwrap()
    }

    #[test]
    fn framing_and_codings_come_off() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"<a href=x>x</a>").unwrap();
        let gzip = gzip.finish().unwrap();
        let mut block =
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                .to_vec();
        let (first, second) = gzip.split_at(gzip.len() / 2);
        for chunk in [first, second, b""] {
            block.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            block.extend(chunk);
            block.extend(b"\r\n");
        }
        let answer = read(&block);
        assert_eq!(&answer.body[..], b"<a href=x>x</a>");
        assert_eq!(answer.headers.get("content-encoding").unwrap(), "gzip");
    }

    #[test]
    fn a_cut_or_mislabelled_body_gives_what_there_is() {
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc";
        assert_eq!(&read(cut).body[..], b"abc");
        let chunk = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc";
        assert_eq!(&read(chunk).body[..], b"abc");
        let label = b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\n\r\nabc";
        assert_eq!(&read(label).body[..], b"abc");
    }

    #[test]
    fn what_is_no_answer_is_said_in_words() {
        for block in [&b"HTTP/1.1 200 OK\r\n"[..], b"", b"GET / HTTP/1.1\r\n\r\n"] {
            assert!(StoredAnswer::parse(block.to_vec(), 10).is_err());
        }
    }
}
