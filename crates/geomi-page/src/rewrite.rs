//! A page with its links changed, for a copy that lies somewhere else.
//!
//! The text is copied as it is, except for the spans that must differ: addresses
//! in attributes, in `style` and in style sheets, the target of a `meta` refresh,
//! and what the page says about its charset, because the copy is UTF-8. Nothing
//! is parsed into a tree and written out again, so whatever else a page has, odd
//! or broken, its copy has too.
//!
//! A `base` loses its address (every link is written out against it), and a
//! resource that lies beside the copy loses `integrity` and `crossorigin`, which
//! a browser could not satisfy from a file. A `canonical` link keeps naming the
//! original. Scripts are not changed: an address a script makes stays as it is.

mod places;
mod survey;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use geomi_model::Charset;
use geomi_url::CrawlUrl;

use crate::charset;
use crate::css;
use crate::element::Element;
use crate::links::{Base, Encoder, needs_encoder, query_encoder};
use crate::reader::{PageInput, ReadLimits};
use crate::references::{self, Place};
use crate::tokenizer::{AttributeSpan, Tokenizer};
use crate::values::Rel;
use places::{Copy, Links};
use survey::{Event, Survey, each_tag, is_named};

/// Says where the copy of a page lies, as a reference from the page in hand;
/// `None` leads to the original's absolute address.
pub type Placer<'p> = dyn FnMut(&CrawlUrl) -> Option<String> + 'p;

/// Browsers look for a charset in this many bytes before they guess.
const PRESCAN_BYTES: usize = 1024;
const DECLARATION: &str = "<meta charset=\"utf-8\">";

/// An HTML page in UTF-8 with its links changed.
pub fn rewrite_html(input: &PageInput<'_>, limits: &ReadLimits, placer: &mut Placer<'_>) -> String {
    let decoded = charset::decode(input, limits);
    let survey = Survey::of(&decoded.text);
    let encode = query_encoder(decoded.query_encoding);
    let encode: Option<&Encoder<'_>> = needs_encoder(decoded.query_encoding).then_some(&encode);
    let mut rewriter = Rewriter {
        copy: Copy::of(&decoded.text),
        links: Links {
            base: Base::of(input.url, survey.base.as_deref(), encode),
            placer,
        },
        attribute_bytes_max: limits.attribute_bytes_max,
        declare_at: survey.declare_at,
    };
    if survey.is_bare && !decoded.text.is_ascii() {
        rewriter.copy.replace(0..0, DECLARATION);
    }
    each_tag(&decoded.text, |event| rewriter.take(event));
    rewriter.copy.finish()
}

/// A style sheet in UTF-8 with its links changed.
pub fn rewrite_style_sheet(
    input: &PageInput<'_>,
    limits: &ReadLimits,
    placer: &mut Placer<'_>,
) -> String {
    let label = css::declared_charset(input.body);
    let decoded = charset::decode(&css::labelled(input), limits);
    let mut links = Links {
        base: Base::of(input.url, None, None),
        placer,
    };
    let text = links.in_css(&decoded.text).map_or(decoded.text, Cow::Owned);
    if text.is_ascii() {
        return text.into_owned();
    }
    let rest = match label {
        Some(_) => text.split_once(';').map_or(&*text, |(_, rest)| rest),
        None => &text,
    };
    format!("@charset \"utf-8\";{rest}")
}

/// Any text, decoded as a page would be, and how.
pub fn decode_text<'a>(input: &PageInput<'a>, limits: &ReadLimits) -> (Cow<'a, str>, Charset) {
    let decoded = charset::decode(input, limits);
    (decoded.text, decoded.charset)
}

/// The state of a rewriting.
struct Rewriter<'a, 'p, 'q> {
    copy: Copy<'a>,
    links: Links<'a, 'p, 'q>,
    attribute_bytes_max: usize,
    declare_at: Option<usize>,
}

