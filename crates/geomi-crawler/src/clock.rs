//! The one place that reads the time.

use std::fmt::Debug;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use geomi_model::Timestamp;

/// Where the crawler's time comes from.
pub trait Clock: Send + Sync + Debug {
    /// Now. Never earlier than an answer given before.
    fn now(&self) -> Timestamp;
}

/// Wall time that never runs backwards within a process: when the system clock
/// is set back, it stands still until the old time is reached again.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest: AtomicI64,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the clock everyone else is handed"
        )]
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        // A clock set before 1970 reads as the epoch.
        let micros = since_epoch.map_or(0, |span| {
            i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
        });
        let latest = self.latest.fetch_max(micros, Ordering::Relaxed);
        Timestamp::from_micros(latest.max(micros))
    }
}
