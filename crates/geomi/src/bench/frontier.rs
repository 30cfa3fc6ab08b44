//! `geomi bench frontier`: what the frontier costs a page as the crawl grows.
//!
//! The frontier is the real one, durable commits included; only the web is made
//! up. At 1, 10 and 100 million URLs, and at the end, it tells processor time a
//! page, memory and disk a URL, how long commits took, and how long opening the
//! whole anew takes. Making the links up is measured apart and taken off.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use geomi_crawler::load::{Load, LoadRun};
use geomi_crawler::{Clock as _, CrawlConfig, SystemClock};
use geomi_store::CrawlDir;
use serde_json::json;

use super::Scratch;
use super::usage::Usage;
use crate::Exit;
use crate::args::{BenchFrontierArgs, Format, Global};
use crate::config::{Place, Problems, parse_size};
use crate::table::{aligned, columns};
use crate::terminal::{print, stderr_line};
use crate::words;

/// Where the curve has its points, beside its end.
const MARKS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];
/// New links of a page.
const LINKS: u32 = 10;
/// Visits that share a commit, as in a busy crawl.
const VISITS_PER_COMMIT: u32 = 256;
/// Pages whose links are made up to see what that costs.
const MADE_UP: u32 = 50_000;

/// One point of the curve.
struct Point {
    urls: u64,
    visits: u64,
    /// Over the last half of the way here, and over all of it. A shorter stretch may
    /// have more or fewer of the large merges than its share.
    us_per_page: f64,
    us_per_page_so_far: f64,
    rss_bytes: u64,
    peak_bytes: u64,
    seen_bytes: u64,
    disk_bytes: u64,
    commit_p50: Duration,
    commit_p99: Duration,
    commit_max: Duration,
    reopened: Duration,
}

impl Point {
    /// In a line.
    fn words(&self) -> String {
        format!(
            "{} URLs: {:.1} us a page, {} resident, {} on disk",
            words::count(self.urls),
            self.us_per_page,
            words::bytes(self.rss_bytes as f64),
            words::bytes(self.disk_bytes as f64)
        )
    }
}

