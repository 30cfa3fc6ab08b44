//! Budgets and weights of sites and of groups of sites.
//!
//! A budget is an account of the planner. A *group* is the set of sites that one `[[site]]`
//! table names. A page is subject to the budget of its site and to that of its group, if
//! these are set. If several tables name a site, the first that sets a value is used, so no
//! page is in two groups.

use geomi_url::{CrawlUrl, SiteHash, SiteTables};
use hashbrown::HashMap;

use super::plan::RefreshConfig;
use crate::policy::Policy;
use crate::{AccountId, PageId, Planner};

/// The settings of one `[[site]]` table that concern the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SitePlan {
    /// The sites, in the syntax of [`SiteTables`].
    pub names: Vec<String>,
    /// Maximum requests per day to each of them.
    pub each_per_day: Option<u64>,
    /// Maximum requests per day to all of them together.
    pub together_per_day: Option<u64>,
    /// The weight of their pages, in percent of the default.
    pub weight_percent: Option<u16>,
}

/// A budget of a site or of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Whether of a site or of a group.
    pub kind: LimitKind,
    /// The site, or the names in the table of the group.
    pub name: String,
}

/// The scope of a budget.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// One site.
    Site,
    /// The sites of a table together.
    Group,
}

impl LimitKind {
    /// The name in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Group => "group",
        }
    }
}

/// The accounts and the weight of the pages of one site.
#[derive(Clone, Copy, Debug)]
struct OfSite {
    accounts: [Option<AccountId>; 2],
    weight: f32,
}

/// The accounts of all sites.
#[derive(Debug)]
pub(super) struct Budgets {
    names: SiteTables,
    tables: Vec<SitePlan>,
    each_per_day: Option<u64>,
    /// The sites that have pages in the plan.
    sites: HashMap<SiteHash, OfSite>,
    /// The accounts of groups, by the index of their table.
    groups: HashMap<usize, AccountId>,
    /// The description of each account.
    limits: Vec<Limit>,
}

impl Budgets {
    pub(super) fn new(config: &RefreshConfig) -> Self {
        let names = config.sites.iter().map(|table| table.names.as_slice());
        Self {
            names: SiteTables::new(names).expect("the names of sites were checked"),
            tables: config.sites.clone(),
            each_per_day: config.site_requests_per_day,
            sites: HashMap::new(),
            groups: HashMap::new(),
            limits: Vec::new(),
        }
    }

    /// Assigns a page to its accounts. Returns the weight of its site.
    pub(super) fn join<P: Policy>(
        &mut self,
        planner: &mut Planner<P>,
        page: PageId,
        url: &CrawlUrl,
    ) -> f32 {
        let OfSite { accounts, weight } = self.of_site(planner, url);
        for account in accounts.into_iter().flatten() {
            planner.join(page, account);
        }
        weight
    }

    /// The accounts of the site of a URL.
    pub(super) fn accounts_of<P: Policy>(
        &mut self,
        planner: &mut Planner<P>,
        url: &CrawlUrl,
    ) -> Vec<AccountId> {
        let of_site = self.of_site(planner, url);
        of_site.accounts.into_iter().flatten().collect()
    }

    fn of_site<P: Policy>(&mut self, planner: &mut Planner<P>, url: &CrawlUrl) -> OfSite {
        if self.each_per_day.is_none() && self.tables.is_empty() {
            return OfSite {
                accounts: [None; 2],
                weight: 1.0,
            };
        }
        match self.sites.get(&url.site_hash()) {
            Some(known) => *known,
            None => self.open(planner, url),
        }
    }

    /// The description of each account, by its number.
    pub(super) fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Opens the accounts of a new site.
    fn open<P: Policy>(&mut self, planner: &mut Planner<P>, url: &CrawlUrl) -> OfSite {
        let site = url.site();
        let tables = self.names.of(&site);
        let own = tables.iter().find_map(|at| self.tables[*at].each_per_day);
        let each = own.or(self.each_per_day).map(|requests| {
            self.limits.push(Limit {
                kind: LimitKind::Site,
                name: site.to_string(),
            });
            planner.open_account(requests as f64)
        });
        let group = tables
            .iter()
            .find_map(|at| Some((*at, self.tables[*at].together_per_day?)));
        let together = group.map(|(at, requests)| {
            *self.groups.entry(at).or_insert_with(|| {
                self.limits.push(Limit {
                    kind: LimitKind::Group,
                    name: self.tables[at].names.join(" "),
                });
                planner.open_account(requests as f64)
            })
        });
        let percent = tables.iter().find_map(|at| self.tables[*at].weight_percent);
        let of_site = OfSite {
            accounts: [each, together],
            weight: f32::from(percent.unwrap_or(100)) / 100.0,
        };
        self.sites.insert(url.site_hash(), of_site);
        of_site
    }
}
