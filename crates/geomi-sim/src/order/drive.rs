//! One trial: the real frontier, driven through a model web in virtual time.
//!
//! A site is known by its front page; each page answered brings up to
//! [`LINKS`] of the site's others. Looking a name up takes no time, and
//! robots.txt is not asked for: neither depends on the order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Frontier, FrontierId, HostOrder, Lease, Politeness, Resolved,
    Settlement, SiteSignal, SiteState, Timing, Work,
};
use geomi_model::{PRIORITIES, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};

use super::measure::Record;
use super::web::{ModelSite, Service};
use crate::draws::Draws;
use crate::entry::entry;

/// Requests that may be under way at once.
pub const CONNECTIONS: usize = 256;
/// New pages a page brings.
const LINKS: u32 = 10;
/// When the crawl begins.
const START: Timestamp = Timestamp::from_secs(1_000_000);
/// How often what the frontier wants written is thrown away.
const COMMIT_EVERY: u64 = 4_096;

struct Flight {
    lease: Lease,
    site: usize,
    service: Service,
}

/// What the driver keeps of a site.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Pages queued so far.
    found: u32,
    requests: u64,
    /// When politeness allows the next request.
    due: Timestamp,
}

struct Driver<'a> {
    frontier: Frontier,
    addresses: Addresses,
    sites: &'a [ModelSite],
    known: Vec<Known>,
    numbers: std::collections::HashMap<SiteHash, usize>,
    seed: u64,
    politeness: Politeness,
    flights: Vec<Option<Flight>>,
    free: Vec<usize>,
    landings: BinaryHeap<Reverse<(Timestamp, u64, usize)>>,
    started: u64,
    now: Timestamp,
    record: Record,
}

/// Crawls the sites in this order, at most `pages_max` pages.
pub(crate) fn drive(
    sites: &[ModelSite],
    order: HostOrder,
    seed: u64,
    pages_max: Option<u64>,
) -> Record {
    let config = Config {
        order,
        ask_robots: false,
        // Everything stays in memory: there is no disk here to read it from.
        front_len_max: usize::MAX,
        memory_len_max: usize::MAX,
        sites_max: usize::MAX / 2,
        ..Config::default()
    };
    let pages: u64 = sites.iter().map(|site| u64::from(site.pages)).sum();
    let wanted = pages_max.map_or(pages, |max| max.min(pages));
    let mut driver = Driver {
        frontier: Frontier::new(FrontierId::default(), config),
        addresses: Addresses::new(),
        sites,
        known: vec![Known::default(); sites.len()],
        numbers: std::collections::HashMap::with_capacity(sites.len()),
        seed,
        politeness: config.politeness,
        flights: (0..CONNECTIONS).map(|_| None).collect(),
        free: (0..CONNECTIONS).rev().collect(),
        landings: BinaryHeap::new(),
        started: 0,
        now: START,
        record: Record::new(sites, wanted, START),
    };
    driver.open_all();
    while driver.record.done() < wanted && driver.step() {}
    driver.record
}

impl Driver<'_> {
    fn open_all(&mut self) {
        for site in 0..self.sites.len() {
            let front = url(site, 0);
            self.numbers.insert(front.site_hash(), site);
            self.known[site].due = self.now;
            let state = SiteState::new(front.site());
            self.frontier.open_site(state, self.now, self.now);
            self.find(site, 1);
        }
    }

    /// Queues so many more pages of a site, as far as it has them.
    fn find(&mut self, site: usize, links: u32) {
        let known = &mut self.known[site];
        let end = self.sites[site].pages.min(known.found + links);
        for page in std::mem::replace(&mut known.found, end)..end {
            let mut draws = Draws::new(self.seed, [site as u64, u64::from(page)]);
            let priority = 1 + draws.below(u64::from(PRIORITIES)) as u8;
            self.frontier
                .admit(entry(url(site, page), priority), self.now);
        }
    }

    /// Sends out what may be sent, then goes to the next event.
    fn step(&mut self) -> bool {
        while !self.free.is_empty() {
            match self.frontier.poll(self.now, &mut self.addresses) {
                Action::Lease(lease) => self.start(lease),
                Action::Wait(_) => break,
                Action::Refill { .. } => unreachable!("all of a queue is in memory"),
            }
        }
        let landing = self.landings.peek().map(|Reverse((when, ..))| *when);
        let may_start = !self.free.is_empty();
        let wakeup = self.frontier.next_wakeup().filter(|_| may_start);
        let Some(next) = landing.into_iter().chain(wakeup).min() else {
            return false;
        };
        self.record
            .pass(self.now, next, CONNECTIONS - self.free.len());
        self.now = next;
        while let Some(&Reverse((when, _, flight))) = self.landings.peek()
            && when <= self.now
        {
            self.landings.pop();
            self.land(flight);
        }
        true
    }

    fn start(&mut self, lease: Lease) {
        let site = self.numbers[&lease.site()];
        if matches!(lease.work(), Work::Resolve { .. }) {
            let number = site as u32 + 1;
            let resolved = Resolved::Address {
                addr: std::net::Ipv4Addr::from_bits(10 << 24 | number).into(),
                until: self.now + Duration::from_hours(24 * 365),
                is_public: false,
            };
            self.frontier.settle_resolve(lease, resolved, self.now);
            return;
        }
        let known = &mut self.known[site];
        self.record.served(site, self.now.since(known.due));
        let service = self.sites[site].serve(self.seed, site as u64, known.requests);
        known.requests += 1;
        self.started += 1;
        let slot = self.free.pop().expect("a connection is free");
        let lands = self.now + service.took;
        self.landings.push(Reverse((lands, self.started, slot)));
        self.flights[slot] = Some(Flight {
            lease,
            site,
            service,
        });
    }

    fn land(&mut self, slot: usize) {
        let flight = self.flights[slot].take().expect("it was under way");
        self.free.push(slot);
        let Flight {
            lease,
            site,
            service,
        } = flight;
        let timing = Timing {
            ended: self.now,
            took: service.took,
            rtt: service.first_byte,
            connect: Some(service.connect),
        };
        let signal = match service.first_byte {
            Some(_) => SiteSignal::Fine,
            None => SiteSignal::Silent,
        };
        let hash = lease.site();
        let pause = self.politeness.pause(hash, service.took, None, signal, 0);
        self.known[site].due = self.now + pause.total();
        self.frontier.settle(
            lease,
            Settlement::Done(timing, signal),
            &mut self.addresses,
            self.now,
        );
        self.find(site, LINKS);
        self.record.ended(self.now);
        if self.record.done().is_multiple_of(COMMIT_EVERY) {
            self.frontier.take_appends().for_each(drop);
        }
    }
}

fn url(site: usize, page: u32) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://s{site}.test/{page}")).expect("it is a URL")
}
