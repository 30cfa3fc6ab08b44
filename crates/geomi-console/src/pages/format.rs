//! Numbers and times, as people read them.

use geomi_model::Timestamp;
use maud::{Markup, html};

use crate::words::{Words, fill};

/// `12345678` as `12,345,678`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A sentence that counts something, in its gap `n`.
pub(crate) fn counted(sentence: &str, number: u64) -> String {
    fill(sentence, &[("n", &count(number))])
}

/// How many rows of all are shown.
pub(crate) fn rows(words: &Words, shown: usize, all: u64) -> String {
    let gaps = [("shown", &*count(shown as u64)), ("all", &*count(all))];
    fill(words.rows_of, &gaps)
}

/// Bytes with a unit: `1.5 MB`.
pub(crate) fn bytes(number: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let mut left = number.max(0.0);
    let mut unit = 0;
    while left >= 999.5 && unit + 1 < UNITS.len() {
        left /= 1e3;
        unit += 1;
    }
    let places = usize::from(unit > 0 && left < 99.95);
    format!("{left:.places$} {}", UNITS[unit])
}

/// A span of time: `2 d 03:04:05`, `03:04:05`.
pub(crate) fn span(seconds: f64, words: &Words) -> String {
    let whole = seconds.max(0.0) as u64;
    let (days, rest) = (whole / 86_400, whole % 86_400);
    let clock = format!("{:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60);
    if days > 0 {
        let gaps = [("days", &*count(days)), ("clock", &*clock)];
        fill(words.days_and_clock, &gaps)
    } else {
        clock
    }
}

/// A rate with one place.
pub(crate) fn rate(number: f64) -> String {
    if number >= 999.5 {
        count(number.round() as u64)
    } else {
        format!("{number:.1}")
    }
}

/// A share as per cent.
pub(crate) fn share(number: f64) -> String {
    format!("{:.1} %", number * 100.0)
}

/// Milliseconds.
pub(crate) fn millis(number: f64) -> String {
    if number < 9.95 {
        format!("{number:.1} ms")
    } else {
        format!("{} ms", count(number.round() as u64))
    }
}

/// `2026-11-15T16:08:08.123Z` as `2026-11-15 16:08:08`.
pub(crate) fn moment(rfc3339: &str) -> String {
    let second = rfc3339.get(..19).unwrap_or(rfc3339);
    second.replace('T', " ")
}

/// The same without the day, where that is today's in UTC.
pub(crate) fn clock(rfc3339: &str, now: Timestamp) -> String {
    let is_today = rfc3339.get(..10) == now.to_rfc3339_secs().get(..10);
    match rfc3339.get(11..19) {
        Some(clock) if is_today => clock.to_owned(),
        _ => moment(rfc3339),
    }
}

/// A moment in a page: a clock, and all of it to whoever points at it.
pub(crate) fn time(rfc3339: &str, now: Timestamp) -> Markup {
    html! {
        time datetime=(rfc3339) title={ (moment(rfc3339)) " UTC" } { (clock(rfc3339, now)) }
    }
}

/// Text for a query: everything but letters, digits and a few others escaped.
pub(crate) fn query(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => write!(out, "%{byte:02X}").expect("a string takes everything"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(1_500_000.0), "1.5 MB");
        assert_eq!(bytes(123_456_789.0), "123 MB");
        let (english, korean) = (Language::English.words(), Language::Korean.words());
        assert_eq!(span(3_725.9, english), "01:02:05");
        assert_eq!(span(90_000.0, english), "1 d 01:00:00");
        assert_eq!(span(90_000.0, korean), "1일 01:00:00");
        assert_eq!(rate(12.34), "12.3");
        assert_eq!(share(0.123), "12.3 %");
        assert_eq!(moment("2026-11-15T16:08:08.123Z"), "2026-11-15 16:08:08");
        assert_eq!(moment("rubbish"), "rubbish");
        assert_eq!(query("a b&c=한"), "a%20b%26c%3D%ED%95%9C");
    }

    #[test]
    fn a_clock_has_a_date_unless_it_is_of_today() {
        let now = Timestamp::parse_rfc3339("2026-11-16T00:10:00Z").unwrap();
        assert_eq!(clock("2026-11-16T00:08:08.123Z", now), "00:08:08");
        assert_eq!(
            clock("2026-11-15T23:58:08.123Z", now),
            "2026-11-15 23:58:08"
        );
        assert_eq!(clock("rubbish", now), "rubbish");
    }
}
