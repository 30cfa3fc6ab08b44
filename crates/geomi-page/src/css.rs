//! The addresses in a style sheet: `url(…)`, the string of an `@import`, and the
//! strings of an `image-set(…)`.
//!
//! One pass over the bytes that knows comments, strings and names, and nothing
//! else of CSS. Escapes are left in the spans: [`unescape`] undoes them.

use std::borrow::Cow;
use std::ops::Range;

use geomi_model::{Document, DocumentKind, LinkKind};
use memchr::{memchr2, memmem};

use crate::charset;
use crate::content::Content;
use crate::data_url::{self, is_data};
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::tokenizer::is_space;
use crate::values::is_absolute;

/// Reads style sheets: everything they name belongs to the pages that use them.
#[derive(Clone, Copy, Debug, Default)]
pub struct StyleReader;

impl Extractor for StyleReader {
    fn mime(&self) -> &'static str {
        "text/css"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        content.mime == "text/css"
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let decoded = charset::decode(&labelled(input), limits);
        let mut links = LinkList::new(input.url, limits.links_max, limits);
        each_link(&decoded.text, |link| {
            links.add(link, LinkKind::Embedded, None);
        });
        let links_dropped = links.dropped();
        let (links, truncated) = links.finish();
        // It has no text that a reader would compare, so no charset either.
        Document {
            kind: DocumentKind::Style,
            links,
            truncated,
            links_dropped,
            ..Document::default()
        }
    }
}

/// A style sheet with the charset it names itself, where nothing else does.
pub(crate) fn labelled<'a>(input: &PageInput<'a>) -> PageInput<'a> {
    PageInput {
        charset_label: input.charset_label.or(declared_charset(input.body)),
        ..*input
    }
}

/// The charset a style sheet names in its first bytes.
pub(crate) fn declared_charset(body: &[u8]) -> Option<&str> {
    let rest = body.strip_prefix(b"@charset \"")?;
    let length = rest.iter().take(40).position(|&byte| byte == b'"')?;
    std::str::from_utf8(&rest[..length]).ok()
}

/// How deep style sheets may be in one another's `data:` URLs.
const DATA_DEPTH_MAX: u32 = 4;

/// Calls `take` with each address, escapes undone, and with those of style sheets
/// in `data:` URLs, as far as they are absolute.
pub(crate) fn each_link(css: &str, mut take: impl FnMut(&str)) {
    each_link_within(css, 0, &mut take);
}

/// The same for a style sheet that is a `data:` URL itself.
pub(crate) fn each_data_link(address: &str, mut take: impl FnMut(&str)) {
    each_data_link_within(address, 0, &mut take);
}

fn each_link_within(css: &str, depth: u32, take: &mut dyn FnMut(&str)) {
    each_address(css, |span| {
        let address = unescape(&css[span]);
        if is_data(&address) {
            each_data_link_within(&address, depth, take);
        } else if depth == 0 || is_absolute(&address) {
            take(&address);
        }
    });
}

fn each_data_link_within(address: &str, depth: u32, take: &mut dyn FnMut(&str)) {
    if depth < DATA_DEPTH_MAX
        && let Some(data) = data_url::parse(address, &["text/css"])
    {
        each_link_within(&data.text, depth + 1, take);
    }
}

/// What the strings and functions that come now belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Any,
    /// `@import`: a string is an address.
    Import,
    /// `@namespace` and `@charset`: nothing is an address.
    Name,
}

