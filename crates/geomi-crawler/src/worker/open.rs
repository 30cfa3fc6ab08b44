//! How a crawl begins: everything is claimed, opened and put together.

use std::sync::Arc;
use std::time::Duration;

use geomi_cluster::embedded::{EmbeddedOwnership, OwnershipTable};
use geomi_cluster::{Claim, Ownership, Partitions, WorkerId};
use geomi_frontier::{Addresses, Importance};
use geomi_model::Timestamp;
use geomi_novelty::{Mirrors, Nearby};
use geomi_page::Readers;
use geomi_state::StateError;
use geomi_store::{CrawlDir, FjallOptions, FjallStore, SeenFolder};
use hashbrown::HashMap;

use super::{Files, Run, Surroundings, Worker, WorkerWorld};
use crate::archive::Archive;
use crate::crew::Crew;
use crate::engine::{Around, Engine, Shared};
use crate::partition::Partition;
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

/// URLs whose importance is remembered: 2 MiB.
const IMPORTANCE_PLACES: usize = 256 << 10;

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
        let mut stores = open_partitions(config, dir, map)?;
        let archive = Archive::open(dir, config, &mut stores)?;
        let mut files = Files {
            dir: dir.clone(),
            archive,
            ends: vec![None; stores.len()],
            quarantine: Quarantine::open(dir)?,
            publisher: Publisher::new(now + clock.passes_in(config.output.publish_every)),
            table: table_file(config, dir),
        };
        let mut shared = new_shared();
        let engines = open_engines(config, map, stores, &mut files, &mut shared, now)?;
        shared.nearby = likeness::remembered(dir, &engines)?;
        let crew = Crew::assemble(
            fetcher(config)?,
            Arc::clone(&clock),
            &ReadSettings::of(config),
            readers,
            config.connections,
            body_filter(&config.scope)?,
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

/// What engines share, before any of them has learned anything.
pub(crate) fn new_shared() -> Shared {
    Shared {
        addresses: Addresses::default(),
        importance: Importance::new(IMPORTANCE_PLACES),
        nearby: Nearby::default(),
        mirrors: Mirrors::default(),
        contents: HashMap::new(),
    }
}

fn table_file(config: &CrawlConfig, dir: &CrawlDir) -> Option<TableFile> {
    let file = config.refresh.as_ref()?.drive.file()?;
    Some(TableFile::new(dir.root().join(file)))
}

fn open_engines(
    config: &CrawlConfig,
    map: Partitions,
    stores: Vec<Partition>,
    files: &mut Files,
    shared: &mut Shared,
    now: Timestamp,
) -> Result<Vec<Engine>, CrawlError> {
    // Seeds are given to the engines one by one: none needs the list.
    let rules = CrawlConfig {
        seeds: Vec::new(),
        ..config.clone()
    };
    let count = stores.len();
    let mut engines = Vec::with_capacity(count);
    for (id, store) in map.iter().zip(stores) {
        let mut around = Around {
            now,
            shared: &mut *shared,
            world: &mut WorkerWorld::new(files, usize::from(id.0), count),
        };
        engines.push(Engine::open(id, map, &rules, store, &mut around)?);
    }
    Ok(engines)
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

/// Opens the state of every partition of a crawl directory.
pub(crate) fn open_partitions(
    config: &CrawlConfig,
    dir: &CrawlDir,
    map: Partitions,
) -> Result<Vec<Partition>, CrawlError> {
    let mut partitions = Vec::new();
    let seen_bytes = config.seen_bytes / usize::from(map.count());
    let options = FjallOptions::default().shared_by(map.count());
    for id in map.iter() {
        let path = dir.frontier().join(format!("p{:04}", id.0));
        let seen = dir.frontier().join(format!("p{:04}.seen", id.0));
        let store = FjallStore::open(&path, options).map_err(damaged)?;
        let seen = Arc::new(SeenFolder::open(&seen)?);
        partitions.push(Partition::open(Box::new(store), seen, seen_bytes)?);
    }
    Ok(partitions)
}

/// Why the state cannot be opened: damage is said to be that of frontier/, and how to go
/// on without it.
fn damaged(error: StateError) -> CrawlError {
    use std::io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    let what = match error {
        StateError::Damaged { path, reason } => format!("{} ({reason})", path.display()),
        StateError::Store(reason) => reason,
        StateError::Io { path, source, .. }
            if matches!(source.kind(), InvalidData | NotFound | UnexpectedEof) =>
        {
            format!("{} ({source})", path.display())
        }
        other => return other.into(),
    };
    CrawlError::Damaged { what }
}
