//! Explain: what is known of a crawl, a site or a URL, what happens to it next,
//! and which rule or limit holds it back.
//!
//! The same answers come from a running crawl, which gives them between two
//! rounds ([`explain`]), and from state at rest ([`explain_at_rest`]): both look through
//! the same parts and change none of them. An [`Explanation`] is plain data
//! with a code for machines and a sentence for people wherever something is
//! decided.

mod crawl;
mod hold;
mod likeness;
mod list;
mod reason;
mod rest;
mod rhythm;
mod site;
mod url;
mod word;

use geomi_cluster::Partitions;
use geomi_frontier::{Frontier, Importance, SiteView};
use geomi_model::Timestamp;
use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use crawl::{Cause, CrawlView, Disk, SiteGroup, causes_at_rest};
pub use likeness::PageLikeness;
pub use list::{
    QUEUED_SAMPLE_MAX, QueuedSample, SITES_PER_PAGE_MAX, SiteLine, SiteOrder, SitesPage, SitesQuery,
};
pub use reason::{Advice, Held, Reason, RobotsStanding};
pub use rest::{explain_at_rest, site_signals_at_rest};
pub use rhythm::SiteRhythm;
pub use site::{MirrorView, SiteReport};
pub use url::{NextKind, NextStep, QueuePlace, ScoreReport, UrlReport};
pub use word::{SignalsWord, SiteWord};

use crate::books::Unaddressed;
use crate::engine::{Engine, partition_of};
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::status::Status;
use crate::{EngineConfig, EngineError};
use geomi_refresh::upkeep::RefreshPlan;

/// What is to be explained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topic {
    /// The crawl as a whole: what it is doing, or why nothing moves.
    Crawl,
    /// A site, by any URL on it.
    Site(CrawlUrl),
    /// A URL.
    Url(CrawlUrl),
}

/// The answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Explanation {
    /// When it was given.
    pub time: String,
    /// The crawl as a whole.
    pub crawl: CrawlView,
    /// The site, if one was asked about, or that of the URL.
    pub site: Option<SiteReport>,
    /// The URL, if one was asked about.
    pub url: Option<UrlReport>,
}

/// What is known of a crawl as a whole.
#[derive(Clone, Copy)]
pub struct CrawlFacts<'a> {
    /// What it is crawled by.
    pub config: &'a EngineConfig,
    /// Its partitions.
    pub map: Partitions,
    /// What links say of URLs; a directory at rest does not know.
    pub importance: Option<&'a Importance>,
    /// The last report of the crawl.
    pub status: &'a Status,
    /// Whether a process is at work on it.
    pub is_running: bool,
    /// Whether seeds are still to come.
    pub awaits_seeds: bool,
    /// Room on its disk.
    pub disk: Disk,
    /// Now.
    pub now: Timestamp,
}

/// Explains a topic of a crawl at work.
pub fn explain(
    facts: CrawlFacts<'_>,
    engines: &[Engine],
    topic: &Topic,
) -> Result<Explanation, EngineError> {
    look(facts, engines, |knowledge| knowledge.explain(topic))
}

/// Lists sites of a crawl at work.
pub fn sites(facts: CrawlFacts<'_>, engines: &[Engine], query: &SitesQuery) -> SitesPage {
    look(facts, engines, |knowledge| knowledge.sites(query))
}

/// Some of the URLs that wait in a crawl at work.
pub fn queued(
    facts: CrawlFacts<'_>,
    engines: &[Engine],
    limit: usize,
) -> Result<QueuedSample, EngineError> {
    look(facts, engines, |knowledge| knowledge.queued(limit))
}

