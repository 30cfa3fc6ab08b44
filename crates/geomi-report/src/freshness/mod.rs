//! How fresh the copies of a crawl are, and how right its plan was.
//!
//! [`Past`] hears the visits of a crawl in order, as the plan that keeps it fresh does, and
//! tells of each what was thought before it ([`Moment`]). From these, [`Tally`] makes
//! counts and *predicted against seen*, and [`Upkeep`] the curves of freshness and age.
//! Whoever reads the visits hands them over one by one: nothing here reads a file.
//!
//! Times are days since 1970, as in the plan.

mod past;
mod tally;
mod upkeep;

pub use past::{Moment, Past, Seen, belief};
pub use tally::{CLASSES, Class, Tally};
pub use upkeep::{Copies, Held, Point, Upkeep};
