//! The refresh plan of a crawl: which page to visit next, and when.
//!
//! [`RefreshPlan`] is built from the visits of the crawl and takes in each new visit. Visits
//! are durable, so a plan that is rebuilt after a crash is the same plan. It touches neither
//! the queue nor the disk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use geomi_model::{Fate, Timestamp, Visit, Zone};
use geomi_url::CrawlUrl;
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::budgets::{Budgets, Limit, SitePlan};
use super::never_fetched::NeverFetched;
use super::overdue::Overdue;
use super::pages::{Pages, Sighted, Sighting, facts};
use super::quiet::QuietHours;
use super::rounds::Rounds;
use super::table::{Table, TableRows};
use super::template_edits::{Comparison, TemplateEdits};
use super::weights::Weights;
use crate::policy::Policy;
use crate::{Asked, Page, PageId, Planner, Terms, named};

/// Days until a page is retried after a failed visit. Doubles with each further failure
/// in a row.
const FAILED_REST: f64 = 1.0;
/// Shortest gap between two visits, in days: one second.
const GAP_MIN: f64 = 1.0 / 86_400.0;

/// The configuration of a refresh plan.
#[derive(Clone, PartialEq, Debug)]
pub struct RefreshConfig {
    /// Name of the policy: one of [`named::NAMES`].
    pub policy: String,
    /// The budget of requests.
    pub budget: Budget,
    /// Maximum requests per day to one site.
    pub site_requests_per_day: Option<u64>,
    /// Settings of single sites. If several tables name a site, the first that sets a
    /// value is used.
    pub sites: Vec<SitePlan>,
    /// How the freshness of pages is weighted, in addition to the weight of their site.
    pub weights: Weights,
    /// Requests per day for new pages, in addition to the budget. Default: as many as the
    /// plan has.
    pub discovery_per_day: Option<u64>,
    /// Maximum requests in any hour.
    pub requests_per_hour: Option<u64>,
    /// The time zone of hours and days.
    pub timezone: Zone,
    /// Hours of the week with a reduced rate, or without visits.
    pub quiet_hours: QuietHours,
    /// The longest time between two visits of a page.
    pub longest_gap: Duration,
    /// What decides when a page is due.
    pub drive: Drive,
    /// Whether the run ends when all pages that are due now have been visited.
    pub once: bool,
}

/// The name of a [`Drive`], as in status files and the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefreshDrive {
    /// A policy computes the next visit of each page.
    Plan,
    /// All pages are visited in rounds.
    Rounds,
    /// A schedule table of days and hours.
    Table,
}

/// What decides when a page is due.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Drive {
    /// A policy computes the next visit of each page: incremental operation.
    #[default]
    Plan,
    /// All pages are visited in rounds, as often as the budget allows: periodic operation.
    Rounds,
    /// A schedule table names the pages of each hour of the week.
    Table {
        /// The path of the file, relative to the crawl directory if it is inside it. It
        /// is needed to start the same run again.
        file: PathBuf,
        /// The visits of a week.
        rows: TableRows,
    },
}

impl Drive {
    /// Its name.
    pub const fn kind(&self) -> RefreshDrive {
        match self {
            Self::Plan => RefreshDrive::Plan,
            Self::Rounds => RefreshDrive::Rounds,
            Self::Table { .. } => RefreshDrive::Table,
        }
    }

    /// The file of the schedule table, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Plan | Self::Rounds => None,
            Self::Table { file, .. } => Some(file),
        }
    }
}

impl RefreshConfig {
    /// What a partition with this share of the pages may spend of what is set for the
    /// whole crawl. Limits per page, site and group of sites stay as they are.
    #[must_use]
    pub fn shared(&self, share: f64) -> Self {
        let part = |whole: u64| ((whole as f64 * share).round() as u64).max(1);
        Self {
            budget: match self.budget {
                Budget::PerPage(visits) => Budget::PerPage(visits),
                Budget::PerDay(requests) => Budget::PerDay(requests * share),
            },
            requests_per_hour: self.requests_per_hour.map(part),
            ..self.clone()
        }
    }
}

