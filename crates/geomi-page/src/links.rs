//! The links of a page: collected as written, resolved at the end.
//!
//! Resolution waits for the end because a `base` element moves the links before
//! it as well, and because it is the dearest step: a reference that was already
//! collected in the same spelling is dropped before it costs a parse.
//!
//! Of two links to one URL the first is kept, with its kind and its `nofollow`;
//! a later anchor does not change an earlier image's link. Links in advertisements
//! come after all others, and what is found in scripts comes last: neither takes the
//! place of a link that people see.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};
use std::sync::LazyLock;

use encoding_rs::Encoding;
use geomi_model::{Link, LinkKind};
use geomi_url::{CrawlUrl, with_two_slashes};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::reader::ReadLimits;
use crate::references::{self, Place};
use crate::values::followable;

/// The seed of the hashes of links on a page. It is random: a visitor who may write on a
/// page cannot make a link that has the hash of another one there, and so hides it.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));

/// Room made at once: few pages have more links.
const USUAL_LINKS: usize = 100;
/// Addresses kept of the scripts of one page, or of one script file.
pub(crate) const SCRIPT_LINKS_MAX: usize = 1_000;

/// The links of a page in the making.
pub(crate) struct LinkCollector<'a> {
    references: Vec<Reference<'a>>,
    /// How many of them come from scripts.
    from_scripts: usize,
    seen: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
    base: Option<Cow<'a, str>>,
    canonical: Option<Cow<'a, str>>,
    /// References of documents inside the page that have a base of their own.
    nested: Vec<NestedLinks>,
    links_max: usize,
    attribute_bytes_max: usize,
    truncated: bool,
    dropped: u32,
}

/// The references of a document inside a page, as it writes them.
pub(crate) struct Collected {
    pub(crate) references: Vec<Reference<'static>>,
    pub(crate) base: Option<String>,
    nested: Vec<NestedLinks>,
    truncated: bool,
    dropped: u32,
}

impl Collected {
    /// Every reference, those of documents further inside included.
    pub(crate) fn each_reference(&mut self) -> impl Iterator<Item = &mut Reference<'static>> {
        let nested = self.nested.iter_mut().flat_map(|it| &mut it.references);
        self.references.iter_mut().chain(nested)
    }
}

/// References and what they are relative to.
struct NestedLinks {
    /// The `base` of each document around them, from the outermost one, which is
    /// relative to the page, to their own.
    bases: Vec<String>,
    references: Vec<Reference<'static>>,
}

/// A link as the page writes it, character references decoded.
pub(crate) struct Reference<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) kind: LinkKind,
    pub(crate) nofollow: bool,
    pub(crate) is_advert: bool,
}

/// In which order references are resolved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    Plain,
    Advert,
    Script,
}

impl Rank {
    const ALL: [Self; 3] = [Self::Plain, Self::Advert, Self::Script];
}

impl Reference<'_> {
    /// The same, independent of the page's text.
    fn into_owned(self) -> Reference<'static> {
        Reference {
            text: Cow::Owned(self.text.into_owned()),
            kind: self.kind,
            nofollow: self.nofollow,
            is_advert: self.is_advert,
        }
    }

    const fn rank(&self) -> Rank {
        match self.kind {
            LinkKind::Script => Rank::Script,
            _ if self.is_advert => Rank::Advert,
            _ => Rank::Plain,
        }
    }
}

/// The links of a page, resolved.
pub(crate) struct Resolved {
    pub(crate) links: Vec<Link>,
    pub(crate) base: Option<CrawlUrl>,
    pub(crate) canonical: Option<CrawlUrl>,
    /// A bound left links out.
    pub(crate) truncated: bool,
    /// How many references a bound on their number left out.
    pub(crate) dropped: u32,
}

impl<'a> LinkCollector<'a> {
    pub(crate) fn new(limits: &ReadLimits) -> Self {
        Self {
            references: Vec::with_capacity(USUAL_LINKS),
            from_scripts: 0,
            seen: HashSet::with_capacity_and_hasher(USUAL_LINKS, BuildHasherDefault::default()),
            base: None,
            canonical: None,
            nested: Vec::new(),
            links_max: limits.links_max,
            attribute_bytes_max: limits.attribute_bytes_max,
            truncated: false,
            dropped: 0,
        }
    }

    /// Takes an attribute value as written.
    pub(crate) fn add(&mut self, raw: &'a str, kind: LinkKind, nofollow: bool, is_advert: bool) {
        if let Some(text) = self.readable(raw) {
            self.add_reference(Reference {
                text,
                kind,
                nofollow,
                is_advert,
            });
        }
    }

