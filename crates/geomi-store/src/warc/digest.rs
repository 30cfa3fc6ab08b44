//! The payload digest, over exactly the bytes other tools take for the payload.

use geomi_model::Digest;
use sha1::{Digest as _, Sha1};

/// SHA-1 of an answer's payload as `warcio check` computes it: the bytes of
/// the record after the HTTP header, undecoded.
///
/// For an ordinary header that is `wire_body`. A header with a line of nothing
/// but blanks inside ends there for the archive's tools, and their payload
/// starts early; the digest follows them, since they will check it.
pub fn payload_digest(head: &[u8], wire_body: &[u8]) -> Digest {
    let mut sha1 = Sha1::new();
    if let Some(start) = payload_start(head) {
        sha1.update(&head[start..]);
        sha1.update(wire_body);
    } else {
        let block = [head, wire_body].concat();
        let start = payload_start(&block).unwrap_or(block.len());
        sha1.update(&block[start..]);
    }
    Digest(sha1.finalize().into())
}

/// Where the payload starts in an HTTP message: after the first blank line.
/// `None` while no blank line has come.
pub(crate) fn payload_start(block: &[u8]) -> Option<usize> {
    let mut start = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        start += line.len();
        if line.ends_with(b"\n") && is_blank(line) {
            return Some(start);
        }
    }
    None
}

fn is_blank(line: &[u8]) -> bool {
    // Most lines are told apart by their first byte.
    if line.first().is_some_and(u8::is_ascii_graphic) {
        return false;
    }
    let is_space = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    match std::str::from_utf8(line) {
        Ok(text) => text.chars().all(is_space),
        Err(_) => line.iter().all(|&byte| is_space(char::from(byte))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha1(bytes: &[u8]) -> Digest {
        Digest(Sha1::digest(bytes).into())
    }

    #[test]
    fn the_payload_is_what_follows_the_header_undecoded() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let body = b"5\r\nhello\r\n0\r\n\r\n";
        assert_eq!(payload_digest(head, body), sha1(body));
        assert_eq!(payload_digest(b"HTTP/1.0 200 OK\n\n", b"x"), sha1(b"x"));
        assert_eq!(payload_digest(head, b""), sha1(b""));
    }

    #[test]
    fn a_line_of_blanks_ends_the_header_for_the_archives_tools() {
        let head = b"HTTP/1.1 200 OK\r\nA: b\r\n \t\r\nC: d\r\n\r\n";
        assert_eq!(payload_digest(head, b"body"), sha1(b"C: d\r\n\r\nbody"));
    }

    #[test]
    fn a_header_without_end_runs_into_the_body() {
        assert_eq!(
            payload_digest(b"HTTP/1.1 200 OK\r\nA: b", b"c\r\n\r\nrest"),
            sha1(b"rest")
        );
        assert_eq!(payload_digest(b"HTTP/1.1 200 OK", b"rest"), sha1(b""));
    }
}
