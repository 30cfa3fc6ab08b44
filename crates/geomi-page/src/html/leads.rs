//! Where a page leads: what counts as a link, and of which kind it is.
//!
//! * frames: `frame`;
//! * anchors: `a` and `area`;
//! * embedded, what a browser loads with the page: images with their `srcset`, style
//!   sheets, icons and preloads, scripts, media, `iframe`, `embed`, `object` and
//!   `applet`, backgrounds, what CSS names in style elements and attributes, and what
//!   scripts load later by `data-src` and its like;
//! * forms that can be sent as they stand ([`crate::form`]);
//! * scripts: addresses in script elements, event handlers and `javascript:`
//!   ([`crate::script`]), and all that is in a `template`, which only a script shows;
//! * others: `link` (unless it only opens a connection), `cite`, `longdesc`, `ping`,
//!   a `meta` refresh or picture, and other attributes that hold an address.
//!
//! Links inside `noscript`, `noframes`, `srcdoc` and conditional comments count as if
//! they stood in the page, because some readers see them. An address that is a
//! template (`{{url}}`) leads nowhere. What only names something (`itemtype`, the
//! address of a doctype) or only reports something (`report-uri`) is no link.

use std::borrow::Cow;

use geomi_model::LinkKind;
use memchr::memchr;

use super::Walk;
use super::nested::Nested;
use crate::data_url::is_data;
use crate::element::{Attribute, Element, may_lead, paints};
use crate::links::Reference;
use crate::references::{self, Place};
use crate::robots;
use crate::script::{self, Code, Found};
use crate::tokenizer::{Token, Tokenizer};
use crate::values::{Rel, each_source, percent_decoded, refresh_target};

/// Names of `meta` elements whose content is an address.
const META: [&str; 24] = [
    "og:url",
    "og:image",
    "og:image:url",
    "og:image:secure_url",
    "og:video",
    "og:video:url",
    "og:video:secure_url",
    "og:audio",
    "og:audio:url",
    "twitter:image",
    "twitter:image:src",
    "twitter:player",
    "twitter:player:stream",
    "msapplication-config",
    "msapplication-starturl",
    "msapplication-tileimage",
    "thumbnail",
    "thumbnailurl",
    "image",
    "url",
    "contenturl",
    "embedurl",
    "citation_pdf_url",
    "citation_fulltext_html_url",
];

/// How deep scripts may be in one another's strings.
const CODE_DEPTH_MAX: u32 = 2;

/// Names of `param` elements whose value is an address.
const PARAMS: [&str; 8] = [
    "movie", "src", "url", "href", "data", "file", "filename", "image",
];

/// Parts of names of `data-` attributes that hold what a page shows.
const SHOWN: [&str; 12] = [
    "src",
    "lazy",
    "bg",
    "background",
    "image",
    "img",
    "poster",
    "original",
    "thumb",
    "echo",
    "zoom",
    "icon",
];

impl<'a> Walk<'a> {
    /// Reads what an HTML element says by its attributes.
    pub(super) fn read_element(&mut self, element: Element) {
        use Attribute::{Data, Href, ImageSrcset, Poster, Src, Srcset, Type};
        use LinkKind::{Anchor, Embedded, Frame};
        match element {
            Element::A | Element::Area => {
                let nofollow = self.rel().nofollow;
                self.link(Href, Anchor, nofollow);
            }
            Element::Frame => self.link(Src, Frame, false),
            Element::Link => {
                self.link_element();
                self.sources(ImageSrcset);
            }
            Element::Img | Element::Image | Element::Source => {
                self.link(Src, Embedded, false);
                self.sources(Srcset);
            }
            Element::Iframe
            | Element::Script
            | Element::Embed
            | Element::Bgsound
            | Element::Audio
            | Element::Track => {
                self.link(Src, Embedded, false);
            }
            Element::Video => {
                self.link(Src, Embedded, false);
                self.link(Poster, Embedded, false);
            }
            Element::Object | Element::Applet => self.object(element, Data),
            Element::Param => self.param(),
            Element::Form => self.form(),
            Element::Input => {
                if self.is(Type, "image") {
                    self.link(Src, Embedded, false);
                }
                self.input();
            }
            Element::Button => self.button(),
            Element::Select | Element::Textarea => {
                self.options_lead = false;
                self.open_field();
            }
            Element::Option if self.options_lead => self.option(),
            Element::Base if self.template.is_none() => {
                if let Some(href) = self.tokenizer.attributes().get(Href) {
                    self.links.set_base(href);
                }
            }
            Element::Meta if self.template.is_none() => self.meta(),
            Element::Unknown => self.custom_element(),
            _ => {}
        }
    }

