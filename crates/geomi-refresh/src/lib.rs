//! When to look at a page again.

mod groups;
mod learner;
mod planner;
pub mod policy;
mod pool;
mod posterior;
pub mod rates;
mod rhythm;
pub mod shape;
mod worth;

pub use groups::{Group, Grouping};
pub use learner::{Knowledge, Learner};
pub use planner::{Planner, Terms};
pub use policy::{Page, PageId, Policy, Sight};
pub use pool::{Kin, Pool};
pub use posterior::{Evidence, Posterior, likelihood};
