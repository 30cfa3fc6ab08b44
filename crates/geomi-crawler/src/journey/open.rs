//! How a crawl begins: everything is claimed, opened and put together.

use std::sync::Arc;
use std::time::Duration;

use geomi_cluster::embedded::{EmbeddedOwnership, OwnershipTable};
use geomi_cluster::{Claim, Ownership, Partitions, WorkerId};
use geomi_frontier::{Frontier, Importance};
use geomi_model::Timestamp;
use geomi_novelty::Missing;
use geomi_page::Readers;
use geomi_state::StateError;
use geomi_store::{CrawlDir, FjallOptions, FjallStore, SeenFolder};
use hashbrown::{HashMap, HashSet};

use super::{Journey, Surroundings, total};
use crate::archive::Archive;
use crate::books::RobotsBook;
use crate::contents::FreshContents;
use crate::cookies::Cookies;
use crate::credentials::Keyring;
use crate::crew::Crew;
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::post::Post;
use crate::publish::Publisher;
use crate::quarantine::Quarantine;
use crate::refresh::Discovery;
use crate::report::Reporter;
use crate::script_links::ScriptLinks;
use crate::seeds::{SeedBook, SeedFeed, SeedStream};
use crate::stage::admit::Admit;
use crate::stage::fetch::fetcher;
use crate::stage::likeness;
use crate::stage::read::ReadSettings;
use crate::warnings::WarnLimit;
use crate::{CrawlConfig, CrawlError, RobotsMode, promotion};

/// URLs whose importance is remembered: 2 MiB.
const IMPORTANCE_PLACES: usize = 256 << 10;

impl<'a> Journey<'a> {
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
        let admit = Admit::new(config)?;
        let policies = SitePolicies::new(config)?;
        let now = clock.now();
        let map = Partitions::new(config.partitions);
        let ownership = claim_all(config, map, now)?;
        let mut partitions = open_partitions(config, dir, map)?;
        let archive = Archive::open(dir, config, config.output.gzip(), &mut partitions)?;
        let unclean = partitions[0]
            .meta::<bool>("clean")?
            .is_some_and(|clean| !clean);
        partitions[0].set_meta("clean", &false);
        let seeds = SeedBook::load(&partitions[0])?;
        let crew = Crew::assemble(
            fetcher(config)?,
            Arc::clone(&clock),
            &ReadSettings::of(config),
            readers,
            config.connections,
        )?;
        let frontier_config = geomi_frontier::Config {
            ask_robots: config.robots == RobotsMode::Respect,
            wait_max: config.wait_max(config.frontier.wait_max),
            retires_hopeless: !config.is_endless(),
            page_order: config.page_order(),
            run: Some(now),
            ..config.frontier
        };
        let count = partitions.len();
        let round = partitions[0].meta("round")?.unwrap_or_default();
        let counters = total(&partitions);
        let mut journey = Self {
            frontier: Frontier::new(frontier_config),
            _ownership: ownership,
            post: Post::new(map),
            reporter: Reporter::open(dir, &control, now, &counters)?,
            publisher: Publisher::new(now + clock.passes_in(config.output.publish_every)),
            visits: vec![Vec::new(); count],
            ends: vec![None; count],
            robots: RobotsBook::default(),
            cookies: Cookies::default(),
            keyring: Keyring::new(config)?,
            unaddressed: HashMap::new(),
            novelty: NoveltyBook::new(config, now),
            script_links: ScriptLinks::default(),
            quarantine: Quarantine::open(dir)?,
            nearby: likeness::remembered(dir, &partitions)?,
            mirrors: crate::mirrors::load(&partitions)?,
            contents: FreshContents::new(),
            missing: Missing::default(),
            failing: crate::failing::FailingSites::default(),
            in_flight: 0,
            under_way: HashSet::new(),
            importance: Importance::new(IMPORTANCE_PLACES),
            has_promoted: partitions[0].meta(promotion::META)?.unwrap_or_default(),
            parked: 0,
            round,
            rereading: None,
            refresh: None,
            discovery: Discovery::load(&partitions[0])?,
            table: None,
            refresh_is_over: false,
            signs: HashMap::new(),
            called: HashMap::new(),
            left: None,
            warn_addresses: WarnLimit::new("refused addresses"),
            warn_seeds: WarnLimit::new("refused seeds"),
            limit: None,
            sent: HashSet::new(),
            unclean_since: unclean.then_some(now),
            config: config.clone(),
            clock,
            control,
            map,
            partitions,
            archive,
            feed: SeedFeed::open(seeds.len(), stream)?,
            seeds,
            admit,
            policies,
            crew,
            observer,
            steps,
        };
        journey.open_sites(now)?;
        Ok(journey)
    }
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
    let wanted = map.count();
    match partitions[0].meta::<u16>("partitions")? {
        None => partitions[0].set_meta("partitions", &wanted),
        Some(found) if found != wanted => return Err(CrawlError::Partitions { found, wanted }),
        Some(_) => {}
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
