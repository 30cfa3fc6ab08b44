//! SVG and `MathML` inside HTML.
//!
//! Inside them `title`, `style` and `script` are ordinary elements and
//! `<![CDATA[` begins text, until an integration point (`foreignObject`, `mtext`)
//! turns back to HTML or an HTML tag such as `<p>` breaks out. A stack of these
//! turns is all that is kept of the tree, so an author's missing end tag inside a
//! drawing can be judged differently than a browser would.

use crate::element::{Attribute, Element};
use crate::tokenizer::{Attributes, Tag};

/// Turns beyond this depth are not followed; real pages have two or three.
const DEPTH_MAX: usize = 64;

/// An open element that changed the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Svg,
    Math,
    /// Back to HTML, by this element.
    Html(Element),
}

/// Which language the reader is in.
#[derive(Default)]
pub(crate) struct Foreign {
    turns: Vec<Turn>,
}

impl Foreign {
    /// Whether what comes next is SVG or `MathML`.
    pub(crate) fn is_inside(&self) -> bool {
        matches!(self.turns.last(), Some(Turn::Svg | Turn::Math))
    }

    /// Whether a drawing or a formula is open, HTML within it included.
    pub(crate) fn is_open(&self) -> bool {
        !self.turns.is_empty()
    }

    /// Takes a start tag; says whether its element is SVG or `MathML`.
    pub(crate) fn start(&mut self, tag: Tag, attributes: &Attributes<'_>) -> bool {
        if self.is_inside() && tag.element.breaks_out() {
            self.break_out();
        }
        let top = self.turns.last().copied();
        let turn = match (top, tag.element) {
            (_, Element::Svg) => Turn::Svg,
            (_, Element::Math) => Turn::Math,
            (Some(Turn::Svg), Element::ForeignObject | Element::Desc | Element::Title)
            | (
                Some(Turn::Math),
                Element::Mi | Element::Mn | Element::Mo | Element::Ms | Element::Mtext,
            ) => Turn::Html(tag.element),
            (Some(Turn::Math), Element::AnnotationXml) if holds_html(attributes) => {
                Turn::Html(tag.element)
            }
            _ => return self.is_inside(),
        };
        if !tag.self_closing && self.turns.len() < DEPTH_MAX {
            self.turns.push(turn);
        }
        true
    }

    /// Takes an end tag.
    pub(crate) fn end(&mut self, element: Element) {
        if self.is_inside() && matches!(element, Element::P | Element::Br) {
            self.break_out();
            return;
        }
        let closes = |turn: Turn| match turn {
            Turn::Svg => element == Element::Svg,
            Turn::Math => element == Element::Math,
            Turn::Html(opener) => element == opener,
        };
        for (depth, &turn) in self.turns.iter().enumerate().rev() {
            if closes(turn) {
                self.turns.truncate(depth);
                return;
            }
            if matches!(turn, Turn::Html(_)) {
                return;
            }
        }
    }

    fn break_out(&mut self) {
        while self.is_inside() {
            self.turns.pop();
        }
    }
}

fn holds_html(attributes: &Attributes<'_>) -> bool {
    attributes.get(Attribute::Encoding).is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("text/html")
            || encoding.eq_ignore_ascii_case("application/xhtml+xml")
    })
}
