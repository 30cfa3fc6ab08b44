//! The HTML reader: one walk over the tokens of a page.
//!
//! What leads somewhere, and of which kind it is, is in [`leads`].
//!
//! Navigation, asides, and the head and foot of a page that are not those of an
//! article stand around the main text: a reader sees them, but the fingerprint, the
//! simhash and the count of words do not. Nor do they see advertisements, as far as
//! their authors call them so ([`crate::advert`]), and the labels of drawings. What
//! holds an article or a first heading is not an advertisement, whatever it is
//! called.
//!
//! Visible text leaves out scripts, styles, the title, `noscript`, templates, and
//! elements hidden by an attribute or an inline style.

mod drawing;
mod forms;
mod leads;
mod nested;

use std::borrow::Cow;

use geomi_model::{Document, DocumentKind, Link, LinkKind, RobotsMeta};
use geomi_url::CrawlUrl;

use crate::advert::{is_advert, may_name_advert};
use crate::charset::{self, Decoded};
use crate::content::Content;
use crate::element::{Attribute, Element};
use crate::foreign::Foreign;
use crate::links::LinkCollector;
use crate::raw_text::RawKind;
use crate::reader::{Extractor, PageInput, ReadLimits, essence};
use crate::references::{self, Place};
use crate::soft404;
use crate::spam::SpamFeatures;
use crate::text::VisibleText;
use crate::tokenizer::{Tag, Token, Tokenizer, is_space};
use crate::values::{fold_spaces, style_hides};
use crate::xml_prelude::{style_sheet_of, without_declarations};
use forms::Forms;
use nested::{NESTED_MAX, Nested};

/// How compressed files begin; no page does.
const GZIP: &[u8] = &[0x1F, 0x8B];

/// Reads HTML and XHTML.
#[derive(Clone, Copy, Debug, Default)]
pub struct HtmlReader;

impl Extractor for HtmlReader {
    fn mime(&self) -> &'static str {
        "text/html"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        match content.mime {
            // Sitemaps and feeds come labelled as pages, and are none.
            "text/html" => content.xml_root().is_none() && !content.body.starts_with(GZIP),
            "" => sniffs_as_html(content.body),
            mime => is_xhtml(mime),
        }
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        if input.mime.map(essence).is_some_and(|mime| is_xhtml(&mime)) {
            return examine_xml(input, limits).0;
        }
        examine(input, limits).0
    }
}

/// Whether a page of this type is read by the rules of XML.
fn is_xhtml(mime: &str) -> bool {
    matches!(
        mime,
        "application/xhtml+xml" | "application/vnd.wap.xhtml+xml"
    )
}

/// Reads a page, and what its spam score is made of.
pub(crate) fn examine(input: &PageInput<'_>, limits: &ReadLimits) -> (Document, SpamFeatures) {
    let decoded = charset::decode(input, limits);
    let walk = Walk::new(&decoded.text, limits);
    finish(walk, &decoded, input)
}

/// The same for a page that is XML.
pub(crate) fn examine_xml(input: &PageInput<'_>, limits: &ReadLimits) -> (Document, SpamFeatures) {
    let decoded = charset::decode(input, limits);
    let text = without_declarations(&decoded.text);
    let walk = Walk::of_xml(&text, limits);
    finish(walk, &decoded, input)
}

