//! A crawl's configuration, as meant: every value resolved and checked.

use std::time::Duration;

use geomi_engine::{EngineConfig, SeedInput};
use geomi_fetch::FetchConfig;
use geomi_page::ReadLimits;
use geomi_store::warc::GzipLevel;

/// Everything a crawl needs to know before it starts.
#[derive(Clone, Debug)]
pub struct CrawlConfig {
    /// What its partitions are crawled by.
    pub engine: EngineConfig,
    /// First part of the names of WARC files.
    pub name: String,
    /// Last part of those names: which worker wrote them.
    pub worker: String,
    /// Where to begin.
    pub seeds: Vec<SeedInput>,
    /// Whether every page the directory knows is to be visited again.
    pub again: bool,
    /// Timeouts, limits and addresses.
    pub fetch: FetchConfig,
    /// Bounds of the page reader.
    pub read: ReadLimits,
    /// Visits in progress at once.
    pub connections: usize,
    /// When to stop.
    pub limits: Limits,
    /// How to write.
    pub output: Output,
    /// Into how many parts the URL space is cut.
    pub partitions: u16,
    /// Memory of the seen test, over all partitions; past it, it goes on from disk.
    pub seen_bytes: usize,
}

/// When a crawl stops although there is more to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Pages saved.
    pub pages_max: Option<u64>,
    /// Bytes that came over the wire.
    pub bytes_max: Option<u64>,
    /// Time since this run began.
    pub time_max: Option<Duration>,
    /// Pages failed.
    pub failures_max: Option<u64>,
    /// Free disk space below which the crawl stops in good order.
    pub disk_free_min: u64,
}

/// How the archive is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output {
    /// A WARC file is closed at this size.
    pub warc_bytes_max: u64,
    /// Level of gzip, 1 to 12.
    pub gzip_level: u8,
    /// Visits a Parquet file holds.
    pub segment_rows: u64,
    /// A log file is rotated at this size.
    pub log_bytes_max: u64,
    /// How often the index and the lists of seeds are written while the crawl runs.
    pub publish_every: Duration,
}

impl Output {
    /// The level of gzip; one that does not exist is the usual one.
    pub(crate) fn gzip(&self) -> GzipLevel {
        GzipLevel::new(self.gzip_level).unwrap_or_default()
    }
}

impl Default for Output {
    fn default() -> Self {
        Self {
            warc_bytes_max: 1 << 30,
            gzip_level: 1,
            segment_rows: 8_192,
            log_bytes_max: 256 << 20,
            publish_every: Duration::from_mins(1),
        }
    }
}

impl CrawlConfig {
    /// Takes over what can change in a running crawl.
    pub(crate) fn change(&mut self, new: &Self) {
        self.engine.change(&new.engine);
        self.connections = new.connections;
        self.limits = new.limits;
    }

    /// The defaults, with these seeds.
    pub fn new(seeds: Vec<SeedInput>) -> Self {
        Self {
            engine: EngineConfig::default(),
            name: "geomi".to_owned(),
            worker: "w0".to_owned(),
            seeds,
            again: false,
            fetch: FetchConfig::default(),
            read: ReadLimits::default(),
            connections: 256,
            limits: Limits {
                disk_free_min: 64 << 20,
                ..Limits::default()
            },
            output: Output::default(),
            partitions: 1,
            seen_bytes: 256 << 20,
        }
    }
}
