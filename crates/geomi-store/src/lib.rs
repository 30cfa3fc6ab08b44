//! What is kept: partition state, WARC, CDXJ, visits in Parquet, the crawl directory.
//!
//! [`CrawlDir`] knows where everything lies and who may write. Answers go into
//! [`warc`] files; each visit becomes a row of [`visits`] and, if something was
//! stored, a line of [`cdxj`]; a [`segment`] is a run of visits turned into
//! files. [`readback`] finds single captures by URL and time; [`schedule`] is the
//! table of a week's visits; [`verify`] reads
//! everything and says where it does not agree. [`FjallStore`] and [`SeenFolder`] keep on
//! disk what `geomi-state` describes: the state of a partition and which URLs it knows.
//!
//! Nothing here reads a clock or decides anything about the crawl: times are
//! arguments, and what to write, and when it counts as written, is the
//! caller's business.

pub mod cdxj;
mod dir;
mod error;
mod fjall_store;
pub mod history;
pub mod readback;
mod regular_file;
pub mod schedule;
pub mod seeds;
mod seen_folder;
pub mod segment;
mod small_file;
mod sort;
mod table;
pub mod verify;
pub mod visits;
pub mod warc;

pub use dir::{AtomicFile, CrawlDir, DirLock, Owner, open_in_place};
pub use error::StoreError;
pub use fjall_store::{FjallOptions, FjallStore};
pub use regular_file::{open_beneath, open_regular, open_within};
pub use seen_folder::SeenFolder;
pub use small_file::{read_small, read_small_beneath, read_small_text};
pub use sort::LineSorter;
