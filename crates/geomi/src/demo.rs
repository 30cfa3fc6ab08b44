//! `geomi demo`: a whole web on loopback, crawled in the same process.
//!
//! The web has a little of everything the real one holds: slow sites, missing
//! pages, redirects, duplicates, robots.txt with rules and delays, Korean in
//! several charsets. It is crawled with a real, if short, delay, then verified,
//! and the directory stays for a look around.
//!
//! A demo that was stopped or killed goes on when it is run again. The web is the same
//! each time but for its port, which is in every URL: [`NOTE`] holds it in the crawl
//! directory until the crawl is over, and by being there says that it is not.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use geomi_engine::{Ending, SeedInput};
use geomi_store::CrawlDir;
use geomi_testweb::{Latency, Naming, ServerOptions, ServerThread, Span, Web, WebSpec};
use serde::{Deserialize, Serialize};

use crate::Exit;
use crate::args::{DemoArgs, Global};
use crate::config::{self, Place, Problems, Raw, Setting};
use crate::serve::{self, BesideArgs};
use crate::session::{Session, tell};
use crate::terminal::stderr_line;
use crate::verify;

const SITES: u32 = 40;
const PAGES: u32 = 60;

/// The file that an unfinished demo has in its directory.
const NOTE: &str = "demo.json";

/// What it holds.
#[derive(Serialize, Deserialize)]
struct Note {
    port: u16,
}

/// What differs from the defaults: a demonstration should end while one looks.
const SETTINGS: [(&str, &str); 7] = [
    ("crawl.name", "demo"),
    ("crawl.retry_wait", "500ms"),
    ("politeness.site_delay", "200ms"),
    ("politeness.backoff_first", "500ms"),
    ("politeness.max_wait", "20s"),
    ("fetch.silence_timeout", "2s"),
    ("scope.kind", "any"),
];

/// Runs the command.
pub(crate) fn run(args: &DemoArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    args.console.check(&mut problems);
    problems.into_result()?;
    let (root, begun) = directory(args.out.as_deref())?;
    let server = start_web(begun.as_ref())?;
    if !global.quiet {
        let verb = match begun {
            Some(_) => "going on crawling",
            None => "crawling",
        };
        stderr_line!(
            "a web of {SITES} sites with {PAGES} pages each is up on 127.0.1.x port {}; {verb} it into {}",
            server.port(),
            root.display()
        );
    }
    let settings = settings(&server);
    let seeds = server
        .seeds()
        .into_iter()
        .map(|url| SeedInput { url, topic: None });
    let mut problems = Problems::default();
    // The user's own files are not about this web.
    let written = config::load_alone(&settings, &mut problems);
    let config = config::resolve(&written, seeds.collect(), &mut problems);
    problems.into_result()?;
    let session = Session::open(&root, &written)?;
    let note = root.join(NOTE);
    let port = server.port();
    CrawlDir::write_atomic(&note, &serde_json::to_vec(&Note { port })?)?;
    let console = console(&root, &args.console, global)?;
    let (status, mut exit) = session.run(&config, global)?;
    // Some sites of this web ask for a long wait, to show what happens then: an incomplete
    // crawl of it is a demonstration that succeeded.
    if matches!(status.reason, Some(Ending::Finished | Ending::Incomplete)) {
        exit = Exit::Done;
        std::fs::remove_file(&note).with_context(|| format!("cannot remove {}", note.display()))?;
    }
    drop(session);
    drop(console);
    server.stop();
    let (checked, exit) = check(&root, exit)?;
    tell(
        &status,
        &root,
        &format!("{checked}\n{}", next_steps(&root)),
        global,
    )?;
    Ok(exit)
}

/// The console of the demo. Where nobody said where it shall be, any free port
/// will do, and a machine that lets us have none still has its demo.
fn console(
    root: &Path,
    args: &BesideArgs,
    global: &Global,
) -> anyhow::Result<Option<geomi_console::Server>> {
    let console = if let Some(listen) = args.serve {
        Some(serve::beside(root, listen, args)?)
    } else {
        let usual = serve::LISTEN.parse().expect("it is an address");
        let free = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let started = serve::beside(root, usual, args).or_else(|_| serve::beside(root, free, args));
        started
            .inspect_err(|error| stderr_line!("warning: no console: {error:#}"))
            .ok()
    };
    if let Some(console) = &console {
        serve::announce(console, global);
    }
    Ok(console)
}