impl Default for RefreshConfig {
    fn default() -> Self {
        Self {
            policy: "clock".to_owned(),
            budget: Budget::PerPage(1.0 / 7.0),
            site_requests_per_day: None,
            sites: Vec::new(),
            weights: Weights::None,
            discovery_per_day: None,
            requests_per_hour: None,
            timezone: Zone::UTC,
            quiet_hours: QuietHours::default(),
            longest_gap: Duration::from_hours(90 * 24),
            drive: Drive::Plan,
            once: false,
        }
    }
}

/// The budget of requests to pages that are already known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Budget {
    /// Visits per page and day. The budget grows with the number of pages.
    PerPage(f64),
    /// Requests per day in total.
    PerDay(f64),
}

impl Budget {
    /// Requests per day for this number of pages.
    pub fn requests_per_day(self, pages: usize) -> f64 {
        match self {
            Self::PerPage(visits) => visits * pages.max(1) as f64,
            Self::PerDay(requests) => requests,
        }
    }
}

/// The refresh plan of a crawl.
#[derive(Debug)]
pub struct RefreshPlan {
    pub(super) config: RefreshConfig,
    pub(super) pages: Pages,
    pub(super) planner: Planner<Box<dyn Policy>>,
    pub(super) budgets: Budgets,
    template_edits: TemplateEdits,
    /// URLs of which no copy has been stored yet.
    pub(super) never_fetched: NeverFetched,
    /// Set if pages are visited at fixed times, not when the policy says.
    set_times: Option<SetTimes>,
    /// Pages that the table leaves out and whose last visit is a longest gap ago.
    pub(super) overdue: Overdue,
    is_started: bool,
    /// The time of the last request for a page that is due.
    at: f64,
    /// The time of the last visit of any page.
    last: f64,
    /// Pages whose last visits failed.
    pub(super) troubles: HashMap<PageId, Trouble>,
    /// Pages that were waiting for a retry when the last run ended. They are still in
    /// their queues.
    tried: HashSet<PageId>,
}

/// Visits at fixed times.
#[derive(Clone, Debug)]
enum SetTimes {
    Rounds(Rounds),
    Table(Table),
}

impl SetTimes {
    /// The next candidate at time `now`; `None` if there are no more. The budget suffices
    /// for all `pages` in `period` days.
    fn next(&mut self, now: f64, period: f64, pages: usize) -> Option<PageId> {
        match self {
            Self::Rounds(rounds) => rounds.next(now, period, pages),
            Self::Table(table) => table.next(now),
        }
    }

    /// Whether the visit is done of a page that was last visited at `seen`.
    fn has_taken(&self, seen: f64) -> bool {
        match self {
            Self::Rounds(rounds) => rounds.has_taken(seen),
            Self::Table(table) => table.has_taken(seen),
        }
    }

    /// The time of the next candidate; `None` without pages.
    fn wake(&self, pages: usize) -> Option<f64> {
        match self {
            Self::Rounds(rounds) => (pages > 0).then(|| rounds.wake(pages)),
            Self::Table(table) => table.wake(),
        }
    }
}

/// A page that is visited before it is due, because of a change signal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EarlyVisit {
    /// The page.
    pub page: PageId,
    /// When it would have been due, in days since 1970.
    pub due: f64,
    /// Whether it is to be visited now. If not, it waits for its budget.
    pub is_out: bool,
}

/// The failures of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    /// Failed visits in a row.
    times: i32,
    /// The time of the next try.
    pub(super) retry: f64,
}

/// Days until a URL is retried after a failure that followed `times` others: 1, 2, 4 and so
/// on, up to the longest gap. If the server said that the page is gone, the longest gap.
pub(super) fn rest(is_gone: bool, times: i32, longest_gap: f64) -> f64 {
    if is_gone {
        return longest_gap;
    }
    (FAILED_REST * 2.0_f64.powi(times)).min(longest_gap)
}

impl RefreshPlan {
    /// Creates a plan without pages.
    ///
    /// # Panics
    ///
    /// If the policy does not exist or a site name is invalid. Callers validate the
    /// configuration first.
    pub fn new(config: &RefreshConfig) -> Self {
        let policy = named::policy(&config.policy).expect("the name of a policy was checked");
        let terms = Terms {
            requests_per_day: config.budget.requests_per_day(0),
            longest_gap: config.longest_gap.as_secs_f64() / 86_400.0,
            learning: None,
        };
        let mut planner = Planner::new(policy, terms, 0.0);
        planner.use_hours(config.quiet_hours.hours(), 0.0);
        planner.limit_hour(config.requests_per_hour.map(|requests| requests as f64));
        Self {
            config: config.clone(),
            pages: Pages::default(),
            planner,
            budgets: Budgets::new(config),
            template_edits: TemplateEdits::default(),
            never_fetched: NeverFetched::default(),
            set_times: None,
            overdue: Overdue::default(),
            is_started: false,
            at: 0.0,
            last: 0.0,
            troubles: HashMap::new(),
            tried: HashSet::new(),
        }
    }

