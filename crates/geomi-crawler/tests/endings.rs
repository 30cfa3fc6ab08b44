//! How crawls end: finished only if nothing is left, and with the reason otherwise.

mod house;

use std::time::Duration;

use geomi_crawler::{CrawlConfig, NoFaults};
use geomi_engine::{Ending, LeftReason, SeedInput, SitemapMode, Status};
use geomi_model::NetworkState;
use geomi_testweb::{Fault, FixedPage, Robots, RobotsFault, SiteBehaviour, WebSpec};

use house::House;

fn scenario(sites: Vec<SiteBehaviour>) -> House {
    let mut spec = WebSpec::plain(sites.len() as u32, 1);
    spec.site_overrides = (0u32..).zip(sites).collect();
    House::new(spec)
}

fn pages(pages: Vec<(&str, FixedPage)>) -> SiteBehaviour {
    let pages = pages.into_iter();
    SiteBehaviour {
        fixed: pages.map(|(path, page)| (path.to_owned(), page)).collect(),
        ..SiteBehaviour::default()
    }
}

fn robots(fault: RobotsFault) -> SiteBehaviour {
    SiteBehaviour {
        robots: Some(Robots::Fault(fault)),
        ..SiteBehaviour::default()
    }
}

fn seeded(house: &House, path: &str) -> CrawlConfig {
    let url = house.server.web().url(0, path);
    CrawlConfig {
        seeds: vec![SeedInput { url, topic: None }],
        ..house.config()
    }
}

fn pages_asked_for(house: &House) -> usize {
    let entries = house.server.log().entries();
    let pages = entries.iter().filter(|entry| entry.target != "/robots.txt");
    pages.count()
}

/// The only reason, and how many URLs of how many sites it holds.
fn only_reason(status: &Status) -> (LeftReason, u64, u64) {
    let left = status.left.as_ref().expect("something is left");
    assert_eq!(left.groups.len(), 1, "{left:?}");
    let group = &left.groups[0];
    assert_eq!((left.urls, left.sites), (group.urls, group.sites));
    (group.reason, group.urls, group.sites)
}

#[test]
fn a_site_that_asks_for_an_hour_leaves_the_crawl_incomplete() {
    let links: Vec<String> = (0..30).map(|n| format!("<a href=/{n}>n</a>")).collect();
    let links = links.concat();
    let mut fixed = vec![("/".to_owned(), FixedPage::html(links))];
    fixed.extend((0..30).map(|n| (format!("/{n}"), FixedPage::busy(3_600))));
    let house = scenario(vec![SiteBehaviour {
        fixed,
        ..SiteBehaviour::default()
    }]);
    let status = house.crawl(&seeded(&house, "/"));
    assert_eq!(status.reason, Some(Ending::Incomplete));
    let (reason, urls, sites) = only_reason(&status);
    assert_eq!((reason, sites), (LeftReason::LongWait, 1));
    assert_eq!((urls, status.counters.saved), (status.queued, 1));
    assert!(urls >= 26, "four were asked for at most: {urls}");
    let until = status.left.unwrap().groups.remove(0).until;
    assert!(until.is_some_and(|until| until > status.time), "in an hour");
    house.verify();
}

#[test]
fn a_server_error_for_robots_txt_is_a_failure_and_no_refusal() {
    for code in [500, 429] {
        let house = scenario(vec![robots(RobotsFault::Status(code))]);
        let status = house.crawl(&seeded(&house, "/"));
        assert_eq!(status.reason, Some(Ending::SeedsFailed), "{code}");
        let counters = &status.counters;
        assert_eq!((counters.saved, counters.failed), (0, 1), "{code}");
        assert_eq!(counters.refused, 0, "{code}: {:?}", counters.refusals);
        assert_eq!(pages_asked_for(&house), 0, "{code}: no request to the site");
        let visits = house.visits();
        let page = visits.iter().find(|visit| !visit.is_robots).unwrap();
        assert_eq!((page.state, page.code), (NetworkState::NotTried, None));
        house.verify();
    }
}

#[test]
fn nothing_saved_is_no_success_whatever_the_reason() {
    let house = scenario(vec![SiteBehaviour {
        robots: Some(Robots::Text("User-agent: *\nDisallow: /\n".to_owned())),
        ..SiteBehaviour::default()
    }]);
    let refused = house.crawl(&seeded(&house, "/"));
    assert_eq!(refused.reason, Some(Ending::NothingSaved));
    assert_eq!((refused.counters.failed, refused.counters.refused), (0, 1));
    let words = refused.reason_in_words().unwrap_or_default();
    assert_eq!(words, "nothing was saved; refused: robots 1");

    let mut config = seeded(&house, "/");
    config.fetch.address_policy.allow_all = false;
    let refused = scenario(vec![SiteBehaviour::default()]).crawl(&config);
    assert_eq!(refused.reason, Some(Ending::NothingSaved));
    let words = refused.reason_in_words().unwrap_or_default();
    assert_eq!(words, "nothing was saved; refused: address 1");

    let house = scenario(vec![pages(vec![("/", FixedPage::new(204, ""))])]);
    let empty = house.crawl(&seeded(&house, "/"));
    assert_eq!(empty.reason, Some(Ending::NothingSaved));
}

