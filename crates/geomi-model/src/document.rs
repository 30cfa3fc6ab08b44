//! What a page says, once read.

use std::fmt;

use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A page as read. Reading never fails: a page that is not HTML, or is broken,
/// is a document with fewer links.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// What it was read as.
    pub kind: DocumentKind,
    /// How its bytes were decoded.
    pub charset: Option<Charset>,
    /// Text of the first `title`, white space folded.
    pub title: Option<String>,
    /// Links in document order, resolved, without repetition.
    pub links: Vec<Link>,
    /// What its `base` element resolves links against, where that is an address
    /// one could visit.
    pub base: Option<CrawlUrl>,
    /// The address the page prefers for itself.
    pub canonical: Option<CrawlUrl>,
    /// What the page asks robots to do.
    pub robots: RobotsMeta,
    /// Bytes of visible text, as UTF-8, white space folded.
    pub text_bytes: u64,
    /// Hash over the main text without dates, counters and nonces: equal means
    /// "nothing a reader would notice has changed". Over all text, if none of it
    /// is main text.
    pub fingerprint: Option<Fingerprint>,
    /// Hash over all visible words, without any number: equal means that pages
    /// say the same, but for numbers.
    pub wording: Option<Fingerprint>,
    /// Bytes of that text that the page is about: without navigation, asides and
    /// the head and foot of the page.
    pub main_text_bytes: u64,
    /// Bytes of that main text outside links.
    pub own_text_bytes: u64,
    /// Simhash over the main text: pages that differ in few of its bits say nearly
    /// the same. `None` for pages with few words.
    pub simhash: Option<u64>,
    /// How much the page looks like spam, in hundredths.
    pub spam_percent: u8,
    /// Whether the page says that it is not there.
    pub says_not_found: bool,
    /// Hash over what the fingerprint leaves out: dates, counters, nonces, and the
    /// text around the main text.
    pub numbers: u64,
    /// The first numbers of the main text that can tell two pages of a kind
    /// apart, such as prices: three digits or more, dates, years and counters left
    /// out, marks within a number too (`12,340` is 12340).
    pub figures: Vec<u64>,
    /// Whether a bound of the reader cut the page short.
    pub truncated: bool,
    /// Links that a bound on their number left out, as far as they were counted:
    /// sitemaps, feeds and JSON are read no further then.
    pub links_dropped: u32,
    /// Whether more than one in a hundred of its characters are of no charset.
    pub is_garbled: bool,
}

impl Document {
    /// Which kinds of link the page has.
    pub fn link_type(&self) -> LinkType {
        self.links
            .iter()
            .fold(LinkType::default(), |kinds, link| kinds.with(link.kind))
    }
}

/// Whether content is what it says it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Validity {
    /// Text that begins as its type demands and can be decoded.
    WellFormed,
    /// Pictures, archives and other content without text; not looked at further.
    NotText,
    /// Its codings or its charset cannot be undone, its bytes are not of its type, or
    /// the connection broke.
    Broken,
    /// A limit on size or time cut it.
    Cut,
    /// The reader panicked over it.
    Quarantined,
}

impl Validity {
    /// Every verdict.
    pub const ALL: [Self; 5] = [
        Self::WellFormed,
        Self::NotText,
        Self::Broken,
        Self::Cut,
        Self::Quarantined,
    ];

    /// Its name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WellFormed => "well-formed",
            Self::NotText => "not-text",
            Self::Broken => "broken",
            Self::Cut => "cut",
            Self::Quarantined => "quarantined",
        }
    }

    /// Reads what [`Validity::as_str`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }
}

/// What content turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DocumentKind {
    /// Of a kind that nobody reads.
    #[default]
    Unread,
    /// HTML or XHTML.
    Html,
    /// A sitemap: its links are pages.
    Sitemap,
    /// A list of sitemaps: its links are sitemaps.
    SitemapIndex,
    /// RSS, Atom or JSON Feed.
    Feed,
    /// Plain text, each line of which is a URL.
    UrlList,
    /// A PDF file.
    Pdf,
    /// Any other JSON.
    Json,
    /// A picture, of which the size is known.
    Image(ImageSize),
    /// A style sheet.
    Style,
    /// A script, which is scanned and never run.
    Script,
    /// XML that is none of the above, such as an SVG file.
    Xml,
}

impl DocumentKind {
    /// Its name in tables; none for what nobody reads.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Unread => return None,
            Self::Html => "html",
            Self::Sitemap => "sitemap",
            Self::SitemapIndex => "sitemap-index",
            Self::Feed => "feed",
            Self::UrlList => "url-list",
            Self::Pdf => "pdf",
            Self::Json => "json",
            Self::Image(image) => image.format.name(),
            Self::Style => "style",
            Self::Script => "script",
            Self::Xml => "xml",
        })
    }
}

/// A picture as its first bytes describe it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImageSize {
    /// Its format.
    pub format: ImageFormat,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// The formats of pictures that are recognised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ImageFormat {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    WebP,
}

impl ImageFormat {
    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::WebP => "webp",
        }
    }
}

/// What a sitemap or a feed says about a page it lists: signals, and no more. A
/// site may be wrong about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ChangeSignal {
    /// When the page last changed (`lastmod`, `updated`, `pubDate`).
    pub modified: Option<Timestamp>,
    /// How often it changes (`changefreq`).
    pub frequency: Option<ChangeFrequency>,
    /// Its weight among the site's pages in hundredths (`priority`).
    pub priority_percent: Option<u8>,
}