    /// Reads what any element may have: a style, and the rarer attributes.
    pub(super) fn read_attributes(&mut self, element: Element) {
        let attributes = self.tokenizer.attributes();
        if let Some(style) = attributes.get(Attribute::Style)
            && memchr(b'(', style.as_bytes()).is_some()
        {
            self.style_sheet(&references::decode(style, Place::Attribute));
        }
        if !self.tokenizer.attributes().has_rare() {
            return;
        }
        let found: Vec<_> = (self.tokenizer.attribute_texts())
            .filter(|(name, value)| may_lead(name.as_bytes(), value))
            .collect();
        for (name, value) in found {
            self.rare(element, &name.to_ascii_lowercase(), value);
        }
    }

    /// An attribute that leads somewhere in a rarer way.
    fn rare(&mut self, element: Element, name: &str, raw: &'a str) {
        use LinkKind::{Anchor, Embedded, Form, Other};
        match name {
            "background" | "icon" if !raw.contains(['.', '/']) => {}
            "background" | "icon" | "lowsrc" | "dynsrc" | "ng-src" => {
                self.lead(raw, Embedded, false);
            }
            _ if paints(name.as_bytes(), raw) => {
                self.style_sheet(&references::decode(raw, Place::Attribute));
            }
            "cite" | "longdesc" | "itemid" | "implementation" | "pluginspage" => {
                self.lead(raw, Other, false);
            }
            "manifest" if element == Element::Html => self.lead(raw, Other, false),
            "profile" if element == Element::Head => self.each_word(raw),
            "ping" => self.each_word(raw),
            "ng-href" => self.lead(raw, Anchor, false),
            "action" if element == Element::Isindex => self.lead(raw, Form, false),
            "srcdoc" => {
                let markup = references::decode(raw, Place::Attribute);
                self.nested(&markup, Nested::Document);
            }
            _ if name.starts_with("on") => {
                let code = references::decode(raw, Place::Attribute);
                if element == Element::Select && name == "onchange" {
                    self.options_lead = script::opens_value(&code);
                }
                self.scan(&code, Code::Inline);
            }
            _ if name.starts_with("data-") => self.data_attribute(name, raw),
            _ => {}
        }
    }

    fn each_word(&mut self, raw: &'a str) {
        for word in raw.split_ascii_whitespace() {
            self.lead(word, LinkKind::Other, false);
        }
    }

    /// An attribute of the page's own making: what a script loads or opens later.
    fn data_attribute(&mut self, name: &str, raw: &'a str) {
        let value = references::decode(raw, Place::Attribute);
        let value = value.trim_ascii();
        let is_shown = SHOWN.iter().any(|part| name.contains(part));
        let kind = if is_shown {
            LinkKind::Embedded
        } else {
            LinkKind::Script
        };
        if value.starts_with(['{', '[']) {
            self.scan(value, Code::Json);
        } else if name == "data-action" && value.contains(['\'', '"']) {
            self.scan(value, Code::Inline);
        } else if name.contains("srcset") || name.contains("bgset") {
            each_source(value, |source| self.owned(source, kind));
        } else if value.contains("url(") {
            self.style_sheet(value);
        } else if script::is_reference(value)
            && (script::looks_like_address(value)
                || ((is_shown || name.ends_with("href") || name.ends_with("url"))
                    && value.contains(['.', '/', '?'])))
        {
            self.owned(value, kind);
        }
    }

    fn is(&self, attribute: Attribute, word: &str) -> bool {
        let value = self.tokenizer.attributes().get(attribute);
        value.is_some_and(|value| value.trim_ascii().eq_ignore_ascii_case(word))
    }

