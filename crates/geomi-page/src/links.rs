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
use std::hash::{BuildHasherDefault, Hasher};

use encoding_rs::Encoding;
use geomi_model::{Link, LinkKind};
use geomi_url::{CrawlUrl, with_two_slashes};
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::reader::ReadLimits;
use crate::references::{self, Place};
use crate::values::followable;

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
    links_max: usize,
    attribute_bytes_max: usize,
    truncated: bool,
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
}

impl<'a> LinkCollector<'a> {
    pub(crate) fn new(limits: &ReadLimits) -> Self {
        Self {
            references: Vec::with_capacity(USUAL_LINKS),
            from_scripts: 0,
            seen: HashSet::with_capacity_and_hasher(USUAL_LINKS, BuildHasherDefault::default()),
            base: None,
            canonical: None,
            links_max: limits.links_max,
            attribute_bytes_max: limits.attribute_bytes_max,
            truncated: false,
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
        let hash = xxh3_64(reference.text.as_bytes()) ^ rank as u64;
        let is_script = rank == Rank::Script;
        if self.references.len() >= self.links_max {
            self.truncated |= !is_script && !self.seen.contains(&hash);
        } else if is_script && self.from_scripts >= SCRIPT_LINKS_MAX {
            // What scripts hold is a guess: nothing is lost for certain.
        } else if self.seen.insert(hash) {
            self.from_scripts += usize::from(is_script);
            self.references.push(reference);
        }
    }

    /// The references so far, as the page writes them.
    pub(crate) fn into_references(self) -> (Vec<Reference<'a>>, bool) {
        (self.references, self.truncated)
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
        let mut seen = self.seen;
        seen.clear();
        for rank in Rank::ALL {
            let of_rank = self.references.iter().filter(|it| it.rank() == rank);
            for reference in of_rank {
                let Some(url) = base.resolve(&reference.text) else {
                    continue;
                };
                if seen.insert(url.hash64().0) {
                    links.push(Link {
                        url,
                        kind: reference.kind,
                        nofollow: reference.nofollow,
                        is_advert: reference.is_advert,
                        signal: None,
                    });
                }
            }
            if links.len() == self.references.len() {
                break;
            }
        }
        let canonical = self.canonical.and_then(|text| base.resolve(&text));
        Resolved {
            links,
            base: base.element(),
            canonical,
            truncated: self.truncated,
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

pub(crate) fn query_encoder(encoding: &'static Encoding) -> impl Fn(&str) -> Cow<'_, [u8]> {
    move |query| encoding.encode(query).0
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
