//! The refresh book: the plan of a crawl, fed with its visits.
//!
//! It decides which page is visited next and when, and hears of every visit. It
//! is made of what is durable, the visits, and of nothing else; it touches
//! neither queue nor disk.

use std::time::Duration;

use geomi_model::Visit;
use geomi_refresh::policy::Policy;
use geomi_refresh::{PageId, Planner, Terms, named};
use geomi_url::CrawlUrl;
use hashbrown::HashMap;

use super::batches::{Batches, Place};
use super::pages::{Pages, Sighted, Sighting, facts};
use super::waves::Waves;

/// How long a page rests after a visit that came to nothing, in days.
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
    /// The longest time a page is left alone.
    pub longest_gap: Duration,
    /// What decides when a page is due.
    pub drive: Drive,
    /// Whether to end when what is due now has been visited.
    pub once: bool,
}

/// What decides when a page is due.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Drive {
    /// The policy, visit by visit: incremental operation.
    #[default]
    Plan,
    /// All pages in rounds, as often as the budget allows: periodic operation.
    Rounds,
    /// A table: hours of the week, from Sunday midnight on, and URLs.
    Table(Vec<(usize, CrawlUrl)>),
}

impl Default for RefreshConfig {
    fn default() -> Self {
        Self {
            policy: "clock".to_owned(),
            budget: Budget::PerPage(1.0 / 7.0),
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
pub struct RefreshBook {
    config: RefreshConfig,
    pages: Pages,
    planner: Planner<Box<dyn Policy>>,
    waves: Waves,
    /// Where pages are visited at set times: which, and how far it is.
    batches: Option<(Batches, Place)>,
    is_started: bool,
    /// The time up to which the plan was asked.
    at: f64,
    /// The last visit of any page.
    last: f64,
    /// Pages whose last visit came to nothing, and when they are tried again;
    /// only before the plan starts.
    resting: HashMap<PageId, f64>,
}

impl RefreshBook {
    /// A book without pages.
    ///
    /// # Panics
    ///
    /// If there is no policy of that name: whoever reads what an operator wrote
    /// has checked it.
    pub fn new(config: &RefreshConfig) -> Self {
        let policy = named::policy(&config.policy).expect("the name of a policy was checked");
        let terms = Terms {
            requests_per_day: config.budget.requests_per_day(0),
            longest_gap: config.longest_gap.as_secs_f64() / 86_400.0,
        };
        Self {
            config: config.clone(),
            pages: Pages::default(),
            planner: Planner::new(policy, terms, 0.0),
            waves: Waves::default(),
            batches: None,
            is_started: false,
            at: 0.0,
            last: 0.0,
            resting: HashMap::new(),
        }
    }

    /// Takes a visit in, one of the past before [`RefreshBook::start`] and one
    /// just made after it.
    pub fn take(&mut self, visit: &Visit, tries: u8) -> Option<Sighted> {
        let mut sighted = self.pages.take(visit, tries)?;
        if let Some(changed) = sighted.kind.changed() {
            let is_shallow = changed && sighted.has_same_main_text;
            if self.waves.take(visit.url.site_hash(), is_shallow) {
                sighted.kind = Sighting::Edited;
            }
        }
        let Sighted { page, kind, at, .. } = sighted;
        self.last = self.last.max(at);
        if kind == Sighting::First {
            self.planner.add(&facts(visit), at);
            let requests = self.config.budget.requests_per_day(self.pages.len());
            self.planner.set_requests_per_day(requests);
            return Some(sighted);
        }
        // A clock that was set back must not make a gap of less than nothing.
        let at = at.max(self.planner.last(page) + GAP_MIN);
        let retry = match kind {
            Sighting::Gone => at + self.planner.terms().longest_gap,
            _ => at + FAILED_REST,
        };
        match (kind.changed(), self.is_started) {
            (Some(changed), true) => self.planner.observe(page, changed, at),
            (Some(changed), false) => {
                self.planner.recall(page, changed, at);
                self.resting.remove(&page);
            }
            (None, _) if kind == Sighting::Edited => self.planner.renew(page, at),
            (None, true) => self.planner.failed(page, retry),
            (None, false) => {
                self.resting.insert(page, retry);
            }
        }
        Some(sighted)
    }

    /// All visits of the past are known. What the budget gathered since the last
    /// of them, or in `saved_max` days at most, may be spent at once.
    pub fn start(&mut self, now: f64, saved_max: f64) {
        self.is_started = true;
        self.at = self.last.clamp(now - saved_max, now);
        self.planner.start_at(self.at);
        let batches = match &self.config.drive {
            Drive::Plan => None,
            Drive::Rounds => Some(Batches::Rounds {
                period: self.pages.len().max(1) as f64 / self.planner.terms().requests_per_day,
            }),
            Drive::Table(rows) => {
                let mut hours = vec![Vec::new(); 7 * 24];
                for (hour, url) in rows {
                    if let (Some(slot), Some(page)) = (hours.get_mut(*hour), self.pages.find(url)) {
                        slot.push(page);
                    }
                }
                Some(Batches::Table(hours))
            }
        };
        self.batches = batches.map(|batches| {
            let place = batches.at(now);
            (batches, place)
        });
        for (page, retry) in self.resting.drain() {
            self.planner.failed(page, retry);
        }
    }

    /// When to ask for the next page; `None` without pages.
    pub fn wake(&self) -> Option<f64> {
        match &self.batches {
            Some((batches, place)) => batches.wake(*place, self.pages.len()),
            None => self.planner.wake(),
        }
    }

    /// The page to visit next, if one is due by now. Time that passed while nobody
    /// asked is gone through as it would have been.
    pub fn next(&mut self, now: f64) -> Option<PageId> {
        if self.batches.is_some() {
            return self.next_in_batch(now);
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

    fn next_in_batch(&mut self, now: f64) -> Option<PageId> {
        let (batches, place) = self.batches.as_mut()?;
        loop {
            let page = batches.next(place, now, self.pages.len())?;
            let is_done = self.planner.last(page) >= batches.time(*place);
            if !is_done && self.planner.call(page) {
                return Some(page);
            }
        }
    }

    /// Takes a page out of its turn because somebody says that it has changed at
    /// this time, in days; `None` if there is no reason to.
    pub fn call(&mut self, url: &CrawlUrl, modified: f64) -> Option<PageId> {
        let page = self.pages.find(url)?;
        (self.would_call(url, modified) && self.planner.call(page)).then_some(page)
    }

    /// Whether there is a reason to.
    pub fn would_call(&self, url: &CrawlUrl, modified: f64) -> bool {
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