    /// The value of an attribute that is looked at in few elements.
    pub(super) fn value_of(&self, wanted: &str) -> Option<&'a str> {
        let mut attributes = self.tokenizer.attribute_texts();
        attributes
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    }

    pub(super) fn decoded(&self, wanted: &str) -> Option<Cow<'a, str>> {
        let value = self.value_of(wanted)?;
        Some(references::decode(value, Place::Attribute))
    }

    pub(super) fn rel(&self) -> Rel {
        self.tokenizer
            .attributes()
            .get(Attribute::Rel)
            .map(Rel::parse)
            .unwrap_or_default()
    }

    pub(super) fn link(&mut self, attribute: Attribute, kind: LinkKind, nofollow: bool) {
        if let Some(value) = self.tokenizer.attributes().get(attribute) {
            self.lead(value, kind, nofollow);
        }
    }

    /// Takes an address as an attribute has it, or the script in its place.
    pub(super) fn lead(&mut self, raw: &'a str, kind: LinkKind, nofollow: bool) {
        if begins_rarely(raw) {
            if let Some(code) = script_address(raw) {
                let code = references::decode(code, Place::Attribute);
                self.scan(&percent_decoded(&code), Code::Inline);
                return;
            }
            if matches!(kind, LinkKind::Embedded | LinkKind::Frame) && is_data(raw) {
                self.data_link(&references::decode(raw, Place::Attribute));
                return;
            }
        }
        let (kind, is_advert) = (self.shown(kind), self.advert.is_some());
        self.links.add(raw, kind, nofollow, is_advert);
    }

    /// Takes an address that stands in a larger value, decoded.
    pub(super) fn owned(&mut self, text: &str, kind: LinkKind) {
        let reference = Reference {
            text: Cow::Owned(text.to_owned()),
            kind: self.shown(kind),
            nofollow: false,
            is_advert: self.advert.is_some(),
        };
        self.links.add_reference(reference);
    }

    /// What is in a template is shown by a script, if ever.
    fn shown(&self, kind: LinkKind) -> LinkKind {
        if self.template.is_some() {
            LinkKind::Script
        } else {
            kind
        }
    }

    fn sources(&mut self, attribute: Attribute) {
        if let Some(srcset) = self.tokenizer.attributes().get(attribute) {
            each_source(srcset, |source| {
                self.lead(source, LinkKind::Embedded, false);
            });
        }
    }

    /// An element of the page's own making, which has a hyphen in its name, or one
    /// that old browsers knew; in XML, any that is not known.
    fn custom_element(&mut self) {
        use Attribute::{Href, Src, Srcset};
        let attributes = self.tokenizer.attributes();
        let leads = [Href, Src, Srcset]
            .iter()
            .any(|&it| attributes.get(it).is_some());
        if leads && (self.is_xml || is_custom(self.tokenizer.tag_name())) {
            self.link(Src, LinkKind::Embedded, false);
            self.link(Href, LinkKind::Other, false);
            self.sources(Srcset);
        }
    }

    fn link_element(&mut self) {
        let rel = self.rel();
        let Some(href) = self.tokenizer.attributes().get(Attribute::Href) else {
            return;
        };
        if rel.canonical && self.template.is_none() {
            self.links.set_canonical(href);
        }
        if !rel.only_connects {
            self.lead(href, rel.kind(), rel.nofollow);
        }
    }

    /// `object` and `applet`: parts of them are relative to a base of their own.
    fn object(&mut self, element: Element, data: Attribute) {
        let base = self.decoded("codebase");
        if let Some(base) = &base {
            self.owned(base, LinkKind::Embedded);
        }
        let data = self.tokenizer.attributes().get(data);
        let archive = self.value_of("archive").unwrap_or_default();
        let parts = archive.split([',', ' ', '\t', '\n', '\r']);
        let serialised = (element == Element::Applet).then(|| self.value_of("object"));
        let code = [self.value_of("classid"), self.value_of("code")];
        let whole = [data, code[0], code[1], serialised.flatten()];
        for part in whole.into_iter().flatten().chain(parts) {
            let part = references::decode(part, Place::Attribute);
            match base.as_deref() {
                _ if part.trim_ascii().is_empty() => {}
                Some(base) if is_relative(&part) => {
                    let base = base.trim_ascii().trim_end_matches('/');
                    self.owned(&format!("{base}/{}", part.trim_ascii()), LinkKind::Embedded);
                }
                _ => self.owned(&part, LinkKind::Embedded),
            }
        }
    }

    /// An option of a list that opens what is chosen.
    fn option(&mut self) {
        let value = self.decoded("value").unwrap_or_default();
        let value = value.trim_ascii();
        if script::is_reference(value) && value.contains(['/', '.', '?']) {
            self.owned(value, LinkKind::Script);
        }
    }

    fn param(&mut self) {
        let name = self.tokenizer.attributes().get(Attribute::Name);
        let names_address = name.is_some_and(|name| {
            let name = name.trim_ascii();
            PARAMS.iter().any(|known| name.eq_ignore_ascii_case(known))
        });
        if names_address && let Some(value) = self.value_of("value") {
            self.lead(value, LinkKind::Embedded, false);
        }
    }

    fn meta(&mut self) {
        let attributes = self.tokenizer.attributes();
        let Some(content) = attributes.get(Attribute::Content) else {
            return;
        };
        let for_robots = self.is(Attribute::Name, "robots") || self.is(Attribute::Name, "geomi");
        let refreshes = self.is(Attribute::HttpEquiv, "refresh");
        if self.is(Attribute::Name, "keywords") {
            self.keywords += 1 + content.bytes().filter(|&byte| byte == b',').count() as u32;
        }
        if for_robots && let Some(content) = self.links.readable(content) {
            self.robots = self.robots.or(robots::meta_content(&content));
        }
        if refreshes && let Some(target) = refresh_target(content) {
            self.lead(target, LinkKind::Other, false);
        } else if content.contains(['/', '.']) {
            self.meta_address(content);
        }
    }

    /// A `meta` whose content is an address, or markup, by its name.
    fn meta_address(&mut self, content: &'a str) {
        let names = ["name", "property", "itemprop"].map(|name| self.value_of(name));
        let mut names = names.into_iter().flatten().map(str::trim_ascii);
        let is_address = names.clone().any(|name| {
            META.iter().any(|known| name.eq_ignore_ascii_case(known))
                || (name.len() > 5 && name.ends_with("logo") && name.starts_with("msapplication"))
        });
        if is_address {
            self.lead(content, LinkKind::Other, false);
        } else if names.any(|name| name.eq_ignore_ascii_case("msapplication-task")) {
            for part in content.split(';') {
                if let Some((_, address)) = part.split_once("-uri=") {
                    self.lead(address, LinkKind::Other, false);
                }
            }
        } else if content.contains('<') {
            self.nested(&references::decode(content, Place::Attribute), Nested::Part);
        }
    }

    /// Reads the content of a script element, if it is a script or data.
    pub(super) fn script(&mut self, content: &str) {
        let sort = self.tokenizer.attributes().get(Attribute::Type);
        let sort = sort.unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let is_data = ["json", "importmap", "speculationrules"];
        let is_code = ["module", "javascript", "ecmascript", "jscript"];
        if is_data.iter().any(|word| sort.contains(word)) {
            self.scan(content, Code::Json);
        } else if sort.is_empty() || is_code.iter().any(|word| sort.contains(word)) {
            self.scan(content, Code::Inline);
        }
    }

    /// Takes the addresses in a script.
    pub(super) fn scan(&mut self, code: &str, sort: Code) {
        self.scan_within(code, sort, 0);
    }

    fn scan_within(&mut self, code: &str, sort: Code, depth: u32) {
        script::each_address(code, sort, |found| match found {
            Found::Address(text) => self.owned(&text, LinkKind::Script),
            Found::Markup(markup) => self.written(&markup),
            Found::Code(code, sort) if depth < CODE_DEPTH_MAX => {
                self.scan_within(&code, sort, depth + 1);
            }
            Found::Code(..) => {}
        });
    }

    /// Takes the links in markup that a script writes.
    fn written(&mut self, markup: &str) {
        let mut tokenizer = Tokenizer::new(markup);
        while let Some(token) = tokenizer.next() {
            if !matches!(token, Token::Start(_)) {
                continue;
            }
            for attribute in [Attribute::Href, Attribute::Src] {
                if let Some(raw) = tokenizer.attributes().get(attribute) {
                    let text = references::decode(raw, Place::Attribute);
                    self.owned(&text, LinkKind::Script);
                }
            }
        }
    }
}

/// Whether an address may begin with `javascript:` or `data:`. Few do.
fn begins_rarely(raw: &str) -> bool {
    matches!(
        raw.as_bytes().first(),
        Some(b'j' | b'J' | b'd' | b'D' | b' ' | b'\t' | b'\n' | b'\r')
    )
}

/// The code of a `javascript:` address.
pub(super) fn script_address(raw: &str) -> Option<&str> {
    const SCHEME: &str = "javascript:";
    let raw = raw.trim_ascii_start();
    let scheme = raw.get(..SCHEME.len())?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then(|| &raw[SCHEME.len()..])
}

/// Whether an element that is not known may lead somewhere by its name.
fn is_custom(name: &str) -> bool {
    // Netscape's layers, and Internet Explorer's data islands and VML.
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    let is_vml = name
        .get(..2)
        .is_some_and(|it| it.eq_ignore_ascii_case("v:"));
    name.contains('-') || is_vml || is("layer") || is("ilayer") || is("xml")
}

/// Whether a reference is relative to a directory.
fn is_relative(reference: &str) -> bool {
    let reference = reference.trim_ascii();
    !reference.starts_with('/') && !reference.contains(':')
}
