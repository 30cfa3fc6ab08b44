//! Keeping a crawl fresh: the crawl loop with a plan beside it.
//!
//! `geomi refresh run` is [`crate::run`] with [`CrawlConfig::refresh`] set. When
//! it begins, [`RefreshBook`](geomi_refresh::upkeep::RefreshBook) reads every visit the directory holds; while the
//! loop runs, the book says which page is due, the page is queued like any other
//! (politeness and robots.txt stand above the plan), and the row of its visit
//! goes back into the book. There is no other memory of the plan: a run that was
//! killed reads the same visits and goes on.
//!
//! [`CrawlConfig::refresh`]: crate::CrawlConfig::refresh

mod discovery;
mod history;
mod table_file;
mod turn;

pub(crate) use discovery::Discovery;
pub use history::{PLAN_COLUMNS, read_visits};
pub(crate) use table_file::TableFile;
pub use table_file::{TableError, read_table};
pub(crate) use turn::Call;
pub use turn::site_signs;
