//! The refresh plan: the plan of a crawl, fed with its visits.
//!
//! It decides which page is visited next and when, and hears of every visit. It
//! is made of what is durable, the visits, and of nothing else; it touches
//! neither queue nor disk.

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

/// How long a page rests after a visit that came to nothing, in days; it doubles
/// with each further one.
const FAILED_REST: f64 = 1.0;
/// Shortest gap that is believed, in days: a second.
const GAP_MIN: f64 = 1.0 / 86_400.0;

/// How a crawl is kept fresh.
#[derive(Clone, PartialEq, Debug)]
pub struct RefreshConfig {
    /// Name of the policy: one of [`named::NAMES`].
    pub policy: String,
    /// What may be spent.
    pub budget: Budget,
    /// Requests a day that each site gets at most.
    pub site_requests_per_day: Option<u64>,
    /// What differs on some sites. Of the tables that name a site, the first that
    /// has a value wins it.
    pub sites: Vec<SitePlan>,
    /// What the freshness of a page weighs, beside what its site gives it.
    pub weights: Weights,
    /// First requests a day for new pages, beside the budget; as many as the plan has
    /// unless given.
    pub discovery_per_day: Option<u64>,
    /// Requests in any hour, at most.
    pub requests_per_hour: Option<u64>,
    /// The zone whose clock hours and days go by.
    pub timezone: Zone,
    /// Hours of the week in which little or nothing is visited.
    pub quiet_hours: QuietHours,
    /// The longest time a page is left alone.
    pub longest_gap: Duration,
    /// What decides when a page is due.
    pub drive: Drive,
    /// Whether to end when what is due now has been visited.
    pub once: bool,
}

/// What decides when a page is due, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefreshDrive {
    /// A policy, page by page.
    Plan,
    /// Rounds of all pages.
    Rounds,
    /// A table of days and hours.
    Table,
}

/// What decides when a page is due.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Drive {
    /// The policy, visit by visit: incremental operation.
    #[default]
    Plan,
    /// All pages in rounds, as often as the budget allows: periodic operation.
    Rounds,
    /// A table.
    Table {
        /// Where it was read, for those who start the run again: from the crawl
        /// directory on, if it lies in it.
        file: PathBuf,
        /// What it says.
        rows: TableRows,
    },
}

impl Drive {
    /// Which it is.
    pub const fn kind(&self) -> RefreshDrive {
        match self {
            Self::Plan => RefreshDrive::Plan,
            Self::Rounds => RefreshDrive::Rounds,
            Self::Table { .. } => RefreshDrive::Table,
        }
    }

    /// Where its table was read, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Plan | Self::Rounds => None,
            Self::Table { file, .. } => Some(file),
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

/// Requests that may be made for the sake of freshness.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Budget {
    /// Visits a page a day: it grows with the number of pages.
    PerPage(f64),
    /// Requests a day in all.
    PerDay(f64),
}

impl Budget {
    /// Requests a day for so many pages.
    pub fn requests_per_day(self, pages: usize) -> f64 {
        match self {
            Self::PerPage(visits) => visits * pages.max(1) as f64,
            Self::PerDay(requests) => requests,
        }
    }
}

/// The plan of a crawl.
#[derive(Debug)]
pub struct RefreshPlan {
    pub(super) config: RefreshConfig,
    pub(super) pages: Pages,
    pub(super) planner: Planner<Box<dyn Policy>>,
    pub(super) budgets: Budgets,
    template_edits: TemplateEdits,
    /// What is no page of the plan yet.
    pub(super) never_fetched: NeverFetched,
    /// Where pages are visited at set times instead of by price.
    set_times: Option<SetTimes>,
    /// Of those a table leaves out, which were left alone for the longest gap.
    pub(super) overdue: Overdue,
    is_started: bool,
    /// The time up to which the plan was asked.
    at: f64,
    /// The last visit of any page.
    last: f64,
    /// Pages whose last visits came to nothing.
    pub(super) troubles: HashMap<PageId, Trouble>,
    /// Pages that were being tried again when the last run ended: they wait in
    /// their queues.
    tried: HashSet<PageId>,
}