/// How often a page changes, in the words of sitemaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ChangeFrequency {
    /// With every visit.
    Always,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
    /// Every year.
    Yearly,
    /// Not any more.
    Never,
}

impl ChangeFrequency {
    /// How often that is, from 0 for never to 1 for always.
    pub const fn score(self) -> f32 {
        match self {
            Self::Always => 1.0,
            Self::Hourly => 0.9,
            Self::Daily => 0.7,
            Self::Weekly => 0.5,
            Self::Monthly => 0.3,
            Self::Yearly => 0.1,
            Self::Never => 0.0,
        }
    }

    /// Reads the word of a sitemap, in any case.
    pub fn parse(word: &str) -> Option<Self> {
        const WORDS: [(&str, ChangeFrequency); 7] = [
            ("always", ChangeFrequency::Always),
            ("hourly", ChangeFrequency::Hourly),
            ("daily", ChangeFrequency::Daily),
            ("weekly", ChangeFrequency::Weekly),
            ("monthly", ChangeFrequency::Monthly),
            ("yearly", ChangeFrequency::Yearly),
            ("never", ChangeFrequency::Never),
        ];
        let mut words = WORDS.iter();
        words
            .find(|(known, _)| word.eq_ignore_ascii_case(known))
            .map(|&(_, frequency)| frequency)
    }
}

/// One link of a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// Where it leads.
    pub url: CrawlUrl,
    /// What made it.
    pub kind: LinkKind,
    /// The page asks not to follow it (`rel=nofollow`).
    pub nofollow: bool,
    /// It stands in a block that its author calls an advertisement.
    pub is_advert: bool,
    /// What a sitemap or feed says about the page it leads to.
    pub signal: Option<ChangeSignal>,
}

/// What made a link.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum LinkKind {
    /// `frame`.
    Frame,
    /// `a` and `area`.
    Anchor,
    /// Everything that leads elsewhere in another way: `link`, quotations' sources,
    /// meta refresh, headers, redirects.
    Other,
    /// What a browser loads to show the page: images, style sheets, scripts,
    /// fonts, media, `iframe`.
    Embedded,
    /// A string in script code that looks like an address. It may lead nowhere.
    Script,
    /// A form that can be sent as it stands.
    Form,
}

impl LinkKind {
    /// Its class in the 2003 robot study.
    pub const fn class(self) -> LinkClass {
        match self {
            Self::Frame => LinkClass::Frame,
            Self::Anchor => LinkClass::Anchor,
            Self::Other | Self::Embedded | Self::Script | Self::Form => LinkClass::Other,
        }
    }

    /// Whether the page is incomplete without what the link leads to.
    pub const fn is_requisite(self) -> bool {
        matches!(self, Self::Frame | Self::Embedded)
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frame => "frame",
            Self::Anchor => "anchor",
            Self::Other => "other",
            Self::Embedded => "embedded",
            Self::Script => "script",
            Self::Form => "form",
        }
    }
}

/// The three classes of links of the 2003 robot study.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkClass {
    /// `f`.
    Frame,
    /// `a`.
    Anchor,
    /// `h`: everything else.
    Other,
}

/// The kinds of link on a page, written like `ha0` or `000`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct LinkType(u8);

impl LinkType {
    /// This type with `kind` present as well.
    #[must_use]
    pub const fn with(self, kind: LinkKind) -> Self {
        Self(
            self.0
                | match kind.class() {
                    LinkClass::Other => 1,
                    LinkClass::Anchor => 2,
                    LinkClass::Frame => 4,
                },
        )
    }

    /// The three letters: `h`, `a`, `f`, each `0` where absent.
    pub const fn as_str(self) -> &'static str {
        match self.0 & 7 {
            0 => "000",
            1 => "h00",
            2 => "0a0",
            3 => "ha0",
            4 => "00f",
            5 => "h0f",
            6 => "0af",
            _ => "haf",
        }
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a page (or its `X-Robots-Tag` header) asks of robots.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RobotsMeta {
    /// Do not keep this page in an index.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
}

impl RobotsMeta {
    /// Either side's wish holds.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
        }
    }
}

/// How a page's bytes were decoded, and why so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Charset {
    /// WHATWG name (`EUC-KR` for CP949 too), or `ISO-2022-KR`.
    pub name: &'static str,
    /// What decided it.
    pub source: CharsetSource,
}

/// What decided a page's charset, strongest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CharsetSource {
    /// A byte order mark.
    Bom,
    /// The `charset` parameter of Content-Type.
    Header,
    /// A `meta` element near the start.
    Meta,
    /// The label was wrong and the bytes say so.
    Corrected,
    /// No label: guessed from the bytes.
    Detected,
}

/// 64 bits over the normalised visible text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Fingerprint(pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_types_are_written_as_in_the_study() {
        let none = LinkType::default();
        assert_eq!(none.as_str(), "000");
        assert_eq!(none.with(LinkKind::Anchor).as_str(), "0a0");
        assert_eq!(
            none.with(LinkKind::Anchor).with(LinkKind::Other).as_str(),
            "ha0"
        );
        assert_eq!(
            none.with(LinkKind::Frame).with(LinkKind::Frame).as_str(),
            "00f"
        );
    }
}
