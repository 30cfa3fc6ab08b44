//! A test web, a directory, and a crawl of the one into the other.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]
#![allow(dead_code, reason = "each test file uses the parts it needs")]

use std::sync::Arc;
use std::time::Duration;

use geomi_crawler::{
    Control, CrawlConfig, CrawlError, DurableStep, NoFaults, SeedStream, Steps, Surroundings,
    SystemClock, run_from,
};
use geomi_engine::{Observer, SeedInput, Silent, SitemapMode, Status};
use geomi_frontier::Delay;
use geomi_model::Visit;
use geomi_scope::ScopeKind;
use geomi_store::{CrawlDir, segment, visits};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use tempfile::TempDir;

pub(crate) struct House {
    pub server: ServerThread,
    pub dir: CrawlDir,
    _temp: TempDir,
}

impl House {
    pub(crate) fn new(spec: WebSpec) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let options = ServerOptions {
            silence_max: Duration::from_secs(5),
            ..ServerOptions::default()
        };
        let server = ServerThread::start(Web::new(spec), options).unwrap();
        let dir = CrawlDir::create(temp.path().join("crawl")).unwrap();
        Self {
            server,
            dir,
            _temp: temp,
        }
    }

    /// Everything reachable, as quickly as it goes.
    pub(crate) fn config(&self) -> CrawlConfig {
        let seeds = self
            .server
            .seeds()
            .into_iter()
            .map(|url| SeedInput { url, topic: None })
            .collect();
        let mut config = CrawlConfig::new(seeds);
        config.engine.scope.kind = ScopeKind::Any;
        // Tests count requests; sitemaps have tests of their own.
        config.engine.sitemaps = SitemapMode::Robots;
        config.engine.frontier.politeness.delay = Delay::Fixed(Duration::ZERO);
        config.engine.frontier.politeness.site_connections = 4;
        config.engine.frontier.politeness.backoff_first = Duration::from_millis(20);
        config.engine.retry_wait = Duration::from_millis(20);
        config.connections = 16;
        config.fetch.address_policy.allow_all = true;
        config.fetch.silence_timeout = Duration::from_millis(300);
        config.fetch.connect_timeout = Duration::from_millis(300);
        config.output.segment_rows = 64;
        config.limits.disk_free_min = 0;
        config
    }

    pub(crate) fn crawl(&self, config: &CrawlConfig) -> Status {
        self.try_crawl(config, &mut NoFaults).unwrap()
    }

    pub(crate) fn try_crawl(
        &self,
        config: &CrawlConfig,
        steps: &mut dyn Steps,
    ) -> Result<Status, CrawlError> {
        self.try_crawl_from(config, None, &mut Silent, steps)
    }

    pub(crate) fn try_crawl_from(
        &self,
        config: &CrawlConfig,
        stream: Option<SeedStream>,
        observer: &mut dyn Observer,
        steps: &mut dyn Steps,
    ) -> Result<Status, CrawlError> {
        let surroundings = Surroundings {
            clock: Arc::new(SystemClock::default()),
            control: Control::default(),
            observer,
            steps,
        };
        run_from(config, &self.dir, surroundings, stream)
    }

    /// Every row of visits/.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        let segments = segment::list(&self.dir).unwrap();
        let rows = segments
            .into_iter()
            .flat_map(|segment| visits::read_visits(&segment.table(&self.dir)).unwrap());
        rows.map(Result::unwrap).collect()
    }

    pub(crate) fn verify(&self) {
        let report = geomi_store::verify::verify(&self.dir).unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
    }
}

/// Crashes at the n-th time a step is passed.
pub(crate) struct CrashAt {
    pub(crate) step: DurableStep,
    pub(crate) countdown: u32,
}

impl Steps for CrashAt {
    fn passed(&mut self, step: DurableStep) -> bool {
        if step == self.step {
            self.countdown = self.countdown.saturating_sub(1);
            return self.countdown > 0;
        }
        true
    }
}
