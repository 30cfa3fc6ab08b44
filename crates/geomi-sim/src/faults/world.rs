//! The driver: one process over several partitions, in virtual time.
//!
//! It does what `geomi-crawler` does around the frontier, in the same order:
//! robots.txt is asked before pages are, the archive is synced before the state
//! that points into it, links to other partitions leave by an outbox, and mail
//! is trimmed when what it brought is durable. Between any two of those steps
//! the process may die. When the crawl comes to its end, or before, a process
//! takes over that keeps it fresh for some weeks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Delay, Frontier, FrontierId, HostOrder, Lease, Politeness, SiteState,
};
use geomi_model::{PRIORITIES, Timestamp};
use geomi_robots::RobotsPolicy;
use geomi_testweb::Content;
use geomi_url::{CrawlUrl, SiteHash};

use super::chronicle::Chronicle;
use super::disk::{Batch, Disk, Letter};
use super::ledger::Ledger;
use super::mutation::Mutation;
use super::plan::{Budget, Plan, Wishes};
use super::row::Record;
use super::trouble::Ends;
use super::turns::{TURN_TIME, Turns};
use super::watch::Watch;
use super::web::{FaultyWeb, SITES, START};
use crate::draws::Draws;
use crate::entry::entry;

pub(super) const AGENT: &str = "geomi";
pub(super) const PARTITIONS: usize = 3;
pub(super) const CONNECTIONS: usize = 8;
const DAY: Duration = Duration::from_hours(24);
/// Steps in which every history ends.
const STEPS_MAX: u64 = 500_000;
/// Visits of which the first plan of a history is made, at least.
const ROWS_MIN: usize = 12;

/// Why a step ended the process, or the history.
#[derive(Debug)]
pub(super) enum Stop {
    /// The process died; it is started again.
    Crash,
    /// An invariant does not hold.
    Violation(String),
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Self::Violation(what)
    }
}

/// A request or a look-up under way.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) started: Timestamp,
    pub(super) lands: Timestamp,
    pub(super) ends: Ends,
    /// The truth: what the page holds, if the answer tells.
    pub(super) holds: Option<Content>,
    pub(super) lease: Lease,
}

/// The last visit of a URL, and where it led.
#[derive(Clone, Debug)]
pub(super) struct LastVisit {
    pub(super) url: CrawlUrl,
    pub(super) links: Vec<CrawlUrl>,
    /// The numbers of its letters to other partitions.
    pub(super) letters: Vec<u64>,
}

/// A history under way: the web, the process, and those who watch it.
pub(super) struct World {
    pub(super) mutation: Option<Mutation>,
    pub(super) draws: Draws,
    pub(super) web: FaultyWeb,
    pub(super) config: Config,
    pub(super) wishes: Wishes,
    pub(super) watch: Watch,
    pub(super) ledger: Ledger,
    /// True time. The process reads [`World::clock`].
    pub(super) now: Timestamp,
    /// What the system's clock is wrong by, in microseconds.
    pub(super) clock_off_us: i64,
    pub(super) crashes: u32,
    /// When a process takes over that keeps the crawl fresh, if the crawl has not
    /// come to its end before, and until when it does so.
    freshens_at: Option<Timestamp>,
    pub(super) ends_at: Timestamp,
    /// Whether the processes of now are such.
    pub(super) freshens: bool,
    /// What is durable.
    pub(super) disks: Vec<Disk>,
    /// What a crash takes away.
    pub(super) frontier: Frontier,
    pub(super) addresses: Addresses,
    pub(super) batches: Vec<Batch>,
    pub(super) seen: Vec<BTreeSet<CrawlUrl>>,
    pub(super) rules: BTreeMap<SiteHash, RobotsPolicy>,
    pub(super) records: BTreeMap<CrawlUrl, Record>,
    pub(super) plan: Option<Plan>,
    /// The number of the next visit.
    pub(super) next_row: u64,
    /// Whether there is something to commit.
    pub(super) is_dirty: bool,
    pub(super) flying: Vec<Flight>,
    /// Last visits that the next commit makes final, by partition.
    pub(super) last_visits: Vec<Vec<LastVisit>>,
    pub(super) unclean_since: Option<Timestamp>,
    /// URLs that must not be lost: seeds, and links of pages that are committed.
    pub(super) owed: BTreeSet<CrawlUrl>,
    /// Letters of pages that are committed, and which are not there yet.
    pub(super) posted: BTreeSet<u64>,
    pub(super) next_letter: u64,
    /// All sites are seeds, and half of them ask for a long wait. Such a history ends with
    /// the crawl: no plan is made of a web of which half is missing.
    is_crowded: bool,
    /// Sites that are not in memory.
    pub(super) turns: Turns,
    pub(super) chronicle: Chronicle,
}

