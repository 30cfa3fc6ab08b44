//! Links in the header of an answer: `Link` (RFC 8288) and `Refresh`.

use geomi_model::LinkKind;

use crate::values::{Rel, refresh_target};

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
        let rel = rel_of(&parameters[..end]);
        rest = &parameters[end..];
        if !rel.only_connects {
            links.push(HeaderLink {
                target: target.trim_ascii(),
                kind: rel.kind(),
                nofollow: rel.nofollow,
                is_canonical: rel.canonical,
            });
        }
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

fn rel_of(parameters: &str) -> Rel {
    let rel = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_rel = name.trim_ascii().eq_ignore_ascii_case("rel");
        is_rel.then(|| value.trim_ascii().trim_matches('"'))
    });
    rel.map(Rel::parse).unwrap_or_default()
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
        assert!(link_header("<x>; REL=canonical")[0].is_canonical);
        for broken in ["", "x", "<x", "<x>;rel", "<x>;rel=\"", ">"] {
            link_header(broken);
        }
        assert_eq!(link_header(&"<x>,".repeat(1_000)).len(), LINKS_MAX);
    }
}