fn finish(
    mut walk: Walk<'_>,
    decoded: &Decoded<'_>,
    input: &PageInput<'_>,
) -> (Document, SpamFeatures) {
    walk.run();
    let resolved = walk.links.resolve(input.url, decoded.query_encoding);
    let text = walk.text.finish();
    let title = walk.title.filter(|title| !title.is_empty());
    let host = input.url.host();
    let anchors = resolved.links.iter();
    let anchors = anchors.filter(|link| link.kind == LinkKind::Anchor);
    let elsewhere = anchors.clone().filter(|link| link.url.host() != host);
    let spam = SpamFeatures {
        words: text.words,
        top_word_percent: text.top_word_percent,
        anchors: anchors.clone().count() as u32,
        anchors_elsewhere: elsewhere.count() as u32,
        text_bytes: text.text_bytes,
        hidden_bytes: walk.hidden_bytes,
        title_repeats: title.as_deref().map_or(0, SpamFeatures::title_repeats_of),
        keywords: walk.keywords,
        host_chars: host.len() as u32,
        host_hyphens: host.matches('-').count() as u32,
    };
    let title_says_so = title.as_deref().is_some_and(soft404::title_says_so);
    let document = Document {
        kind: DocumentKind::Html,
        charset: Some(decoded.charset),
        says_not_found: text.says_not_found || title_says_so,
        title,
        links: resolved.links,
        base: resolved.base,
        canonical: resolved.canonical,
        robots: walk.robots,
        text_bytes: text.text_bytes,
        main_text_bytes: text.main_bytes,
        own_text_bytes: text.main_bytes.saturating_sub(walk.link_bytes),
        fingerprint: text.fingerprint,
        wording: text.wording,
        simhash: text.simhash,
        spam_percent: spam.score_percent(),
        numbers: text.numbers,
        figures: text.figures,
        truncated: resolved.truncated,
        links_dropped: resolved.dropped,
        is_garbled: decoded.is_garbled(),
    };
    (document, spam)
}

/// The links of a piece of HTML that stands in another document.
pub(crate) fn links_of(markup: &str, base: &CrawlUrl, limits: &ReadLimits) -> Vec<Link> {
    let mut walk = Walk::new(markup, limits);
    walk.run();
    walk.links.resolve(base, encoding_rs::UTF_8).links
}

/// The visible text of a page as it stands in it, with a mark between blocks.
pub(crate) fn visible_text(input: &PageInput<'_>, limits: &ReadLimits) -> String {
    let decoded = charset::decode(input, limits);
    let text;
    let mut walk = if input.mime.map(essence).is_some_and(|mime| is_xhtml(&mime)) {
        text = without_declarations(&decoded.text);
        Walk::of_xml(&text, limits)
    } else {
        Walk::new(&decoded.text, limits)
    };
    walk.text.keep_copy();
    walk.run();
    walk.text.into_copy()
}

/// Whether bytes without a declared type begin like HTML (WHATWG MIME Sniffing
/// §7.1).
pub(crate) fn sniffs_as_html(body: &[u8]) -> bool {
    const STARTS: [&[u8]; 17] = [
        b"!DOCTYPE HTML",
        b"HTML",
        b"HEAD",
        b"SCRIPT",
        b"IFRAME",
        b"H1",
        b"DIV",
        b"FONT",
        b"TABLE",
        b"A",
        b"STYLE",
        b"TITLE",
        b"B",
        b"BODY",
        b"BR",
        b"P",
        b"META",
    ];
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    let start = body.iter().position(|&byte| !is_space(byte));
    let Some(after) = start.and_then(|start| body[start..].strip_prefix(b"<")) else {
        return false;
    };
    after.starts_with(b"!--")
        || STARTS.iter().any(|name| {
            after
                .get(..name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
                && matches!(
                    after.get(name.len()),
                    Some(b' ' | b'\t' | b'\n' | b'\r' | b'>')
                )
        })
}

/// The state of a walk.
struct Walk<'a> {
    tokenizer: Tokenizer<'a>,
    links: LinkCollector<'a>,
    text: VisibleText,
    foreign: Foreign,
    /// The element whose text nobody sees.
    unseen: Option<Inside>,
    /// The template whose content does not count at all.
    template: Option<Inside>,
    /// The element around the main text: navigation and the like.
    around: Option<Inside>,
    /// The advertisement or drawing beside it.
    beside: Option<Inside>,
    /// The advertisement whose links are marked, wherever it stands.
    advert: Option<Advert>,
    /// The forms, as far as they are read.
    forms: Forms,
    /// The element of a drawing whose text is a style sheet or a script.
    foreign_code: Option<Element>,
    /// Pieces of markup inside the page that may still be read, and how deep this
    /// one is.
    nested_left: u32,
    nesting: u32,
    /// Articles that are open: what is in them is main text.
    articles: u32,
    /// Bytes of main text before the link that is open.
    link_from: Option<u64>,
    /// Bytes of main text in links.
    link_bytes: u64,
    /// Bytes of text hidden by an attribute or a style.
    hidden_bytes: u64,
    /// Entries of the keywords.
    keywords: u32,
    title: Option<String>,
    limits: ReadLimits,
    robots: RobotsMeta,
    /// Whether the page is XML.
    is_xml: bool,
    /// Whether the options of the list that is open are addresses.
    options_lead: bool,
}

