//! Several frontiers that share few addresses: no address carries more than its limit,
//! and no connection is free while a site that could use it waits.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Call, Config, Delay, Entry, Frontier, FrontierId, Hold, Lease, Politeness,
    Resolved, RetireReason, RobotsNext, ServerSign, Settlement, SiteSignal, SiteState, Timing,
    Work,
};
use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;
use proptest::prelude::*;

const FRONTIERS: u16 = 3;
const SITES: u64 = 12;
const PAGES: u64 = 8;
const LIMIT: usize = 2;
const DAY: Duration = Duration::from_hours(24);
const START: Timestamp = Timestamp::from_secs(1_000_000);

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

fn url(site: u64, page: u64) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://s{site}.test/p{page}")).unwrap()
}

fn entry(url: CrawlUrl) -> Entry {
    Entry {
        url,
        seed: 0,
        via: None,
        kind: LinkKind::Anchor,
        depth: 0,
        priority: 1,
        attempts: 0,
        redirects: 0,
        is_seed: false,
        is_revisit: false,
        not_before: None,
    }
}

/// Three addresses; the sites of each are spread over all frontiers.
fn address(host: &str) -> IpAddr {
    let number: u8 = host[1..host.find('.').unwrap()].parse().unwrap();
    [127, 0, 0, number % 3].into()
}

/// Two of the addresses are one server's.
fn server(addr: IpAddr) -> ServerSign {
    let IpAddr::V4(addr) = addr else {
        unreachable!("all addresses here are of that kind")
    };
    ServerSign(u64::from(addr.octets()[3] / 2))
}

struct Flight {
    frontier: FrontierId,
    start: Timestamp,
    end: Timestamp,
    lease: Lease,
}

impl Flight {
    fn addr(&self) -> Option<IpAddr> {
        match self.lease.work() {
            Work::Robots(_, addr) | Work::Page(_, Some(addr)) => Some(*addr),
            _ => None,
        }
    }
}

struct World {
    addresses: Addresses,
    frontiers: HashMap<FrontierId, Frontier>,
    flying: Vec<Flight>,
    now: Timestamp,
    dice: Dice,
    config: Config,
}

impl World {
    fn new(seed: u64) -> Self {
        let politeness = Politeness {
            delay: Delay::Fixed(Duration::from_millis(100)),
            site_connections: 2,
            address_connections: LIMIT,
            ..Politeness::default()
        };
        let config = Config {
            politeness,
            sites_max: SITES as usize / 4,
            turn_pages: 3,
            front_len_max: usize::MAX,
            memory_len_max: usize::MAX,
            ..Config::default()
        };
        let mut world = Self {
            addresses: Addresses::new(),
            frontiers: HashMap::new(),
            flying: Vec::new(),
            now: START,
            dice: Dice(seed | 1),
            config,
        };
        for frontier in ids() {
            world.found(frontier);
        }
        world
    }

    /// Makes a frontier with its share of the sites.
    fn found(&mut self, id: FrontierId) {
        let mut frontier = Frontier::new(id, self.config);
        for site in (0..SITES).filter(|site| site % u64::from(FRONTIERS) == u64::from(id.0)) {
            let state = SiteState::new(url(site, 0).site());
            frontier.open_site(state, self.now, self.now);
            for page in 0..PAGES {
                frontier.admit(entry(url(site, page)), self.now);
            }
        }
        self.frontiers.insert(id, frontier);
    }

    /// A frontier is dropped, and another one begins with the same sites.
    fn drop_one(&mut self) {
        let id = FrontierId(self.dice.roll(u64::from(FRONTIERS)) as u16);
        self.flying.retain(|flight| flight.frontier != id);
        self.frontiers.remove(&id);
        self.addresses.forget(id);
        self.found(id);
    }

    /// A site is left alone, perhaps while it waits for a connection or was called.
    fn retire_one(&mut self) {
        let id = FrontierId(self.dice.roll(u64::from(FRONTIERS)) as u16);
        let site = url(self.dice.roll(SITES), 0).site_hash();
        let frontier = self.frontiers.get_mut(&id).unwrap();
        frontier.retire(site, RetireReason::Failing, None, "a test".to_owned());
    }

    /// Sites make room, and lose their queue with that: there is no disk here.
    fn close(&mut self) {
        let id = FrontierId(self.dice.roll(u64::from(FRONTIERS)) as u16);
        let frontier = self.frontiers.get_mut(&id).unwrap();
        frontier.take_appends().for_each(drop);
        drop(frontier.take_saves());
        drop(frontier.close_sites(true, self.now));
    }

    /// Hands all calls to their frontiers; whether there were any.
    fn route_calls(&mut self) -> bool {
        let mut has_calls = false;
        while let Some(call) = self.addresses.next_call() {
            let Call { frontier, .. } = call;
            let frontier = self.frontiers.get_mut(&frontier).unwrap();
            frontier.call(call, &mut self.addresses, self.now);
            self.addresses.check_invariants();
            has_calls = true;
        }
        has_calls
    }

