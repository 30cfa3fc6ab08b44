//! JSON: addresses among the string values, and JSON Feed.
//!
//! The text is gone through once, string by string, without building anything: a
//! value that is an absolute `http` or `https` address is a link. Keys are not. The
//! manifest of a web app has relative addresses as well, under known keys; it is known
//! by its type, or by having `start_url` or `icons` in its outermost object. In a
//! JSON Feed the date that belongs to an item goes with the item's address. JSON that
//! is broken gives what it gives; nesting costs nothing, since nothing is nested here.

use std::borrow::Cow;

use geomi_model::{ChangeSignal, Document, DocumentKind, LinkKind, Timestamp};

use crate::charset;
use crate::content::Content;
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits, essence};
use crate::values::fold_spaces;

/// The type of the manifest of a web app.
const MANIFEST: &str = "application/manifest+json";

/// Keys that only the manifest of a web app has in its outermost object.
const MANIFEST_KEYS: [&str; 2] = ["start_url", "icons"];

/// Bytes in which they are looked for: a manifest is short.
const MANIFEST_BYTES_MAX: usize = 64 * 1024;

/// Reads JSON and JSON Feed.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonReader;

impl Extractor for JsonReader {
    fn mime(&self) -> &'static str {
        "application/json"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        let mime = content.mime;
        mime == "application/json" || mime == "text/json" || mime.ends_with("+json")
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let decoded = charset::decode(input, limits);
        let mut walk = Walk {
            rest: &decoded.text,
            links: LinkList::new(input.url, limits.links_max, limits),
            key: Cow::Borrowed(""),
            is_feed: false,
            is_manifest: input.mime.map(essence).as_deref() == Some(MANIFEST)
                || MANIFEST_KEYS
                    .iter()
                    .any(|key| has_top_key(&decoded.text, key)),
            title: None,
            item: None,
            modified: None,
        };
        walk.run();
        walk.item_ended();
        let title = (walk.title.as_deref()).map(|title| fold_spaces(title, limits.title_bytes_max));
        let kind = if walk.is_feed {
            DocumentKind::Feed
        } else {
            DocumentKind::Json
        };
        let (links, truncated) = walk.links.finish();
        Document {
            kind,
            charset: Some(decoded.charset),
            title: title.filter(|title| walk.is_feed && !title.is_empty()),
            links,
            truncated,
            ..Document::default()
        }
    }
}

struct Walk<'a> {
    rest: &'a str,
    links: LinkList<'a>,
    /// The key of the value being read.
    key: Cow<'a, str>,
    is_feed: bool,
    is_manifest: bool,
    title: Option<String>,
    /// Address and date of the feed's item being read.
    item: Option<String>,
    modified: Option<Timestamp>,
}

impl<'a> Walk<'a> {
    fn run(&mut self) {
        while let Some(at) = memchr::memchr2(b'"', b'{', self.rest.as_bytes()) {
            if self.links.is_full() {
                self.links.cut();
                return;
            }
            let is_object = self.rest.as_bytes()[at] == b'{';
            self.rest = &self.rest[at + 1..];
            if is_object {
                // An object begins: what was known belonged to the one before.
                self.item_ended();
                continue;
            }
            let Some(string) = self.string() else {
                return;
            };
            if self.rest.trim_ascii_start().starts_with(':') {
                self.key = string;
            } else {
                self.value(&string);
            }
        }
    }

    /// The string whose quote was just passed; `None` if it does not end.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        let mut at = 0;
        let mut has_escapes = false;
        loop {
            at += memchr::memchr2(b'"', b'\\', self.rest.as_bytes().get(at..)?)?;
            if self.rest.as_bytes()[at] == b'"' {
                break;
            }
            has_escapes = true;
            at += 2;
        }
        let raw = &self.rest[..at];
        self.rest = &self.rest[at + 1..];
        Some(if has_escapes {
            Cow::Owned(unescape(raw))
        } else {
            Cow::Borrowed(raw)
        })
    }

    fn value(&mut self, text: &str) {
        match &*self.key {
            "version" if text.starts_with("https://jsonfeed.org/version/") => {
                self.is_feed = true;
                return;
            }
            "title" if self.title.is_none() => self.title = Some(text.to_owned()),
            "date_published" | "date_modified" => {
                self.modified = self.modified.max(Timestamp::parse_published(text));
            }
            _ => {}
        }
        if self.is_manifest {
            let kind = match &*self.key {
                "src" => Some(LinkKind::Embedded),
                "start_url" | "url" => Some(LinkKind::Other),
                _ => None,
            };
            if let Some(kind) = kind {
                self.links.add(text, kind, None);
                return;
            }
        }
        if !is_address(text) {
            return;
        }
        if self.is_feed && self.key == "url" && self.item.is_none() {
            self.item = Some(text.to_owned());
        } else {
            self.links.add(text, LinkKind::Other, None);
        }
    }

    fn item_ended(&mut self) {
        let signal = ChangeSignal {
            modified: self.modified.take(),
            ..ChangeSignal::default()
        };
        if let Some(url) = self.item.take() {
            self.links.add(&url, LinkKind::Anchor, Some(signal));
        }
    }
}

/// Whether the outermost object has this key.
fn has_top_key(text: &str, key: &str) -> bool {
    let bytes = text.trim_ascii_start().as_bytes();
    let bytes = &bytes[..bytes.len().min(MANIFEST_BYTES_MAX)];
    if bytes.first() != Some(&b'{') || memchr::memmem::find(bytes, key.as_bytes()).is_none() {
        return false;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                while let Some(&byte) = bytes.get(at)
                    && byte != b'"'
                {
                    at += 1 + usize::from(byte == b'\\');
                }
                let string = bytes.get(start..at).unwrap_or_default();
                at += 1;
                let rest = bytes.get(at..).unwrap_or_default().trim_ascii_start();
                if depth == 1 && string == key.as_bytes() && rest.starts_with(b":") {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

fn is_address(text: &str) -> bool {
    (text.starts_with("http://") || text.starts_with("https://"))
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Escapes resolved; one that is none stays without its backslash, and half of a
/// surrogate pair becomes U+FFFD.
fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else {
            break;
        };
        rest = &rest[c.len_utf8()..];
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' | 'f' => out.push(' '),
            'u' => {
                let (decoded, after) = unicode(rest);
                out.push(decoded);
                rest = after;
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

/// The character after `\u`, with its second half where it needs one.
fn unicode(rest: &str) -> (char, &str) {
    let unit = |text: &str| u16::from_str_radix(text.get(..4)?, 16).ok();
    let Some(first) = unit(rest) else {
        return (char::REPLACEMENT_CHARACTER, rest);
    };
    let after = &rest[4..];
    let second = after.strip_prefix("\\u").and_then(unit);
    let mut both = char::decode_utf16([first].into_iter().chain(second));
    match both.next() {
        Some(Ok(c)) if c.len_utf16() == 2 => (c, &after[6..]),
        Some(Ok(c)) => (c, after),
        _ => (char::REPLACEMENT_CHARACTER, after),
    }
}
