//! `geomi export`: what a crawl kept, in other forms.
//!
//! Every form is made from the tables of visits, streamed row by row, and from
//! the WARC files they point into; a crawl that is running can be exported,
//! because what lies in those files is complete. The selection ([`filter`]) is
//! the same for all. Results appear under their name when they are complete
//! ([`out`]), and never over something that is there.
//!
//! It reads only: nothing in the crawl directory changes.

mod args;
mod changes;
mod crawl_log;
mod filter;
mod mirror;
mod out;
#[cfg(test)]
mod samples;
mod source;
mod tables;

use std::io;

use geomi_crawler::{Clock as _, SystemClock};
use geomi_store::{CrawlDir, StoreError};
use serde_json::json;

use crate::Exit;
use crate::args::{Format, Global};
use crate::terminal::{print, stderr_line};
use crate::words;
use args::Kind;
pub(crate) use args::{AFTER_HELP, ExportArgs};
use filter::Filter;
use out::Target;
use source::Source;

/// What came of an export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Exported {
    /// Visits that were selected and could be exported.
    visits: u64,
    /// What was made of them, where that is another number.
    made: Option<(&'static str, u64)>,
    /// What could not be made, in words.
    warnings: Vec<String>,
}

impl Exported {
    fn visits(visits: u64) -> Self {
        Self {
            visits,
            made: None,
            warnings: Vec::new(),
        }
    }

    fn with(mut self, noun: &'static str, count: u64) -> Self {
        self.made = Some((noun, count));
        self
    }
}

/// Runs the command.
pub(crate) fn run(args: &ExportArgs, global: &Global) -> anyhow::Result<Exit> {
    let now = SystemClock::default().now();
    let filter = Filter::new(&args.filter, now)?;
    let source = Source::open(CrawlDir::new(&args.dir), filter)?;
    let target = Target::of(args)?;
    if let Some(note) = source.missing()?.filter(|_| !global.quiet) {
        stderr_line!("{note}");
    }
    let total = source.total()?;
    let exported = match (args.kind, &target) {
        (Kind::Files, Target::Folder(folder)) => mirror::write(&source, folder),
        (Kind::Parquet, Target::File(path)) => tables::parquet(&source, path),
        (Kind::Warc, _) => tables::warc(&source, &target, now, &filter::describe(&args.filter)),
        (Kind::Cdxj, _) => tables::index(&source, &target),
        (Kind::Jsonl, _) => tables::jsonl(&source, &target),
        (Kind::CrawlLog, _) => tables::crawl_log(&source, &target),
        (Kind::Changes, _) => {
            let tries = changes::tries(&source, global)?;
            tables::changes(&source, &target, tries)
        }
        (Kind::Urls, _) => tables::urls(&source, &target),
        (Kind::Files | Kind::Parquet, _) => unreachable!("their target was checked"),
    };
    match exported {
        Ok(exported) => {
            tell(args, global, &target, &exported, total)?;
            Ok(Exit::Done)
        }
        Err(error) => explain(error, &target),
    }
}

/// A reader that went away is not our failure; a full disk has its own code.
fn explain(error: anyhow::Error, target: &Target) -> anyhow::Result<Exit> {
    let is_broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
        let cause = cause.downcast_ref::<io::Error>();
        cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    };
    if *target == Target::Stdout && error.chain().any(is_broken_pipe) {
        return Ok(Exit::Done);
    }
    if let Some(StoreError::DiskFull { .. }) = error.downcast_ref() {
        stderr_line!("error: {error}; free some space and run the same command again");
        return Ok(Exit::DiskFull);
    }
    Err(error)
}

/// Says what was done: on standard error, which data never uses.
fn tell(
    args: &ExportArgs,
    global: &Global,
    target: &Target,
    exported: &Exported,
    total: u64,
) -> anyhow::Result<()> {
    for warning in &exported.warnings {
        stderr_line!("warning: {warning}");
    }
    let made = exported.made.map_or_else(String::new, |(noun, count)| {
        format!(", {}", words::plural(count, noun))
    });
    stderr_line!(
        "exported {} of {} as {}{made} -> {}",
        words::count(exported.visits),
        words::plural(total, "visit"),
        args.kind.as_str(),
        target.name(),
    );
    let wants_json = matches!(global.format, Format::Json | Format::Jsonl);
    if *target == Target::Stdout || !wants_json {
        return Ok(());
    }
    let mut summary = json!({
        "as": args.kind.as_str(),
        "dir": args.dir.display().to_string(),
        "out": target.name(),
        "visits": total,
        "exported": exported.visits,
        "warnings": exported.warnings,
    });
    if let Some((noun, count)) = exported.made {
        summary[format!("{}s", noun.to_ascii_lowercase())] = count.into();
    }
    print(&summary.to_string())
}
