//! The charset a page declares in its first bytes.
//!
//! Follows the WHATWG prescan: comments are skipped, `meta charset` and `meta
//! http-equiv=content-type` are read, other tags are passed over with their
//! attributes. It runs on bytes, before anything is decoded, and does not know
//! raw text elements. An XML declaration counts when no `meta` does.

use memchr::memmem;

use crate::charset::{Label, label};
use crate::tokenizer::is_space;

/// Bytes looked at. The standard asks for 1024 and lets a later `meta` start the
/// parser anew; we never start anew, so we look further at once.
pub(crate) const PRESCAN_BYTES: usize = 16 * 1024;

/// The charset a page's first bytes declare.
pub(crate) fn declared(body: &[u8]) -> Option<Label> {
    let head = &body[..body.len().min(PRESCAN_BYTES)];
    let mut scan = Scan {
        head,
        at: 0,
        tag_ended: false,
    };
    scan.run().or_else(|| xml_declaration(head))
}

struct Scan<'a> {
    head: &'a [u8],
    at: usize,
    /// The attribute last asked for was the end of its tag.
    tag_ended: bool,
}

impl<'a> Scan<'a> {
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

    /// Reads the attributes of a `meta`; of two with one name the first counts.
    fn meta(&mut self) -> Option<Label> {
        let (mut http_equiv, mut content, mut charset) = (None, None, None);
        while let Some((name, value)) = self.attribute() {
            let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
            let slot = if is(b"http-equiv") {
                &mut http_equiv
            } else if is(b"content") {
                &mut content
            } else if is(b"charset") {
                &mut charset
            } else {
                continue;
            };
            slot.get_or_insert(value);
        }
        if !self.tag_ended {
            return None;
        }
        let found = match (charset, http_equiv, content) {
            (Some(charset), _, _) => label(charset),
            (None, Some(kind), Some(content)) if kind.eq_ignore_ascii_case(b"content-type") => {
                label(content_charset(&content.to_ascii_lowercase())?)
            }
            _ => None,
        };
        found.map(Label::as_declared_inside)
    }

    /// The next attribute of a tag, or `None` after its `>`. A tag
    /// that does not end within the first bytes ends the scan: it may go on
    /// with anything.
    fn attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let attribute = self.whole_attribute();
        if attribute.is_none() && !self.tag_ended {
            self.at = self.head.len();
        }
        attribute
    }

    fn whole_attribute(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        self.tag_ended = false;
        self.skip(|byte| is_space(byte) || byte == b'/');
        if self.peek()? == b'>' {
            self.at += 1;
            self.tag_ended = true;
            return None;
        }
        let start = self.at;
        while let Some(byte) = self.peek()
            && !(is_space(byte) || matches!(byte, b'/' | b'>') || (byte == b'=' && self.at > start))
        {
            self.at += 1;
        }
        let name = &self.head[start..self.at];
        self.skip(is_space);
        if self.peek()? != b'=' {
            return Some((name, &[]));
        }
        self.at += 1;
        self.skip(is_space);
        let value = if let quote @ (b'"' | b'\'') = self.peek()? {
            let rest = &self.head[self.at + 1..];
            let length = memchr::memchr(quote, rest)?;
            self.at += length + 2;
            &rest[..length]
        } else {
            let start = self.at;
            self.skip(|byte| !is_space(byte) && byte != b'>');
            self.peek()?;
            &self.head[start..self.at]
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

/// The charset in the `content` of a `meta`, in lower case: `text/html;
/// charset=euc-kr`.
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
