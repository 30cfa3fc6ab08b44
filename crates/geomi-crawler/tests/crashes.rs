//! A crash between every two durable steps: work is repeated, none is lost,
//! nothing is stored twice.

mod house;

use std::collections::BTreeMap;

use geomi_crawler::{CrawlConfig, CrawlError, DurableStep};
use geomi_engine::Ending;
use geomi_testweb::WebSpec;

use house::{CrashAt, House};

fn crash_and_resume(step: DurableStep, partitions: u16) {
    crash_and_resume_with(step, |config| config.partitions = partitions);
}

fn crash_and_resume_with(step: DurableStep, change: impl Fn(&mut CrawlConfig)) {
    let house = House::new(WebSpec::plain(4, 20));
    let mut config = house.config();
    change(&mut config);
    config.output.segment_rows = 20;
    config.output.warc_bytes_max = 100_000;
    let mut crashes = 0;
    let mut countdown = 1;
    let status = loop {
        match house.try_crawl(&config, &mut CrashAt { step, countdown }) {
            Ok(status) => break status,
            Err(CrawlError::Crashed) => crashes += 1,
            Err(other) => panic!("{step:?}: {other}"),
        }
        // Later and later, so that each run gets further and the crawl ends.
        countdown += crashes;
    };
    assert!(crashes > 0, "{step:?} was never passed");
    assert_eq!(status.reason, Some(Ending::Finished), "{:?}", status.left);
    assert_eq!(status.counters.saved, 80, "{step:?}: no page is lost");
    let mut stored: BTreeMap<String, u32> = BTreeMap::new();
    for visit in house
        .visits()
        .into_iter()
        .filter(|visit| visit.capture.is_some() && !visit.is_robots)
    {
        *stored.entry(visit.url.to_string()).or_default() += 1;
    }
    assert_eq!(stored.len(), 80, "{step:?}");
    assert!(
        stored.values().all(|count| *count == 1),
        "{step:?}: none is stored twice"
    );
    let requests = house.server.log().len() as u32;
    assert!(
        requests <= 84 + crashes * config.connections as u32,
        "{step:?}: {requests} requests after {crashes} crashes"
    );
    house.verify();
}

#[test]
fn a_crash_after_any_durable_step_loses_nothing() {
    for step in DurableStep::ALL {
        crash_and_resume(step, 1);
    }
}

/// So little memory that the seen test goes on from disk after 32 URLs, and
/// sites take turns.
fn cramped(config: &mut CrawlConfig) {
    config.seen_bytes = 1 << 10;
    config.engine.frontier.sites_max = 2;
    config.engine.frontier.turn_pages = 3;
}

#[test]
fn nor_with_hardly_any_memory() {
    for step in DurableStep::ALL {
        crash_and_resume_with(step, cramped);
    }
    crash_and_resume_with(DurableStep::PartitionCommitted, |config| {
        cramped(config);
        config.partitions = 3;
    });
    // Room for links to gather, and none for their sites.
    for partitions in [1, 3] {
        crash_and_resume_with(DurableStep::PartitionCommitted, |config| {
            cramped(config);
            config.seen_bytes = 1 << 20;
            config.partitions = partitions;
        });
    }
}

#[test]
fn with_hardly_any_memory_the_crawl_is_the_same() {
    let house = House::new(WebSpec::plain(30, 12));
    let mut config = house.config();
    cramped(&mut config);
    let status = house.crawl(&config);
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(status.counters.saved, 360);
    assert_eq!(status.queued, 0);
    let requests = house.server.log().len();
    assert_eq!(requests, 390, "each page once, and a robots.txt a site");
    let seen = house.dir.frontier().join("p0000.seen");
    let files = std::fs::read_dir(seen).unwrap().count();
    assert_eq!(files, 1, "the seen test has a base on disk");
    house.verify();
}

#[test]
fn nor_with_several_partitions() {
    for step in [
        DurableStep::WarcSynced,
        DurableStep::PartitionCommitted,
        DurableStep::MailPublished,
        DurableStep::SegmentWritten,
    ] {
        crash_and_resume(step, 3);
    }
}

#[test]
fn a_deleted_frontier_loses_only_the_ability_to_resume() {
    let house = House::new(WebSpec::plain(2, 30));
    let mut config = house.config();
    config.output.segment_rows = 10;
    let mut crash = CrashAt {
        step: DurableStep::SegmentForgotten,
        countdown: 3,
    };
    let crashed = house.try_crawl(&config, &mut crash);
    assert!(matches!(crashed, Err(CrawlError::Crashed)));
    let kept = house.visits();
    assert!(kept.len() >= 30);
    std::fs::remove_dir_all(house.dir.frontier()).unwrap();
    std::fs::create_dir(house.dir.frontier()).unwrap();
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 60, "the crawl begins anew");
    assert_eq!(
        house.visits()[..kept.len()],
        kept,
        "what was collected stays"
    );
    house.verify();
}
