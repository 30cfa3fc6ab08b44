//! The index and the lists of seeds can be read while a crawl runs, and after it was
//! killed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod house;

use std::time::Duration;

use geomi_crawler::{CrawlConfig, CrawlError, DurableStep, NoFaults};
use geomi_engine::{Observer, Phase, Status};
use geomi_frontier::Delay;
use geomi_model::Visit;
use geomi_store::{CrawlDir, cdxj, seeds};
use geomi_testweb::WebSpec;

use house::{CrashAt, House};

/// Long enough for several reports: the crawl rests after each answer.
fn slow(house: &House) -> CrawlConfig {
    let mut config = house.config();
    config.engine.frontier.politeness.delay = Delay::Fixed(Duration::from_millis(25));
    config.engine.frontier.politeness.site_connections = 1;
    config.output.publish_every = Duration::from_millis(1);
    config
}

/// Reads what is published whenever the crawl reports.
struct Reader {
    dir: CrawlDir,
    visits: usize,
    /// Index lines and seeds that could be read while the crawl ran.
    lines: Vec<usize>,
    seeds: Vec<usize>,
}

impl Observer for Reader {
    fn visited(&mut self, _: &Visit) {
        self.visits += 1;
    }

    fn status(&mut self, status: &Status) {
        if status.state != Phase::Running {
            return;
        }
        if let Ok(text) = std::fs::read_to_string(self.dir.cdxj()) {
            assert!(text.lines().is_sorted());
            let all_whole = text.lines().all(|line| cdxj::Entry::parse(line).is_some());
            assert!(all_whole, "{text}");
            assert!(text.lines().count() <= self.visits);
            self.lines.push(text.lines().count());
        }
        if let Ok(text) = std::fs::read_to_string(self.dir.seeds_out()) {
            let rows = seeds::read_seeds(&self.dir.seeds_table()).unwrap();
            assert_eq!(rows.count(), text.lines().count());
            self.seeds.push(text.lines().count());
        }
    }
}

#[test]
fn a_running_crawl_can_be_read() {
    let house = House::new(WebSpec::plain(2, 60));
    let config = slow(&house);
    let mut reader = Reader {
        dir: house.dir.clone(),
        visits: 0,
        lines: Vec::new(),
        seeds: Vec::new(),
    };
    let status = house
        .try_crawl_from(&config, None, &mut reader, &mut NoFaults)
        .unwrap();
    assert_eq!(status.counters.saved, 120);
    assert!(
        reader.lines.iter().any(|lines| *lines > 0),
        "{:?}",
        reader.lines
    );
    assert!(reader.lines.is_sorted(), "{:?}", reader.lines);
    assert!(reader.seeds.contains(&2), "{:?}", reader.seeds);
    let index = std::fs::read_to_string(house.dir.cdxj()).unwrap();
    assert_eq!(index.lines().count() as u64, status.counters.captured);
    assert!(!house.dir.index_recent().exists());
    house.verify();
}

/// Crashes when the index has lines of visits that are in no segment.
fn crash(house: &House, config: &CrawlConfig) {
    let mut steps = CrashAt {
        step: DurableStep::PartitionCommitted,
        countdown: 45,
    };
    let crashed = house.try_crawl(config, &mut steps);
    assert!(matches!(crashed, Err(CrawlError::Crashed)));
    assert!(house.visits().is_empty(), "no segment yet");
    let index = std::fs::read_to_string(house.dir.cdxj()).unwrap();
    assert!(index.lines().count() > 0, "the index is there");
    let report = geomi_store::verify::verify(&house.dir).unwrap();
    assert!(report.is_only_interrupted(), "{:#?}", report.problems);
}

#[test]
fn what_was_published_before_a_crash_is_told_once_after_it() {
    let house = House::new(WebSpec::plain(2, 60));
    let mut config = slow(&house);
    config.output.segment_rows = 1_000;
    crash(&house, &config);
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 120);
    let index = std::fs::read_to_string(house.dir.cdxj()).unwrap();
    assert_eq!(index.lines().count() as u64, status.counters.captured);
    house.verify();
}

#[test]
fn and_forgotten_with_the_state() {
    let house = House::new(WebSpec::plain(2, 60));
    let mut config = slow(&house);
    config.output.segment_rows = 1_000;
    crash(&house, &config);
    std::fs::remove_dir_all(house.dir.frontier()).unwrap();
    std::fs::create_dir(house.dir.frontier()).unwrap();
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 120, "the crawl begins anew");
    house.verify();
}
