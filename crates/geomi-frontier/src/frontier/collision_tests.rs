//! Two sites whose keys have the same hash, which takes some 2^64 tries to find.

use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;

use super::{Config, Counts, Frontier};
use crate::entry::{Entry, Errand};
use crate::lane::Position;
use crate::{Action, Addresses, FrontierId, LaneState, Resolved, SiteState, Work};

const NOW: Timestamp = Timestamp::from_secs(1_000);
const END: Position = Position {
    chunk: u64::MAX,
    index: 0,
};

fn entry(url: &str) -> Entry {
    Entry {
        url: CrawlUrl::parse(url).unwrap(),
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

/// A frontier in which the site of `made.test` has the hash of `victim.test`: what is open
/// under the hash of `made.test` is the state of `victim.test`.
fn forged(state: SiteState) -> Frontier {
    let config = Config {
        ask_robots: false,
        ..Config::default()
    };
    let mut frontier = Frontier::new(FrontierId(0), config);
    let victim = entry("http://victim.test/").url.site();
    let made = state.key.hash64();
    frontier.open_site(state, NOW, NOW);
    frontier.sites.get_mut(&made).unwrap().state.key = victim;
    frontier
}

fn made() -> SiteState {
    SiteState::new(entry("http://made.test/").url.site())
}

#[test]
fn a_url_does_not_join_another_site_with_its_hash() {
    let mut frontier = forged(made());
    let page = entry("http://made.test/p");
    assert!(frontier.is_open(page.url.site_hash()));
    assert!(frontier.is_taken(&page.url));
    assert!(!frontier.admit(page, NOW));
    assert_eq!(frontier.counts(), Counts::default());
    assert!(frontier.take_appends().next().is_none());
}

#[test]
fn a_url_joins_its_own_site() {
    let mut frontier = Frontier::new(FrontierId(0), Config::default());
    frontier.open_site(made(), NOW, NOW);
    let page = entry("https://made.test/p");
    assert!(!frontier.is_taken(&page.url));
    assert!(frontier.admit(page, NOW));
    assert_eq!(frontier.counts().waiting, 1);
}

#[test]
fn a_queue_gives_only_the_urls_of_its_site() {
    let mut state = made();
    state.lanes[0] = LaneState {
        next_chunk: 1,
        len: 2,
        ..LaneState::default()
    };
    let mut frontier = forged(state);
    let mut addresses = Addresses::new();
    let Action::Refill { site, lane, .. } = frontier.poll(NOW, &mut addresses) else {
        panic!("the queue is on disk")
    };
    let position = |index| Position { chunk: 0, index };
    let read = vec![
        (position(0), entry("http://made.test/p")),
        (position(1), entry("http://victim.test/q")),
    ];
    assert_eq!(frontier.refilled(site, lane, read, END, NOW), 1);
    assert_eq!(frontier.counts().waiting, 1);
    let Action::Lease(lease) = frontier.poll(NOW, &mut addresses) else {
        panic!("it needs an address")
    };
    let resolved = Resolved::Address {
        addr: [127, 0, 0, 1].into(),
        until: Timestamp::from_secs(9_000),
        is_public: false,
    };
    frontier.settle_resolve(lease, resolved, NOW);
    let Action::Lease(lease) = frontier.poll(NOW, &mut addresses) else {
        panic!("a page waits")
    };
    let Work::Page(page, _) = lease.work() else {
        panic!("it has its address")
    };
    assert_eq!(page.url.as_str(), "http://victim.test/q");
}

#[test]
fn no_robots_txt_is_asked_of_another_site_with_the_same_hash() {
    let mut frontier = forged(made());
    let errand = Errand {
        url: entry("http://made.test/robots.txt").url,
        for_site: entry("http://wants.test/").url.site_hash(),
        redirects: 1,
        attempts: 0,
        is_foreign: true,
    };
    frontier.add_foreign_errand(errand, NOW);
    let lost = frontier.take_lost_errands();
    assert_eq!((lost.len(), lost[0].until), (1, None));
}
