//! The text of a page for people: what a reader would see, a line for each block.

use crate::charset;
use crate::content::Content;
use crate::html::{HtmlReader, visible_text};
use crate::reader::{Extractor as _, PageInput, ReadLimits};

/// What a reader would see of content, in UTF-8: the visible text of a page with
/// white space folded and a line for each block, or the whole of other kinds of
/// text. `None` for content that has no text.
///
/// ```
/// use geomi_page::{PageInput, ReadLimits, plain_text};
/// let url = geomi_url::CrawlUrl::parse("http://example.com/").unwrap();
/// let input = PageInput {
///     url: &url,
///     mime: Some("text/html"),
///     charset_label: None,
///     body: b"<script>no()</script><h1>Fish &amp;\n chips</h1><p>Two  <b>of</b> them</p>",
/// };
/// let text = plain_text(&input, &ReadLimits::default());
/// assert_eq!(text.as_deref(), Some("Fish & chips\nTwo of them\n"));
/// ```
pub fn plain_text(input: &PageInput<'_>, limits: &ReadLimits) -> Option<String> {
    let mime = input.mime.map(crate::reader::essence).unwrap_or_default();
    if HtmlReader.claims(&Content::new(&mime, input.body)) {
        return Some(folded(&visible_text(input, limits)));
    }
    let is_text = mime.starts_with("text/")
        || mime.ends_with("json")
        || mime.ends_with("xml")
        || mime.ends_with("javascript");
    is_text.then(|| charset::decode(input, limits).text.into_owned())
}

/// The `charset` parameter of a Content-Type; a type that is sent twice ends at the
/// comma.
///
/// ```
/// use geomi_page::charset_parameter;
/// assert_eq!(charset_parameter("text/html; Charset=\"EUC-KR\"; x=y"), Some("EUC-KR"));
/// assert_eq!(charset_parameter("text/html; charset=utf-8, text/html"), Some("utf-8"));
/// assert_eq!(charset_parameter("text/html"), None);
/// ```
pub fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|part| {
        let (name, label) = part.split_once('=')?;
        let label = label.split(',').next().unwrap_or(label);
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| label.trim().trim_matches(['"', '\'']))
    })
}

/// Lines without white space at their ends, none of them empty; the mark
/// between blocks is U+001E, which no page shows.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for block in text.split(BLOCK_END) {
        let before = folded.len();
        for word in block.split_whitespace() {
            if folded.len() > before {
                folded.push(' ');
            }
            folded.push_str(word);
        }
        if folded.len() > before {
            folded.push('\n');
        }
    }
    folded
}

/// Stands between blocks while text is collected.
pub(crate) const BLOCK_END: char = '\u{1e}';

#[cfg(test)]
mod tests {
    use super::*;
    use geomi_url::CrawlUrl;

    fn text(mime: &str, body: &[u8]) -> Option<String> {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let input = PageInput {
            url: &url,
            mime: Some(mime),
            charset_label: charset_parameter(mime),
            body,
        };
        plain_text(&input, &ReadLimits::default())
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        let page = b"<title>T</title><style>p{}</style><div hidden>no</div><p>a<br>b<template>t</template>";
        let page = [
            page,
            &b"<div style='display: none'>h</div><noscript>n</noscript> c\x1e d"[..],
        ]
        .concat();
        assert_eq!(text("text/html", &page).unwrap(), "a\nb\nc\nd\n");
    }

    #[test]
    fn other_text_is_decoded_and_the_rest_has_none() {
        let korean = text("text/plain; charset=euc-kr", &[0xb0, 0xa1, b'\n']);
        assert_eq!(korean.as_deref(), Some("가\n"));
        assert_eq!(text("application/ld+json", b"{}").as_deref(), Some("{}"));
        assert_eq!(text("image/png", b"\x89PNG"), None);
    }
}