    /// A time as the plan counts it: days since 1970 in its time zone.
    pub fn days(&self, at: Timestamp) -> f64 {
        self.config.timezone.days(at)
    }

    /// The instant of a time of the plan.
    pub fn instant(&self, days: f64) -> Timestamp {
        self.config.timezone.instant(days)
    }

    /// Takes in a visit: before [`RefreshPlan::start`] one of the past, afterwards one
    /// that was just made.
    ///
    /// Returns what the visit means for its page; `None` if it is not a visit of a page of
    /// the plan, or will be retried.
    pub fn take(&mut self, visit: &Visit, tries: u8) -> Option<Sighted> {
        if let Some(page) = self.pages.tried(visit, tries) {
            self.waits(page);
        }
        let at = self.days(visit.time);
        let Some(mut sighted) = self.pages.take(visit, tries, at) else {
            self.take_never_fetched(visit, Fate::of(visit, tries));
            return None;
        };
        self.tried.remove(&sighted.page);
        if sighted.kind.changed().is_some() {
            let copied = self.planner.last(sighted.page);
            let comparison = Comparison::of(visit, &sighted, copied);
            if self.template_edits.take(visit.url.site_hash(), comparison) {
                sighted.kind = Sighting::Edited;
            }
        }
        let Sighted { page, kind, at, .. } = sighted;
        self.last = self.last.max(at);
        if kind == Sighting::First {
            self.now_fetched(&visit.url);
            let of_site = self.budgets.join(&mut self.planner, page, &visit.url);
            let weight = of_site * self.config.weights.of(visit.priority);
            let facts = Page {
                weight,
                ..facts(visit)
            };
            self.planner.add(&facts, at);
            sighted.weight = weight;
            let requests = self.config.budget.requests_per_day(self.pages.len());
            self.planner.set_requests_per_day(requests);
            return Some(sighted);
        }
        // A clock that was set back must not make a negative gap.
        let at = at.max(self.planner.last(page) + GAP_MIN);
        let due = at
            + visit
                .early
                .map_or(0.0, |early| early.as_secs_f64() / 86_400.0);
        match kind.changed() {
            Some(changed) if self.is_started => self.planner.observe_early(page, changed, at, due),
            Some(changed) => self.planner.recall_early(page, changed, at, due),
            None if kind == Sighting::Edited => self.planner.renew(page, at),
            None => {
                let retry = self.trouble(page, kind, at);
                if self.is_started {
                    self.planner.failed(page, retry);
                }
                return Some(sighted);
            }
        }
        self.troubles.remove(&page);
        Some(sighted)
    }

    /// Notes that a page waits in its queue for a retry, so that it is not queued twice. A
    /// page that an earlier run queued is not marked as out yet.
    fn waits(&mut self, page: PageId) {
        if self.is_started {
            self.planner.call(page);
        } else {
            self.tried.insert(page);
        }
    }

    /// Notes a failed visit. Returns the time of the next try.
    fn trouble(&mut self, page: PageId, kind: Sighting, at: f64) -> f64 {
        let longest = self.planner.terms().longest_gap;
        let trouble = self.troubles.entry(page).or_default();
        *trouble = Trouble {
            times: trouble.times + 1,
            retry: at + rest(kind == Sighting::Gone, trouble.times, longest),
        };
        trouble.retry
    }

