//! Which reader reads what, and within which bounds.

use geomi_model::Document;
use geomi_url::CrawlUrl;

use crate::content::Content;
use crate::css::StyleReader;
use crate::feed::FeedReader;
use crate::gzip::GzipReader;
use crate::html::HtmlReader;
use crate::image::ImageReader;
use crate::json::JsonReader;
use crate::pdf::PdfReader;
use crate::script_file::ScriptReader;
use crate::sitemap::SitemapReader;
use crate::url_list::UrlListReader;
use crate::xml_page::XmlReader;

/// What is known of a page before it is read.
#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    /// The address it came from; relative links are resolved against it.
    pub url: &'a CrawlUrl,
    /// The media type of Content-Type, where there was one. Parameters after a
    /// semicolon are ignored.
    pub mime: Option<&'a str>,
    /// The `charset` parameter of Content-Type, where there was one.
    pub charset_label: Option<&'a str>,
    /// The body, with transfer and content codings removed.
    pub body: &'a [u8],
}

/// Bounds of one reading. Links that lie beyond are left out and the document says
/// so in `truncated`; a title that is cut is no loss worth a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadLimits {
    /// Links kept of one page.
    pub links_max: usize,
    /// Bytes of an attribute value as written; a longer one is not read.
    pub attribute_bytes_max: usize,
    /// Bytes of the title kept.
    pub title_bytes_max: usize,
    /// Bytes of the body in which a charset is guessed, from the first
    /// non-ASCII byte on: guessing is the one expensive step.
    pub detect_bytes_max: usize,
    /// Links kept of one sitemap: what its protocol allows.
    pub sitemap_links_max: usize,
    /// Bytes unpacked of a compressed sitemap: what its protocol allows.
    pub sitemap_bytes_max: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            links_max: 100_000,
            attribute_bytes_max: 16 * 1024,
            title_bytes_max: 1024,
            detect_bytes_max: 4 * 1024,
            sitemap_links_max: 50_000,
            sitemap_bytes_max: 50 << 20,
        }
    }
}

/// Reads one kind of content. A new kind is a new implementation in a file of its
/// own and one line in [`Readers::standard`]; nothing else changes
/// (docs/adr/0009-extractors.md).
pub trait Extractor: Send + Sync {
    /// The media type it stands for: what content without a type is said to be
    /// when it is recognised.
    fn mime(&self) -> &'static str;

    /// Whether content is its to read, by its type or its first bytes.
    fn claims(&self, content: &Content<'_>) -> bool;

    /// Reads what it claimed. Must not fail, panic, or take more than linear time.
    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document;
}

/// The readers of a crawl, asked in order.
#[derive(Default)]
pub struct Readers {
    readers: Vec<Box<dyn Extractor>>,
}

impl Readers {
    /// The readers geomi comes with.
    pub fn standard() -> Self {
        Self::default()
            .with(HtmlReader)
            .with(SitemapReader)
            .with(FeedReader)
            .with(UrlListReader)
            .with(GzipReader)
            .with(XmlReader)
            .with(JsonReader)
            .with(PdfReader)
            .with(ImageReader)
            .with(StyleReader)
            .with(ScriptReader)
    }

    /// These readers and one more, asked after the others.
    #[must_use]
    pub fn with(mut self, reader: impl Extractor + 'static) -> Self {
        self.readers.push(Box::new(reader));
        self
    }

    /// Reads a page with the first reader that claims it. Content that nobody
    /// claims is an empty document.
    pub fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let mime = input.mime.map(essence).unwrap_or_default();
        self.claimant(&Content::new(&mime, input.body))
            .map(|reader| reader.read(input, limits))
            .unwrap_or_default()
    }

    /// Which type [`Readers::read`] takes a page for, if it reads it at all.
    pub fn read_as(&self, input: &PageInput<'_>) -> ReadAs {
        let mime = input.mime.map(essence).unwrap_or_default();
        match self.claimant(&Content::new(&mime, input.body)) {
            None => ReadAs::NotRead,
            Some(reader) if mime.is_empty() => ReadAs::Sniffed(reader.mime().to_owned()),
            Some(_) => ReadAs::Declared(mime),
        }
    }

    fn claimant(&self, content: &Content<'_>) -> Option<&dyn Extractor> {
        let mut readers = self.readers.iter();
        let found = readers.find(|reader| reader.claims(content));
        found.map(|reader| &**reader)
    }
}

