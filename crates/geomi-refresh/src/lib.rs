//! When to look at a page again: the freshest copies for the fewest requests.
//!
//! Pages change when they like; a crawler sees at a visit only that there has been
//! a change, or none. From that this crate learns how often and at which hours
//! each page changes, and decides which page to visit next under a budget of
//! requests.
//!
//! * [`Evidence`] and [`Posterior`]: what visits say of a page's rate; [`Pool`]: what
//!   its kin say; [`estimators`]: the rules of thumb; [`mod@shape`]: hours of the day, to
//!   which `week` adds the days of a site;
//!   [`Belief`]: all of that of one page, to predict with;
//!   [`follows`]: whether the next visit will succeed.
//! * [`policy`]: rules that say when a page is due, one small file each.
//! * [`named`]: those a crawler can follow.
//! * [`Planner`]: the queue, the price of a request and the budgets.
//! * [`Grouping`] and [`schedule`]: REFRESH's groups and its schedule table.
//!
//! It is pure: no clock, no disk, no dice that are not its own and the same in every
//! run. Times are days as `f64`, day 0 beginning at a midnight. It knows nothing of
//! politeness, which stands above any plan.
//!
//! ```
//! use geomi_refresh::{Page, Planner, Terms, policy::Greedy};
//!
//! let terms = Terms { requests_per_day: 2.0, longest_gap: 90.0, learning: None };
//! let mut planner = Planner::new(Greedy::default(), terms, 0.0);
//! for _ in 0..3 {
//!     planner.add(&Page::default(), 0.0);
//! }
//! planner.start();
//! let now = planner.wake().unwrap();
//! if let Some(page) = planner.next(now) {
//!     planner.observe(page, true, now);
//! }
//! ```

mod accounts;
mod belief;
mod bucket;
mod course;
pub mod estimators;
mod groups;
mod hours;
mod learner;
pub mod named;
mod planner;
pub mod policy;
mod pool;
mod posterior;
mod probe;
mod queue;
pub mod rates;
mod rhythm;
pub mod schedule;
pub mod shape;
mod success;
mod survey;
pub mod upkeep;
mod week;
mod wishes;
mod worth;

pub use accounts::{AccountId, AccountState};
pub use belief::Belief;
pub use groups::{Group, Grouping};
pub use hours::{Hours, WEEK_HOURS};
pub use learner::{Knowledge, Learner};
pub use planner::{Asked, Learning, Planner, Terms};
pub use policy::{Page, PageId, Policy, Profile, Sight};
pub use pool::{Kin, Pool};
pub use posterior::{Evidence, Posterior, likelihood};
pub use success::{Follows, follows};
