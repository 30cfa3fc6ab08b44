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
pub(crate) struct Arrival {
    pub(crate) lease: Lease,
    pub(crate) url: CrawlUrl,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
    /// Whether the page was wanted only if it had changed.
    pub(crate) is_conditional: bool,
    pub(crate) answer: Answer,
    pub(crate) document: Document,
    /// The content of a complete answer; its records are kept by the worker.
    pub(crate) content: Option<Content>,
    /// Where the content is stored, if the partition that keeps its digest says so.
    pub(crate) original: Option<Stored>,
}

/// The content of a complete answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// SHA-1 of the content with transfer coding removed: equal content is
    /// recognised by it however it was chunked.
    pub(crate) digest: Digest,
    /// SHA-1 of the payload as the archive states it.
    pub(crate) payload: Digest,
    /// Bytes of the content.
    pub(crate) bytes: u64,
    /// What was spoken.
    pub(crate) protocol: Protocol,
}

/// The answer, less its content.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) state: NetworkState,
    pub(crate) code: Option<u16>,
    pub(crate) ip: Option<std::net::IpAddr>,
    pub(crate) phases: Phases,
    /// A hash of the server's certificate, where it was just shown.
    pub(crate) certificate: Option<u64>,
    pub(crate) error: Option<String>,
    pub(crate) mime: Option<String>,
    pub(crate) wire_bytes: u64,
    pub(crate) body_bytes: u64,
    /// Why the body is shorter than the server meant it.
    pub(crate) truncated: Option<Truncation>,
    /// Whether the content is what it says it is.
    pub(crate) validity: Option<Validity>,
    pub(crate) location: Option<CrawlUrl>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The `Set-Cookie` lines of a page.
    pub(crate) cookies: Vec<String>,
    /// What a 401 asks for.
    pub(crate) challenges: Vec<String>,
    /// What a page that is not there says, where it is a 404.
    pub(crate) missing: Option<Shape>,
    /// What a robots.txt permits; `None` for pages, and if reading it panicked.
    pub(crate) robots: Option<Box<RobotsPolicy>>,
}

impl Answer {
    /// Whether the server says that what is stored is still what it has: a 304
    /// to a conditional request.
    pub(crate) fn is_not_modified(&self) -> bool {
        self.code == Some(304) && self.state == NetworkState::Ok
    }

    /// The answer of a site that was not even asked.
    pub(crate) fn none(state: NetworkState, reason: String) -> Self {
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