/// Visits at set times instead of by price.
#[derive(Clone, Debug)]
enum SetTimes {
    Rounds(Rounds),
    Table(Table),
}

impl SetTimes {
    /// The next page to look at by now, of `pages` for which the budget pays in a
    /// `period` of days; `None` when all were.
    fn next(&mut self, now: f64, period: f64, pages: usize) -> Option<PageId> {
        match self {
            Self::Rounds(rounds) => rounds.next(now, period, pages),
            Self::Table(table) => table.next(now),
        }
    }

    /// Whether a page that was last seen at this time has had its visit.
    fn has_taken(&self, seen: f64) -> bool {
        match self {
            Self::Rounds(rounds) => rounds.has_taken(seen),
            Self::Table(table) => table.has_taken(seen),
        }
    }

    /// When there is a page to look at; `None` without pages.
    fn wake(&self, pages: usize) -> Option<f64> {
        match self {
            Self::Rounds(rounds) => (pages > 0).then(|| rounds.wake(pages)),
            Self::Table(table) => table.wake(),
        }
    }
}

/// A page that is visited out of its turn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EarlyVisit {
    /// The page.
    pub page: PageId,
    /// When its turn was, in days since 1970.
    pub due: f64,
    /// Whether it is to be visited now; if not, it waits for a budget.
    pub is_out: bool,
}

/// A page that cannot be had.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trouble {
    /// Visits in a row that came to nothing.
    times: i32,
    /// When it is asked for again.
    pub(super) retry: f64,
}

/// Days that a URL is left alone after so many visits in a row that came to nothing, and
/// one more; at most the longest gap, and that at once if the server says it is gone.
pub(super) fn rest(is_gone: bool, times: i32, longest_gap: f64) -> f64 {
    if is_gone {
        return longest_gap;
    }
    (FAILED_REST * 2.0_f64.powi(times)).min(longest_gap)
}

impl RefreshPlan {
    /// A plan without pages.
    ///
    /// # Panics
    ///
    /// If there is no policy of that name, or the name of a site is none: whoever
    /// reads what an operator wrote has checked it.
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

    /// A time as the plan counts it: days since 1970, by the clock of its zone.
    pub fn days(&self, at: Timestamp) -> f64 {
        self.config.timezone.days(at)
    }

    /// When a time of the plan is.
    pub fn instant(&self, days: f64) -> Timestamp {
        self.config.timezone.instant(days)
    }

    /// Takes a visit in, one of the past before [`RefreshPlan::start`] and one
    /// just made after it.
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
        // A clock that was set back must not make a gap of less than nothing.
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

    /// Notes that a page waits in its queue to be tried again, so that it is not
    /// queued a second time. While a plan runs its own pages are out already; one
    /// that was queued by a run before it is not.
    fn waits(&mut self, page: PageId) {
        if self.is_started {
            self.planner.call(page);
        } else {
            self.tried.insert(page);
        }
    }

    /// Notes that a visit came to nothing; when the page is asked for again.
    fn trouble(&mut self, page: PageId, kind: Sighting, at: f64) -> f64 {
        let longest = self.planner.terms().longest_gap;
        let trouble = self.troubles.entry(page).or_default();
        *trouble = Trouble {
            times: trouble.times + 1,
            retry: at + rest(kind == Sighting::Gone, trouble.times, longest),
        };
        trouble.retry
    }

