//! The rules that say when a page is due, one small file each.
//!
//! A [`Policy`] is asked for one thing: when is this page due, if a request has
//! this price? The price is how the budget is kept (see
//! [`Planner`](crate::Planner)): for rules that weigh what a visit brings it is
//! what a visit must bring, in days of freshness; for rules that set intervals
//! it is the factor by which all of them are stretched. A rule that lets itself
//! neither be priced nor stretched ignores it.
//!
//! | policy | rule | learns from its visits |
//! |---|---|---|
//! | [`Static`] | every page as often | no |
//! | [`Proportional`] | as often as it changes | yes |
//! | [`Sampling`] | a sample of each site says how often its pages are visited | yes |
//! | [`Grouped`] | REFRESH's 16 or 6 groups by changes a week | yes |
//! | [`Multiplicative`] | the interval times one factor after a change, another without: REFRESH's reference 6, Nutch, StormCrawler | yes |
//! | [`Optimal`] | the best allocation, rates known | no |
//! | [`Harmonic`] | as often as the root of its rate, rates known | no |
//! | [`Greedy`] | what a visit brings, averaged over the posterior | yes |
//! | [`Age`] | the same for age instead of freshness | yes |
//! | [`Clock`] | what a visit brings and teaches, at the hours in which it brings most | yes |
//! | [`KnownClock`] | the best allocation at the best hours, rates and hours known | no |

mod age;
mod clock;
mod greedy;
mod grouped;
mod harmonic;
mod known_clock;
mod multiplicative;
mod optimal;
mod proportional;
mod sampling;
mod static_cycle;

pub use age::Age;
pub use clock::Clock;
pub use greedy::Greedy;
pub(crate) use greedy::{crossing, gap as greedy_gap};
pub use grouped::Grouped;
pub use harmonic::Harmonic;
pub use known_clock::KnownClock;
pub use multiplicative::Multiplicative;
pub use optimal::{Optimal, best_gap, freshness};
pub use proportional::Proportional;
pub use sampling::Sampling;
pub use static_cycle::Static;

use crate::belief::Belief;
use crate::pool::Kin;
use crate::shape::PARTS;

/// A page by its place in the plan, from 0 on without gaps.
pub type PageId = u32;

/// What is known of a page before it is visited again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Page {
    /// How much its freshness matters; 1 for a page like any other.
    pub weight: f32,
    /// Which pages it is like.
    pub kin: Kin,
}

impl Default for Page {
    fn default() -> Self {
        Self {
            weight: 1.0,
            kin: Kin::default(),
        }
    }
}

/// What a visit found. A visit that failed says nothing of changes and is not
/// observed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sight {
    /// The page.
    pub page: PageId,
    /// When it was seen before, in days.
    pub from: f64,
    /// When it was seen now.
    pub to: f64,
    /// Whether it was another then.
    pub changed: bool,
}

impl Sight {
    /// What a visit teaches that was made because somebody said that the page has
    /// changed, before its turn at `due`. Such visits are no fair sample: they come when
    /// there is a change to be found, so a change found soon does not tell of a fast
    /// page. Nor can they be left out: the changes would be missing. What a change does
    /// tell is what the visit at its turn would have found.
    pub fn called(page: PageId, changed: bool, (from, at): (f64, f64), due: f64) -> Self {
        Self {
            page,
            from,
            to: if changed { due.max(at) } else { at },
            changed,
        }
    }

    /// Days between the two visits.
    pub fn gap(&self) -> f64 {
        self.to - self.from
    }
}

/// When a page changes, as it is believed: each number is the rate against the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Profile {
    /// In each part of the day, from midnight on.
    pub hours: [f32; PARTS],
    /// On each day of the week, from day 0 on.
    pub days: [f32; 7],
}

/// How a planner spends its budget on a policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// Requests evenly spaced, the page that is due first at each: the budget
    /// is used up whatever the rule would like.
    Even,
    /// A page is visited when it is due, within what the budget has saved up.
    WhenDue,
}

/// A rule that says when pages are due.
pub trait Policy: std::fmt::Debug + Send {
    /// How it likes to be served.
    fn pace(&self) -> Pace;

    /// How many days' worth of requests it may save up, to spend them together.
    fn saves_days(&self) -> f64 {
        0.5
    }

    /// One more page; its number is how many there were.
    fn add(&mut self, page: &Page);

    /// A page has been visited.
    fn observe(&mut self, sight: &Sight);

    /// When a page last seen at `last` is due, in days, if a request has this
    /// price. Later for a higher price; infinite if never.
    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64;

    /// When the same page would be due were there nothing left to find out about
    /// it: what the price is set by. A rule that probes pages while it learns them
    /// would otherwise drive the price away from what it will be.
    fn settled(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        self.due(page, last, price)
    }

    /// The hours and days the rule goes by for a page, if any have proven themselves.
    fn profile(&self, _page: PageId) -> Option<Profile> {
        None
    }

    /// What the rule itself believes of a page, where that is more than the rate a
    /// [`Learner`](crate::Learner) finds in the same visits.
    fn belief(&self, _page: PageId) -> Option<Belief> {
        None
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn pace(&self) -> Pace {
        (**self).pace()
    }

    fn saves_days(&self) -> f64 {
        (**self).saves_days()
    }

    fn add(&mut self, page: &Page) {
        (**self).add(page);
    }

    fn observe(&mut self, sight: &Sight) {
        (**self).observe(sight);
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        (**self).due(page, last, price)
    }

    fn settled(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        (**self).settled(page, last, price)
    }

    fn profile(&self, page: PageId) -> Option<Profile> {
        (**self).profile(page)
    }

    fn belief(&self, page: PageId) -> Option<Belief> {
        (**self).belief(page)
    }
}
