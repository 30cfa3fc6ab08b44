//! The frontier under load, without a network: for `geomi bench frontier`.
//!
//! What drives it here is what drives it in a crawl: the seen test, the queues,
//! the sites and their turns, and durable commits of one partition. Only the
//! answers are made up: each page is there at once and has so many links that
//! nobody has seen before. Sites are drawn with the frequency of their rank
//! (Zipf), so that a few have millions of URLs and most have a handful.

use std::sync::Arc;
use std::time::Duration;

use geomi_cluster::Partitions;
use geomi_frontier::{
    Action, Addresses, Delay, Entry, Frontier, FrontierId, Lease, Resolved, Settlement, SiteSignal,
    SiteState, Timing, Work,
};
use geomi_model::{LinkKind, NetworkState, Timestamp, UrlRecord};
use geomi_store::CrawlDir;
use geomi_url::CrawlUrl;

use crate::journey::open_partitions;
use crate::partition::{ArchiveMark, Partition, Reading};
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

/// A frontier at work.
pub struct LoadRun {
    load: Load,
    frontier: Frontier,
    addresses: Addresses,
    partition: Partition,
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

impl LoadRun {
    /// Opens the frontier of a directory, and goes on with what is in it.
    pub fn open(
        config: &CrawlConfig,
        dir: &CrawlDir,
        load: Load,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CrawlError> {
        let mut partitions = open_partitions(config, dir, Partitions::new(1))?;
        let mut partition = partitions.pop().expect("there is one partition");
        partition.list_sites(&ArchiveMark::default())?;
        let mut limits = config.frontier;
        limits.ask_robots = false;
        limits.politeness.delay = Delay::Fixed(Duration::ZERO);
        let made = partition.counters.admitted;
        let mut run = Self {
            load,
            frontier: Frontier::new(FrontierId::default(), limits),
            addresses: Addresses::new(),
            visits: partition.counters.saved,
            partition,
            clock,
            dice: Dice(made | 1),
            made,
            commits: Vec::new(),
        };
        run.open_next()?;
        Ok(run)
    }

    /// URLs admitted so far, by this run and those before.
    pub const fn urls(&self) -> u64 {
        self.made
    }

    /// Pages visited so far.
    pub const fn visits(&self) -> u64 {
        self.visits
    }

    /// What the seen test takes of the memory.
    pub fn seen_bytes(&self) -> u64 {
        self.partition.seen_bytes()
    }

    /// How long each commit since the last call took.
    pub fn take_commits(&mut self) -> Vec<Duration> {
        std::mem::take(&mut self.commits)
    }

    /// Makes up the links of so many pages and throws them away: what that
    /// costs is not the frontier's.
    pub fn make_up(&mut self, pages: u32) -> usize {
        let (made, dice) = (self.made, self.dice.0);
        let mut bytes = 0;
        for _ in 0..pages * self.load.links {
            bytes += self.next_url().as_str().len();
        }
        (self.made, self.dice.0) = (made, dice);
        bytes
    }

    /// Goes on until so many URLs have been admitted.
    pub fn run_to(&mut self, urls: u64) -> Result<(), CrawlError> {
        if self.made == 0 {
            self.link_from(None)?;
            self.commit()?;
        }
        while self.made < urls {
            self.round()?;
            self.commit()?;
            self.take_turns()?;
        }
        Ok(())
    }

    fn round(&mut self) -> Result<(), CrawlError> {
        let mut visits = 0;
        while visits < self.load.visits_per_commit {
            let now = self.clock.now();
            match self.frontier.poll(now, &mut self.addresses) {
                Action::Lease(lease) => visits += u32::from(self.answer(lease, now)?),
                Action::Refill {
                    site,
                    lane,
                    from,
                    is_ragged,
                } => {
                    let len = self.frontier.refill_len();
                    let (entries, next) =
                        self.partition
                            .read_lane(site, lane, from, Reading { len, is_ragged })?;
                    self.frontier.refilled(site, lane, entries, next, now);
                }
                Action::Wait(_) => break,
            }
        }
        Ok(())
    }

    /// Whether it was a page.
    fn answer(&mut self, lease: Lease, now: Timestamp) -> Result<bool, CrawlError> {
        let Work::Page(entry, _) = lease.work().clone() else {
            let [a, b, c, ..] = lease.site().0.to_be_bytes();
            let resolved = Resolved::Address {
                addr: [10, a, b, c].into(),
                until: now + Duration::from_hours(24),
                is_public: false,
            };
            self.frontier.settle_resolve(lease, resolved, now);
            return Ok(false);
        };
        let record = UrlRecord {
            attempts: entry.attempts + 1,
            visits: 1,
            last_visit: now,
            state: NetworkState::Ok,
            code: Some(200),
            ..UrlRecord::default()
        };
        self.partition.set_record(&entry.url, &record);
        self.partition.counters.saved += 1;
        self.visits += 1;
        for _ in 0..self.load.links {
            self.link_from(Some(&entry))?;
        }
        let timing = Timing {
            ended: now,
            took: Duration::from_millis(20),
            rtt: Some(Duration::from_millis(10)),
            connect: None,
        };
        let done = Settlement::Done(timing, SiteSignal::Fine);
        self.frontier.settle(lease, done, &mut self.addresses, now);
        Ok(true)
    }

    /// Admits a URL nobody has seen.
    fn link_from(&mut self, on: Option<&Entry>) -> Result<(), CrawlError> {
        let url = self.next_url();
        if !self.partition.first_sight(url.site_hash(), url.hash64())? {
            return Ok(());
        }
        self.partition.counters.admitted += 1;
        let entry = Entry {
            via: on.map(|on| on.url.clone()),
            seed: 0,
            kind: LinkKind::Anchor,
            depth: on.map_or(0, |on| on.depth + 1),
            // Half of the priorities: what a site's links are spread over.
            priority: 2 + (url.hash64().0 % 4) as u8,
            attempts: 0,
            redirects: 0,
            is_seed: on.is_none(),
            is_revisit: false,
            not_before: None,
            url,
        };
        let site = entry.url.site_hash();
        let has_plenty = self.frontier.has_plenty(site, entry.priority);
        if has_plenty && self.partition.others_wait() {
            self.partition.park(&entry);
            return Ok(());
        }
        if !self.frontier.is_open(site) {
            if self.partition.others_wait() || !self.frontier.has_room() {
                self.partition.park(&entry);
                return Ok(());
            }
            let state = self.partition.site(site)?;
            self.open_site(state.unwrap_or_else(|| SiteState::new(entry.url.site())))?;
        }
        self.frontier.admit(entry, self.clock.now());
        Ok(())
    }

    fn open_site(&mut self, state: SiteState) -> Result<(), CrawlError> {
        let (site, now) = (state.key.hash64(), self.clock.now());
        self.frontier.open_site(state, now, now);
        for entry in self.partition.list_open(site)? {
            self.frontier.admit(entry, now);
        }
        Ok(())
    }

    fn take_turns(&mut self) -> Result<(), CrawlError> {
        let others_wait = self.partition.others_wait();
        for closed in self.frontier.close_sites(others_wait, self.clock.now()) {
            self.partition.site_closed(&closed);
        }
        self.open_next()
    }

    fn open_next(&mut self) -> Result<(), CrawlError> {
        while self.frontier.has_room()
            && let Some((row, site)) = self.partition.next_listed()?
        {
            match self.partition.site(site)? {
                Some(state) if state.pending() > 0 => {
                    self.partition.opened_listed(row, site);
                    self.open_site(state)?;
                }
                _ => self.partition.drop_listed(row),
            }
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), CrawlError> {
        let (frontier, now) = (&self.frontier, self.clock.now());
        let due = self.partition.spill_due(
            &|site| frontier.is_open(site),
            geomi_frontier::PageOrder::default(),
        )?;
        for entry in due {
            self.frontier.admit(entry, now);
        }
        for site in self.frontier.short_sites() {
            for entry in self.partition.take_parked(site)? {
                self.frontier.admit(entry, now);
            }
        }
        for append in self.frontier.take_appends() {
            self.partition.append(&append);
        }
        for save in self.frontier.take_saves() {
            self.partition.save(&save);
        }
        let begun = self.clock.now();
        self.partition.commit(&ArchiveMark::default())?;
        self.commits.push(self.clock.now().since(begun));
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
        config.frontier.sites_max = 50;
        config.frontier.turn_pages = 20;
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
            run.frontier.check_invariants();
            run.addresses.check_invariants();
            assert!(!run.take_commits().is_empty());
        }
    }
}
