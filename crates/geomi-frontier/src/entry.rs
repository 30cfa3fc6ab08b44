//! What is queued, leased and settled.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use geomi_model::{LinkKind, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};

use crate::Position;

/// A queued URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What to visit.
    pub url: CrawlUrl,
    /// Number of the seed whose party it belongs to.
    pub seed: u32,
    /// The page that linked to it.
    pub via: Option<CrawlUrl>,
    /// What kind of link that was.
    pub kind: LinkKind,
    /// Links away from the seed.
    pub depth: u16,
    /// 1 is the highest; at most [`geomi_model::PRIORITIES`].
    pub priority: u8,
    /// Tries made already.
    pub attempts: u8,
    /// Redirects, and indexes of sitemaps, followed to get here.
    pub redirects: u8,
    /// Whether it is a seed itself.
    pub is_seed: bool,
    /// Whether it was visited before and is to be visited again.
    pub is_revisit: bool,
    /// A retry is not due before this.
    pub not_before: Option<Timestamp>,
}

impl Entry {
    /// Whether nothing can be remembered of its URL: it was seen for the first
    /// time when this was queued. A seed may be queued again by a later run.
    pub const fn is_first_visit(&self) -> bool {
        self.attempts == 0 && !self.is_seed && !self.is_revisit
    }
}

/// A robots.txt to fetch: always an errand for some site, and on another site
/// where a redirect led there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Errand {
    /// What to fetch.
    pub url: CrawlUrl,
    /// The site that wants to know.
    pub for_site: SiteHash,
    /// Redirects followed so far.
    pub redirects: u8,
    /// Tries made already.
    pub attempts: u8,
    /// Whether that site belongs to another frontier, which waits for the answer:
    /// [`Frontier::add_foreign_errand`](crate::Frontier::add_foreign_errand).
    pub is_foreign: bool,
}

/// An errand for another frontier that ended without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostErrand {
    /// What could not be fetched, and for which site.
    pub errand: Errand,
    /// When the site it was asked of may be asked again; `None` if it is left alone for
    /// this run or has no address.
    pub until: Option<Timestamp>,
}

/// What a lease asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// Look the site's address up. Costs the site nothing.
    Resolve {
        /// The name to look up.
        host: String,
        /// The port to be asked, which the address policy wants to know.
        port: u16,
        /// Look-ups that failed already.
        attempts: u8,
    },
    /// Fetch a robots.txt from this address.
    Robots(Errand, IpAddr),
    /// Visit a page at this address, or say that it has none.
    Page(Arc<Entry>, Option<IpAddr>),
}

/// Number of a lease.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LeaseId(pub(crate) u64);

impl LeaseId {
    /// The bare number.
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The right, and the duty, to carry out one piece of work.
///
/// It cannot be copied: [`crate::Frontier::settle`] consumes it, so settling
/// twice does not compile, and dropping one without settling shows as a live
/// lease that never ends.
#[derive(PartialEq, Eq, Debug)]
#[must_use = "a lease that is not settled holds its site up"]
pub struct Lease {
    pub(crate) id: LeaseId,
    pub(crate) site: SiteHash,
    pub(crate) slot: Option<usize>,
    pub(crate) position: Option<(u8, Position)>,
    pub(crate) work: Work,
}

impl Lease {
    /// What to do.
    pub fn work(&self) -> &Work {
        &self.work
    }

    /// The site to be asked.
    pub fn site(&self) -> SiteHash {
        self.site
    }

    /// Number of this lease, never used again.
    pub fn id(&self) -> LeaseId {
        self.id
    }
}

/// What became of a lease.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Settlement {
    /// No request was made: robots.txt or a rule refused the URL, or a look-up
    /// found no address. The site's delay is not touched.
    NotAsked,
    /// A request was made and the URL is dealt with.
    Done(Timing, SiteSignal),
    /// A request was made and the URL shall come again, not before `after`.
    Retry {
        /// Times of this request.
        timing: Timing,
        /// What it says about the site.
        signal: SiteSignal,
        /// How long this URL rests.
        after: Duration,
    },
}

/// What came of looking a site's address up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolved {
    /// An address.
    Address {
        /// Where to ask.
        addr: IpAddr,
        /// How long it may be used.
        until: Timestamp,
        /// Whether it is on the public internet, where a site is always given
        /// one connection and a delay.
        is_public: bool,
    },
    /// It failed and shall be tried again after a back-off.
    Retry,
    /// It has none, and that is to be believed until then.
    Nowhere(Timestamp),
}

/// What came of fetching a robots.txt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RobotsNext {
    /// The site's rules are known, or given up on, until then.
    Known {
        /// When to ask again.
        until: Timestamp,
        /// Crawl-delay, if the rules have one for us.
        crawl_delay: Option<Duration>,
    },
    /// Ask there instead; the target's site must be open in this frontier.
    Redirect(CrawlUrl),
    /// It redirects to a site of another frontier, which the caller asks. The site waits
    /// until [`Frontier::robots_known`](crate::Frontier::robots_known),
    /// [`Frontier::robots_put_off`](crate::Frontier::robots_put_off) or
    /// [`Frontier::robots_unavailable`](crate::Frontier::robots_unavailable) is called.
    Elsewhere,
    /// Ask again later.
    Retry,
}

/// The times of a request that politeness depends on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// When the answer ended, or failed.
    pub ended: Timestamp,
    /// How long the request took in all.
    pub took: Duration,
    /// Request to first byte.
    pub rtt: Option<Duration>,
    /// How long connecting took, where the connection was new.
    pub connect: Option<Duration>,
}

/// What a request says about its site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SiteSignal {
    /// It answers.
    Fine,
    /// It took the request and gave no complete answer.
    Silent,
    /// It could not be reached at all.
    Unreachable,
    /// It asks us to slow down (429, 503), perhaps for how long.
    Throttled {
        /// Retry-After.
        retry_after: Option<Duration>,
    },
}
