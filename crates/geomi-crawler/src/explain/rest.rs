//! A crawl at rest, opened to be looked at and not changed.

use geomi_cluster::Partitions;
use geomi_frontier::{Frontier, FrontierId};
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError};

use super::{Explanation, Knowledge, Topic};
use crate::journey::open_partitions;
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::status::Status;
use crate::{CrawlConfig, CrawlError};

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
    let seeds = SeedBook::load(&partitions[0])?;
    let policies = SitePolicies::new(config)?;
    let mut frontier = Frontier::new(FrontierId::default(), config.frontier);
    let mut opened = 0;
    for partition in &partitions {
        let room = config.frontier.sites_max.saturating_sub(opened);
        for state in partition.pending_sites(room)? {
            opened += 1;
            let rules = policies.own(&state.key).map(|policy| policy.rules(0));
            let rested = state.next_request;
            frontier.open_site_with(state, rules, rested, now);
        }
    }
    let status = last_status(dir)?;
    let queued: Option<u64> = partitions[0].meta("queued")?;
    let waiting = frontier.counts().waiting;
    let waiting = match queued {
        // More than is in memory here.
        Some(queued)
            if opened >= config.frontier.sites_max
                || partitions.iter().any(Partition::has_parked) =>
        {
            queued.max(waiting)
        }
        _ => waiting,
    };
    let knowledge = Knowledge {
        config,
        frontier: &frontier,
        partitions: &partitions,
        map,
        admit: &Admit::new(config)?,
        novelty: &NoveltyBook::new(config, now),
        policies: &SitePolicies::new(config)?,
        seeds: &seeds,
        importance: None,
        unaddressed: None,
        refresh: None,
        status: &status,
        is_running: false,
        awaits_seeds: false,
        waiting,
        free_bytes: dir.free_bytes()?,
        now,
    };
    knowledge.explain(topic)
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
