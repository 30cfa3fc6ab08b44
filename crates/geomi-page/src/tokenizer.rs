//! Cuts a page into tags and text, as the WHATWG tokenizer would.
//!
//! A pull tokenizer over decoded text: [`Tokenizer::next`] gives a run of text,
//! a start tag with the attributes we look at, or an end tag. Conditional comments
//! (`<!--[if IE]>…<![endif]-->`) are given as a whole; other comments, doctypes, processing instructions and tags the page ends inside are passed
//! over. `memchr` finds the next `<`, `>` or closing quote, and no byte is looked
//! at more than a fixed number of times, so any input takes linear time.
//!
//! Whether what follows a tag is raw text depends on the tree, which is the
//! caller's to know: after `<script>`, `<title>` and their like the caller asks
//! for the content with [`Tokenizer::raw_text`], and says with
//! [`Tokenizer::set_foreign`] where `<![CDATA[` is a section and not a comment.
//!
//! Nothing is decoded or copied: character references are still in the text and
//! in the attribute values, and line ends are as the page has them.

use std::ops::Range;

use memchr::{memchr, memmem};

use crate::element::{Attribute, Element, may_lead};
use crate::raw_text::{RawKind, raw_text_length};

/// A piece of a page.
#[derive(Debug)]
pub(crate) enum Token<'a> {
    /// Text with its character references.
    Text(&'a str),
    /// Text of a CDATA section, where `&` is an ampersand.
    Verbatim(&'a str),
    /// A start tag; its attributes are in [`Tokenizer::attributes`].
    Start(Tag),
    /// An end tag.
    End(Tag),
    /// The markup in a conditional comment, which old browsers read.
    Conditional(&'a str),
    /// A processing instruction of XML, without `<?` and `?>`.
    Instruction(&'a str),
}

/// What a tag is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// The element, if the reader knows it.
    pub(crate) element: Element,
    /// Whether it ends in `/>`.
    pub(crate) self_closing: bool,
}

/// The attributes of one start tag that the reader looks at, as written. Of two
/// with one name the first counts.
#[derive(Default)]
pub(crate) struct Attributes<'a> {
    values: [Option<&'a str>; Attribute::COUNT],
    has_rare: bool,
}

impl<'a> Attributes<'a> {
    /// The value as written, empty for an attribute without one.
    pub(crate) fn get(&self, attribute: Attribute) -> Option<&'a str> {
        self.values[attribute as usize]
    }

    /// Whether there may be an attribute that leads somewhere in a rarer way
    /// ([`may_lead`]).
    pub(crate) const fn has_rare(&self) -> bool {
        self.has_rare
    }

    fn add(&mut self, name: &[u8], value: &'a str) {
        if let Some(attribute) = Attribute::named(name) {
            self.values[attribute as usize].get_or_insert(value);
        } else {
            self.has_rare |= may_lead(name, value);
        }
    }
}

/// An attribute by where it stands in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AttributeSpan {
    pub(crate) name: Range<usize>,
    /// The value without its quotes, where there is a `=`.
    pub(crate) value: Option<Range<usize>>,
    /// Where to go on.
    next: usize,
}

/// The state of a reading.
pub(crate) struct Tokenizer<'a> {
    text: &'a str,
    at: usize,
    /// Where the last tag's `<` is, and where its name ends.
    tag_start: usize,
    name_end: usize,
    foreign: bool,
    /// Whether the text is XML: names may have prefixes, and CDATA sections and
    /// processing instructions may stand anywhere.
    xml: bool,
    attributes: Attributes<'a>,
}

