//! The crawl of one partition: a synchronous, deterministic state machine.
//!
//! [`engine`] has the states and what is durable when; read it first. `stage/` has one
//! file per stage that a URL passes. The worker in `geomi-crawler` hosts engines and
//! gives them time, network, archive files and mail; `geomi-sim` does the same in virtual
//! time.
//!
//! ```text
//! link found ─ admit ─▶ in scope? ─▶ whose partition? ─▶ a trap? ─▶ seen? ─▶ priority ─▶ the site's queue
//! site's queue ─ poll ─▶ robots? ─▶ [worker: fetch ─▶ read] ─ arrived ─▶ judge ─▶ keep ─▶ settle ─▶ links
//! ```
//!
//! An engine reads no clock, starts no thread, opens no socket and no file. It logs with
//! `tracing`, which decides nothing.

mod again;
mod books;
mod config;
mod cookies;
mod credentials;
mod depths;
pub mod engine;
mod errands;
mod error;
pub mod explain;
mod failing;
mod held;
mod keys;
mod left;
mod letters;
mod log_line;
mod mirrors;
mod novelty;
mod partition;
mod policies;
mod promotion;
mod reconfigure;
mod refresh;
mod refusal;
mod script_links;
mod seeds;
mod stage;
mod status;
mod turns;
mod warnings;

pub use again::{Counted, Round};
pub use books::{Access, SiteAccess};
pub use config::{EngineConfig, FollowRules, LikenessRules, RobotsMode, SeedInput, SitemapMode};
pub use credentials::Credentials;
pub use engine::{
    Around, Effects, Engine, Job, Place, Poll, SeedCounts, Shared, VisitRows, World, partition_of,
};
pub use error::EngineError;
pub use failing::FailingSites;
pub use left::{Left, LeftGroup, LeftReason, LeftSums};
pub use letters::keeper;
pub use log_line::LogLine;
pub use mirrors::mirrored_content;
pub use partition::{ArchiveMark, Posted, Stored};
pub use policies::{SiteOverride, SitePolicies};
pub use refusal::{RefusalRule, refusal_names};
pub use seeds::{Seed, SeedOutcome};
pub use stage::address::LookedUp;
pub use stage::admit::{Admission, Admit, Found, Standing, as_seed, may_follow};
pub use stage::arrival::{Answer, Arrival, Content};
pub use stage::lease::{Extras, Validators};
pub use stage::likeness::shape;
pub use stage::robots::{RobotsWord, robots_word};
pub use stage::row::{Row, Story};
pub use stage::settle::{fate, retry_wait, signal};
pub use stage::start::{SEEDS_PER_COMMIT, SeedAdded};
pub use status::{
    Answers, Counters, Ending, Observer, Phase, RefreshStatus, Silent, Status, plural,
};
