//! The upkeep of a crawl's plan: visits go in, pages that are due come out.
//!
//! [`RefreshBook`] is made of the visits of a crawl and of nothing else. Beside a
//! [`Planner`](crate::Planner) it has the pages, the budgets of sites, what has never been
//! fetched, template edits, and visits at set times. [`SiteSigns`] is how far a site's own
//! word on changes can be trusted. Whoever runs a crawl queues what is due and hands over
//! the visits.

mod book;
mod budgets;
mod candour;
mod change;
mod overdue;
mod pages;
mod quiet;
mod rounds;
mod signs;
mod strays;
mod table;
mod waves;
mod weights;

pub use book::{Budget, Called, Drive, RefreshBook, RefreshConfig, RefreshDrive};
pub use budgets::{Limit, LimitKind, SitePlan};
pub use candour::Candour;
pub use pages::{Pages, Sighted, Sighting, days, facts, instant};
pub use quiet::QuietHours;
pub use signs::{Answered, Herald, LaterSigns, Signals, SiteSigns};
pub use strays::StrayId;
pub use table::{TableRows, hour_of_week};
pub use weights::Weights;
