//! What a crawl came to: its visits folded into tables.
//!
//! [`make`] reads the tables of visits of a crawl directory, and where links
//! are asked for its stored pages, and gives a [`Report`]: sections of named
//! facts and rows, which print as tables, JSON or CSV alike. A running crawl is
//! read up to its last closed table. How fresh its copies are is told by
//! [`freshness`].
//!
//! # Passes
//!
//! | pass | reads | for |
//! |---|---|---|
//! | `sweep` | every visit once | counts by state, code, type, depth, topic, site, address; slowest and biggest; dead pages; mirrors, near-duplicates, soft 404s, spam |
//! | `pages`, `duplicates` | some columns, once for each share of the URL space | what depends on several visits of one page, or on several pages with one content |
//! | `links` | the pages as stored | which pages link to the dead ones |
//!
//! # Memory
//!
//! Visits are streamed. Kept are: a tally for each site and each address; the
//! samples by which mirrors are told (about 30 MiB at most); a
//! hash for each dead page; the rows asked for; and in the second pass some
//! tens of bytes for each page of one share, where a share has at most
//! `PAGES_PER_PASS` pages. So 100 million visits are more passes, not
//! more memory. `top: None` asks for every row and keeps every row.
//!
//! # Words
//!
//! A page's visit **ends** unless the page is tried again for it; saved,
//! redirected and failed are as in [`geomi_model::Fate`]. What is not defined
//! is said to be nothing (JSON `null`), never zero:
//!
//! * **success rate** = saved / (saved + failed) of the visits that ended.
//!   Redirects are neither. Nothing if no visit ended so.
//! * **change rate** = visits that found the page changed / visits that could
//!   be compared with one before (304 among them). Nothing with one visit.
//! * **age variation** = standard deviation / mean of a page's ages, an age
//!   being the time from one change that was seen to the next: the coefficient
//!   of age variation of Kim and Lee (2005). 0 is a page that changes by
//!   the clock, 1 one that changes at random (Poisson), more one that changes
//!   in bursts. Needs two ages, so three changes; nothing below that. When a
//!   page changed between two visits is not known, so ages are as coarse as the
//!   visits. Of a site: the mean over its pages that have one.
//! * **load ratio** S(x) = requests a day / URLs. Requests are visits that came
//!   as far as a request, robots.txt and retries among them; a crawl shorter
//!   than a day counts as a day, since all its requests fell into one.
//! * **accuracy** = wanted pages / fetched pages. Fetched: a complete answer
//!   came at least once. Wanted: saved at least once, and matched by an include
//!   pattern where there are any.
//! * **recall** = known URLs saved / known URLs.
//!
//! Nothing here writes, asks the network, or reads a clock.

mod dead;
mod duplicates;
mod error;
pub mod freshness;
#[cfg(test)]
mod history_tests;
mod likeness;
mod links;
mod measures;
mod overview;
mod page_tables;
mod pages;
mod report;
mod section;
mod site_tables;
mod sites;
mod sweep;
mod tables;
mod top;

pub use error::ReportError;
pub use report::{Linking, Options, Report, make};
pub use section::{Section, SectionKind, Value};
