//! The upkeep of a crawl's plan: visits go in, pages that are due come out.
//!
//! [`RefreshPlan`] is made of the visits of a crawl and of nothing else. Beside a
//! [`Planner`](crate::Planner) it has the pages, the budgets of sites, what has never been
//! fetched, template edits, and visits at set times. [`SiteSignals`] is how far a site's own
//! word on changes can be trusted. Whoever runs a crawl queues what is due and hands over
//! the visits.

mod budgets;
mod change;
mod never_fetched;
mod not_modified;
mod overdue;
mod pages;
mod plan;
mod quiet;
mod rounds;
mod signals;
mod table;
mod template_edits;
mod weights;

pub use budgets::{Limit, LimitKind, SitePlan};
pub use never_fetched::NeverFetchedId;
pub use not_modified::NotModifiedRecord;
pub use pages::{Pages, Sighted, Sighting, days, facts, instant};
pub use plan::{Budget, Drive, EarlyVisit, RefreshConfig, RefreshDrive, RefreshPlan};
pub use quiet::QuietHours;
pub use signals::{ComparedAnswer, LaterSignals, SignalRecord, SignalSource, SiteSignals};
pub use table::{TableRows, hour_of_week};
pub use weights::Weights;