#[test]
fn pages_count_once_and_visits_each_time() {
    let house = House::new(WebSpec::plain(1, 12));
    let first = house.crawl(&house.config());
    assert_eq!(first.reason, Some(Ending::Finished));
    assert_eq!(
        (first.counters.saved, first.counters.visits_saved),
        (12, 12)
    );
    let again = CrawlConfig {
        again: true,
        ..house.config()
    };
    let second = house.crawl(&again);
    assert_eq!(second.reason, Some(Ending::Finished));
    let counters = &second.counters;
    assert_eq!((counters.saved, counters.visits_saved), (12, 24));
    let this_run = (second.saved_this_run, second.visits_saved_this_run);
    assert_eq!(this_run, (0, 12));
    let limits = CrawlConfig {
        limits: geomi_crawler::Limits {
            pages_max: Some(5),
            ..again.limits
        },
        ..again
    };
    let third = house.crawl(&limits);
    assert_eq!(
        third.reason,
        Some(Ending::PageLimit),
        "a round has its own limit"
    );
    assert_eq!(third.visits_saved_this_run, 5);
}

#[test]
fn retired_sites_do_not_keep_healthy_ones_out() {
    const HEALTHY: u32 = 20;
    const BUSY: u32 = 100;
    let mut sites: Vec<SiteBehaviour> = (0..BUSY)
        .map(|_| robots(RobotsFault::Busy(3_600)))
        .collect();
    sites.extend((0..HEALTHY).map(|_| SiteBehaviour::default()));
    let house = scenario(sites);
    let mut config = house.config();
    config.engine.frontier.sites_max = 20;
    // A crawl that waits for ever fails here instead.
    config.limits.time_max = Some(Duration::from_mins(1));
    let status = house.crawl(&config);
    assert_eq!(status.reason, Some(Ending::Incomplete), "{status:?}");
    assert_eq!(status.counters.saved, u64::from(HEALTHY));
    let (reason, urls, sites) = only_reason(&status);
    assert_eq!(reason, LeftReason::LongWait);
    assert_eq!((urls, sites), (u64::from(BUSY), u64::from(BUSY)));
    assert_eq!(status.sites_retired_count, u64::from(BUSY));
    house.verify();
}

#[test]
fn a_site_that_hangs_has_failures_in_a_row() {
    let house = scenario(vec![pages(vec![
        ("/", FixedPage::html("<a href=/a>a</a>")),
        ("/a", FixedPage::fault(Fault::SilentBeforeHeader)),
    ])]);
    let status = house.crawl(&seeded(&house, "/"));
    let site = house.server.web().url(0, "/").site().to_string();
    assert_eq!(status.counters.states["hTim"], 3);
    assert_eq!(status.sites_failing, [(site, 3)]);
}

#[test]
fn a_failing_site_is_named_when_it_is_not_in_memory() {
    let hangs = pages(vec![("/", FixedPage::fault(Fault::SilentBeforeHeader))]);
    let broken = pages(vec![("/", FixedPage::new(500, ""))]);
    let mut sites = vec![hangs, broken];
    sites.extend((0..20).map(|_| SiteBehaviour::default()));
    let house = scenario(sites);
    let mut config = house.config();
    config.engine.sitemaps = SitemapMode::Guess;
    config.engine.frontier.sites_max = 2;
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 20);
    let name = |site| house.server.web().url(site, "/").site().to_string();
    let mut named = vec![(name(0), 3), (name(1), 3)];
    named.sort();
    assert_eq!(status.sites_failing, named);
}

#[test]
fn a_damaged_frontier_is_named_with_what_to_do() {
    let house = House::new(WebSpec::plain(1, 3));
    house.crawl(&house.config());
    let marker = house.dir.frontier().join("p0000").join("version");
    assert!(std::fs::write(&marker, b"").is_ok());
    let failed = house.try_crawl(&house.config(), &mut NoFaults);
    let told = failed.err().map(|error| error.to_string());
    let told = told.unwrap_or_default();
    for words in ["frontier/ is damaged", "is readable", "delete frontier/"] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn files_that_are_links_are_not_written() {
    let house = House::new(WebSpec::plain(1, 3));
    house.crawl(&house.config());
    for file in [house.dir.log(), house.dir.stats()] {
        let victim = file.with_extension("victim");
        assert!(std::fs::rename(&file, file.with_extension("kept")).is_ok());
        assert!(std::fs::write(&victim, "precious").is_ok());
        assert!(std::os::unix::fs::symlink(&victim, &file).is_ok());
        let failed = house.try_crawl(&house.config(), &mut NoFaults);
        assert!(failed.is_err(), "{}", file.display());
        assert!(matches!(std::fs::read(&victim), Ok(text) if text == b"precious"));
        assert!(std::fs::rename(file.with_extension("kept"), &file).is_ok());
    }
}
