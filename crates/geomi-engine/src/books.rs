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
    pub fn access(&self, agent: &str, path_and_query: &str) -> Access {
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

    /// Whether the rules of the site are unknown because requesting them failed.
    pub const fn is_failure(&self) -> bool {
        match self {
            Self::NoAnswer { .. } => true,
            Self::Policy(policy) => policy.unreachable_reason().is_some(),
        }
    }

    /// What it takes of the memory, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        let held = match self {
            Self::Policy(RobotsPolicy::Rules(rules)) => rules.memory_bytes(),
            Self::Policy(_) | Self::NoAnswer { .. } => 0,
        };
        size_of::<Self>() + held
    }

    /// The pause between requests that the site asks of our agent.
    pub fn crawl_delay(&self, agent: &str) -> Option<Duration> {
        match self {
            Self::Policy(policy) => policy.crawl_delay(agent),
            Self::NoAnswer { .. } => None,
        }
    }
}

/// Whether robots.txt permits a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// The page may be requested.
    Allowed,
    /// By a line of robots.txt.
    Disallowed(String),
    /// The site cannot be reached, or its robots.txt was answered with an error: pages
    /// are not asked for, and fail.
    Unreachable(NetworkState, String),
}

/// Memory for the rules of all sites. A robots.txt may have 512 KiB, and a stranger may
/// link to many sites that do.
const MEMORY_BYTES_MAX: usize = 64 << 20;

/// The rules of the open sites. All of them are in the state; those that do not fit into
/// memory are read again when they are needed ([`RobotsBook::is_missing`]).
#[derive(Debug, Default)]
pub(crate) struct RobotsBook {
    sites: HashMap<SiteHash, SiteAccess>,
    /// What these take of the memory, about.
    bytes: usize,
    /// Open sites whose rules were dropped from memory.
    dropped: HashSet<SiteHash>,
    /// Sites whose sitemaps were not requested yet in this run.
    unasked: HashSet<SiteHash>,
}

impl RobotsBook {
    /// Takes in the rules of a site, just read.
    pub(crate) fn set(&mut self, site: SiteHash, access: SiteAccess) {
        self.put(site, access);
        self.unasked.insert(site);
    }

    /// Takes in rules that were dropped from memory.
    pub(crate) fn restore(&mut self, site: SiteHash, access: SiteAccess) {
        self.put(site, access);
    }

    fn put(&mut self, site: SiteHash, access: SiteAccess) {
        self.dropped.remove(&site);
        self.bytes += access.memory_bytes();
        if let Some(before) = self.sites.insert(site, access) {
            self.bytes -= before.memory_bytes();
        }
    }

    /// Whether the rules of an open site must be read from the state first.
    pub(crate) fn is_missing(&self, site: SiteHash) -> bool {
        self.dropped.contains(&site)
    }

    /// After a commit, when all of it can be read again: drops rules from memory, large
    /// ones first, if they take too much of it.
    pub(crate) fn shrink(&mut self) {
        const LARGE_BYTES: usize = 8 << 10;
        if self.bytes <= MEMORY_BYTES_MAX {
            return;
        }
        for least in [LARGE_BYTES, 0] {
            let (bytes, dropped) = (&mut self.bytes, &mut self.dropped);
            self.sites.retain(|site, access| {
                let size = access.memory_bytes();
                if *bytes <= MEMORY_BYTES_MAX / 2 || size < least {
                    return true;
                }
                *bytes -= size;
                dropped.insert(*site);
                false
            });
        }
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
        self.sites.contains_key(&site) || self.dropped.contains(&site)
    }

    /// Whether our agent may request that path of this site. A site whose robots.txt was
    /// never requested is allowed: its robots.txt is being ignored.
    pub(crate) fn access(&self, site: SiteHash, agent: &str, path_and_query: &str) -> Access {
        self.sites
            .get(&site)
            .map_or(Access::Allowed, |known| known.access(agent, path_and_query))
    }

    /// Keeps only the sites that are still open.
    pub(crate) fn retain(&mut self, is_open: impl Fn(SiteHash) -> bool) {
        let bytes = &mut self.bytes;
        self.sites.retain(|site, access| {
            let stays = is_open(*site);
            *bytes -= if stays { 0 } else { access.memory_bytes() };
            stays
        });
        self.dropped.retain(|site| is_open(*site));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_many_sites_fit_into_memory() {
        let line = "Disallow: /a/rather/long/path/that/nobody/asks/for\n";
        let text = format!("User-agent: *\n{}", line.repeat(5_000));
        let large = SiteAccess::Policy(RobotsPolicy::from_answer(200, text.as_bytes()));
        let small = SiteAccess::Policy(RobotsPolicy::from_answer(200, b"User-agent: *\nAllow: /"));
        let mut book = RobotsBook::default();
        for number in 0..1_000 {
            book.set(SiteHash(number), large.clone());
            book.set(SiteHash(number | 1 << 32), small.clone());
            book.shrink();
            assert!(book.bytes <= MEMORY_BYTES_MAX, "{number}: {}", book.bytes);
        }
        let is_missing = |number: &u64| book.is_missing(SiteHash(*number));
        assert!((0..1_000).filter(is_missing).count() > 700);
        assert!(!(0..1_000).any(|number| book.is_missing(SiteHash(number | 1 << 32))));
        let missing = SiteHash((0..1_000).find(is_missing).unwrap());
        assert!(book.knows(missing));
        book.restore(missing, large);
        assert!(!book.is_missing(missing));
        book.retain(|_| false);
        assert_eq!((book.bytes, book.dropped.len()), (0, 0));
    }
}
