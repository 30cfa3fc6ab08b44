//! The engine under load, without a network: for `geomi bench frontier`.
//!
//! A real engine over a real state store: seen test, queues, sites and their turns,
//! durable commits. Only the answers are made up: each page is there at once and links
//! to that many pages that were never seen before. Sites are drawn with the frequency of
//! their rank (Zipf), so that a few have millions of URLs and most have a handful. What
//! a page costs apart from its links (trap guard, archive, robots.txt) is left out.

use std::sync::Arc;
use std::time::Duration;

use geomi_cluster::{PartitionId, Partitions};
use geomi_engine::{
    Answer, Around, Arrival, Engine, EngineError, Job, LookedUp, Poll, RobotsMode, SeedInput,
    Shared, SitemapMode, Stored, VisitRows, World,
};
use geomi_frontier::{Delay, Work};
use geomi_model::{Capture, Document, Link, LinkKind, NetworkState, Phases};
use geomi_store::CrawlDir;
use geomi_url::CrawlUrl;

use crate::worker::open_place;
use crate::{Clock, CrawlConfig, CrawlError};

/// What the made-up web is like.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Sites URLs are drawn from.
    pub sites: u32,
    /// New links of a page.
    pub links: u32,
    /// Visits that share a commit.
    pub visits_per_commit: u32,
}

/// An engine at work.
pub struct LoadRun {
    load: Load,
    engine: Engine,
    shared: Shared,
    clock: Arc<dyn Clock>,
    dice: Dice,
    /// URLs made up so far.
    made: u64,
    visits: u64,
    commits: Vec<Duration>,
}

impl std::fmt::Debug for LoadRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadRun").finish_non_exhaustive()
    }
}

/// A world in which nothing is stored.
struct Nowhere;

impl World for Nowhere {
    fn keep(&mut self, _: Option<&Stored>) -> Result<Capture, EngineError> {
        unreachable!("the pages have no content")
    }

    fn is_quarantined(&self, _: &CrawlUrl) -> bool {
        false
    }

    fn visits(&self, _: PartitionId, _: u64, _: u64) -> Result<VisitRows, EngineError> {
        Ok(Box::new(std::iter::empty()))
    }
}

impl LoadRun {
    /// Opens the state of a directory, and goes on with what is in it.
    pub fn open(
        config: &CrawlConfig,
        dir: &CrawlDir,
        load: Load,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CrawlError> {
        let (map, id) = (Partitions::new(1), PartitionId(0));
        let place = open_place(config, dir, id)?;
        let mut config = config.engine.clone();
        config.robots = RobotsMode::Ignore;
        config.sitemaps = SitemapMode::None;
        config.novelty.is_on = false;
        config.frontier.politeness.delay = Delay::Fixed(Duration::ZERO);
        config.scope.kind = geomi_scope::ScopeKind::Any;
        let mut shared = Shared::default();
        let engine = Engine::open(id, map, &config, place, &mut shared, clock.now())?;
        let counters = engine.counters();
        let (made, visits) = (counters.admitted, counters.saved);
        Ok(Self {
            load,
            engine,
            shared,
            clock,
            dice: Dice(made | 1),
            made,
            visits,
            commits: Vec::new(),
        })
    }

    /// URLs admitted so far, by this run and those before.
    pub const fn urls(&self) -> u64 {
        self.made
    }

    /// Pages visited so far.
    pub const fn visits(&self) -> u64 {
        self.visits
    }

    /// Bytes of memory that the seen test takes.
    pub fn seen_bytes(&self) -> u64 {
        self.engine.seen_bytes()
    }

    /// How long each commit since the last call took.
    pub fn take_commits(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.commits)
    }

    /// Makes up the links of this number of pages and drops them: what that costs is not
    /// the engine's.
    pub fn make_up(&mut self, pages: u32) -> usize {
        let (made, dice) = (self.made, self.dice.0);
        let mut bytes = 0;
        for _ in 0..pages * self.load.links {
            bytes += self.next_url().as_str().len();
        }
        (self.made, self.dice.0) = (made, dice);
        bytes
    }

    /// Goes on until this number of URLs has been admitted.
    pub fn run_to(&mut self, urls: u64) -> Result<(), CrawlError> {
        if self.made == 0 {
            let seed = SeedInput {
                url: self.next_url(),
                topic: None,
            };
            self.with_engine(|engine, around| engine.admit_given(0, &[seed], around))?;
            self.commit()?;
        }
        while self.made < urls {
            self.round()?;
            self.commit()?;
            self.with_engine(geomi_engine::Engine::change_turns)?;
        }
        Ok(())
    }