impl<'a> Tokenizer<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            tag_start: 0,
            name_end: 0,
            foreign: false,
            xml: false,
            attributes: Attributes::default(),
        }
    }

    /// A tokenizer of XML.
    pub(crate) fn of_xml(text: &'a str) -> Self {
        Self {
            foreign: true,
            xml: true,
            ..Self::new(text)
        }
    }

    /// The attributes of the start tag last given.
    pub(crate) fn attributes(&self) -> &Attributes<'a> {
        &self.attributes
    }

    /// Where the tag last given stands, its brackets included.
    pub(crate) fn tag_span(&self) -> Range<usize> {
        self.tag_start..self.at
    }

    /// The name of the start tag last given, as written.
    pub(crate) fn tag_name(&self) -> &'a str {
        &self.text[self.tag_start + 1..self.name_end]
    }

    /// The attributes of the tag last given as they stand in the text, up to and
    /// with the closing bracket.
    pub(crate) fn attributes_text(&self) -> &'a str {
        &self.text[self.name_end..self.at]
    }

    /// Every attribute of the tag last given, known to the reader or not.
    pub(crate) fn attribute_spans(&self) -> impl Iterator<Item = AttributeSpan> + use<'_, 'a> {
        let bytes = &self.text.as_bytes()[..self.at];
        let mut at = self.name_end;
        std::iter::from_fn(move || {
            while bytes.get(at).is_some_and(|&b| is_space(b) || b == b'/') {
                at += 1;
            }
            if matches!(bytes.get(at), None | Some(b'>')) {
                return None;
            }
            let found = attribute_at(bytes, at);
            at = found.next;
            Some(found)
        })
    }

    /// The same as text, with an empty value where there is none.
    pub(crate) fn attribute_texts(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'_, 'a> {
        let text = self.text;
        self.attribute_spans().map(move |span| {
            (
                &text[span.name],
                span.value.map_or("", |value| &text[value]),
            )
        })
    }

    /// Whether we are inside SVG or `MathML`.
    pub(crate) fn set_foreign(&mut self, foreign: bool) {
        self.foreign = foreign || self.xml;
    }

    /// The content of a raw text element whose start tag was just given. The
    /// next token is its end tag, if it has one.
    pub(crate) fn raw_text(&mut self, kind: RawKind) -> &'a str {
        let rest = &self.text[self.at..];
        let length = raw_text_length(rest.as_bytes(), kind);
        self.at += length;
        &rest[..length]
    }

    /// The next piece, until the page ends.
    pub(crate) fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let start = self.at;
            let (open, markup) = self.next_markup(start);
            if open > start {
                self.at = open;
                return Some(Token::Text(&self.text[start..open]));
            }
            match self.markup(markup?, open) {
                Ok(token) => return Some(token),
                Err(next) => self.at = next,
            }
        }
    }

    /// Where the text that begins at `start` ends, and what ends it.
    fn next_markup(&self, start: usize) -> (usize, Option<Markup>) {
        let bytes = self.text.as_bytes();
        let mut at = start;
        while let Some(found) = memchr(b'<', &bytes[at..]) {
            let open = at + found;
            if let Some(markup) = Markup::at(&bytes[open + 1..], self.foreign) {
                return (open, Some(markup));
            }
            at = open + 1;
        }
        (bytes.len(), None)
    }

    /// Reads the markup whose `<` is at `open`: a token, or where to go on.
    fn markup(&mut self, markup: Markup, open: usize) -> Result<Token<'a>, usize> {
        let bytes = self.text.as_bytes();
        match markup {
            Markup::Start => self.tag(open, open + 1).map(Token::Start),
            Markup::End => self.tag(open, open + 2).map(Token::End),
            Markup::Comment => {
                let start = open + 4;
                let end = comment_end(bytes, start);
                let is_conditional = bytes[start..].starts_with(b"[if ");
                let content = is_conditional.then(|| conditional_content(&self.text[start..end]));
                let Some(content) = content.flatten() else {
                    return Err(end);
                };
                self.at = end;
                Ok(Token::Conditional(content))
            }
            Markup::Declaration if self.xml && bytes[open + 1] == b'?' => {
                let start = open + 2;
                let length = memmem::find(&bytes[start..], b"?>");
                let end = start + length.ok_or(bytes.len())?;
                self.at = end + 2;
                Ok(Token::Instruction(&self.text[start..end]))
            }
            Markup::Declaration => Err(past(b'>', bytes, open + 1)),
            Markup::Cdata => {
                let start = open + "<![CDATA[".len();
                let length = memmem::find(&bytes[start..], b"]]>");
                let end = length.map_or(bytes.len(), |length| start + length);
                self.at = (end + 3).min(bytes.len());
                Ok(Token::Verbatim(&self.text[start..end]))
            }
        }
    }

    /// Reads the tag that opens at `open` and whose name begins at `start`. A tag
    /// the page ends inside is none.
    fn tag(&mut self, open: usize, start: usize) -> Result<Tag, usize> {
        let bytes = self.text.as_bytes();
        let length = bytes[start..]
            .iter()
            .position(|&byte| is_space(byte) || byte == b'/' || byte == b'>')
            .ok_or(bytes.len())?;
        let mut name = &bytes[start..start + length];
        if self.xml {
            name = local_name(name);
        }
        let mut tag = Tag {
            element: Element::named(name),
            self_closing: false,
        };
        self.attributes = Attributes::default();
        (self.tag_start, self.name_end) = (open, start + length);
        let mut at = start + length;
        loop {
            at = skip_spaces(bytes, at);
            match bytes.get(at) {
                None => return Err(bytes.len()),
                Some(b'>') => {
                    self.at = at + 1;
                    return Ok(tag);
                }
                Some(b'/') => {
                    at += 1;
                    tag.self_closing = bytes.get(at) == Some(&b'>');
                }
                Some(_) => at = self.attribute(at),
            }
        }
    }

    /// Reads an attribute whose name begins at `start`; gives where it ends.
    fn attribute(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let AttributeSpan { name, value, next } = attribute_at(bytes, start);
        let value = value.map_or("", |value| &self.text[value]);
        let mut name = &bytes[name];
        if self.xml && name.ends_with(b":href") {
            // Whatever the prefix is: only XLink has such an attribute.
            name = b"xlink:href";
        }
        self.attributes.add(name, value);
        next
    }
}

