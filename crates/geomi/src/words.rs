//! Numbers for people.

use std::time::Duration;

/// `850ms`, `12.3s`, `4m 05s`, `2h 03m`, `3d 04h`.
pub(crate) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 if span.as_millis() > 0 => format!("{}ms", span.as_millis()),
        0..60 => format!("{:.1}s", span.as_secs_f64().min(59.9)),
        60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// `512 B`, `18.4 kB`, `1.2 GB`.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1_000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", units[unit])
}

/// `1,234,567`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 page`, `2 pages`.
pub(crate) fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans() {
        let of = |millis| span(Duration::from_millis(millis));
        assert_eq!(of(0), "0.0s");
        assert_eq!(of(850), "850ms");
        assert_eq!(of(12_340), "12.3s");
        assert_eq!(of(59_990), "59.9s");
        assert_eq!(of(245_000), "4m 05s");
        assert_eq!(of(7_380_000), "2h 03m");
        assert_eq!(of(273_600_000), "3d 04h");
    }

    #[test]
    fn sizes_and_counts() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(18_430.0), "18.4 kB");
        assert_eq!(bytes(999_999.0), "1.0 MB");
        assert_eq!(count(7), "7");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(plural(1, "page"), "1 page");
        assert_eq!(plural(0, "page"), "0 pages");
    }
}