    /// Starts the plan after the past visits have been taken in.
    ///
    /// The budget that accrued since the last visit may be spent at once, but at most that
    /// of `saved_max` days. The budgets of sites, groups and hours do not accrue between
    /// runs, so no day and no hour exceeds them. Exception: a run with `once` starts with
    /// the budget of the time since the last visit, at most one day or one hour.
    ///
    /// Returns the number of scheduled visits that are skipped because there is no copy of
    /// their pages.
    pub fn start(&mut self, now: f64, saved_max: f64) -> u64 {
        self.is_started = true;
        self.at = self.last.clamp(now - saved_max, now);
        let saved = if self.config.once {
            (now - self.last).clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.planner.restart_accounts(saved, now);
        self.planner.start_at(self.at, now);
        let mut unknown = 0;
        self.set_times = match &self.config.drive {
            Drive::Plan => None,
            Drive::Rounds => Some(SetTimes::Rounds(self.resume_rounds(now))),
            Drive::Table { rows, .. } => {
                let hours;
                (hours, unknown) = self.hours(rows);
                Some(SetTimes::Table(Table::at(hours, now)))
            }
        };
        let mut troubles: Vec<_> = self.troubles.iter().collect();
        troubles.sort_unstable_by_key(|(page, _)| **page);
        for (page, trouble) in troubles {
            self.planner.failed(*page, trouble.retry);
        }
        let mut tried: Vec<PageId> = self.tried.iter().copied().collect();
        tried.sort_unstable();
        for page in tried {
            self.planner.call(page);
        }
        unknown
    }

    /// Removes and returns the pages that were waiting for a retry when the last run ended.
    pub fn take_tried(&mut self) -> Vec<PageId> {
        let mut tried: Vec<PageId> = self.tried.drain().collect();
        tried.sort_unstable();
        tried
    }

    /// Treats the pages that were waiting for a retry as failed. For a preview: it cannot
    /// know how the retries end.
    pub fn forget_tried(&mut self, now: f64) {
        for page in self.take_tried() {
            self.missed(page, now);
        }
    }

    /// Replaces the schedule table. Returns the number of its visits that are skipped
    /// because there is no copy of their pages; `None` if the table is the current one.
    pub fn follow(&mut self, rows: TableRows, now: f64) -> Option<u64> {
        match &mut self.config.drive {
            Drive::Table { rows: followed, .. } if *followed != rows => followed.clone_from(&rows),
            _ => return None,
        }
        let (hours, unknown) = self.hours(&rows);
        if let Some(SetTimes::Table(table)) = &mut self.set_times {
            table.replace(hours, now);
        }
        Some(unknown)
    }

    /// Groups a table by hour. Also returns the number of visits without a known page.
    fn hours(&self, rows: &[(usize, CrawlUrl)]) -> (Vec<Vec<PageId>>, u64) {
        let mut hours = vec![Vec::new(); 7 * 24];
        let mut unknown = 0_u64;
        for (hour, url) in rows {
            match (hours.get_mut(*hour), self.pages.find(url)) {
                (Some(slot), Some(page)) => slot.push(page),
                _ => unknown += 1,
            }
        }
        (hours, unknown)
    }

    /// When the next page or never-fetched URL may be due; `None` without either.
    pub fn wake(&self) -> Option<f64> {
        let page = self.page_wake();
        page.into_iter()
            .chain(self.never_fetched_wake())
            .reduce(f64::min)
    }

    fn page_wake(&self) -> Option<f64> {
        match &self.set_times {
            Some(set_times) => {
                let next = set_times.wake(self.pages.len());
                let overdue = self.looks_for_overdue().then_some(self.overdue.looks_at);
                let waiting = self.planner.waiting_wake();
                let opens = |at| self.planner.opens_at(at);
                let times = next.into_iter().chain(overdue).map(opens);
                times.chain(waiting).reduce(f64::min)
            }
            None => self.planner.wake(),
        }
    }

    /// The next page that is due at time `now`. Due times since the last call are processed
    /// in order.
    pub fn next(&mut self, now: f64) -> Option<PageId> {
        if self.set_times.is_some() {
            return self.next_by_set_times(now);
        }
        let mut idle = 0;
        while let Some(wake) = self.planner.wake().filter(|wake| *wake <= now) {
            let at = wake.max(self.at);
            if let Some(page) = self.planner.next(at) {
                self.at = at;
                return Some(page);
            }
            // A page that was too early in the queue is moved back, and the next one is
            // tried. If time does not advance, the rest waits for the next call.
            idle = if at > self.at { 0 } else { idle + 1 };
            self.at = at;
            if idle > self.pages.len() {
                return None;
            }
        }
        None
    }

    /// The next page that becomes due until `end` if no visit is made before, and when.
    pub fn next_by(&mut self, end: f64) -> Option<(PageId, f64)> {
        let page = self.next(end)?;
        Some((page, self.at))
    }

    fn next_by_set_times(&mut self, now: f64) -> Option<PageId> {
        if let Some(page) = self.planner.next_waiting(now) {
            return Some(page);
        }
        if self.planner.is_open(now)
            && let Some(page) = self.next_overdue(now)
        {
            return Some(page);
        }
        let (pages, period) = (self.pages.len(), self.period());
        let set_times = self.set_times.as_mut()?;
        while self.planner.is_open(now) {
            let page = set_times.next(now, period, pages)?;
            let is_done = set_times.has_taken(self.planner.last(page));
            if !is_done && self.planner.ask(page, now) == Asked::Out {
                return Some(page);
            }
        }
        None
    }

    /// Requests per day, by the budget or by the schedule table.
    pub fn requests_per_day(&self) -> f64 {
        match &self.set_times {
            Some(SetTimes::Table(table)) => table.visits_a_week() as f64 / 7.0,
            _ => self.planner.requests_per_day(),
        }
    }

    /// The same if the crawl had this many pages.
    pub fn requests_per_day_of(&self, pages: usize) -> f64 {
        match &self.set_times {
            Some(SetTimes::Table(_)) => self.requests_per_day(),
            _ => self.config.budget.requests_per_day(pages),
        }
    }

    /// The days in which the budget suffices for one round.
    fn period(&self) -> f64 {
        self.pages.len().max(1) as f64 / self.planner.requests_per_day()
    }

    /// The current round. Failing pages are left out: they would always seem to belong to an
    /// older round.
    fn resume_rounds(&self, now: f64) -> Rounds {
        let pages = 0..self.pages.len() as PageId;
        let had = pages.filter(|page| !self.troubles.contains_key(page));
        Rounds::resume(had.map(|page| self.planner.last(page)), self.period(), now)
    }

    /// Adjusts the length of rounds to a changed budget.
    pub(super) fn move_rounds(&mut self) {
        let period = self.period();
        if let Some(SetTimes::Rounds(rounds)) = &mut self.set_times {
            rounds.set_period(period);
        }
    }

    /// Schedules a page early because of a signal that it changed at `modified` (in days).
    ///
    /// `None` if the signal is not news. If the budget is used up, the page is the next of
    /// its site, or of the plan. Fixed times have no such budget.
    pub fn visit_early(&mut self, url: &CrawlUrl, modified: f64, now: f64) -> Option<EarlyVisit> {
        let page = self.pages.find(url)?;
        if !self.would_visit_early(url, modified) {
            return None;
        }
        let due = self.planner.due(page);
        let asked = match self.set_times {
            Some(_) => self.planner.ask(page, now),
            None => self.planner.ask_within_budget(page, now),
        };
        match asked {
            Asked::Out | Asked::Waits => Some(EarlyVisit {
                page,
                due,
                is_out: asked == Asked::Out,
            }),
            Asked::NotNow | Asked::UnderWay => None,
        }
    }

    /// Whether a signal is news: the page is known, is not being visited, and its last visit
    /// was before `modified`.
    pub fn would_visit_early(&self, url: &CrawlUrl, modified: f64) -> bool {
        let is_news = |page| modified > self.planner.last(page) && !self.planner.is_out(page);
        self.is_started && self.pages.find(url).is_some_and(is_news)
    }

    /// Notes that a page returned by [`RefreshPlan::next`] could not be visited.
    pub fn missed(&mut self, page: PageId, now: f64) {
        if self.planner.is_out(page) {
            self.planner.failed(page, now + FAILED_REST);
        }
    }

    /// The pages of the plan.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The budgets of sites and groups, by account number.
    pub fn limits(&self) -> &[Limit] {
        self.budgets.limits()
    }

    /// The planner.
    pub fn planner(&self) -> &Planner<Box<dyn Policy>> {
        &self.planner
    }

    /// The planner, for previews.
    pub fn planner_mut(&mut self) -> &mut Planner<Box<dyn Policy>> {
        &mut self.planner
    }

    /// The configuration.
    pub fn config(&self) -> &RefreshConfig {
        &self.config
    }

    /// The time of the last visit, in days since 1970.
    pub fn last(&self) -> f64 {
        self.last
    }
}

#[cfg(test)]
pub(super) mod tests;