/// Where to crawl to, and what is known of a demo that was not finished there:
/// the directory that was asked for, or the first of `geomi-demo`, `geomi-demo-2`
/// and so on that is free or has such a demo.
fn directory(wanted: Option<&Path>) -> anyhow::Result<(PathBuf, Option<Note>)> {
    if let Some(path) = wanted {
        let begun = unfinished(path)?;
        if begun.is_none() && path.exists() {
            bail!("{} is there already: give a new directory", path.display());
        }
        return Ok((path.to_owned(), begun));
    }
    for n in 1.. {
        let path = match n {
            1 => PathBuf::from("geomi-demo"),
            n => PathBuf::from(format!("geomi-demo-{n}")),
        };
        let begun = unfinished(&path)?;
        if begun.is_some() || !path.exists() {
            return Ok((path, begun));
        }
    }
    unreachable!("names do not run out")
}

/// The note of a demo that somebody began here, and nobody is at work on.
fn unfinished(root: &Path) -> anyhow::Result<Option<Note>> {
    let Ok(text) = std::fs::read(root.join(NOTE)) else {
        return Ok(None);
    };
    // A file of that name that is none of ours begins no demo.
    let note = serde_json::from_slice(&text).ok();
    let is_at_work = CrawlDir::new(root).lock_owner()?.is_some();
    Ok(note.filter(|_| !is_at_work))
}

/// The web, at the port it had when the demo was begun.
fn start_web(begun: Option<&Note>) -> anyhow::Result<ServerThread> {
    let mut spec = web();
    spec.port = begun.map_or(0, |note| note.port);
    let started = ServerThread::start(Web::new(spec), ServerOptions::default());
    started.with_context(|| match begun {
        Some(_) => {
            "cannot start the built-in web where this demo had it: try later, or begin another with -o"
        }
        None => "cannot start the built-in web",
    })
}

fn web() -> WebSpec {
    let mut spec = WebSpec::lively(SITES, PAGES);
    spec.naming = Naming::Hosts {
        addresses: SITES / 2,
    };
    spec.traits.crawl_delay = Duration::from_millis(500);
    spec.traits.slow = Latency::Uniform(Span {
        from: Duration::from_millis(100),
        to: Duration::from_millis(250),
    });
    spec
}

fn settings(server: &ServerThread) -> Vec<Setting> {
    let setting = |path: &str, raw| Setting {
        path: path.to_owned(),
        raw,
        place: Place::Flag("geomi demo".to_owned()),
    };
    let mut settings: Vec<Setting> = SETTINGS
        .iter()
        .map(|(path, value)| setting(path, Raw::Typed((*value).to_owned())))
        .collect();
    settings.push(setting(
        "fetch.resolve",
        Raw::List(server.web().resolve_rules()),
    ));
    settings
}

/// Verifies what was kept; damage is worse than whatever the crawl said.
fn check(root: &Path, exit: Exit) -> anyhow::Result<(String, Exit)> {
    let report = geomi_store::verify::verify(&CrawlDir::new(root))
        .with_context(|| format!("cannot verify {}", root.display()))?;
    let exit = if report.is_sound() {
        exit
    } else {
        Exit::Damage
    };
    Ok((
        format!("{:>12}  {}", "verified", verify::human(&report, true)),
        exit,
    ))
}

fn next_steps(root: &Path) -> String {
    let root = root.display();
    let steps = [
        (format!("less {root}/log.jsonl"), "one line a visit"),
        (
            format!("zcat {root}/warc/*.gz | less"),
            "requests and answers, byte for byte",
        ),
        (
            format!("head {root}/index/index.cdxj"),
            "where each capture lies",
        ),
        (format!("geomi serve {root}"), "the same in a browser"),
        (format!("geomi verify {root}"), "check it yourself"),
        (
            "geomi crawl --help".to_owned(),
            "and then a crawl of your own",
        ),
    ];
    let width = steps.iter().map(|(command, _)| command.len()).max();
    let width = width.unwrap_or_default();
    let lines = steps.map(|(command, what)| format!("  {command:width$}  {what}\n"));
    format!("\nwhat to look at next:\n{}\n", lines.concat())
}
