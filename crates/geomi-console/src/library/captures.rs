//! The captures of a page: which there are, and what one holds.
//!
//! Every question opens the archive anew and closes it: a crawl that is running
//! adds captures meanwhile, and nothing is held between two questions. What is
//! read of one capture is bounded; a longer one is cut, and says so.

use bytes::Bytes;
use geomi_fetch::StoredAnswer;
use geomi_model::Timestamp;
use geomi_page::{PageInput, ReadLimits, charset_parameter, plain_text};
use geomi_store::CrawlDir;
use geomi_store::cdxj::Entry;
use geomi_store::readback::{Archive, ArchiveLimits, ReadbackError, Spelling, nearest};
use geomi_url::CrawlUrl;

/// Bytes read of one capture, as stored and again as decoded.
pub(crate) const BYTES_MAX: usize = 16 << 20;
/// Bytes kept between the two captures of a comparison: they often share a
/// record.
const CACHE_BYTES_MAX: usize = 2 * BYTES_MAX;

/// The archive of one crawl.
#[derive(Debug)]
pub(crate) struct Shelf(Option<Archive>);

/// Which part of a capture is wanted: the other is not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    Body,
    Text,
}

/// What a capture holds.
#[derive(Debug)]
pub(crate) struct Content {
    /// Which capture it is.
    pub(crate) entry: Entry,
    /// The body without framing and codings; empty where the text is wanted.
    pub(crate) body: Bytes,
    /// Content type as sent.
    pub(crate) declared: Option<String>,
    /// What a reader would see, at most 16 MiB; `None` where it is no text, or
    /// where the body is wanted.
    pub(crate) text: Option<String>,
    /// Whether something is missing at the end.
    pub(crate) truncated: bool,
}

impl Shelf {
    /// Opens the archive; one without an index has no captures.
    pub(crate) fn open(dir: &CrawlDir) -> Result<Self, ReadbackError> {
        let limits = ArchiveLimits {
            block_bytes_max: BYTES_MAX,
            cache_bytes_max: CACHE_BYTES_MAX,
        };
        match Archive::open(dir.clone(), limits) {
            Ok(archive) => Ok(Self(Some(archive))),
            Err(ReadbackError::NoIndex(_)) => Ok(Self(None)),
            Err(error) => Err(error),
        }
    }

    /// The captures of a URL, the earliest first; of another spelling of it, if
    /// there are none.
    pub(crate) fn captures(&self, url: &CrawlUrl) -> Result<Vec<Entry>, ReadbackError> {
        let Some(archive) = &self.0 else {
            return Ok(Vec::new());
        };
        let exact = archive.captures(url, Spelling::Exact)?;
        if exact.is_empty() {
            return archive.captures(url, Spelling::SameKey);
        }
        Ok(exact)
    }

    /// Captured URLs of the same site that are near to one that is not.
    pub(crate) fn near(&self, url: &CrawlUrl) -> Result<Vec<String>, ReadbackError> {
        self.0
            .as_ref()
            .map_or(Ok(Vec::new()), |archive| archive.neighbours(url))
    }

    /// The capture nearest to a moment, or the latest. `None` where there is
    /// none, or where it is no answer of a web server.
    pub(crate) fn read(
        &self,
        url: &CrawlUrl,
        moment: Option<Timestamp>,
        wanted: Wanted,
    ) -> Result<Option<Content>, ReadbackError> {
        let mut entries = self.captures(url)?;
        let at = match moment {
            Some(moment) => nearest(&entries, moment),
            None => entries.len().checked_sub(1),
        };
        let (Some(archive), Some(at)) = (&self.0, at) else {
            return Ok(None);
        };
        let entry = entries.swap_remove(at);
        let record = std::sync::Arc::clone(archive.read(&entry)?.content());
        let Ok(answer) = StoredAnswer::parse(record.block.clone(), BYTES_MAX) else {
            return Ok(None);
        };
        let content_type = answer.headers.get("content-type").map(|it| it.to_string());
        let (body, mut text) = match wanted {
            Wanted::Body => (answer.body.bytes.clone(), None),
            Wanted::Text => {
                let text = visible(&entry, content_type.as_deref(), &answer);
                (Bytes::new(), text)
            }
        };
        let is_cut = text.as_mut().is_some_and(cut);
        let truncated = is_cut
            || record.truncated
            || answer.body.truncated
            || record.info.field("WARC-Truncated").is_some();
        Ok(Some(Content {
            entry,
            body,
            declared: content_type,
            text,
            truncated,
        }))
    }
}

/// Cuts a text that is longer than a body may be: in UTF-8 it can be three
/// times as long as the bytes it was made of. Whether it was.
fn cut(text: &mut String) -> bool {
    let is_long = text.len() > BYTES_MAX;
    if is_long {
        text.truncate(text.floor_char_boundary(BYTES_MAX));
        text.shrink_to_fit();
    }
    is_long
}

fn visible(entry: &Entry, content_type: Option<&str>, answer: &StoredAnswer) -> Option<String> {
    // The index has URLs that were asked for; one that is none has no text.
    let url = CrawlUrl::parse(&entry.fields.url).ok()?;
    let input = PageInput {
        url: &url,
        mime: content_type,
        charset_label: content_type.and_then(charset_parameter),
        body: &answer.body,
    };
    plain_text(&input, &ReadLimits::default())
}

/// The time of a capture, RFC 3339.
pub(crate) fn time(entry: &Entry) -> String {
    Timestamp::parse_compact(&entry.timestamp)
        .map_or_else(|| entry.timestamp.clone(), Timestamp::to_rfc3339_secs)
}
