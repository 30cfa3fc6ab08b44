//! Past visits decide whether a site is asked again.

use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Entry, Frontier, FrontierId, Hold, Lease, Resolved, RetireReason,
    Settlement, SiteSignal, SiteState, Timing,
};
use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;

const START: Timestamp = Timestamp::from_secs(1_000);
const MS: Duration = Duration::from_millis(1);

fn url(site: u32, page: u32) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://s{site}.test/{page}")).expect("a good URL")
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

/// A frontier with so many sites of so many pages, their names looked up.
fn frontier(sites: u32, pages: u32) -> Crawl {
    frontier_of(Config::default(), sites, pages)
}

fn frontier_of(config: Config, sites: u32, pages: u32) -> Crawl {
    let mut crawl = Crawl::new(Config {
        ask_robots: false,
        ..config
    });
    for site in 0..sites {
        crawl
            .frontier
            .open_site(SiteState::new(url(site, 0).site()), START, START);
        for page in 0..pages {
            let entry = Entry {
                url: url(site, page),
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
            };
            crawl.frontier.admit(entry, START);
        }
    }
    for site in 0..sites {
        let lease = next(&mut crawl, START);
        let found = Resolved::Address {
            addr: [127, 0, 0, 1 + site as u8].into(),
            until: START + Duration::from_hours(24),
            is_public: false,
        };
        crawl.frontier.settle_resolve(lease, found, START);
    }
    crawl
}

fn next(crawl: &mut Crawl, now: Timestamp) -> Lease {
    match crawl.poll(now) {
        Action::Lease(lease) => lease,
        other => panic!("there is something to do: {other:?}"),
    }
}

fn settle(crawl: &mut Crawl, lease: Lease, answered: bool, now: Timestamp) {
    let signal = if answered {
        SiteSignal::Fine
    } else {
        SiteSignal::Silent
    };
    let timing = Timing {
        ended: now,
        took: 80 * MS,
        rtt: answered.then_some(80 * MS),
        connect: Some(30 * MS),
    };
    crawl.settle(lease, Settlement::Done(timing, signal), now);
    crawl.check_invariants();
}

#[test]
fn a_site_that_never_answers_is_retired_and_keeps_its_urls() {
    let mut crawl = frontier(1, 60);
    let mut now = START;
    for _ in 0..30 {
        let lease = next(&mut crawl, now);
        settle(&mut crawl, lease, false, now);
        now = now + Duration::from_secs(2);
    }
    assert!(matches!(crawl.poll(now), Action::Wait(None)));
    assert!(crawl.frontier.is_finished());
    assert_eq!(crawl.frontier.counts().waiting, 30);
    let view = crawl.frontier.view(url(0, 0).site_hash(), now);
    let hold = view.expect("it is in memory").hold;
    let Hold::Retired(retirement) = hold else {
        panic!("{hold:?}")
    };
    assert_eq!(retirement.reason, RetireReason::Failing);
    assert!(
        retirement
            .why
            .starts_with("30 visits in a row brought no answer"),
        "{retirement:?}"
    );
}

#[test]
fn in_a_run_without_an_end_no_site_is_given_up() {
    let config = Config {
        retires_hopeless: false,
        ..Config::default()
    };
    let mut crawl = frontier_of(config, 1, 60);
    let mut now = START;
    for _ in 0..60 {
        let lease = next(&mut crawl, now);
        settle(&mut crawl, lease, false, now);
        now = now + Duration::from_secs(2);
    }
    assert_eq!(crawl.frontier.counts().waiting, 0);
}

#[test]
fn a_site_that_answers_now_and_then_is_not_given_up() {
    let mut crawl = frontier(1, 60);
    let mut now = START;
    for visit in 0..60 {
        let lease = next(&mut crawl, now);
        settle(&mut crawl, lease, visit % 20 == 19, now);
        now = now + Duration::from_secs(2);
    }
    assert_eq!(crawl.frontier.counts().waiting, 0);
    let state = crawl
        .frontier
        .view(url(0, 0).site_hash(), now)
        .expect("in memory")
        .state;
    assert_eq!(state.connect.mean, Some(30 * MS));
    assert_eq!((state.requests, state.answers), (60, 3));
    assert!(state.outlook().ff > 0.9, "{:?}", state.outlook());
}