/// The attribute whose name begins at `start`.
fn attribute_at(bytes: &[u8], start: usize) -> AttributeSpan {
    // A `=` in the first place belongs to the name.
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at)
        && !(is_space(byte) || matches!(byte, b'/' | b'>' | b'='))
    {
        at += 1;
    }
    let name = start..at;
    let after_name = skip_spaces(bytes, at);
    if bytes.get(after_name) != Some(&b'=') {
        return AttributeSpan {
            name,
            value: None,
            next: after_name,
        };
    }
    let value_start = skip_spaces(bytes, after_name + 1);
    if let Some(&quote @ (b'"' | b'\'')) = bytes.get(value_start) {
        let from = value_start + 1;
        let length = memchr(quote, &bytes[from..]);
        let to = length.map_or(bytes.len(), |length| from + length);
        return AttributeSpan {
            name,
            value: Some(from..to),
            next: (to + 1).min(bytes.len()),
        };
    }
    let length = bytes[value_start..]
        .iter()
        .position(|&byte| is_space(byte) || byte == b'>');
    let to = length.map_or(bytes.len(), |length| value_start + length);
    AttributeSpan {
        name,
        value: Some(value_start..to),
        next: to,
    }
}

/// A name without its prefix.
fn local_name(name: &[u8]) -> &[u8] {
    match memchr(b':', name) {
        Some(colon) => &name[colon + 1..],
        None => name,
    }
}

/// What a `<` begins.
#[derive(Clone, Copy)]
enum Markup {
    Start,
    End,
    Comment,
    /// A doctype, a processing instruction, a bogus comment or `</>`: all end at
    /// the next `>`.
    Declaration,
    Cdata,
}

impl Markup {
    /// Reads what follows a `<`; `None` when the `<` is text.
    fn at(after: &[u8], foreign: bool) -> Option<Self> {
        Some(match after {
            [letter, ..] if letter.is_ascii_alphabetic() => Self::Start,
            [b'/', letter, ..] if letter.is_ascii_alphabetic() => Self::End,
            [b'!', b'-', b'-', ..] => Self::Comment,
            [b'!', rest @ ..] if foreign && rest.starts_with(b"[CDATA[") => Self::Cdata,
            [b'/', _, ..] | [b'?' | b'!', ..] => Self::Declaration,
            _ => return None,
        })
    }
}

/// Where a comment ends whose content begins at `start`. Besides `-->` the
/// standard knows `--!>`, and `>` or `->` right at the start.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let content = &bytes[start..];
    for close in memchr::memchr_iter(b'>', content) {
        let before = &content[..close];
        let ends = before.ends_with(b"--") || before.ends_with(b"--!");
        if ends || before.is_empty() || before == b"-" {
            return start + close + 1;
        }
    }
    bytes.len()
}

/// What is between `[if …]>` and `<![endif]` in a comment.
fn conditional_content(comment: &str) -> Option<&str> {
    let (_, content) = comment.split_once("]>")?;
    // Where the condition is shown to all, the comment ends in `<!-->` at once.
    let end = content.rfind("<!").unwrap_or(content.len());
    Some(&content[..end]).filter(|content| !content.is_empty())
}

/// The position after the next `byte`, or the end.
fn past(byte: u8, bytes: &[u8], from: usize) -> usize {
    memchr(byte, &bytes[from..]).map_or(bytes.len(), |found| from + found + 1)
}

