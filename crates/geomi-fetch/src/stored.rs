//! An answer read back from an archive.
//!
//! An archive keeps an answer as it came: header, chunk lines, content codings.
//! [`StoredAnswer::read`] undoes what [`Fetcher::fetch`](crate::Fetcher::fetch)
//! undid when the answer was new, by the same code and under the same kind of
//! limit, so that both see the same body.

use bytes::Bytes;

use crate::body::{BodyReader, Frame, Framing};
use crate::decode::{decode, parse_chain};
use crate::head::{Head, find_end};
use crate::outcome::Body;
use crate::{FetchConfig, Headers};

/// What an archived HTTP message says.
#[derive(Clone, Debug)]
pub struct StoredAnswer {
    /// Status code.
    pub code: u16,
    /// The header's fields.
    pub headers: Headers,
    /// The body without chunk lines and codings.
    pub body: Body,
}

impl StoredAnswer {
    /// Reads header and body as received. What cannot be decoded is left out of
    /// the body; `None` if there is no HTTP header.
    ///
    /// ```
    /// use geomi_fetch::StoredAnswer;
    /// let wire = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    /// let answer = StoredAnswer::read(wire, 1000).unwrap();
    /// assert_eq!(&answer.body[..], b"hello");
    /// ```
    pub fn read(block: impl Into<Bytes>, body_bytes_max: usize) -> Option<Self> {
        let block = block.into();
        let end = find_end(&block, 0)?;
        let (head_bytes, wire) = (block.slice(..end), block.slice(end..));
        // The reason is of no use: what is no header now was none then.
        let head = Head::parse(&head_bytes).ok()?;
        let code = head.code;
        let payload = payload(&head, &head_bytes, &wire);
        let chain = parse_chain(head.members(&head_bytes, "content-encoding"));
        let body = match chain {
            Ok(chain) if chain.is_empty() => Body {
                truncated: payload.len() > body_bytes_max,
                bytes: payload.slice(..payload.len().min(body_bytes_max)),
            },
            // A coding nobody knows cannot be undone.
            Err(_) => Body::default(),
            Ok(chain) => {
                let decoded = decode(&chain, &payload, body_bytes_max);
                Body {
                    bytes: decoded.bytes,
                    truncated: decoded.truncated,
                }
            }
        };
        Some(Self {
            code,
            headers: head.into_headers(head_bytes),
            body,
        })
    }
}

/// The body without its framing; of a broken one, what came before the break.
fn payload(head: &Head, head_bytes: &[u8], wire: &Bytes) -> Bytes {
    let is_chunked = Frame::of(head, head_bytes).is_ok_and(|f| f.framing == Framing::Chunked);
    if !is_chunked {
        return wire.clone();
    }
    let trailer_bytes_max = FetchConfig::default().header_bytes_max;
    let mut reader = BodyReader::new(Framing::Chunked, wire.len(), trailer_bytes_max);
    // A break is where the reader stops; what it has taken by then is the body.
    let _ = reader.advance(wire);
    reader.into_payload(wire)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(wire: &[u8]) -> Vec<u8> {
        let answer = StoredAnswer::read(Bytes::copy_from_slice(wire), 100).unwrap();
        answer.body.to_vec()
    }

    #[test]
    fn framing_comes_off_and_a_break_keeps_what_came() {
        assert_eq!(
            body(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
            b"hi"
        );
        assert_eq!(body(b"HTTP/1.0 200 OK\n\nto the end"), b"to the end");
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\nabc\r\nX";
        assert_eq!(body(chunked), b"hiabc");
        assert!(StoredAnswer::read(Bytes::from_static(b"220 ftp ready\r\n\r\n"), 9).is_none());
    }

    #[test]
    fn codings_come_off_under_the_limit() {
        let page = vec![b'a'; 1000];
        let mut wire = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
        let mut gzip = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut packed = vec![0; gzip.gzip_compress_bound(page.len())];
        let len = gzip.gzip_compress(&page, &mut packed).unwrap();
        wire.extend_from_slice(&packed[..len]);
        let answer = StoredAnswer::read(wire.clone(), 2000).unwrap();
        assert_eq!(answer.body[..], page[..]);
        let cut = StoredAnswer::read(wire, 10).unwrap();
        assert_eq!((cut.body.len(), cut.body.truncated), (10, true));
    }
}
