//! One attempt at a URL: the row of visits/, the line of log.jsonl.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::{
    CharsetSource, DocumentKind, Fingerprint, LinkType, NetworkState, Phases, Protocol, Timestamp,
    Truncation, Validity,
};

/// How many priorities there are: 1 is the highest.
pub const PRIORITIES: u8 = 8;

/// One URL attempted once, robots.txt included.
///
/// It is the complete story of the attempt: everything geomi later reports,
/// exports or learns is computed from these rows.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// Its number in this crawl directory, from 1, without gaps.
    pub number: u64,
    /// When the attempt started.
    pub time: Timestamp,
    /// What was asked for.
    pub url: CrawlUrl,
    /// The seed whose party it belongs to.
    pub seed: Option<CrawlUrl>,
    /// The seed's topic label.
    pub topic: Option<String>,
    /// The page on which the link was found.
    pub via: Option<CrawlUrl>,
    /// Links away from the seed.
    pub depth: u16,
    /// Priority it was queued with, from 1, the highest, to [`PRIORITIES`].
    pub priority: u8,
    /// Which try this was, from 1.
    pub attempt: u8,
    /// Whether it was made for robots.txt itself.
    pub is_robots: bool,
    /// How it ended.
    pub state: NetworkState,
    /// HTTP status code, where a header came.
    pub code: Option<u16>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// Address asked.
    pub ip: Option<IpAddr>,
    /// Media type from Content-Type as sent, without parameters.
    pub mime: Option<String>,
    /// Charset the page was decoded with.
    pub charset: Option<String>,
    /// What decided the charset.
    pub charset_source: Option<CharsetSource>,
    /// Bytes that came over the wire: header and body as sent.
    pub wire_bytes: u64,
    /// Bytes of the body after decoding.
    pub body_bytes: u64,
    /// Bytes of visible text.
    pub text_bytes: Option<u64>,
    /// SHA-1 of the payload as sent, the digest of the archive.
    pub digest: Option<Digest>,
    /// Hash over the normalised visible text.
    pub fingerprint: Option<Fingerprint>,
    /// Against the visit before; `None` on a first visit or a failure.
    pub changed: Option<Change>,
    /// Redirect target.
    pub location: Option<CrawlUrl>,
    /// Text of the title element.
    pub title: Option<String>,
    /// Kinds of link on the page.
    pub link_type: Option<LinkType>,
    /// Links on the page.
    pub links: u32,
    /// How many of them were new and admitted.
    pub links_admitted: u32,
    /// Where the time went; `first_byte` is the RTT.
    pub phases: Phases,
    /// Where it is stored, if it was.
    pub capture: Option<Capture>,
    /// What its content is like. Kept apart in stored forms, because rows written
    /// before it was known do not have it.
    #[serde(skip)]
    pub facts: PageFacts,
    /// How long before its turn it was made, because a sitemap or feed said that the
    /// page has changed; `None` of all others. Kept apart like `facts`.
    #[serde(skip)]
    pub early: Option<Duration>,
    /// Why the body is shorter than the server meant it, if it is. Kept apart like
    /// `facts`.
    #[serde(skip)]
    pub truncated: Option<Truncation>,
    /// Whether the content is what it says it is; `None` where none came. Kept apart
    /// like `facts`.
    #[serde(skip)]
    pub validity: Option<Validity>,
}

impl Visit {
    /// A visit to a URL of which nothing else is known.
    pub fn unknown(url: CrawlUrl) -> Self {
        Self {
            number: 0,
            time: Timestamp::EPOCH,
            url,
            seed: None,
            topic: None,
            via: None,
            depth: 0,
            priority: 0,
            attempt: 0,
            is_robots: false,
            state: NetworkState::NotTried,
            code: None,
            error: None,
            ip: None,
            mime: None,
            charset: None,
            charset_source: None,
            wire_bytes: 0,
            body_bytes: 0,
            text_bytes: None,
            digest: None,
            fingerprint: None,
            changed: None,
            location: None,
            title: None,
            link_type: None,
            links: 0,
            links_admitted: 0,
            phases: Phases::default(),
            capture: None,
            facts: PageFacts::default(),
            early: None,
            truncated: None,
            validity: None,
        }
    }
}

/// What the content of a visit is like, beyond what it says. Everything is `None`
/// where nobody looked: the content is of another kind, or the visit is older
/// than the question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageFacts {
    /// What it was read as.
    pub kind: Option<DocumentKind>,
    /// What was spoken with the server.
    pub protocol: Option<Protocol>,
    /// Bytes of what the page is about, out of its visible text.
    pub main_text_bytes: Option<u64>,
    /// Simhash over that.
    pub simhash: Option<u64>,
    /// The page met before that says nearly the same.
    pub near_duplicate: Option<NearDuplicate>,
    /// How much it looks like spam, in hundredths.
    pub spam_percent: Option<u8>,
    /// Whether it came with 200 and says that it is not there.
    pub soft_404: Option<bool>,
}

/// A page that says nearly the same as another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NearDuplicate {
    /// 64-bit hash of the other's URL.
    pub url: u64,
    /// Bits in which their simhashes differ.
    pub distance: u8,
}

/// Where a captured answer lies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Capture {
    /// Name of the WARC file, without its folder and without `.open`.
    pub file: String,
    /// Offset of the response or revisit record.
    pub offset: u64,
    /// Compressed length of that record.
    pub length: u64,
    /// Which of the two it is.
    pub kind: CaptureKind,
}

/// Whether content was stored or referred to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CaptureKind {
    /// A response record with the content.
    Response,
    /// A revisit record: this content is stored already.
    Revisit,
}

/// How a page compares with its visit before.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// Whether a reader would notice.
    pub changed: bool,
    /// Difference of the body's size in bytes.
    pub size: u64,
}

/// A SHA-1, written as archives do: `sha1:` and base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest(pub [u8; 20]);

impl Digest {
    /// Reads what [`Digest`]'s `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let base32 = text.strip_prefix("sha1:")?;
        let bytes = data_encoding::BASE32.decode(base32.as_bytes()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", data_encoding::BASE32.encode_display(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_read_back() {
        let digest = Digest([7; 20]);
        assert_eq!(digest.to_string().len(), 37);
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("sha1:xyz"), None);
    }
}
