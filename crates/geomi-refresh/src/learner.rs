//! The rates of all pages, learned from their visits.
//!
//! It owns the evidence of every page and the pooled priors, and keeps the
//! latter up to date by sweeping a few pages with each visit.

use crate::policy::{Page, PageId, Sight};
use crate::pool::{Groups, Pool};
use crate::posterior::{Evidence, Posterior, Rounding, likelihood};
use crate::rates::PerRate;

/// Pages counted into the pooled priors with each visit of a plan of so many: a small
/// one has few visits, and the priors take several rounds to settle.
pub(crate) const fn swept_a_visit(pages: usize) -> usize {
    match pages {
        ..65_536 => 4,
        65_536..1_048_576 => 2,
        _ => 1,
    }
}

/// Days in which evidence loses half of its weight.
const HALF_LIFE: f64 = 365.0;

/// Days for which a page is new.
const NEW_DAYS: f64 = 28.0;

/// Visits after which it is so no longer, however young.
const NEW_VISITS: u8 = 7;

/// What is believed of all pages.
#[derive(Clone, Debug, Default)]
pub struct Learner {
    pages: Vec<Learned>,
    pool: Pool,
    cursor: usize,
}

#[derive(Clone, Debug)]
struct Learned {
    evidence: Evidence,
    groups: Groups,
    weight: f32,
    /// When it was first seen, in days; not a number before it is seen again.
    since: f32,
    visits: u8,
}

impl Learner {
    /// One more page.
    pub fn add(&mut self, page: &Page) {
        self.pages.push(Learned {
            evidence: Evidence::default(),
            groups: self.pool.groups(&page.kin),
            weight: page.weight,
            since: f32::NAN,
            visits: 0,
        });
    }

    /// A page has been visited.
    pub fn observe(&mut self, sight: &Sight) {
        let likelihood = likelihood(sight.gap(), sight.changed);
        self.take(sight, &likelihood);
    }

    /// The same, where something else is known of what the visit says.
    pub(crate) fn take(&mut self, sight: &Sight, likelihood: &PerRate) {
        let memory = (-sight.gap() / HALF_LIFE).exp2() as f32;
        let page = &mut self.pages[sight.page as usize];
        let rounding = Rounding::of_visit(sight.to);
        page.evidence.take(likelihood, memory, rounding);
        if page.visits == 0 {
            page.since = sight.from as f32;
        }
        page.visits = page.visits.saturating_add(1);
        self.sweep();
    }

    /// Counts the next pages into the priors.
    fn sweep(&mut self) {
        for _ in 0..swept_a_visit(self.pages.len()) {
            let groups = self.pages[self.cursor].groups;
            let posterior = self.posterior(self.cursor as PageId);
            self.pool.sweep(groups, &posterior);
            self.cursor += 1;
            if self.cursor == self.pages.len() {
                self.cursor = 0;
                self.pool.finish();
            }
        }
    }

    /// What is believed of a page's rate before looking at it.
    pub(crate) fn prior(&self, page: PageId) -> PerRate {
        self.pool.prior(self.pages[page as usize].groups)
    }

    /// What is believed of a page's rate.
    pub fn posterior(&self, page: PageId) -> Posterior {
        Posterior::new(&self.prior(page), &self.pages[page as usize].evidence)
    }

    /// Whether a page is in its first weeks at this time and has had few visits.
    pub(crate) fn is_new(&self, page: PageId, now: f64) -> bool {
        let page = &self.pages[page as usize];
        let is_young = page.visits == 0 || now - f64::from(page.since) < NEW_DAYS;
        is_young && page.visits < NEW_VISITS
    }

    /// The number of its site; all small sites are 0.
    pub(crate) fn site(&self, page: PageId) -> u32 {
        self.pool.site(self.pages[page as usize].groups)
    }

    /// How much a page matters.
    pub fn weight(&self, page: PageId) -> f32 {
        self.pages[page as usize].weight
    }

    /// What is believed of all pages together.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }
}

/// Where a rule has its rates from.
#[derive(Clone, Debug)]
pub enum Knowledge {
    /// From the visits.
    Learned(Box<Learner>),
    /// From elsewhere, in changes a day: in a laboratory, or after a learning
    /// period in which pages are looked at all the time.
    Known(Vec<f64>),
}

impl Knowledge {
    /// Nothing is known yet.
    pub fn none() -> Self {
        Self::Learned(Box::default())
    }

    pub(crate) fn add(&mut self, page: &Page) {
        if let Self::Learned(learner) = self {
            learner.add(page);
        }
    }

    pub(crate) fn observe(&mut self, sight: &Sight) {
        if let Self::Learned(learner) = self {
            learner.observe(sight);
        }
    }

    /// Changes a day.
    pub(crate) fn rate(&self, page: PageId) -> f64 {
        match self {
            Self::Learned(learner) => learner.posterior(page).mean(),
            Self::Known(rates) => rates[page as usize],
        }
    }
}
