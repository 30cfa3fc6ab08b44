//! How the crawl of a partition begins, in a new partition or one of an earlier run.

use std::sync::Arc;

use geomi_cluster::{PartitionId, Partitions};
use geomi_frontier::{Frontier, FrontierId};
use geomi_model::Timestamp;
use geomi_novelty::Missing;
use geomi_state::StateStore;
use geomi_state::seen::BaseStore;
use hashbrown::{HashMap, HashSet};

use super::{
    Around, Engine, Learned, Notices, Outgoing, Queues, Rounds, Rules, Seeds, Shared, SiteFacts,
    Upkeep,
};
use crate::books::RobotsBook;
use crate::cookies::Cookies;
use crate::credentials::Keyring;
use crate::errands::Errands;
use crate::failing::FailingSites;
use crate::novelty::NoveltyBook;
use crate::partition::{ArchiveMark, Partition};
use crate::policies::SitePolicies;
use crate::promotion;
use crate::refresh::Discovery;
use crate::script_links::ScriptLinks;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::warnings::WarnLimit;
use crate::{EngineConfig, EngineError, RobotsMode};

/// The record that says how the state is laid out.
const LAYOUT_META: &str = "layout";
/// The layout of this version. Version 0.1 had none.
const LAYOUT: u16 = 2;
/// The record of the number of partitions.
const PARTITIONS_META: &str = "partitions";

/// Where the state of a partition is.
pub struct Place {
    /// Its key-value state.
    pub store: Box<dyn StateStore>,
    /// The bases of its seen test.
    pub bases: Arc<dyn BaseStore>,
    /// Memory for the seen test.
    pub seen_bytes: usize,
}

impl Engine {
    /// Opens the crawl of a partition over its state. State of another layout or with
    /// another number of partitions is refused.
    pub fn open(
        id: PartitionId,
        map: Partitions,
        config: &EngineConfig,
        place: Place,
        shared: &mut Shared,
        now: Timestamp,
    ) -> Result<Self, EngineError> {
        let mut store = Partition::open(place.store, place.bases, place.seen_bytes)?;
        check_layout(&mut store, map)?;
        let is_unclean = store.meta::<bool>("clean")?.is_some_and(|clean| !clean);
        store.set_meta("clean", &false);
        crate::mirrors::restore(&store, &mut shared.mirrors)?;
        let mark: ArchiveMark = store.meta("archive")?.unwrap_or_default();
        let book = SeedBook::load(&store)?;
        let known = 0..book.len();
        let frontier = frontier_config(config, map, now);
        let mut engine = Self {
            rules: Rules {
                admit: Admit::new(config)?,
                policies: SitePolicies::new(config)?,
                config: config.clone(),
                started: now,
            },
            queues: Queues {
                frontier: Frontier::new(FrontierId(id.0), frontier),
                parked: 0,
                in_flight: 0,
                under_way: HashSet::new(),
                has_promoted: store.meta(promotion::META)?.unwrap_or_default(),
                unclean_since: is_unclean.then_some(now),
                sent: HashMap::new(),
            },
            sites: SiteFacts {
                robots: RobotsBook::default(),
                unaddressed: HashMap::new(),
                cookies: Cookies::default(),
                keyring: Keyring::new(config)?,
                failing: FailingSites::default(),
                errands: Errands::load(&store)?,
            },
            learned: Learned {
                novelty: NoveltyBook::new(config, now),
                script_links: ScriptLinks::default(),
                missing: Missing::default(),
            },
            seeds: Seeds { book, known },
            upkeep: Upkeep {
                plan: None,
                share: 1.0 / f64::from(map.count()),
                discovery: Discovery::load(&store)?,
                signals: HashMap::new(),
                early_visits: HashMap::new(),
                is_over: false,
            },
            rounds: Rounds {
                round: store.meta("round")?.unwrap_or_default(),
                rereading: None,
            },
            outgoing: Outgoing {
                last_visit: mark.visits,
                ..Outgoing::default()
            },
            notices: Notices {
                addresses: WarnLimit::new("refused addresses"),
                seeds: WarnLimit::new("refused seeds"),
            },
            is_running: true,
            id,
            map,
            store,
        };
        engine.open_sites(now)?;
        Ok(engine)
    }

    /// Resumes a round of all known pages, or the refresh plan. All visits of earlier
    /// runs must be in files by now.
    pub fn begin(&mut self, round: u32, around: &mut Around<'_>) -> Result<(), EngineError> {
        self.take_up_errands(around)?;
        self.take_up_round(round, around)?;
        self.take_up_refresh(around)?;
        self.compare_scope(around)
    }
}

/// The configuration of the frontier of one partition: memory is divided evenly.
pub(crate) fn frontier_config(
    config: &EngineConfig,
    map: Partitions,
    now: Timestamp,
) -> geomi_frontier::Config {
    let share = |all: usize| (all / usize::from(map.count())).max(1);
    geomi_frontier::Config {
        ask_robots: config.robots == RobotsMode::Respect,
        wait_max: config.wait_max(config.frontier.wait_max),
        retires_hopeless: !config.is_endless(),
        page_order: config.page_order(),
        memory_len_max: share(config.frontier.memory_len_max),
        sites_max: share(config.frontier.sites_max),
        run: Some(now),
        ..config.frontier
    }
}

/// Refuses state of another layout or with another number of partitions.
fn check_layout(store: &mut Partition, map: Partitions) -> Result<(), EngineError> {
    let wanted = map.count();
    match store.meta::<u16>(PARTITIONS_META)? {
        None => {
            store.set_meta(PARTITIONS_META, &wanted);
            store.set_meta(LAYOUT_META, &LAYOUT);
        }
        Some(_) if store.meta::<u16>(LAYOUT_META)? != Some(LAYOUT) => {
            return Err(EngineError::Layout);
        }
        Some(found) if found != wanted => return Err(EngineError::Partitions { found, wanted }),
        Some(_) => {}
    }
    Ok(())
}
