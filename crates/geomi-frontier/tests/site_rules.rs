//! Sites with rules of their own beside sites without.

use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Delay, Entry, Frontier, FrontierId, Lease, Politeness, Resolved,
    Settlement, SiteRules, SiteSignal, SiteState, Timing, Work,
};
use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;

const START: Timestamp = Timestamp::from_secs(1_000);
const SECOND: Duration = Duration::from_secs(1);

fn url(site: u32, page: u32) -> CrawlUrl {
    let text = format!("http://s{site}.test/p{page}");
    CrawlUrl::parse(&text).expect("a good URL")
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

fn rules(delay: Duration, connections: usize) -> SiteRules {
    SiteRules {
        politeness: Politeness {
            delay: Delay::Fixed(delay),
            site_connections: connections,
            ..Politeness::default()
        },
        ask_robots: false,
        pages_left: None,
    }
}

/// A frontier and the connections of its sites.
struct Crawl {
    frontier: Frontier,
    addresses: Addresses,
}

impl Crawl {
    fn new(config: Config) -> Self {
        Self {
            frontier: Frontier::new(FrontierId(0), config),
            addresses: Addresses::new(),
        }
    }

    fn poll(&mut self, now: Timestamp) -> Action {
        self.frontier.poll(now, &mut self.addresses)
    }

    fn settle(&mut self, lease: Lease, settlement: Settlement, now: Timestamp) {
        self.frontier
            .settle(lease, settlement, &mut self.addresses, now);
    }

    fn check_invariants(&self) {
        self.frontier.check_invariants();
        self.addresses.check_invariants();
    }
}

/// A frontier with sites 0.. that have these rules, two pages and an address
/// each; all at one address.
fn frontier(sites: &[Option<SiteRules>], pages: u32) -> Crawl {
    let mut crawl = Crawl::new(Config {
        ask_robots: false,
        ..Config::default()
    });
    for (site, rules) in (0..).zip(sites) {
        let state = SiteState::new(url(site, 0).site());
        crawl.frontier.open_site_with(state, *rules, START, START);
        for page in 0..pages {
            crawl.frontier.admit(entry(url(site, page)), START);
        }
    }
    for lease in leases(&mut crawl, START) {
        let found = Resolved::Address {
            addr: [127, 0, 0, 1].into(),
            until: START + Duration::from_hours(24),
            is_public: false,
        };
        crawl.frontier.settle_resolve(lease, found, START);
    }
    crawl
}

/// Everything that may be done now.
fn leases(crawl: &mut Crawl, now: Timestamp) -> Vec<Lease> {
    let mut leases = Vec::new();
    while let Action::Lease(lease) = crawl.poll(now) {
        crawl.check_invariants();
        leases.push(lease);
    }
    leases
}

fn settle(crawl: &mut Crawl, lease: Lease, now: Timestamp) {
    let timing = Timing {
        ended: now,
        took: Duration::ZERO,
        rtt: None,
        connect: None,
    };
    crawl.settle(lease, Settlement::Done(timing, SiteSignal::Fine), now);
}

#[test]
fn a_delay_of_its_own_holds_for_that_site_only() {
    let mut crawl = frontier(&[Some(rules(10 * SECOND, 1)), None], 2);
    let asked = leases(&mut crawl, START);
    assert_eq!(asked.len(), 2, "one page of each site");
    for lease in asked {
        settle(&mut crawl, lease, START);
    }
    let later = START + 5 * SECOND;
    let asked = leases(&mut crawl, later);
    let sites: Vec<_> = asked.iter().map(Lease::site).collect();
    assert_eq!(sites, [url(1, 0).site_hash()], "the other one rests longer");
}

#[test]
fn connections_of_its_own_raise_the_limit_of_its_address() {
    let mut crawl = frontier(&[Some(rules(SECOND, 6)), None], 8);
    let asked = leases(&mut crawl, START);
    let own = |lease: &&Lease| lease.site() == url(0, 0).site_hash();
    assert!(asked.iter().filter(own).count() >= 5, "{}", asked.len());
    assert_eq!(asked.len(), 6, "and the address carries no more");
}

#[test]
fn no_more_pages_are_under_way_than_may_be_saved() {
    let few = SiteRules {
        pages_left: Some(2),
        ..rules(Duration::ZERO, 4)
    };
    let mut crawl = frontier(&[Some(few)], 5);
    let site = url(0, 0).site_hash();
    let mut asked = leases(&mut crawl, START);
    assert_eq!(asked.len(), 2);
    // The first one fails and does not count: another takes its turn.
    settle(&mut crawl, asked.remove(0), START);
    asked.extend(leases(&mut crawl, START));
    assert_eq!(asked.len(), 2);
    for lease in asked {
        settle(&mut crawl, lease, START);
        crawl.frontier.count_saved(site);
        crawl.check_invariants();
    }
    assert!(leases(&mut crawl, START + SECOND).is_empty());
    assert!(crawl.frontier.is_finished());
    assert_eq!(crawl.frontier.counts().waiting, 2, "the rest stays queued");
    let retired = crawl.frontier.overview(START).retired;
    assert!(retired[0].2.contains("max_pages"), "{retired:?}");
}

#[test]
fn a_site_with_nothing_left_is_retired_when_opened() {
    let none = SiteRules {
        pages_left: Some(0),
        ..rules(Duration::ZERO, 1)
    };
    let mut crawl = frontier(&[Some(none)], 1);
    assert!(leases(&mut crawl, START).is_empty());
    assert!(crawl.frontier.is_finished());
}

#[test]
fn robots_may_be_asked_of_one_site_and_not_of_another() {
    let asking = SiteRules {
        ask_robots: true,
        ..rules(SECOND, 1)
    };
    let mut crawl = frontier(&[Some(asking), None], 1);
    let asked = leases(&mut crawl, START);
    let robots = |lease: &&Lease| matches!(lease.work(), Work::Robots(..));
    let asking: Vec<_> = asked.iter().filter(robots).map(Lease::site).collect();
    assert_eq!((asked.len(), asking), (2, vec![url(0, 0).site_hash()]));
}
