//! Attribute values with a grammar of their own: `srcset`, `rel`, a refresh, a
//! style that hides.

use std::borrow::Cow;

use geomi_model::LinkKind;
use memchr::memchr;

use crate::tokenizer::is_space;

/// Calls `take` with each address of a `srcset`.
///
/// Candidates are separated by commas, but an address may hold commas: it ends at
/// white space, or at a comma that white space or the end follows.
pub(crate) fn each_source<'a>(srcset: &'a str, mut take: impl FnMut(&'a str)) {
    let mut rest = srcset;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        if rest.is_empty() {
            return;
        }
        let end = rest
            .find(|c: char| c.is_ascii_whitespace())
            .unwrap_or(rest.len());
        let (address, after) = rest.split_at(end);
        let bare = address.trim_end_matches(',');
        take(bare);
        rest = after;
        if bare.len() == address.len() {
            rest = after_descriptors(after);
        }
    }
}

/// Passes over what describes an address, up to the comma after it. Commas inside
/// parentheses do not count.
fn after_descriptors(text: &str) -> &str {
    let mut in_parentheses = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => in_parentheses = true,
            b')' => in_parentheses = false,
            b',' if !in_parentheses => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// The address of a `meta` refresh: `5; url=next.html`. A refresh without an
/// address loads the page itself again and is no link.
pub(crate) fn refresh_target(content: &str) -> Option<&str> {
    let rest = content.trim_ascii_start();
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = number.trim_ascii_start();
    let separated = rest.strip_prefix([';', ',']);
    if separated.is_none()
        && (number.len() == content.trim_ascii_start().len() || rest.len() == number.len())
    {
        // Without a number in front, or without anything after it, this is no refresh.
        return None;
    }
    let rest = separated.unwrap_or(rest).trim_ascii_start();
    let target = after_url_equals(rest).unwrap_or(rest);
    let target = match target.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = &target[1..];
            inner.split(quote).next().unwrap_or(inner)
        }
        _ => target,
    };
    let target = target.trim_ascii();
    (!target.is_empty()).then_some(target)
}

fn after_url_equals(text: &str) -> Option<&str> {
    let word = text.get(..3)?;
    if !word.eq_ignore_ascii_case("url") {
        return None;
    }
    let rest = text[3..].trim_ascii_start().strip_prefix('=')?;
    Some(rest.trim_ascii_start())
}

/// What the words of a `rel` say to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a word, and any may stand with any"
)]
pub(crate) struct Rel {
    /// `nofollow`, `ugc` or `sponsored`.
    pub(crate) nofollow: bool,
    /// `canonical`.
    pub(crate) canonical: bool,
    /// `dns-prefetch` or `preconnect`: a hint about a host, not a link.
    pub(crate) only_connects: bool,
    /// A browser loads it with the page: `stylesheet`, `icon`, `preload`.
    pub(crate) is_loaded: bool,
}

/// Words of a `rel` for what is loaded with the page.
const LOADED: [&str; 9] = [
    "stylesheet",
    "icon",
    "preload",
    "modulepreload",
    "apple-touch-icon",
    "apple-touch-icon-precomposed",
    "mask-icon",
    "apple-touch-startup-image",
    "manifest",
];

impl Rel {
    pub(crate) fn parse(value: &str) -> Self {
        let mut rel = Self::default();
        for word in value.split_ascii_whitespace() {
            let is = |name: &str| word.eq_ignore_ascii_case(name);
            rel.nofollow |= is("nofollow") || is("ugc") || is("sponsored");
            rel.canonical |= is("canonical");
            rel.only_connects |= is("dns-prefetch") || is("preconnect");
            rel.is_loaded |= LOADED.iter().any(|name| is(name));
        }
        rel
    }

    /// The kind of a `link` with this `rel`.
    pub(crate) const fn kind(self) -> LinkKind {
        if self.is_loaded {
            LinkKind::Embedded
        } else {
            LinkKind::Other
        }
    }
}

