//! `geomi papers`: figures of the papers computed again, beside what is printed.

use clap::Args;
use geomi_refresh::schedule::{Mostly, Schedule, Slot};
use geomi_refresh::{Grouping, follows};
use serde_json::{Value, json};

use crate::Exit;
use crate::args::{Format, Global};
use crate::session::print;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi papers
  geomi papers --format json

Exit codes: 0 printed, 1 error, 2 usage.";

/// Arguments of `geomi papers`: none.
#[derive(Debug, Args)]
pub(crate) struct PapersArgs {}

/// A figure, printed and computed.
struct Figure {
    paper: &'static str,
    what: &'static str,
    printed: String,
    computed: String,
    /// Where the two differ, or something else must be said.
    note: Option<&'static str>,
}

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

/// Table 4.2 and 4.1.2: pages, visits a week, and the requests a day that are
/// printed.
const TABLE_4_2: [(&str, u32, f64, u32); 6] = [
    ("240 pages twice a day", 240, 14.0, 480),
    ("144 pages once a day", 144, 7.0, 144),
    ("216 pages three times a week", 216, 3.0, 7),
    ("480 pages once a week", 480, 1.0, 6),
    ("60 pages once in 2 weeks", 60, 0.5, 5),
    ("60 pages once in 4 weeks", 60, 0.25, 2),
];

/// ROBOT's Table 8: seeds by how many of 9 batches downloaded them.
const TABLE_8: [u64; 10] = [328, 6, 7, 3, 6, 7, 9, 12, 93, 953];

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// Runs the command.
pub(crate) fn run(_args: &PapersArgs, global: &Global) -> anyhow::Result<Exit> {
    let figures = figures();
    let schedule = schedule();
    match global.format {
        Format::Human => print(&human(&figures, &schedule))?,
        Format::Json => print(&serde_json::to_string_pretty(&value(&figures, &schedule))?)?,
        Format::Jsonl => {
            for line in lines(&figures, &schedule) {
                print(&line.to_string())?;
            }
        }
        Format::Csv => unreachable!("csv was refused before"),
    }
    Ok(Exit::Done)
}

