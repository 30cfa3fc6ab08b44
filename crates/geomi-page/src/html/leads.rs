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

use super::{FOR_EVER, Inside, NESTING_MAX, Walk};
use crate::css;
use crate::element::{Attribute, Element, may_lead};
use crate::form::{Field, Form};
use crate::links::Reference;
use crate::references::{self, Place};
use crate::robots;
use crate::script::{self, Code, Found};
use crate::tokenizer::{Tag, Token, Tokenizer};
use crate::values::{Rel, each_source, refresh_target};

/// Names of `meta` elements whose content is an address.
const META: [&str; 22] = [
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
];

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
            Element::Object | Element::Applet => self.object(Data),
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
                if let Some(form) = &mut self.form {
                    form.wants_input();
                }
            }
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

    /// SVG links, pictures and what drawings use of other files; `MathML` has none
    /// that is used.
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
            "cite" | "longdesc" | "itemid" | "implementation" => self.lead(raw, Other, false),
            "manifest" if element == Element::Html => self.lead(raw, Other, false),
            "profile" if element == Element::Head => self.each_word(raw),
            "ping" => self.each_word(raw),
            "ng-href" => self.lead(raw, Anchor, false),
            "action" if element == Element::Isindex => self.lead(raw, Form, false),
            "srcdoc" => self.nested(&references::decode(raw, Place::Attribute), None),
            _ if name.starts_with("on") => {
                self.scan(&references::decode(raw, Place::Attribute), Code::Inline);
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
        } else if name.contains("srcset") {
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
    fn value_of(&self, wanted: &str) -> Option<&'a str> {
        let mut attributes = self.tokenizer.attribute_texts();
        attributes
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    }

    fn decoded(&self, wanted: &str) -> Option<Cow<'a, str>> {
        let value = self.value_of(wanted)?;
        Some(references::decode(value, Place::Attribute))
    }

    fn rel(&self) -> Rel {
        self.tokenizer
            .attributes()
            .get(Attribute::Rel)
            .map(Rel::parse)
            .unwrap_or_default()
    }

    fn link(&mut self, attribute: Attribute, kind: LinkKind, nofollow: bool) {
        if let Some(value) = self.tokenizer.attributes().get(attribute) {
            self.lead(value, kind, nofollow);
        }
    }

    /// Takes an address as an attribute has it, or the script in its place.
    fn lead(&mut self, raw: &'a str, kind: LinkKind, nofollow: bool) {
        if let Some(code) = script_address(raw) {
            let code = references::decode(code, Place::Attribute);
            self.scan(&percent_decoded(&code), Code::Inline);
            return;
        }
        let (kind, is_advert) = (self.shown(kind), self.advert.is_some());
        self.links.add(raw, kind, nofollow, is_advert);
    }

    /// Takes an address that stands in a larger value, decoded.
    fn owned(&mut self, text: &str, kind: LinkKind) {
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

    /// An element of the page's own making, which has a hyphen in its name.
    fn custom_element(&mut self) {
        use Attribute::{Href, Src, Srcset};
        let attributes = self.tokenizer.attributes();
        let leads = [Href, Src, Srcset]
            .iter()
            .any(|&it| attributes.get(it).is_some());
        if leads && self.tokenizer.tag_name().contains('-') {
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
    fn object(&mut self, data: Attribute) {
        let base = self.decoded("codebase");
        if let Some(base) = &base {
            self.owned(base, LinkKind::Embedded);
        }
        let data = self.tokenizer.attributes().get(data);
        let archive = self.value_of("archive").unwrap_or_default();
        let parts = archive.split([',', ' ', '\t', '\n', '\r']);
        let whole = [data, self.value_of("classid"), self.value_of("code")];
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

    fn form(&mut self) {
        self.form_ended();
        if self.template.is_none() {
            let action = self.decoded("action").unwrap_or_default();
            if let Some(code) = script_address(&action) {
                self.scan(&percent_decoded(code), Code::Inline);
                return;
            }
            let method = self.value_of("method").unwrap_or_default();
            self.form = Some(Form::new(&action, method));
        }
    }

    fn input(&mut self) {
        let sort = self.tokenizer.attributes().get(Attribute::Type);
        self.field(sort.unwrap_or_default().trim_ascii());
    }

    fn button(&mut self) {
        let sort = self.tokenizer.attributes().get(Attribute::Type);
        let sort = sort.map_or("", str::trim_ascii);
        let sends = !sort.eq_ignore_ascii_case("button") && !sort.eq_ignore_ascii_case("reset");
        self.field(if sends { "submit" } else { "button" });
    }

    /// A field or button of a form.
    fn field(&mut self, sort: &str) {
        if self.form.is_none() && !self.tokenizer.attributes().has_rare() {
            return;
        }
        let action = self.decoded("formaction");
        let [name, value] = ["name", "value"].map(|name| self.decoded(name));
        let is_checked = self.value_of("checked").is_some();
        let method = self.value_of("formmethod").unwrap_or_default();
        let is_sent = !method.trim_ascii().eq_ignore_ascii_case("post");
        let Some(form) = &mut self.form else {
            return;
        };
        form.field(&Field {
            sort,
            name: name.as_deref().unwrap_or_default(),
            value: value.as_deref(),
            is_checked,
        });
        if let Some(action) = action.filter(|_| is_sent) {
            form.button_to(&action);
        }
    }

    /// A form is complete.
    pub(super) fn form_ended(&mut self) {
        let form = self.form.take();
        for target in form.into_iter().flat_map(Form::targets) {
            self.owned(&target, LinkKind::Form);
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
            self.nested(&references::decode(content, Place::Attribute), None);
        }
    }

    /// Takes the addresses of a style sheet or a style attribute.
    pub(super) fn style_sheet(&mut self, style: &str) {
        css::each_address(style, |span| {
            self.owned(&css::unescape(&style[span]), LinkKind::Embedded);
        });
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

    /// Text inside a drawing, where it is code.
    pub(super) fn foreign_text(&mut self, text: &str) {
        match self.foreign_code {
            None => {}
            Some(Element::Style) => self.style_sheet(text),
            Some(_) => self.scan(text, Code::Inline),
        }
    }

    /// Takes the addresses in a script.
    fn scan(&mut self, code: &str, sort: Code) {
        script::each_address(code, sort, |found| match found {
            Found::Address(text) => self.owned(&text, LinkKind::Script),
            Found::Markup(markup) => self.written(&markup),
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

    /// Takes the links of markup inside the page.
    pub(super) fn nested(&mut self, markup: &str, kind: Option<LinkKind>) {
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
        let (references, is_cut) = inner.links.into_references();
        for reference in references {
            self.links.add_reference(Reference {
                text: Cow::Owned(reference.text.into_owned()),
                kind: self.shown(kind.unwrap_or(reference.kind)),
                nofollow: reference.nofollow,
                is_advert: reference.is_advert || self.advert.is_some(),
            });
        }
        if is_cut {
            self.links.cut();
        }
    }
}

/// The code of a `javascript:` address.
fn script_address(raw: &str) -> Option<&str> {
    const SCHEME: &str = "javascript:";
    if !matches!(
        raw.as_bytes().first()?,
        b'j' | b'J' | b' ' | b'\t' | b'\n' | b'\r'
    ) {
        return None;
    }
    let raw = raw.trim_ascii_start();
    let scheme = raw.get(..SCHEME.len())?;
    scheme
        .eq_ignore_ascii_case(SCHEME)
        .then(|| &raw[SCHEME.len()..])
}

/// Whether a reference is relative to a directory.
fn is_relative(reference: &str) -> bool {
    let reference = reference.trim_ascii();
    !reference.starts_with('/') && !reference.contains(':')
}

/// Text with its percent-encoding undone.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if memchr(b'%', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        if let Some(decoded) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(decoded);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    Cow::Owned(String::from_utf8_lossy(&out).into_owned())
}