    /// Polls a frontier until it says wait; whether it had anything to do.
    fn poll(&mut self, id: FrontierId) -> bool {
        let mut is_busy = false;
        loop {
            let frontier = self.frontiers.get_mut(&id).unwrap();
            let action = frontier.poll(self.now, &mut self.addresses);
            frontier.check_invariants();
            self.addresses.check_invariants();
            match action {
                Action::Lease(lease) => self.start(id, lease),
                Action::Refill { .. } => unreachable!("all of a queue is in memory"),
                Action::Wait(_) => return is_busy,
            }
            is_busy = true;
        }
    }

    fn start(&mut self, frontier: FrontierId, lease: Lease) {
        let end = self.now + Duration::from_millis(1 + self.dice.roll(400));
        let flight = Flight {
            frontier,
            start: self.now,
            end,
            lease,
        };
        if let Some(addr) = flight.addr() {
            let open = self.open_at(addr);
            assert!(open < LIMIT, "{open} connections to {addr} already");
        }
        self.flying.push(flight);
    }

    fn open_at(&self, addr: IpAddr) -> usize {
        let addrs = self.flying.iter().filter_map(Flight::addr);
        addrs.filter(|other| server(*other) == server(addr)).count()
    }

    fn land(&mut self, flight: Flight) {
        let Flight {
            frontier,
            start,
            end,
            lease,
        } = flight;
        let timing = Timing {
            ended: end,
            took: end.since(start),
            rtt: None,
            connect: None,
        };
        let frontier = self.frontiers.get_mut(&frontier).unwrap();
        let addresses = &mut self.addresses;
        match lease.work().clone() {
            Work::Resolve { host, .. } => {
                let addr = address(&host);
                addresses.recognise(&[addr], server(addr));
                let found = Resolved::Address {
                    addr,
                    until: self.now + Duration::from_secs(1 + self.dice.roll(30)),
                    is_public: self.dice.roll(3) == 0,
                };
                frontier.settle_resolve(lease, found, self.now);
            }
            Work::Robots(..) => {
                let next = RobotsNext::Known {
                    until: self.now + DAY,
                    crawl_delay: None,
                };
                frontier.settle_robots(lease, timing, SiteSignal::Fine, next, addresses, self.now);
            }
            Work::Page(..) => {
                let settlement = match self.dice.roll(5) {
                    0 => Settlement::NotAsked,
                    _ => Settlement::Done(timing, SiteSignal::Fine),
                };
                frontier.settle(lease, settlement, addresses, self.now);
            }
        }
    }

    /// Whoever waits for a connection waits for one that is taken.
    fn check_waiting(&self) {
        for frontier in self.frontiers.values() {
            for view in frontier.views(self.now) {
                if let Hold::AddressLimit(addr) = view.hold {
                    let open = self.open_at(addr);
                    assert!(open >= LIMIT, "{} waits beside {open}", view.key);
                }
            }
        }
    }

    fn disturb(&mut self) {
        match self.dice.roll(30) {
            0 => self.drop_one(),
            1 => self.retire_one(),
            2 | 3 => self.close(),
            _ => {}
        }
    }

    /// Sends out what may be sent, then lets time pass to the next event; whether there
    /// was one.
    fn step(&mut self) -> bool {
        let mut is_busy = true;
        while is_busy {
            let first = self.dice.roll(u64::from(FRONTIERS)) as u16;
            let turns = ids().map(|id| FrontierId((id.0 + first) % FRONTIERS));
            let is_polled = turns.fold(false, |any, id| self.poll(id) | any);
            // Also a poll that finds nothing to do may pass a call on.
            is_busy = self.route_calls() || is_polled;
        }
        self.check_waiting();
        let wakeups = self.frontiers.values().filter_map(Frontier::next_wakeup);
        let landings = self.flying.iter().map(|flight| flight.end);
        let Some(next) = wakeups.chain(landings).min() else {
            return false;
        };
        self.now = self.now.max(next);
        while let Some(at) = (self.flying.iter()).position(|flight| flight.end <= self.now) {
            let flight = self.flying.swap_remove(at);
            self.land(flight);
        }
        true
    }
}

fn ids() -> impl Iterator<Item = FrontierId> {
    (0..FRONTIERS).map(FrontierId)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn frontiers_share_addresses_and_no_site_waits_for_ever(seed in any::<u64>()) {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.disturb();
            world.step();
        }
        let mut steps = 0;
        while world.step() {
            steps += 1;
            assert!(steps < 20_000, "the crawl ends");
        }
        assert!(world.frontiers.values().all(Frontier::is_finished));
    }
}
