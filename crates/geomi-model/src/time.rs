//! A moment, in the one unit and zone used everywhere.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Microseconds since the Unix epoch, UTC.
///
/// It is wall time because it must survive restarts; the clock that hands it
/// out guarantees that it never runs backwards within a process.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);

    /// From microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From seconds since the epoch.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs * 1_000_000)
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The 14 digits archives use: `20261115094200`.
    pub fn to_compact(self) -> String {
        self.format("%Y%m%d%H%M%S")
    }

    /// RFC 3339 in whole seconds: WARC-Date.
    pub fn to_rfc3339_secs(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%SZ")
    }

    /// RFC 3339 in milliseconds: logs.
    pub fn to_rfc3339_millis(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S%.3fZ")
    }

    /// RFC 3339 in microseconds, which is all we know of a time.
    pub fn to_rfc3339_micros(self) -> String {
        self.format("%Y-%m-%dT%H:%M:%S%.6fZ")
    }

    /// The 17 digits of Heritrix's crawl.log: to the millisecond.
    pub fn to_compact_millis(self) -> String {
        self.format("%Y%m%d%H%M%S%3f")
    }

    /// Reads an RFC 3339 time.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Self(instant.as_microsecond()))
    }

    /// Reads an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let moment = jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(text)
            .ok()?;
        Some(Self(moment.as_microsecond()))
    }

    fn format(self, pattern: &str) -> String {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(instant) => instant.strftime(pattern).to_string(),
            // Out of the calendar's range (past the year 9999): only a broken clock gets here.
            Err(_) => format!("@{}", self.0),
        }
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_rfc3339_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_and_log_forms() {
        let t = Timestamp::from_micros(1_794_735_720_123_456);
        assert_eq!(t.to_compact(), "20261115094200");
        assert_eq!(t.to_rfc3339_secs(), "2026-11-15T09:42:00Z");
        assert_eq!(t.to_rfc3339_millis(), "2026-11-15T09:42:00.123Z");
        assert_eq!(t.to_rfc3339_micros(), "2026-11-15T09:42:00.123456Z");
        assert_eq!(t.to_compact_millis(), "20261115094200123");
        assert_eq!(
            Timestamp::parse_rfc3339("2026-11-15T09:42:00.123456Z"),
            Some(t)
        );
    }

    #[test]
    fn durations_do_not_go_below_zero() {
        let t = Timestamp::from_secs(10);
        assert_eq!(t.since(t + Duration::from_secs(1)), Duration::ZERO);
        assert_eq!(
            (t + Duration::from_secs(5)).since(t),
            Duration::from_secs(5)
        );
    }
}