/// Table 3.5 from Tables 3.3 and 3.4. Of most URLs no hours are printed; their visits are at
/// midnight in Table 3.5, so they change by day.
fn schedule() -> Schedule {
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

fn figures() -> Vec<Figure> {
    let mut figures = robot();
    figures.extend(refresh());
    figures.extend(design());
    figures
}

fn robot() -> Vec<Figure> {
    let found = follows(&TABLE_8).expect("the table has successes and failures");
    let seeds: u64 = TABLE_8.iter().sum();
    vec![
        figure(
            "ROBOT",
            "SS, success after success (Table 8, eq. 1)",
            "0.9638",
            format!("{:.4}", found.success),
        ),
        figure(
            "ROBOT",
            "FF, failure after failure (Table 8, eq. 2)",
            "0.7426",
            format!("{:.4}", found.failure),
        ),
        Figure {
            note: Some(
                "1,424 in the text and by the sum of Table 8; the example of SS writes 1428 - 328 = 1096, which is 1,424 - 328",
            ),
            ..figure(
                "ROBOT",
                "S, the seeds observed",
                "1424, 1428",
                seeds.to_string(),
            )
        },
    ]
}

fn refresh() -> Vec<Figure> {
    let weekly = 14.0 / 3.0;
    let requests = |line: &(&str, u32, f64, u32)| f64::from(line.1) * line.2 / 7.0;
    let right: f64 = TABLE_4_2.iter().map(requests).sum();
    let printed: u32 = TABLE_4_2.iter().map(|line| line.3).sum();
    let pages: u32 = TABLE_4_2.iter().map(|line| line.1).sum();
    let pages_f = f64::from(pages);
    let mut figures = vec![
        figure(
            "REFRESH",
            "u1: 14 changes in 3 weeks, a week",
            "4.7",
            format!("{weekly:.1}"),
        ),
        figure(
            "REFRESH",
            "u1's group of 16",
            "G5",
            Grouping::Sixteen.of(weekly).to_string(),
        ),
        figure(
            "REFRESH",
            "u1's group of 6",
            "G7",
            Grouping::Six.of(weekly).to_string(),
        ),
        Figure {
            note: Some(
                "0.3 changes a week is 2G1, once in two weeks; Table 3.5 lists u13 once a month, on the second Saturday",
            ),
            ..figure(
                "REFRESH",
                "u13's group of 6",
                "2nd Saturday",
                Grouping::Six.of(1.0 / 3.0).to_string(),
            )
        },
    ];
    for line in &TABLE_4_2 {
        let computed = requests(line);
        let is_right = (computed - f64::from(line.3)).abs() < 0.5;
        figures.push(Figure {
            note: (!is_right)
                .then_some("does not follow from the pages and the cycle that are stated"),
            ..figure(
                "REFRESH",
                line.0,
                &line.3.to_string(),
                format!("{computed:.1}"),
            )
        });
    }
    figures.push(Figure {
        note: Some("480 + 144 + 92.6 + 68.6 + 4.3 + 2.1 = 791.6; the printed lines add up to 644"),
        ..figure(
            "REFRESH",
            "requests a day (Table 4.2)",
            &printed.to_string(),
            format!("{right:.1}"),
        )
    });
    figures.push(Figure {
        note: Some("644 / 1,200 is 53.7 %, and the stated cycles give 66.0 %"),
        ..figure(
            "REFRESH",
            "load ratio S(x)",
            "53.8 %",
            format!("{:.1} %", right / pages_f * 100.0),
        )
    });
    figures.push(Figure {
        note: Some("a saving of a third, not of nearly a half"),
        ..figure(
            "REFRESH",
            "requests saved",
            "46.2 %",
            format!("{:.1} %", (1.0 - right / pages_f) * 100.0),
        )
    });
    figures
}

fn design() -> Vec<Figure> {
    let pages_a_month = 1e9;
    let per_second = pages_a_month / (30.0 * 86_400.0);
    let terabytes = pages_a_month * 500e3 / 1e12;
    vec![
        figure(
            "DESIGN",
            "10^9 pages a month, pages/s",
            "400",
            format!("{per_second:.0}"),
        ),
        figure(
            "DESIGN",
            "500 KB a page, a month",
            "500 TB",
            format!("{terabytes:.0} TB"),
        ),
        figure(
            "DESIGN",
            "kept for 5 years",
            "30 PB",
            format!("{:.0} PB", terabytes * 60.0 / 1_000.0),
        ),
    ]
}

fn figure(paper: &'static str, what: &'static str, printed: &str, computed: String) -> Figure {
    Figure {
        paper,
        what,
        printed: printed.to_owned(),
        computed,
        note: None,
    }
}

impl Figure {
    fn value(&self) -> Value {
        json!({
            "paper": self.paper,
            "what": self.what,
            "printed": self.printed,
            "computed": self.computed,
            "note": self.note,
        })
    }
}

fn when(slot: Slot) -> String {
    let day = DAYS[usize::from(slot.day)];
    let week = match slot.week {
        Some(2) => "2nd ",
        Some(3) => "3rd ",
        _ => "",
    };
    format!("{week}{day} {:02}:00", slot.hour)
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

/// The tables, by name, as lines of JSON.
fn tables(schedule: &Schedule) -> [(&'static str, Vec<Value>); 3] {
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

fn value(figures: &[Figure], schedule: &Schedule) -> Value {
    let figures: Vec<Value> = figures.iter().map(Figure::value).collect();
    let mut all = json!({ "figures": figures });
    for (name, lines) in tables(schedule) {
        all[name] = lines.into();
    }
    all
}

/// All of it, line by line: figures, then the tables, of which each line has the name.
fn lines(figures: &[Figure], schedule: &Schedule) -> Vec<Value> {
    let mut all: Vec<Value> = figures.iter().map(Figure::value).collect();
    for (name, lines) in tables(schedule) {
        all.extend(lines.into_iter().map(|mut line| {
            line["table"] = name.into();
            line
        }));
    }
    all
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

fn human(figures: &[Figure], schedule: &Schedule) -> String {
    let mut lines = vec![
        ["paper", "figure", "printed", "computed"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines.extend(figures.iter().map(|figure| {
        vec![
            figure.paper.to_owned(),
            figure.what.to_owned(),
            figure.printed.clone(),
            figure.computed.clone(),
        ]
    }));
    let columns = crate::table::columns(&lines, |at| at > 1);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        text += &crate::table::aligned(line, &columns);
        text.push('\n');
        if let Some(note) = at.checked_sub(1).and_then(|at| figures[at].note) {
            text.extend([format!("         ! {note}\n")]);
        }
    }
    text += &learned_in_words();
    text += "\nREFRESH's Table 3.5 from its Table 3.3, 6 groups:\n";
    for (slot, urls) in schedule.lines() {
        text.extend([format!("{:<14} {}\n", when(slot), urls.join(", "))]);
    }
    text += "Conventions the paper leaves unsaid: u14, absent from Table 3.3, has no changes; three a week\nare Monday, Wednesday and Friday; once a week is Saturday noon; 2G1 and 4G1 are printed as the\n2nd and 3rd Saturday.";
    text
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

    #[test]
    fn lines_have_all_of_it() {
        let (figures, schedule) = (figures(), schedule());
        let all = value(&figures, &schedule);
        let parts = all.as_object().unwrap().values();
        let in_parts: usize = parts.map(|part| part.as_array().unwrap().len()).sum();
        assert_eq!(lines(&figures, &schedule).len(), in_parts);
        assert!(all["refresh_table_3_5"].as_array().unwrap().len() > 9);
    }

    #[test]
    fn figures_are_exact() {
        let of = |what: &str| {
            let all = figures();
            let found = all.iter().find(|figure| figure.what.starts_with(what));
            found.map(|figure| figure.computed.clone()).unwrap()
        };
        assert_eq!(of("SS"), "0.9638");
        assert_eq!(of("FF"), "0.7426");
        assert_eq!(of("S, "), "1424");
        assert_eq!(of("requests a day"), "791.6");
        assert_eq!(of("load ratio"), "66.0 %");
        assert_eq!(of("requests saved"), "34.0 %");
        assert_eq!(of("10^9 pages"), "386");
        assert_eq!(of("kept"), "30 PB");
    }
}
