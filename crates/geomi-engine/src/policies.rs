//! What holds for each site: the general rules, and the tables of sites where
//! it differs.
//!
//! A pure look-up. Of the tables that name a site, the first that has a value
//! wins it, value by value; what none of them says is as everywhere. The scope's
//! share of such a table is [`geomi_scope::SiteScope`].

use std::time::Duration;

use geomi_frontier::{Delay, Politeness, SiteRules};
use geomi_url::{SiteKey, SiteTables};

use crate::{Credentials, EngineConfig, EngineError, RobotsMode};

/// What differs on the sites of one table; what is `None` is as everywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SiteOverride {
    /// The sites: `example.com`, `example.com:8080`, or `*.example.com` for that
    /// host and every host under it, on any port.
    pub names: Vec<String>,
    /// The delay rule.
    pub delay: Option<Delay>,
    /// Connections at once.
    pub connections: Option<usize>,
    /// Pages saved from each of these sites, at most.
    pub pages_max: Option<u64>,
    /// Whether robots.txt is obeyed.
    pub robots: Option<RobotsMode>,
    /// Traffic among all sites, in hundredths: a part of the priority of URLs.
    pub traffic_percent: Option<u8>,
    /// What proves who we are, to exactly these sites.
    pub credentials: Option<Credentials>,
    /// Whether that may travel unencrypted.
    pub credentials_over_http: bool,
}

/// What holds for one site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SitePolicy {
    pub politeness: Politeness,
    pub robots: RobotsMode,
    pub pages_max: Option<u64>,
}

impl SitePolicy {
    /// The rules that the frontier follows once this number of pages is saved.
    pub(crate) fn rules(&self, saved: u64) -> SiteRules {
        SiteRules {
            politeness: self.politeness,
            ask_robots: self.robots == RobotsMode::Respect,
            pages_left: self.pages_max.map(|max| max.saturating_sub(saved)),
        }
    }
}

/// The policy of every site.
#[derive(Debug)]
pub struct SitePolicies {
    names: SiteTables,
    tables: Vec<SiteOverride>,
    general: SitePolicy,
}

impl SitePolicies {
    /// The policies of a configuration. Fails if a `[[site]]` table names no valid site.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let names = config.sites.iter().map(|table| table.names.as_slice());
        let names = SiteTables::new(names).map_err(|wrong| {
            EngineError::Scope(wrong.into_iter().map(|(_, error)| error.into()).collect())
        })?;
        Ok(Self {
            names,
            tables: config.sites.clone(),
            general: SitePolicy {
                politeness: config.frontier.politeness,
                robots: config.robots,
                pages_max: None,
            },
        })
    }

    /// What holds for sites that no table names.
    pub fn general(&self) -> SitePolicy {
        self.general
    }

    /// What holds for a site, where a table names it.
    pub fn own(&self, site: &SiteKey) -> Option<SitePolicy> {
        let indices = self.names.of(site);
        if indices.is_empty() {
            return None;
        }
        let tables = || indices.iter().map(|table| &self.tables[*table]);
        let SitePolicy {
            politeness, robots, ..
        } = self.general;
        Some(SitePolicy {
            politeness: Politeness {
                delay: tables()
                    .find_map(|table| table.delay)
                    .unwrap_or(politeness.delay),
                site_connections: tables()
                    .find_map(|table| table.connections)
                    .unwrap_or(politeness.site_connections),
                ..politeness
            },
            robots: tables().find_map(|table| table.robots).unwrap_or(robots),
            pages_max: tables().find_map(|table| table.pages_max),
        })
    }

    /// The shortest delay of a site.
    pub(crate) fn delay_floor(&self, site: &SiteKey) -> Duration {
        match self.own(site).unwrap_or(self.general).politeness.delay {
            Delay::Fixed(delay) => delay,
            Delay::Adaptive { floor, .. } => floor,
        }
    }

    /// The traffic given for a site, 0 to 1.
    pub(crate) fn traffic(&self, site: &SiteKey) -> Option<f32> {
        let tables = self.names.of(site);
        let mut tables = tables.iter().map(|table| &self.tables[*table]);
        let percent = tables.find_map(|table| table.traffic_percent)?;
        Some(f32::from(percent) / 100.0)
    }

    /// Whether any table gives traffic: most do not, and links are many.
    pub(crate) fn know_traffic(&self) -> bool {
        self.tables
            .iter()
            .any(|table| table.traffic_percent.is_some())
    }

    /// The most connections any address may carry.
    pub fn address_limit(&self) -> usize {
        let own = self.tables.iter().filter_map(|table| table.connections);
        let general = self.general.politeness.address_limit();
        own.fold(general, usize::max)
    }
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use super::*;

    fn table(name: &str) -> SiteOverride {
        SiteOverride {
            names: vec![name.to_owned()],
            ..SiteOverride::default()
        }
    }

    #[test]
    fn the_first_table_that_has_a_value_wins_it() {
        let slow = Delay::Fixed(Duration::from_mins(1));
        let config = EngineConfig {
            sites: vec![
                SiteOverride {
                    pages_max: Some(7),
                    ..table("a.example")
                },
                SiteOverride {
                    pages_max: Some(100),
                    delay: Some(slow),
                    connections: Some(9),
                    ..table("*.example")
                },
            ],
            ..EngineConfig::default()
        };
        let policies = SitePolicies::new(&config).unwrap();
        let own = |url| policies.own(&CrawlUrl::parse(url).unwrap().site());
        let both = own("https://a.example/").unwrap();
        assert_eq!((both.pages_max, both.politeness.delay), (Some(7), slow));
        assert_eq!(own("https://b.example/").unwrap().pages_max, Some(100));
        assert_eq!(own("https://other.test/"), None);
        assert_eq!(policies.address_limit(), 9);
        assert_eq!(both.rules(9).pages_left, Some(0));
        assert!(both.rules(0).ask_robots);
    }

    #[test]
    fn names_that_are_none_are_an_error() {
        let config = EngineConfig {
            sites: vec![table("a b")],
            ..EngineConfig::default()
        };
        assert!(SitePolicies::new(&config).is_err());
    }

    #[test]
    fn traffic_is_known_where_a_table_gives_it() {
        let mut config = EngineConfig::default();
        let of = |config: &EngineConfig, url: &str| {
            let policies = SitePolicies::new(config).unwrap();
            let site = CrawlUrl::parse(url).unwrap().site();
            (policies.know_traffic(), policies.traffic(&site))
        };
        config.sites = vec![table("*.example")];
        assert_eq!(of(&config, "http://a.example/"), (false, None));
        config.sites.push(SiteOverride {
            traffic_percent: Some(80),
            ..table("a.example")
        });
        assert_eq!(of(&config, "http://a.example/"), (true, Some(0.8)));
        assert_eq!(of(&config, "http://b.example/"), (true, None));
    }
}
