//! Dates as HTTP writes them (RFC 9110 §5.6.7, the fixed form only).

use geomi_model::Timestamp;

const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const DAY_S: i64 = 86_400;

/// `Sun, 15 Nov 2026 09:42:00 GMT`.
pub(crate) fn format(at: Timestamp) -> String {
    let secs = at.micros().div_euclid(1_000_000);
    let (day, rest) = (secs.div_euclid(DAY_S), secs.rem_euclid(DAY_S));
    let (year, month, date) = civil(day);
    format!(
        "{}, {date:02} {} {year:04} {:02}:{:02}:{:02} GMT",
        WEEKDAYS[day.rem_euclid(7) as usize],
        MONTHS[month as usize - 1],
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// Reads what [`format`] writes.
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let mut words = text.trim().split_once(", ")?.1.split(' ');
    let date: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let mut next = || clock.next()?.ok();
    let rest = next()? * 3600 + next()? * 60 + next()?;
    Some(Timestamp::from_secs(
        days_from_civil(year, month, date) * DAY_S + rest,
    ))
}

/// Year, month and day of a day since the epoch, by Hinnant's method: years
/// begin in March, so that the leap day is their last.
fn civil(day: i64) -> (i64, i64, i64) {
    let z = day + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    (year, month, doy - (153 * mp + 2) / 5 + 1)
}

fn days_from_civil(year: i64, month: i64, date: i64) -> i64 {
    let y = year - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = (month + 9) % 12;
    let doy = (153 * mp + 2) / 5 + date - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_read_back() {
        let check = |rfc3339: &str, http: &str| {
            let at = Timestamp::parse_rfc3339(rfc3339).unwrap();
            assert_eq!(format(at), http);
            assert_eq!(parse(http), Some(at));
        };
        check("2026-11-15T09:42:00Z", "Sun, 15 Nov 2026 09:42:00 GMT");
        check("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT");
        check("2024-02-29T23:59:59Z", "Thu, 29 Feb 2024 23:59:59 GMT");
        check("2000-12-31T12:00:01Z", "Sun, 31 Dec 2000 12:00:01 GMT");
        assert_eq!(parse("yesterday"), None);
    }
}