/// Runs the command.
pub(super) fn run(args: &BenchFrontierArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let seen_bytes = parse_size(&args.seen_memory).unwrap_or_else(|what| {
        problems.add(&Place::Flag("--seen-memory".to_owned()), what);
        0
    });
    problems.into_result()?;
    let folder = Scratch::in_folder(args.dir.as_deref())?;
    let mut config = CrawlConfig::new(Vec::new());
    config.seen_bytes = seen_bytes as usize;
    let mut bench = Bench::open(config, folder.path.join("crawl"), args.sites)?;
    let mut marks: Vec<u64> = MARKS.into_iter().filter(|mark| *mark < args.urls).collect();
    marks.push(args.urls);
    let mut points = Vec::new();
    for mark in marks {
        let point = bench.reach(mark)?;
        if global.format == Format::Human {
            // The way to the next point is long: this one is told at once.
            stderr_line!("{}", point.words());
        }
        points.push(point);
    }
    if cfg!(debug_assertions) {
        stderr_line!(
            "warning: this is a debug build, its figures mean little: use `cargo run --release`"
        );
    }
    print(&match global.format {
        Format::Human => human(&points, args, bench.making_up_us),
        Format::Json => serde_json::to_string_pretty(&json(&points, args, bench.making_up_us))?,
        Format::Jsonl => json(&points, args, bench.making_up_us).to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

struct Bench {
    config: CrawlConfig,
    dir: CrawlDir,
    load: Load,
    clock: Arc<SystemClock>,
    run: Option<LoadRun>,
    /// What making up the links of a page costs.
    making_up_us: f64,
    /// Processor time of the frontier alone, until now.
    frontier_us: f64,
}

impl Bench {
    fn open(config: CrawlConfig, path: PathBuf, sites: u32) -> anyhow::Result<Self> {
        let dir = CrawlDir::create(path)?;
        let load = Load {
            sites,
            links: LINKS,
            visits_per_commit: VISITS_PER_COMMIT,
        };
        let clock = Arc::new(SystemClock::default());
        let mut run = LoadRun::open(&config, &dir, load, clock.clone())?;
        let before = Usage::now()?;
        std::hint::black_box(run.make_up(MADE_UP));
        let making_up = Usage::now()?.since(&before).seconds();
        Ok(Self {
            config,
            dir,
            load,
            clock,
            run: Some(run),
            making_up_us: making_up * 1e6 / f64::from(MADE_UP),
            frontier_us: 0.0,
        })
    }

    /// Goes on to that many URLs, and opens everything anew there.
    fn reach(&mut self, mark: u64) -> anyhow::Result<Point> {
        let mut run = self.run.take().context("an earlier step failed")?;
        let begun = run.urls();
        self.measure(&mut run, u64::midpoint(begun, mark))?;
        let (visits, before_us) = (run.visits(), self.frontier_us);
        self.measure(&mut run, mark)?;
        let last_visits = (run.visits() - visits).max(1) as f64;
        let mut commits = run.take_commits();
        commits.sort_unstable();
        let at = |share: f64| commits[((commits.len() - 1) as f64 * share) as usize];
        let usage = Usage::now()?;
        let mut point = Point {
            urls: run.urls(),
            visits: run.visits(),
            us_per_page: (self.frontier_us - before_us) / last_visits,
            us_per_page_so_far: self.frontier_us / run.visits() as f64,
            rss_bytes: usage.rss_bytes,
            peak_bytes: usage.peak_bytes,
            seen_bytes: run.seen_bytes(),
            disk_bytes: disk_bytes(&self.dir.frontier())?,
            commit_p50: at(0.5),
            commit_p99: at(0.99),
            commit_max: at(1.0),
            reopened: Duration::ZERO,
        };
        drop(run);
        let begun = self.clock.now();
        let run = LoadRun::open(&self.config, &self.dir, self.load, self.clock.clone())?;
        point.reopened = self.clock.now().since(begun);
        if run.urls() != point.urls {
            bail!(
                "{} URLs were admitted and {} are there",
                point.urls,
                run.urls()
            );
        }
        self.run = Some(run);
        Ok(point)
    }

    fn measure(&mut self, run: &mut LoadRun, urls: u64) -> anyhow::Result<()> {
        let (before, visits) = (Usage::now()?, run.visits());
        run.run_to(urls)?;
        let taken_us = Usage::now()?.since(&before).seconds() * 1e6;
        let visits = (run.visits() - visits) as f64;
        self.frontier_us += (taken_us - visits * self.making_up_us).max(0.0);
        Ok(())
    }
}

/// What the files of a folder take of the disk.
fn disk_bytes(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    let read = |path: &Path| std::fs::read_dir(path).with_context(|| path.display().to_string());
    let mut folders = vec![read(folder)?];
    while let Some(mut folder) = folders.pop() {
        let Some(entry) = folder.next().transpose()? else {
            continue;
        };
        folders.push(folder);
        // A file that a merge has removed meanwhile takes nothing.
        match entry.metadata() {
            Ok(about) if about.is_dir() => folders.push(read(&entry.path())?),
            Ok(about) => sum += about.blocks() * 512,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).context(entry.path().display().to_string()),
        }
    }
    Ok(sum)
}

fn human(points: &[Point], args: &BenchFrontierArgs, making_up_us: f64) -> String {
    let head = [
        "URLs",
        "visits",
        "us/page",
        "so far",
        "RSS",
        "peak",
        "seen B/URL",
        "disk",
        "disk B/URL",
        "commit p50",
        "p99",
        "max",
        "reopened",
    ];
    let millis = |span: Duration| format!("{:.1} ms", span.as_secs_f64() * 1e3);
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(points.iter().map(|point| {
        let per_url = |bytes: u64| format!("{:.1}", bytes as f64 / point.urls as f64);
        vec![
            words::count(point.urls),
            words::count(point.visits),
            format!("{:.1}", point.us_per_page),
            format!("{:.1}", point.us_per_page_so_far),
            words::bytes(point.rss_bytes as f64),
            words::bytes(point.peak_bytes as f64),
            per_url(point.seen_bytes),
            words::bytes(point.disk_bytes as f64),
            per_url(point.disk_bytes),
            millis(point.commit_p50),
            millis(point.commit_p99),
            millis(point.commit_max),
            format!("{:.2} s", point.reopened.as_secs_f64()),
        ]
    }));
    let columns = columns(&lines, |_| true);
    let mut text = vec![format!(
        "{LINKS} new URLs a page on {} sites, {VISITS_PER_COMMIT} visits a commit; \
         making links up ({making_up_us:.1} us a page) is taken off",
        words::count(u64::from(args.sites))
    )];
    text.extend(lines.iter().map(|line| aligned(line, &columns)));
    text.join("\n")
}

fn json(points: &[Point], args: &BenchFrontierArgs, making_up_us: f64) -> serde_json::Value {
    let points: Vec<_> = points
        .iter()
        .map(|point| {
            json!({
                "urls": point.urls,
                "visits": point.visits,
                "cpu_us_per_page": point.us_per_page,
                "cpu_us_per_page_so_far": point.us_per_page_so_far,
                "rss_bytes": point.rss_bytes,
                "peak_rss_bytes": point.peak_bytes,
                "rss_bytes_per_url": point.rss_bytes as f64 / point.urls as f64,
                "seen_bytes": point.seen_bytes,
                "disk_bytes": point.disk_bytes,
                "disk_bytes_per_url": point.disk_bytes as f64 / point.urls as f64,
                "commit_p50_s": point.commit_p50.as_secs_f64(),
                "commit_p99_s": point.commit_p99.as_secs_f64(),
                "commit_max_s": point.commit_max.as_secs_f64(),
                "reopened_s": point.reopened.as_secs_f64(),
            })
        })
        .collect();
    json!({
        "sites": args.sites,
        "links_per_page": LINKS,
        "visits_per_commit": VISITS_PER_COMMIT,
        "making_up_us_per_page": making_up_us,
        "points": points,
        "debug_build": cfg!(debug_assertions),
    })
}
