//! The server's two times: the wall's for the log, the web's for its pages.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use geomi_model::Timestamp;

/// The time pages are answered for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WebTime {
    /// The wall clock's.
    Wall,
    /// It begins at `start` and runs `speed` times as fast as the wall clock;
    /// with 0 it stands still until [`crate::ServerHandle::advance`].
    From {
        /// The web's time when the server starts.
        start: Timestamp,
        /// Seconds a second.
        speed: f64,
    },
}

pub(crate) struct Clock {
    started: Instant,
    wall: Timestamp,
    web: WebTime,
    advanced_us: AtomicI64,
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the server is socket code: here its clock begins"
    )]
    pub(crate) fn start(web: WebTime) -> Self {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("the clock is set to after 1970");
        Self {
            started: Instant::now(),
            wall: Timestamp::EPOCH + since_epoch,
            web,
            advanced_us: AtomicI64::new(0),
        }
    }

    /// Wall time that never runs backwards.
    pub(crate) fn now(&self) -> Timestamp {
        self.wall + self.started.elapsed()
    }

    pub(crate) fn web_now(&self) -> Timestamp {
        self.web_at(self.now())
    }

    /// The web's time at a time of the wall, if it was not advanced since.
    pub(crate) fn web_at(&self, wall: Timestamp) -> Timestamp {
        let now = match self.web {
            WebTime::Wall => wall,
            WebTime::From { start, speed } => start + wall.since(self.wall).mul_f64(speed.max(0.0)),
        };
        let advanced = self.advanced_us.load(Ordering::Relaxed);
        Timestamp::from_micros(now.micros() + advanced)
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.advanced_us
            .fetch_add(by.as_micros() as i64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_clock_moves_when_told() {
        let start = Timestamp::from_secs(1000);
        let clock = Clock::start(WebTime::From { start, speed: 0.0 });
        assert_eq!(clock.web_now(), start);
        clock.advance(Duration::from_secs(5));
        assert_eq!(clock.web_now(), Timestamp::from_secs(1005));
        assert!(clock.now() > start);
    }
}
