//! Links of SVG and `MathML` inside a page.

use geomi_model::LinkKind;

use super::Walk;
use crate::element::{Attribute, Element};
use crate::script::Code;
use crate::tokenizer::Tag;

/// Attributes with the values an animation sets.
const ANIMATED: [&str; 4] = ["values", "from", "to", "by"];

impl Walk<'_> {
    /// SVG links, pictures and what drawings use of other files.
    pub(super) fn foreign_link(&mut self, tag: Tag) {
        let kind = match tag.element {
            Element::A => LinkKind::Anchor,
            _ => LinkKind::Embedded,
        };
        if matches!(tag.element, Element::Style | Element::Script) && !tag.self_closing {
            self.foreign_code = Some(tag.element);
        }
        let attributes = self.tokenizer.attributes();
        let written = if attributes.get(Attribute::Href).is_some() {
            Attribute::Href
        } else {
            Attribute::XlinkHref
        };
        if attributes.get(written).is_some() {
            let nofollow = self.rel().nofollow;
            self.link(written, kind, nofollow);
        }
        if matches!(tag.element, Element::Unknown | Element::AnnotationXml) {
            self.rare_foreign();
        }
    }

    /// Animations of an address, and what formulas refer to.
    fn rare_foreign(&mut self) {
        let mut name = self.tokenizer.tag_name();
        if self.is_xml {
            name = name.rsplit(':').next().unwrap_or(name);
        }
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        if is("annotation") || is("annotation-xml") || is("mglyph") {
            self.link(Attribute::Src, LinkKind::Embedded, false);
        } else if is("animate") || is("set") {
            let target = self.value_of("attributeName").unwrap_or_default();
            if matches!(target.trim_ascii(), "href" | "xlink:href") {
                for attribute in ANIMATED {
                    let values = self.decoded(attribute).unwrap_or_default();
                    for value in values.split(';') {
                        self.owned(value, LinkKind::Embedded);
                    }
                }
            }
        }
    }

    /// Text inside a drawing, where it is code.
    pub(super) fn foreign_text(&mut self, text: &str) {
        match self.foreign_code {
            None => {}
            Some(Element::Style) => self.style_sheet(text),
            Some(_) => self.scan(text, Code::Inline),
        }
    }
}
