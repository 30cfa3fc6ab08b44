//! Text sitemaps: one URL a line, and nothing else.
//!
//! Plain text is taken for such a list only if every line near its start is an
//! address, so that prose which mentions one is left alone.

use geomi_model::{Document, DocumentKind, LinkKind};

use crate::charset;
use crate::content::Content;
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};

/// Bytes in which every line must be an address.
const JUDGED_BYTES: usize = 4 * 1024;

/// Reads lists of URLs.
#[derive(Clone, Copy, Debug, Default)]
pub struct UrlListReader;

impl Extractor for UrlListReader {
    fn mime(&self) -> &'static str {
        "text/plain"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        (content.mime == "text/plain" || content.is_untyped()) && is_list(content.body)
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let decoded = charset::decode(input, limits);
        let mut links = LinkList::new(input.url, limits.sitemap_links_max, limits);
        for (number, line) in decoded.text.lines().map(str::trim).enumerate() {
            if links.is_full() || number >= limits.sitemap_links_max {
                links.cut();
                break;
            }
            if is_address(line.as_bytes()) {
                links.add(line, LinkKind::Anchor, None);
            }
        }
        let (links, truncated) = links.finish();
        Document {
            kind: DocumentKind::UrlList,
            charset: Some(decoded.charset),
            links,
            truncated,
            ..Document::default()
        }
    }
}

fn is_list(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let mut head = &body[..body.len().min(JUDGED_BYTES)];
    if head.len() < body.len() {
        // The last line is cut.
        head = &head[..memchr::memrchr2(b'\n', b'\r', head).unwrap_or(head.len())];
    }
    let mut lines = head
        .split(|&byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
        .peekable();
    lines.peek().is_some() && lines.all(is_address)
}

fn is_address(line: &[u8]) -> bool {
    let starts_with = |scheme: &[u8]| {
        line.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (starts_with(b"http://") || starts_with(b"https://"))
        && !line.iter().any(u8::is_ascii_whitespace)
}