/// The type a page is read as.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadAs {
    /// The type it came with.
    Declared(String),
    /// It came without one, and its bytes look like this one.
    Sniffed(String),
    /// It is not read.
    NotRead,
}

/// A media type without parameters, in lower case; of several, the first. Empty for
/// what is no media type and for those that mean "unknown" (WHATWG MIME Sniffing
/// §7): the content is sniffed then.
pub(crate) fn essence(mime: &str) -> String {
    let essence = mime.split([';', ',']).next().unwrap_or(mime);
    let essence = essence.trim().to_ascii_lowercase();
    let is_token = |part: &str| !part.is_empty() && part.bytes().all(is_token_byte);
    let is_type = essence
        .split_once('/')
        .is_some_and(|(class, kind)| is_token(class) && is_token(kind));
    let is_unknown = matches!(&*essence, "unknown/unknown" | "application/unknown" | "*/*");
    if is_type && !is_unknown {
        essence
    } else {
        String::new()
    }
}

/// Whether a byte may stand in a token of HTTP.
const fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mime: Option<&str>, body: &str) -> Document {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let input = PageInput {
            url: &url,
            mime,
            charset_label: None,
            body: body.as_bytes(),
        };
        Readers::standard().read(&input, &ReadLimits::default())
    }

    #[test]
    fn the_type_decides_whether_a_page_is_read() {
        let page = "<a href=/x>x</a>";
        for mime in ["text/html", "Text/HTML; charset=x", "application/xhtml+xml"] {
            assert_eq!(read(Some(mime), page).links.len(), 1, "{mime}");
        }
        for mime in [
            "text/html, text/html",
            "text/html,",
            "text/html ; , ;;",
            "text/html;charset=utf-8,text/html",
        ] {
            assert_eq!(read(Some(mime), page).links.len(), 1, "{mime}");
        }
        for mime in ["text/plain", "image/png", "application/pdf"] {
            assert_eq!(read(Some(mime), page), Document::default(), "{mime}");
        }
    }

    #[test]
    fn a_page_without_a_type_is_sniffed() {
        assert_eq!(read(None, "  <HTML><a href=/x>x</a>").links.len(), 1);
        assert_eq!(read(Some(""), "<!doctype html><a href=/x>").links.len(), 1);
        for mime in [
            "unknown/unknown",
            "application/unknown",
            "*/*",
            "html",
            "text/",
            "text html/x",
            ";",
        ] {
            let page = read(Some(mime), "<!doctype html><a href=/x>");
            assert_eq!(page.links.len(), 1, "{mime}");
            assert!(read(Some(mime), "see <a href=/x>").links.is_empty());
        }
        assert!(read(None, "GIF89a<a href=/x>").links.is_empty());
        assert_eq!(read(None, "<htmlx><a href=/x>"), Document::default());
    }

    #[test]
    fn what_a_page_is_read_as_can_be_asked() {
        let url = CrawlUrl::parse("http://example.com/").unwrap();
        let read_as = |mime, body: &str| {
            Readers::standard().read_as(&PageInput {
                url: &url,
                mime,
                charset_label: None,
                body: body.as_bytes(),
            })
        };
        let html = || "text/html".to_owned();
        assert_eq!(read_as(Some("Text/HTML;x"), ""), ReadAs::Declared(html()));
        assert_eq!(read_as(None, "<html>"), ReadAs::Sniffed(html()));
        assert_eq!(read_as(None, "GIF89a"), ReadAs::NotRead);
        assert_eq!(read_as(Some("image/png"), "<html>"), ReadAs::NotRead);
    }

    #[test]
    fn a_new_kind_of_content_is_a_new_reader() {
        struct Calendar;
        impl Extractor for Calendar {
            fn mime(&self) -> &'static str {
                "text/calendar"
            }
            fn claims(&self, content: &Content<'_>) -> bool {
                content.mime == self.mime()
            }
            fn read(&self, _: &PageInput<'_>, _: &ReadLimits) -> Document {
                Document {
                    title: Some("a calendar".to_owned()),
                    ..Document::default()
                }
            }
        }
        let url = CrawlUrl::parse("http://example.com/events").unwrap();
        let input = PageInput {
            url: &url,
            mime: Some("text/calendar"),
            charset_label: None,
            body: b"BEGIN:VCALENDAR",
        };
        let page = Readers::standard()
            .with(Calendar)
            .read(&input, &ReadLimits::default());
        assert_eq!(page.title.as_deref(), Some("a calendar"));
    }
}
