//! `geomi refresh plan`: the schedule table of the coming week.
//!
//! The plan is gone through for a week as a run that begins now would, budgets of sites,
//! groups and hours included. What the visits will find is not known, so nothing is
//! learned from them, and the table is a forecast; a run that follows it instead of the
//! plan learns, but does not move. The groups of REFRESH have a table of their own:
//! [`group_table`].

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use geomi_model::week::DAYS;
use geomi_refresh::PageId;
use geomi_refresh::upkeep::hour_of_week;
use geomi_store::AtomicFile;
use geomi_store::schedule::{self, FreeHours, HEADER};
use serde_json::{Value, json};

use super::group_table::{self, ChangeHours};
use super::limits::{Limit, hours_in_words, print_limits};
use super::run::PlanArgs;
use super::view::{DirArgs, View, print_table};
use crate::Exit;
use crate::args::{Format, Global};
use crate::config::write_duration;
use crate::terminal::{print, print_csv, stderr_line};
use crate::words::plural;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh plan news
  geomi refresh plan news --budget 0.5 -o week.csv && $EDITOR week.csv
  geomi refresh run news --schedule week.csv

Days and hours are those of refresh.timezone (default UTC). The file is CSV with day,hour,url, one line a visit; `-` instead of
a URL leaves an hour free, and what is planned then is visited in the next hour that is not.
Such lines of an older file are kept. The console shows and paints DIR/schedule.csv.
With --policy group6 or group16 the table is REFRESH's: days by group, midnight for pages that
change mostly from 09 to 18 and noon for others, whatever the budget is.
Exit codes: 0 done, 1 error, 2 usage or no crawl directory.";

/// URLs named in a line for people.
const SHOWN: usize = 3;
/// Days that are planned.
const WEEK: f64 = 7.0;

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
pub(super) type Table = Vec<Vec<PageId>>;

/// Runs the command.
pub(crate) fn run(args: &PlanCommand, global: &Global) -> anyhow::Result<Exit> {
    let mut hours = ChangeHours::default();
    let mut view = View::open(&args.dir.dir, &args.plan, global, |moment| {
        hours.take(moment);
    })?;
    // As they stand now, not at the end of the week.
    let limits = Limit::all(&view);
    let grouping = group_table::grouping(&view.plan.config().policy);
    let (table, needs) = match grouping {
        Some(grouping) => {
            let (table, visits) = group_table::table(&view, grouping, &hours);
            (table, Some(visits))
        }
        None => (table(&mut view), None),
    };
    if let Some(path) = &args.out {
        write(path, &table, &view)?;
        if !global.quiet {
            tell_of_others(path, &table, &view);
        }
        return Ok(Exit::Done);
    }
    match global.format {
        Format::Human => human(&table, needs, limits, &view)?,
        Format::Json => {
            let rows: Vec<Value> = slots(&table)
                .map(|(hour, pages)| slot_json(hour, pages, &view))
                .collect();
            let planned = planned(&table, &view).into_iter();
            let budgets: Vec<Value> = limits
                .iter()
                .zip(planned)
                .map(|(limit, visits)| limit.to_json(&[("planned", visits.into())]))
                .collect();
            let told = json!({
                "slots": rows,
                "budgets": budgets,
                "requests_per_day": view.plan.planner().requests_per_day(),
                "requests_per_hour": view.plan.planner().requests_per_hour(),
                "groups_need_per_day": needs.map(|visits| visits / WEEK),
            });
            print(&serde_json::to_string_pretty(&told)?)?;
        }
        Format::Jsonl => {
            for (hour, pages) in slots(&table) {
                print(&slot_json(hour, pages, &view).to_string())?;
            }
        }
        Format::Csv => {
            print_csv(HEADER)?;
            for (hour, pages) in slots(&table) {
                for page in pages {
                    print_csv(&line(hour, *page, &view))?;
                }
            }
        }
    }
    Ok(Exit::Done)
}

