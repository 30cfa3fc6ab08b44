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
//! | `Rules` | configuration, scope, policies of sites |
//! | `Partition` | durable state, seen test, outbox, counters |
//! | `Queues` | the frontier and what is beside it |
//! | `SiteFacts` | robots.txt, addresses, cookies, credentials, failures |
//! | `Learned` | the trap guard, addresses in scripts, soft 404s |
//! | `Seeds` | seeds of this partition, and cards of seeds elsewhere |
//! | `Upkeep` | the refresh plan, change signals, the discovery budget |
//! | `Rounds` | visiting all known pages again |
//! | `Outgoing` | what waits for its commit to become durable |

mod commit;
mod open;

use std::collections::VecDeque;

use geomi_cluster::{PartitionId, Partitions};
use geomi_frontier::{Addresses, Call, Counts, Frontier, FrontierId, Importance, Lease, Overview};
use geomi_model::{Capture, Digest, Timestamp, Visit};
use geomi_novelty::{Mirrors, Missing, Nearby};
use geomi_refresh::upkeep::{RefreshPlan, SiteSignals};
use geomi_state::{CommitNo, Scan};
use geomi_url::{CrawlUrl, SiteHash, UrlHash};
use hashbrown::{HashMap, HashSet};

use crate::again::{Rereading, Round};
use crate::books::{RobotsBook, Unaddressed};
use crate::cookies::Cookies;
use crate::credentials::Keyring;
use crate::errands::Errands;
use crate::failing::FailingSites;
use crate::novelty::{NoveltyBook, domain_hash};
use crate::partition::{ArchiveMark, Partition, Stored};
use crate::policies::SitePolicies;
use crate::refresh::{Discovery, SignalledVisit};
use crate::script_links::ScriptLinks;
use crate::seeds::{Seed, SeedBook};
use crate::stage::admit::Admit;
use crate::stage::lease::Extras;
use crate::status::{Answers, Counters};
use crate::warnings::WarnLimit;
use crate::{EngineConfig, EngineError};

pub use commit::Effects;
pub use open::Place;
pub(crate) use open::frontier_config;

/// The time and the outside world, given to an engine with each call.
pub struct Around<'a> {
    /// Now.
    pub now: Timestamp,
    /// What the engines of a worker share.
    pub shared: &'a mut Shared,
    /// The outside world, as far as it answers at once.
    pub world: &'a mut dyn World,
}

/// State that the engines of a worker share. Limits per address are exact. The rest
/// improves estimates and may be lost at any time.
pub struct Shared {
    /// Connections per address.
    pub addresses: Addresses,
    /// Importance of URLs, estimated from links.
    pub importance: Importance,
    /// Fingerprints of recent pages, to find near-duplicates.
    pub nearby: Nearby,
    /// Which sites have the same pages as another.
    pub mirrors: Mirrors,
    /// Contents whose keeper is another partition, until its letter has arrived there.
    pub contents: HashMap<Digest, Stored>,
}

/// URLs whose importance is remembered: 2 MiB.
const IMPORTANCE_PLACES: usize = 256 << 10;

impl Default for Shared {
    fn default() -> Self {
        Self {
            addresses: Addresses::default(),
            importance: Importance::new(IMPORTANCE_PLACES),
            nearby: Nearby::default(),
            mirrors: Mirrors::default(),
            contents: HashMap::new(),
        }
    }
}

impl Shared {
    /// Forgets a partition whose engine is dropped while others go on: where its
    /// connections were, and guesses that hold no longer once another worker has it.
    pub fn forget(&mut self, partition: PartitionId) {
        self.addresses.forget(FrontierId(partition.0));
        // What was known to wait may be visited when the partition comes back, and what
        // was stored may be lost.
        self.importance = Importance::new(IMPORTANCE_PLACES);
        self.contents.clear();
    }
}

/// The outside world of an engine, as far as it answers at once.
pub trait World {
    /// Puts the records of the answer at hand into the archive: as a response or, where
    /// the content is stored already, as a reference to it.
    fn keep(&mut self, original: Option<&Stored>) -> Result<Capture, EngineError>;

    /// Whether the reader of this version panicked over a page.
    fn is_quarantined(&self, url: &CrawlUrl) -> bool;

    /// The visits of a partition that are in files, after one and up to another, in
    /// order; of each at least what a plan needs.
    fn visits(
        &self,
        partition: PartitionId,
        after: u64,
        until: u64,
    ) -> Result<VisitRows, EngineError>;
}

