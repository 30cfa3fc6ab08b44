//! The frontier in virtual time against a model disk, with crashes: the
//! invariants hold at every step and no URL is lost, whatever the seed.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Delay, Entry, Errand, Frontier, FrontierId, HostOrder, Lease,
    PageOrder, Politeness, Position, Resolved, RobotsNext, ServerSign, Settlement, SiteSignal,
    SiteState, Timing, Work,
};
use geomi_model::{LinkKind, PRIORITIES, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};
use proptest::prelude::*;

const SITES: u64 = 7;
const PAGES: u64 = 60;
const CONNECTIONS: usize = 12;
const DAY: Duration = Duration::from_hours(24);

/// A small generator of its own, so that a seed is a history.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// What would be durable: everything written by the last commit.
#[derive(Default)]
struct Disk {
    chunks: BTreeMap<(SiteHash, u8, u64), Vec<Entry>>,
    sites: HashMap<SiteHash, SiteState>,
    visited: HashSet<(CrawlUrl, u8)>,
}

struct World {
    frontier: Frontier,
    addresses: Addresses,
    disk: Disk,
    /// Settled, and to be made durable by the next commit.
    fresh: Vec<(CrawlUrl, u8)>,
    now: Timestamp,
    flying: Vec<(Timestamp, Timestamp, Lease)>,
    dice: Dice,
    done: HashSet<CrawlUrl>,
    requests: Vec<(SiteHash, IpAddr, Timestamp, Timestamp)>,
    /// Sites with work that are not in memory, in the order of their turns.
    parked: VecDeque<SiteHash>,
    closed: usize,
    config: Config,
}

fn url(site: u64, page: u64) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://s{site}.test/p{page}")).unwrap()
}

/// Several sites share an address, so that its limit matters.
fn address(host: &str) -> IpAddr {
    let number: u8 = host[1..host.find('.').unwrap()].parse().unwrap();
    [127, 0, 0, 1 + number / 2].into()
}

/// Two addresses are one server's.
fn server(addr: IpAddr) -> ServerSign {
    let IpAddr::V4(addr) = addr else {
        unreachable!("all addresses here are of that kind")
    };
    ServerSign(u64::from(addr.octets()[3] / 2))
}

/// The depth of a page: more depths than there are priorities.
fn depth(url: &CrawlUrl) -> u16 {
    let page: u16 = url.path()[2..].parse().unwrap();
    page % 13
}

fn entry(url: CrawlUrl, priority: u8) -> Entry {
    Entry {
        depth: depth(&url),
        url,
        seed: 0,
        via: None,
        kind: LinkKind::Anchor,
        priority,
        attempts: 0,
        redirects: 0,
        is_seed: false,
        is_revisit: false,
        not_before: None,
    }
}

impl World {
    fn new(seed: u64, config: Config) -> Self {
        let mut world = Self {
            frontier: Frontier::new(FrontierId(0), config),
            addresses: Addresses::new(),
            disk: Disk::default(),
            fresh: Vec::new(),
            now: Timestamp::from_secs(1_000_000),
            flying: Vec::new(),
            dice: Dice(seed | 1),
            done: HashSet::new(),
            requests: Vec::new(),
            parked: VecDeque::new(),
            closed: 0,
            config,
        };
        for site in 0..SITES {
            world
                .frontier
                .open_site(SiteState::new(url(site, 0).site()), world.now, world.now);
            for page in 0..PAGES {
                let priority = 1 + world.dice.roll(u64::from(PRIORITIES)) as u8;
                world
                    .frontier
                    .admit(entry(url(site, page), priority), world.now);
            }
        }
        world.commit();
        world
    }

    fn commit(&mut self) {
        self.write();
        self.take_turns();
    }

    fn write(&mut self) {
        for append in self.frontier.take_appends() {
            let entries = append
                .entries
                .iter()
                .map(|entry| (**entry).clone())
                .collect();
            let before = self
                .disk
                .chunks
                .insert((append.site, append.lane, append.chunk), entries);
            assert!(before.is_none(), "a chunk is written once");
        }
        for save in self.frontier.take_saves() {
            let site = save.state.key.hash64();
            for (lane, range) in save.freed {
                for chunk in range {
                    assert!(
                        self.disk.chunks.remove(&(site, lane, chunk)).is_some(),
                        "a freed chunk was there"
                    );
                }
            }
            self.disk.sites.insert(site, save.state);
        }
        self.disk.visited.extend(self.fresh.drain(..));
    }

