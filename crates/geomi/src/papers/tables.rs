//! REFRESH's Tables 3.3 to 3.5: what was learned in three weeks, at which hours, and the
//! schedule that follows.

use geomi_refresh::Grouping;
use geomi_refresh::schedule::{Mostly, Schedule, Slot};
use serde_json::{Value, json};

/// A line of Table 3.3.
struct Learned {
    url: &'static str,
    /// Changes in the three weeks of learning, and the mean of a week as printed.
    changes: u32,
    weekly: Option<&'static str>,
    /// By how much it changed.
    size: u32,
}

/// Table 3.3; `u14`, absent from it, had no changes.
const TABLE_3_3: [Learned; 15] = [
    learned("u1", 14, Some("4.7"), 2_450),
    learned("u2", 8, Some("2.7"), 2_270),
    learned("u3", 10, Some("3.3"), 1_850),
    learned("u4", 7, Some("2.3"), 1_580),
    learned("u5", 10, Some("3.3"), 1_570),
    learned("u6", 3, Some("1"), 950),
    learned("u7", 3, Some("1"), 570),
    learned("u8", 3, Some("1"), 121),
    learned("u9", 3, Some("1"), 590),
    learned("u10", 6, Some("2"), 450),
    learned("u11", 7, Some("2.3"), 825),
    learned("u12", 3, Some("1"), 950),
    learned("u13", 1, Some("0.3"), 40),
    learned("u14", 0, None, 0),
    learned("u15", 2, Some("0.7"), 135),
];

const fn learned(
    url: &'static str,
    changes: u32,
    weekly: Option<&'static str>,
    size: u32,
) -> Learned {
    Learned {
        url,
        changes,
        weekly,
        size,
    }
}

/// A line of Table 3.4.
struct ChangedAt {
    url: &'static str,
    /// From Sunday on.
    day: usize,
    hour: usize,
    changes: u32,
    size: u32,
}

/// Table 3.4 as far as it is printed: all of u1, and a line of u10.
const TABLE_3_4: [ChangedAt; 13] = [
    at("u1", 0, 13, 1, 100),
    at("u1", 1, 11, 1, 100),
    at("u1", 1, 15, 1, 20),
    at("u1", 2, 11, 1, 390),
    at("u1", 3, 9, 2, 420),
    at("u1", 3, 10, 1, 400),
    at("u1", 4, 9, 1, 50),
    at("u1", 4, 10, 1, 130),
    at("u1", 4, 14, 1, 400),
    at("u1", 5, 9, 2, 310),
    at("u1", 6, 9, 1, 100),
    at("u1", 6, 10, 1, 30),
    at("u10", 1, 11, 1, 50),
];

const fn at(url: &'static str, day: usize, hour: usize, changes: u32, size: u32) -> ChangedAt {
    ChangedAt {
        url,
        day,
        hour,
        changes,
        size,
    }
}

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Table 3.5 from Tables 3.3 and 3.4. Of most URLs no hours are printed; their visits are at
/// midnight in Table 3.5, so they change by day.
pub(super) fn schedule() -> Schedule {
    let mut schedule = Schedule::default();
    for line in TABLE_3_3 {
        let mut hours = [0; 24];
        for seen in TABLE_3_4.iter().filter(|seen| seen.url == line.url) {
            hours[seen.hour] += seen.changes;
        }
        let is_known = hours.iter().any(|changes| *changes > 0);
        let mostly = if is_known {
            Mostly::of(&hours)
        } else {
            Mostly::ByDay
        };
        schedule.add(line.url, Grouping::Six.of(line.mean()), mostly);
    }
    schedule
}

impl Learned {
    /// Changes a week.
    fn mean(&self) -> f64 {
        f64::from(self.changes) / 3.0
    }

    /// The mean as printed, and the groups it leads to.
    fn grouped(&self) -> [String; 3] {
        [
            format!("{:.1}", self.mean()),
            Grouping::Sixteen.of(self.mean()).to_string(),
            Grouping::Six.of(self.mean()).to_string(),
        ]
    }

    fn value(&self) -> Value {
        let [weekly, sixteen, six] = self.grouped();
        json!({
            "url": self.url, "changes": self.changes, "change_size": self.size,
            "printed_a_week": self.weekly, "a_week": weekly, "group16": sixteen, "group6": six,
        })
    }
}

impl ChangedAt {
    fn value(&self) -> Value {
        json!({
            "url": self.url, "day": DAYS[self.day], "hour": self.hour,
            "changes": self.changes, "change_size": self.size,
        })
    }
}

