//! Seeds that come as a stream: fetched while it is read, taken in once however
//! often the crawl crashes, and not held in memory.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod house;

use std::collections::BTreeMap;
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use geomi_crawler::{CrawlConfig, CrawlError, DurableStep, NoFaults, SeedStream};
use geomi_engine::{Ending, Observer, SeedInput, Silent, Status};
use geomi_model::Visit;
use geomi_scope::ScopeKind;
use geomi_store::seeds::{SeedOrigin, read_seeds};
use geomi_testweb::WebSpec;

use house::{CrashAt, House};

/// Longer than anything here takes; a crawl that waits for ever fails the test.
const PATIENCE: Duration = Duration::from_mins(1);

/// Every page of the web is a seed, and nothing else is fetched.
fn every_page(house: &House) -> Vec<SeedInput> {
    let web = house.server.web();
    let pages = web.all_pages();
    pages
        .map(|page| SeedInput {
            url: web.page_url(page.site, page.page),
            topic: Some(format!("site {}", page.site)),
        })
        .collect()
}

fn only_seeds(house: &House) -> CrawlConfig {
    let mut config = house.config();
    config.seeds.clear();
    config.engine.scope.kind = ScopeKind::Page;
    config
}

fn in_batches(seeds: &[SeedInput], len: usize) -> SeedStream {
    let batches: Vec<Vec<SeedInput>> = seeds.chunks(len).map(<[SeedInput]>::to_vec).collect();
    Box::new(batches.into_iter())
}

fn assert_each_stored_once(house: &House, pages: usize) {
    let mut stored: BTreeMap<String, u32> = BTreeMap::new();
    let visits = house.visits().into_iter();
    for visit in visits.filter(|visit| visit.capture.is_some() && !visit.is_robots) {
        assert_eq!(visit.seed.as_ref(), Some(&visit.url));
        *stored.entry(visit.url.to_string()).or_default() += 1;
    }
    assert_eq!(stored.len(), pages, "no seed is lost");
    assert!(stored.values().all(|count| *count == 1), "none comes twice");
}

/// The table of seeds has each of them once, in the order they were given.
fn assert_table(house: &House, seeds: &[SeedInput]) {
    let rows = read_seeds(&house.dir.seeds_table()).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).collect();
    assert_eq!(rows.len(), seeds.len());
    for ((row, seed), number) in rows.iter().zip(seeds).zip(1..) {
        assert_eq!(
            (row.id, &row.url, &row.topic),
            (number, &seed.url, &seed.topic)
        );
        assert_eq!(row.found, SeedOrigin::Input);
        assert!(row.content_hash.is_some(), "{row:?}");
    }
}

fn crash_and_resume(step: DurableStep, partitions: u16, cramped: bool) {
    let house = House::new(WebSpec::plain(3, 900));
    let seeds = every_page(&house);
    let mut config = only_seeds(&house);
    config.partitions = partitions;
    config.connections = 64;
    config.engine.frontier.politeness.site_connections = 16;
    if cramped {
        config.engine.frontier.sites_max = 1;
        config.engine.frontier.turn_pages = 100;
        config.seen_bytes = 8 << 10;
    }
    let (mut crashes, mut countdown) = (0, 1);
    let status = loop {
        let stream = in_batches(&seeds, 500);
        let mut crash = CrashAt { step, countdown };
        match house.try_crawl_from(&config, Some(stream), &mut Silent, &mut crash) {
            Ok(status) => break status,
            Err(CrawlError::Crashed) => crashes += 1,
            Err(other) => panic!("{step:?}: {other}"),
        }
        countdown += crashes;
    };
    assert!(crashes > 2, "{step:?} was passed {crashes} times");
    assert_eq!(status.reason, Some(Ending::Finished), "{status:?}");
    assert_eq!((status.counters.saved, status.seeds), (2_700, 2_700));
    assert_each_stored_once(&house, 2_700);
    assert_table(&house, &seeds);
    let requests = house.server.log().len();
    let most = 2_703 + (crashes as usize) * config.connections;
    assert!(
        requests <= most,
        "{requests} requests after {crashes} crashes"
    );
    house.verify();
}

