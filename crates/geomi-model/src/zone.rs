//! Time zones: where a day begins, and which hour it is.

use std::fmt;

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::Timestamp;

const SECOND_US: i64 = 1_000_000;
const DAY_US: f64 = 86_400e6;

/// A larger step of a zone's clock, as over the date line, is taken at once.
const STEP_S_MAX: i64 = 3 * 3_600;

/// A time zone, by its name in the IANA database, which is part of the program.
///
/// Plans and reports count time in days since 1970, whose parts are hours and whose
/// numbers give the day of the week. [`Zone::days`] counts them by the zone's clock.
/// That clock is set forward and back, and time must not run backwards: so a step is
/// spread over the time that follows it, twice as long as the step. Within those two
/// hours, twice a year, an hour of the plan is up to an hour off the clock.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Zone(Option<TimeZone>);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Self = Self(None);

    /// The zone of a name such as `Asia/Seoul`; `None` if there is no such zone.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("utc") {
            return Some(Self::UTC);
        }
        let zone = TimeZoneDatabase::bundled().get(name).ok()?;
        Some(Self(Some(zone)))
    }

    /// Its name.
    pub fn name(&self) -> &str {
        let zone = self.0.as_ref();
        zone.and_then(|zone| zone.iana_name()).unwrap_or("UTC")
    }

    /// Days since 1970 by this zone's clock; more for a later time, always.
    pub fn days(&self, at: Timestamp) -> f64 {
        let Some(zone) = &self.0 else {
            return at.micros() as f64 / DAY_US;
        };
        (at.micros() as f64 + ahead_us(zone, at.micros())) / DAY_US
    }

    /// The time of so many days since 1970 by this zone's clock.
    pub fn instant(&self, days: f64) -> Timestamp {
        let Some(zone) = &self.0 else {
            return Timestamp::from_micros((days * DAY_US) as i64);
        };
        let wanted = days * DAY_US;
        let mut at = wanted;
        // Each round halves what is missing, at least: the clock runs at half to one and
        // a half times the speed of time.
        for _ in 0..48 {
            let missing = wanted - (at + ahead_us(zone, at as i64));
            at += missing;
            if missing.abs() < 1.0 {
                break;
            }
        }
        Timestamp::from_micros(at.round() as i64)
    }
}

/// How far a zone's clock is ahead of UTC, in microseconds, with its steps spread.
fn ahead_us(zone: &TimeZone, at: i64) -> f64 {
    let offset = |at: i64| {
        // Past the ends of the calendar nobody plans.
        let at = jiff::Timestamp::from_microsecond(at).unwrap_or_default();
        i64::from(zone.to_offset(at).seconds())
    };
    let after = offset(at);
    let before = offset(at - 2 * STEP_S_MAX * SECOND_US);
    let step = after - before;
    if step == 0 || step.abs() > STEP_S_MAX {
        return (after * SECOND_US) as f64;
    }
    // When the clock was set, to the second: between then and now.
    let (mut low, mut high) = (at - 2 * STEP_S_MAX * SECOND_US, at);
    while high - low > SECOND_US {
        let middle = low + (high - low) / 2;
        if offset(middle) == before {
            low = middle;
        } else {
            high = middle;
        }
    }
    let set = high.div_euclid(SECOND_US) * SECOND_US;
    let spread = 2 * step.abs() * SECOND_US;
    let part = ((at - set) as f64 / spread as f64).clamp(0.0, 1.0);
    before as f64 * SECOND_US as f64 + part * (step * SECOND_US) as f64
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    /// The clock of a zone, as a time that is written like UTC.
    fn clock(zone: &str, text: &str) -> String {
        let days = Zone::named(zone).unwrap().days(at(text));
        Zone::UTC.instant(days + 1e-9).to_rfc3339_secs()
    }

    #[test]
    fn clocks_of_zones() {
        let check = |zone, utc, local| assert_eq!(clock(zone, utc), local, "{zone}");
        check("UTC", "2026-11-18T06:30:00Z", "2026-11-18T06:30:00Z");
        check("Asia/Seoul", "2026-11-18T22:30:00Z", "2026-11-19T07:30:00Z");
        check(
            "Europe/Berlin",
            "2026-07-01T10:00:00Z",
            "2026-07-01T12:00:00Z",
        );
        check(
            "Europe/Berlin",
            "2026-12-01T10:00:00Z",
            "2026-12-01T11:00:00Z",
        );
        check(
            "America/New_York",
            "2026-12-01T02:00:00Z",
            "2026-11-30T21:00:00Z",
        );
        // On the days on which clocks are set, but for the two hours after it.
        check(
            "Europe/Berlin",
            "2026-03-29T00:59:00Z",
            "2026-03-29T01:59:00Z",
        );
        check(
            "Europe/Berlin",
            "2026-03-29T03:00:00Z",
            "2026-03-29T05:00:00Z",
        );
        check(
            "Europe/Berlin",
            "2026-10-25T00:59:00Z",
            "2026-10-25T02:59:00Z",
        );
        check(
            "Europe/Berlin",
            "2026-10-25T03:00:00Z",
            "2026-10-25T04:00:00Z",
        );
    }

    #[test]
    fn time_never_runs_backwards_and_leads_back() {
        for name in [
            "UTC",
            "Asia/Seoul",
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
        ] {
            let zone = Zone::named(name).unwrap();
            for begin in [
                "2026-03-28T20:00:00Z",
                "2026-10-24T20:00:00Z",
                "2026-04-04T12:00:00Z",
                "2026-11-01T00:00:00Z",
                "2026-03-08T00:00:00Z",
                "2026-10-03T12:00:00Z",
            ] {
                let mut last = f64::MIN;
                for minute in 0..(36 * 60) {
                    let at = at(begin) + Duration::from_mins(minute);
                    let days = zone.days(at);
                    assert!(days > last, "{name}: {at:?}");
                    last = days;
                    let back = zone.instant(days);
                    let off = back.since(at).max(at.since(back));
                    assert!(off < Duration::from_millis(1), "{name}: {at:?} {back:?}");
                }
            }
        }
    }

    #[test]
    fn only_zones_that_exist_have_a_name() {
        assert_eq!(Zone::named("Asia/Seoul").unwrap().name(), "Asia/Seoul");
        assert_eq!(Zone::named("utc"), Some(Zone::UTC));
        assert_eq!(Zone::default().name(), "UTC");
        for wrong in ["", "Seoul", "Mars/Olympus", "KST+9"] {
            assert_eq!(Zone::named(wrong), None, "{wrong}");
        }
    }
}
