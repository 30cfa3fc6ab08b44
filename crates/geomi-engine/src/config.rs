//! What a partition is crawled by, as meant: every value resolved and checked.

use std::time::Duration;

use geomi_frontier::{PageOrder, Prioritizer};
use geomi_model::{Link, LinkKind};
use geomi_novelty::{DEFAULT_DROP_PARAMS, DropParams, NoveltyConfig};
use geomi_refresh::upkeep::RefreshConfig;
use geomi_scope::ScopeConfig;
use geomi_url::CrawlUrl;

use crate::SiteOverride;
use crate::refusal::RefusalRule;

/// Everything an engine needs to know before it starts.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// How the pages that are known are kept fresh; not at all unless given.
    pub refresh: Option<RefreshConfig>,
    /// How pages would be kept fresh by this configuration, for questions about a plan.
    pub plan: RefreshConfig,
    /// What is wanted.
    pub scope: ScopeConfig,
    /// What a site may cost that brings nothing new.
    pub novelty: NoveltyConfig,
    /// Parameters that are removed from links before anything else.
    pub drop_params: DropParams,
    /// URLs taken into one party, at most; seeds are always taken.
    pub party_urls_max: Option<u64>,
    /// What follows from what pages and sites are like.
    pub likeness: LikenessRules,
    /// URLs to visit first, by pattern.
    pub prefer: Vec<String>,
    /// Weights of the priority.
    pub prioritizer: Prioritizer,
    /// Delays, order and memory bounds, over all partitions.
    pub frontier: geomi_frontier::Config,
    /// What differs on some sites; the scope has its own share of these tables.
    pub sites: Vec<SiteOverride>,
    /// Whether robots.txt is requested and obeyed.
    pub robots: RobotsMode,
    /// Our name in robots.txt.
    pub agent: String,
    /// Whether cookies are taken and sent.
    pub cookies: bool,
    /// Which sitemaps are requested.
    pub sitemaps: SitemapMode,
    /// Whether links marked `nofollow` are not followed.
    pub respect_nofollow: bool,
    /// Which other links are followed.
    pub follow: FollowRules,
    /// Attempts at one URL.
    pub tries: u8,
    /// Rest of a URL before its second try; doubles for each further one.
    pub retry_wait: Duration,
    /// Redirects followed in a row.
    pub redirects_max: u8,
    /// Whether content that is broken is stored.
    pub store_broken: bool,
}

/// What follows from what pages and sites are like; nothing by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LikenessRules {
    /// Whether links of near-duplicates are not followed.
    pub skip_near_duplicates: bool,
    /// Whether URLs of sites that have the same pages as another are refused.
    pub skip_mirrors: bool,
    /// Spam score in hundredths above which a page's links are not followed.
    pub spam_percent_max: Option<u8>,
}

/// Which links are followed that some crawls do without.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowRules {
    /// Whether GET forms that need no input are links.
    pub forms: bool,
    /// Whether links in blocks that are called advertisements are followed.
    pub adverts: bool,
}

impl FollowRules {
    /// The rule by which a link is not followed.
    pub(crate) fn refusal(self, link: &Link) -> Option<RefusalRule> {
        if link.kind == LinkKind::Form && !self.forms {
            Some(RefusalRule::Form)
        } else if link.is_advert && !self.adverts {
            Some(RefusalRule::Advert)
        } else {
            None
        }
    }
}

impl Default for FollowRules {
    fn default() -> Self {
        Self {
            forms: true,
            adverts: true,
        }
    }
}

/// A seed as given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeedInput {
    /// Its URL.
    pub url: CrawlUrl,
    /// Its topic label.
    pub topic: Option<String>,
}

/// Whether robots.txt is obeyed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RobotsMode {
    /// Asked for first, and obeyed.
    #[default]
    Respect,
    /// It is not requested: only for the operator's own hosts.
    Ignore,
}

/// Which sitemaps of a site are asked for. Each is an ordinary visit: in scope, with
/// leave of robots.txt, at the site's pace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SitemapMode {
    /// Those its robots.txt names.
    Robots,
    /// Those, and `/sitemap.xml` where it names none.
    #[default]
    Guess,
    /// None; one that is linked to or given as a seed is still read.
    None,
}

/// How long a site is waited for in a run without an end.
const ENDLESS_WAIT: Duration = Duration::from_hours(24);

impl EngineConfig {
    /// Whether the run has no end other than a stop by the operator. Retiring a site for
    /// the rest of such a run would retire it for ever.
    pub(crate) fn is_endless(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| !refresh.once)
    }

    /// Takes over what can change in a running crawl.
    pub fn change(&mut self, new: &Self) {
        self.frontier.politeness.delay = new.frontier.politeness.delay;
        self.scope = new.scope.clone();
        self.novelty = new.novelty;
        self.drop_params = new.drop_params.clone();
        self.prefer.clone_from(&new.prefer);
        self.tries = new.tries;
        self.retry_wait = new.retry_wait;
        self.respect_nofollow = new.respect_nofollow;
        self.follow = new.follow;
        self.likeness = new.likeness;
        self.plan = new.plan.clone();
    }

    /// The order of the pages of a site. While a crawl is kept fresh the plan decides,
    /// which speaks in priorities.
    pub fn page_order(&self) -> PageOrder {
        match self.refresh {
            Some(_) => PageOrder::Priority,
            None => self.frontier.page_order,
        }
    }

    /// How long a site is waited for before it is retired, where the operator says
    /// this much.
    pub fn wait_max(&self, asked: Duration) -> Duration {
        if self.is_endless() {
            asked.max(ENDLESS_WAIT)
        } else {
            asked
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            refresh: None,
            plan: RefreshConfig::default(),
            scope: ScopeConfig::default(),
            novelty: NoveltyConfig::default(),
            drop_params: DropParams::new(DEFAULT_DROP_PARAMS)
                .expect("the list of this program is well formed"),
            party_urls_max: None,
            likeness: LikenessRules::default(),
            prefer: Vec::new(),
            prioritizer: Prioritizer::default(),
            frontier: geomi_frontier::Config::default(),
            sites: Vec::new(),
            robots: RobotsMode::default(),
            agent: "geomi".to_owned(),
            cookies: true,
            sitemaps: SitemapMode::default(),
            respect_nofollow: true,
            follow: FollowRules::default(),
            tries: 3,
            retry_wait: Duration::from_secs(2),
            redirects_max: 5,
            store_broken: true,
        }
    }
}