#[test]
fn a_crash_while_seeds_come_in_loses_none() {
    crash_and_resume(DurableStep::PartitionCommitted, 1, false);
    crash_and_resume(DurableStep::MailPublished, 1, true);
}

#[test]
fn nor_with_several_partitions() {
    crash_and_resume(DurableStep::PartitionCommitted, 3, false);
}

/// Tells of each page that was visited.
struct Herald(Sender<String>);

impl Observer for Herald {
    fn visited(&mut self, visit: &Visit) {
        if !visit.is_robots {
            // The stream may have ended.
            drop(self.0.try_send(visit.url.to_string()));
        }
    }

    fn status(&mut self, _: &Status) {}
}

#[test]
fn pages_are_fetched_while_the_stream_waits() {
    let house = House::new(WebSpec::plain(3, 4));
    let seeds: Vec<SeedInput> = every_page(&house).into_iter().step_by(4).collect();
    let (herald, visited) = bounded(1);
    let mut left = seeds.clone().into_iter();
    let mut before: Option<SeedInput> = None;
    // No seed comes before the one before was fetched, and the end comes after
    // the last one.
    let stream = std::iter::from_fn(move || {
        if let Some(seed) = &before {
            let url = visited.recv_timeout(PATIENCE).unwrap();
            assert_eq!(url, seed.url.to_string());
        }
        before = left.next();
        before.clone().map(|seed| vec![seed])
    });
    let config = only_seeds(&house);
    let stream: SeedStream = Box::new(stream);
    let mut herald = Herald(herald);
    let status = house.try_crawl_from(&config, Some(stream), &mut herald, &mut NoFaults);
    let status = status.unwrap();
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!((status.counters.saved, status.seeds), (3, 3));
    assert_table(&house, &seeds);
}

#[test]
fn a_limit_ends_the_crawl_though_more_seeds_would_come() {
    let house = House::new(WebSpec::plain(2, 30));
    let seeds = every_page(&house);
    let mut config = only_seeds(&house);
    config.limits.pages_max = Some(10);
    let (hold, held) = bounded::<()>(0);
    let mut first = Some(seeds[..40].to_vec());
    let endless = std::iter::from_fn(move || {
        first.take().or_else(|| {
            // Until the crawl is over: nobody ever sends.
            assert!(held.recv().is_err());
            None
        })
    });
    let stream: SeedStream = Box::new(endless);
    let status = house.try_crawl_from(&config, Some(stream), &mut Silent, &mut NoFaults);
    let status = status.unwrap();
    assert_eq!(status.reason, Some(Ending::PageLimit));
    drop(hold);

    config.limits.pages_max = None;
    let stream = in_batches(&seeds, 7);
    let status = house.try_crawl_from(&config, Some(stream), &mut Silent, &mut NoFaults);
    let status = status.unwrap();
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(status.counters.saved, 60);
    assert_each_stored_once(&house, 60);
    assert_table(&house, &seeds);
}

#[test]
fn seeds_that_were_out_of_reach_are_tried_again_once_a_run() {
    let house = House::new(WebSpec::plain(1, 4));
    let mut config = only_seeds(&house);
    config.engine.tries = 1;
    let dead = SeedInput {
        url: "http://127.0.0.1:1/".parse().unwrap(),
        topic: None,
    };
    for run in 1..=3 {
        let stream = in_batches(&[dead.clone(), dead.clone()], 1);
        let status = house.try_crawl_from(&config, Some(stream), &mut Silent, &mut NoFaults);
        let status = status.unwrap();
        assert_eq!(status.reason, Some(Ending::SeedsFailed), "run {run}");
        assert_eq!((status.counters.failed, status.seeds), (1, 1), "run {run}");
        let visits = house.visits().into_iter();
        let tried = visits.filter(|visit| !visit.is_robots).count();
        assert_eq!(tried, run, "once a run");
    }
}
