//! How many hosts of one registrable domain are opened.
//!
//! With wildcard DNS a domain has as many hosts as somebody cares to make up, and
//! each costs a look-up, a robots.txt and a page. A domain may open a number of
//! hosts on trust; the first supported pages of each host (see the crate's rule)
//! give back what it cost. A university with three hundred hosts that all have
//! pages is not cut; a generator of names is.

use serde::{Deserialize, Serialize};

use crate::NoveltyConfig;

/// Supported pages of one host that count for its domain.
const PAGES_COUNTED: u32 = 3;

/// The hosts of a registrable domain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DomainNovelty {
    /// Hosts opened.
    pub hosts: u32,
    /// Hosts that were not.
    pub refused: u32,
    /// What is missing from the budget.
    pub lost: u32,
    /// Hosts opened at the end of a crawl although the budget was used up.
    pub last_calls: u32,
}

impl DomainNovelty {
    /// Whether another host may be opened; if so, it is.
    pub fn open(&mut self, config: &NoveltyConfig) -> bool {
        if config.is_on && self.left(config) == 0 {
            self.refused = self.refused.saturating_add(1);
            return false;
        }
        self.open_anyway();
        true
    }

    /// A host somebody named is opened whatever its domain is like.
    pub fn open_anyway(&mut self) {
        self.hosts = self.hosts.saturating_add(1);
        self.lost = self.lost.saturating_add(1);
    }

    /// Whether a deferred host may be opened at the end of a crawl; if so, there is
    /// one less for the next time.
    pub fn last_call(&mut self, config: &NoveltyConfig) -> bool {
        let may = self.last_calls < config.last_calls;
        self.last_calls += u32::from(may);
        may
    }

    /// A host has brought a supported page, its `number`th.
    pub fn support(&mut self, number: u32) -> bool {
        let counts = number <= PAGES_COUNTED && self.lost > 0;
        if counts {
            self.last_calls = 0;
            self.lost -= 1;
        }
        counts
    }

    /// Hosts left.
    pub const fn left(&self, config: &NoveltyConfig) -> u32 {
        config.domain_hosts.saturating_sub(self.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_hosts_are_bounded_and_real_ones_are_not() {
        let config = NoveltyConfig::default();
        let mut trap = DomainNovelty::default();
        let opened = (0..1000).filter(|_| trap.open(&config)).count();
        assert_eq!(opened, 40);
        let mut university = DomainNovelty::default();
        for _ in 0..1000 {
            assert!(university.open(&config));
            assert!(university.support(1));
            university.support(2);
            assert!(!university.support(4));
        }
    }
}