impl World {
    pub(super) fn new(seed: u64, mutation: Option<Mutation>, tells_all: bool) -> Self {
        let mut draws = Draws::new(seed, [1]);
        let is_crowded = seed.is_multiple_of(4);
        let web = FaultyWeb::new(seed, is_crowded, &mut draws);
        let wishes = Wishes::drawn(&mut draws);
        let mut config = drawn_config(&mut draws);
        let watch = Watch::new(config.politeness);
        match mutation {
            Some(Mutation::NoDelay) => config.politeness.delay = Delay::Fixed(Duration::ZERO),
            Some(Mutation::AddressLimitIgnored) => config.politeness.address_connections = 9,
            _ => {}
        }
        // A plan that was made of few pages has the wrong price for many, unless
        // its budget grows with them.
        let freshens_at = (matches!(wishes.budget, Budget::PerPage(_)) && draws.once_in(2))
            .then(|| START + Duration::from_secs(10 + draws.below(60)));
        Self {
            mutation,
            web,
            config,
            wishes,
            watch,
            ledger: Ledger::new(wishes),
            freshens_at,
            ends_at: START + DAY * (7 + draws.below(15) as u32),
            freshens: false,
            draws,
            now: START,
            clock_off_us: 0,
            crashes: 0,
            disks: (0..PARTITIONS).map(|_| Disk::default()).collect(),
            frontier: Frontier::new(FrontierId::default(), config),
            addresses: Addresses::new(),
            batches: (0..PARTITIONS).map(|_| Batch::default()).collect(),
            seen: vec![BTreeSet::new(); PARTITIONS],
            rules: BTreeMap::new(),
            records: BTreeMap::new(),
            plan: None,
            next_row: 1,
            is_dirty: false,
            flying: Vec::new(),
            last_visits: vec![Vec::new(); PARTITIONS],
            unclean_since: None,
            owed: BTreeSet::new(),
            posted: BTreeSet::new(),
            is_crowded,
            turns: Turns::default(),
            next_letter: 0,
            chronicle: Chronicle::new(tells_all),
        }
    }

    /// Runs the history to its end; how many steps it took.
    pub(super) fn run(&mut self) -> Result<u64, String> {
        self.plant();
        for step in 0..STEPS_MAX {
            match self.step() {
                Ok(true) => {}
                Ok(false) => {
                    self.check_end()?;
                    if self.freshens || self.is_crowded {
                        return Ok(step);
                    }
                    self.freshen()?;
                }
                Err(Stop::Crash) => self.restart()?,
                Err(Stop::Violation(what)) => return Err(what),
            }
            if self.is_time_to_freshen() {
                self.freshen()?;
            }
        }
        Err("the crawl comes to an end".to_owned())
    }

    fn is_time_to_freshen(&self) -> bool {
        let rows = || self.disks.iter().map(|disk| disk.rows.len()).sum::<usize>();
        let is_time = self.freshens_at.is_some_and(|at| at <= self.now);
        is_time && !self.freshens && !self.is_crowded && rows() >= ROWS_MIN
    }

    /// From now on the processes of this crawl keep it fresh. The one before is
    /// killed, whatever it was doing.
    fn freshen(&mut self) -> Result<(), String> {
        self.freshens = true;
        if !self.is(Mutation::SitesGivenUp) {
            // It has no end, so no site is left alone until then.
            self.config.wait_max = DAY;
            self.config.retires_hopeless = false;
        }
        self.restart()
    }

    /// How long the history was.
    pub(super) fn lasted(&self) -> Duration {
        self.now.since(START)
    }

    /// Types the seeds in; those that are known already change nothing.
    pub(super) fn plant(&mut self) {
        let seeds = if self.is_crowded { SITES } else { 3 };
        for site in 0..seeds {
            let seed = self.web.front(site).clone();
            self.admit(&seed);
            self.owed.insert(seed);
        }
    }