    /// All visits of the past are known. What the budget gathered since the last
    /// of them, or in `saved_max` days at most, may be spent at once. The budgets of
    /// sites, groups and hours gather nothing while nobody runs, so that no day and no
    /// hour is over them; a run that visits what is due and ends has a day's or an
    /// hour's worth at most. Returns how many visits of a table are left out, because
    /// there is no copy of their pages.
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
        for (page, trouble) in &self.troubles {
            self.planner.failed(*page, trouble.retry);
        }
        for page in &self.tried {
            self.planner.call(*page);
        }
        unknown
    }

    /// The pages that were being tried again when the last run ended, once.
    pub fn take_tried(&mut self) -> Vec<PageId> {
        self.tried.drain().collect()
    }

    /// Plans the pages that were being tried again when the last run ended like those of
    /// which a visit has just come to nothing: whoever looks ahead does not know how
    /// their tries end.
    pub fn forget_tried(&mut self, now: f64) {
        for page in self.take_tried() {
            self.missed(page, now);
        }
    }

    /// Goes on by another table; `None` if it is the one that is followed, else how many
    /// of its visits are left out, because there is no copy of their pages.
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

    /// A table by hours, and how many of its visits are of no page of the plan.
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

    /// When to ask for the next page or never_fetched; `None` without either.
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

    /// The page to visit next, if one is due by now. Time that passed while nobody
    /// asked is gone through as it would have been.
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
            // A page that stood too early in the queue moves on and the next one
            // is asked for; a plan that does not move on is left for later.
            idle = if at > self.at { 0 } else { idle + 1 };
            self.at = at;
            if idle > self.pages.len() {
                return None;
            }
        }
        None
    }

    /// The page that is visited next if nothing happens until `end`, and when that is.
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

    /// Requests a day, by the budget or by the table that is followed.
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

    /// Days in which the budget pays for a round.
    fn period(&self) -> f64 {
        self.pages.len().max(1) as f64 / self.planner.requests_per_day()
    }

    /// The round that is under way. Pages that cannot be had would seem to be of an older
    /// one for ever.
    fn resume_rounds(&self, now: f64) -> Rounds {
        let pages = 0..self.pages.len() as PageId;
        let had = pages.filter(|page| !self.troubles.contains_key(page));
        Rounds::resume(had.map(|page| self.planner.last(page)), self.period(), now)
    }

    /// The budget is another one: rounds are longer or shorter.
    pub(super) fn move_rounds(&mut self) {
        let period = self.period();
        if let Some(SetTimes::Rounds(rounds)) = &mut self.set_times {
            rounds.set_period(period);
        }
    }

    /// Takes a page out of its turn because somebody says that it has changed at
    /// this time, in days; `None` if there is no reason to. If there is no budget it is
    /// the next of its site, or of the whole plan. Set times have no such budget.
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

    /// Whether there is a reason to.
    pub fn would_visit_early(&self, url: &CrawlUrl, modified: f64) -> bool {
        let is_news = |page| modified > self.planner.last(page) && !self.planner.is_out(page);
        self.is_started && self.pages.find(url).is_some_and(is_news)
    }

    /// A page that was handed out could not be visited.
    pub fn missed(&mut self, page: PageId, now: f64) {
        if self.planner.is_out(page) {
            self.planner.failed(page, now + FAILED_REST);
        }
    }

    /// The pages.
    pub fn pages(&self) -> &Pages {
        &self.pages
    }

    /// The budgets of sites and groups, by the number of their account.
    pub fn limits(&self) -> &[Limit] {
        self.budgets.limits()
    }

    /// The plan.
    pub fn planner(&self) -> &Planner<Box<dyn Policy>> {
        &self.planner
    }

    /// The plan, to ask it what it would do.
    pub fn planner_mut(&mut self) -> &mut Planner<Box<dyn Policy>> {
        &mut self.planner
    }

    /// How it is kept.
    pub fn config(&self) -> &RefreshConfig {
        &self.config
    }

    /// When the last visit was, in days since 1970.
    pub fn last(&self) -> f64 {
        self.last
    }
}

#[cfg(test)]
pub(super) mod tests;