impl Rewriter<'_, '_, '_> {
    fn take(&mut self, event: Event<'_, '_>) {
        match event {
            Event::Style(span) => {
                if let Some(css) = self.links.in_css(&self.copy.text[span.clone()]) {
                    self.copy.replace(span, &css);
                }
            }
            Event::Start {
                element,
                tag,
                tokenizer,
            } => {
                if self.declare_at == Some(tag.start) {
                    self.copy.replace(tag.start..tag.start, DECLARATION);
                }
                self.start(element, tokenizer);
                if self.declare_at == Some(tag.end) {
                    self.copy.replace(tag.end..tag.end, DECLARATION);
                    self.declare_at = None;
                }
            }
        }
    }

    fn start(&mut self, element: Element, tokenizer: &Tokenizer<'_>) {
        let text = self.copy.text;
        let value_of = |name: &str| {
            let span = tokenizer
                .attribute_spans()
                .find(|span| is_named(text, span, name));
            span.map(|span| span.value.map_or("", |value| &text[value]))
        };
        let about = About {
            element,
            rel: value_of("rel").map(Rel::parse).unwrap_or_default(),
            http_equiv: if element == Element::Meta {
                value_of("http-equiv").unwrap_or_default()
            } else {
                ""
            },
            is_guarded: value_of("integrity").is_some() || value_of("crossorigin").is_some(),
        };
        let is_placed = about.is_guarded
            && ["src", "href"].iter().any(|name| {
                value_of(name).is_some_and(|raw| {
                    let reference = references::decode(raw, Place::Attribute);
                    self.links.is_placed(&reference)
                })
            });
        for span in tokenizer.attribute_spans() {
            self.attribute(&about, is_placed, span);
        }
    }

    fn attribute(&mut self, about: &About<'_>, is_placed: bool, span: AttributeSpan) {
        let text = self.copy.text;
        let name = text[span.name.clone()].to_ascii_lowercase();
        let Some(value) = span.value else {
            if is_placed && name == "crossorigin" {
                self.copy.replace(span.name, "");
            }
            return;
        };
        if value.len() > self.attribute_bytes_max {
            return;
        }
        if is_placed && matches!(&*name, "crossorigin" | "integrity") {
            let quote = usize::from(is_quoted(text, &value));
            let end = (value.end + quote).min(text.len());
            self.copy.replace(span.name.start..end, "");
            return;
        }
        let decoded = references::decode(&text[value.clone()], Place::Attribute);
        if let Some(new) = self.instead_of_value(about, &name, &decoded) {
            let escaped = escape(&new, is_quoted(text, &value));
            self.copy.replace(value, &escaped);
        }
    }

    fn instead_of_value(&mut self, about: &About<'_>, name: &str, value: &str) -> Option<String> {
        let is_meta = about.element == Element::Meta;
        match name {
            "href" if about.element == Element::Base => Some(String::new()),
            "href" if about.rel.only_connects => None,
            "href" if about.rel.canonical => self.links.absolute(value),
            "href" | "src" | "poster" | "background" | "action" | "formaction" | "longdesc"
            | "cite" | "xlink:href" => self.links.instead_of(value),
            "data" if about.element == Element::Object => self.links.instead_of(value),
            "srcset" | "imagesrcset" => self.links.in_sources(value),
            "style" => self.links.in_css(value),
            "charset" if is_meta || about.element == Element::Script => Some("utf-8".to_owned()),
            "content" if about.http_equiv.eq_ignore_ascii_case("refresh") => {
                self.links.in_refresh(value)
            }
            "content" if about.http_equiv.eq_ignore_ascii_case("content-type") => {
                Some("text/html; charset=utf-8".to_owned())
            }
            _ => None,
        }
    }
}

/// What decides how the attributes of a tag are treated.
struct About<'a> {
    element: Element,
    rel: Rel,
    http_equiv: &'a str,
    /// It has `integrity` or `crossorigin`.
    is_guarded: bool,
}

fn is_quoted(text: &str, value: &Range<usize>) -> bool {
    let before = value.start.checked_sub(1).map(|at| text.as_bytes()[at]);
    matches!(before, Some(b'"' | b'\''))
}

/// A value as an attribute has it, whatever its quotes.
fn escape(value: &str, is_quoted: bool) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    if value.is_empty() && !is_quoted {
        out.push_str("\"\"");
    }
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            ' ' | '\t' | '\n' | '\r' | '\x0c' | '`' if !is_quoted => {
                write!(out, "&#{};", c as u32).expect("a string takes any write");
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
