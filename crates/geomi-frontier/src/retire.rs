//! Why a site is left alone for the rest of a run.

use geomi_model::Timestamp;
use serde::{Deserialize, Serialize};

/// The kind of reason for which a site is retired.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum RetireReason {
    /// The site asked for a longer wait than [`Config::wait_max`](crate::Config::wait_max)
    /// (429 or 503).
    LongWait,
    /// The Crawl-delay of its robots.txt, or our own delay, is longer than that.
    LongDelay,
    /// It failed so often that back-off is longer than that, or that no answer is to be
    /// expected any more.
    Failing,
    /// Its robots.txt redirects to a site that is left alone or has no address.
    RobotsElsewhere,
    /// As many of its pages are saved as its rules allow.
    PagesSaved,
}

/// That a site is retired: saved with its state, so that the reason is known as long as
/// its URLs wait, whether or not the site is in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Retirement {
    /// The run it holds for: [`Config::run`](crate::Config::run).
    pub run: Timestamp,
    /// The kind of reason.
    pub reason: RetireReason,
    /// When the site may be asked again, where that is known.
    pub until: Option<Timestamp>,
    /// The reason in a sentence.
    pub why: String,
}

/// Tries that were made and failed before a site could be asked for its first page. They
/// are saved with its state, so that a site that makes room for others does not begin
/// anew each time it is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tries {
    /// Look-ups of its address, in a row.
    pub lookup: u8,
    /// Requests for its robots.txt, in a row.
    pub robots: u8,
}
