//! Sitemaps and feeds that are stored compressed: `sitemap.xml.gz`.
//!
//! A file is unpacked as far as its first bytes, and further only if they are the
//! beginning of something that lists addresses; other archives are left alone.
//! What is unpacked is bounded, whatever the file promises.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;
use geomi_model::Document;
use memchr::memmem;

use crate::content::Content;
use crate::feed::FeedReader;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::sitemap::SitemapReader;
use crate::url_list::UrlListReader;

/// Bytes unpacked to see what is inside.
const HEAD_BYTES: usize = 16 * 1024;

/// Reads compressed sitemaps and feeds.
#[derive(Clone, Copy, Debug, Default)]
pub struct GzipReader;

/// What may be inside.
const INSIDE: [&dyn Extractor; 3] = [&SitemapReader, &FeedReader, &UrlListReader];

impl Extractor for GzipReader {
    fn mime(&self) -> &'static str {
        "application/gzip"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        content.body.starts_with(&[0x1F, 0x8B])
            && content.may_be_xml()
            && inside(&unpack(content.body, HEAD_BYTES, usize::MAX)).is_some()
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let body = unpack(
            input.body,
            limits.sitemap_bytes_max,
            limits.sitemap_links_max,
        );
        let Some(reader) = inside(&body) else {
            return Document::default();
        };
        let unpacked = PageInput {
            mime: None,
            body: &body,
            ..*input
        };
        let mut document = reader.read(&unpacked, limits);
        document.truncated |= body.len() == limits.sitemap_bytes_max;
        document
    }
}

fn inside(body: &[u8]) -> Option<&'static dyn Extractor> {
    let content = Content::new("", body);
    INSIDE.into_iter().find(|reader| reader.claims(&content))
}

/// The first `bytes_max` of what is compressed, and not much more than `entries_max`
/// entries of a sitemap, which are counted roughly; of a damaged file, what comes
/// before the damage.
fn unpack(packed: &[u8], bytes_max: usize, entries_max: usize) -> Vec<u8> {
    const STEP: usize = 64 * 1024;
    let mut entries = 0;
    let mut decoder = MultiGzDecoder::new(packed);
    let mut body = Vec::new();
    while body.len() < bytes_max {
        let filled = body.len();
        body.resize(filled + STEP.min(bytes_max - filled), 0);
        match decoder.read(&mut body[filled..]) {
            Ok(0) | Err(_) => {
                body.truncate(filled);
                break;
            }
            Ok(read) => body.truncate(filled + read),
        }
        entries += memmem::find_iter(&body[filled..], b"</loc>").count();
        if entries > entries_max {
            break;
        }
    }
    body
}