fn look<T>(
    facts: CrawlFacts<'_>,
    engines: &[Engine],
    question: impl FnOnce(&Knowledge<'_>) -> T,
) -> T {
    let views: Vec<EngineView<'_>> = engines.iter().map(EngineView::of).collect();
    let waiting = engines.iter().map(Engine::waiting).sum();
    question(&Knowledge::new(facts, &views, waiting))
}

/// Everything an explanation is made of.
pub(crate) struct Knowledge<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) map: Partitions,
    /// What is known of each partition, by its number.
    pub(crate) engines: &'a [EngineView<'a>],
    /// What links say of URLs; a directory at rest does not know.
    pub(crate) importance: Option<&'a Importance>,
    /// The last report of the crawl.
    pub(crate) status: &'a Status,
    /// Whether a process is at work on it.
    pub(crate) is_running: bool,
    /// Whether seeds are still to come.
    pub(crate) awaits_seeds: bool,
    /// URLs waiting, those of sites not in memory included.
    pub(crate) waiting: u64,
    pub(crate) disk: Disk,
    pub(crate) now: Timestamp,
}

impl<'a> Knowledge<'a> {
    fn new(facts: CrawlFacts<'a>, engines: &'a [EngineView<'a>], waiting: u64) -> Self {
        Self {
            config: facts.config,
            map: facts.map,
            engines,
            importance: facts.importance,
            status: facts.status,
            is_running: facts.is_running,
            awaits_seeds: facts.awaits_seeds,
            waiting,
            disk: facts.disk,
            now: facts.now,
        }
    }
}

/// What is known of a partition.
pub(crate) struct EngineView<'a> {
    pub(crate) frontier: &'a Frontier,
    pub(crate) store: &'a Partition,
    pub(crate) admit: &'a Admit,
    pub(crate) novelty: &'a NoveltyBook,
    pub(crate) policies: &'a SitePolicies,
    pub(crate) seeds: &'a SeedBook,
    /// Sites without a usable address; a directory at rest does not know them.
    pub(crate) unaddressed: Option<&'a HashMap<SiteHash, Unaddressed>>,
    /// The plan of a crawl that is being kept fresh.
    pub(crate) plan: Option<&'a RefreshPlan>,
}

impl<'a> EngineView<'a> {
    /// That of an engine at work.
    pub(crate) fn of(engine: &'a Engine) -> Self {
        Self {
            frontier: &engine.queues.frontier,
            store: &engine.store,
            admit: &engine.rules.admit,
            novelty: &engine.learned.novelty,
            policies: &engine.rules.policies,
            seeds: &engine.seeds.book,
            unaddressed: Some(&engine.sites.unaddressed),
            plan: engine.upkeep.plan.as_ref(),
        }
    }
}

/// The partition of a site or URL, and everything around it.
pub(crate) struct Place<'a> {
    pub(crate) all: &'a Knowledge<'a>,
    pub(crate) engine: &'a EngineView<'a>,
}

impl Knowledge<'_> {
    /// Explains a topic.
    pub(crate) fn explain(&self, topic: &Topic) -> Result<Explanation, EngineError> {
        let (site, url) = match topic {
            Topic::Crawl => (None, None),
            Topic::Site(url) => (Some(self.at(url).site(url)?), None),
            Topic::Url(url) => {
                let place = self.at(url);
                let site = place.site(url)?;
                let report = place.url(url, &site)?;
                (Some(site), Some(report))
            }
        };
        Ok(Explanation {
            time: self.now.to_rfc3339_millis(),
            crawl: self.crawl(),
            site,
            url,
        })
    }

    /// The place of a URL.
    fn at(&self, url: &CrawlUrl) -> Place<'_> {
        let id = partition_of(self.map, url);
        Place {
            all: self,
            engine: &self.engines[usize::from(id.0)],
        }
    }

    /// The sites in memory, each with its place.
    fn views(&self) -> impl Iterator<Item = (Place<'_>, SiteView)> {
        self.engines.iter().flat_map(move |engine| {
            let views = engine.frontier.views(self.now);
            views.map(move |view| (Place { all: self, engine }, view))
        })
    }

    /// Requests under way.
    fn leased(&self) -> u64 {
        let counts = self.engines.iter().map(|it| it.frontier.counts());
        counts.map(|counts| counts.leased).sum()
    }
}
