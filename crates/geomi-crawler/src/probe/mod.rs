//! One URL through the stages of the journey, with a report of every decision.
//!
//! [`probe`] is for a person who asks "what would a crawl do with this URL?".
//! It is no second crawl loop: it follows one URL, and its redirects, and calls
//! the functions the stages call, so that what it tells cannot differ from what
//! a crawl does. There is no queue, no lease and no seen set beyond the
//! redirects followed; nothing is written, and each request is made once,
//! without the retries a crawl would make.
//!
//! It keeps the manners of a crawl: robots.txt is asked for and obeyed, an
//! address rule is never stepped over, and a site asked twice is given its rest
//! in between.
//!
//! ```text
//! hop: scope ─▶ address ─▶ robots.txt ─▶ rest ─▶ exchange ─▶ (redirect: next hop)
//! ```

mod pass;
mod site;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use geomi_engine::SiteAccess;
use geomi_fetch::{FetchOutcome, LookUp};
use geomi_frontier::Pause;
use geomi_model::{Digest, Document, NetworkState, Phases, Timestamp};
use geomi_page::ReadAs;
use geomi_scope::Verdict;
use geomi_url::CrawlUrl;

use crate::{Clock, CrawlConfig, CrawlError};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// The URL.
    pub url: CrawlUrl,
    /// The seed whose page links to it; `None` where it is a seed itself.
    pub seed: Option<CrawlUrl>,
}

/// The URL, then each redirect that was followed; at least one hop.
#[derive(Debug)]
pub struct Probe {
    /// The hops in order.
    pub hops: Vec<Hop>,
}

impl Probe {
    /// Where it ended.
    pub fn last(&self) -> &Hop {
        self.hops.last().expect("a probe has a hop")
    }
}

/// One URL on its way through the stages. A step it did not reach is `None`.
#[derive(Debug)]
pub struct Hop {
    /// The URL.
    pub url: CrawlUrl,
    /// Whether it is wanted.
    pub scope: ScopeStep,
    /// Where it is asked for.
    pub address: Option<AddressStep>,
    /// Whether its site permits it.
    pub robots: Option<RobotsStep>,
    /// How long the site was left alone before it was asked for this URL.
    pub waited: Duration,
    /// The request, the answer, and what was made of it.
    pub exchange: Option<Box<ExchangeStep>>,
    /// How the hop ended.
    pub end: HopEnd,
}

/// How a hop ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HopEnd {
    /// A complete answer, and it is the last one.
    Answered,
    /// A complete answer that leads to the next hop.
    Redirected,
    /// Not asked for, or not followed.
    Refused {
        /// By whom.
        by: RefusedBy,
        /// Why, in words.
        reason: String,
    },
    /// No complete answer.
    Failed {
        /// How far it came.
        state: NetworkState,
        /// Why, in words.
        reason: String,
    },
}

/// Who refuses a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusedBy {
    /// The scope.
    Scope,
    /// The rule which addresses may be asked.
    Address,
    /// The site's robots.txt.
    Robots,
    /// Its site wants to be left alone for longer than one is willing to wait.
    Politeness,
    /// The limit of redirects, or a redirect back to a URL asked for already.
    Redirects,
}

impl RefusedBy {
    /// The name in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scope => "scope",
            Self::Address => "address",
            Self::Robots => "robots",
            Self::Politeness => "politeness",
            Self::Redirects => "redirects",
        }
    }
}

/// What the scope says.
#[derive(Debug)]
pub struct ScopeStep {
    /// The verdict.
    pub verdict: Verdict,
    /// It in words, with the pattern that decided.
    pub words: String,
    /// The URL scope is judged by.
    pub seed: CrawlUrl,
    /// Links away from the seed.
    pub depth: u16,
    /// The lane it would be queued in, 1 the highest.
    pub priority: Option<u8>,
}

/// Where a host is asked.
#[derive(Clone, Debug)]
pub struct AddressStep {
    /// Every address, and what came of it.
    pub look_up: LookUp,
    /// The address asked.
    pub chosen: Option<IpAddr>,
    /// How long the look-up took; `None` where an earlier one still held.
    pub took: Option<Duration>,
}

