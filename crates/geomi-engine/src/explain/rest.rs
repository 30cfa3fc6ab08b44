//! A crawl at rest, opened read-only.

use geomi_cluster::PartitionId;
use geomi_frontier::{Frontier, FrontierId};
use geomi_model::Timestamp;
use geomi_refresh::upkeep::SiteSignals;
use geomi_url::CrawlUrl;

use super::{CrawlFacts, EngineView, Explanation, Knowledge, Topic};
use crate::engine::{Place, frontier_config};
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::{EngineConfig, EngineError};

/// Explains a topic of a crawl at rest. `places` has the state of each partition.
pub fn explain_at_rest(
    facts: CrawlFacts<'_>,
    places: Vec<Place>,
    topic: &Topic,
) -> Result<Explanation, EngineError> {
    let limits = geomi_frontier::Config {
        run: None,
        ..frontier_config(facts.config, facts.map, facts.now)
    };
    let mut parts = Vec::new();
    for (id, place) in facts.map.iter().zip(places) {
        let store = Partition::open(place.store, place.bases, place.seen_bytes)?;
        parts.push(Resting::open(id, facts.config, limits, store, facts.now)?);
    }
    let views: Vec<EngineView<'_>> = parts.iter().map(Resting::view).collect();
    let waiting = parts.iter().map(|part| part.waiting).sum();
    Knowledge::new(facts, &views, waiting).explain(topic)
}

/// What is known of the change signals of a URL's site, from the state of its partition.
pub fn site_signals_at_rest(place: Place, url: &CrawlUrl) -> Result<SiteSignals, EngineError> {
    let store = Partition::open(place.store, place.bases, place.seen_bytes)?;
    Ok(store.signals(url.site_hash())?.unwrap_or_default())
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
        config: &EngineConfig,
        limits: geomi_frontier::Config,
        store: Partition,
        now: Timestamp,
    ) -> Result<Self, EngineError> {
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
