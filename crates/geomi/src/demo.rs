//! `geomi demo`: a whole web on loopback, crawled in the same process.
//!
//! The web has a little of everything the real one holds: slow sites, missing
//! pages, redirects, duplicates, robots.txt with rules and delays, Korean in
//! several charsets. It is crawled with a real, if short, delay, then verified,
//! and the directory stays for a look around.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use geomi_crawler::SeedInput;
use geomi_store::CrawlDir;
use geomi_testweb::{Latency, Naming, ServerOptions, ServerThread, Span, Web, WebSpec};

use crate::Exit;
use crate::args::{DemoArgs, Global};
use crate::config::{self, Place, Problems, Raw, Setting};
use crate::serve;
use crate::session::{Session, tell};
use crate::verify;

const SITES: u32 = 40;
const PAGES: u32 = 60;

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
    let root = directory(args.out.as_deref())?;
    let server = ServerThread::start(Web::new(web()), ServerOptions::default())
        .context("cannot start the built-in web")?;
    if !global.quiet {
        eprintln!(
            "a web of {SITES} sites with {PAGES} pages each is up on 127.0.1.x port {}; crawling it into {}",
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
    let console = console(&root, args.serve, global)?;
    let (status, exit) = session.run(&config, global)?;
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
    wanted: Option<SocketAddr>,
    global: &Global,
) -> anyhow::Result<Option<geomi_console::Server>> {
    let console = if let Some(listen) = wanted {
        Some(serve::beside(root, listen)?)
    } else {
        let usual = serve::LISTEN.parse().expect("it is an address");
        let free = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let started = serve::beside(root, usual).or_else(|_| serve::beside(root, free));
        started
            .inspect_err(|error| eprintln!("warning: no console: {error:#}"))
            .ok()
    };
    if let Some(console) = &console {
        serve::announce(console, global);
    }
    Ok(console)
}

/// `geomi-demo`, or the first `geomi-demo-N` that is free.
fn directory(wanted: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = wanted {
        if path.exists() {
            bail!("{} is there already: give a new directory", path.display());
        }
        return Ok(path.to_owned());
    }
    let names = (1..).map(|n| match n {
        1 => PathBuf::from("geomi-demo"),
        n => PathBuf::from(format!("geomi-demo-{n}")),
    });
    let free = names.into_iter().find(|path| !path.exists());
    Ok(free.expect("names do not run out"))
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