/// What the site's robots.txt says.
#[derive(Debug)]
pub struct RobotsStep {
    /// Requests made to find out; none where it is ignored or known already.
    pub asked: Vec<RobotsRequest>,
    /// What it permits; `None` where it is ignored.
    pub access: Option<SiteAccess>,
}

/// One request for a robots.txt.
#[derive(Debug)]
pub struct RobotsRequest {
    /// What was asked for.
    pub url: CrawlUrl,
    /// Where.
    pub ip: Option<IpAddr>,
    /// How it ended.
    pub state: NetworkState,
    /// Status code.
    pub code: Option<u16>,
    /// What went wrong.
    pub error: Option<String>,
    /// Where it redirects to.
    pub location: Option<CrawlUrl>,
    /// Bytes of the body after decoding.
    pub body_bytes: u64,
    /// Where the time went.
    pub phases: Phases,
    /// Whether a crawl would ask again before it believes this.
    pub would_retry: bool,
}

/// One request for the page.
#[derive(Debug)]
pub struct ExchangeStep {
    /// When it started.
    pub started: Timestamp,
    /// Everything that came, as it came.
    pub outcome: FetchOutcome,
    /// The network state, the wanted types considered.
    pub state: NetworkState,
    /// Where it redirects to.
    pub location: Option<CrawlUrl>,
    /// Media type of Content-Type as sent.
    pub mime: Option<String>,
    /// Charset of Content-Type.
    pub header_charset: Option<String>,
    /// Charset the page declares inside.
    pub declared_charset: Option<&'static str>,
    /// The type it was read as.
    pub read_as: ReadAs,
    /// The page as read.
    pub document: Document,
    /// What would become of each link of the document, in the same order; empty
    /// for a redirect, whose links are not followed.
    pub links: Vec<LinkStep>,
    /// What would be stored.
    pub stored: Option<StoredStep>,
    /// What it would count as: saved, redirected, failed, answered or retry.
    pub fate: &'static str,
    /// When a crawl would try again, if it would.
    pub again_after: Option<Duration>,
    /// How long the site would be left alone.
    pub pause: Pause,
    /// What of that its robots.txt asked for.
    pub crawl_delay: Option<Duration>,
}

/// What would become of a link.
#[derive(Debug)]
pub struct LinkStep {
    /// In short.
    pub verdict: LinkVerdict,
    /// The name of the rule that decided.
    pub rule: &'static str,
    /// Why, in words.
    pub words: String,
    /// The lane it would be queued in.
    pub priority: Option<u8>,
}

/// What would become of a link, in short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkVerdict {
    /// It would be followed.
    Accept,
    /// It would propose a seed.
    CandidateSeed,
    /// The scope refuses it, or the page asks not to follow it.
    Refuse,
}

/// What an archive would hold of an answer: its response and its request.
#[derive(Debug)]
pub struct StoredStep {
    /// SHA-1 of the payload as sent, which the archive states.
    pub payload: Digest,
    /// SHA-1 with transfer coding removed, by which equal content is found.
    pub content: Digest,
    /// Bytes of that content.
    pub content_bytes: u64,
    /// The response record before and after compression.
    pub response_bytes: (u64, u64),
    /// The request record before and after compression.
    pub request_bytes: (u64, u64),
    /// The line of the index; where the record would lie is not known before it
    /// is written, so that offset and file name are `0` and `-`.
    pub index_line: String,
}

/// Follows one URL and tells everything; `resting` hears of each pause before it
/// begins. The web's failures are part of the answer.
pub fn probe(
    config: &CrawlConfig,
    question: &Question,
    clock: Arc<dyn Clock>,
    resting: &mut dyn FnMut(&CrawlUrl, Duration),
) -> Result<Probe, CrawlError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CrawlError::Thread)?;
    let pass = pass::Pass::new(config, clock, resting)?;
    Ok(runtime.block_on(pass.follow(question)))
}