/// Calls `take` with the span of each address, quotes left out, in order.
pub(crate) fn each_address(css: &str, mut take: impl FnMut(Range<usize>)) {
    let bytes = css.as_bytes();
    let mut at = 0;
    let mut rule = Rule::Any;
    // Brackets that are open in an `image-set(`.
    let mut in_set = 0_u32;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'/' if rest.starts_with(b"/*") => {
                let length = memmem::find(&rest[2..], b"*/");
                at = length.map_or(bytes.len(), |length| at + 2 + length + 2);
            }
            b'"' | b'\'' => {
                let end = string_end(bytes, at);
                // In a set, a type is a string in brackets of its own.
                if rule == Rule::Import || in_set == 1 {
                    give(at + 1..end, &mut take);
                }
                rule = Rule::Any;
                at = end + 1;
            }
            b'@' => {
                rule = if starts_with_word(rest, b"@import") {
                    Rule::Import
                } else if starts_with_word(rest, b"@namespace") {
                    Rule::Name
                } else {
                    Rule::Any
                };
                at += 1;
            }
            b'u' | b'U' if starts_with_word(rest, b"url(") && !is_in_name(bytes, at) => {
                let span;
                (span, at) = url_function(bytes, at + 4);
                if rule != Rule::Name {
                    give(span, &mut take);
                }
                rule = Rule::Any;
            }
            b'i' | b'I' if in_set == 0 && starts_with_word(rest, b"image-set(") => {
                in_set = 1;
                at += b"image-set(".len();
            }
            b'(' if in_set > 0 => {
                in_set += 1;
                at += 1;
            }
            b')' if in_set > 0 => {
                in_set -= 1;
                at += 1;
            }
            b';' | b'{' | b'}' => {
                rule = Rule::Any;
                in_set = 0;
                at += 1;
            }
            b'\\' => {
                let name = EscapedName::around(css, at);
                at = name.end;
                if name.is_rule("import") {
                    rule = Rule::Import;
                } else if name.is("url") && bytes.get(at) == Some(&b'(') {
                    let span;
                    (span, at) = url_function(bytes, at + 1);
                    if rule != Rule::Name {
                        give(span, &mut take);
                    }
                    rule = Rule::Any;
                }
            }
            _ => at += 1,
        }
    }
}

/// A name that is written with escapes: `u\72l`, `@\69mport`.
struct EscapedName<'c> {
    css: &'c str,
    start: usize,
    end: usize,
}

impl<'c> EscapedName<'c> {
    /// Longest name as written; no keyword needs more.
    const BYTES_MAX: usize = 64;

    /// The name with the backslash at `at`.
    fn around(css: &'c str, at: usize) -> Self {
        let bytes = css.as_bytes();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let before = bytes[..at].iter().rev().take(Self::BYTES_MAX);
        let start = at - before.take_while(|&&byte| is_name(byte)).count();
        let mut end = at;
        while let Some(&byte) = bytes.get(end)
            && end < at + Self::BYTES_MAX
        {
            if byte == b'\\' {
                end = escape_end(bytes, end + 1);
            } else if is_name(byte) {
                end += 1;
            } else {
                break;
            }
        }
        // It may stand before a character of several bytes.
        while !css.is_char_boundary(end) {
            end += 1;
        }
        Self { css, start, end }
    }

    fn is(&self, word: &str) -> bool {
        unescape(&self.css[self.start..self.end]).eq_ignore_ascii_case(word)
    }

    fn is_rule(&self, word: &str) -> bool {
        self.css[..self.start].ends_with('@') && self.is(word)
    }
}

/// Where the escape ends whose backslash is before `start`.
fn escape_end(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let digits = rest
        .iter()
        .take(6)
        .take_while(|it| it.is_ascii_hexdigit())
        .count();
    if digits == 0 {
        return (start + 1).min(bytes.len());
    }
    let has_space = rest.get(digits).is_some_and(|&byte| is_space(byte));
    start + digits + usize::from(has_space)
}

/// Reads what follows `url(`: the address, and where it ends.
fn url_function(bytes: &[u8], start: usize) -> (Range<usize>, usize) {
    let mut from = start;
    while bytes.get(from).is_some_and(|&byte| is_space(byte)) {
        from += 1;
    }
    if let Some(b'"' | b'\'') = bytes.get(from) {
        let end = string_end(bytes, from);
        return (from + 1..end, end + 1);
    }
    let mut close = from;
    loop {
        let rest = bytes.get(close..).unwrap_or_default();
        let Some(found) = memchr2(b')', b'\\', rest) else {
            // The end of the style sheet closes what is open.
            close = bytes.len();
            break;
        };
        close += found;
        if bytes[close] == b')' {
            break;
        }
        close += 2;
    }
    let mut to = close;
    while to > from && is_space(bytes[to - 1]) {
        to -= 1;
    }
    let next = (close + 1).min(bytes.len());
    if is_bad_url(&bytes[from..to]) {
        return (0..0, next);
    }
    (from..to, next)
}

