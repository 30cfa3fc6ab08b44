//! `geomi refresh simulate`: policies side by side, as a table, JSON or CSV.
//!
//! What is simulated is in geomi-sim; here it is read what is wanted, and
//! printed. Every visit and every true change can be written out, so that others
//! can compute each figure again.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use geomi_sim::refresh::compare::{Matching, Row, compare};
use geomi_sim::refresh::kind::{PolicyKind, Told};
use geomi_sim::refresh::trial::{self, Setup};
use geomi_sim::refresh::web::{ModelWeb, World};
use serde_json::json;

use super::extent::Extent;
use super::out_file::OutFile;
use super::{history_file, html};
use crate::Exit;
use crate::args::{Format, Global};
use crate::config::Problems;
use crate::csv;
use crate::table;
use crate::terminal::{print, print_csv, stderr_line};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh simulate --web shop --policy static,greedy,clock
  geomi refresh simulate --history changes.csv --budget 0.5 --html report.html
  geomi refresh simulate --history changes.parquet --policy static,clock

Webs: shop (REFRESH's 1,200 pages), web (log-normal rates), flat (shop without busy
hours), noisy (shop, a tenth looks changed at every visit). A history is CSV or Parquet
with the columns url,time and perhaps weight, one row a change, or a crawl directory.
Exit codes: 0 simulated, 1 error, 2 usage.";

/// Arguments of `geomi refresh simulate`.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// Model web: shop, web, flat or noisy
    #[arg(long, value_name = "NAME", default_value = "shop")]
    web: String,
    /// A recorded history instead: CSV or Parquet with url,time and perhaps weight, or a crawl directory
    #[arg(long, value_name = "FILE", conflicts_with = "web")]
    history: Option<PathBuf>,
    /// Policies, with commas between them; all unless given
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    policy: Vec<String>,
    /// Visits a page a day; 1, for the web `web` 1/7, unless given
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Times the budget that may be spent in the days that are not counted
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    learn: f64,
    /// What the draws begin with
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Webs to draw and take the means of; a history is what it is
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    trials: u32,
    /// Let policies heed the weights of pages, and match weighted freshness
    #[arg(long)]
    weighted: bool,
    /// Leave match static out: it takes ten times as long as the rest
    #[arg(long)]
    no_match: bool,
    /// Write every visit as CSV: policy,trial,url,time
    #[arg(long, value_name = "FILE")]
    visits_out: Option<PathBuf>,
    /// Write every true change as CSV: trial,url,time,weight
    #[arg(long, value_name = "FILE")]
    changes_out: Option<PathBuf>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What was asked for, as it is meant.
pub(super) struct Asked {
    /// Name of the web, or of the file.
    pub(super) web: String,
    pub(super) worlds: Vec<World>,
    pub(super) extent: Extent,
    pub(super) policies: Vec<PolicyKind>,
    pub(super) setup: Setup,
    pub(super) matching: Matching,
}

/// Runs the command.
pub(crate) fn run(args: &SimulateArgs, global: &Global) -> anyhow::Result<Exit> {
    let asked = asked(args, global)?;
    let tell = |policy: PolicyKind| {
        if !global.quiet && !global.no_progress {
            stderr_line!("simulating {} ...", policy.name());
        }
    };
    let Asked {
        setup, matching, ..
    } = asked;
    // A wrong path is told before the work, not after it.
    let files = Files::open(args)?;
    let rows = compare(&asked.worlds, &asked.policies, setup, matching, tell);
    // What was found is printed even if a file cannot be written to its end.
    let written = files.write(&asked, &rows);
    print_rows(&asked, &rows, global.format)?;
    written?;
    Ok(Exit::Done)
}

/// The files that are to be written.
struct Files {
    changes: Option<OutFile>,
    visits: Option<OutFile>,
    html: Option<OutFile>,
}

impl Files {
    /// Opens them, with what they held until now.
    fn open(args: &SimulateArgs) -> anyhow::Result<Self> {
        let flags = [
            ("--changes-out", &args.changes_out),
            ("--visits-out", &args.visits_out),
            ("--html", &args.html),
        ];
        let mut problems = Problems::default();
        for (at, (flag, path)) in flags.iter().enumerate() {
            let before = flags[..at].iter().find(|(_, other)| other == path);
            if let (Some(path), Some((other, _))) = (path, before) {
                let path = path.display();
                problems.add_general(format!("{other} and {flag} both name {path}"));
            }
        }
        problems.into_result()?;
        let open = |path: &Option<PathBuf>| path.as_deref().map(OutFile::open).transpose();
        Ok(Self {
            changes: open(&args.changes_out)?,
            visits: open(&args.visits_out)?,
            html: open(&args.html)?,
        })
    }

