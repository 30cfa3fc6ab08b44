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
use geomi_frontier::{Frontier, Importance};
use geomi_model::Timestamp;
use geomi_refresh::upkeep::RefreshPlan;
use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use crawl::{Cause, CrawlView, Disk, SiteGroup, causes_at_rest};
pub use likeness::PageLikeness;
pub use list::{
    QUEUED_SAMPLE_MAX, QueuedSample, SITES_PER_PAGE_MAX, SiteLine, SiteOrder, SitesPage, SitesQuery,
};
pub use reason::{Advice, Held, Reason, RobotsStanding};
pub use rest::inspect;
pub use rhythm::SiteRhythm;
pub use site::{MirrorView, SiteReport};
pub use url::{NextKind, NextStep, QueuePlace, ScoreReport, UrlReport};
pub use word::{SignalsWord, SiteWord};

use crate::books::Unaddressed;
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::seeds::SeedBook;
use crate::stage::admit::Admit;
use crate::status::Status;
use crate::{CrawlConfig, CrawlError};

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
    pub(crate) frontier: &'a Frontier,
    pub(crate) partitions: &'a [Partition],
    pub(crate) map: Partitions,
    pub(crate) admit: &'a Admit,
    pub(crate) novelty: &'a NoveltyBook,
    pub(crate) policies: &'a SitePolicies,
    pub(crate) seeds: &'a SeedBook,
    /// What links say of URLs; a directory at rest does not know.
    pub(crate) importance: Option<&'a Importance>,
    /// Sites without a usable address; a directory at rest does not know them.
    pub(crate) unaddressed: Option<&'a HashMap<SiteHash, Unaddressed>>,
    /// The plan of a crawl that is being kept fresh.
    pub(crate) refresh: Option<&'a RefreshPlan>,
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

impl Knowledge<'_> {
    /// Explains a topic.
    pub(crate) fn explain(&self, topic: &Topic) -> Result<Explanation, CrawlError> {
        let (site, url) = match topic {
            Topic::Crawl => (None, None),
            Topic::Site(url) => (Some(self.site(url)?), None),
            Topic::Url(url) => {
                let site = self.site(url)?;
                let report = self.url(url, &site)?;
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

    fn partition(&self, site: SiteHash) -> &Partition {
        &self.partitions[usize::from(self.map.partition_of(site).0)]
    }
}
