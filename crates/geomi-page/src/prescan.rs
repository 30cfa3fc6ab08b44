//! The charset a page declares in its first bytes.
//!
//! Follows the WHATWG prescan: comments are skipped, `meta charset` and `meta
//! http-equiv=content-type` are read, other tags are passed over with their
//! attributes. It runs on bytes, before anything is decoded, and does not know
//! raw text elements. An XML declaration counts when no `meta` does.

use memchr::memmem;

use crate::charset::{Label, label};
use crate::tokenizer::is_space;

/// Bytes looked at. The standard asks for 1024; Korean portals of old put scripts
/// before their `meta`.
pub(crate) const PRESCAN_BYTES: usize = 4096;

/// The charset a page's first bytes declare.
pub(crate) fn declared(body: &[u8]) -> Option<Label> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let mut scan = Scan { head, at: 0 };
    scan.run().or_else(|| xml_declaration(head))
}

struct Scan<'a> {
    head: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<Label> {
        while let Some(open) = memchr::memchr(b'<', self.head.get(self.at..)?) {
            self.at += open;
            let rest = &self.head[self.at..];
            match rest {
                [b'<', b'!', b'-', b'-', ..] => {
                    // The dashes that open may be those that close: `<!-->`.
                    self.at += 2 + memmem::find(&rest[2..], b"-->")? + 3;
                }
                _ if is_meta(rest) => {
                    self.at += "<meta".len();
                    if let Some(label) = self.meta() {
                        return Some(label);
                    }
                }
                [b'<', b'/', letter, ..] | [b'<', letter, ..] if letter.is_ascii_alphabetic() => {
                    let name = rest
                        .iter()
                        .position(|&byte| is_space(byte) || byte == b'>')?;
                    self.at += name;
                    while self.attribute().is_some() {}
                }
                [b'<', b'!' | b'/' | b'?', ..] => {
                    self.at += memchr::memchr(b'>', rest)? + 1;
                }
                _ => self.at += 1,
            }
        }
        None
    }

    /// Reads the attributes of a `meta`.
    fn meta(&mut self) -> Option<Label> {
        let mut is_content_type = false;
        let mut by_content = None;
        let mut by_charset = None;
        let mut names: Vec<Vec<u8>> = Vec::new();
        while let Some((name, value)) = self.attribute() {
            if names.contains(&name) {
                continue;
            }
            match name.as_slice() {
                b"http-equiv" => is_content_type = value == b"content-type",
                b"content" if by_content.is_none() => {
                    by_content = content_charset(&value).map(label);
                }
                b"charset" => by_charset = Some(label(&value)),
                _ => {}
            }
            names.push(name);
        }
        let found = by_charset.or(if is_content_type { by_content } else { None });
        found.flatten().map(Label::as_declared_inside)
    }

    /// The next attribute of a tag in lower case, or `None` at the tag's end.
    fn attribute(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.skip(|byte| is_space(byte) || byte == b'/');
        if self.peek()? == b'>' {
            self.at += 1;
            return None;
        }
        let start = self.at;
        while let Some(byte) = self.peek()
            && !(is_space(byte) || matches!(byte, b'/' | b'>') || (byte == b'=' && self.at > start))
        {
            self.at += 1;
        }
        let name = self.head[start..self.at].to_ascii_lowercase();
        self.skip(is_space);
        if self.peek()? != b'=' {
            return Some((name, Vec::new()));
        }
        self.at += 1;
        self.skip(is_space);
        let value = if let quote @ (b'"' | b'\'') = self.peek()? {
            let rest = &self.head[self.at + 1..];
            let length = memchr::memchr(quote, rest)?;
            self.at += length + 2;
            rest[..length].to_ascii_lowercase()
        } else {
            let start = self.at;
            self.skip(|byte| !is_space(byte) && byte != b'>');
            self.head[start..self.at].to_ascii_lowercase()
        };
        Some((name, value))
    }

    fn peek(&self) -> Option<u8> {
        self.head.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.get(1..5)
        .is_some_and(|name| name.eq_ignore_ascii_case(b"meta"))
        && rest
            .get(5)
            .is_some_and(|&byte| is_space(byte) || byte == b'/')
}

/// The charset in the `content` of a `meta`: `text/html; charset=euc-kr`.
fn content_charset(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content;
    loop {
        let found = memmem::find(rest, b"charset")?;
        rest = rest[found + "charset".len()..].trim_ascii_start();
        let Some(value) = rest.strip_prefix(b"=") else {
            continue;
        };
        let value = value.trim_ascii_start();
        if let quote @ (b'"' | b'\'') = value.first()? {
            let inner = &value[1..];
            return memchr::memchr(*quote, inner).map(|length| &inner[..length]);
        }
        let is_end = |&byte: &u8| is_space(byte) || byte == b';';
        let end = value.iter().position(is_end);
        return Some(&value[..end.unwrap_or(value.len())]);
    }
}

/// `<?xml version="1.0" encoding="euc-kr"?>` at the very start.
fn xml_declaration(head: &[u8]) -> Option<Label> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memchr(b'>', declaration)?];
    let found = memmem::find(declaration, b"encoding")?;
    let rest = declaration[found + "encoding".len()..].trim_ascii_start();
    let rest = rest.strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, value) = rest.split_first()?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let length = memchr::memchr(quote, value)?;
    label(&value[..length]).map(Label::as_declared_inside)
}
