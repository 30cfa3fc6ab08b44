//! The crawl of one partition, as a synchronous state machine.
//!
//! A partition is the part of the URL space with some registrable domains: all their
//! sites, and nothing of any other. Everything durable, learned, planned or queued of it
//! is in its [`Engine`], and nowhere else. An engine has no clock, thread, socket or
//! file: time and the outside world are given to each call ([`Around`]), and what is
//! durable lies in the state store it was opened with. So the same engine runs in a
//! crawl and, in virtual time, in the simulation.
//!
//! ```text
//! worker ─ poll ─────────▶ a job: look up, robots.txt, page        (stage/lease)
//! worker ─ arrived ──────▶ judge ─▶ keep ─▶ settle ─▶ admit links  (stage/settle ...)
//! worker ─ receive ──────▶ letters of other partitions             (letters)
//! worker ─ upkeep ───────▶ what is due, deferred, postponed        (refresh, held, again)
//! worker ─ commit ───────▶ one batch, with a number
//! worker ◀─ effects ────── visits and mail of durable commits
//! worker ─ change_turns ─▶ which sites are in memory               (turns)
//! ```
//!
//! # What is durable when
//!
//! A commit is readable at once and durable when the store says so: a local disk at
//! once, an object store later. Visits are announced, mail leaves and received mail is
//! acknowledged only when the commit they belong to is durable ([`Engine::effects`]).
//!
//! # Its parts
//!
//! | part | owns |
//! |---|---|
//! | [`Rules`] | configuration, scope, policies of sites |
//! | [`Partition`] | durable state, seen test, outbox, counters |
//! | [`Queues`] | the frontier and what is beside it |
//! | [`SiteFacts`] | robots.txt, addresses, cookies, credentials, failures |
//! | [`Learned`] | the trap guard, addresses in scripts, soft 404s |
//! | [`Seeds`] | seeds of this partition, and cards of seeds elsewhere |
//! | [`Upkeep`] | the refresh plan, change signals, the discovery budget |
//! | [`Rounds`] | visiting all known pages again |
//! | [`Outgoing`] | what waits for its commit to become durable |

mod commit;
mod open;

use std::collections::VecDeque;

use geomi_cluster::{PartitionId, Partitions};
use geomi_frontier::{Addresses, Call, Counts, Frontier, Importance, Lease};
use geomi_model::{Capture, Timestamp, Visit};
use geomi_novelty::{Mirrors, Missing, Nearby};
use geomi_state::CommitNo;
use geomi_url::{CrawlUrl, SiteHash, UrlHash};
use hashbrown::{HashMap, HashSet};

use crate::again::{Rereading, Round};
use crate::books::{RobotsBook, Unaddressed};
use crate::cookies::Cookies;
use crate::credentials::Keyring;
use crate::failing::FailingSites;
use crate::novelty::{NoveltyBook, domain_hash};
use crate::partition::{Partition, Stored};
use crate::policies::SitePolicies;
use crate::refresh::{Discovery, SignalledVisit};
use crate::script_links::ScriptLinks;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::stage::lease::Extras;
use crate::warnings::WarnLimit;
use crate::{CrawlConfig, CrawlError};
use geomi_refresh::upkeep::{RefreshPlan, SiteSignals};

pub(crate) use open::frontier_config;

/// What surrounds an engine during one call.
pub(crate) struct Around<'a> {
    /// Now.
    pub(crate) now: Timestamp,
    /// What the engines of a worker share.
    pub(crate) shared: &'a mut Shared,
    /// The outside world, as far as it answers at once.
    pub(crate) world: &'a mut dyn World,
}

/// What the engines of a worker share. Limits per address are exact. The rest makes
/// better guesses and may be forgotten at any time.
pub(crate) struct Shared {
    /// Connections per address.
    pub(crate) addresses: Addresses,
    /// What links say of how important URLs are.
    pub(crate) importance: Importance,
    /// What pages met lately say.
    pub(crate) nearby: Nearby,
    /// Which sites have the same pages as another.
    pub(crate) mirrors: Mirrors,
    /// Contents whose keeper is another partition, which has not been told yet.
    pub(crate) contents: HashMap<geomi_model::Digest, Stored>,
}

/// The outside world of an engine, as far as it answers at once.
pub(crate) trait World {
    /// Puts the records of the answer at hand into the archive: as a response or, where
    /// the content is stored already, as a reference to it.
    fn keep(&mut self, original: Option<&Stored>) -> Result<Capture, CrawlError>;

