//! XML as a stream of pieces, for sitemaps and feeds.
//!
//! What is promised: time linear in the text, a bound on nesting, and no entity
//! but the five of XML and numbers. A document type is passed over, so nothing it
//! declares is ever expanded and nothing is fetched. Names are given without their
//! prefix, since real feeds bind prefixes wrongly or not at all.
//!
//! A document that breaks off or closes its elements in the wrong order gives what
//! came before; there are no errors.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::QName;

/// Elements inside one another, at most. Sitemaps need four, feeds a few more.
const DEPTH_MAX: usize = 256;

/// A piece of a document.
pub(crate) enum Piece<'a> {
    /// A start tag; an empty element is a start and an end.
    Start(Tag<'a>),
    /// Text, references resolved.
    Text(Cow<'a, str>),
    /// The innermost open element ends.
    End,
}

/// A start tag.
pub(crate) struct Tag<'a>(BytesStart<'a>);

impl Tag<'_> {
    /// The name without its prefix.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0.local_name().as_ref() == name
    }

    /// The value of an attribute, references resolved.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.find(|key| key.local_name().as_ref() == name)
    }

    /// The value of `xml:base`.
    pub(crate) fn base(&self) -> Option<String> {
        self.find(|key| key.as_ref() == "xml:base")
    }

    fn find(&self, is_wanted: impl Fn(&QName<'_>) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        // The check for repeated names is quadratic.
        attributes.with_checks(false);
        let found = attributes
            .flatten()
            .find(|attribute| is_wanted(&attribute.key))?;
        Some(unescape(&found.value))
    }
}

/// A document being read.
pub(crate) struct Xml<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self { reader, depth: 0 }
    }

    /// Open elements, the one last started included.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The next piece; `None` at the end, and where it cannot go on.
    pub(crate) fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            // What is wrong with a broken document is of no use to anyone here.
            match self.reader.read_event().ok()? {
                Event::Start(tag) => {
                    self.depth += 1;
                    return (self.depth <= DEPTH_MAX).then_some(Piece::Start(Tag(tag)));
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Some(Piece::End);
                }
                Event::Text(text) => return Some(Piece::Text(text.into_inner())),
                Event::CData(text) => return Some(Piece::Text(text.into_inner())),
                Event::GeneralRef(reference) => return Some(Piece::Text(resolve(&reference))),
                Event::Eof => return None,
                Event::Empty(_)
                | Event::Comment(_)
                | Event::Decl(_)
                | Event::PI(_)
                | Event::DocType(_) => {}
            }
        }
    }
}

/// The character a reference stands for; what is not known stays as written, as
/// `&` in addresses is often not escaped.
fn resolve<'a>(reference: &BytesRef<'a>) -> Cow<'a, str> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Cow::Owned(c.to_string());
    }
    Cow::Borrowed(match &**reference {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        unknown => return Cow::Owned(format!("&{unknown};")),
    })
}

fn unescape(raw: &str) -> String {
    // A bare `&`, which addresses are full of, makes the whole value unreadable to
    // the strict reading; such a value is taken as it stands.
    match quick_xml::escape::unescape(raw) {
        Ok(text) => text.into_owned(),
        Err(_) => raw.replace("&amp;", "&"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> String {
        let mut xml = Xml::new(text);
        let mut out = String::new();
        while let Some(piece) = xml.next() {
            match piece {
                Piece::Start(tag) if tag.is("a") => {
                    out.push_str("<a");
                    out.push_str(&tag.attribute("href").unwrap_or_default());
                    out.push('>');
                }
                Piece::Start(_) => out.push_str("<?>"),
                Piece::Text(text) => out.push_str(&text),
                Piece::End => out.push('/'),
            }
        }
        out
    }

    #[test]
    fn elements_text_and_references() {
        assert_eq!(
            pieces("<x:a href='/1&amp;2'>t&#x41;&lt;<b/></x:a>"),
            "<a/1&2>tA<<?>//"
        );
        assert_eq!(
            pieces("<a href='?a=1&b=2'>a & b&nbsp;</a>"),
            "<a?a=1&b=2>a & b&nbsp;/"
        );
        assert_eq!(pieces("<a><![CDATA[<p>&amp;]]></a>"), "<a><p>&amp;/");
        assert_eq!(pieces("<a>x</b>y</a></a>"), "<a>x/y//");
        assert_eq!(pieces("not xml"), "not xml");
    }

    #[test]
    fn entities_are_never_expanded() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'xxxxxxxxxx'><!ENTITY y '&x;&x;&x;'>]><a>&y;</a>";
        assert_eq!(pieces(bomb), "<a>&y;/");
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "<a>".repeat(100_000);
        assert_eq!(pieces(&deep).len(), DEPTH_MAX * 3);
    }
}
