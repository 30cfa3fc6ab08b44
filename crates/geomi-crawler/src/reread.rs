//! A stored page read a second time, as the crawl read it the first time.

use bytes::Bytes;
use geomi_fetch::StoredAnswer;
use geomi_model::Document;
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

use crate::stage::read::split_content_type;

/// Turns the block of a WARC response record into a document again.
///
/// Readers, bounds and the reading of Content-Type are the crawl's, so the
/// links are those the crawl saw. It keeps nothing from one page to the next.
pub struct Rereader {
    readers: Readers,
    limits: ReadLimits,
    body_bytes_max: usize,
}

impl Rereader {
    /// With the bounds of a crawl, `body_bytes_max` being its limit on bodies.
    pub fn new(limits: ReadLimits, body_bytes_max: usize) -> Self {
        Self {
            readers: Readers::standard(),
            limits,
            body_bytes_max,
        }
    }

    /// The longest block a page within the limits can have: its body, chunk
    /// lines and header. Of a longer one there is no need to read the rest.
    pub const fn block_bytes_max(&self) -> usize {
        self.body_bytes_max
            .saturating_mul(2)
            .saturating_add(1 << 20)
    }

    /// The document in a stored answer, as seen from `url`. An answer that
    /// makes no sense is a document without links.
    pub fn read(&self, url: &CrawlUrl, block: impl Into<Bytes>) -> Document {
        let Ok(answer) = StoredAnswer::parse(block, self.body_bytes_max) else {
            return Document::default();
        };
        let content_type = answer.headers.get("content-type");
        let (mime, charset) = split_content_type(content_type.as_deref());
        let kind = mime
            .map(|mime| mime.to_ascii_lowercase())
            .filter(|mime| mime.contains('/'));
        let input = PageInput {
            url,
            mime: kind.as_deref(),
            charset_label: charset.as_deref(),
            body: &answer.body,
        };
        self.readers.read(&input, &self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_from_where_the_page_is_seen() {
        let block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x.html>x</a>";
        let reader = Rereader::new(ReadLimits::default(), 1 << 20);
        for (page, link) in [
            ("http://a.test/", "http://a.test/x.html"),
            ("http://b.test/dir/", "http://b.test/dir/x.html"),
        ] {
            let url = CrawlUrl::parse(page).unwrap();
            let document = reader.read(&url, block.to_vec());
            assert_eq!(document.links[0].url.as_str(), link);
        }
        let url = CrawlUrl::parse("http://a.test/").unwrap();
        assert_eq!(reader.read(&url, b"rubbish".to_vec()), Document::default());
    }
}