fn skip_spaces(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// White space of HTML.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the tokens of a page in short: `<a href=x>`, `</a>`, `"text"`.
    fn tokens(page: &str) -> String {
        let mut tokenizer = Tokenizer::new(page);
        let mut out = String::new();
        while let Some(token) = tokenizer.next() {
            match token {
                Token::Text(text) | Token::Verbatim(text) => out.extend(["\"", text, "\""]),
                Token::End(tag) => out += &format!("</{:?}>", tag.element).to_lowercase(),
                Token::Conditional(content) | Token::Instruction(content) => {
                    out.extend(["[", content, "]"]);
                }
                Token::Start(tag) => {
                    out += &format!("<{:?}", tag.element).to_lowercase();
                    if let Some(href) = tokenizer.attributes().get(Attribute::Href) {
                        out.extend([" href=", href]);
                    }
                    out += if tag.self_closing { "/>" } else { ">" };
                }
            }
        }
        out
    }

    fn check(page: &str, expected: &str) {
        assert_eq!(tokens(page), expected, "from {page:?}");
    }

    #[test]
    fn attributes_are_quoted_in_every_way() {
        check("<a href=x>", "<a href=x>");
        check("<a href = 'x y'>", "<a href=x y>");
        check("<a\nHREF=\"x>y\"\n>t", "<a href=x>y>\"t\"");
        check("<a href=x/>", "<a href=x/>");
        check("<a href=x />", "<a href=x/>");
        check("<a href>", "<a href=>");
        check("<a href=>b", "<a href=>\"b\"");
        check("<a href=''class=y href=z>", "<a href=>");
        check("<a href=x href=y>", "<a href=x>");
        check("<a/href=x>", "<a href=x>");
        check("<a =href=x>", "<a>");
        check("<a href=\"x\"\"y\">", "<a href=x>");
    }

    #[test]
    fn spans_lead_back_into_the_text() {
        let page = "x<!-- <a> --><a CLASS=b/href = 'x y'data-q checked>";
        let mut tokenizer = Tokenizer::new(page);
        assert!(matches!(tokenizer.next(), Some(Token::Text("x"))));
        assert!(matches!(tokenizer.next(), Some(Token::Start(_))));
        assert_eq!(&page[tokenizer.tag_span()], &page[13..]);
        let spans: Vec<_> = tokenizer
            .attribute_spans()
            .map(|span| (&page[span.name], span.value.map(|value| &page[value])))
            .collect();
        assert_eq!(
            spans,
            [
                ("CLASS", Some("b/href")),
                ("=", None),
                ("'x", None),
                ("y'data-q", None),
                ("checked", None)
            ]
        );
    }

    #[test]
    fn comments_end_in_odd_ways() {
        check("<!--><a>", "<a>");
        check("<!---><a>", "<a>");
        check("<!----><a>", "<a>");
        check("<!----!><a>", "<a>");
        check("<!-- <a> -- > --!> <b>", "\" \"<b>");
        check("<!-- <!-- --><a>", "<a>");
        check("<!---!><a>-->", "");
        check("<!-- never ends <a>", "");
        check("<!--[if IE]><a><![endif]--><b>", "[<a>]<b>");
        check("<!--[if !IE]><!--><a><!--<![endif]-->", "<a>");
        check("<![if !IE]><a><![endif]>", "<a>");
        check("<!--[if IE 6]>x", "[x]");
        check("<!--[if IE", "");
    }

    #[test]
    fn what_is_no_tag_is_text_or_nothing() {
        check("a < b <3 <", "\"a < b <3 <\"");
        check("</>x</ y>z", "\"x\"\"z\"");
        check("</", "\"</\"");
        check("<?php a ?>b<!doctype html>c<!bogus>d", "\"b\"\"c\"\"d\"");
        check("<![CDATA[x]]>y", "\"y\"");
        check("x<a href=", "\"x\"");
        check("x<a href='y", "\"x\"");
        check("<a <b>c", "<a>\"c\"");
        check("<é>", "\"<é>\"");
    }

    #[test]
    fn a_million_comments_do_not_exhaust_the_stack() {
        check(&"<!-->".repeat(1_000_000), "");
        check(&"</>".repeat(1_000_000), "");
    }

    #[test]
    fn cdata_is_text_inside_svg() {
        let mut tokenizer = Tokenizer::new("<![CDATA[<a>]]>b");
        tokenizer.set_foreign(true);
        assert!(matches!(tokenizer.next(), Some(Token::Verbatim("<a>"))));
        assert!(matches!(tokenizer.next(), Some(Token::Text("b"))));
        assert!(tokenizer.next().is_none());
    }
}
