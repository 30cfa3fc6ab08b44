//! How a crawl begins: everything is claimed, opened and put together.

use std::sync::Arc;
use std::time::Duration;

use geomi_cluster::embedded::{EmbeddedOwnership, OwnershipTable};
use geomi_cluster::{Claim, Ownership, PartitionId, Partitions, WorkerId};
use geomi_engine::{Engine, EngineError, Place, Shared};
use geomi_model::Timestamp;
use geomi_page::Readers;
use geomi_state::StateError;
use geomi_store::{CrawlDir, FjallOptions, FjallStore, SeenFolder};

use super::{Files, Run, Surroundings, Worker};
use crate::archive::Archive;
use crate::crew::Crew;
use crate::post::Post;
use crate::publish::Publisher;
use crate::quarantine::Quarantine;
use crate::refresh::TableFile;
use crate::report::Reporter;
use crate::seeds::{SeedFeed, SeedStream};
use crate::stage::fetch::{body_filter, fetcher};
use crate::stage::likeness;
use crate::stage::read::ReadSettings;
use crate::{CrawlConfig, CrawlError};

impl<'a> Worker<'a> {
    pub(super) fn open(
        config: &CrawlConfig,
        dir: &CrawlDir,
        surroundings: Surroundings<'a>,
        stream: Option<SeedStream>,
        readers: fn() -> Readers,
    ) -> Result<Self, CrawlError> {
        let Surroundings {
            clock,
            control,
            observer,
            steps,
        } = surroundings;
        let now = clock.now();
        let map = Partitions::new(config.partitions);
        let ownership = claim_all(config, map, now)?;
        let mut shared = Shared::default();
        let mut engines = Vec::new();
        for (id, place) in map.iter().zip(open_places(config, dir)?) {
            let engine = Engine::open(id, map, &config.engine, place, &mut shared, now);
            engines.push(engine.map_err(damaged)?);
        }
        let files = Files {
            dir: dir.clone(),
            archive: Archive::open(dir, config, &mut engines)?,
            ends: vec![None; engines.len()],
            quarantine: Quarantine::open(dir)?,
            publisher: Publisher::new(now + clock.passes_in(config.output.publish_every)),
            table: table_file(config, dir),
        };
        shared.nearby = likeness::remembered(dir, &engines)?;
        let crew = Crew::assemble(
            fetcher(config)?,
            Arc::clone(&clock),
            &ReadSettings::of(config),
            readers,
            config.connections,
            body_filter(&config.engine.scope)?,
        )?;
        let reporter = Reporter::open(dir, &control, now, &super::status::total(&engines))?;
        Ok(Self {
            config: config.clone(),
            clock,
            control,
            map,
            engines,
            shared,
            files,
            feed: SeedFeed::open(stream)?,
            crew,
            run: Run::default(),
            _ownership: ownership,
            post: Post::new(map),
            reporter,
            observer,
            steps,
        })
    }
}

fn table_file(config: &CrawlConfig, dir: &CrawlDir) -> Option<TableFile> {
    let file = config.engine.refresh.as_ref()?.drive.file()?;
    Some(TableFile::new(dir.root().join(file)))
}

/// On one machine the directory's lock decides who owns everything; the claim
/// is made all the same, through the interface a cluster uses.
fn claim_all(
    config: &CrawlConfig,
    map: Partitions,
    now: Timestamp,
) -> Result<EmbeddedOwnership, CrawlError> {
    let mut ownership =
        OwnershipTable::new(Duration::MAX / 4).handle(WorkerId::new(&config.worker));
    for partition in map.iter() {
        if let Claim::Held(holder) = ownership.claim(partition, now)? {
            return Err(CrawlError::NotOurs {
                partition: partition.to_string(),
                holder: holder.worker.to_string(),
            });
        }
    }
    Ok(ownership)
}

/// Where the state of every partition of a crawl directory is.
pub(crate) fn open_places(config: &CrawlConfig, dir: &CrawlDir) -> Result<Vec<Place>, CrawlError> {
    let map = Partitions::new(config.partitions);
    map.iter().map(|id| open_place(config, dir, id)).collect()
}

/// Where the state of a partition is.
pub(crate) fn open_place(
    config: &CrawlConfig,
    dir: &CrawlDir,
    id: PartitionId,
) -> Result<Place, CrawlError> {
    let path = dir.frontier().join(format!("p{:04}", id.0));
    let seen = dir.frontier().join(format!("p{:04}.seen", id.0));
    let options = FjallOptions::default().shared_by(config.partitions);
    let store = FjallStore::open(&path, options).map_err(|error| damaged(error.into()))?;
    Ok(Place {
        store: Box::new(store),
        bases: Arc::new(SeenFolder::open(&seen).map_err(EngineError::from)?),
        seen_bytes: config.seen_bytes / usize::from(config.partitions),
    })
}

/// Why the state cannot be opened: damage is said to be that of frontier/, and how to go
/// on without it.
fn damaged(error: EngineError) -> CrawlError {
    use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    let what = match error {
        EngineError::State(StateError::Damaged { path, reason }) => {
            format!("{} ({reason})", path.display())
        }
        EngineError::State(StateError::Store(reason)) => reason,
        EngineError::State(StateError::Io { path, source, .. })
            if matches!(source.kind(), InvalidData | NotFound | UnexpectedEof) =>
        {
            format!("{} ({source})", path.display())
        }
        other => return other.into(),
    };
    EngineError::Damaged { what }.into()
}