/// The visits of the coming week. A page that is visited twice within an hour of the week,
/// which may be the present one and that in which the week ends, has one row.
fn table(view: &mut View) -> Table {
    let mut table = vec![Vec::new(); 7 * 24];
    let end = view.now + WEEK;
    view.plan.forget_tried(view.now);
    while let Some((page, at)) = view.plan.next_by(end) {
        table[hour_of_week(at)].push(page);
        view.plan.planner_mut().renew(page, at);
    }
    for pages in &mut table {
        let mut found = HashSet::new();
        pages.retain(|page| found.insert(*page));
    }
    table
}

/// Visits of the week by account.
fn planned(table: &Table, view: &View) -> Vec<u64> {
    let planner = view.plan.planner();
    let mut visits = vec![0; planner.accounts()];
    for page in table.iter().flatten() {
        for account in planner.accounts_of(*page) {
            visits[account as usize] += 1;
        }
    }
    visits
}

fn slots(table: &Table) -> impl Iterator<Item = (usize, &[PageId])> {
    let slots = table.iter().map(Vec::as_slice).enumerate();
    slots.filter(|(_, pages)| !pages.is_empty())
}

fn line(hour: usize, page: PageId, view: &View) -> String {
    schedule::line(hour, view.plan.pages().url(page))
}

fn slot_json(hour: usize, pages: &[PageId], view: &View) -> Value {
    let urls: Vec<&str> = pages
        .iter()
        .map(|page| view.plan.pages().url(*page))
        .collect();
    json!({ "day": DAYS[hour / 24], "hour": hour % 24, "urls": urls })
}

/// Writes the table. Hours that the file left free before stay so.
fn write(path: &Path, table: &Table, view: &View) -> anyhow::Result<()> {
    let told = || format!("cannot write {}", path.display());
    if path.exists() && !path.is_file() {
        // A pipe or a terminal has nothing to keep, and cannot be replaced.
        let mut out = std::fs::File::create(path).with_context(told)?;
        return write_rows(&mut out, &FreeHours::default(), table, view).with_context(told);
    }
    let free = schedule::free_hours(path)?;
    let mut out = AtomicFile::create(path)?;
    write_rows(&mut out, &free, table, view).with_context(told)?;
    out.commit().with_context(told)
}

fn write_rows(
    out: &mut impl Write,
    free: &FreeHours,
    table: &Table,
    view: &View,
) -> std::io::Result<()> {
    schedule::write_head(out, free)?;
    for (hour, pages) in slots(table) {
        for page in pages {
            writeln!(out, "{}", line(hour, *page, view))?;
        }
    }
    out.flush()
}

/// Says which pages a run that follows the file does not find in it.
fn tell_of_others(path: &Path, table: &Table, view: &View) {
    let mut is_planned = vec![false; view.seen.len()];
    for page in table.iter().flatten() {
        is_planned[*page as usize] = true;
    }
    let others = is_planned.iter().filter(|is_planned| !**is_planned).count();
    if others > 0 {
        stderr_line!(
            "note: {others} of {} pages have no row in {}: a run that follows it visits them only after the longest gap, {}",
            is_planned.len(),
            path.display(),
            write_duration(view.plan.config().longest_gap),
        );
    }
}

fn human(table: &Table, needs: Option<f64>, limits: Vec<Limit>, view: &View) -> anyhow::Result<()> {
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
            .map(|page| view.plan.pages().url(*page))
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
    let budget = view.plan.planner().requests_per_day();
    print(&format!(
        "\n{visits} visits in the coming week to {} pages; the budget is {:.0}{}. Policy {}.",
        view.seen.len(),
        budget * WEEK,
        hours_in_words(view),
        view.plan.config().policy,
    ))?;
    let never_fetched = view.plan.never_fetched_len();
    if never_fetched > 0 {
        print(&format!(
            "Beside them {} of which there is no copy: asked for again less and less often.",
            plural(never_fetched as u64, "URL")
        ))?;
    }
    if let Some(visits) = needs {
        print(&format!(
            "Its groups go by rates alone: they need {visits:.0} visits in an ordinary week, {:.0} % of the budget.",
            visits / (budget * WEEK) * 100.0,
        ))?;
    }
    let planned = planned(table, view);
    let rows = limits.into_iter().zip(planned);
    let rows = rows.map(|(limit, visits)| (limit, vec![visits.to_string()]));
    print_limits(&rows.collect::<Vec<_>>(), &["planned this week"])
}