fn when(slot: Slot) -> String {
    let day = DAYS[usize::from(slot.day)];
    // As the paper prints once in two and once in four weeks.
    let week = match slot.weeks {
        Some(2) => "2nd ",
        Some(4) => "3rd ",
        _ => "",
    };
    format!("{week}{day} {:02}:00", slot.hour)
}

/// The tables, by name, as lines of JSON.
pub(super) fn as_lines(schedule: &Schedule) -> [(&'static str, Vec<Value>); 3] {
    let visits = |(slot, urls): (Slot, &[String])| json!({ "when": when(slot), "urls": urls });
    [
        (
            "refresh_table_3_3",
            TABLE_3_3.iter().map(Learned::value).collect(),
        ),
        (
            "refresh_table_3_4",
            TABLE_3_4.iter().map(ChangedAt::value).collect(),
        ),
        ("refresh_table_3_5", schedule.lines().map(visits).collect()),
    ]
}

/// All three, for people.
pub(super) fn in_words(schedule: &Schedule) -> String {
    let mut text = learned_in_words();
    text += "\nREFRESH's Table 3.5 from its Table 3.3, 6 groups:\n";
    for (slot, urls) in schedule.lines() {
        text.extend([format!("{:<14} {}\n", when(slot), urls.join(", "))]);
    }
    text += "Conventions the paper leaves unsaid: u14, absent from Table 3.3, has no changes; three a week\nare Monday, Wednesday and Friday; once a week is Saturday noon; 2G1 and 4G1 are printed as the\n2nd and 3rd Saturday.";
    text
}

/// Table 3.3 and what follows from it, and Table 3.4.
fn learned_in_words() -> String {
    let head = [
        "URL",
        "changes",
        "a week",
        "change size",
        "of 16 groups",
        "of 6",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(TABLE_3_3.iter().map(|line| {
        let [weekly, sixteen, six] = line.grouped();
        let (changes, size) = (line.changes.to_string(), line.size.to_string());
        vec![line.url.to_owned(), changes, weekly, size, sixteen, six]
    }));
    let columns = crate::table::columns(&lines, |at| at > 0);
    let aligned = lines
        .iter()
        .map(|line| crate::table::aligned(line, &columns));
    let table = aligned.collect::<Vec<_>>().join("\n");
    let in_words = |seen: &ChangedAt| {
        let ChangedAt {
            url,
            day,
            hour,
            changes,
            size,
        } = seen;
        format!(
            "  {url:<4} {} {hour:02} h  {changes}  {size:>3}",
            DAYS[*day]
        )
    };
    let hours = TABLE_3_4.iter().map(in_words).collect::<Vec<_>>();
    let changes: u32 = of_u1().map(|seen| seen.changes).sum();
    let size: u32 = of_u1().map(|seen| seen.size).sum();
    format!(
        "\nREFRESH's Table 3.3, changes in 3 weeks, and the groups that follow:\n{table}\n\n\
         Table 3.4, changes and their size by day and hour:\n{}\n\
         Those of u1 add up to {changes} and {size}, as in Table 3.3; they fell mostly from 09 to 18, so its\nvisits are at midnight.\n",
        hours.join("\n"),
    )
}

fn of_u1() -> impl Iterator<Item = &'static ChangedAt> {
    TABLE_3_4.iter().filter(|seen| seen.url == "u1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_3_5_is_as_printed() {
        let schedule = schedule();
        let lines: Vec<String> = schedule
            .lines()
            .map(|(slot, urls)| format!("{} {}", when(slot), urls.join(" ")))
            .collect();
        let thrice = "u1 u2 u3 u4 u5 u10 u11";
        let expected = [
            "Sun 00:00 u1".to_owned(),
            format!("Mon 00:00 {thrice}"),
            "Tue 00:00 u1".to_owned(),
            format!("Wed 00:00 {thrice}"),
            "Thu 00:00 u1".to_owned(),
            format!("Fri 00:00 {thrice}"),
            "Sat 00:00 u1".to_owned(),
            "Sat 12:00 u6 u7 u8 u9 u12 u15".to_owned(),
            "2nd Sat 00:00 u13".to_owned(),
            "3rd Sat 00:00 u14".to_owned(),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn tables_3_3_and_3_4_agree_with_themselves_and_each_other() {
        for line in &TABLE_3_3 {
            let [weekly, ..] = line.grouped();
            let weekly = weekly.trim_end_matches(".0");
            let is_right = line.weekly.is_none_or(|printed| printed == weekly);
            assert!(is_right, "{}", line.url);
        }
        let changes: u32 = of_u1().map(|seen| seen.changes).sum();
        let size: u32 = of_u1().map(|seen| seen.size).sum();
        assert_eq!((changes, size), (TABLE_3_3[0].changes, TABLE_3_3[0].size));
    }
}
