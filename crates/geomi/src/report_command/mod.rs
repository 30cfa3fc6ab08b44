//! `geomi report`: what a crawl came to, as tables, JSON or CSV.
//!
//! What is counted and what it means is in geomi-report; here it is read from
//! the command line what is wanted, and printed. The closing report of a crawl
//! is another thing and lives in `report.rs`.

mod human;

use anyhow::Context as _;
use geomi_report::{Linking, Options, Report, Section, SectionKind, Value};
use geomi_store::CrawlDir;
use serde_json::json;

use crate::args::{Format, Global, ReportArgs};
use crate::config::{self, Place, Problems};
use crate::csv;
use crate::terminal::{print, print_csv, stderr_line};
use crate::{Exit, seeds_file, words};

/// The form of the JSON; it grows when a field changes its meaning.
const JSON_VERSION: u32 = 1;

/// Runs the command.
pub(crate) fn run(args: &ReportArgs, global: &Global) -> anyhow::Result<Exit> {
    let dir = CrawlDir::new(&args.dir);
    if !dir.visits().is_dir() || !dir.warc().is_dir() {
        let what = format!(
            "{} is no crawl directory: it has no folders visits/ and warc/; give the directory a crawl was written to",
            args.dir.display()
        );
        return Err(Problems::one(what).into());
    }
    let mut problems = Problems::default();
    let options = options(args, global.format, &mut problems);
    let config = config::of_crawl(&args.dir, &mut problems);
    problems.into_result()?;
    let report = geomi_report::make(&dir, &config, &options)
        .with_context(|| format!("cannot report on {}", args.dir.display()))?;
    if !global.quiet {
        notes(&report);
    }
    match global.format {
        Format::Human => print(human::report(&report).trim_end())?,
        Format::Json => print(&serde_json::to_string_pretty(&json(&report, args))?)?,
        Format::Jsonl => jsonl(&report)?,
        Format::Csv => {
            let section = report.sections.first();
            print_csv(&as_csv(section.expect("exactly one section")))?;
        }
    }
    Ok(Exit::Done)
}

/// What is wanted, or everything that is wrong with it.
fn options(args: &ReportArgs, format: Format, problems: &mut Problems) -> Options {
    let sections = sections(args, problems);
    if format == Format::Csv && sections.len() != 1 {
        problems.add_general(format!(
            "--format csv prints one section: choose it with --section NAME, one of {}",
            names()
        ));
    }
    if args.known.is_none() && sections.contains(&SectionKind::Known) {
        problems.add_general("the section known needs a list of URLs: give it with --known FILE");
    }
    let known = args.known.as_ref().map(|path| {
        let lines = seeds_file::read_for("--known", path, problems);
        lines.into_iter().map(|line| line.url).collect()
    });
    Options {
        // Whoever names the section has the time.
        linking: if args.section.is_empty() {
            Linking::IfQuick
        } else {
            Linking::Always
        },
        sections,
        top: (args.top > 0).then_some(args.top),
        known,
    }
}

fn sections(args: &ReportArgs, problems: &mut Problems) -> Vec<SectionKind> {
    if args.section.is_empty() {
        let mut all = SectionKind::ALL.to_vec();
        all.retain(|kind| *kind != SectionKind::Known || args.known.is_some());
        return all;
    }
    let mut sections = Vec::new();
    for name in &args.section {
        match SectionKind::from_name(name) {
            Some(kind) if sections.contains(&kind) => {}
            Some(kind) => sections.push(kind),
            None => problems.add(
                &Place::Flag("--section".to_owned()),
                format!("there is no section {name:?}; there are {}", names()),
            ),
        }
    }
    sections
}

fn names() -> String {
    SectionKind::ALL.map(SectionKind::as_str).join(", ")
}

/// What the numbers do not say by themselves.
fn notes(report: &Report) {
    if let Some(owner) = &report.owner {
        let counted = report.visits_counted.unwrap_or(report.visits);
        stderr_line!(
            "note: {owner} is writing; reported are the {} in closed tables, of {} so far",
            words::plural(report.visits, "visit"),
            words::count(counted.max(report.visits)),
        );
    }
    if report.visits == 0 {
        stderr_line!("note: there are no visits to report yet");
    }
    let dead = report.sections.iter();
    let dead = dead.filter(|section| section.kind == SectionKind::DeadLinks);
    for section in dead.filter(|section| !human::is_reread(section)) {
        stderr_line!(
            "note: of {} only the page each was found on is told; `--section dead_links` reads the stored pages and tells all",
            words::plural(section.rows_in_all, "dead link"),
        );
    }
}

fn json(report: &Report, args: &ReportArgs) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    object.insert("report_version".to_owned(), json!(JSON_VERSION));
    object.insert("dir".to_owned(), json!(args.dir.display().to_string()));
    object.insert("live".to_owned(), json!(report.owner.is_some()));
    object.insert("visits_read".to_owned(), json!(report.visits));
    for section in &report.sections {
        object.insert(section.kind.as_str().to_owned(), section.to_json());
    }
    object.into()
}

/// One section a line, with its name.
fn jsonl(report: &Report) -> anyhow::Result<()> {
    for section in &report.sections {
        let mut line = section.to_json();
        line["section"] = json!(section.kind.as_str());
        print(&line.to_string())?;
    }
    Ok(())
}

/// The rows of a section as CSV, or its facts where it has no rows.
fn as_csv(section: &Section) -> String {
    let mut lines = Vec::with_capacity(section.rows.len() + 1);
    if section.columns.is_empty() {
        lines.push(csv::line(["name", "value"]));
        let facts = section.facts.iter();
        lines.extend(facts.map(|(name, value)| csv::line([*name, &value.to_plain()])));
    } else {
        lines.push(csv::line(section.columns));
        let rows = section.rows.iter();
        lines.extend(rows.map(|row| csv::line(row.iter().map(Value::to_plain))));
    }
    lines.join("\n")
}
