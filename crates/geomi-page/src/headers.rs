//! Links in the header of an answer: `Link` (RFC 8288) and `Refresh`.

use geomi_model::LinkKind;

use crate::values::{Rel, each_source, refresh_target};

/// Links of one field that are looked at.
const LINKS_MAX: usize = 100;

/// A link of a `Link` field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderLink<'a> {
    /// The reference as written; it is relative to the address asked for.
    pub target: &'a str,
    /// What kind of link it is.
    pub kind: LinkKind,
    /// Whether it asks not to be followed.
    pub nofollow: bool,
    /// Whether it is the page's preferred address.
    pub is_canonical: bool,
}

/// The links of a `Link` field; hints about hosts are none.
///
/// ```
/// use geomi_page::link_header;
/// let links = link_header("</a.css>; rel=preload; as=style, <b>; rel=\"next nofollow\"");
/// assert_eq!((links[0].target, links[1].target), ("/a.css", "b"));
/// assert!(links[1].nofollow);
/// ```
pub fn link_header(value: &str) -> Vec<HeaderLink<'_>> {
    let mut links = Vec::new();
    let mut rest = value;
    while links.len() < LINKS_MAX
        && let Some((_, after)) = rest.split_once('<')
        && let Some((target, parameters)) = after.split_once('>')
    {
        let end = parameters_end(parameters);
        let rel = parameter(&parameters[..end], "rel");
        let rel = rel.map(Rel::parse).unwrap_or_default();
        let sources = parameter(&parameters[..end], "imagesrcset");
        rest = &parameters[end..];
        if rel.only_connects {
            continue;
        }
        let mut push = |target| {
            if links.len() < LINKS_MAX {
                links.push(HeaderLink {
                    target,
                    kind: rel.kind(),
                    nofollow: rel.nofollow,
                    is_canonical: rel.canonical,
                });
            }
        };
        push(target.trim_ascii());
        each_source(sources.unwrap_or_default(), push);
    }
    links
}

/// The address of a `Refresh` field.
pub fn refresh_header(value: &str) -> Option<&str> {
    refresh_target(value)
}

/// Where the parameters of a link end: at a comma outside quotes.
fn parameters_end(text: &str) -> usize {
    let mut in_quotes = false;
    let end = text.bytes().position(|byte| {
        in_quotes ^= byte == b'"';
        byte == b',' && !in_quotes
    });
    end.unwrap_or(text.len())
}

/// The value of the first parameter of this name, quotes left out.
fn parameter<'a>(parameters: &'a str, wanted: &str) -> Option<&'a str> {
    let mut in_quotes = false;
    let mut parts = parameters.split(|c: char| {
        in_quotes ^= c == '"';
        c == ';' && !in_quotes
    });
    parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let is_wanted = name.trim_ascii().eq_ignore_ascii_case(wanted);
        is_wanted.then(|| value.trim_ascii().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_taken_apart() {
        let targets = |value| -> Vec<(&str, LinkKind)> {
            let links = link_header(value).into_iter();
            links.map(|link| (link.target, link.kind)).collect()
        };
        let (other, embedded) = (LinkKind::Other, LinkKind::Embedded);
        assert_eq!(targets("</x>; rel=\"preload\""), [("/x", embedded)]);
        assert_eq!(
            targets("<a>;title=\"x, <b>\";rel=next , < c >"),
            [("a", other), ("c", other)]
        );
        assert_eq!(targets("<//h.example>; rel=preconnect"), []);
        assert_eq!(
            targets("<a>; rel=preload; as=image; imagesrcset=\"b 1x, c;d 2x\", <e>"),
            [
                ("a", embedded),
                ("b", embedded),
                ("c;d", embedded),
                ("e", other)
            ]
        );
        assert_eq!(
            targets("<>; rel=preload; imagesrcset=b")[1],
            ("b", embedded)
        );
        assert!(link_header("<x>; REL=canonical")[0].is_canonical);
        for broken in ["", "x", "<x", "<x>;rel", "<x>;rel=\"", ">"] {
            link_header(broken);
        }
        assert_eq!(link_header(&"<x>,".repeat(1_000)).len(), LINKS_MAX);
    }
}
