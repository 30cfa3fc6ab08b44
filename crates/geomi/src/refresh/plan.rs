//! `geomi refresh plan`: the schedule table of the coming week.
//!
//! Each page is put where the plan would visit it as things stand: at its next
//! time, and again after each gap. What those visits will find is not known, so
//! the table is a forecast; a run that follows it instead of the plan learns,
//! but does not move.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use geomi_crawler::refresh::hour_of_week;
use geomi_refresh::PageId;
use serde_json::{Value, json};

use super::run::PlanArgs;
use super::schedule_file::{DAYS, HEADER};
use super::view::{DirArgs, View, print_table, quoted};
use crate::Exit;
use crate::args::{Format, Global};
use crate::session::print;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh plan news
  geomi refresh plan news --budget 0.5 -o week.csv && $EDITOR week.csv
  geomi refresh run news --schedule week.csv

Days and hours are UTC. The file is CSV with day,hour,url, one line a visit.
Exit codes: 0 done, 1 error, 2 usage or no crawl directory.";

/// URLs named in a line for people.
const SHOWN: usize = 3;
/// Visits of one page in a week, at most: one an hour.
const VISITS_MAX: usize = 168;

/// Arguments of `geomi refresh plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanCommand {
    #[command(flatten)]
    dir: DirArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Write the table to a file
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Pages by the hour of the week, from Sunday midnight on.
type Table = Vec<Vec<PageId>>;

/// Runs the command.
pub(crate) fn run(args: &PlanCommand, global: &Global) -> anyhow::Result<Exit> {
    let mut view = View::open(&args.dir.dir, &args.plan, global, |_| {})?;
    let table = table(&mut view);
    if let Some(path) = &args.out {
        write(path, &table, &view)?;
        return Ok(Exit::Done);
    }
    match global.format {
        Format::Human => human(&table, &view)?,
        Format::Json => {
            let rows: Vec<Value> = slots(&table)
                .map(|(hour, pages)| slot_json(hour, pages, &view))
                .collect();
            print(&serde_json::to_string_pretty(&json!({ "slots": rows }))?)?;
        }
        Format::Jsonl => {
            for (hour, pages) in slots(&table) {
                print(&slot_json(hour, pages, &view).to_string())?;
            }
        }
        Format::Csv => {
            print(HEADER)?;
            for (hour, pages) in slots(&table) {
                for page in pages {
                    print(&line(hour, *page, &view))?;
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn table(view: &mut View) -> Table {
    let mut table = vec![Vec::new(); 7 * 24];
    let (now, end) = (view.now, view.now + 7.0);
    for page in view.pages() {
        let planner = view.book.planner_mut();
        let mut at = planner.due(page).max(now);
        for _ in 0..VISITS_MAX {
            if at >= end {
                break;
            }
            let slot: &mut Vec<PageId> = &mut table[hour_of_week(at)];
            if slot.last() != Some(&page) {
                slot.push(page);
            }
            at = planner.due_after(page, at);
        }
    }
    table
}

fn slots(table: &Table) -> impl Iterator<Item = (usize, &[PageId])> {
    let slots = table.iter().map(Vec::as_slice).enumerate();
    slots.filter(|(_, pages)| !pages.is_empty())
}

fn line(hour: usize, page: PageId, view: &View) -> String {
    let url = quoted(view.book.pages().url(page));
    format!("{},{},{url}", DAYS[hour / 24], hour % 24)
}

fn slot_json(hour: usize, pages: &[PageId], view: &View) -> Value {
    let urls: Vec<&str> = pages
        .iter()
        .map(|page| view.book.pages().url(*page))
        .collect();
    json!({ "day": DAYS[hour / 24], "hour": hour % 24, "urls": urls })
}

fn write(path: &std::path::Path, table: &Table, view: &View) -> anyhow::Result<()> {
    let told = || format!("cannot write {}", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(told)?);
    writeln!(out, "{HEADER}").with_context(told)?;
    for (hour, pages) in slots(table) {
        for page in pages {
            writeln!(out, "{}", line(hour, *page, view)).with_context(told)?;
        }
    }
    out.flush().with_context(told)
}

fn human(table: &Table, view: &View) -> anyhow::Result<()> {
    let mut lines = vec![
        ["day", "hour", "visits", "URLs"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let mut visits = 0;
    for (hour, pages) in slots(table) {
        visits += pages.len();
        let mut urls: Vec<&str> = pages
            .iter()
            .take(SHOWN)
            .map(|page| view.book.pages().url(*page))
            .collect();
        if pages.len() > SHOWN {
            urls.push("...");
        }
        lines.push(vec![
            DAYS[hour / 24].to_owned(),
            format!("{:02}", hour % 24),
            pages.len().to_string(),
            urls.join(" "),
        ]);
    }
    print_table(&lines, &[0, 3])?;
    let budget = view.book.planner().terms().requests_per_day;
    print(&format!(
        "\n{visits} visits in the coming week to {} pages; the budget is {:.0}. Policy {}.",
        view.seen.len(),
        budget * 7.0,
        view.book.config().policy,
    ))
}