    /// Takes a reference whose character references are decoded.
    pub(crate) fn add_reference(&mut self, reference: Reference<'a>) {
        let text = match reference.text {
            Cow::Borrowed(text) => followable(text).map(Cow::Borrowed),
            Cow::Owned(text) => followable_owned(text).map(Cow::Owned),
        };
        let Some(text) = text.filter(|text| !is_placeholder(text)) else {
            return;
        };
        if text.len() > self.attribute_bytes_max {
            self.truncated = true;
            return;
        }
        let reference = Reference { text, ..reference };
        let rank = reference.rank();
        let hash = xxh3_64_with_seed(reference.text.as_bytes(), *SEED) ^ rank as u64;
        let is_script = rank == Rank::Script;
        if self.references.len() >= self.links_max {
            let is_new = !self.seen.contains(&hash);
            self.truncated |= !is_script && is_new;
            self.dropped += u32::from(is_new);
        } else if is_script && self.from_scripts >= SCRIPT_LINKS_MAX {
            // What scripts hold is a guess: nothing is lost for certain.
            self.dropped += u32::from(!self.seen.contains(&hash));
        } else if self.seen.insert(hash) {
            self.from_scripts += usize::from(is_script);
            self.references.push(reference);
        }
    }

    /// The references so far, as the page writes them.
    pub(crate) fn into_collected(self) -> Collected {
        let references = self.references.into_iter();
        Collected {
            references: references.map(Reference::into_owned).collect(),
            base: self.base.map(Cow::into_owned),
            nested: self.nested,
            truncated: self.truncated,
            dropped: self.dropped,
        }
    }

    /// Takes the references of a document inside the page.
    pub(crate) fn add_nested(&mut self, inner: Collected) {
        self.truncated |= inner.truncated;
        self.dropped += inner.dropped;
        let nested = inner.nested.into_iter().map(|mut nested| {
            if let Some(base) = &inner.base {
                nested.bases.insert(0, base.clone());
            }
            nested
        });
        self.nested.extend(nested);
        match inner.base {
            Some(base) => self.nested.push(NestedLinks {
                bases: vec![base],
                references: inner.references,
            }),
            None => {
                for reference in inner.references {
                    self.add_reference(reference);
                }
            }
        }
    }

    /// Something was left out.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
    }

    /// Takes the `href` of a `base` element; the first one counts.
    pub(crate) fn set_base(&mut self, raw: &'a str) {
        if self.base.is_none() {
            self.base = self.readable(raw);
        }
    }

    /// Takes the page's preferred address; the first one counts.
    pub(crate) fn set_canonical(&mut self, raw: &'a str) {
        if self.canonical.is_none() {
            self.canonical = self.readable(raw);
        }
    }

    /// An attribute value with its character references decoded, if it is not
    /// too long.
    pub(crate) fn readable(&mut self, raw: &'a str) -> Option<Cow<'a, str>> {
        // White space around an address is no part of it, however much there is.
        let raw = if raw.len() > self.attribute_bytes_max {
            raw.trim_matches(|c: char| c <= ' ')
        } else {
            raw
        };
        if raw.len() > self.attribute_bytes_max {
            // Pictures written into the page are long and nothing to follow.
            let is_data = raw
                .as_bytes()
                .get(..5)
                .is_some_and(|start| start.eq_ignore_ascii_case(b"data:"));
            self.truncated |= !is_data;
            return None;
        }
        Some(references::decode(raw, Place::Attribute))
    }

    /// Resolves everything against the page's address, or its base. Queries are
    /// written in the page's own charset, as browsers do: a server that serves
    /// EUC-KR pages expects EUC-KR in the links on them.
    pub(crate) fn resolve(self, page: &CrawlUrl, encoding: &'static Encoding) -> Resolved {
        let encode = query_encoder(encoding);
        let encode: Option<&Encoder<'_>> = needs_encoder(encoding).then_some(&encode);
        let mut base = Base::of(page, self.base.as_deref(), encode);
        let mut links = Vec::with_capacity(self.references.len());
        let (mut truncated, mut dropped) = (self.truncated, self.dropped);
        let mut seen = self.seen;
        seen.clear();
        let mut push = |links: &mut Vec<Link>, url: CrawlUrl, reference: &Reference<'_>| {
            if seen.insert(url.hash64().0) {
                links.push(Link {
                    url,
                    kind: reference.kind,
                    nofollow: reference.nofollow,
                    is_advert: reference.is_advert,
                    signal: None,
                });
            }
        };
        for rank in Rank::ALL {
            let of_rank = self.references.iter().filter(|it| it.rank() == rank);
            for reference in of_rank {
                if let Some(url) = base.resolve(&reference.text) {
                    push(&mut links, url, reference);
                }
            }
            if links.len() == self.references.len() {
                break;
            }
        }
        let canonical = self.canonical.and_then(|text| base.resolve(&text));
        let base = base.element();
        for NestedLinks { bases, references } in &self.nested {
            let (own, around) = bases.split_last().expect("nested links have a base");
            let mut page = base.clone().unwrap_or_else(|| page.clone());
            for base in around {
                page = Base::of(&page, Some(base), None).element().unwrap_or(page);
            }
            let mut base = Base::of(&page, Some(own), encode);
            for reference in references {
                if links.len() >= self.links_max {
                    truncated = true;
                    dropped += 1;
                    continue;
                }
                if let Some(url) = base.resolve(&reference.text) {
                    push(&mut links, url, reference);
                }
            }
        }
        Resolved {
            links,
            base,
            canonical,
            truncated,
            dropped,
        }
    }
}