/// Rows of visits, read one after the other.
pub type VisitRows = Box<dyn Iterator<Item = Result<Visit, EngineError>>>;

/// What an engine has to do next.
#[derive(Debug)]
pub enum Poll {
    /// Carry out this job; its lease comes back with the result.
    Start(Box<Job>),
    /// There is no job before this time unless something arrives. `None`: only an
    /// arrival can bring one.
    Wait(Option<Timestamp>),
}

/// A lease, and what its request carries.
#[derive(Debug)]
pub struct Job {
    /// The number of the partition.
    pub engine: usize,
    /// What to request.
    pub lease: Lease,
    /// What the request carries beside its URL.
    pub extras: Extras,
}

/// The crawl of one partition. See the [module](self).
pub struct Engine {
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

/// Configuration, scope and policies of sites.
pub(crate) struct Rules {
    /// As given, and as changed since.
    pub(crate) config: EngineConfig,
    pub(crate) admit: Admit,
    pub(crate) policies: SitePolicies,
    /// When this run began.
    pub(crate) started: Timestamp,
}

/// The frontier, and the work under way.
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

/// What is known of single sites, except what the trap guard knows.
pub(crate) struct SiteFacts {
    pub(crate) robots: RobotsBook,
    /// Sites that cannot be asked at any address, and why; of those in memory.
    pub(crate) unaddressed: HashMap<SiteHash, Unaddressed>,
    pub(crate) cookies: Cookies,
    pub(crate) keyring: Keyring,
    /// Sites whose last requests all failed.
    pub(crate) failing: FailingSites,
    /// Sites of other partitions whose robots.txt is asked for here, and who asked.
    pub(crate) errands: Errands,
}

/// What was learned from pages.
pub(crate) struct Learned {
    /// The trap guard.
    pub(crate) novelty: NoveltyBook,
    /// How often addresses found in scripts led to a page.
    pub(crate) script_links: ScriptLinks,
    /// How sites answer for pages that do not exist.
    pub(crate) missing: Missing,
}

/// The seeds of the partition.
pub(crate) struct Seeds {
    pub(crate) book: SeedBook,
    /// Seeds of an earlier run that were not reviewed yet.
    pub(crate) known: std::ops::Range<u32>,
}

/// What keeps the pages of the partition fresh.
pub(crate) struct Upkeep {
    /// The plan, where the crawl is kept fresh.
    pub(crate) plan: Option<RefreshPlan>,
    /// The share of the crawl's budget that the partition may spend.
    pub(crate) share: f64,
    /// What new pages may cost while the crawl is kept fresh.
    pub(crate) discovery: Discovery,
    /// Change signals of sites, as far as they were used lately.
    pub(crate) signals: HashMap<SiteHash, SiteSignals>,
    /// Pages that are visited because a sitemap or feed says so.
    pub(crate) early_visits: HashMap<u32, SignalledVisit>,
    /// Whether `--once` has queued every page.
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

/// How many seeds a partition has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SeedCounts {
    /// Seeds of the partition.
    pub own: u64,
    /// Those that were given.
    pub given: u64,
    /// Those given that failed.
    pub failed: u64,
}

/// Questions and settings of the worker, besides the crawl itself.
impl Engine {
    /// Which partition it is.
    pub const fn id(&self) -> PartitionId {
        self.id
    }

    /// Whether new work is begun from now on: not while the crawl is paused, stopping or
    /// at a limit.
    pub fn set_running(&mut self, is_running: bool) {
        self.is_running = is_running;
    }

    /// What was counted since the partition was begun.
    pub const fn counters(&self) -> &Counters {
        &self.store.counters
    }

    /// What was answered since then.
    pub const fn answers(&self) -> &Answers {
        &self.store.answers
    }

    /// How many URLs are where, those of sites not in memory included.
    pub fn counts(&self) -> Counts {
        self.queues.counts()
    }

    /// What its sites are doing.
    pub fn overview(&self, now: Timestamp) -> Overview {
        self.queues.frontier.overview(now)
    }

    /// The frontier, read-only.
    pub const fn frontier(&self) -> &Frontier {
        &self.queues.frontier
    }

    /// Sites whose last requests all failed.
    pub const fn failing(&self) -> &FailingSites {
        &self.sites.failing
    }

    /// How many seeds it has.
    pub fn seed_counts(&self) -> SeedCounts {
        let book = &self.seeds.book;
        SeedCounts {
            own: book.own().into(),
            given: book.given().into(),
            failed: book.failed().into(),
        }
    }