/// Whether an address without quotes has something in it that it cannot have: a
/// browser ignores the whole of it then.
fn is_bad_url(address: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = address.get(at) {
        if is_space(byte) || matches!(byte, b'(' | b'"' | b'\'') {
            return true;
        }
        // A blank after the digits of an escape belongs to it.
        at = match byte {
            b'\\' => escape_end(address, at + 1),
            _ => at + 1,
        };
    }
    false
}

fn give(span: Range<usize>, take: &mut impl FnMut(Range<usize>)) {
    if span.start < span.end {
        take(span);
    }
}

/// An address with its escapes undone: `\)`, `\2f `.
pub(crate) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        text.push_str(plain);
        let is_hex = |byte: &u8| byte.is_ascii_hexdigit();
        let digits = escaped.bytes().take(6).take_while(is_hex).count();
        if digits == 0 {
            // A line end is left out, anything else stands for itself.
            let mut chars = escaped.chars();
            text.extend(chars.next().filter(|&c| c != '\n'));
            rest = chars.as_str();
            continue;
        }
        let code = u32::from_str_radix(&escaped[..digits], 16).unwrap_or_default();
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        let after = &escaped[digits..];
        rest = after.strip_prefix([' ', '\t', '\n']).unwrap_or(after);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Where the string whose quote is at `open` ends: at its closing quote, or at a
/// line end, which the standard takes for a mistake.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let quote = bytes[open];
    let mut at = open + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            _ if byte == quote => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn starts_with_word(bytes: &[u8], word: &[u8]) -> bool {
    bytes
        .get(..word.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(word))
}

/// Whether the byte at `at` goes on with a name: `curl(` is not `url(`.
fn is_in_name(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| {
        let byte = bytes[before];
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'\\') || !byte.is_ascii()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(css: &str, expected: &[&str]) {
        let mut found = Vec::new();
        each_address(css, |span| found.push(&css[span]));
        assert_eq!(found, expected, "in {css:?}");
    }

    #[test]
    fn functions_and_imports() {
        check("a{background:url(x.png)}", &["x.png"]);
        check("a{background:URL( \"x y.png\" ) b}", &["x y.png"]);
        check("url('a')url(b )url()", &["a", "b"]);
        check(
            "@import \"a.css\"; @IMPORT url(b.css) print;",
            &["a.css", "b.css"],
        );
        check("@import'a.css';b{content:'x'}", &["a.css"]);
    }

    #[test]
    fn what_only_looks_like_an_address() {
        check("/* url(a) @import 'b' */", &[]);
        check("a{content:\"url(x)\"}", &[]);
        check("curl(x) my-url(y)", &[]);
        check("url(a\\)b) url(open", &["a\\)b", "open"]);
        check("url(a b) url(a(b) url(a'b) url( c\\ d )", &["c\\ d"]);
        check("url(\\2f a\\2f b) url(\\2f  a)", &["\\2f a\\2f b"]);
        check("@namespace svg url(http://e/svg); @charset 'x';", &[]);
        check("@import 'never\nurl(x)", &["never", "x"]);
        check("@media print{a{content:'x'}}", &[]);
    }

    #[test]
    fn sets_of_images() {
        check(
            "a{background:-webkit-image-set('a.png' 1x, url(b.png) 2x)}b{content:'x'}",
            &["a.png", "b.png"],
        );
        check("image-set(\"a.avif\" type(\"image/avif\"))", &["a.avif"]);
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape("a\\)b\\2f c\\\nd"), "a)b/cd");
        assert_eq!(unescape("a\\"), "a");
    }

    #[test]
    fn names_may_be_written_with_escapes() {
        check("a{b:u\\72l(x)}", &["x"]);
        check("a{b:\\75\\52 \\00006c(x)}", &["x"]);
        check("@\\69mport 'a.css'; @im\\70 ort url(b)", &["a.css", "b"]);
        check("c\\75rl(x) a\\:b{c:url(y)}", &["y"]);
    }

    #[test]
    fn broken_ends_do_not_panic() {
        for css in [
            "",
            "url(",
            "url('",
            "url('a",
            "@import",
            "@import '",
            "/*",
            "'\\",
            "url(\\",
            "\\",
            "u\\",
            "\\가",
            "u\\72l(",
            "가\\7",
        ] {
            each_address(css, |_| {});
        }
    }
}
