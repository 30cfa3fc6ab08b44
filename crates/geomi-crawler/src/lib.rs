//! The worker: it hosts the engines of partitions and is the one crawl loop of geomi.
//!
//! ```text
//! engine ─ job ─▶ fetch ─▶ read ─ arrival ─▶ engine (judge ─▶ keep ─▶ settle ─▶ links) ─▶ commit ─▶ effects
//! ```
//!
//! `worker.rs` has the loop and is the file to read first; `stage/` has what the worker
//! does between an engine's job and its arrival. Everything else that happens to a URL is
//! in `geomi-engine`. Crawling, refreshing and observing differ in configuration, not in
//! loops.
//!
//! [`probe()`] takes one URL through the same stages and reports what each decided; it
//! leases, admits and writes nothing.
//!
//! # Threads
//!
//! | thread | does | is connected by |
//! |---|---|---|
//! | owner (the caller of [`run`]) | engines, archive files, mail, committing | takes events, gives jobs |
//! | network runtime | look-ups and fetches | one task per lease, at most `connections` |
//! | readers, one per core | charset, links, digests, compression | bounded channels on both sides |
//!
//! Nothing is shared behind a lock but the [`Control`] a user holds. A lease stays open
//! until its result is committed, so at most `connections` requests are repeated after a
//! crash.
//!
//! # What is durable when
//!
//! In each round the owner takes the visits that have finished, writes and syncs their
//! WARC records, then commits one batch per partition with everything they changed. A
//! commit is readable at once and durable when the store says so; only then do letters to
//! other partitions leave, and visits enter the log. [`DurableStep`] names the moments
//! between; a test crashes the crawl at each of them. A crash repeats work and loses none:
//! WARC records that no commit refers to are cut off when the directory is opened again.

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