    /// Whether seeds of an earlier run are still to be reviewed.
    pub fn awaits_seeds(&self) -> bool {
        !self.seeds.known.is_empty()
    }

    /// Shows its seeds, and cards of seeds elsewhere, from this number on.
    pub fn each_seed(
        &self,
        from: u32,
        visit: &mut dyn FnMut(u32, Seed) -> Result<Scan, EngineError>,
    ) -> Result<(), EngineError> {
        self.store.each_seed(from, visit)
    }

    /// The refresh plan, where the crawl is kept fresh.
    pub const fn plan(&self) -> Option<&RefreshPlan> {
        self.upkeep.plan.as_ref()
    }

    /// The share of the crawl's refresh budget that it may spend.
    pub const fn budget_share(&self) -> f64 {
        self.upkeep.share
    }

    /// Counts of new pages that were requested, and of those that wait for their budget.
    pub const fn discovered(&self) -> (u64, u64) {
        let discovery = &self.upkeep.discovery;
        (discovery.requested, discovery.postponed)
    }

    /// The round it is in.
    pub const fn round(&self) -> &Round {
        &self.rounds.round
    }

    /// Where this content is stored, if this partition knows.
    pub fn stored(&self, content: &Digest) -> Result<Option<Stored>, EngineError> {
        self.store.stored(content)
    }

    /// Bytes of memory that the seen test takes.
    pub fn seen_bytes(&self) -> u64 {
        self.store.seen_bytes()
    }

    /// Visits that are in no file yet, in order.
    pub fn loose_visits(&self, visit: &mut dyn FnMut(Visit)) -> Result<(), EngineError> {
        self.store.visits(visit)
    }

    /// Forgets a visit that is in a file now, as are all before it.
    pub fn forget_visit(&mut self, number: u64) {
        self.store.forget_visit(number);
    }

    /// The number of the last visit.
    pub const fn last_visit(&self) -> u64 {
        self.outgoing.last_visit
    }

    /// Numbers visits from here on: the state is new, and files have visits up to this
    /// one.
    pub fn number_from(&mut self, last_visit: u64) {
        self.outgoing.last_visit = last_visit;
    }

    /// Where the archive stood at the last commit.
    pub fn archive_mark(&self) -> Result<ArchiveMark, EngineError> {
        Ok(self.store.meta("archive")?.unwrap_or_default())
    }

    /// What is known of the change signals of a URL's site.
    pub fn site_signals(&self, url: &CrawlUrl) -> Result<SiteSignals, EngineError> {
        Ok(self.store.signals(url.site_hash())?.unwrap_or_default())
    }
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
    pub fn began_clean(&self) -> bool {
        self.queues.unclean_since.is_none()
    }

    /// URLs waiting, those of sites not in memory included.
    pub fn waiting(&self) -> u64 {
        self.queues.waiting()
    }

    /// Queues what is due for a reason other than an answer: known pages in a round,
    /// pages of the plan, new pages within their budget, deferred URLs.
    pub fn keep_up(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        self.queue_again(around)?;
        self.queue_due(around)?;
        self.release_postponed(around)?;
        self.release_held(around)
    }

    /// A connection became free for a site of this partition.
    pub fn called(&mut self, call: Call, around: &mut Around<'_>) {
        self.queues
            .frontier
            .call(call, &mut around.shared.addresses, around.now);
    }

    /// Whether there is something to do now, besides leases and answers.
    pub fn has_work_now(&self) -> bool {
        self.is_rereading()
            || self.is_releasing()
            || (self.is_running && !self.seeds.known.is_empty())
            || self.store.others_wait() && self.queues.frontier.has_room()
    }

    /// When the plan or a postponed URL is due next.
    pub fn wakeup(&self, now: Timestamp) -> Option<Timestamp> {
        let plan = self.refresh_wakeup();
        plan.into_iter().chain(self.discovery_wakeup(now)).min()
    }

    /// Whether nothing is left that a crawl visits in this run, apart from URLs that the
    /// trap guard defers.
    pub fn is_drained(&self) -> bool {
        self.waiting() == 0
            && self.rounds.rereading.is_none()
            && self.seeds.known.is_empty()
            && !self.awaits_postponed()
            && !self.keeps_fresh()
    }

    /// Whether nothing happens any more unless something arrives from outside.
    pub fn is_idle(&self) -> bool {
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
pub fn partition_of(map: Partitions, url: &CrawlUrl) -> PartitionId {
    if map.count() == 1 {
        return PartitionId(0);
    }
    map.partition_of(SiteHash(domain_hash(url)))
}
