//! Which reader reads what, and within which bounds.

use geomi_model::Document;
use geomi_url::CrawlUrl;

use crate::html::{HtmlReader, sniffs_as_html};

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
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            links_max: 10_000,
            attribute_bytes_max: 16 * 1024,
            title_bytes_max: 1024,
            detect_bytes_max: 4 * 1024,
        }
    }
}

/// Reads one kind of content. A new kind is a new implementation, handed to
/// [`Readers::with`]; nothing else changes.
pub trait Reader: Send + Sync {
    /// Whether content of this media type (lower case, no parameters) is its.
    fn reads(&self, mime: &str) -> bool;

    /// Reads a page. Must not fail, panic, or take more than linear time.
    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document;
}

/// The readers of a crawl, asked in order.
#[derive(Default)]
pub struct Readers {
    readers: Vec<Box<dyn Reader>>,
}

impl Readers {
    /// The readers geomi comes with: HTML.
    pub fn standard() -> Self {
        Self::default().with(HtmlReader)
    }

    /// These readers and one more, asked after the others.
    #[must_use]
    pub fn with(mut self, reader: impl Reader + 'static) -> Self {
        self.readers.push(Box::new(reader));
        self
    }

    /// Reads a page with the first reader that reads its type. A page of a type
    /// nobody reads is an empty document. A page without a type is HTML if it
    /// begins like HTML.
    pub fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let (ReadAs::Declared(mime) | ReadAs::Sniffed(mime)) = read_as(input) else {
            return Document::default();
        };
        self.reader_of(&mime)
            .map(|reader| reader.read(input, limits))
            .unwrap_or_default()
    }

    /// Which type [`Readers::read`] takes a page for, if it reads it at all.
    pub fn read_as(&self, input: &PageInput<'_>) -> ReadAs {
        match read_as(input) {
            ReadAs::Declared(mime) if self.reader_of(&mime).is_none() => ReadAs::NotRead,
            kind => kind,
        }
    }

    fn reader_of(&self, mime: &str) -> Option<&dyn Reader> {
        let mut readers = self.readers.iter();
        let found = readers.find(|reader| reader.reads(mime));
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

fn read_as(input: &PageInput<'_>) -> ReadAs {
    match input.mime.map(essence) {
        Some(mime) if !mime.is_empty() => ReadAs::Declared(mime),
        _ if sniffs_as_html(input.body) => ReadAs::Sniffed("text/html".to_owned()),
        _ => ReadAs::NotRead,
    }
}

/// A media type without parameters, in lower case.
fn essence(mime: &str) -> String {
    let essence = mime.split(';').next().unwrap_or(mime);
    essence.trim().to_ascii_lowercase()
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
        for mime in ["text/plain", "image/png", "application/pdf"] {
            assert_eq!(read(Some(mime), page), Document::default(), "{mime}");
        }
    }

    #[test]
    fn a_page_without_a_type_is_sniffed() {
        assert_eq!(read(None, "  <HTML><a href=/x>x</a>").links.len(), 1);
        assert_eq!(read(Some(""), "<!doctype html><a href=/x>").links.len(), 1);
        assert_eq!(read(None, "GIF89a<a href=/x>"), Document::default());
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
        struct Feed;
        impl Reader for Feed {
            fn reads(&self, mime: &str) -> bool {
                mime == "application/rss+xml"
            }
            fn read(&self, _: &PageInput<'_>, _: &ReadLimits) -> Document {
                Document {
                    title: Some("a feed".to_owned()),
                    ..Document::default()
                }
            }
        }
        let url = CrawlUrl::parse("http://example.com/feed").unwrap();
        let input = PageInput {
            url: &url,
            mime: Some("application/rss+xml"),
            charset_label: None,
            body: b"<rss>",
        };
        let page = Readers::standard()
            .with(Feed)
            .read(&input, &ReadLimits::default());
        assert_eq!(page.title.as_deref(), Some("a feed"));
    }
}
