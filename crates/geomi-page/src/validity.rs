//! Whether content is what it says it is.
//!
//! Looked at are the type, the first bytes and what a reader found. Nothing is
//! parsed for this: content that begins well is believed.

use geomi_model::{Document, Validity};

use crate::reader::{PageInput, essence};

/// Bytes that are looked at.
const LOOKED_AT: usize = 256;

/// The verdict on a whole body; `document` is what it was read as.
pub fn validity(input: &PageInput<'_>, document: &Document) -> Validity {
    let mime = input.mime.map(essence).unwrap_or_default();
    let start = &input.body[..input.body.len().min(LOOKED_AT)];
    let is_text = is_text(start, document);
    if start.is_empty() {
        return Validity::WellFormed;
    }
    if says_text(&mime) {
        let is_sound = is_text && !document.is_garbled && begins_well(&mime, start);
        return if is_sound {
            Validity::WellFormed
        } else {
            Validity::Broken
        };
    }
    // A page in the place of a picture or a font is most often a word of regret.
    let says_picture = mime.starts_with("image/") && mime != "image/svg+xml";
    match is_text {
        true if says_picture || mime.starts_with("font/") => Validity::Broken,
        true => Validity::WellFormed,
        false => Validity::NotText,
    }
}

fn says_text(mime: &str) -> bool {
    mime.starts_with("text/")
        || is_json(mime)
        || is_xml(mime)
        || mime.ends_with("javascript")
        || mime.ends_with("ecmascript")
}

fn is_json(mime: &str) -> bool {
    matches!(mime, "application/json" | "text/json") || mime.ends_with("+json")
}

fn is_xml(mime: &str) -> bool {
    matches!(mime, "application/xml" | "text/xml") || mime.ends_with("+xml")
}

/// Whether bytes are text of some charset (WHATWG MIME Sniffing §3).
fn is_text(start: &[u8], document: &Document) -> bool {
    let charset = document.charset.map(|charset| charset.name);
    let has_odd_bytes = matches!(charset, Some("UTF-16LE" | "UTF-16BE" | "ISO-2022-KR"));
    let has_mark = start.starts_with(b"\xFE\xFF") || start.starts_with(b"\xFF\xFE");
    let is_binary = |byte: &u8| matches!(byte, 0..=8 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F);
    has_odd_bytes || has_mark || !start.iter().any(is_binary)
}

/// Whether JSON and XML begin as they must.
fn begins_well(mime: &str, start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start);
    let Some(first) = start.trim_ascii_start().first() else {
        return true;
    };
    if is_json(mime) {
        return matches!(
            first,
            b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'
        );
    }
    let is_utf16 = matches!(first, 0xFE | 0xFF | 0);
    !is_xml(mime) || *first == b'<' || is_utf16
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use super::*;
    use crate::{ReadLimits, Readers};

    #[track_caller]
    fn check(mime: &str, body: &[u8], expected: Validity) {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let input = PageInput {
            url: &url,
            mime: Some(mime),
            charset_label: None,
            body,
        };
        let document = Readers::standard().read(&input, &ReadLimits::default());
        assert_eq!(validity(&input, &document), expected, "{mime} {body:?}");
    }

    #[test]
    fn verdicts() {
        use Validity::{Broken, NotText, WellFormed};
        check("text/html", b"<p>x", WellFormed);
        check("text/html", b"", WellFormed);
        check("text/html", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Broken);
        check("text/html; charset=x", "<p>한글".as_bytes(), WellFormed);
        check("text/html", b"\xFF\xFE<\0p\0>\0", WellFormed);
        check("image/png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", NotText);
        check("image/png", b"<html>not found", Broken);
        check("image/svg+xml", b"<svg/>", WellFormed);
        check("application/json", b" {\"a\":1}", WellFormed);
        check("application/json", b"<html>", Broken);
        check("application/rss+xml", b"<rss/>", WellFormed);
        check("application/rss+xml", b"not found", Broken);
        check("application/zip", b"PK\x03\x04", NotText);
        check("", b"plain words", WellFormed);
    }

    #[test]
    fn bytes_that_are_of_no_charset() {
        // The mark leaves no doubt about the charset.
        let mut body = b"\xEF\xBB\xBF<p>".to_vec();
        body.extend(std::iter::repeat_n(b"a\xFF", 200).flatten());
        check("text/html", &body, Validity::Broken);
        let mut once = b"\xEF\xBB\xBF<p>".to_vec();
        once.extend([b'a'; 500]);
        once.push(0xFF);
        check("text/html", &once, Validity::WellFormed);
    }
}
