//! `geomi verify`: does what a crawl kept agree with itself?

use anyhow::Context as _;
use geomi_store::CrawlDir;
use geomi_store::verify::{VerifyReport, verify};
use serde_json::json;

use crate::Exit;
use crate::args::{Format, Global, VerifyArgs};
use crate::config::Problems;
use crate::terminal::print;
use crate::words;

/// Runs the command.
pub(crate) fn run(args: &VerifyArgs, global: &Global) -> anyhow::Result<Exit> {
    let dir = CrawlDir::new(&args.dir);
    if !dir.warc().is_dir() {
        let what = format!(
            "{} is no crawl directory: it has no folder warc/",
            args.dir.display()
        );
        return Err(Problems::one(what).into());
    }
    let report = verify(&dir).with_context(|| format!("cannot verify {}", args.dir.display()))?;
    match global.format {
        Format::Human => print(&human(&report, global.quiet))?,
        Format::Json => print(&serde_json::to_string_pretty(&json(&report))?)?,
        Format::Jsonl => print(&json(&report).to_string())?,
        Format::Csv => unreachable!("csv was refused before"),
    }
    Ok(if report.is_sound() {
        Exit::Done
    } else {
        Exit::Damage
    })
}

/// What to do about a crawl that did not come to its end.
const RUN_AGAIN: &str = "run the crawl again, which mends what it left, then verify";
/// How many problems are worth reading.
const PROBLEMS_SHOWN: usize = 20;

/// The report in words.
pub(crate) fn human(report: &VerifyReport, is_quiet: bool) -> String {
    let counts = &report.counts;
    let mut lines: Vec<String> = Vec::new();
    if !is_quiet {
        let shown = report.problems.iter().take(PROBLEMS_SHOWN);
        lines.extend(shown.map(|problem| format!("problem: {problem}")));
        let hidden = report.problems.len().saturating_sub(PROBLEMS_SHOWN);
        if hidden > 0 {
            lines.push(format!(
                "and {} like these",
                words::plural(hidden as u64, "problem")
            ));
        }
        if report.problems_omitted > 0 {
            lines.push(format!(
                "and {} more",
                words::plural(report.problems_omitted, "problem")
            ));
        }
        lines.push(format!(
            "{} in {} of {}: {} responses, {} revisits, {} requests",
            words::bytes(counts.warc_bytes as f64),
            words::plural(counts.warc_files, "WARC file"),
            "warc/",
            words::count(counts.responses),
            words::count(counts.revisits),
            words::count(counts.requests),
        ));
        lines.push(format!(
            "{} in index/, {} in visits/ of which {} captured",
            words::plural(counts.index_lines, "line"),
            words::plural(counts.visits, "row"),
            words::count(counts.captured),
        ));
        if report.is_live {
            lines.push("somebody is writing: files that are still open were left out".to_owned());
        }
    }
    let problems = report.problems.len() as u64 + report.problems_omitted;
    lines.push(match problems {
        0 => "sound: everything agrees".to_owned(),
        _ if report.is_only_interrupted() => format!("interrupted: {RUN_AGAIN}"),
        _ if report.is_interrupted => format!(
            "damaged: {}, and interrupted: {RUN_AGAIN}",
            words::plural(problems, "problem")
        ),
        _ => format!("damaged: {}", words::plural(problems, "problem")),
    });
    lines.join("\n")
}

fn json(report: &VerifyReport) -> serde_json::Value {
    let counts = &report.counts;
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    json!({
        "sound": report.is_sound(),
        "live": report.is_live,
        "interrupted": report.is_interrupted,
        "problems": problems,
        "problems_omitted": report.problems_omitted,
        "counts": {
            "warc_files": counts.warc_files,
            "warc_bytes": counts.warc_bytes,
            "responses": counts.responses,
            "revisits": counts.revisits,
            "requests": counts.requests,
            "index_lines": counts.index_lines,
            "visits": counts.visits,
            "captured": counts.captured,
        },
    })
}
