//! Hours of the week with a reduced request rate, and their syntax in the configuration.
//!
//! `22-6` is every night, `Saturday` one day, `Mon-Fri 8-18` office hours. A percentage after
//! the hours, such as `25%`, is the share of the normal rate; the default is 0. Hours are in
//! `refresh.timezone`. Hours after midnight belong to the day on which the range began.

use geomi_model::week::{DAYS, hour_of};

use super::table::hour_of_week;
use crate::{Hours, WEEK_HOURS};

/// The share of the normal rate in each hour of the week, in percent, from Sunday 00:00.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuietHours([u8; WEEK_HOURS]);

impl Default for QuietHours {
    fn default() -> Self {
        Self([100; WEEK_HOURS])
    }
}

impl QuietHours {
    /// Parses and applies one line: `[DAY[-DAY]] [HOUR-HOUR] [PERCENT%]`.
    pub fn add(&mut self, line: &str) -> Result<(), String> {
        let (mut days, mut hours, mut left) = ((0, 7), (0, 24), 0);
        for word in line.split_whitespace() {
            if let Some(percent) = word.strip_suffix('%') {
                left = match percent.parse() {
                    Ok(percent @ 0..=100) => percent,
                    _ => return Err(format!("{word:?} is no share: write 0% to 100%")),
                };
            } else if word.starts_with(char::is_alphabetic) {
                days = days_of(word)?;
            } else {
                hours = hours_of(word)?;
            }
        }
        if line.trim().is_empty() {
            return Err("write hours, such as \"22-6\" or \"Sat-Sun\"".to_owned());
        }
        for day in days.0..days.0 + days.1 {
            for hour in hours.0..hours.0 + hours.1 {
                let at = (day * 24 + hour) % WEEK_HOURS;
                self.0[at] = self.0[at].min(left);
            }
        }
        if self.0.iter().all(|left| *left == 0) {
            return Err("no hour of the week is left to visit in".to_owned());
        }
        Ok(())
    }

    /// Converts to the hours of the planner, whose weeks begin on 1 January 1970 (a
    /// Thursday). `None` if all hours have the normal rate.
    pub(super) fn hours(&self) -> Option<Hours> {
        if *self == Self::default() {
            return None;
        }
        let share = |hour: usize| {
            // The middle of the hour: its start may be rounded to the hour before.
            let at = hour_of_week((hour as f64 + 0.5) / 24.0);
            f64::from(self.0[at]) / 100.0
        };
        Hours::new(std::array::from_fn(share))
    }
}

/// The first day of a range and the number of days.
fn days_of(word: &str) -> Result<(usize, usize), String> {
    let day = |name: &str| hour_of(name, "0").map(|hour| hour / 24);
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    let (first, last) = (day(first)?, day(last)?);
    Ok((first, (last + DAYS.len() - first) % DAYS.len() + 1))
}

/// The first hour of a range and the number of hours.
fn hours_of(word: &str) -> Result<(usize, usize), String> {
    let wrong = || format!("{word:?} are no hours: write two from 0 to 24, such as 22-6");
    let (first, end) = word.split_once('-').ok_or_else(wrong)?;
    let hour = |text: &str, most: usize| {
        let number = text.parse::<usize>().ok().filter(|hour| *hour <= most);
        number.ok_or_else(wrong)
    };
    let (first, end) = (hour(first, 23)?, hour(end, 24)?);
    match (end + 24 - first) % 24 {
        0 if end == first => Err(wrong()),
        0 => Ok((first, 24)),
        count => Ok((first, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(lines: &[&str]) -> QuietHours {
        let mut hours = QuietHours::default();
        for line in lines {
            hours.add(line).unwrap();
        }
        hours
    }

    #[test]
    fn lines_are_read() {
        let hours = quiet(&["22-6", "Sat-Sun 25%", "Wednesday 8-9 50%"]);
        let at = |day: usize, hour: usize| hours.0[day * 24 + hour];
        assert_eq!((at(1, 21), at(1, 22), at(2, 5), at(2, 6)), (100, 0, 0, 100));
        assert_eq!((at(6, 12), at(0, 12), at(0, 23)), (25, 25, 0));
        assert_eq!((at(3, 7), at(3, 8), at(3, 9)), (100, 50, 100));
        let late = quiet(&["Saturday 20-4"]);
        assert_eq!((late.0[6 * 24 + 20], late.0[3], late.0[4]), (0, 0, 100));
        assert_eq!(quiet(&["Sunday 0-24"]).0[23], 0);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        for line in [
            "",
            "night",
            "8",
            "8-8",
            "8-25",
            "120%",
            "0-24",
            "Mon-Someday",
        ] {
            assert!(QuietHours::default().add(line).is_err(), "{line:?}");
        }
    }

    #[test]
    fn the_week_of_the_plan_begins_on_a_thursday() {
        assert!(QuietHours::default().hours().is_none());
        let hours = quiet(&["Thursday 0-6"]).hours().unwrap();
        assert!(hours.share(0.1) < 1e-9 && hours.share(0.3) > 0.99);
        assert!(hours.share(7.1) < 1e-9 && hours.share(1.1) > 0.99);
    }
}
