//! The one place that reads the time.

use std::fmt::Debug;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use geomi_model::Timestamp;

/// Where the crawler's time comes from.
pub trait Clock: Send + Sync + Debug {
    /// Now. Never earlier than an answer given before.
    fn now(&self) -> Timestamp;
}

/// Wall time as it was when the process began, carried on by the monotonic
/// clock. A step of the system clock neither stalls a crawl nor cuts a rest
/// short; the next run sees the corrected time.
#[derive(Debug)]
pub struct SystemClock {
    origin: Timestamp,
    begun: Instant,
}

impl Default for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock everyone else is handed"
    )]
    fn default() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock set before 1970 reads as the epoch.
        let since_epoch = since_epoch.unwrap_or_default();
        Self {
            origin: Timestamp::EPOCH + since_epoch,
            begun: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.origin + self.begun.elapsed()
    }
}
