//! The refresh plan of a crawl: takes in visits, returns the pages that are due.
//!
//! [`RefreshPlan`] is built from the visits of a crawl. In addition to a
//! [`Planner`](crate::Planner) it has the list of pages, the budgets of sites, the URLs that
//! have never been fetched, template edits, and visits at fixed times. [`SiteSignals`] records
//! how reliable the change signals of a site are. The caller queues the pages that are due and
//! reports the visits.

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
