//! A history: workers, what is durable, what goes wrong, in virtual time.
//!
//! It jumps from event to event: a round of a worker, a commit that becomes durable, a
//! partition that is claimed, a worker that falls asleep.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_cluster::Partitions;
use geomi_engine::{EngineConfig, SitemapMode};
use geomi_frontier::{Config, Delay, HostOrder, Politeness};
use geomi_model::Timestamp;
use geomi_novelty::DropParams;
use geomi_refresh::upkeep::RefreshConfig;
use geomi_scope::ScopeKind;
use geomi_testweb::Content;
use geomi_url::CrawlUrl;

use super::archive::Archive;
use super::chronicle::Chronicle;
use super::ledger::Ledger;
use super::network::etag;
use super::place::SimPlace;
use super::post::Office;
use super::upkeep::{self, Upkeep, copies};
use super::watch::Watch;
use super::web::{FaultyWeb, SITES, START};
use super::worker::{Life, Stage, Worker};
use crate::draws::Draws;

pub(super) const AGENT: &str = "geomi";
pub(super) const PARTITIONS: u16 = 3;
pub(super) const CONNECTIONS: usize = 8;
/// Tries of a page and of a robots.txt.
pub(super) const TRIES: u8 = 3;
/// What a crash and a wrong clock may add to the age of a robots.txt.
pub(super) const ROBOTS_SLACK: Duration = Duration::from_mins(10);
/// The shortest time between two rounds of a worker that has work.
pub(super) const TICK: Duration = Duration::from_millis(1);
/// How often a worker goes round that has something to commit and no other reason.
pub(super) const REPORT_EVERY: Duration = Duration::from_millis(500);
/// How often it looks whether sites in memory make room for others.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Crashes while the web is crawled first, and in all; and one in how many steps.
pub(super) const CRASHES_MAX: [u32; 2] = [8, 16];
pub(super) const CRASH_ONE_IN: [u64; 2] = [150, 600];
const DAY: Duration = Duration::from_hours(24);
/// Steps in which every history ends.
const STEPS_MAX: u64 = 400_000;

/// Why a step ended a process, or the history.
#[derive(Debug)]
pub(super) enum Stop {
    /// The process died.
    Crash,
    /// An invariant does not hold.
    Violation(String),
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Self::Violation(what)
    }
}

/// What happens next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Event {
    /// The oldest commit of a partition becomes durable.
    Flush(u16),
    /// A partition without an owner is given to a worker.
    Claim(u16),
    /// A worker is up again.
    Wake(usize),
    /// A partition moves, or a worker falls asleep or dies.
    Unrest,
    /// A worker goes round.
    Round(usize),
    /// The history is over.
    End,
}

/// A history under way.
#[expect(
    clippy::struct_excessive_bools,
    reason = "what was drawn for a history are answers to separate questions"
)]
pub(super) struct History {
    pub(super) draws: Draws,
    pub(super) web: FaultyWeb,
    pub(super) config: EngineConfig,
    /// How pages are kept fresh, later.
    pub(super) refresh: RefreshConfig,
    pub(super) map: Partitions,
    pub(super) seeds: Vec<CrawlUrl>,
    pub(super) has_faults: bool,
    /// True time.
    pub(super) now: Timestamp,
    pub(super) workers: Vec<Worker>,
    /// Whether the engines of a worker said when they want to be asked again.
    pub(super) is_waiting: Vec<bool>,
    /// Who has each partition.
    pub(super) owners: Vec<Option<usize>>,
    /// What is durable.
    pub(super) places: Vec<SimPlace>,
    pub(super) archive: Archive,
    /// Where the archive ended at the last durable commit of each partition that wrote
    /// to it: the file, and its records.
    pub(super) marks: Vec<Option<(usize, usize)>>,
    /// Whether a partition was closed in order.
    pub(super) is_clean: Vec<bool>,
    /// What the clock of its last worker was wrong by.
    pub(super) last_offsets: Vec<i64>,
    pub(super) office: Office,
    /// Commits that become durable.
    pub(super) flushes: Vec<(Timestamp, u16)>,
    pub(super) claims: Vec<(Timestamp, u16)>,
    unrest_at: Option<Timestamp>,
    pub(super) crashes: u32,
    pub(super) freshens: bool,
    freshens_at: Option<Timestamp>,
    ends_at: Timestamp,
    is_crowded: bool,
    /// The worker that opens a partition.
    opening: usize,
    /// Whether records may be left that no visit names: a crash between commits that
    /// become durable late leaves some, and so does a worker that lost its partition.
    pub(super) may_leave_records: bool,
    pub(super) contacts_checked: Timestamp,
    pub(super) watch: Watch,
    pub(super) ledger: Ledger,
    pub(super) upkeep: Option<Upkeep>,
    /// Contents by their entity tag.
    pub(super) contents: BTreeMap<(CrawlUrl, String), Content>,
    /// From when on the sites of each partition are to be contacted.
    pub(super) contact_from: Vec<Timestamp>,
    pub(super) chronicle: Chronicle,
}

