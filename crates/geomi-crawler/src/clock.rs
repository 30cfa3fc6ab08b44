//! The one place that reads the time.

use std::fmt::Debug;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use geomi_model::Timestamp;

/// Where the crawler's time comes from.
pub trait Clock: Send + Sync + Debug {
    /// Now. Never earlier than an answer given before.
    fn now(&self) -> Timestamp;

    /// How long to wait for a span of this clock to pass.
    fn wait_for(&self, span: Duration) -> Duration {
        span
    }

    /// The span of this clock that passes while one waits so long.
    fn passes_in(&self, wait: Duration) -> Duration {
        wait
    }
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

/// A clock that runs faster: a laboratory sees in a minute what takes an hour
/// of rests. Everything the crawler measures is as much longer, so that what is
/// a multiple of a measured time stays one.
#[derive(Debug)]
pub struct FastClock {
    clock: SystemClock,
    times: u32,
}

impl FastClock {
    /// A clock that runs `times` as fast as the system's, from now on.
    pub fn new(times: u32) -> Self {
        assert!(times > 0, "a clock moves on");
        Self {
            clock: SystemClock::default(),
            times,
        }
    }

    /// The same, where time has come further already: a run goes on where the one
    /// before it ended, though that was ahead of the system's clock.
    #[must_use]
    pub fn not_before(mut self, time: Timestamp) -> Self {
        self.clock.origin = self.clock.origin.max(time);
        self
    }
}

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        self.clock.origin + self.clock.begun.elapsed() * self.times
    }

    fn wait_for(&self, span: Duration) -> Duration {
        span / self.times
    }

    fn passes_in(&self, wait: Duration) -> Duration {
        wait * self.times
    }
}
