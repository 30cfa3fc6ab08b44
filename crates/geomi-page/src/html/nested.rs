//! Markup inside a page: conditional comments, `noframes`, `srcdoc` and pages in
//! `data:` URLs.

use geomi_model::LinkKind;

use super::{Inside, Walk};
use crate::css;
use crate::data_url;
use crate::element::Element;
use crate::values::is_absolute;

/// Pieces of markup inside one page that are read.
pub(super) const NESTED_MAX: u32 = 64;
/// How deep they may be in one another.
const NESTING_MAX: u32 = 8;
/// Depth of what never ends.
const FOR_EVER: u32 = 1 << 30;

/// What its relative addresses are relative to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Nested {
    /// The base of the page: it is a part of the page.
    Part,
    /// Its own base, and that is relative to the page's: `srcdoc`.
    Document,
    /// Its own base, or nothing: a `data:` URL.
    Data,
}

impl Walk<'_> {
    /// Takes the links of markup inside the page.
    pub(super) fn nested(&mut self, markup: &str, sort: Nested) {
        if self.nested_left == 0 || self.nesting >= NESTING_MAX {
            self.links.cut();
            return;
        }
        let mut inner = Walk::new(markup, &self.limits);
        inner.nested_left = self.nested_left - 1;
        inner.nesting = self.nesting + 1;
        inner.unseen = Some(Inside {
            element: Element::Unknown,
            depth: FOR_EVER,
        });
        inner.run();
        self.nested_left = inner.nested_left;
        let mut collected = inner.links.into_collected();
        if sort == Nested::Part {
            collected.base = None;
        }
        if sort == Nested::Data && !collected.base.as_deref().is_some_and(is_absolute) {
            collected.base = None;
            collected.references.retain(|it| is_absolute(&it.text));
        }
        let is_advert = self.advert.is_some();
        let in_template = self.template.is_some();
        for reference in collected.each_reference() {
            reference.is_advert |= is_advert;
            if in_template {
                reference.kind = LinkKind::Script;
            }
        }
        self.links.add_nested(collected);
    }

    /// Takes the links of a `data:` URL that a browser would load as a style sheet
    /// or a page.
    pub(super) fn data_link(&mut self, address: &str) {
        const TYPES: [&str; 3] = ["text/css", "text/html", "application/xhtml+xml"];
        let Some(data) = data_url::parse(address, &TYPES) else {
            return;
        };
        if data.mime == "text/css" {
            css::each_data_link(address, |link| self.owned(link, LinkKind::Embedded));
        } else {
            self.nested(&data.text, Nested::Data);
        }
    }

    /// Takes the addresses of a style sheet or a style attribute.
    pub(super) fn style_sheet(&mut self, style: &str) {
        css::each_link(style, |link| self.owned(link, LinkKind::Embedded));
    }
}
