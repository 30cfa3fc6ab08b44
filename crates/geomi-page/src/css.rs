//! The addresses in a style sheet: `url(…)` and the string of an `@import`.
//!
//! One pass over the bytes that knows comments, strings and names, and nothing
//! else of CSS. An address with a backslash in it is passed over: nobody escapes
//! addresses, and undoing the escapes would be a second parser.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::tokenizer::is_space;

/// Calls `take` with the span of each address, quotes left out, in order.
pub(crate) fn each_address(css: &str, mut take: impl FnMut(Range<usize>)) {
    let bytes = css.as_bytes();
    let mut at = 0;
    // Whether a string that comes now is what `@import` names.
    let mut imports = false;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'/' if rest.starts_with(b"/*") => {
                let length = memmem::find(&rest[2..], b"*/");
                at = length.map_or(bytes.len(), |length| at + 2 + length + 2);
            }
            b'"' | b'\'' => {
                let end = string_end(bytes, at);
                if imports {
                    give(bytes, at + 1..end, &mut take);
                    imports = false;
                }
                at = end + 1;
            }
            b'@' => {
                imports = starts_with_word(rest, b"@import");
                at += 1;
            }
            b'u' | b'U' if starts_with_word(rest, b"url(") && !is_in_name(bytes, at) => {
                at = url_function(bytes, at + 4, &mut take);
                imports = false;
            }
            b';' | b'{' | b'}' => {
                imports = false;
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads what follows `url(`; gives where it ends.
fn url_function(bytes: &[u8], start: usize, take: &mut impl FnMut(Range<usize>)) -> usize {
    let mut from = start;
    while bytes.get(from).is_some_and(|&byte| is_space(byte)) {
        from += 1;
    }
    if let Some(b'"' | b'\'') = bytes.get(from) {
        let end = string_end(bytes, from);
        give(bytes, from + 1..end, take);
        return end + 1;
    }
    let length = memchr(b')', &bytes[from.min(bytes.len())..]);
    let Some(close) = length.map(|length| from + length) else {
        return bytes.len();
    };
    let mut to = close;
    while to > from && is_space(bytes[to - 1]) {
        to -= 1;
    }
    give(bytes, from..to, take);
    close + 1
}

fn give(bytes: &[u8], span: Range<usize>, take: &mut impl FnMut(Range<usize>)) {
    if !bytes[span.clone()].contains(&b'\\') && !span.is_empty() {
        take(span);
    }
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
        check("url(a\\)b) url(never", &[]);
        check("@import 'never\nurl(x)", &["never", "x"]);
        check("@media print{a{content:'x'}}", &[]);
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
        ] {
            each_address(css, |_| {});
        }
    }
}
