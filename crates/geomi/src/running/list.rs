//! `geomi ls`: running crawls, or all crawls of a folder.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use geomi_crawler::remote;
use geomi_engine::Status;
use serde_json::{Value, json};

use super::api::Console;
use super::registry;
use crate::Exit;
use crate::args::{Format, Global, LsArgs};
use crate::terminal::{print, stderr_line};
use crate::{table, words};

/// How deep below a folder crawls are looked for.
const DEPTH_MAX: usize = 3;

const HEADS: [&str; 7] = [
    "STATE",
    "SAVED",
    "QUEUED",
    "PAGES/S",
    "TIME",
    "PID",
    "DIRECTORY",
];

/// A crawl, and the process that runs it.
struct Listed {
    dir: PathBuf,
    pid: Option<u32>,
    status: Status,
}

/// Runs the command.
pub(crate) fn run(args: &LsArgs, global: &Global) -> anyhow::Result<Exit> {
    if let Some(console) = args.server.console()? {
        return far(&console, global);
    }
    let crawls = if args.folders.is_empty() {
        running()?
    } else {
        let mut found = Vec::new();
        for folder in &args.folders {
            look_into(folder, 0, &mut found)
                .with_context(|| format!("cannot look into {}", folder.display()))?;
        }
        found
    };
    match global.format {
        Format::Human => print_table(&crawls, args.folders.is_empty())?,
        Format::Jsonl => {
            for crawl in &crawls {
                print(&object(crawl).to_string())?;
            }
        }
        Format::Json | Format::Csv => {
            print(&Value::from(crawls.iter().map(object).collect::<Vec<_>>()).to_string())?;
        }
    }
    Ok(Exit::Done)
}

/// The crawls of a console, running or not.
fn far(console: &Console, global: &Global) -> anyhow::Result<Exit> {
    let crawls = console.crawls()?;
    match global.format {
        Format::Human => {
            let mut lines = vec![HEADS.map(str::to_owned).to_vec()];
            lines.extend(crawls.iter().map(far_row));
            let columns = table::columns(&lines, |at| matches!(at, 1..=5));
            for line in &lines {
                print(&table::aligned(line, &columns))?;
            }
        }
        Format::Jsonl => {
            for crawl in &crawls {
                print(&crawl.to_string())?;
            }
        }
        Format::Json | Format::Csv => print(&Value::from(crawls).to_string())?,
    }
    Ok(Exit::Done)
}

fn far_row(crawl: &Value) -> Vec<String> {
    let count = |field: &str| words::count(crawl[field].as_u64().unwrap_or(0));
    let number = |field: &str| crawl[field].as_f64().unwrap_or(0.0).max(0.0);
    vec![
        crawl["state"].as_str().unwrap_or("").to_owned(),
        count("saved"),
        count("queued"),
        format!("{:.1}", number("pages_per_s")),
        words::span(std::time::Duration::from_secs_f64(number("elapsed_s"))),
        crawl["pid"]
            .as_u64()
            .map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        crawl["name"].as_str().unwrap_or("").to_owned(),
    ]
}

/// Crawls that left a note and still answer. A stale note is removed.
fn running() -> anyhow::Result<Vec<Listed>> {
    let mut crawls: Vec<Listed> = Vec::new();
    for (dir, note) in registry::noted().context("cannot list running crawls")? {
        match remote::status(&dir) {
            Ok(Some((pid, status))) => {
                let is_known = crawls.iter().any(|crawl| crawl.dir == dir);
                if !is_known {
                    let pid = Some(pid);
                    crawls.push(Listed { dir, pid, status });
                }
            }
            // Somebody else may have removed it in the same moment.
            Ok(None) => drop(std::fs::remove_file(note)),
            Err(error) => stderr_line!("warning: {error:#}"),
        }
    }
    Ok(crawls)
}

/// Every crawl directory at or below `folder`.
fn look_into(folder: &Path, depth: usize, found: &mut Vec<Listed>) -> anyhow::Result<()> {
    let status = geomi_store::CrawlDir::new(folder).status();
    if status.is_file() {
        let text = std::fs::read(&status)?;
        let (pid, status) = match remote::status(folder) {
            Ok(Some((pid, status))) => (Some(pid), status),
            _ => (None, serde_json::from_slice(&text)?),
        };
        found.push(Listed {
            dir: folder.to_owned(),
            pid,
            status,
        });
        return Ok(());
    }
    if depth == DEPTH_MAX {
        return Ok(());
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    for folder in folders {
        // A folder we may not read holds no crawl of ours.
        if let Err(error) = look_into(&folder, depth + 1, found) {
            tracing::info!(folder = %folder.display(), %error, "not looked into");
        }
    }
    Ok(())
}

fn state(crawl: &Listed) -> String {
    match (crawl.pid, crawl.status.reason) {
        (Some(_), _) => format!("{:?}", crawl.status.state).to_lowercase(),
        (None, Some(reason)) => match &crawl.status.left {
            Some(left) => format!("{}: {}", reason.as_str(), left.in_words()),
            None => crawl.status.reason_in_words().unwrap_or_default(),
        },
        (None, None) => "not closed".to_owned(),
    }
}

fn object(crawl: &Listed) -> Value {
    json!({
        "dir": crawl.dir.display().to_string(),
        "pid": crawl.pid,
        "state": state(crawl),
        "reason": crawl.status.reason.filter(|_| crawl.pid.is_none()),
        "left": crawl.status.left,
        "saved": crawl.status.counters.saved,
        "visits_saved": crawl.status.counters.visits_saved,
        "failed": crawl.status.counters.failed,
        "queued": crawl.status.queued,
        "in_flight": crawl.status.in_flight,
        "pages_per_s": crawl.status.pages_per_s,
        "started": crawl.status.started,
        "elapsed_s": crawl.status.elapsed_s,
    })
}

fn print_table(crawls: &[Listed], only_running: bool) -> anyhow::Result<()> {
    if crawls.is_empty() {
        // Standard output is for data, and there is none.
        stderr_line!(
            "{}",
            if only_running {
                "no crawl is running; `geomi ls FOLDER` lists those that are not"
            } else {
                "no crawl there"
            }
        );
        return Ok(());
    }
    let mut lines = vec![HEADS.map(str::to_owned).to_vec()];
    lines.extend(crawls.iter().map(row));
    let columns = table::columns(&lines, |at| matches!(at, 1..=5));
    for line in &lines {
        print(&table::aligned(line, &columns))?;
    }
    Ok(())
}

fn row(crawl: &Listed) -> Vec<String> {
    let status = &crawl.status;
    vec![
        state(crawl),
        words::count(status.counters.saved),
        words::count(status.queued),
        format!("{:.1}", status.pages_per_s),
        words::span(std::time::Duration::from_secs_f64(
            status.elapsed_s.max(0.0),
        )),
        crawl
            .pid
            .map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        crawl.dir.display().to_string(),
    ]
}
