//! A directory crawled a second time: conditional requests, revisit records,
//! and every page once a round, crashes or not.

mod house;

use std::collections::BTreeMap;

use geomi_crawler::{CrawlConfig, CrawlError, DurableStep};
use geomi_engine::{Ending, SeedInput};
use geomi_model::{CaptureKind, NetworkState, Visit};
use geomi_store::warc::Captures;
use geomi_testweb::{FixedPage, Robots, SiteBehaviour, WebSpec};

use house::{CrashAt, House};

/// A web whose pages all have validators.
fn validated(sites: u32, pages: u32) -> WebSpec {
    let mut spec = WebSpec::plain(sites, pages);
    spec.traits.validators = 1.0;
    spec
}

fn again(house: &House) -> CrawlConfig {
    CrawlConfig {
        again: true,
        ..house.config()
    }
}

fn pages(visits: &[Visit]) -> impl Iterator<Item = &Visit> {
    visits.iter().filter(|visit| !visit.is_robots)
}

/// How often the server answered a page with this code.
fn answered(house: &House, code: u16) -> usize {
    let entries = house.server.log().entries().into_iter();
    entries
        .filter(|entry| entry.status == code && entry.target != "/robots.txt")
        .count()
}

/// One site with these pages and seeds at the paths.
fn site(fixed: Vec<(&str, FixedPage)>, seeds: &[&str]) -> (House, CrawlConfig) {
    let mut spec = WebSpec::plain(1, 1);
    let fixed = fixed.into_iter();
    let behaviour = SiteBehaviour {
        fixed: fixed.map(|(path, page)| (path.to_owned(), page)).collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, behaviour)];
    let house = House::new(spec);
    let mut config = house.config();
    let seeds = seeds.iter().map(|path| SeedInput {
        url: house.server.web().url(0, path),
        topic: None,
    });
    config.seeds = seeds.collect();
    (house, config)
}

#[test]
fn an_unchanged_site_is_asked_conditionally_and_stored_as_revisits() {
    let house = House::new(validated(3, 20));
    let first = house.crawl(&house.config());
    assert_eq!((first.counters.saved, answered(&house, 304)), (60, 0));
    let status = house.crawl(&again(&house));
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(answered(&house, 304), 60, "every page, conditionally");
    assert_eq!(answered(&house, 200), 60, "and none was sent again");
    let counters = &status.counters;
    assert_eq!((counters.saved, counters.visits_saved), (60, 120));
    assert_eq!(status.counters.revisits, 60);
    let visits = house.visits();
    let captured = visits
        .iter()
        .filter(|visit| visit.capture.is_some())
        .count();
    assert_eq!(status.counters.captured, captured as u64);
    let captures = Captures::of(&house.dir);
    for visit in pages(&visits).skip(60) {
        assert_eq!((visit.code, visit.state), (Some(304), NetworkState::Ok));
        assert!(visit.changed.is_some_and(|change| !change.changed));
        let capture = visit.capture.as_ref().unwrap();
        assert_eq!(capture.kind, CaptureKind::Revisit);
        let before = pages(&visits).find(|first| first.url == visit.url).unwrap();
        assert_eq!(visit.digest, before.digest);
        let block = captures.read(capture, 1 << 20).unwrap();
        let field = |name| block.info.field(name).unwrap_or_default().to_owned();
        assert!(field("WARC-Profile").ends_with("/server-not-modified"));
        assert_eq!(field("WARC-Refers-To-Target-URI"), visit.url.as_str());
        assert_eq!(field("WARC-Refers-To-Date"), before.time.to_rfc3339_secs());
        assert_eq!(
            field("WARC-Payload-Digest"),
            before.digest.unwrap().to_string()
        );
        assert!(block.bytes.starts_with(b"HTTP/1.1 304"));
    }
    house.verify();
}

#[test]
fn a_third_round_asks_as_the_second_did() {
    let house = House::new(validated(1, 5));
    house.crawl(&house.config());
    house.crawl(&again(&house));
    house.crawl(&again(&house));
    assert_eq!((answered(&house, 200), answered(&house, 304)), (5, 10));
    house.crawl(&house.config());
    assert_eq!(answered(&house, 304), 10, "only who says so visits again");
    house.verify();
}

#[test]
fn changed_pages_say_so_and_their_new_links_are_followed() {
    let old = FixedPage::html("<title>t</title>old <a href=/same>1</a>");
    let new = FixedPage::html("<title>t</title>new <a href=/same>1</a> <a href=/more>2</a>");
    let (house, config) = site(
        vec![
            ("/news", old.first_only(1)),
            ("/news", new),
            ("/same", FixedPage::html("<title>t</title>as ever")),
            ("/more", FixedPage::html("<title>t</title>fresh")),
        ],
        &["/news"],
    );
    house.crawl(&config);
    let status = house.crawl(&CrawlConfig {
        again: true,
        ..config
    });
    let visits = house.visits();
    let told: Vec<(&str, Option<bool>)> = pages(&visits)
        .map(|visit| {
            let changed = visit.changed.map(|change| change.changed);
            (visit.url.path(), changed)
        })
        .collect();
    assert_eq!(told[..2], [("/news", None), ("/same", None)]);
    let mut second = told[2..].to_vec();
    second.sort_unstable();
    assert_eq!(
        second,
        [
            ("/more", None),
            ("/news", Some(true)),
            ("/same", Some(false))
        ]
    );
    assert_eq!(status.counters.revisits, 1, "the same content again");
    house.verify();
}