/// Whether a `style` attribute takes the element out of sight.
pub(crate) fn style_hides(style: &str) -> bool {
    style.split(';').any(|declaration| {
        declaration
            .split_once(':')
            .is_some_and(|(property, value)| {
                let property = property.trim_ascii();
                let value = value.trim_ascii();
                let value = value.split(['!', ' ']).next().unwrap_or(value);
                (property.eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
                    || (property.eq_ignore_ascii_case("visibility")
                        && value.eq_ignore_ascii_case("hidden"))
            })
    })
}

/// A reference as a link: white space around it removed, `None` when it leads
/// nowhere else (nothing, or a place on the page itself) or is of a scheme other
/// than `http` and `https`.
pub(crate) fn followable(reference: &str) -> Option<&str> {
    let reference = reference.trim_matches(|c: char| c <= ' ');
    let bytes = reference.as_bytes();
    match *bytes.first()? {
        b'#' => None,
        first if first.is_ascii_alphabetic() => {
            let colon = bytes
                .iter()
                .position(|&byte| !is_scheme_byte(byte))
                .filter(|&at| bytes[at] == b':');
            match colon {
                Some(at) if !is_web_scheme(&bytes[..at]) => None,
                _ => Some(reference),
            }
        }
        _ => Some(reference),
    }
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

fn is_web_scheme(scheme: &[u8]) -> bool {
    scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https")
}

/// Text with its percent-encoding undone.
pub(crate) fn percent_decoded(text: &str) -> Cow<'_, str> {
    if memchr(b'%', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(decoded) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(decoded);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}

/// Whether an address is whole: `http` or `https` and what follows.
pub(crate) fn is_absolute(address: &str) -> bool {
    let address = address.trim_ascii_start().as_bytes();
    [&b"http://"[..], b"https://"].iter().any(|scheme| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Folds white space runs into one blank, drops them at both ends, and keeps at
/// most `bytes_max` bytes of whole characters.
pub(crate) fn fold_spaces(text: &str, bytes_max: usize) -> String {
    let mut folded = String::with_capacity(text.len().min(bytes_max));
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || (c.is_ascii() && is_space(c as u8)) {
            gap = !folded.is_empty();
            continue;
        }
        if folded.len() + usize::from(gap) + c.len_utf8() > bytes_max {
            break;
        }
        if gap {
            folded.push(' ');
            gap = false;
        }
        folded.push(c);
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_sources(srcset: &str, expected: &[&str]) {
        let mut found = Vec::new();
        each_source(srcset, |source| found.push(source));
        assert_eq!(found, expected, "from {srcset:?}");
    }

    #[test]
    fn srcset_addresses() {
        check_sources("a.png", &["a.png"]);
        check_sources("a.png 1x, b.png 2x", &["a.png", "b.png"]);
        check_sources(" a.png,b.png 100w ,c.png", &["a.png,b.png", "c.png"]);
        check_sources("a.png, b.png", &["a.png", "b.png"]);
        check_sources("data:x,y 1x,, b (1,2) 3x, c", &["data:x,y", "b", "c"]);
        check_sources(" , ,", &[]);
    }

    fn check_refresh(content: &str, expected: Option<&str>) {
        assert_eq!(refresh_target(content), expected, "from {content:?}");
    }

    #[test]
    fn refresh_targets() {
        check_refresh("5; url=next.html", Some("next.html"));
        check_refresh("0;URL='a b.html' x", Some("a b.html"));
        check_refresh("0,url=\"x\"", Some("x"));
        check_refresh("0; next.html", Some("next.html"));
        check_refresh("0 url = x", Some("x"));
        check_refresh(";url=x", Some("x"));
        check_refresh("5", None);
        check_refresh("5;", None);
        check_refresh("5; url=", None);
        check_refresh("url=x", None);
        check_refresh("", None);
    }

    #[test]
    fn references_that_lead_somewhere() {
        for (reference, expected) in [
            (" /x \n", Some("/x")),
            ("HTTPS://e.com/", Some("HTTPS://e.com/")),
            ("a:b", None),
            ("javascript:void(0)", None),
            ("data:image/png;base64,AAAA", None),
            ("a/b:c", Some("a/b:c")),
            ("?q=a:b", Some("?q=a:b")),
            ("#top", None),
            ("", None),
        ] {
            assert_eq!(followable(reference), expected, "from {reference:?}");
        }
    }

    #[test]
    fn words_of_rel() {
        assert!(Rel::parse("noopener UGC").nofollow);
        assert!(Rel::parse("sponsored").nofollow);
        assert!(Rel::parse("Canonical").canonical);
        assert!(Rel::parse("dns-prefetch").only_connects);
        assert_eq!(Rel::parse("stylesheet").kind(), LinkKind::Embedded);
        assert_eq!(Rel::parse("alternate"), Rel::default());
    }

    #[test]
    fn styles_that_hide() {
        assert!(style_hides("color:red; display : none !important"));
        assert!(style_hides("VISIBILITY:hidden"));
        assert!(!style_hides("display:block"));
        assert!(!style_hides(""));
    }

    #[test]
    fn folding_is_bounded_at_whole_characters() {
        assert_eq!(fold_spaces(" a \n\u{a0} b ", 99), "a b");
        assert_eq!(fold_spaces("가나다", 7), "가나");
        assert_eq!(fold_spaces("a b", 2), "a");
    }
}
