//! The tags of a page by where they stand, and what must be known of them all
//! before the first is changed.

use std::ops::Range;

use super::PRESCAN_BYTES;
use crate::element::Element;
use crate::foreign::Foreign;
use crate::raw_text::RawKind;
use crate::references::{self, Place};
use crate::tokenizer::{AttributeSpan, Token, Tokenizer};

/// A tag or the content of a raw text element, by where it stands.
pub(super) enum Event<'t, 'a> {
    Start {
        element: Element,
        tag: Range<usize>,
        tokenizer: &'t Tokenizer<'a>,
    },
    Style(Range<usize>),
}

/// Walks over a page as the reader does, but looks at tags only.
pub(super) fn each_tag(text: &str, mut take: impl FnMut(Event<'_, '_>)) {
    let mut tokenizer = Tokenizer::new(text);
    let mut foreign = Foreign::default();
    while let Some(token) = tokenizer.next() {
        match token {
            Token::Text(_) | Token::Verbatim(_) | Token::Conditional(_) | Token::Instruction(_) => {
            }
            Token::End(tag) => {
                foreign.end(tag.element);
                tokenizer.set_foreign(foreign.is_inside());
            }
            Token::Start(tag) => {
                let is_foreign = foreign.start(tag, tokenizer.attributes());
                tokenizer.set_foreign(foreign.is_inside());
                let span = tokenizer.tag_span();
                let after = span.end;
                take(Event::Start {
                    element: tag.element,
                    tag: span,
                    tokenizer: &tokenizer,
                });
                if !is_foreign && let Some(kind) = RawKind::of(tag.element) {
                    let length = tokenizer.raw_text(kind).len();
                    if tag.element == Element::Style {
                        take(Event::Style(after..after + length));
                    }
                }
            }
        }
    }
}

/// What must be known of a page before its first link is changed.
#[derive(Default)]
pub(super) struct Survey {
    /// The first `base`, decoded.
    pub(super) base: Option<String>,
    /// Where a charset is to be declared, if the page does not itself in time.
    pub(super) declare_at: Option<usize>,
    /// There is no tag at all.
    pub(super) is_bare: bool,
}

impl Survey {
    pub(super) fn of(text: &str) -> Self {
        let mut survey = Self::default();
        let mut declared = false;
        let mut settled = false;
        each_tag(text, |event| {
            let Event::Start {
                element,
                tag,
                tokenizer,
            } = event
            else {
                return;
            };
            if !settled && element != Element::Html {
                let at = if element == Element::Head {
                    tag.end
                } else {
                    tag.start
                };
                survey.declare_at = Some(at);
                settled = true;
            }
            let spans = || tokenizer.attribute_spans();
            match element {
                Element::Base if survey.base.is_none() => {
                    let href = spans().find(|span| is_named(text, span, "href"));
                    let value = href.and_then(|span| span.value).map(|value| &text[value]);
                    survey.base =
                        value.map(|raw| references::decode(raw, Place::Attribute).into_owned());
                }
                Element::Meta if tag.end <= PRESCAN_BYTES => {
                    declared |= spans().any(|span| is_named(text, &span, "charset"));
                }
                _ => {}
            }
        });
        if declared {
            survey.declare_at = None;
        }
        survey.is_bare = !settled;
        survey
    }
}

/// Whether an attribute has this name.
pub(super) fn is_named(text: &str, span: &AttributeSpan, name: &str) -> bool {
    text[span.name.clone()].eq_ignore_ascii_case(name)
}