    /// Whether the reader of this version panicked over a page.
    fn is_quarantined(&self, url: &CrawlUrl) -> bool;

    /// The visits of a partition that are in files, after one and up to another, in
    /// order; of each at least what a plan needs.
    fn visits(
        &self,
        partition: PartitionId,
        after: u64,
        until: u64,
    ) -> Result<VisitRows, CrawlError>;
}

/// Rows of visits, read one after the other.
pub(crate) type VisitRows = Box<dyn Iterator<Item = Result<Visit, CrawlError>>>;

/// What an engine has to do next.
#[derive(Debug)]
pub(crate) enum Poll {
    /// Carry this out; the lease comes back with what it brought.
    Start(Box<Job>),
    /// Nothing before this time, unless something arrives; without a time, nothing.
    Wait(Option<Timestamp>),
}

/// A lease, and what its request carries.
#[derive(Debug)]
pub(crate) struct Job {
    /// The number of the partition.
    pub(crate) engine: usize,
    pub(crate) lease: Lease,
    pub(crate) extras: Extras,
}

/// The crawl of one partition. See the [module](self).
pub(crate) struct Engine {
    pub(crate) id: PartitionId,
    pub(crate) map: Partitions,
    pub(crate) rules: Rules,
    pub(crate) store: Partition,
    pub(crate) queues: Queues,
    pub(crate) sites: SiteFacts,
    pub(crate) learned: Learned,
    pub(crate) seeds: Seeds,
    pub(crate) upkeep: Upkeep,
    pub(crate) rounds: Rounds,
    pub(crate) outgoing: Outgoing,
    pub(crate) notices: Notices,
    /// Whether new work is begun: not while the crawl is paused, stopping or at a limit.
    pub(crate) is_running: bool,
}

/// What the partition is crawled by.
pub(crate) struct Rules {
    /// As given, and as changed since.
    pub(crate) config: CrawlConfig,
    pub(crate) admit: Admit,
    pub(crate) policies: SitePolicies,
    /// When this run began.
    pub(crate) started: Timestamp,
}

/// The frontier and what is beside it.
pub(crate) struct Queues {
    pub(crate) frontier: Frontier,
    /// URLs of sites that are not in memory.
    pub(crate) parked: u64,
    /// Jobs that were handed out and have not come back.
    pub(crate) in_flight: usize,
    /// Pages being visited, by the hash of their URL.
    pub(crate) under_way: HashSet<u64>,
    /// Whether URLs were ever promoted in this crawl.
    pub(crate) has_promoted: bool,
    /// After an unclean stop, sites rest a full delay from here.
    pub(crate) unclean_since: Option<Timestamp>,
    /// URLs handed to other partitions lately, and the depth they were found at.
    pub(crate) sent: HashMap<(SiteHash, UrlHash), u16>,
}

impl Queues {
    /// URLs waiting, those of sites not in memory included.
    pub(crate) fn waiting(&self) -> u64 {
        self.counts().waiting
    }

    /// How many URLs are where, those of sites not in memory included.
    pub(crate) fn counts(&self) -> Counts {
        let counts = self.frontier.counts();
        Counts {
            waiting: counts.waiting + self.parked,
            ..counts
        }
    }
}

/// What is known of single sites, apart from the trap guard.
pub(crate) struct SiteFacts {
    pub(crate) robots: RobotsBook,
    /// Sites that cannot be asked at any address, and why; of those in memory.
    pub(crate) unaddressed: HashMap<SiteHash, Unaddressed>,
    pub(crate) cookies: Cookies,
    pub(crate) keyring: Keyring,
    /// Sites whose last requests all failed.
    pub(crate) failing: FailingSites,
    /// Sites of other partitions whose robots.txt is asked for here, and who asked.
    pub(crate) errands: HashMap<SiteHash, PartitionId>,
}

/// What was learned from pages.
pub(crate) struct Learned {
    /// The trap guard.
    pub(crate) novelty: NoveltyBook,
    /// What addresses found in scripts came to.
    pub(crate) script_links: ScriptLinks,
    /// What sites say of pages they do not have.
    pub(crate) missing: Missing,
}

/// The seeds of the partition.
pub(crate) struct Seeds {
    pub(crate) book: SeedBook,
    /// Seeds of an earlier run that were not looked at again yet.
    pub(crate) known: std::ops::Range<u32>,
}