    fn write(self, asked: &Asked, rows: &[Row]) -> anyhow::Result<()> {
        if let Some(file) = self.changes {
            file.write(|out| write_changes(out, &asked.worlds))?;
        }
        if let Some(file) = self.visits {
            file.write(|out| write_visits(out, asked))?;
        }
        if let Some(file) = self.html {
            file.write(|out| out.write_all(html::page(asked, rows).as_bytes()))?;
        }
        Ok(())
    }
}

fn print_rows(asked: &Asked, rows: &[Row], format: Format) -> anyhow::Result<()> {
    match format {
        Format::Human => print(&human(asked, rows))?,
        Format::Json => {
            let rows: Vec<_> = rows.iter().map(|row| json(asked, row)).collect();
            let told = json!({ "extent": asked.extent.to_json(), "rows": rows });
            print(&serde_json::to_string_pretty(&told)?)?;
        }
        Format::Jsonl => {
            for row in rows {
                print(&json(asked, row).to_string())?;
            }
        }
        Format::Csv => print_csv(as_csv(asked, rows).trim_end())?,
    }
    Ok(())
}

fn asked(args: &SimulateArgs, global: &Global) -> anyhow::Result<Asked> {
    let mut problems = Problems::default();
    let mut policies = Vec::new();
    for name in &args.policy {
        match PolicyKind::from_name(name.trim()) {
            Some(kind) if policies.contains(&kind) => {}
            Some(kind) => policies.push(kind),
            None => {
                let names = PolicyKind::ALL.map(PolicyKind::name).join(", ");
                problems.add_general(format!(
                    "--policy: there is no policy {name:?}; there are {names}"
                ));
            }
        }
    }
    if policies.is_empty() {
        policies = PolicyKind::ALL.to_vec();
    }
    if let Some(budget) = args.budget.filter(|budget| !(1e-4..=1e3).contains(budget)) {
        problems.add_general(format!(
            "--budget {budget}: give visits a page a day, from 0.0001 to 1000"
        ));
    }
    if !(1.0..=1e3).contains(&args.learn) {
        problems.add_general(format!(
            "--learn {}: give how many times the budget may be spent while learning, from 1 to 1000",
            args.learn
        ));
    }
    let model = ModelWeb::ALL.into_iter().find(|web| web.name() == args.web);
    if model.is_none() && args.history.is_none() {
        problems.add_general(format!(
            "--web: there is no model web {:?}; there are shop, web, flat and noisy",
            args.web
        ));
    }
    problems.into_result()?;
    let (web, worlds, usual) = match (&args.history, model) {
        (Some(path), _) => {
            let world = history_file::read(path, global)?;
            (path.display().to_string(), vec![world], 1.0)
        }
        (None, Some(model)) => {
            let draw = |trial| model.draw(args.seed, trial);
            let worlds = (0..args.trials).map(draw).collect();
            (model.name().to_owned(), worlds, model.budget())
        }
        (None, None) => unreachable!("a problem was told"),
    };
    Ok(Asked {
        web,
        extent: Extent::of(&worlds),
        worlds,
        policies,
        setup: Setup {
            budget: args.budget.unwrap_or(usual),
            learn: args.learn,
            is_weighted: args.weighted,
        },
        matching: if args.no_match {
            Matching::Skipped
        } else {
            Matching::Searched
        },
    })
}

/// Times are Unix seconds for a history and days from the start for a model web.
fn time_of(world: &World, days: f64) -> f64 {
    world
        .start_unix
        .map_or(days, |start| start + days * 86_400.0)
}

fn write_changes(out: &mut dyn Write, worlds: &[World]) -> std::io::Result<()> {
    writeln!(out, "trial,url,time,weight")?;
    for (trial, world) in worlds.iter().enumerate() {
        for page in &world.pages {
            let (url, weight) = (csv::field(&page.url), page.weight);
            if page.changes.is_empty() {
                writeln!(out, "{trial},{url},,{weight}")?;
            }
            for change in &page.changes {
                let time = time_of(world, *change);
                writeln!(out, "{trial},{url},{time},{weight}")?;
            }
        }
    }
    Ok(())
}

fn write_visits(out: &mut dyn Write, asked: &Asked) -> std::io::Result<()> {
    writeln!(out, "policy,trial,url,time")?;
    for policy in &asked.policies {
        for (trial, world) in asked.worlds.iter().enumerate() {
            let mut failure = None;
            let setup = asked.setup.of(*policy);
            trial::run(world, policy.build(world), setup, |visit| {
                let url = csv::field(&world.pages[visit.page as usize].url);
                let time = time_of(world, visit.time);
                let line = writeln!(out, "{},{trial},{url},{time}", policy.name());
                failure = failure.take().or(line.err());
            });
            failure.map_or(Ok(()), Err)?;
        }
    }
    Ok(())
}

