//! How fast leases go out, and what round-trip times are usual here.
//!
//! Both are running means: over about the last thousand leases, and over the
//! logarithms of about the last five hundred round trips, because round-trip
//! times differ by factors and not by seconds.

use std::time::Duration;

use geomi_model::Timestamp;

/// Leases the mean gap looks back on.
const LEASES: f64 = 1_024.0;
/// Answers the usual round trip looks back on.
const ANSWERS: f64 = 512.0;
/// A longer silence says that there was nothing to do, or a pause.
const GAP_MAX: Duration = Duration::from_secs(1);
/// Spread of the logarithm below which round trips count as alike: 20 %.
const SPREAD_MIN: f64 = 0.2;

/// Running means of a frontier's work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    last_lease: Option<Timestamp>,
    leases: f64,
    gap_s: f64,
    answers: f64,
    /// Mean and variance of the logarithm of round-trip times in seconds.
    log_mean: f64,
    log_variance: f64,
}

impl Pace {
    /// A request was leased.
    pub(crate) fn leased(&mut self, now: Timestamp) {
        let gap = self.last_lease.map(|last| now.since(last));
        self.last_lease = Some(now);
        if let Some(gap) = gap {
            self.leases = (self.leases + 1.0).min(LEASES);
            self.gap_s += (gap.min(GAP_MAX).as_secs_f64() - self.gap_s) / self.leases;
        }
    }

    /// An answer came after this round trip.
    pub(crate) fn answered(&mut self, rtt: Duration) {
        let log = log_seconds(rtt);
        self.answers = (self.answers + 1.0).min(ANSWERS);
        let off = log - self.log_mean;
        self.log_mean += off / self.answers;
        self.log_variance += (off * (log - self.log_mean) - self.log_variance) / self.answers;
    }

    /// How long so many requests take at the pace of late.
    pub(crate) fn seconds_for(&self, requests: u64) -> f64 {
        requests as f64 * self.gap_s
    }

    /// Where a round trip lies among those of late: 0 is quick, one half is
    /// usual, 1 is slow.
    pub(crate) fn slowness(&self, rtt: Duration) -> f64 {
        if self.answers == 0.0 {
            return 0.5;
        }
        let spread = self.log_variance.max(0.0).sqrt().max(SPREAD_MIN);
        let off = (log_seconds(rtt) - self.log_mean) / (2.0 * spread);
        (0.5 + off).clamp(0.0, 1.0)
    }
}

fn log_seconds(span: Duration) -> f64 {
    // A microsecond is the least a clock tells.
    span.as_secs_f64().max(1e-6).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn slowness_is_told_by_what_is_usual_here() {
        let mut pace = Pace::default();
        assert!((pace.slowness(MS) - 0.5).abs() < 1e-9, "nothing is known");
        for round in 0..600 {
            pace.answered(MS * if round % 2 == 0 { 40 } else { 160 });
        }
        assert!((pace.slowness(80 * MS) - 0.5).abs() < 0.02);
        assert!(pace.slowness(40 * MS) < 0.05 && pace.slowness(160 * MS) > 0.95);
        assert!(pace.slowness(MS) < 1e-9 && pace.slowness(5_000 * MS) > 1.0 - 1e-9);
    }

    #[test]
    fn equal_sites_are_not_told_apart_by_noise() {
        let mut pace = Pace::default();
        for _ in 0..100 {
            pace.answered(80 * MS);
        }
        assert!((pace.slowness(81 * MS) - 0.5).abs() < 0.05);
    }

    #[test]
    fn the_gap_is_a_running_mean_and_a_pause_does_not_spoil_it() {
        let mut pace = Pace::default();
        let mut now = Timestamp::from_secs(1_000);
        for _ in 0..5_000 {
            now = now + MS;
            pace.leased(now);
        }
        assert!((pace.seconds_for(1_000) - 1.0).abs() < 1e-6);
        pace.leased(now + Duration::from_hours(3));
        assert!(pace.seconds_for(1_000) < 2.0);
    }
}