/// What keeps the pages of the partition fresh.
pub(crate) struct Upkeep {
    /// The plan, where the crawl is kept fresh.
    pub(crate) plan: Option<RefreshPlan>,
    /// What new pages may cost while the crawl is kept fresh.
    pub(crate) discovery: Discovery,
    /// Change signals of sites, as far as they were used lately.
    pub(crate) signals: HashMap<SiteHash, SiteSignals>,
    /// Pages that are visited because a sitemap or feed says so.
    pub(crate) early_visits: HashMap<u32, SignalledVisit>,
    /// Whether everything was queued that was to be visited once.
    pub(crate) is_over: bool,
}

/// Which crawl of this partition it is.
pub(crate) struct Rounds {
    pub(crate) round: Round,
    /// The visits of earlier rounds, while they are queued again.
    pub(crate) rereading: Option<Rereading>,
}

/// What waits for a commit, or for a commit to become durable.
#[derive(Default)]
pub(crate) struct Outgoing {
    /// Visits since the last commit, which numbers them.
    pub(crate) visits: Vec<Visit>,
    /// Visits of commits that are not durable yet.
    pub(crate) committed: VecDeque<(CommitNo, Vec<Visit>)>,
    /// The number of the last visit.
    pub(crate) last_visit: u64,
}

/// Warnings about addresses and seeds that were refused.
pub(crate) struct Notices {
    pub(crate) addresses: WarnLimit,
    pub(crate) seeds: WarnLimit,
}

impl Engine {
    /// The partition of a URL, if it is another one.
    pub(crate) fn elsewhere(&self, url: &CrawlUrl) -> Option<PartitionId> {
        if self.map.count() == 1 {
            return None;
        }
        let owner = partition_of(self.map, url);
        (owner != self.id).then_some(owner)
    }

    /// Whether the run before this one, if there was one, closed the partition.
    pub(crate) fn began_clean(&self) -> bool {
        self.queues.unclean_since.is_none()
    }

    /// URLs waiting, those of sites not in memory included.
    pub(crate) fn waiting(&self) -> u64 {
        self.queues.waiting()
    }

    /// Queues what is due for a reason other than an answer: known pages in a round,
    /// pages of the plan, new pages within their budget, deferred URLs.
    pub(crate) fn keep_up(&mut self, around: &mut Around<'_>) -> Result<(), CrawlError> {
        self.queue_again(around)?;
        self.queue_due(around)?;
        self.release_postponed(around)?;
        self.release_held(around)
    }

    /// A connection became free for a site of this partition.
    pub(crate) fn called(&mut self, call: Call, around: &mut Around<'_>) {
        self.queues
            .frontier
            .call(call, &mut around.shared.addresses, around.now);
    }

    /// Whether there is something to do now, besides leases and answers.
    pub(crate) fn has_work_now(&self) -> bool {
        self.is_rereading()
            || self.is_releasing()
            || (self.is_running && !self.seeds.known.is_empty())
            || self.store.others_wait() && self.queues.frontier.has_room()
    }

    /// When the plan or a postponed URL wants to be looked at again.
    pub(crate) fn wakeup(&self, now: Timestamp) -> Option<Timestamp> {
        let plan = self.refresh_wakeup();
        plan.into_iter().chain(self.discovery_wakeup(now)).min()
    }

    /// Whether nothing is left that a crawl visits in this run, apart from URLs that the
    /// trap guard defers.
    pub(crate) fn is_drained(&self) -> bool {
        self.waiting() == 0
            && self.rounds.rereading.is_none()
            && self.seeds.known.is_empty()
            && !self.awaits_postponed()
            && !self.keeps_fresh()
    }

    /// Whether nothing happens any more unless something arrives from outside.
    pub(crate) fn is_idle(&self) -> bool {
        self.queues.in_flight == 0
            && self.rounds.rereading.is_none()
            && self.seeds.known.is_empty()
            && !self.learned.novelty.held.is_due()
            && !self.store.others_wait()
            && self.queues.frontier.is_finished()
            && !self.is_dirty()
            && self.outgoing.committed.is_empty()
    }
}

/// The partition a URL belongs to: that of its registrable domain.
pub(crate) fn partition_of(map: Partitions, url: &CrawlUrl) -> PartitionId {
    if map.count() == 1 {
        return PartitionId(0);
    }
    map.partition_of(SiteHash(domain_hash(url)))
}
