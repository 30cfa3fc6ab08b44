//! Elements whose content is not markup, and where that content ends.
//!
//! `style`, `xmp`, `iframe`, `noembed`, `noframes`, `title` and `textarea` end at
//! their own end tag. `script` does too, except that inside `<!--` a nested
//! `<script>` must be closed first:
//!
//! | state | enters | leaves |
//! |---|---|---|
//! | plain | start; `-->` | `<!--` to escaped; `</script` ends the element |
//! | escaped | `<!--`; `</script` from double | `-->`; `<script` to double; `</script` ends the element |
//! | double escaped | `<script` inside escaped | `-->`; `</script` to escaped |
//!
//! `noscript` is markup to us, as to a browser that runs no scripts.

use memchr::{memchr, memchr_iter, memchr2};

use crate::element::Element;
use crate::tokenizer::is_space;

/// How the content of a raw text element ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RawKind {
    /// At the end tag of this name.
    Until(&'static [u8]),
    /// At a script's end.
    Script,
    /// With the page.
    Rest,
}

impl RawKind {
    /// The kind of an element, if its content is raw.
    pub(crate) fn of(element: Element) -> Option<Self> {
        Some(match element {
            Element::Script => Self::Script,
            Element::Style => Self::Until(b"style"),
            Element::Title => Self::Until(b"title"),
            Element::Textarea => Self::Until(b"textarea"),
            Element::Xmp => Self::Until(b"xmp"),
            Element::Iframe => Self::Until(b"iframe"),
            Element::Noembed => Self::Until(b"noembed"),
            Element::Noframes => Self::Until(b"noframes"),
            Element::Plaintext => Self::Rest,
            _ => return None,
        })
    }
}

/// The length of the raw text `bytes` begins with: up to the `<` of the end tag,
/// or all of it.
pub(crate) fn raw_text_length(bytes: &[u8], kind: RawKind) -> usize {
    match kind {
        RawKind::Until(name) => memchr_iter(b'<', bytes)
            .find(|&open| is_end_tag(&bytes[open + 1..], name))
            .unwrap_or(bytes.len()),
        RawKind::Script => script_length(bytes),
        RawKind::Rest => bytes.len(),
    }
}

fn script_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'<', rest)) {
        let open = at + found;
        let after = &bytes[open + 1..];
        if is_end_tag(after, b"script") {
            return open;
        }
        at = open + 1;
        if after.starts_with(b"!--") {
            // The dashes of `<!--` count for `-->` as well: `<!-->` is closed.
            match escaped(bytes, open + 2) {
                Escaped::ElementEnds(end) => return end,
                Escaped::Plain(next) => at = next,
            }
        }
    }
    bytes.len()
}

/// How the escaped part of a script ends.
enum Escaped {
    /// The element ends here.
    ElementEnds(usize),
    /// `-->` was found; plain script goes on here.
    Plain(usize),
}

fn escaped(bytes: &[u8], start: usize) -> Escaped {
    let mut double = false;
    let mut at = start;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'<', b'-', rest)) {
        let here = at + found;
        let after = &bytes[here + 1..];
        at = here + 1;
        if bytes[here] == b'-' {
            if after.starts_with(b"->") {
                return Escaped::Plain(here + 3);
            }
        } else if is_end_tag(after, b"script") {
            if !double {
                return Escaped::ElementEnds(here);
            }
            double = false;
        } else if !double && begins_with_name(after, b"script") {
            double = true;
        }
    }
    Escaped::ElementEnds(bytes.len())
}

/// Whether what follows a `<` is the end tag of `name`.
fn is_end_tag(after: &[u8], name: &[u8]) -> bool {
    after.first() == Some(&b'/') && begins_with_name(&after[1..], name)
}

fn begins_with_name(bytes: &[u8], name: &[u8]) -> bool {
    bytes
        .get(..name.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(name))
        && bytes
            .get(name.len())
            .is_some_and(|&byte| is_space(byte) || byte == b'/' || byte == b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str, kind: RawKind, expected: &str) {
        let length = raw_text_length(page.as_bytes(), kind);
        assert_eq!(&page[..length], expected, "of {page:?}");
    }

    #[test]
    fn raw_text_ends_at_its_own_end_tag() {
        let style = RawKind::Until(b"style");
        check("a<b></a></styles></STYLE >x", style, "a<b></a></styles>");
        check("a</style", style, "a</style");
        check("</style/>", style, "");
        check("a</b>", RawKind::Rest, "a</b>");
    }

    #[test]
    fn scripts_may_hold_scripts_inside_comments() {
        let script = RawKind::Script;
        check("a<b</script>c", script, "a<b");
        check("<!--</script>c", script, "<!--");
        let nested = "<!--<script></script>-->";
        check(&format!("{nested}</script>"), script, nested);
        check(
            "<!--<script></script></script>",
            script,
            "<!--<script></script>",
        );
        check("<!--><script></script>", script, "<!--><script>");
        check("<!---><script></script>", script, "<!---><script>");
        check("<!--<scripty></script>", script, "<!--<scripty>");
        check("<!--<script>-->x</script>", script, "<!--<script>-->x");
        check("<!--<script></script>", script, "<!--<script></script>");
        check("never ends", script, "never ends");
    }
}