    fn with_engine<T>(
        &mut self,
        call: impl FnOnce(&mut Engine, &mut Around<'_>) -> Result<T, EngineError>,
    ) -> Result<T, CrawlError> {
        let mut around = Around {
            now: self.clock.now(),
            shared: &mut self.shared,
            world: &mut Nowhere,
        };
        Ok(call(&mut self.engine, &mut around)?)
    }

    fn round(&mut self) -> Result<(), CrawlError> {
        let mut visits = 0;
        while visits < self.load.visits_per_commit {
            match self.with_engine(geomi_engine::Engine::poll)? {
                Poll::Start(job) => visits += u32::from(self.answer(*job)?),
                Poll::Wait(_) => break,
            }
        }
        Ok(())
    }

    /// Whether it was a page.
    fn answer(&mut self, job: Job) -> Result<bool, CrawlError> {
        let Work::Page(entry, _) = job.lease.work() else {
            let [a, b, c, ..] = job.lease.site().0.to_be_bytes();
            let looked_up = LookedUp::Addresses {
                addrs: vec![[10, a, b, c].into()],
                is_public: false,
                canonical: None,
                expires_in: Duration::from_hours(24),
            };
            self.with_engine(|engine, around| {
                engine.looked_up(job.lease, looked_up, around);
                Ok(())
            })?;
            return Ok(false);
        };
        let url = entry.url.clone();
        let links = (0..self.load.links).map(|_| Link {
            url: self.next_url(),
            kind: LinkKind::Anchor,
            nofollow: false,
            is_advert: false,
            signal: None,
        });
        let document = Document {
            links: links.collect(),
            ..Document::default()
        };
        let now = self.clock.now();
        let answer = Answer {
            code: Some(200),
            error: None,
            phases: Phases {
                first_byte: Some(Duration::from_millis(10)),
                total: Duration::from_millis(20),
                ..Phases::default()
            },
            ..Answer::none(NetworkState::Ok, String::new())
        };
        let arrival = Arrival {
            lease: job.lease,
            url,
            started: now,
            ended: now,
            is_conditional: false,
            answer,
            document,
            content: None,
            original: None,
        };
        self.visits += 1;
        self.with_engine(|engine, around| engine.arrived(arrival, around))?;
        Ok(true)
    }

    fn commit(&mut self) -> Result<(), CrawlError> {
        self.with_engine(geomi_engine::Engine::prepare_commit)?;
        let begun = self.clock.now();
        self.engine.commit(None, 0)?;
        self.commits.push(self.clock.now().since(begun));
        // As if they had been written to a file.
        for visit in self.engine.effects()?.visits {
            self.engine.forget_visit(visit.number);
        }
        Ok(())
    }

    fn next_url(&mut self) -> CrawlUrl {
        self.made += 1;
        let site = self.dice.rank(self.load.sites);
        let text = format!(
            "https://site-{site}.example/part-{}/page-{}",
            self.made % 97,
            self.made
        );
        CrawlUrl::parse(&text).expect("a made-up URL is one")
    }
}

/// A small generator of its own, so that every run is the same.
struct Dice(u64);

impl Dice {
    /// A rank below `n`, each as frequent as its inverse.
    fn rank(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = (mixed >> 11) as f64 / (1u64 << 53) as f64;
        (f64::from(n).powf(share) as u32).min(n) - 1
    }
}

#[cfg(test)]
mod tests {
    use geomi_store::CrawlDir;

    use super::*;
    use crate::SystemClock;

    #[test]
    fn a_web_of_many_sites_flows_through_little_memory_and_goes_on_when_reopened() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut config = CrawlConfig::new(Vec::new());
        config.seen_bytes = 64 << 10;
        config.engine.frontier.sites_max = 50;
        config.engine.frontier.turn_pages = 20;
        let load = Load {
            sites: 2_000,
            links: 10,
            visits_per_commit: 32,
        };
        let clock = Arc::new(SystemClock::default());
        for urls in [20_000, 40_000] {
            let mut run = LoadRun::open(&config, &dir, load, clock.clone()).unwrap();
            run.run_to(urls).unwrap();
            assert!(run.urls() >= urls && run.visits() >= urls / 10);
            assert!(run.seen_bytes() < 100 << 10, "{}", run.seen_bytes());
            run.engine.frontier().check_invariants();
            run.shared.addresses.check_invariants();
            assert!(!run.take_commits().is_empty());
        }
    }
}
