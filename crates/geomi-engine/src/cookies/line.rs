//! A `Set-Cookie` line, read as RFC 6265 §5.2 asks of user agents, with the
//! name prefixes of its successor (draft-ietf-httpbis-rfc6265bis §4.1.3).

use std::time::Duration;

use geomi_model::Timestamp;

/// Longest name and value together.
const PAIR_BYTES_MAX: usize = 4_096;
/// Longest value of an attribute.
const ATTRIBUTE_BYTES_MAX: usize = 1_024;
/// Longest life of a cookie.
const AGE_MAX: Duration = Duration::from_hours(400 * 24);

/// A line, taken apart. Nothing in it is believed yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) value: String,
    /// In lower case, without a dot before it.
    pub(super) domain: Option<String>,
    pub(super) path: Option<String>,
    pub(super) is_secure: bool,
    /// When it ends; `None` for the end of the run.
    pub(super) expires: Option<Timestamp>,
}

impl Line {
    /// Reads a line that came at `now`; `None` where it is no cookie.
    pub(super) fn read(text: &str, now: Timestamp) -> Option<Self> {
        if text.bytes().any(|b| b != b'\t' && b.is_ascii_control()) {
            return None;
        }
        let mut parts = text.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || name.len() + value.len() > PAIR_BYTES_MAX {
            return None;
        }
        let mut line = Self {
            name: name.to_owned(),
            value: value.to_owned(),
            domain: None,
            path: None,
            is_secure: false,
            expires: None,
        };
        let mut max_age = None;
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            let (attribute, value) = (attribute.trim(), value.trim());
            if value.len() > ATTRIBUTE_BYTES_MAX {
                continue;
            }
            let is = |name: &str| attribute.eq_ignore_ascii_case(name);
            if is("domain") {
                let domain = value.strip_prefix('.').unwrap_or(value);
                line.domain = (!domain.is_empty()).then(|| domain.to_ascii_lowercase());
            } else if is("path") {
                line.path = value.starts_with('/').then(|| value.to_owned());
            } else if is("secure") {
                line.is_secure = true;
            } else if is("expires") {
                line.expires = read_date(value).or(line.expires);
            } else if is("max-age") {
                max_age = read_age(value, now).or(max_age);
            }
        }
        line.expires = max_age.or(line.expires);
        line.expires = line.expires.map(|end| end.min(now + AGE_MAX));
        line.has_its_prefix().then_some(line)
    }

    /// Whether the line keeps what its name promises.
    fn has_its_prefix(&self) -> bool {
        let begins = |prefix: &str| {
            let start = self.name.as_bytes().get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        if begins("__Host-") {
            return self.is_secure && self.domain.is_none() && self.path.as_deref() == Some("/");
        }
        self.is_secure || !begins("__Secure-")
    }
}

fn read_age(value: &str, now: Timestamp) -> Option<Timestamp> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    if value.starts_with('-') {
        return Some(Timestamp::EPOCH);
    }
    // A number too long for us is a very long time.
    let seconds = digits.parse().unwrap_or(AGE_MAX.as_secs());
    Some(match seconds {
        0 => Timestamp::EPOCH,
        seconds => now + Duration::from_secs(seconds).min(AGE_MAX),
    })
}

/// A date in any of the spellings that are met (RFC 6265 §5.1.1): the parts are
/// known by their looks, whatever their order.
fn read_date(text: &str) -> Option<Timestamp> {
    let is_delimiter = |c: char| !(c.is_ascii_alphanumeric() || c == ':' || u32::from(c) > 126);
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none() && token.contains(':') {
            time = read_time(token);
        } else if day.is_none() && number(token, 1..=2).is_some() {
            day = number(token, 1..=2);
        } else if month.is_none() && read_month(token).is_some() {
            month = read_month(token);
        } else if year.is_none() && number(token, 2..=4).is_some() {
            year = number(token, 2..=4);
        }
    }
    let year = match year? {
        short @ 70..=99 => short + 1_900,
        short @ 0..=69 => short + 2_000,
        year => year,
    };
    let (hour, minute, second) = time?;
    let (month, day) = (month?, day?);
    if year < 1_601 {
        return None;
    }
    // The calendar knows which days there are.
    Timestamp::parse_rfc3339(&format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"
    ))
}

fn read_time(token: &str) -> Option<(u32, u32, u32)> {
    let mut fields = token.split(':').map(|field| number(field, 1..=2));
    let time = (fields.next()??, fields.next()??, fields.next()??);
    (time.0 < 24 && time.1 < 60 && time.2 < 60).then_some(time)
}

/// The digits a token begins with, if there are that many.
fn number(token: &str, len: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let digits = token.bytes().take_while(u8::is_ascii_digit).count();
    len.contains(&digits)
        .then(|| token[..digits].parse().ok())?
}

fn read_month(token: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let start = token.get(..3)?.to_ascii_lowercase();
    (1..)
        .zip(MONTHS)
        .find(|(_, name)| *name == start)
        .map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn line(text: &str) -> Option<Line> {
        Line::read(text, NOW)
    }

    #[test]
    fn pairs_and_attributes_are_taken_apart() {
        let read = line(" a = b=c ; Path=/x; DOMAIN=.Example.COM;secure ; HttpOnly; SameSite=Lax");
        let read = read.unwrap();
        assert_eq!((&*read.name, &*read.value), ("a", "b=c"));
        assert_eq!(read.domain.as_deref(), Some("example.com"));
        assert_eq!((read.path.as_deref(), read.is_secure), (Some("/x"), true));
        assert_eq!(read.expires, None);
        for wrong in ["", "a", "=b", "a\r\nb=c", "a=b\0"] {
            assert_eq!(line(wrong), None, "{wrong:?}");
        }
        assert_eq!(line(&format!("a={}", "x".repeat(5_000))), None);
        assert_eq!(line("a=b; path=relative").unwrap().path, None);
    }

    #[test]
    fn dates_come_in_many_spellings_and_max_age_wins() {
        let wanted = Timestamp::parse_rfc3339("2023-12-06T08:49:37Z");
        for date in [
            "Wed, 06 Dec 2023 08:49:37 GMT",
            "Wednesday, 06-Dec-23 08:49:37 GMT",
            "Wed Dec  6 08:49:37 2023",
            "6 December 2023 8:49:37",
        ] {
            assert_eq!(
                line(&format!("a=b; Expires={date}")).unwrap().expires,
                wanted,
                "{date}"
            );
        }
        for date in [
            "soon",
            "31 Feb 2023 01:02:03",
            "1 Jan 1500 01:02:03",
            "1 Jan 2023 25:00:00",
        ] {
            assert_eq!(
                line(&format!("a=b; expires={date}")).unwrap().expires,
                None,
                "{date}"
            );
        }
        let both = line("a=b; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT").unwrap();
        assert_eq!(both.expires, Some(NOW + Duration::from_mins(1)));
        assert_eq!(
            line("a=b; max-age=-1").unwrap().expires,
            Some(Timestamp::EPOCH)
        );
        let long = line("a=b; max-age=99999999999999999999").unwrap();
        assert_eq!(long.expires, Some(NOW + AGE_MAX));
    }

    #[test]
    fn prefixes_are_promises() {
        assert!(line("__Secure-a=b").is_none());
        assert!(line("__Secure-a=b; Secure").is_some());
        assert!(line("__Host-a=b; Secure").is_none());
        assert!(line("__host-a=b; Secure; Path=/; Domain=a.test").is_none());
        assert!(line("__Host-a=b; Secure; Path=/").is_some());
    }
}