/// An advertisement that is open.
struct Advert {
    inside: Inside,
    /// It ends with what is around the main text at the latest.
    is_around: bool,
}

/// An element we wait for the end of.
struct Inside {
    element: Element,
    depth: u32,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str, limits: &ReadLimits) -> Self {
        Self {
            tokenizer: Tokenizer::new(text),
            links: LinkCollector::new(limits),
            text: VisibleText::new(),
            foreign: Foreign::default(),
            unseen: None,
            template: None,
            around: None,
            beside: None,
            advert: None,
            forms: Forms::default(),
            foreign_code: None,
            nested_left: NESTED_MAX,
            nesting: 0,
            articles: 0,
            link_from: None,
            link_bytes: 0,
            hidden_bytes: 0,
            keywords: 0,
            title: None,
            limits: *limits,
            robots: RobotsMeta::default(),
            is_xml: false,
            options_lead: false,
        }
    }

    /// A walk over XML.
    fn of_xml(text: &'a str, limits: &ReadLimits) -> Self {
        Self {
            tokenizer: Tokenizer::of_xml(text),
            is_xml: true,
            ..Self::new(text, limits)
        }
    }

    fn run(&mut self) {
        while let Some(token) = self.tokenizer.next() {
            match token {
                Token::Text(text) => {
                    self.foreign_text(text);
                    self.show(text);
                }
                Token::Verbatim(text) => {
                    self.foreign_text(text);
                    if self.is_seen() {
                        self.text.push(text);
                    }
                }
                Token::Start(tag) => self.start(tag),
                Token::End(tag) => self.end(tag),
                Token::Conditional(markup) => self.nested(markup, Nested::Part),
                Token::Instruction(text) => {
                    if let Some(href) = style_sheet_of(text) {
                        self.lead(href, LinkKind::Embedded, false);
                    }
                }
            }
        }
        self.forms_complete();
    }

    fn is_seen(&self) -> bool {
        self.unseen.is_none() && self.template.is_none()
    }

    fn show(&mut self, text: &str) {
        if self.is_seen() {
            references::each_piece(text, Place::Text, |piece| self.text.push(piece));
        } else if self.template.is_none()
            && let Some(unseen) = &self.unseen
            && unseen.element != Element::Noscript
        {
            self.hidden_bytes += text.trim_ascii().len() as u64;
        }
    }

    fn start(&mut self, tag: Tag) {
        let element = tag.element;
        if !element.is_inline() {
            self.text.space();
        }
        let foreign = self.foreign.start(tag, self.tokenizer.attributes());
        self.tokenizer.set_foreign(self.foreign.is_inside());
        // In HTML itself, `/>` does not make an element empty.
        let is_empty = tag.self_closing && (foreign || self.is_xml);
        if !is_empty {
            self.enter(element, foreign);
        }
        if !foreign && !is_empty {
            self.look_around(element);
        }
        if element == Element::A {
            self.link_ended();
            self.link_from = Some(self.text.main_bytes());
        }
        if !is_empty {
            self.look_beside(element);
        }
        self.foreign_code = None;
        if foreign {
            self.foreign_link(tag);
        } else {
            self.read_element(element);
        }
        self.read_attributes(element);
        if self.is_xml {
            self.xml_element(tag, foreign);
        } else if !foreign && let Some(kind) = RawKind::of(element) {
            let content = self.tokenizer.raw_text(kind);
            self.raw_content(element, content);
        }
    }

    /// What is different of an element in XML: any may have an `XLink`, and its
    /// content is markup, but for a script, a style sheet or a title.
    fn xml_element(&mut self, tag: Tag, foreign: bool) {
        let element = tag.element;
        if foreign {
            return;
        }
        if let Some(target) = self.tokenizer.attributes().get(Attribute::XlinkHref) {
            self.lead(target, LinkKind::Other, false);
        }
        let is_raw = matches!(element, Element::Script | Element::Style | Element::Title);
        if tag.self_closing || !is_raw {
            return;
        }
        if self.tokenizer.tag_name().contains(':') {
            // Its end tag has a prefix, too; what follows are its texts.
            self.foreign_code = Some(element).filter(|it| *it != Element::Title);
        } else if let Some(kind) = RawKind::of(element) {
            let content = self.tokenizer.raw_text(kind);
            let content = xml_text(content);
            self.raw_content(element, &content);
        }
    }

    fn end(&mut self, tag: Tag) {
        if !tag.element.is_inline() {
            self.text.space();
        }
        self.foreign.end(tag.element);
        self.tokenizer.set_foreign(self.foreign.is_inside());
        self.foreign_code = None;
        Inside::leave(&mut self.unseen, tag.element);
        Inside::leave(&mut self.template, tag.element);
        match tag.element {
            Element::Nav | Element::Aside | Element::Header | Element::Footer => {
                Inside::leave(&mut self.around, tag.element);
                self.set_main();
                if self.around.is_none() {
                    self.advert.take_if(|advert| advert.is_around);
                }
            }
            Element::A => self.link_ended(),
            Element::Form => self.form_ended(),
            Element::Select => self.options_lead = false,
            Element::Article | Element::Main => self.articles = self.articles.saturating_sub(1),
            _ => {}
        }
        if self.beside.is_some() {
            Inside::leave(&mut self.beside, tag.element);
            self.set_main();
        }
        if let Some(advert) = &mut self.advert
            && advert.inside.is_closed_by(tag.element)
        {
            self.advert = None;
        }
    }

    /// Counts the main text of the link that was open.
    fn link_ended(&mut self) {
        if let Some(from) = self.link_from.take() {
            self.link_bytes += self.text.main_bytes().saturating_sub(from);
        }
    }

    /// Says whether what comes next is what the page is about.
    fn set_main(&mut self) {
        let is_main = self.around.is_none() && self.beside.is_none();
        self.text.set_main(is_main);
    }

    /// Notes advertisements, and drawings in the main text.
    fn look_beside(&mut self, element: Element) {
        // An author may have named a frame around everything after what hangs
        // above it.
        let begins_page = matches!(element, Element::Article | Element::Main | Element::H1);
        let is_named = (self.advert.is_none() || self.beside.is_none())
            && element.may_be_advert()
            && self.is_named_advert();
        match &mut self.advert {
            Some(_) if begins_page => self.advert = None,
            Some(advert) if advert.inside.element == element => advert.inside.depth += 1,
            None if is_named => {
                self.advert = Some(Advert {
                    inside: Inside { element, depth: 1 },
                    is_around: self.around.is_some(),
                });
            }
            _ => {}
        }
        if let Some(beside) = &mut self.beside {
            // An author may have left a drawing open.
            let is_over = match beside.element {
                Element::Svg => !self.foreign.is_open(),
                _ => begins_page,
            };
            if is_over {
                self.beside = None;
                self.set_main();
            } else if beside.element == element {
                beside.depth += 1;
            }
            return;
        }
        if element == Element::Svg || (is_named && self.around.is_none()) {
            self.beside = Some(Inside { element, depth: 1 });
            self.set_main();
        }
    }

    fn is_named_advert(&self) -> bool {
        may_name_advert(self.tokenizer.attributes_text().as_bytes())
            && self.tokenizer.attribute_texts().any(|(name, value)| {
                let is_name = ["class", "id"]
                    .iter()
                    .any(|it| name.eq_ignore_ascii_case(it));
                is_name && is_advert(value)
            })
    }

    /// Notes what stands around the main text. The head and foot of an article
    /// are its own.
    fn look_around(&mut self, element: Element) {
        let is_around = match element {
            Element::Nav | Element::Aside => true,
            Element::Header | Element::Footer => self.articles == 0,
            Element::Article | Element::Main => {
                self.articles += 1;
                return;
            }
            _ => return,
        };
        if self.around.is_some() {
            Inside::deepen(&mut self.around, element);
        } else if is_around {
            self.around = Some(Inside { element, depth: 1 });
            self.set_main();
        }
    }

    /// Notes an element whose content is hidden or inert.
    fn enter(&mut self, element: Element, foreign: bool) {
        Inside::deepen(&mut self.unseen, element);
        Inside::deepen(&mut self.template, element);
        let attributes = self.tokenizer.attributes();
        if element == Element::Template && !foreign {
            // A shadow root written in HTML is shown without any script.
            let is_shown = attributes.get(Attribute::ShadowRootMode).is_some();
            if self.template.is_none() && !is_shown {
                self.template = Some(Inside { element, depth: 1 });
            }
        } else if self.unseen.is_none() {
            let by_style = || attributes.get(Attribute::Style).is_some_and(style_hides);
            let hides = if element == Element::Noscript {
                !foreign
            } else {
                element.is_always_closed()
                    && (attributes.get(Attribute::Hidden).is_some() || by_style())
            };
            if hides {
                self.unseen = Some(Inside { element, depth: 1 });
            }
        }
    }

    fn raw_content(&mut self, element: Element, content: &str) {
        match element {
            Element::Title if self.title.is_none() && self.template.is_none() => {
                let title = references::decode(content, Place::Text);
                self.title = Some(fold_spaces(&title, self.limits.title_bytes_max));
            }
            Element::Textarea => self.show(content),
            Element::Style => self.style_sheet(content),
            Element::Script => self.script(content),
            Element::Noframes | Element::Noembed => self.nested(content, Nested::Part),
            Element::Xmp | Element::Plaintext if self.is_seen() => self.text.push(content),
            _ => {}
        }
    }
}

/// Text of XML that holds no elements: CDATA sections as they stand, references
/// replaced elsewhere.
fn xml_text(raw: &str) -> Cow<'_, str> {
    const OPEN: &str = "<![CDATA[";
    if !raw.contains(OPEN) {
        return references::decode(raw, Place::Text);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once(OPEN) {
        text += &references::decode(before, Place::Text);
        let (section, next) = after.split_once("]]>").unwrap_or((after, ""));
        text += section;
        rest = next;
    }
    text += &references::decode(rest, Place::Text);
    Cow::Owned(text)
}

impl Inside {
    /// One more of the element we wait for.
    fn deepen(inside: &mut Option<Self>, element: Element) {
        if let Some(inside) = inside
            && inside.element == element
        {
            inside.depth += 1;
        }
    }

    /// One less; the last one opens the view again.
    fn leave(inside: &mut Option<Self>, element: Element) {
        if let Some(open) = inside
            && open.is_closed_by(element)
        {
            *inside = None;
        }
    }

    /// Takes an end tag; says whether it was the last one.
    fn is_closed_by(&mut self, element: Element) -> bool {
        if self.element == element {
            self.depth -= 1;
        }
        self.depth == 0
    }
}
