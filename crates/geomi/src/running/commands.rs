//! `geomi pause`, `resume`, `stop`, `set` and `add`.

use std::path::Path;

use anyhow::Context as _;
use geomi_crawler::remote::{Request, Response};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;

use super::api::Console;
use super::client;
use crate::Exit;
use crate::args::{AddArgs, Format, Global, SetArgs, SteerArgs, StopArgs};
use crate::config::Problems;
use crate::seeds_file;
use crate::terminal::{print, stderr_line};
use crate::words;

/// Starts no new request; those under way are finished.
pub(crate) fn pause(args: &SteerArgs, global: &Global) -> anyhow::Result<Exit> {
    if let Some(console) = args.server.console()? {
        return far(&console, args.dir.as_deref(), "pause", "paused", global);
    }
    let dir = client::the_crawl(args.dir.as_deref())?;
    client::demand(&dir, &Request::Pause)?;
    tell(&dir, "paused", "`geomi resume` goes on", global)
}

/// Goes on.
pub(crate) fn resume(args: &SteerArgs, global: &Global) -> anyhow::Result<Exit> {
    if let Some(console) = args.server.console()? {
        return far(&console, args.dir.as_deref(), "resume", "running", global);
    }
    let dir = client::the_crawl(args.dir.as_deref())?;
    client::demand(&dir, &Request::Resume)?;
    tell(&dir, "running", "it goes on", global)
}

/// Ends a crawl in good order, and waits for it.
pub(crate) fn stop(args: &StopArgs, global: &Global) -> anyhow::Result<Exit> {
    if let Some(console) = args.server.console()? {
        if args.now {
            let what = "--now is for crawls of this machine: leave it out with --server";
            return Err(Problems::one(what).into());
        }
        return far(&console, args.dir.as_deref(), "stop", "stopping", global);
    }
    let dir = client::the_crawl(args.dir.as_deref())?;
    client::demand(&dir, &Request::Stop { now: args.now })?;
    if args.no_wait {
        return tell(&dir, "stopping", "what is under way is finished", global);
    }
    wait_for_end(&dir)?;
    tell(&dir, "stopped", "the same command again resumes", global)
}

/// The same through a console. A stop is not waited for.
fn far(
    console: &Console,
    named: Option<&Path>,
    order: &str,
    state: &str,
    global: &Global,
) -> anyhow::Result<Exit> {
    let named = named.map(|name| name.display().to_string());
    let id = console.the_crawl(named.as_deref())?;
    console.order(&id, order)?;
    tell(Path::new(&id), state, "by its console", global)
}

/// The lock of a crawl is free when everything is closed.
fn wait_for_end(dir: &Path) -> anyhow::Result<()> {
    let path = geomi_store::CrawlDir::new(dir).lock_file();
    let file =
        std::fs::File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    flock(&file, FlockOperation::LockShared)
        .with_context(|| format!("cannot wait for {}", path.display()))
}

/// Changes keys of a running crawl.
pub(crate) fn set(args: &SetArgs, global: &Global) -> anyhow::Result<Exit> {
    let settings = args.settings.clone();
    client::demand(&args.dir, &Request::Set { settings })?;
    tell(
        &args.dir,
        "changed",
        "it holds from the next request on",
        global,
    )
}

/// Adds seeds to a running crawl.
pub(crate) fn add(args: &AddArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let mut inputs = Vec::new();
    for text in &args.urls {
        match seeds_file::typed(text) {
            Ok(seed) => inputs.push(seed),
            Err(what) => problems.add_general(format!("seed {text:?}: {what}")),
        }
    }
    if let Some(path) = &args.seeds {
        inputs.extend(seeds_file::read(path, &mut problems));
    }
    if inputs.is_empty() {
        problems.add_general("no seeds: give a URL, or --seeds FILE");
    }
    problems.into_result()?;
    let seeds = inputs
        .into_iter()
        .map(|seed| (seed.url.to_string(), seed.topic))
        .collect();
    let response = client::demand(&args.dir, &Request::Add { seeds })?;
    let Response::Added {
        added,
        known,
        refused,
    } = response
    else {
        anyhow::bail!(
            "the crawl in {} speaks another language",
            args.dir.display()
        );
    };
    for (url, reason) in &refused {
        stderr_line!("warning: {url} was refused: {reason}");
    }
    let text = match global.format {
        Format::Human => format!(
            "{} added, {} known already, {} refused",
            words::plural(added, "seed"),
            words::count(known),
            words::count(refused.len() as u64)
        ),
        _ => json!({ "added": added, "known": known, "refused": refused }).to_string(),
    };
    print(&text)?;
    Ok(Exit::Done)
}

fn tell(dir: &Path, state: &str, more: &str, global: &Global) -> anyhow::Result<Exit> {
    let dir = dir.display().to_string();
    print(&match global.format {
        Format::Human => format!("{state}: {dir} ({more})"),
        _ => json!({ "dir": dir, "state": state }).to_string(),
    })?;
    Ok(Exit::Done)
}
