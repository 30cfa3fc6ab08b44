//! `geomi bench`: what the journey of a page costs, whole and by stages.
//!
//! The test web runs in a child process, so that its work is not counted. The
//! whole journey is a real crawl into a directory that is thrown away, with
//! everything written and durable. Then the stages that can run alone do so,
//! over pages of the same web; what is left of the whole is the rest: frontier,
//! seen test, queues, commits, log.

mod frontier;
mod order;
mod refresh;
mod stages;
mod usage;
mod web;

pub(crate) use refresh::RefreshBenchArgs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use geomi_crawler::{Control, CrawlConfig, NoFaults, Surroundings, SystemClock};
use geomi_engine::{Ending, Observer, SeedInput, Status};
use geomi_model::{NetworkState, Visit};
use geomi_store::CrawlDir;
use serde_json::json;

use crate::Exit;
use crate::args::{BenchArgs, BenchTask, Format, Global};
use crate::config::{self, Place, Problems, Raw, Setting, parse_size};
use crate::progress::Progress;
use crate::signals::Listener;
use crate::terminal::{print, stderr_line};
use crate::words;
pub(crate) use stages::Stage;
use usage::Usage;
use web::ChildWeb;
pub(crate) use web::serve;

/// Pages the stages are measured on.
const SAMPLE: usize = 500;

/// The crawl that is measured: as fast as it goes, and nothing left out.
const SETTINGS: [(&str, &str); 8] = [
    // Only what is there is asked for, so that runs of all versions compare.
    ("scope.sitemaps", "robots"),
    ("crawl.name", "bench"),
    ("crawl.connections", "64"),
    ("politeness.site_delay", "0s"),
    ("politeness.site_connections", "8"),
    ("politeness.address_connections", "8"),
    ("fetch.allow_private", "all"),
    ("scope.kind", "any"),
];

/// What was measured.
#[derive(Debug)]
struct Figures {
    pages: u64,
    page_bytes: u64,
    sites: u32,
    seconds: f64,
    cpu: Usage,
    stages: Vec<Stage>,
}

/// Runs the command.
pub(crate) fn run(args: &BenchArgs, global: &Global) -> anyhow::Result<Exit> {
    match &args.task {
        Some(BenchTask::Frontier(args)) => frontier::run(args, global),
        Some(BenchTask::Order(args)) => order::run(args, global),
        Some(BenchTask::Refresh(args)) => refresh::run(args, global),
        None => run_journey(args, global),
    }
}