/// Whether a reference is a template that a script or a server was to fill in:
/// `{{url}}`, `${id}`, `{% url %}`, `<%= x %>`, `<?php … ?>`.
fn is_placeholder(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'{', b'<', bytes).any(|at| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        match (bytes[at], bytes.get(at + 1)) {
            (b'{', Some(b'{' | b'%')) | (b'<', Some(b'%')) => true,
            (b'<', Some(b'?')) => bytes[at..].starts_with(b"<?php"),
            (b'{', _) => before == Some(b'$'),
            _ => false,
        }
    })
}

/// [`followable`] for an owned reference, which is copied only if there is white
/// space around it.
fn followable_owned(text: String) -> Option<String> {
    let length = followable(&text)?.len();
    if length == text.len() {
        return Some(text);
    }
    followable(&text).map(str::to_owned)
}

/// Writes a query in the charset of its page.
pub(crate) type Encoder<'e> = dyn Fn(&str) -> Cow<'_, [u8]> + 'e;

/// An encoder for a charset. A character that the charset does not have is written
/// as a reference in escapes, as browsers do: `☃` is `%26%239731%3B`.
pub(crate) fn query_encoder(encoding: &'static Encoding) -> impl Fn(&str) -> Cow<'_, [u8]> {
    move |query| {
        let (whole, _, has_unmappable) = encoding.encode(query);
        if !has_unmappable {
            return whole;
        }
        let mut out = Vec::with_capacity(query.len());
        let mut letter = [0; 4];
        for c in query.chars() {
            match encoding.encode(c.encode_utf8(&mut letter)) {
                (bytes, _, false) => out.extend_from_slice(&bytes),
                _ => out.extend_from_slice(format!("%26%23{}%3B", c as u32).as_bytes()),
            }
        }
        Cow::Owned(out)
    }
}

/// Whether queries are written in something other than UTF-8.
pub(crate) fn needs_encoder(encoding: &'static Encoding) -> bool {
    encoding.output_encoding() != encoding_rs::UTF_8
}

/// What references are resolved against. Most are plain and need no parser, nor
/// does the base then.
pub(crate) struct Base<'a> {
    /// Where plain paths begin; a base that is no page has none.
    plain: Option<Cow<'a, CrawlUrl>>,
    parsed: Option<Url>,
    encode: url::EncodingOverride<'a>,
}

impl<'a> Base<'a> {
    pub(crate) fn of(
        page: &'a CrawlUrl,
        element: Option<&str>,
        encode: url::EncodingOverride<'a>,
    ) -> Self {
        // The standard does not let these two be a base.
        let parsed = element
            .and_then(|base| join(&page.to_url(), base, None))
            .filter(|base| !matches!(base.scheme(), "data" | "javascript"));
        let plain = match &parsed {
            None => Some(Cow::Borrowed(page)),
            Some(base) => CrawlUrl::from_url(base).ok().map(Cow::Owned),
        };
        Self {
            plain,
            parsed,
            encode,
        }
    }

    /// What a `base` element set, if one did.
    fn element(self) -> Option<CrawlUrl> {
        match self.plain? {
            Cow::Borrowed(_) => None,
            Cow::Owned(base) => Some(base),
        }
    }

    /// What the web writes into attributes need not be a URL, nor one to visit:
    /// such a reference is no link, and there is nothing to report.
    pub(crate) fn resolve(&mut self, text: &str) -> Option<CrawlUrl> {
        let on_base = || self.plain.as_ref()?.join_plain(text);
        if let Some(url) = CrawlUrl::parse_plain(text).or_else(on_base) {
            return Some(url);
        }
        if self.parsed.is_none() {
            self.parsed = self.plain.as_ref().map(|page| page.to_url());
        }
        CrawlUrl::from_url(&join(self.parsed.as_ref()?, text, self.encode)?).ok()
    }
}

fn join(base: &Url, text: &str, encode: url::EncodingOverride<'_>) -> Option<Url> {
    let text = match base.scheme() {
        "http" | "https" => with_two_slashes(text),
        _ => text,
    };
    // The reason why a reference cannot be parsed is of no use to anyone here.
    Url::options()
        .base_url(Some(base))
        .encoding_override(encode)
        .parse(text)
        .ok()
}

/// Keys of the set are hashes already.
#[derive(Default)]
struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("only whole hashes are put into the set");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
