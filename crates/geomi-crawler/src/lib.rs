//! The journey of a URL: the one crawl loop of the whole program.
//!
//! ```text
//! link found ─ admit ─▶ in scope? ─▶ whose partition? ─▶ seen? ─▶ priority ─▶ the site's queue
//! site's queue ─ lease ─▶ robots? ─▶ fetch ─▶ read ─▶ judge ─▶ keep ─▶ settle ─▶ links ─▶ admit
//! ```
//!
//! [`journey`] wires it and is the file to read first; `stage/` has one file a
//! stage. Crawling, refreshing and observing differ in configuration, not in
//! loops.
//!
//! [`probe`] takes one URL through the same stages and tells what each decided;
//! it leases, admits and writes nothing.
//!
//! # Threads
//!
//! | thread | does | talks over |
//! |---|---|---|
//! | owner (the caller of [`run`]) | frontier, judging, keeping, committing | takes events, gives work |
//! | network runtime | look-ups and fetches | one task a lease, bounded by `connections` |
//! | readers, one a core | charset, links, digests, compression | bounded channels on both sides |
//!
//! Nothing is shared behind a lock but the [`Control`] a user holds. A lease
//! stays open until what it brought is durable, so no more than `connections`
//! requests are ever repeated after a crash.
//!
//! # What is durable when
//!
//! In each round the owner takes the visits that have finished, writes and
//! syncs their WARC records, then commits one batch a partition with
//! everything they changed, then publishes mail to other partitions, then
//! writes the log. [`DurableStep`] names the moments between; a test crashes
//! the crawl at each of them. A crash repeats work and loses none: WARC records
//! that no commit speaks of are cut off when the directory is opened again.

mod archive;
mod clock;
mod config;
mod control;
mod crew;
mod error;
mod explain;
pub mod load;
mod log;
pub mod log_reader;
mod orders;
mod post;
mod probe;
mod publish;
mod quarantine;
pub mod refresh;
pub mod remote;
mod report;
mod reread;
mod seeds;
mod stage;
mod steps;
mod worker;

pub use clock::{Clock, FastClock, SystemClock};
pub use config::{CrawlConfig, Limits, Output};
pub use control::{Control, Desired};
pub use error::CrawlError;
pub use explain::{inspect, site_signals};
pub use orders::{Order, Reply, SeedsAdded};
pub use probe::{
    AddressStep, ExchangeStep, Hop, HopEnd, LinkStep, LinkVerdict, Probe, Question, RefusedBy,
    RobotsRequest, RobotsStep, ScopeStep, StoredStep, probe,
};
pub use reread::Rereader;
pub use seeds::SeedStream;
pub use steps::{DurableStep, NoFaults, Steps};
pub use worker::{Surroundings, run, run_from, run_with};
