//! What can be told of content before it is read.

use std::cell::OnceCell;

use memchr::memmem;

/// Bytes in which the first element of XML is looked for: licences and style
/// sheets stand before it.
const ROOT_BYTES_MAX: usize = 16 * 1024;

/// Content as an [`Extractor`](crate::Extractor) is shown it to decide whether it
/// is its own.
#[derive(Debug)]
pub struct Content<'a> {
    /// The media type in lower case without parameters; empty where none came.
    pub mime: &'a str,
    /// The body, with transfer and content codings removed.
    pub body: &'a [u8],
    root: OnceCell<Option<XmlRoot>>,
}

/// The first element of an XML document, where it is one that lists addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XmlRoot {
    /// `urlset`: a sitemap.
    UrlSet,
    /// `sitemapindex`: a list of sitemaps.
    SitemapIndex,
    /// `rss`, `feed` or `RDF`.
    Feed,
}

impl<'a> Content<'a> {
    /// Content of a type; the type must be in lower case.
    pub const fn new(mime: &'a str, body: &'a [u8]) -> Self {
        Self {
            mime,
            body,
            root: OnceCell::new(),
        }
    }

    /// The first element, if the body is XML that begins with one of those we know.
    pub fn xml_root(&self) -> Option<XmlRoot> {
        *self.root.get_or_init(|| xml_root(self.body))
    }

    /// The name of the first element without its prefix, if the body is XML.
    pub(crate) fn root_name(&self) -> Option<Vec<u8>> {
        with_root_name(self.body, <[u8]>::to_vec)
    }

    /// Whether nothing in the type rules XML out. Sitemaps come as
    /// `application/xml`, as `text/html`, as `text/plain` and as downloads.
    pub fn may_be_xml(&self) -> bool {
        !["image/", "audio/", "video/", "font/"]
            .iter()
            .any(|class| self.mime.starts_with(class))
    }

    /// Whether the type says nothing: none, or "some bytes".
    pub fn is_untyped(&self) -> bool {
        matches!(
            self.mime,
            "" | "application/octet-stream" | "binary/octet-stream"
        )
    }
}

fn xml_root(body: &[u8]) -> Option<XmlRoot> {
    with_root_name(body, |name| match name {
        b"urlset" => Some(XmlRoot::UrlSet),
        b"sitemapindex" => Some(XmlRoot::SitemapIndex),
        b"rss" | b"feed" | b"RDF" => Some(XmlRoot::Feed),
        _ => None,
    })?
}

/// Calls `take` with the name of the first element, without its prefix.
fn with_root_name<T>(body: &[u8], take: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let head = &body[..body.len().min(ROOT_BYTES_MAX)];
    // In UTF-16, markup is ASCII with zeros between.
    if matches!(
        head,
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, b'<', ..] | [b'<', 0, ..]
    ) {
        let ascii: Vec<u8> = head
            .iter()
            .copied()
            .filter(|&b| (1..0x80).contains(&b))
            .collect();
        return first_element(&ascii).map(take);
    }
    first_element(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head)).map(take)
}

fn first_element(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head.trim_ascii_start();
    loop {
        let end = match rest {
            [b'<', b'?', ..] => memmem::find(rest, b"?>")? + 2,
            [b'<', b'!', b'-', b'-', ..] => memmem::find(rest, b"-->")? + 3,
            [b'<', b'!', ..] => declaration_end(rest)?,
            _ => break,
        };
        rest = rest[end..].trim_ascii_start();
    }
    let name = rest.strip_prefix(b"<")?;
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let name = &name[..name.iter().position(is_end)?];
    Some(match memchr::memchr(b':', name) {
        Some(colon) => &name[colon + 1..],
        None => name,
    })
}

/// Where a document type ends, with the declarations it may have in brackets.
fn declaration_end(text: &[u8]) -> Option<usize> {
    let close = memchr::memchr(b'>', text)?;
    match memchr::memchr(b'[', &text[..close]) {
        None => Some(close + 1),
        Some(open) => {
            let declared = memmem::find(&text[open..], b"]>").map(|length| open + length + 2);
            // A page that is no XML may have any bracket there.
            declared.or(Some(close + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_element_tells() {
        let root = |text: &str| xml_root(text.as_bytes());
        assert_eq!(
            root("\u{feff} <?xml version='1.0'?>\n<!-- <rss> --><urlset>"),
            Some(XmlRoot::UrlSet)
        );
        assert_eq!(
            root("<s:sitemapindex xmlns:s='x'>"),
            Some(XmlRoot::SitemapIndex)
        );
        assert_eq!(root("<rdf:RDF>"), Some(XmlRoot::Feed));
        assert_eq!(root("<!DOCTYPE html><html><feed>"), None);
        assert_eq!(root("<rss"), None, "cut off");
        assert_eq!(root("text <rss>"), None);
        let wide: Vec<u8> = "<feed>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(xml_root(&wide), Some(XmlRoot::Feed));
    }
}