impl History {
    pub(super) fn new(seed: u64, tells_all: bool) -> Self {
        let mut draws = Draws::new(seed, [1]);
        let is_crowded = seed.is_multiple_of(4);
        let web = FaultyWeb::new(seed, is_crowded, &mut draws);
        let refresh = upkeep::drawn(&mut draws);
        let config = drawn_config(&mut draws);
        let count = 1 + draws.below(4) as usize;
        let is_late = draws.once_in(2);
        let merges_late = draws.once_in(2);
        let mut archive = Archive::new(PARTITIONS);
        let workers: Vec<Worker> = (0..count)
            .map(|worker| Worker::new(archive.begin(worker), 0))
            .collect();
        let places = (0..PARTITIONS).map(|_| SimPlace::new(is_late, merges_late));
        let seeds = if is_crowded { SITES } else { 3 };
        let seeds = (0..seeds).map(|site| web.front(site).clone());
        let seeds: Vec<CrawlUrl> = seeds.collect();
        let watch = Watch::new(config.frontier.politeness);
        let partitions = usize::from(PARTITIONS);
        // A web of which half is missing is not kept fresh.
        let freshens_at =
            (draws.once_in(4)).then(|| START + Duration::from_secs(20 + draws.below(120)));
        let unrest_at = (count > 1).then(|| START + Duration::from_secs(5));
        Self {
            web,
            config,
            refresh,
            map: Partitions::new(PARTITIONS),
            seeds,
            has_faults: true,
            now: START,
            is_waiting: vec![false; count],
            workers,
            owners: vec![None; partitions],
            places: places.collect(),
            archive,
            marks: vec![None; partitions],
            is_clean: vec![false; partitions],
            last_offsets: vec![0; partitions],
            office: Office::default(),
            flushes: Vec::new(),
            claims: (0..PARTITIONS)
                .map(|partition| (START, partition))
                .collect(),
            unrest_at,
            crashes: 0,
            freshens: false,
            freshens_at: freshens_at.filter(|_| !is_crowded),
            ends_at: START + DAY * (7 + draws.below(15) as u32),
            is_crowded,
            opening: 0,
            may_leave_records: is_late || count > 1,
            contacts_checked: START,
            watch,
            ledger: Ledger::new(PARTITIONS, TRIES),
            upkeep: None,
            contents: BTreeMap::new(),
            contact_from: vec![START; partitions],
            chronicle: Chronicle::new(tells_all),
            draws,
        }
    }

    /// Runs the history to its end; how many steps it took.
    pub(super) fn run(&mut self) -> Result<u64, String> {
        for seed in self.seeds.clone() {
            self.ledger.owe(seed, START);
        }
        for step in 0..STEPS_MAX {
            if self.step()? {
                return Ok(step);
            }
        }
        Err("the crawl comes to an end".to_owned())
    }

    /// One step; whether the history is over.
    fn step(&mut self) -> Result<bool, String> {
        self.check()?;
        if !self.freshens && self.freshens_at.is_some_and(|at| at <= self.now) {
            self.try_freshen(false)?;
        }
        let Some((at, event)) = self.next_event() else {
            return self.nothing_left();
        };
        self.now = self.now.max(at);
        let worker = match event {
            Event::Round(worker) => Some(worker),
            _ => None,
        };
        match self.happen(event) {
            Ok(is_over) => Ok(is_over),
            Err(Stop::Violation(what)) => Err(what),
            Err(Stop::Crash) => {
                let worker = worker.unwrap_or(self.opening);
                self.crash(worker);
                Ok(false)
            }
        }
    }

    fn next_event(&self) -> Option<(Timestamp, Event)> {
        let flushes = self.flushes.iter();
        let flushes = flushes.map(|(at, partition)| (*at, Event::Flush(*partition)));
        let claims = self.claims.iter();
        let claims = claims.map(|(at, partition)| (*at, Event::Claim(*partition)));
        let workers = (0..self.workers.len()).filter_map(|worker| self.event_of(worker));
        let unrest = self.unrest_at.map(|at| (at, Event::Unrest));
        let end = self.freshens.then_some((self.ends_at, Event::End));
        let events = flushes.chain(claims).chain(workers);
        let next = events.min();
        // Unrest alone keeps no crawl from its end.
        next.and_then(|next| unrest.into_iter().chain(end).chain([next]).min())
    }