    /// Sites that have had their turn make room for others.
    fn take_turns(&mut self) {
        for closed in self.frontier.close_sites(true, self.now) {
            assert!(!closed.is_retired, "nobody is retired here");
            if closed.pending > 0 {
                self.parked.push_back(closed.site);
                self.closed += 1;
            }
        }
        while self.frontier.has_room()
            && let Some(site) = self.parked.pop_front()
        {
            if !self.frontier.is_open(site) {
                let state = self.disk.sites[&site].clone();
                self.frontier.open_site(state, self.now, self.now);
            }
        }
    }

    /// Forgets everything that was not committed and starts again.
    fn crash(&mut self) {
        self.flying.clear();
        self.fresh.clear();
        self.parked.clear();
        self.frontier = Frontier::new(FrontierId(0), self.config);
        self.addresses = Addresses::new();
        let not_before = self.now + self.config.politeness.rest(Duration::ZERO, None);
        for state in self.disk.sites.values().cloned() {
            self.frontier.open_site(state, not_before, self.now);
        }
    }

    fn refill(&mut self, site: SiteHash, lane: u8, from: Position) {
        let mut entries = Vec::new();
        let mut next = from;
        let end = self.disk.sites[&site].lanes[usize::from(lane)].next_chunk;
        'chunks: for ((.., chunk), stored) in self
            .disk
            .chunks
            .range((site, lane, from.chunk)..(site, lane + 1, 0))
        {
            let skip = if *chunk == from.chunk { from.index } else { 0 };
            for (index, entry) in stored.iter().enumerate().skip(skip as usize) {
                if entries.len() == self.frontier.refill_len() {
                    next = Position {
                        chunk: *chunk,
                        index: index as u32,
                    };
                    break 'chunks;
                }
                if !self
                    .disk
                    .visited
                    .contains(&(entry.url.clone(), entry.attempts))
                {
                    entries.push((
                        Position {
                            chunk: *chunk,
                            index: index as u32,
                        },
                        entry.clone(),
                    ));
                }
            }
            next = Position {
                chunk: chunk + 1,
                index: 0,
            };
        }
        if self
            .disk
            .chunks
            .range((site, lane, next.chunk)..(site, lane + 1, 0))
            .next()
            .is_none()
        {
            next = Position {
                chunk: end,
                index: 0,
            };
        }
        self.frontier.refilled(site, lane, entries, next, self.now);
    }

    /// One step: start what may start, or let time pass to the next event.
    fn step(&mut self) -> bool {
        self.frontier.check_invariants();
        self.addresses.check_invariants();
        if self.flying.len() < CONNECTIONS {
            match self.frontier.poll(self.now, &mut self.addresses) {
                Action::Lease(lease) => {
                    self.start(lease);
                    return true;
                }
                Action::Refill {
                    site, lane, from, ..
                } => {
                    // What is read back has to be on disk.
                    self.write();
                    self.refill(site, lane, from);
                    return true;
                }
                Action::Wait(_) => {}
            }
        }
        let landing = self.flying.iter().map(|(_, end, _)| *end).min();
        let wakeup = if self.flying.len() < CONNECTIONS {
            self.frontier.next_wakeup()
        } else {
            None
        };
        let Some(next) = landing.into_iter().chain(wakeup).min() else {
            // Those that are done make room for those that wait.
            self.commit();
            self.now = self.now + Duration::from_secs(1);
            self.take_turns();
            return !self.frontier.is_finished() || !self.parked.is_empty();
        };
        self.now = self.now.max(next);
        if let Some(at) = self.flying.iter().position(|(_, end, _)| *end <= self.now) {
            let (start, end, lease) = self.flying.swap_remove(at);
            self.land(start, end, lease);
        }
        true
    }

    /// Breadth-first: no page is begun while a nearer one of its site is not done.
    fn check_depth(&self, site: SiteHash, entry: &Entry) {
        let nearer = (0..SITES)
            .flat_map(|site| (0..PAGES).map(move |page| url(site, page)))
            .filter(|other| other.site_hash() == site && depth(other) < entry.depth);
        for other in nearer {
            assert!(self.done.contains(&other), "{other} before {}", entry.url);
        }
    }

    fn start(&mut self, lease: Lease) {
        if let Work::Page(entry, _) = lease.work()
            && self.config.page_order == PageOrder::BreadthFirst
        {
            self.check_depth(lease.site(), entry);
        }
        let took = Duration::from_millis(1 + self.dice.roll(900));
        let end = self.now + took;
        if let Work::Robots(_, addr) | Work::Page(_, Some(addr)) = lease.work() {
            self.requests.push((lease.site(), *addr, self.now, end));
        }
        self.flying.push((self.now, end, lease));
    }

    /// Opens a site that was freed when drained.
    fn reopen(&mut self, url: &CrawlUrl) {
        let site = url.site();
        if !self.frontier.is_open(site.hash64()) {
            let state = self.disk.sites[&site.hash64()].clone();
            self.frontier.open_site(state, self.now, self.now);
        }
    }

