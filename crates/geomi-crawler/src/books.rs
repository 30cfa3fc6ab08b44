//! What each open site's robots.txt permits.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use geomi_model::NetworkState;
use geomi_robots::RobotsPolicy;
use geomi_url::SiteHash;
use serde::{Deserialize, Serialize};

/// What is known of a site's wishes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SiteAccess {
    /// It answered.
    Policy(RobotsPolicy),
    /// It did not answer at all. RFC 9309 forbids every page; and a page asked
    /// for would end just as robots.txt did, so that is how its visits end.
    NoAnswer {
        /// How the request for robots.txt ended.
        state: NetworkState,
        /// Why, in words.
        reason: String,
    },
}

impl SiteAccess {
    /// Whether our agent may ask for that path.
    pub(crate) fn access(&self, agent: &str, path_and_query: &str) -> Access {
        let policy = match self {
            Self::NoAnswer { state, reason } => {
                return Access::Unreachable(*state, reason.clone());
            }
            Self::Policy(policy) => policy,
        };
        let verdict = policy.verdict(agent, path_and_query);
        match (&verdict.rule, policy.unreachable_reason()) {
            _ if verdict.allowed => Access::Allowed,
            (Some(rule), _) => Access::Disallowed(format!("robots.txt {rule}")),
            // It was answered, so the page may well be there; it was not asked for.
            (None, Some(reason)) => Access::Unreachable(NetworkState::NotTried, reason.to_owned()),
            (None, None) => Access::Disallowed("robots.txt".to_owned()),
        }
    }

    /// Whether nobody knows what the site wants, because asking it failed.
    pub(crate) const fn is_failure(&self) -> bool {
        match self {
            Self::NoAnswer { .. } => true,
            Self::Policy(policy) => policy.unreachable_reason().is_some(),
        }
    }

    /// The pause between requests that the site asks of our agent.
    pub(crate) fn crawl_delay(&self, agent: &str) -> Option<Duration> {
        match self {
            Self::Policy(policy) => policy.crawl_delay(agent),
            Self::NoAnswer { .. } => None,
        }
    }
}

/// What a page may expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    Allowed,
    /// By a line of robots.txt.
    Disallowed(String),
    /// The site cannot be reached, or its robots.txt was answered with an error: pages
    /// are not asked for, and fail.
    Unreachable(NetworkState, String),
}

/// The sites' wishes, in memory while a site is open.
#[derive(Debug, Default)]
pub(crate) struct RobotsBook {
    sites: HashMap<SiteHash, SiteAccess>,
    /// Sites whose sitemaps were not asked for yet in this run.
    unasked: HashSet<SiteHash>,
}

impl RobotsBook {
    pub(crate) fn set(&mut self, site: SiteHash, access: SiteAccess) {
        self.sites.insert(site, access);
        self.unasked.insert(site);
    }

    /// Which sitemaps a site names, as written: once after each reading of its
    /// robots.txt, and `None` afterwards.
    pub(crate) fn take_sitemaps(&mut self, site: SiteHash) -> Option<Vec<String>> {
        /// More are not looked at: a site has a few, or an index of them.
        const SITEMAPS_MAX: usize = 100;
        if !self.unasked.remove(&site) {
            return None;
        }
        let named = match self.sites.get(&site)? {
            SiteAccess::Policy(policy) => policy.sitemaps(),
            SiteAccess::NoAnswer { .. } => &[],
        };
        Some(named.iter().take(SITEMAPS_MAX).cloned().collect())
    }

    pub(crate) fn knows(&self, site: SiteHash) -> bool {
        self.sites.contains_key(&site)
    }

    /// Whether our agent may ask this site for that path. A site nobody asked
    /// about is allowed: its robots.txt is being ignored.
    pub(crate) fn access(&self, site: SiteHash, agent: &str, path_and_query: &str) -> Access {
        self.sites
            .get(&site)
            .map_or(Access::Allowed, |known| known.access(agent, path_and_query))
    }

    /// Keeps only the sites that are still open.
    pub(crate) fn retain(&mut self, is_open: impl Fn(SiteHash) -> bool) {
        self.sites.retain(|site, _| is_open(*site));
        self.unasked.retain(|site| is_open(*site));
    }
}

/// Why a site cannot be asked at any address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Unaddressed {
    /// It has addresses, and a rule forbids them.
    Refused(String),
    /// It has none.
    NoAddress(String),
}
