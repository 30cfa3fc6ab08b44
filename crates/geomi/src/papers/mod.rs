//! `geomi papers`: figures of the papers computed again, beside what is printed.

mod tables;

use clap::Args;
use geomi_refresh::schedule::Schedule;
use geomi_refresh::{Grouping, follows};
use serde_json::{Value, json};

use crate::Exit;
use crate::args::{Format, Global};
use crate::terminal::print;

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

/// Runs the command.
pub(crate) fn run(_args: &PapersArgs, global: &Global) -> anyhow::Result<Exit> {
    let figures = figures();
    let schedule = tables::schedule();
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

fn value(figures: &[Figure], schedule: &Schedule) -> Value {
    let figures: Vec<Value> = figures.iter().map(Figure::value).collect();
    let mut all = json!({ "figures": figures });
    for (name, lines) in tables::as_lines(schedule) {
        all[name] = lines.into();
    }
    all
}

/// All of it, line by line: figures, then the tables, of which each line has the name.
fn lines(figures: &[Figure], schedule: &Schedule) -> Vec<Value> {
    let mut all: Vec<Value> = figures.iter().map(Figure::value).collect();
    for (name, lines) in tables::as_lines(schedule) {
        all.extend(lines.into_iter().map(|mut line| {
            line["table"] = name.into();
            line
        }));
    }
    all
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
    text += &tables::in_words(schedule);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_all_of_it() {
        let (figures, schedule) = (figures(), tables::schedule());
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
