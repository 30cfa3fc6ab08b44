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

    /// Reads the digits archives use, or the first of them down to the year:
    /// what is missing is the earliest it can be.
    pub fn parse_compact(digits: &str) -> Option<Self> {
        const EARLIEST: &str = "00000101000000";
        if !matches!(digits.len(), 4 | 6 | 8 | 10 | 12 | 14) {
            return None;
        }
        let whole = format!("{digits}{}", EARLIEST.get(digits.len()..)?);
        let moment = jiff::civil::DateTime::strptime("%Y%m%d%H%M%S", whole).ok()?;
        let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Self(moment.timestamp().as_microsecond()))
    }

    /// Reads an RFC 3339 time.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Self(instant.as_microsecond()))
    }

    /// Reads an HTTP date, such as `Sun, 06 Nov 1994 08:49:37 GMT`, or one of the
    /// two obsolete forms every recipient must accept (RFC 9110 §5.6.7).
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let moment = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text);
        match moment {
            Ok(moment) => Some(Self(moment.as_microsecond())),
            Err(_) => Self::parse_obsolete_http_date(text),
        }
    }

    /// RFC 850's form and that of `asctime`; and the usual one again, because the
    /// last day of the year 9999, where some servers put "never", is past the
    /// range of the other parser.
    fn parse_obsolete_http_date(text: &str) -> Option<Self> {
        const FORMS: [&str; 3] = [
            "%A, %d-%b-%y %H:%M:%S GMT",
            "%a %b %e %H:%M:%S %Y",
            "%a, %d %b %Y %H:%M:%S GMT",
        ];
        let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
        let moment = FORMS.iter().find_map(|form| {
            // A text that is in none of the forms is no date.
            jiff::civil::DateTime::strptime(form, text).ok()
        })?;
        let micros = moment.duration_since(epoch).as_micros();
        Some(Self(i64::try_from(micros).unwrap_or(i64::MAX)))
    }

    /// Reads a date as sitemaps and feeds write it: RFC 3339 and the shorter forms
    /// of W3C's profile (`2026`, `2026-11`, `2026-11-15`, without seconds or zone,
    /// which is then UTC), or RFC 2822. `None` for anything else.
    pub fn parse_published(text: &str) -> Option<Self> {
        const CHARS_MAX: usize = 64;
        let text = text.trim();
        if text.len() > CHARS_MAX {
            return None;
        }
        let in_utc = |moment: jiff::civil::DateTime| {
            let moment = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
            Some(Self(moment.timestamp().as_microsecond()))
        };
        let civil = || text.parse().ok().and_then(in_utc);
        let whole_month = || match text.len() {
            4 => format!("{text}-01-01").parse().ok().and_then(in_utc),
            7 => format!("{text}-01").parse().ok().and_then(in_utc),
            _ => None,
        };
        Self::parse_rfc3339(text)
            .or_else(|| Self::parse_http_date(text))
            .or_else(civil)
            .or_else(whole_month)
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
    fn http_dates_have_three_forms() {
        let date = |text| Timestamp::parse_http_date(text).map(|date| date.0);
        let same = Some(784_111_777_000_000);
        assert_eq!(date("Sun, 06 Nov 1994 08:49:37 GMT"), same);
        assert_eq!(date("Sunday, 06-Nov-94 08:49:37 GMT"), same);
        assert_eq!(date("Sun Nov  6 08:49:37 1994"), same);
        assert_eq!(
            date("Fri, 31 Dec 9999 23:59:59 GMT"),
            Some(253_402_300_799_000_000)
        );
        for bad in ["", "soon", "Fri, 99 Foo 2099 99:99:99 GMT", "Sun Nov 6"] {
            assert_eq!(date(bad), None, "{bad:?}");
        }
    }

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
    fn archive_digits_read_back_and_may_be_cut() {
        let at = |text: &str| Timestamp::parse_compact(text).map(Timestamp::to_rfc3339_secs);
        for (written, meant) in [
            ("20261115094200", "2026-11-15T09:42:00Z"),
            ("2026111509", "2026-11-15T09:00:00Z"),
            ("20261115", "2026-11-15T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
        ] {
            assert_eq!(at(written).as_deref(), Some(meant), "{written}");
        }
        for nonsense in [
            "",
            "202",
            "20261",
            "20261315",
            "2026-1",
            "202611150942001",
            "가가가가",
        ] {
            assert_eq!(at(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn dates_of_sitemaps_and_feeds() {
        let at = |text: &str| Timestamp::parse_published(text).map(Timestamp::to_rfc3339_secs);
        for (written, meant) in [
            ("2026-11-15T18:42:00+09:00", "2026-11-15T09:42:00Z"),
            ("2026-11-15T18:42+09:00", "2026-11-15T09:42:00Z"),
            ("2026-11-15T09:42:00.5Z", "2026-11-15T09:42:00Z"),
            ("2026-11-15T09:42:00", "2026-11-15T09:42:00Z"),
            (" 2026-11-15 ", "2026-11-15T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
            ("Sun, 15 Nov 2026 18:42:00 +0900", "2026-11-15T09:42:00Z"),
            ("Sun, 15 Nov 2026 09:42:00 GMT", "2026-11-15T09:42:00Z"),
        ] {
            assert_eq!(at(written).as_deref(), Some(meant), "{written}");
        }
        for nonsense in ["", "yesterday", "2026-13", "20x6", "2026-11-15T99:00Z"] {
            assert_eq!(at(nonsense), None, "{nonsense}");
        }
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
