//! Bounds of parties and tables of sites, seen from the server's side.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod house;

use std::time::Duration;

use geomi_crawler::CrawlConfig;
use geomi_engine::{Ending, LeftReason, RobotsMode, SiteOverride};
use geomi_frontier::Delay;
use geomi_scope::{ScopeKind, SiteScope};
use geomi_state::{Batch, StateStore as _};
use geomi_store::{FjallOptions, FjallStore};
use geomi_testweb::{Robots, SiteBehaviour, WebSpec};

use house::House;

/// The name of a site of the test web, as a table has it.
fn name(house: &House, site: u32) -> Vec<String> {
    vec![house.server.web().url(site, "/").site().to_string()]
}

/// Pages asked of a site, robots.txt left out.
fn asked(house: &House, site: u32) -> usize {
    let entries = house.server.log().entries();
    let pages = entries.iter().filter(|entry| entry.target != "/robots.txt");
    pages.filter(|entry| entry.site == Some(site)).count()
}

fn limited(house: &House, pages_max: u64) -> CrawlConfig {
    let mut config = house.config();
    config.engine.sites = vec![SiteOverride {
        names: name(house, 0),
        pages_max: Some(pages_max),
        ..SiteOverride::default()
    }];
    config
}

#[test]
fn a_site_gives_no_more_pages_than_its_table_allows_also_when_resumed() {
    let house = House::new(WebSpec::plain(2, 20));
    let status = house.crawl(&limited(&house, 5));
    assert_eq!(status.reason, Some(Ending::Incomplete), "15 are left");
    let left = status.left.as_ref().unwrap();
    assert_eq!(left.groups[0].reason, LeftReason::SitePageLimit);
    assert_eq!(asked(&house, 0), 5, "exact, with four connections");
    assert!(status.counters.saved > 5, "the other site has no bound");
    let (site, why) = &status.sites_retired[0];
    assert!(why.contains("max_pages"), "{site}: {why}");

    house.crawl(&limited(&house, 5));
    assert_eq!(asked(&house, 0), 5, "counted over all runs");
    house.crawl(&limited(&house, 8));
    assert_eq!(asked(&house, 0), 8, "a higher bound goes on");
    let status = house.crawl(&house.config());
    assert_eq!(status.counters.saved, 40, "and without it all come");
    house.verify();
}

#[test]
fn a_delay_of_its_own_is_held_for_that_site() {
    let house = House::new(WebSpec::plain(2, 6));
    let mut config = house.config();
    let delay = Duration::from_millis(80);
    config.engine.sites = vec![SiteOverride {
        names: name(&house, 0),
        delay: Some(Delay::Fixed(delay)),
        connections: Some(1),
        ..SiteOverride::default()
    }];
    house.crawl(&config);
    let gaps = house.server.log().gaps();
    assert!(gaps[&0].iter().all(|gap| *gap >= delay), "{gaps:?}");
    assert!(gaps[&1].iter().any(|gap| *gap < delay), "{gaps:?}");
}

#[test]
fn robots_may_be_ignored_on_one_site_only() {
    let mut spec = WebSpec::plain(2, 4);
    let closed = SiteBehaviour {
        robots: Some(Robots::Text("User-agent: *\nDisallow: /\n".to_owned())),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, closed.clone()), (1, closed)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.sites = vec![SiteOverride {
        names: name(&house, 0),
        robots: Some(RobotsMode::Ignore),
        ..SiteOverride::default()
    }];
    house.crawl(&config);
    assert_eq!((asked(&house, 0), asked(&house, 1)), (4, 0));
    let urls = house.server.log().count_by_url();
    let robots = urls.keys().filter(|url| url.ends_with("/robots.txt"));
    assert_eq!(robots.count(), 1, "only where it is obeyed");
}

#[test]
fn depth_and_patterns_differ_by_site() {
    let house = House::new(WebSpec::plain(2, 20));
    let mut config = house.config();
    config.engine.scope.sites = vec![SiteScope {
        names: name(&house, 0),
        depth_max: Some(0),
        ..SiteScope::default()
    }];
    let status = house.crawl(&config);
    assert!(asked(&house, 0) < 20 && asked(&house, 1) == 20);
    assert!(status.counters.refusals["too-deep"] > 0);
}

#[test]
fn a_party_takes_in_no_more_urls_than_it_may() {
    for partitions in [1, 3] {
        let house = House::new(WebSpec::plain(3, 20));
        let mut config = house.config();
        config.engine.scope.kind = if partitions == 1 {
            ScopeKind::Party
        } else {
            ScopeKind::Any
        };
        config.partitions = partitions;
        config.engine.party_urls_max = Some(7);
        let status = house.crawl(&config);
        assert_eq!(status.counters.admitted, 21, "three seeds, seven each");
        assert!(status.counters.refusals["party-full"] > 0);
        let again = house.crawl(&config);
        assert_eq!(again.counters.admitted, 21, "also when run again");
        house.verify();
    }
}

/// Copies the stored state of one site to where another's would be, as if their hashes
/// were the same.
fn forge(house: &House, from: u32, to: u32) {
    let site_row = |site| {
        let hash = house.server.web().url(site, "/").site_hash().0;
        [b"s".as_slice(), &hash.to_be_bytes()].concat()
    };
    let folder = house.dir.frontier().join("p0000");
    let mut store = FjallStore::open(folder, FjallOptions::default()).unwrap();
    let state = store.get(&site_row(from)).unwrap().unwrap();
    let mut batch = Batch::new();
    batch.put(&site_row(to), &state);
    store.commit(&batch).unwrap();
}

#[test]
fn a_site_with_the_hash_of_another_is_refused() {
    let house = House::new(WebSpec::plain(2, 4));
    let both = house.config();
    let mut config = both.clone();
    config.engine.scope.kind = ScopeKind::Host;
    config.seeds.truncate(1);
    house.crawl(&config);
    assert_eq!((asked(&house, 0), asked(&house, 1)), (4, 0));
    forge(&house, 0, 1);
    let status = house.crawl(&both);
    assert_eq!(
        asked(&house, 1),
        0,
        "it has nothing in common with that site"
    );
    assert!(status.counters.refusals["hash-collision"] > 0);
}
