//! Budgets of sites and of groups of sites, as accounts of the plan, and what their
//! pages weigh.
//!
//! A *group* is what one table of sites covers. A page is subject to the budget of
//! its site and to that of its group, where there are such budgets; of several
//! tables that name a site, the first that has a value wins it, so no page is in
//! two groups.

use geomi_url::{CrawlUrl, SiteHash, SiteTables};
use hashbrown::HashMap;

use super::plan::RefreshConfig;
use crate::policy::Policy;
use crate::{AccountId, PageId, Planner};

/// What a table of sites says of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SitePlan {
    /// The sites, as [`SiteTables`] reads them.
    pub names: Vec<String>,
    /// Requests a day that each of them gets at most.
    pub each_per_day: Option<u64>,
    /// Requests a day that all of them together get at most.
    pub together_per_day: Option<u64>,
    /// What a page of them weighs, in hundredths of what others do.
    pub weight_percent: Option<u16>,
}

/// A budget of a part of the plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limit {
    /// Of what.
    pub kind: LimitKind,
    /// The site, or the names of the group's sites.
    pub name: String,
}

/// What a budget is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitKind {
    /// One site.
    Site,
    /// The sites of a table together.
    Group,
}

impl LimitKind {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Group => "group",
        }
    }
}

/// What holds for the pages of a site.
#[derive(Clone, Copy, Debug)]
struct OfSite {
    accounts: [Option<AccountId>; 2],
    weight: f32,
}

/// Which account pages belong to.
#[derive(Debug)]
pub(super) struct Budgets {
    names: SiteTables,
    tables: Vec<SitePlan>,
    each_per_day: Option<u64>,
    /// The sites that have been seen.
    sites: HashMap<SiteHash, OfSite>,
    /// The accounts of tables whose sites have been seen.
    groups: HashMap<usize, AccountId>,
    /// What each account is.
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

    /// Makes a page subject to its budgets; says what its site gives it to weigh.
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

    /// The accounts that a URL is subject to.
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

    /// What each account is, by its number.
    pub(super) fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Opens the accounts of a site that is seen for the first time.
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