    fn land(&mut self, start: Timestamp, ended: Timestamp, lease: Lease) {
        let timing = Timing {
            ended,
            took: ended.since(start),
            rtt: Some(ended.since(start) / 2),
            connect: None,
        };
        match lease.work().clone() {
            Work::Resolve { host, .. } => self.look_up(lease, &host),
            Work::Robots(errand, _) => self.land_robots(lease, &errand, timing),
            Work::Page(entry, _) => {
                self.fresh.push((entry.url.clone(), entry.attempts));
                if entry.attempts < 2 && self.dice.roll(10) == 0 {
                    let after = Duration::from_secs(self.dice.roll(20));
                    let signal = if self.dice.roll(4) == 0 {
                        SiteSignal::Unreachable
                    } else {
                        SiteSignal::Fine
                    };
                    self.frontier.settle(
                        lease,
                        Settlement::Retry {
                            timing,
                            signal,
                            after,
                        },
                        &mut self.addresses,
                        self.now,
                    );
                } else {
                    self.frontier.settle(
                        lease,
                        Settlement::Done(timing, SiteSignal::Fine),
                        &mut self.addresses,
                        self.now,
                    );
                    self.done.insert(entry.url.clone());
                }
            }
        }
        if self.dice.roll(3) == 0 {
            self.commit();
        }
    }

    fn look_up(&mut self, lease: Lease, host: &str) {
        let until = self.now + DAY;
        let addr = address(host);
        self.addresses.recognise(&[addr], server(addr));
        // A network: seen at any address, some of which nobody asks.
        let elsewhere = [10, 0, 0, self.dice.roll(6) as u8].into();
        let network = ServerSign(1_000);
        self.addresses.recognise(&[addr, elsewhere], network);
        self.frontier.settle_resolve(
            lease,
            Resolved::Address {
                addr,
                until,
                is_public: false,
            },
            self.now,
        );
    }

    fn land_robots(&mut self, lease: Lease, errand: &Errand, timing: Timing) {
        let roll = self.dice.roll(4);
        let next = if errand.attempts == 0 && roll == 0 {
            RobotsNext::Retry
        } else if errand.redirects == 0 && roll == 1 {
            let elsewhere = url(self.dice.roll(SITES), 0).join("/robots.txt").unwrap();
            self.reopen(&elsewhere);
            RobotsNext::Redirect(elsewhere)
        } else {
            RobotsNext::Known {
                until: self.now + DAY,
                crawl_delay: None,
            }
        };
        self.frontier.settle_robots(
            lease,
            timing,
            SiteSignal::Fine,
            next,
            &mut self.addresses,
            self.now,
        );
    }

    /// From the server's side: gaps and connection counts.
    fn check_requests(&self, delay: Duration) {
        let connections = self.config.politeness.site_connections;
        let mut by_site: HashMap<SiteHash, Vec<(Timestamp, Timestamp)>> = HashMap::new();
        for (site, _, start, end) in &self.requests {
            by_site.entry(*site).or_default().push((*start, *end));
        }
        for requests in by_site.values() {
            for (start, _) in requests {
                // Each request either overlaps or lies inside the delay of
                // fewer than `connections` others that began before it.
                let near = requests
                    .iter()
                    .filter(|(s, e)| s < start && *start < *e + delay)
                    .count();
                assert!(near < connections, "{near} requests too near");
            }
        }
        for (_, addr, start, _) in &self.requests {
            let open = self
                .requests
                .iter()
                .filter(|(_, a, s, e)| server(*a) == server(*addr) && s <= start && start < e)
                .count();
            assert!(
                open <= self.config.politeness.address_limit(),
                "{open} connections to the server at {addr}"
            );
        }
    }
}

fn run(seed: u64, order: HostOrder, page_order: PageOrder, site_connections: usize, crashes: u64) {
    let delay = Duration::from_millis(700);
    let politeness = Politeness {
        delay: Delay::Fixed(delay),
        site_connections,
        address_connections: 2,
        ..Politeness::default()
    };
    let config = Config {
        politeness,
        order,
        page_order,
        front_len_max: 5,
        memory_len_max: 100,
        sites_max: 3,
        turn_pages: 10,
        ..Config::default()
    };
    let mut world = World::new(seed, config);
    let mut steps = 0u64;
    let mut crashed = 0;
    while world.step() {
        steps += 1;
        assert!(steps < 200_000, "the crawl ends");
        if crashed < crashes && world.dice.roll(150) == 0 {
            world.commit_maybe_and_crash();
            crashed += 1;
        }
    }
    assert!(world.frontier.is_finished());
    assert_eq!(world.done.len() as u64, SITES * PAGES, "no URL is lost");
    assert!(world.closed > 5, "sites take turns");
    if crashes == 0 {
        world.check_requests(delay);
        world.commit();
        assert!(
            world.disk.chunks.is_empty(),
            "drained queues leave nothing behind"
        );
    }
}