#[test]
fn a_304_that_nobody_asked_for_is_stored_as_it_came() {
    let (house, config) = site(vec![("/odd", FixedPage::new(304, ""))], &["/odd"]);
    for again in [false, true] {
        let status = house.crawl(&CrawlConfig {
            again,
            ..config.clone()
        });
        assert_eq!((status.counters.saved, status.counters.revisits), (0, 0));
    }
    let visits = house.visits();
    assert_eq!(pages(&visits).count(), 2);
    for visit in pages(&visits) {
        assert_eq!((visit.state, visit.changed), (NetworkState::Code, None));
        let capture = visit.capture.as_ref().unwrap();
        assert_eq!(capture.kind, CaptureKind::Response);
    }
    house.verify();
}

#[test]
fn limits_hold_for_each_round() {
    let house = House::new(validated(1, 12));
    house.crawl(&house.config());
    let mut config = again(&house);
    config.limits.pages_max = Some(5);
    let status = house.crawl(&config);
    assert_eq!(status.reason, Some(Ending::PageLimit));
    assert_eq!(status.counters.visits_saved, 12 + 5);
    config.limits.pages_max = None;
    let status = house.crawl(&config);
    assert_eq!(
        status.counters.visits_saved, 24,
        "the round is taken up, not begun anew"
    );
    assert_eq!(answered(&house, 304), 12);
}

#[test]
fn what_robots_txt_forbade_is_asked_for_once_it_allows() {
    let mut spec = WebSpec::plain(1, 1);
    let closed = FixedPage::new(200, "User-agent: *\nDisallow: /a\n");
    let behaviour = SiteBehaviour {
        robots: Some(Robots::Text(String::new())),
        fixed: vec![
            ("/robots.txt".to_owned(), closed.first_only(1)),
            ("/".to_owned(), FixedPage::html("<a href=/a>1</a>")),
            ("/a".to_owned(), FixedPage::html("opened")),
        ],
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, behaviour)];
    let house = House::new(spec);
    let status = house.crawl(&house.config());
    assert_eq!((status.counters.saved, status.counters.refused), (1, 1));
    // Rules are believed for a day: the operator's word is needed before that.
    let mut config = again(&house);
    config.engine.robots = geomi_engine::RobotsMode::Ignore;
    let status = house.crawl(&config);
    let counters = &status.counters;
    assert_eq!((counters.saved, counters.visits_saved), (2, 3));
    let asked = house.server.log().count_by_url();
    let of = |path: &str| {
        asked
            .iter()
            .find(|(url, _)| url.ends_with(path))
            .map(|(_, n)| *n)
    };
    assert_eq!(of("/a"), Some(1));
}

fn crash_and_resume(step: DurableStep, partitions: u16) {
    let house = House::new(validated(4, 20));
    let mut config = house.config();
    config.partitions = partitions;
    config.output.segment_rows = 20;
    config.output.warc_bytes_max = 100_000;
    house.crawl(&config);
    config.again = true;
    let (mut crashes, mut countdown) = (0, 1);
    let status = loop {
        match house.try_crawl(&config, &mut CrashAt { step, countdown }) {
            Ok(status) => break status,
            Err(CrawlError::Crashed) => crashes += 1,
            Err(other) => panic!("{step:?}: {other}"),
        }
        countdown += crashes;
    };
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(
        status.counters.visits_saved, 160,
        "{step:?}: no page is lost"
    );
    let mut stored: BTreeMap<String, u32> = BTreeMap::new();
    for visit in pages(&house.visits()).filter(|visit| visit.capture.is_some()) {
        *stored.entry(visit.url.to_string()).or_default() += 1;
    }
    assert_eq!(stored.len(), 80, "{step:?}");
    assert!(
        stored.values().all(|count| *count == 2),
        "{step:?}: each page once a round, {stored:?}"
    );
    let requests = answered(&house, 304) as u32;
    assert!(
        requests <= 80 + crashes * config.connections as u32,
        "{step:?}: {requests} requests after {crashes} crashes"
    );
    house.verify();
}

#[test]
fn a_crash_in_a_round_repeats_only_what_was_under_way() {
    for step in DurableStep::ALL {
        crash_and_resume(step, 1);
    }
}

#[test]
fn nor_more_with_several_partitions() {
    for step in [DurableStep::PartitionCommitted, DurableStep::WarcSynced] {
        crash_and_resume(step, 3);
    }
}
