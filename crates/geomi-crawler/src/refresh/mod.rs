//! Keeping a crawl fresh: the crawl loop with a plan beside it.
//!
//! `geomi refresh run` is [`crate::run`] with [`EngineConfig::refresh`] set. When
//! it begins, [`RefreshPlan`](geomi_refresh::upkeep::RefreshPlan) reads every visit the directory holds; while the
//! loop runs, the plan says which page is due, the page is queued like any other
//! (politeness and robots.txt stand above the plan), and the row of its visit
//! goes back into the plan. There is no other memory of the plan: a run that was
//! killed reads the same visits and goes on.
//!
//! [`EngineConfig::refresh`]: geomi_engine::EngineConfig::refresh

mod history;
mod table_file;

pub use history::{PLAN_COLUMNS, read_visits};
pub use table_file::{TableError, read_table};
pub(crate) use table_file::{TableFile, warn_of_unknown};
