//! References and what is written instead of them, alone or inside a value with
//! a grammar of its own.

use std::borrow::Cow;
use std::ops::Range;

use super::Placer;
use crate::css;
use crate::links::Base;
use crate::values::{each_source, followable, refresh_target};

/// The text so far, with spans of it replaced in order.
pub(super) struct Copy<'a> {
    pub(super) text: &'a str,
    out: String,
    copied: usize,
}

impl<'a> Copy<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self {
            text,
            out: String::with_capacity(text.len() + text.len() / 8),
            copied: 0,
        }
    }

    pub(super) fn replace(&mut self, span: Range<usize>, with: &str) {
        self.out.push_str(&self.text[self.copied..span.start]);
        self.out.push_str(with);
        self.copied = span.end;
    }

    pub(super) fn finish(mut self) -> String {
        self.out.push_str(&self.text[self.copied..]);
        self.out
    }
}

/// Where links lead now.
pub(super) struct Links<'a, 'p, 'q> {
    pub(super) base: Base<'a>,
    pub(super) placer: &'p mut Placer<'q>,
}

impl Links<'_, '_, '_> {
    /// What to write instead of a reference; `None` leaves it as it is.
    pub(super) fn instead_of(&mut self, reference: &str) -> Option<String> {
        let reference = followable(reference)?;
        let url = self.base.resolve(reference)?;
        let placed = (self.placer)(&url).unwrap_or_else(|| url.as_str().to_owned());
        Some(with_fragment(placed, reference))
    }

    /// The reference as an absolute address.
    pub(super) fn absolute(&mut self, reference: &str) -> Option<String> {
        let reference = followable(reference)?;
        let url = self.base.resolve(reference)?;
        Some(with_fragment(url.as_str().to_owned(), reference))
    }

    pub(super) fn is_placed(&mut self, reference: &str) -> bool {
        let url = followable(reference).and_then(|reference| self.base.resolve(reference));
        url.is_some_and(|url| (self.placer)(&url).is_some())
    }

    pub(super) fn in_sources(&mut self, srcset: &str) -> Option<String> {
        let mut spans = Vec::new();
        each_source(srcset, |source| spans.push(span_in(srcset, source)));
        self.in_spans(srcset, spans)
    }

    pub(super) fn in_refresh(&mut self, content: &str) -> Option<String> {
        let target = refresh_target(content)?;
        self.in_spans(content, vec![span_in(content, target)])
    }

    pub(super) fn in_css(&mut self, css: &str) -> Option<String> {
        let mut spans = Vec::new();
        // What is written with escapes is rare, and stays as it is.
        css::each_address(css, |span| {
            if !css[span.clone()].contains('\\') {
                spans.push(span);
            }
        });
        self.in_spans(css, spans)
    }

    /// Replaces references inside a larger value. What is written has nothing in
    /// it that would end the value's own quotes, brackets or list items.
    fn in_spans(&mut self, text: &str, spans: Vec<Range<usize>>) -> Option<String> {
        let mut copy = Copy::of(text);
        for span in spans {
            if let Some(placed) = self.instead_of(&text[span.clone()]) {
                copy.replace(span, &without_delimiters(&placed));
            }
        }
        (copy.copied > 0).then(|| copy.finish())
    }
}

fn with_fragment(mut url: String, reference: &str) -> String {
    if let Some(at) = reference.find('#') {
        url.push_str(&reference[at..]);
    }
    url
}

/// Where a part that was cut out of a text stands in it.
fn span_in(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

fn without_delimiters(url: &str) -> Cow<'_, str> {
    const DELIMITERS: [char; 7] = ['"', '\'', '(', ')', ' ', '\\', '\n'];
    if !url.contains(DELIMITERS) {
        return Cow::Borrowed(url);
    }
    let escaped = url.chars().map(|c| match c {
        c if DELIMITERS.contains(&c) => format!("%{:02X}", c as u32),
        c => c.to_string(),
    });
    Cow::Owned(escaped.collect())
}
