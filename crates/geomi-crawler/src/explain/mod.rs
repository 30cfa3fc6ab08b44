//! Explain: what is known of a crawl, a site or a URL, what happens to it next,
//! and which rule or limit holds it back.
//!
//! The same answers come from a running crawl, which gives them between two
//! rounds ([`Order::Explain`](crate::Order::Explain)), and from a directory at
//! rest ([`inspect`]): both look through [`Knowledge`], which borrows the parts
//! a crawl is made of and changes none of them. An [`Explanation`] is plain data
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
pub use rest::{inspect, site_signals};
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
use crate::{CrawlConfig, CrawlError};
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

/// Everything an explanation is made of.
pub(crate) struct Knowledge<'a> {
    pub(crate) config: &'a CrawlConfig,
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
    /// Room on its disk.
    pub(crate) free_bytes: u64,
    pub(crate) now: Timestamp,
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
    pub(crate) fn explain(&self, topic: &Topic) -> Result<Explanation, CrawlError> {
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
