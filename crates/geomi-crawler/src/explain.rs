//! Explanations of a crawl directory at rest.

use geomi_cluster::Partitions;
use geomi_engine::explain::{
    CrawlFacts, Disk, Explanation, Topic, explain_at_rest, site_signals_at_rest,
};
use geomi_engine::{Status, partition_of};
use geomi_model::Timestamp;
use geomi_refresh::upkeep::SiteSignals;
use geomi_store::{CrawlDir, StoreError};
use geomi_url::CrawlUrl;

use crate::worker::{open_place, open_places};
use crate::{CrawlConfig, CrawlError};

/// Explains a topic of a crawl that no process is at work on. The caller holds the
/// directory's lock.
pub fn inspect(
    config: &CrawlConfig,
    dir: &CrawlDir,
    topic: &Topic,
    now: Timestamp,
) -> Result<Explanation, CrawlError> {
    let status = last_status(dir)?;
    let facts = CrawlFacts {
        config: &config.engine,
        map: Partitions::new(config.partitions),
        importance: None,
        status: &status,
        is_running: false,
        awaits_seeds: false,
        disk: Disk {
            free: dir.free_bytes()?,
            min: config.limits.disk_free_min,
        },
        now,
    };
    Ok(explain_at_rest(facts, open_places(config, dir)?, topic)?)
}

/// What is known of the change signals of a URL's site, from a directory at rest. The
/// caller holds its lock.
pub fn site_signals(
    config: &CrawlConfig,
    dir: &CrawlDir,
    url: &CrawlUrl,
) -> Result<SiteSignals, CrawlError> {
    let id = partition_of(Partitions::new(config.partitions), url);
    let place = open_place(config, dir, id)?;
    Ok(site_signals_at_rest(place, url)?)
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
