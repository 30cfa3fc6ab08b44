//! What comes back of a job: an answer, understood as far as that needs no state.

use std::time::Duration;

use geomi_frontier::Lease;
use geomi_model::{
    Digest, Document, NetworkState, Phases, Protocol, Timestamp, Truncation, Validity,
};
use geomi_novelty::Shape;
use geomi_robots::RobotsPolicy;
use geomi_url::CrawlUrl;

use crate::partition::Stored;

/// A visit with everything that can be known without the state of its partition.
#[derive(Debug)]
pub struct Arrival {
    /// The lease of the job, to be settled.
    pub lease: Lease,
    /// The URL that was requested.
    pub url: CrawlUrl,
    /// When the visit began.
    pub started: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Whether the page was wanted only if it had changed.
    pub is_conditional: bool,
    /// The answer, or how the request failed.
    pub answer: Answer,
    /// What the reader made of the content.
    pub document: Document,
    /// The content of a complete answer; its records are kept by the worker.
    pub content: Option<Content>,
    /// Where the content is stored, if the partition that keeps its digest says so.
    pub original: Option<Stored>,
}

/// The content of a complete answer.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// SHA-1 of the content with transfer coding removed: equal content is
    /// recognised by it however it was chunked.
    pub digest: Digest,
    /// SHA-1 of the payload as the archive states it.
    pub payload: Digest,
    /// Bytes of the content.
    pub bytes: u64,
    /// What was spoken.
    pub protocol: Protocol,
}

/// The answer, less its content.
#[derive(Debug)]
pub struct Answer {
    /// The network state the visit ended in.
    pub state: NetworkState,
    /// The status code.
    pub code: Option<u16>,
    /// The address that was asked.
    pub ip: Option<std::net::IpAddr>,
    /// How long each phase took.
    pub phases: Phases,
    /// A hash of the server's certificate, where it was just shown.
    pub certificate: Option<u64>,
    /// What went wrong, in words.
    pub error: Option<String>,
    /// The content type as sent, without parameters.
    pub mime: Option<String>,
    /// Bytes received.
    pub wire_bytes: u64,
    /// Bytes of the body after decoding.
    pub body_bytes: u64,
    /// Why the body is shorter than the server meant it.
    pub truncated: Option<Truncation>,
    /// Whether the content is what it says it is.
    pub validity: Option<Validity>,
    /// The target of a redirect.
    pub location: Option<CrawlUrl>,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
    /// The `ETag`.
    pub etag: Option<String>,
    /// The `Last-Modified`.
    pub last_modified: Option<String>,
    /// The `Set-Cookie` lines of a page.
    pub cookies: Vec<String>,
    /// What a 401 asks for.
    pub challenges: Vec<String>,
    /// What a page that is not there says, where it is a 404.
    pub missing: Option<Shape>,
    /// What a robots.txt permits; `None` for pages, and if reading it panicked.
    pub robots: Option<Box<RobotsPolicy>>,
}

impl Answer {
    /// Whether the server says that what is stored is still what it has: a 304
    /// to a conditional request.
    pub fn is_not_modified(&self) -> bool {
        self.code == Some(304) && self.state == NetworkState::Ok
    }

    /// The answer of a site that was not even asked.
    pub fn none(state: NetworkState, reason: String) -> Self {
        Self {
            state,
            code: None,
            ip: None,
            phases: Phases::default(),
            certificate: None,
            error: Some(reason),
            mime: None,
            wire_bytes: 0,
            body_bytes: 0,
            truncated: None,
            validity: None,
            location: None,
            retry_after: None,
            etag: None,
            last_modified: None,
            cookies: Vec::new(),
            challenges: Vec::new(),
            missing: None,
            robots: None,
        }
    }
}