    pub(super) fn is(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    /// The time as the process knows it.
    pub(super) fn clock(&self) -> Timestamp {
        Timestamp::from_micros(self.now.micros() + self.clock_off_us)
    }

    pub(super) fn tell(&mut self, what: std::fmt::Arguments) {
        self.chronicle.tell(self.lasted(), what);
    }

    pub(super) fn partition_of(&self, url: &CrawlUrl) -> usize {
        self.partition(url.site_hash())
    }

    pub(super) fn partition(&self, site: SiteHash) -> usize {
        self.web.site(site) % PARTITIONS
    }

    /// What is remembered of a URL; of one that was never tried, nothing.
    pub(super) fn record(&self, url: &CrawlUrl) -> Record {
        self.records.get(url).copied().unwrap_or_default()
    }

    /// Remembers a URL, from the next commit on for good.
    pub(super) fn keep_record(&mut self, url: &CrawlUrl, record: Record) {
        let partition = self.partition_of(url);
        self.records.insert(url.clone(), record);
        self.batches[partition].records.push((url.clone(), record));
        self.is_dirty = true;
    }

    /// One step: take mail, queue what is due, send out what may be sent, or let
    /// time pass.
    fn step(&mut self) -> Result<bool, Stop> {
        self.check()?;
        self.receive();
        self.queue_due()?;
        let may_start = self.flying.len() < CONNECTIONS;
        if may_start && self.send_out()? {
            return Ok(true);
        }
        let landing = self.flying.iter().map(|flight| flight.lands).min();
        if landing.is_none() && self.is_dirty {
            self.commit()?;
            return Ok(true);
        }
        let wakeup = self.frontier.next_wakeup().filter(|_| may_start);
        let wakeup = wakeup.map(|when| self.true_time(when));
        let waits = self.turns_wakeup();
        let events = landing.into_iter().chain(wakeup).chain(waits);
        let events = events.chain(self.plan_wakeup());
        let Some(next) = events.min() else {
            return self.idle();
        };
        self.now = self.now.max(next);
        let mut flights = self.flying.iter();
        if let Some(at) = flights.position(|flight| flight.lands <= self.now) {
            let flight = self.flying.swap_remove(at);
            self.land(flight)?;
            if self.draws.once_in(3) {
                self.commit()?;
            }
        } else if waits.is_some_and(|when| when <= self.now) {
            self.commit()?;
        }
        Ok(true)
    }

    /// Does what the frontier says is next; whether there was anything.
    fn send_out(&mut self) -> Result<bool, Stop> {
        let now = self.clock();
        match self.frontier.poll(now, &mut self.addresses) {
            Action::Lease(lease) => self.start(lease)?,
            Action::Refill {
                site, lane, from, ..
            } => {
                // What is read back has to be on disk.
                self.write_all()?;
                let disk = &self.disks[self.partition(site)];
                let (entries, next) = disk.read(site, lane, from, self.frontier.refill_len());
                self.frontier.refilled(site, lane, entries, next, now);
            }
            Action::Wait(_) => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn true_time(&self, clock: Timestamp) -> Timestamp {
        Timestamp::from_micros(clock.micros() - self.clock_off_us)
    }

    /// Nothing is under way: what is still to be written or delivered, is.
    fn idle(&mut self) -> Result<bool, Stop> {
        self.commit()?;
        let has_mail = self
            .disks
            .iter()
            .any(|disk| !disk.mailbox.is_empty() || !disk.outbox.is_empty());
        let polls = self.frontier.next_wakeup().is_some();
        Ok(has_mail || polls)
    }

    /// Takes new mail in, now and then.
    fn receive(&mut self) {
        for partition in 0..PARTITIONS {
            let taken = self.batches[partition].taken;
            let waiting = self.disks[partition].mailbox.len() - taken;
            if waiting == 0 || !self.draws.once_in(3) {
                continue;
            }
            let mailbox = self.disks[partition].mailbox.iter();
            let mail: Vec<Letter> = mailbox.skip(taken).cloned().collect();
            for letter in mail {
                self.admit(&letter.url);
                self.batches[partition].received.push(letter.number);
            }
            if self.is(Mutation::TrimmedEarly) {
                self.disks[partition].mailbox.clear();
            } else {
                self.batches[partition].taken = taken + waiting;
            }
        }
    }

    /// Queues a URL of a partition, unless it was seen.
    pub(super) fn admit(&mut self, url: &CrawlUrl) {
        let partition = self.partition_of(url);
        let is_new = self.seen[partition].insert(url.clone());
        if !is_new && !self.is(Mutation::SeenSkipped) {
            return;
        }
        let priority = 1 + self.draws.below(u64::from(PRIORITIES)) as u8;
        self.enqueue(entry(url.clone(), priority));
        self.batches[partition].seen.push(url.clone());
        self.is_dirty = true;
    }

    /// Brings the site of a URL into memory, unless it is there.
    pub(super) fn ensure_open(&mut self, url: &CrawlUrl) {
        let site = url.site_hash();
        if !self.frontier.is_open(site) {
            let parked = self.unpark(site);
            let disk = &self.disks[self.partition_of(url)];
            let state = parked.or_else(|| disk.sites.get(&site).cloned());
            self.open(state.unwrap_or_else(|| SiteState::new(url.site())));
        }
    }

    pub(super) fn open(&mut self, state: SiteState) {
        let now = self.clock();
        let rest = self
            .config
            .politeness
            .rest(state.last_download, state.crawl_delay);
        let not_before = match self.unclean_since {
            Some(since) if !self.is(Mutation::NoRestAfterCrash) => since + rest,
            _ => now,
        };
        self.frontier.open_site(state, not_before, now);
    }
}

/// How the frontier of a history is set up: with little room, so that all that
/// has to make room is seen.
fn drawn_config(draws: &mut Draws) -> Config {
    let politeness = Politeness {
        delay: if draws.once_in(2) {
            Delay::Fixed(Duration::from_millis(700))
        } else {
            Politeness::default().delay
        },
        site_connections: 1 + draws.below(2) as usize,
        address_connections: 2,
        ..Politeness::default()
    };
    Config {
        politeness,
        order: HostOrder::ALL[draws.below(4) as usize],
        front_len_max: 2,
        memory_len_max: 40,
        sites_max: 3,
        wait_max: Duration::from_secs(90),
        turn_time: TURN_TIME,
        run: Some(START),
        ..Config::default()
    }
}
