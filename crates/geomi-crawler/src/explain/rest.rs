//! A crawl at rest, opened to be looked at and not changed.

use geomi_cluster::{PartitionId, Partitions};
use geomi_frontier::{Frontier, FrontierId};
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError};
use geomi_url::CrawlUrl;

use super::{EngineView, Explanation, Knowledge, Topic};
use crate::engine::{frontier_config, partition_of};
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::status::Status;
use crate::worker::open_partitions;
use crate::{CrawlConfig, CrawlError};
use geomi_refresh::upkeep::SiteSignals;

/// Explains a topic of a crawl nobody is at work on. The caller holds the
/// directory's lock.
pub fn inspect(
    config: &CrawlConfig,
    dir: &CrawlDir,
    topic: &Topic,
    now: Timestamp,
) -> Result<Explanation, CrawlError> {
    let map = Partitions::new(config.partitions);
    let partitions = open_partitions(config, dir, map)?;
    let limits = frontier_config(config, map, now);
    let limits = geomi_frontier::Config {
        run: None,
        ..limits
    };
    let mut parts = Vec::new();
    for (id, store) in map.iter().zip(partitions) {
        parts.push(Resting::open(id, config, limits, store, now)?);
    }
    let status = last_status(dir)?;
    let views: Vec<EngineView<'_>> = parts.iter().map(Resting::view).collect();
    let knowledge = Knowledge {
        config,
        map,
        engines: &views,
        importance: None,
        status: &status,
        is_running: false,
        awaits_seeds: false,
        waiting: parts.iter().map(|part| part.waiting).sum(),
        free_bytes: dir.free_bytes()?,
        now,
    };
    knowledge.explain(topic)
}

/// A partition at rest.
struct Resting {
    frontier: Frontier,
    store: Partition,
    admit: Admit,
    novelty: NoveltyBook,
    policies: SitePolicies,
    seeds: SeedBook,
    waiting: u64,
}

impl Resting {
    fn open(
        id: PartitionId,
        config: &CrawlConfig,
        limits: geomi_frontier::Config,
        store: Partition,
        now: Timestamp,
    ) -> Result<Self, CrawlError> {
        let policies = SitePolicies::new(config)?;
        let mut frontier = Frontier::new(FrontierId(id.0), limits);
        let mut opened = 0;
        for state in store.pending_sites(limits.sites_max)? {
            opened += 1;
            let rules = policies.own(&state.key).map(|policy| policy.rules(0));
            let rested = state.next_request;
            frontier.open_site_with(state, rules, rested, now);
        }
        let queued: Option<u64> = store.meta("queued")?;
        let waiting = frontier.counts().waiting;
        let has_more = opened >= limits.sites_max || store.has_parked();
        Ok(Self {
            admit: Admit::new(config)?,
            novelty: NoveltyBook::new(config, now),
            seeds: SeedBook::load(&store)?,
            waiting: queued
                .filter(|_| has_more)
                .map_or(waiting, |queued| queued.max(waiting)),
            frontier,
            policies,
            store,
        })
    }

    fn view(&self) -> EngineView<'_> {
        EngineView {
            frontier: &self.frontier,
            store: &self.store,
            admit: &self.admit,
            novelty: &self.novelty,
            policies: &self.policies,
            seeds: &self.seeds,
            unaddressed: None,
            plan: None,
        }
    }
}

/// What was learned of the change signals of a URL's site, read from a directory at
/// rest. The caller holds its lock.
pub fn site_signals(
    config: &CrawlConfig,
    dir: &CrawlDir,
    url: &CrawlUrl,
) -> Result<SiteSignals, CrawlError> {
    let map = Partitions::new(config.partitions);
    let partitions = open_partitions(config, dir, map)?;
    let partition = &partitions[usize::from(partition_of(map, url).0)];
    Ok(partition.signals(url.site_hash())?.unwrap_or_default())
}

/// The status as last written; that of a crawl not begun if there is none.
fn last_status(dir: &CrawlDir) -> Result<Status, CrawlError> {
    let path = dir.status();
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Status::default()),
        Err(error) => return Err(StoreError::from_io("read", &path, error).into()),
    };
    serde_json::from_slice(&text).map_err(|error| {
        let reason = format!("{error}; the next run of the crawl writes it anew");
        StoreError::damaged(&path, reason).into()
    })
}
