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

/// Table 3.3: changes in the three weeks of learning, and the mean of a week as
/// printed. `u14`, absent from the table, had none.
const TABLE_3_3: [(&str, u32, Option<&str>); 15] = [
    ("u1", 14, Some("4.7")),
    ("u2", 8, Some("2.7")),
    ("u3", 10, Some("3.3")),
    ("u4", 7, Some("2.3")),
    ("u5", 10, Some("3.3")),
    ("u6", 3, Some("1")),
    ("u7", 3, Some("1")),
    ("u8", 3, Some("1")),
    ("u9", 3, Some("1")),
    ("u10", 6, Some("2")),
    ("u11", 7, Some("2.3")),
    ("u12", 3, Some("1")),
    ("u13", 1, Some("0.3")),
    ("u14", 0, None),
    ("u15", 2, Some("0.7")),
];

/// Table 3.4, what it has of u1: days from Sunday on, hours, and changes.
const TABLE_3_4: [(usize, usize, u32); 12] = [
    (0, 13, 1),
    (1, 11, 1),
    (1, 15, 1),
    (2, 11, 1),
    (3, 9, 2),
    (3, 10, 1),
    (4, 9, 1),
    (4, 10, 1),
    (4, 14, 1),
    (5, 9, 2),
    (6, 9, 1),
    (6, 10, 1),
];

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
            for figure in &figures {
                print(&figure.value().to_string())?;
            }
        }
        Format::Csv => unreachable!("csv was refused before"),
    }
    Ok(Exit::Done)
}

/// Table 3.5 from Table 3.3. Of the hours only u1's are printed; the others'
/// visits are at midnight as in Table 3.5, so they change by day.
fn schedule() -> Schedule {
    let mut hours = [0; 24];
    for (_, hour, changes) in TABLE_3_4 {
        hours[hour] += changes;
    }
    let mut schedule = Schedule::default();
    for (url, changes, _) in TABLE_3_3 {
        let mostly = if url == "u1" {
            Mostly::of(&hours)
        } else {
            Mostly::ByDay
        };
        let group = Grouping::Six.of(f64::from(changes) / 3.0);
        schedule.add(url, group, mostly);
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

fn value(figures: &[Figure], schedule: &Schedule) -> Value {
    let lines = schedule.lines();
    let lines: Vec<Value> = lines
        .map(|(slot, urls)| json!({ "when": when(slot), "urls": urls }))
        .collect();
    let figures: Vec<Value> = figures.iter().map(Figure::value).collect();
    let changes: Vec<Value> = TABLE_3_3
        .iter()
        .map(|(url, changes, printed)| {
            let [weekly, sixteen, six] = grouped(*changes);
            json!({
                "url": url, "changes": changes, "printed_a_week": printed, "a_week": weekly,
                "group16": sixteen, "group6": six,
            })
        })
        .collect();
    let hours: Vec<Value> = TABLE_3_4
        .iter()
        .map(|(day, hour, changes)| json!({ "day": DAYS[*day], "hour": hour, "changes": changes }))
        .collect();
    json!({
        "figures": figures,
        "refresh_table_3_3": changes,
        "refresh_table_3_4": { "url": "u1", "changes": hours },
        "refresh_table_3_5": lines,
    })
}

/// Changes of three weeks as a mean of one, and the groups they lead to.
fn grouped(changes: u32) -> [String; 3] {
    let weekly = f64::from(changes) / 3.0;
    [
        format!("{weekly:.1}"),
        Grouping::Sixteen.of(weekly).to_string(),
        Grouping::Six.of(weekly).to_string(),
    ]
}

/// Table 3.3 and what follows from it, and Table 3.4.
fn learned() -> String {
    let head = ["URL", "changes", "a week", "of 16 groups", "of 6"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(TABLE_3_3.iter().map(|(url, changes, _)| {
        let counts = [(*url).to_owned(), changes.to_string()];
        counts.into_iter().chain(grouped(*changes)).collect()
    }));
    let columns = crate::table::columns(&lines, |at| at > 0);
    let aligned = lines
        .iter()
        .map(|line| crate::table::aligned(line, &columns));
    let table = aligned.collect::<Vec<_>>().join("\n");
    let hours = TABLE_3_4
        .map(|(day, hour, changes)| format!("{} {hour:02} h {changes}", DAYS[day]))
        .join(", ");
    format!(
        "\nREFRESH's Table 3.3, changes in 3 weeks, and the groups that follow:\n{table}\n\nTable 3.4, u1's changes by day and hour: {hours};\nmostly from 09 to 18, so its visits are at midnight.\n"
    )
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
    text += &learned();
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
    fn means_of_table_3_3_are_as_printed() {
        for (url, changes, printed) in TABLE_3_3 {
            let [weekly, ..] = grouped(changes);
            let weekly = weekly.trim_end_matches(".0");
            assert!(printed.is_none_or(|printed| printed == weekly), "{url}");
        }
        let of_u1: u32 = TABLE_3_4.iter().map(|(_, _, changes)| changes).sum();
        assert_eq!(of_u1, TABLE_3_3[0].1);
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
