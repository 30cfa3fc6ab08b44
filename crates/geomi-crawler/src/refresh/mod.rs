//! Keeping a crawl fresh: the crawl loop with a plan beside it.
//!
//! `geomi refresh run` is [`crate::run`] with [`CrawlConfig::refresh`] set. When
//! it begins, [`RefreshBook`] reads every visit the directory holds; while the
//! loop runs, the book says which page is due, the page is queued like any other
//! (politeness and robots.txt stand above the plan), and the row of its visit
//! goes back into the book. There is no other memory of the plan: a run that was
//! killed reads the same visits and goes on.
//!
//! [`CrawlConfig::refresh`]: crate::CrawlConfig::refresh

mod book;
mod budgets;
mod candour;
mod change;
mod discovery;
mod history;
mod overdue;
mod pages;
mod quiet;
mod rounds;
mod signs;
mod strays;
mod table;
mod table_file;
mod turn;
mod waves;
mod weights;

pub use book::{Budget, Drive, RefreshBook, RefreshConfig};
pub use budgets::{Limit, LimitKind, SitePlan};
pub use candour::Candour;
pub(crate) use discovery::Discovery;
pub use history::{PLAN_COLUMNS, read_visits};
pub use pages::{Pages, Sighted, Sighting, days, facts, instant};
pub use quiet::QuietHours;
pub(crate) use signs::{Herald, LaterSigns};
pub use signs::{Signals, SiteSigns};
pub use crate::explain::site_signs;
pub use table::hour_of_week;
pub(crate) use table_file::TableFile;
pub use table_file::{TableError, TableRows, read_table};
pub(crate) use turn::Call;
pub use weights::Weights;