impl World {
    fn commit_maybe_and_crash(&mut self) {
        if self.dice.roll(2) == 0 {
            self.commit();
        }
        // Answers nobody will hear still end on the server; the new process
        // waits a full delay, which covers those that ended before it began.
        self.crash();
        self.now = self.now + Duration::from_secs(1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_url_is_lost_and_no_site_hurried(seed in any::<u64>(), order in 0usize..4, connections in 1usize..4) {
        run(seed, HostOrder::ALL[order], PageOrder::Priority, connections, 0);
    }

    #[test]
    fn crashes_lose_nothing(seed in any::<u64>(), order in 0usize..4) {
        run(seed, HostOrder::ALL[order], PageOrder::Priority, 2, 8);
    }

    #[test]
    fn breadth_first_is_strict(seed in any::<u64>(), order in 0usize..4, connections in 1usize..4, crashes in 0u64..9) {
        run(seed, HostOrder::ALL[order], PageOrder::BreadthFirst, connections, crashes);
    }
}

#[test]
fn one_seed_is_one_history() {
    let config = Config::default();
    let history = |seed| {
        let mut world = World::new(seed, config);
        while world.step() {}
        world.requests
    };
    assert_eq!(history(7), history(7));
    assert_ne!(history(7), history(8));
}

#[test]
fn a_site_that_asks_for_too_long_a_rest_is_retired_and_keeps_its_urls() {
    let now = Timestamp::from_secs(1_000);
    let mut addresses = Addresses::new();
    let mut frontier = Frontier::new(FrontierId(0), Config::default());
    frontier.open_site(SiteState::new(url(0, 0).site()), now, now);
    frontier.admit(entry(url(0, 0), 1), now);
    let Action::Lease(lease) = frontier.poll(now, &mut addresses) else {
        panic!("look-up first")
    };
    frontier.settle_resolve(
        lease,
        Resolved::Address {
            addr: [127, 0, 0, 1].into(),
            until: now + DAY,
            is_public: false,
        },
        now,
    );
    let Action::Lease(lease) = frontier.poll(now, &mut addresses) else {
        panic!("robots.txt next")
    };
    let timing = Timing {
        ended: now,
        took: Duration::ZERO,
        rtt: None,
        connect: None,
    };
    let known = RobotsNext::Known {
        until: now + DAY,
        crawl_delay: Some(Duration::from_secs(301)),
    };
    frontier.settle_robots(lease, timing, SiteSignal::Fine, known, &mut addresses, now);
    assert!(matches!(
        frontier.poll(now + DAY, &mut addresses),
        Action::Wait(None)
    ));
    assert!(frontier.is_finished());
    let overview = frontier.overview(now);
    assert_eq!(overview.retired.len(), 1);
    assert_eq!(frontier.counts().waiting, 1);
}

#[test]
fn a_public_site_has_one_connection_and_a_delay_whatever_was_asked_for() {
    let mut now = Timestamp::from_secs(1_000);
    let politeness = Politeness {
        delay: Delay::Fixed(Duration::ZERO),
        site_connections: 8,
        ..Politeness::default()
    };
    let mut addresses = Addresses::new();
    let mut frontier = Frontier::new(
        FrontierId(0),
        Config {
            politeness,
            ask_robots: false,
            ..Config::default()
        },
    );
    frontier.open_site(SiteState::new(url(0, 0).site()), now, now);
    for page in 0..3 {
        frontier.admit(entry(url(0, page), 1), now);
    }
    let Action::Lease(lease) = frontier.poll(now, &mut addresses) else {
        panic!("look-up first")
    };
    let public = Resolved::Address {
        addr: [192, 0, 2, 1].into(),
        until: now + DAY,
        is_public: true,
    };
    frontier.settle_resolve(lease, public, now);
    for _ in 0..3 {
        let Action::Lease(lease) = frontier.poll(now, &mut addresses) else {
            panic!("a page is due")
        };
        assert!(
            matches!(frontier.poll(now, &mut addresses), Action::Wait(_)),
            "one connection"
        );
        let timing = Timing {
            ended: now,
            took: Duration::ZERO,
            rtt: None,
            connect: None,
        };
        let done = Settlement::Done(timing, SiteSignal::Fine);
        frontier.settle(lease, done, &mut addresses, now);
        assert!(
            matches!(frontier.poll(now, &mut addresses), Action::Wait(_)),
            "a delay"
        );
        now = now + Duration::from_millis(1_100);
    }
}