    fn event_of(&self, number: usize) -> Option<(Timestamp, Event)> {
        let worker = &self.workers[number];
        match worker.life {
            Life::Asleep(until) | Life::Down(until) => return Some((until, Event::Wake(number))),
            Life::Up => {}
        }
        let landing = worker.flights.iter().map(|flight| flight.lands);
        let mail = worker.engines.iter();
        let mail = mail.filter(|(_, hosted)| hosted.stage == Stage::Stays);
        let mail = mail.filter_map(|(partition, _)| self.office.next_for(*partition));
        let next = landing.chain(mail).chain(worker.wakes_at).min()?;
        Some((next.max(self.now), Event::Round(number)))
    }

    fn happen(&mut self, event: Event) -> Result<bool, Stop> {
        match event {
            Event::Flush(partition) => {
                let mut flushes = self.flushes.iter();
                let at = flushes.position(|(at, of)| *at <= self.now && *of == partition);
                self.flushes.remove(at.expect("it was just found"));
                self.places[usize::from(partition)].flush(1);
                if let Some(owner) = self.owners[usize::from(partition)] {
                    self.workers[owner].wakes_at = Some(self.now);
                }
            }
            Event::Claim(partition) => self.claim(partition)?,
            Event::Wake(worker) => {
                self.tell(format_args!("w{worker} is up"));
                self.workers[worker].life = Life::Up;
                self.workers[worker].wakes_at = Some(self.now);
            }
            Event::Unrest => self.unrest(),
            Event::Round(worker) => {
                self.round(worker)?;
                return self.has_ended(worker);
            }
            Event::End => {
                self.check_fresh_end()?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A partition is given to a worker that is up.
    fn claim(&mut self, partition: u16) -> Result<(), Stop> {
        let at = self.claims.iter().position(|(_, of)| *of == partition);
        self.claims.remove(at.expect("it was just found"));
        let holder = self.owners[usize::from(partition)];
        if holder.is_some_and(|holder| self.workers[holder].life == Life::Up) {
            // It woke before anybody noticed that it slept.
            return Ok(());
        }
        let up = (0..self.workers.len()).filter(|worker| self.workers[*worker].life == Life::Up);
        let up: Vec<usize> = up.collect();
        if up.is_empty() {
            let soon = self.now + Duration::from_millis(500);
            self.claims.push((soon, partition));
            return Ok(());
        }
        let worker = up[self.draws.below(up.len() as u64) as usize];
        self.opening = worker;
        self.open(worker, partition)
    }

    /// A partition moves, or a worker falls asleep or dies.
    fn unrest(&mut self) {
        let pause = if self.freshens {
            Duration::from_secs(3_600 + self.draws.below(2 * 86_400))
        } else {
            Duration::from_secs(2 + self.draws.below(40))
        };
        self.unrest_at = Some(self.now + pause);
        let worker = self.draws.below(self.workers.len() as u64) as usize;
        let partition = self.draws.below(PARTITIONS.into()) as u16;
        match self.draws.below(4) {
            0 if self.workers[worker].life == Life::Up => {
                let sleep = Duration::from_millis(500 + self.draws.below(20_000));
                self.tell(format_args!("w{worker} sleeps for {sleep:?}"));
                self.workers[worker].life = Life::Asleep(self.now + sleep);
                for partition in self.hosted(worker) {
                    if self.owners[usize::from(partition)] == Some(worker) {
                        let noticed = Duration::from_secs(3 + self.draws.below(5));
                        self.claims.push((self.now + noticed, partition));
                    }
                }
            }
            1 if self.workers[worker].life == Life::Up
                && self.crashes < CRASHES_MAX[usize::from(self.freshens)] =>
            {
                self.crashes += 1;
                self.crash(worker);
            }
            _ => self.begin_move(partition),
        }
    }

    pub(super) fn is_owner(&self, worker: usize, partition: u16) -> bool {
        self.owners[usize::from(partition)] == Some(worker)
    }

    /// Whether the crawl is at its end, as the worker of `geomi-crawler` decides it.
    fn has_ended(&mut self, _worker: usize) -> Result<bool, Stop> {
        let is_settled = |worker: &Worker| {
            worker.life == Life::Up
                && worker.flights.is_empty()
                && worker
                    .engines
                    .values()
                    .all(|hosted| hosted.engine.is_idle() && !hosted.engine.awaits_mail())
        };
        let hosted: usize = self.workers.iter().map(|worker| worker.engines.len()).sum();
        let is_finished = !self.is_waiting.contains(&true)
            && hosted == usize::from(PARTITIONS)
            && self.workers.iter().all(is_settled);
        if !is_finished {
            return Ok(false);
        }
        let mut was_called = false;
        for worker in 0..self.workers.len() {
            for partition in self.hosted(worker) {
                was_called |= self.with_engine(worker, partition, None, |engine, around| {
                    engine.call_last(around)
                })?;
                self.workers[worker].wakes_at = Some(self.now);
            }
        }
        if was_called {
            return Ok(false);
        }
        // Queues that were just found to be empty are written before they are counted.
        for worker in 0..self.workers.len() {
            self.commit(worker)?;
        }
        self.check_end()?;
        if self.is_crowded {
            return Ok(true);
        }
        self.try_freshen(true)?;
        Ok(false)
    }

    /// Nothing will ever happen: an error, because the crawl is not at its end.
    fn nothing_left(&self) -> Result<bool, String> {
        let engines = self.workers.iter().flat_map(|worker| &worker.engines);
        let states: Vec<String> = engines
            .map(|(partition, hosted)| {
                format!(
                    "p{partition} idle {} awaits mail {} waiting {}",
                    hosted.engine.is_idle(),
                    hosted.engine.awaits_mail(),
                    hosted.engine.waiting()
                )
            })
            .collect();
        Err(format!(
            "a crawl that waits for nothing is at its end: {}",
            states.join(", ")
        ))
    }

    fn try_freshen(&mut self, has_ended: bool) -> Result<(), String> {
        self.tell(format_args!("from now on the crawl is kept fresh"));
        match self.freshen(has_ended) {
            Ok(()) => Ok(()),
            Err(Stop::Violation(what)) => Err(what),
            Err(Stop::Crash) => unreachable!("nobody dies while it is closed"),
        }
    }

    /// How long the history was.
    pub(super) fn lasted(&self) -> Duration {
        self.now.since(START)
    }

    pub(super) fn tell(&mut self, what: std::fmt::Arguments) {
        self.chronicle.tell(self.lasted(), what);
    }

    /// The content that an entity tag names.
    pub(super) fn content_of(&self, url: &CrawlUrl, tag: &str) -> Option<Content> {
        self.contents.get(&(url.clone(), tag.to_owned())).copied()
    }

    /// Remembers the tag of a content.
    pub(super) fn tag(&mut self, url: &CrawlUrl, hash: u64, content: Content) {
        self.contents.insert((url.clone(), etag(hash)), content);
    }

    /// A page is asked for, and this is no second try.
    pub(super) fn asks_again(&mut self, partition: u16, url: &CrawlUrl) -> Result<(), String> {
        let is_known = |url: &CrawlUrl| {
            let page = self.ledger.pages.get(url);
            page.is_some_and(|page| page.copy.is_some())
        };
        if self.upkeep.is_none() || !is_known(url) {
            return Ok(());
        }
        let map = self.map;
        let of = |url: &CrawlUrl| geomi_engine::partition_of(map, url).0;
        let copies = copies(&self.ledger, of, partition);
        let Some(upkeep) = &mut self.upkeep else {
            return Ok(());
        };
        upkeep.asks(partition, url, copies, self.now)
    }
}

/// How the engines of a history are set up: with little room, so that all that has to
/// make room is seen.
fn drawn_config(draws: &mut Draws) -> EngineConfig {
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
    let share = usize::from(PARTITIONS);
    let frontier = Config {
        politeness,
        order: HostOrder::ALL[draws.below(4) as usize],
        front_len_max: 2,
        memory_len_max: 14 * share,
        sites_max: (1 + draws.below(3) as usize) * share,
        wait_max: Duration::from_secs(90),
        turn_time: Duration::from_mins(1),
        ..Config::default()
    };
    let mut config = EngineConfig {
        frontier,
        tries: TRIES,
        agent: AGENT.to_owned(),
        sitemaps: SitemapMode::None,
        redirects_max: 20,
        drop_params: DropParams::default(),
        ..EngineConfig::default()
    };
    config.scope.kind = ScopeKind::Any;
    config.novelty.is_on = false;
    config
}