fn json(asked: &Asked, row: &Row) -> serde_json::Value {
    json!({
        "policy": row.policy.name(),
        "web": asked.web,
        "budget": row.budget,
        "freshness": row.mean.freshness,
        "weighted_freshness": row.mean.weighted_freshness,
        "mean_age_h": row.mean.mean_age_h,
        "requests_per_page_day": row.mean.requests_per_page_day,
        "match_static": row.match_static.map(|found| found.share),
        "match_static_error": row.match_static.and_then(|found| found.error),
        "freshness_spread": row.freshness_spread,
        "freshness_of_others": row.mean.freshness_of_others,
        "trials": asked.worlds.len(),
        "learn": asked.setup.learn,
    })
}

const COLUMNS: [&str; 8] = [
    "policy",
    "freshness",
    "weighted_freshness",
    "mean_age_h",
    "requests_per_page_day",
    "match_static",
    "match_static_error",
    "freshness_of_others",
];

/// Those of the match, which may not have been searched for.
const MATCH_COLUMNS: std::ops::Range<usize> = 5..7;

fn cells(row: &Row) -> Vec<String> {
    let mean = &row.mean;
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{share:.4}"));
    vec![
        row.policy.name().to_owned(),
        format!("{:.4}", mean.freshness),
        format!("{:.4}", mean.weighted_freshness),
        format!("{:.2}", mean.mean_age_h),
        format!("{:.4}", mean.requests_per_page_day),
        share(row.match_static.map(|found| found.share)),
        share(row.match_static.and_then(|found| found.error)),
        format!("{:.4}", mean.freshness_of_others),
    ]
}

fn as_csv(asked: &Asked, rows: &[Row]) -> String {
    let mut text = format!("web,budget,{}\n", COLUMNS.join(","));
    for row in rows {
        let first = [asked.web.clone(), row.budget.to_string()];
        text += &csv::line(first.into_iter().chain(cells(row)));
        text.push('\n');
    }
    text
}

fn human(asked: &Asked, rows: &[Row]) -> String {
    let mut lines = vec![COLUMNS.map(|name| name.replace('_', " ")).to_vec()];
    lines.extend(rows.iter().map(cells));
    if asked.matching == Matching::Skipped {
        for line in &mut lines {
            line.drain(MATCH_COLUMNS);
        }
    }
    let columns = table::columns(&lines, |at| at > 0);
    let mut text = format!(
        "{}: {}\n{}\n\n",
        asked.web,
        asked.extent.in_words(),
        asked.terms_in_words(),
    );
    for line in &lines {
        text += &table::aligned(line, &columns);
        text.push('\n');
    }
    for note in notes(asked, rows) {
        text.extend(["\n", note.as_str()]);
    }
    text
}

impl Asked {
    /// Budget and trials, in words.
    pub(super) fn terms_in_words(&self) -> String {
        let learn = if self.setup.learn > 1.0 {
            format!(", {} times that while learning", self.setup.learn)
        } else {
            String::new()
        };
        let weighted = if self.setup.is_weighted {
            "; policies heed the weights of pages"
        } else {
            ""
        };
        format!(
            "{:.4} visits a page a day{learn}, means of {}{weighted}",
            self.setup.budget,
            crate::words::plural(self.worlds.len() as u64, "trial"),
        )
    }
}

/// What has to be known to read the table, a sentence or two each.
pub(super) fn notes(asked: &Asked, rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    if asked.matching == Matching::Searched {
        let matched = if asked.setup.is_weighted {
            "as fresh, by weight,"
        } else {
            "as fresh"
        };
        notes.push(format!("match static: requests needed to be {matched} as the static cycle, as a share of its own; its error is how far, by what the trials differ, the mean of others may lie from it."));
    }
    notes.push("freshness of others: without pages that look changed at every visit.".to_owned());
    for (told, words) in [
        (Told::Rates, "the true rates, which no crawler knows"),
        (Told::Counts, "every change of the learning days"),
    ] {
        let policies = rows.iter().map(|row| row.policy);
        let names: Vec<&str> = policies
            .filter(|policy| policy.told() == told)
            .map(PolicyKind::name)
            .collect();
        if !names.is_empty() {
            notes.push(format!("Told {words}: {}.", names.join(", ")));
        }
    }
    notes
}
