//! In which hours of the week changes fell, as far as visits tell.
//!
//! A visit that finds a change says only that it happened since the page was seen
//! before. So a change is *spread*: every hour of that gap has as much of it as lies in
//! the hour, and one found after two days is 1/48 in each of 48 hours. A page that is
//! visited every hour shows its hours; of one that is visited once a week every hour has
//! the same, which says that nobody knows. Hours are those of the plan's zone, weeks begin on Sunday.

use geomi_model::week::{DAYS, HOURS};
use geomi_refresh::upkeep::hour_of_week;
use serde_json::{Value, json};

/// The part of the fullest hour below which one is shown as empty: a visit on the hour
/// leaves nothing but rounding in the next.
const SHOWN_MIN: f64 = 1e-3;

/// Spreads a change over the time in which it happened, from one time to another in days
/// since 1970: hands every hour of the week that has a part of it, and the part, to
/// `add`. The parts sum up to 1; an hour may come more than once.
pub(super) fn spread(from: f64, to: f64, mut add: impl FnMut(usize, f64)) {
    let (mut from, to) = (from * 24.0, to * 24.0);
    let gap = to - from;
    // A clock that was set back leaves no time for it but that of the visit.
    if gap <= 0.0 {
        add(hour_of_week(to / 24.0), 1.0);
        return;
    }
    let weeks = (gap / HOURS as f64).floor();
    if weeks > 0.0 {
        for hour in 0..HOURS {
            add(hour, weeks / gap);
        }
        from += weeks * HOURS as f64;
    }
    while from < to {
        let next = (from.floor() + 1.0).min(to);
        add(
            hour_of_week(f64::midpoint(from, next) / 24.0),
            (next - from) / gap,
        );
        from = next;
    }
}

/// The changes of one page by day and hour.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ChangeWeek {
    /// Changes in each hour of the week.
    hours: [f64; HOURS],
    changes: u32,
}

impl Default for ChangeWeek {
    fn default() -> Self {
        Self {
            hours: [0.0; HOURS],
            changes: 0,
        }
    }
}

impl ChangeWeek {
    /// Takes in a change between two times, in days since 1970.
    pub(super) fn take(&mut self, from: f64, to: f64) {
        self.changes += 1;
        spread(from, to, |hour, part| self.hours[hour] += part);
    }

    /// The days of the week and their hours.
    fn days(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        DAYS.into_iter().zip(self.hours.chunks(24))
    }

    /// A line a day and a digit an hour, from 1 to 9 for the hour that has most; nothing
    /// without a change.
    pub(super) fn in_words(&self, zone: &str) -> Vec<String> {
        if self.changes == 0 {
            return Vec::new();
        }
        let most = self.hours.iter().copied().fold(0.0, f64::max);
        let digit = |part: &f64| match part / most {
            share if share < SHOWN_MIN => '.',
            share => char::from(b'0' + (share * 9.0).round().clamp(1.0, 9.0) as u8),
        };
        let mut lines = vec![
            format!(
                "week        {} seen, each spread over the hours ({zone}) since the visit before; 9 is {most:.3} of a change, a dot none",
                crate::words::plural(self.changes.into(), "change"),
            ),
            format!("{:14}00    06    12    18", ""),
        ];
        let line = |(day, hours): (&str, &[f64])| {
            let hours: String = hours.iter().map(digit).collect();
            format!("  {day:<12}{hours}")
        };
        lines.extend(self.days().map(line));
        lines
    }

    /// All 168 numbers, by day; null without a change.
    pub(super) fn as_json(&self) -> Value {
        if self.changes == 0 {
            return Value::Null;
        }
        let day = |(day, hours): (&str, &[f64])| json!({ "day": day, "hours": hours });
        self.days().map(day).collect()
    }
}

#[cfg(test)]
mod tests {
    use geomi_model::Timestamp;
    use geomi_refresh::upkeep::days;

    use super::*;

    fn at(text: &str) -> f64 {
        days(Timestamp::parse_rfc3339(text).unwrap())
    }

    /// A week in which a change was found between two times.
    fn week(from: &str, to: &str) -> ChangeWeek {
        let mut week = ChangeWeek::default();
        week.take(at(from), at(to));
        let sum: f64 = week.hours.iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        week
    }

    fn check(week: &ChangeWeek, hour: usize, expected: f64) {
        let found = week.hours[hour];
        assert!((found - expected).abs() < 1e-6, "{hour}: {found}");
    }

    #[test]
    fn a_change_is_spread_over_the_gap_in_which_it_fell() {
        // The first of March 2026 was a Sunday.
        let two_days = week("2026-03-01T06:00:00Z", "2026-03-03T06:00:00Z");
        for hour in 0..HOURS {
            let is_in = (6..54).contains(&hour);
            check(&two_days, hour, if is_in { 1.0 / 48.0 } else { 0.0 });
        }
        let some_minutes = week("2026-03-07T23:45:00Z", "2026-03-08T00:30:00Z");
        check(&some_minutes, 167, 1.0 / 3.0);
        check(&some_minutes, 0, 2.0 / 3.0);
        let in_an_hour = week("2026-03-04T13:10:00Z", "2026-03-04T13:20:00Z");
        check(&in_an_hour, 3 * 24 + 13, 1.0);
        let set_back = week("2026-03-04T13:10:00Z", "2026-03-04T12:20:00Z");
        check(&set_back, 3 * 24 + 12, 1.0);
    }

    #[test]
    fn weeks_between_two_visits_say_nothing_of_hours() {
        let even = week("2026-03-01T06:30:00Z", "2026-03-22T06:30:00Z");
        for hour in 0..HOURS {
            check(&even, hour, 1.0 / 168.0);
        }
        let and_an_hour = week("2026-03-01T06:00:00Z", "2026-03-15T07:00:00Z");
        check(&and_an_hour, 5, 2.0 / 337.0);
        check(&and_an_hour, 6, 3.0 / 337.0);
    }

    #[test]
    fn a_week_is_seven_lines_of_hours() {
        assert!(ChangeWeek::default().in_words("UTC").is_empty());
        assert!(ChangeWeek::default().as_json().is_null());
        let mut week = week("2026-03-02T08:00:00Z", "2026-03-02T10:00:00Z");
        week.take(at("2026-03-02T08:00:00Z"), at("2026-03-02T09:00:00Z"));
        let lines = week.in_words("UTC");
        assert!(lines[0].contains("2 changes seen"), "{lines:#?}");
        assert!(lines[0].contains("9 is 1.500 of a change"), "{lines:#?}");
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[2], "  Sunday      ........................");
        assert_eq!(lines[3], "  Monday      ........93..............");
        let json = week.as_json();
        assert_eq!(json[1]["day"], "Monday");
        let of_eight = json[1]["hours"][8].as_f64().unwrap();
        assert!((of_eight - 1.5).abs() < 1e-6, "{json}");
        assert_eq!(json[1]["hours"].as_array().unwrap().len(), 24);
    }
}
