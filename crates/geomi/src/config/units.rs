//! Durations and sizes with their units.
//!
//! A number without a unit is refused on purpose: a delay of "30" that means
//! milliseconds to one program and minutes to another is how sites get hurt.

use std::time::Duration;

const DURATIONS: [(&str, u64); 10] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("sec", 1_000_000),
    ("m", 60_000_000),
    ("min", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
    ("day", 86_400_000_000),
    ("days", 86_400_000_000),
];

const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Reads `500ms`, `1.5s` or `1h 30m`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = |why: &str| {
        let meant = only_number(text).unwrap_or("30");
        format!("{why}; write a duration with its unit, such as \"{meant}s\", \"500ms\" or \"5m\"")
    };
    if let Some(number) = only_number(text) {
        return Err(wrong(&format!("{number} has no unit")));
    }
    let mut micros = 0_u64;
    for (number, unit) in parts(text).ok_or_else(|| wrong(&format!("{text:?} is no duration")))? {
        let (_, scale) = DURATIONS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| wrong(&format!("{unit:?} is no unit of time")))?;
        micros = micros.saturating_add((number * *scale as f64).round() as u64);
    }
    Ok(Duration::from_micros(micros))
}

/// Reads `8MiB`, `18kB` or `512B`; letter case does not matter.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = |why: &str| {
        let meant = only_number(text).unwrap_or("8");
        format!(
            "{why}; write a size with its unit, such as \"{meant}MiB\", \"{meant}kB\" or \"{meant}B\""
        )
    };
    if let Some(number) = only_number(text) {
        return Err(wrong(&format!("{number} has no unit")));
    }
    let parts = parts(text).filter(|parts| parts.len() == 1);
    let Some(&[(number, unit)]) = parts.as_deref() else {
        return Err(wrong(&format!("{text:?} is no size")));
    };
    let (_, scale) = SIZES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .ok_or_else(|| wrong(&format!("{unit:?} is no unit of size")))?;
    Ok((number * *scale as f64).round() as u64)
}

/// The shortest spelling that reads back exactly.
pub(crate) fn write_duration(span: Duration) -> String {
    let micros = span.as_micros();
    if micros == 0 {
        return "0s".to_owned();
    }
    let units = ["d", "h", "m", "s", "ms", "us"];
    let (unit, scale) = units
        .iter()
        .filter_map(|unit| DURATIONS.iter().find(|(name, _)| name == unit))
        .find(|(_, scale)| micros.is_multiple_of(u128::from(*scale)))
        .expect("every duration is a whole number of microseconds");
    format!("{}{unit}", micros / u128::from(*scale))
}

/// The shortest spelling that reads back exactly, in powers of 1,024.
pub(crate) fn write_size(bytes: u64) -> String {
    let units = ["TiB", "GiB", "MiB", "KiB", "B"];
    let (unit, scale) = units
        .iter()
        .filter_map(|unit| SIZES.iter().find(|(name, _)| name == unit))
        .find(|(_, scale)| bytes >= *scale && bytes.is_multiple_of(*scale))
        .unwrap_or(&SIZES[0]);
    format!("{}{unit}", bytes / scale)
}

/// The text if it is a bare number.
fn only_number(text: &str) -> Option<&str> {
    let text = text.trim();
    text.parse::<f64>().is_ok().then_some(text)
}

/// `1h 30m` as [(1, "h"), (30, "m")]; `None` where a number or unit lacks.
fn parts(text: &str) -> Option<Vec<(f64, &str)>> {
    let mut rest = text.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        parts.push((number, &rest[..end]));
        rest = rest[end..].trim_start();
    }
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_and_write() {
        let millis = Duration::from_millis;
        for (text, expected) in [
            ("0s", millis(0)),
            ("500ms", millis(500)),
            ("1.5s", millis(1500)),
            ("30 s", millis(30_000)),
            ("1h 30m", millis(5_400_000)),
            ("2d", millis(172_800_000)),
        ] {
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
            assert_eq!(parse_duration(&write_duration(expected)), Ok(expected));
        }
        assert_eq!(write_duration(millis(90_000)), "90s");
        assert_eq!(write_duration(millis(120_000)), "2m");
    }

    #[test]
    fn sizes_read_and_write() {
        for (text, expected) in [
            ("0B", 0),
            ("8MiB", 8 << 20),
            ("8mib", 8 << 20),
            ("18kB", 18_000),
            ("1.5 GiB", 3 << 29),
        ] {
            assert_eq!(parse_size(text), Ok(expected), "{text}");
            assert_eq!(parse_size(&write_size(expected)), Ok(expected));
        }
        assert_eq!(write_size(1 << 30), "1GiB");
        assert_eq!(write_size(18_000), "18000B");
    }

    #[test]
    fn a_bare_number_is_refused_with_a_remedy() {
        let error = parse_duration("5").unwrap_err();
        assert!(
            error.contains("no unit") && error.contains("\"5s\""),
            "{error}"
        );
        let error = parse_size("100").unwrap_err();
        assert!(error.contains("\"100MiB\""), "{error}");
        for wrong in ["", "s", "5 parsecs", "-3s", "1h30", "fast"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "MiB", "5 m", "1MiB 2KiB", "-1MiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