fn run_journey(args: &BenchArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let size = parse_size(&args.size).unwrap_or_else(|what| {
        problems.add(&Place::Flag("--size".to_owned()), what);
        0
    });
    problems.into_result()?;
    let pages_per_site = (args.pages / args.sites).max(1);
    let page_bytes = u32::try_from(size).context("--size is too large")?;
    let web = ChildWeb::start(args.sites, pages_per_site, page_bytes)?;
    let config = configure(&web)?;
    let folder = Scratch::in_folder(None)?;
    let (status, cpu, sample) = journey(&config, &folder.path, global)?;
    let per_page = cpu.seconds() / status.counters.saved as f64;
    let stages = stages::measure(&config, &sample, per_page, &folder.path)?;
    let figures = Figures {
        pages: status.counters.saved,
        page_bytes: size,
        sites: args.sites,
        seconds: status.elapsed_s,
        cpu,
        stages,
    };
    if cfg!(debug_assertions) {
        stderr_line!(
            "warning: this is a debug build, its figures mean little: use `cargo run --release`"
        );
    }
    print(&match global.format {
        Format::Human => figures.human(),
        Format::Json => serde_json::to_string_pretty(&figures.json())?,
        Format::Jsonl => figures.json().to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

fn configure(web: &ChildWeb) -> anyhow::Result<CrawlConfig> {
    let settings = SETTINGS.map(|(path, value)| Setting {
        path: path.to_owned(),
        raw: Raw::Typed(value.to_owned()),
        place: Place::Flag("geomi bench".to_owned()),
    });
    let mut problems = Problems::default();
    let written = config::load_alone(&settings, &mut problems);
    let seeds = web.seeds().into_iter();
    let seeds = seeds.map(|url| SeedInput { url, topic: None }).collect();
    let config = config::resolve(&written, seeds, &mut problems);
    problems.into_result()?;
    Ok(config)
}

/// Crawls the whole web; the last status, what it took, and some visits.
fn journey(
    config: &CrawlConfig,
    folder: &Path,
    global: &Global,
) -> anyhow::Result<(Status, Usage, Vec<Visit>)> {
    let dir = CrawlDir::create(folder.join("crawl"))?;
    let control = Control::default();
    let _signals = Listener::start(control.clone())?;
    let mut recorder = Recorder {
        progress: Progress::new(global),
        sample: Vec::with_capacity(SAMPLE),
    };
    let before = Usage::now()?;
    let status = geomi_crawler::run(
        config,
        &dir,
        Surroundings {
            clock: Arc::new(SystemClock::default()),
            control,
            observer: &mut recorder,
            steps: &mut NoFaults,
        },
    )?;
    let cpu = Usage::now()?.since(&before);
    recorder.progress.clear();
    if status.reason != Some(Ending::Finished) || status.counters.saved == 0 {
        bail!("the crawl did not come to its end, so there is nothing to tell");
    }
    Ok((status, cpu, recorder.sample))
}

/// Keeps a few visits for the stages.
#[derive(Debug)]
struct Recorder {
    progress: Progress,
    sample: Vec<Visit>,
}

impl Observer for Recorder {
    fn visited(&mut self, visit: &Visit) {
        let is_page = visit.state == NetworkState::Ok && !visit.is_robots;
        if is_page && visit.capture.is_some() && self.sample.len() < SAMPLE {
            self.sample.push(visit.clone());
        }
    }

    fn status(&mut self, status: &Status) {
        self.progress.show(status);
    }
}

impl Figures {
    fn cpu_per_thousand(&self) -> f64 {
        self.cpu.seconds() * 1_000.0 / self.pages as f64
    }

    fn human(&self) -> String {
        let per_page_us = self.cpu_per_thousand() * 1_000.0;
        let mut lines = vec![
            format!(
                "{} pages of {} on {} sites: {:.0} pages/s",
                words::count(self.pages),
                words::bytes(self.page_bytes as f64),
                self.sites,
                self.pages as f64 / self.seconds,
            ),
            format!(
                "processor: {:.3} s per 1,000 pages ({:.3} user, {:.3} system)",
                self.cpu_per_thousand(),
                self.cpu.user_s * 1_000.0 / self.pages as f64,
                self.cpu.system_s * 1_000.0 / self.pages as f64,
            ),
            format!(
                "memory: {} at its peak",
                words::bytes(self.cpu.peak_bytes as f64)
            ),
            String::new(),
            format!("{:<44}{:>9}{:>8}", "stage, run alone", "us/page", "share"),
        ];
        lines.extend(self.stages.iter().map(|stage| {
            let share = stage.us_per_page / per_page_us * 100.0;
            format!("{:<44}{:>9.1}{share:>6.0} %", stage.name, stage.us_per_page)
        }));
        lines.push(format!(
            "{:<44}{per_page_us:>9.1}   100 %",
            "the whole journey"
        ));
        lines.join("\n")
    }

    fn json(&self) -> serde_json::Value {
        let stages: serde_json::Map<_, _> = self
            .stages
            .iter()
            .map(|stage| (stage.key.to_owned(), json!(stage.us_per_page)))
            .collect();
        json!({
            "pages": self.pages,
            "page_bytes": self.page_bytes,
            "sites": self.sites,
            "seconds": self.seconds,
            "pages_per_s": self.pages as f64 / self.seconds,
            "cpu_s_per_1000_pages": self.cpu_per_thousand(),
            "cpu_user_s": self.cpu.user_s,
            "cpu_system_s": self.cpu.system_s,
            "peak_rss_bytes": self.cpu.peak_bytes,
            "stages_us_per_page": stages,
            "debug_build": cfg!(debug_assertions),
        })
    }
}

/// A folder that is thrown away.
#[derive(Debug)]
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// In that folder, or where temporary files go.
    fn in_folder(folder: Option<&Path>) -> anyhow::Result<Self> {
        let name = format!("geomi-bench-{}", std::process::id());
        let path = folder
            .map_or_else(std::env::temp_dir, Path::to_owned)
            .join(name);
        std::fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            stderr_line!("warning: cannot remove {}: {error}", self.path.display());
        }
    }
}
