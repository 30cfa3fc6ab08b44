//! `geomi refresh run`: a crawl that is kept fresh.
//!
//! What is typed becomes the configuration of the one crawl loop, with a plan.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use geomi_crawler::refresh::read_visits;
use geomi_crawler::{CrawlConfig, FastClock};
use geomi_refresh::named;
use geomi_refresh::upkeep::{Budget, Drive, Pages, RefreshConfig};
use geomi_store::CrawlDir;

use super::schedule_file;
use super::view::last_time;
use crate::Exit;
use crate::args::{Format, Global, Settings};
use crate::config::{self, Place, Problems, Raw, Setting, Sources, parse_duration, write_duration};
use crate::crawl::{has_begun, settings};
use crate::session::{Session, tell};
use crate::terminal::stderr_line;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh run news                               until it is stopped
  geomi refresh run news --budget 0.5 --max-time 12h
  geomi refresh run news --once --requests-per-day 5000    (from cron)
  geomi refresh run news --schedule week.csv

Policies: clock (the default), greedy, age, static, proportional, sampling, group16,
group6, multiplicative, nutch, stormcrawler; `geomi refresh simulate` compares them.
Budget, policy and longest gap are kept in the crawl's geomi.toml for later commands.
A site's delay and robots.txt stand above the plan. A run that was killed goes on.
Exit codes: as of `geomi crawl`.";

/// Arguments of `geomi refresh run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Crawl directory
    dir: PathBuf,
    /// How the plan is made.
    #[command(flatten)]
    plan: PlanArgs,
    /// Visit what is due by now, and end
    #[arg(long)]
    once: bool,
    /// incremental: page by page as the policy says; periodic: all pages in rounds
    #[arg(long, value_name = "MODE", value_enum, default_value = "incremental")]
    mode: Mode,
    /// Follow a schedule instead: CSV with day,hour,url as `refresh plan` writes it
    #[arg(long, value_name = "FILE", conflicts_with = "mode")]
    schedule: Option<PathBuf>,
    /// Learn: look at every page this often, whatever it costs, until it is stopped
    #[arg(long, value_name = "TIME",
        conflicts_with_all = ["budget", "requests_per_day", "policy", "mode", "schedule"])]
    learn: Option<String>,
    /// Let time run N times as fast, on private addresses only: for laboratories
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    time_scale: Option<u32>,
    /// Flags that set a key.
    #[command(flatten)]
    settings: Settings,
}

/// How pages are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Mode {
    /// Page by page.
    Incremental,
    /// In rounds.
    Periodic,
}

/// What a plan is made by; the same for all commands that make one. Each flag sets a key
/// of the section `[refresh]`: a run records it with its configuration, so that later
/// commands go by it; a command that only looks records nothing.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PlanArgs {
    /// Visits a page a day; one in seven days unless given
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "requests_per_day",
        allow_negative_numbers = true
    )]
    budget: Option<f64>,
    /// Requests a day, for all pages together
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    requests_per_day: Option<f64>,
    /// The rule that says when a page is due; clock unless given
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// The longest time a page is left alone; 90 days unless given
    #[arg(long, value_name = "TIME")]
    longest_gap: Option<String>,
}

impl PlanArgs {
    /// What they set in the configuration; what is wrong is added to the problems.
    pub(crate) fn settings(&self, problems: &mut Problems) -> Vec<Setting> {
        let mut settings = Vec::new();
        match self.policy.as_deref() {
            None => {}
            Some(name) if named::policy(name).is_some() => {
                settings.push(setting("--policy", "refresh.policy", name));
            }
            Some(name) => problems.add_general(format!(
                "--policy: a crawl cannot follow {name:?}; it can follow {}",
                named::NAMES.join(", ")
            )),
        }
        match (self.budget, self.requests_per_day) {
            (Some(visits), _) if !(1e-4..=1e3).contains(&visits) => problems.add_general(format!(
                "--budget {visits}: give visits a page a day, from 0.0001 to 1000"
            )),
            (Some(visits), _) => {
                let every = Duration::from_millis((DAY.as_millis() as f64 / visits).round() as u64);
                settings.push(setting("--budget", "refresh.every", &write_duration(every)));
                // The other budget is stronger where both are set.
                settings.push(setting("--budget", "refresh.requests_per_day", "none"));
            }
            (None, Some(requests))
                if !(1.0..=1e9).contains(&requests) || requests.fract() != 0.0 =>
            {
                problems.add_general(format!(
                    "--requests-per-day {requests}: give a whole number from 1 to a thousand million"
                ));
            }
            (None, Some(requests)) => settings.push(setting(
                "--requests-per-day",
                "refresh.requests_per_day",
                &requests.to_string(),
            )),
            (None, None) => {}
        }
        if let Some(gap) = self.longest_gap.as_deref() {
            settings.push(setting("--longest-gap", "refresh.longest_gap", gap));
        }
        settings
    }
}

/// A value for a key, by a flag.
fn setting(flag: &str, path: &str, value: &str) -> Setting {
    Setting {
        path: path.to_owned(),
        raw: Raw::Typed(value.to_owned()),
        place: Place::Flag(flag.to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    if global.format == Format::Csv {
        problems.add_general("--format csv: a run prints no table; choose human, json or jsonl");
    }
    if !has_begun(&args.dir) {
        problems.add_general(no_crawl(&args.dir));
        problems.into_result()?;
        unreachable!("a problem was told");
    }
    let mut typed = args.settings.clone();
    typed.flags.extend(args.plan.settings(&mut problems));
    let settings = settings(&typed, global, &mut problems);
    let written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: Some(&args.dir),
            settings: &settings,
        },
        &mut problems,
    );
    let mut config = config::resolve(&written, Vec::new(), &mut problems);
    let refresh = args.refresh(&config.engine.plan, &mut problems);
    problems.into_result()?;
    if args.learn.is_some() {
        warn_of_learning(&refresh, pages(&args.dir, config.engine.tries)?.len());
    }
    if let (Some(path), Drive::Table { rows, .. }) = (&args.schedule, &refresh.drive) {
        let pages = pages(&args.dir, config.engine.tries)?;
        if let Some(words) = schedule_file::strangers_in_words(path, rows, &pages) {
            stderr_line!("warning: {words}");
        }
    }
    config.engine.refresh = Some(refresh);
    let session = match args.time_scale {
        None => Session::open(&args.dir, &written)?,
        Some(times) => {
            scale(&mut config, times);
            let clock = FastClock::new(times).not_before(last_time(&args.dir));
            Session::open_at(&args.dir, &written, Arc::new(clock))?
        }
    };
    let (status, exit) = session.run(&config, global)?;
    tell(&status, &args.dir, "", global)?;
    Ok(exit)
}

impl RunArgs {
    /// How the crawl is kept fresh.
    fn refresh(&self, written: &RefreshConfig, problems: &mut Problems) -> RefreshConfig {
        let mut refresh = RefreshConfig {
            once: self.once,
            ..written.clone()
        };
        if self.mode == Mode::Periodic {
            refresh.drive = Drive::Rounds;
        }
        if let Some(path) = &self.schedule {
            refresh.drive = Drive::Table {
                file: place_of(path, &self.dir),
                rows: schedule_file::read(path, problems),
            };
        }
        match self.learn.as_deref().map(parse_duration) {
            None => {}
            Some(Ok(every)) if every >= LEARN_MIN => {
                "static".clone_into(&mut refresh.policy);
                refresh.budget = Budget::PerPage(DAY.as_secs_f64() / every.as_secs_f64());
            }
            Some(Ok(_)) => problems.add_general("--learn: give a minute or more, such as 20m"),
            Some(Err(why)) => problems.add_general(format!("--learn: {why}")),
        }
        refresh
    }
}

/// Where a table lies, for those who start the run again from another folder: from
/// the crawl directory on, if it lies in it, so that both can be moved together.
fn place_of(table: &Path, dir: &Path) -> PathBuf {
    // What cannot be made whole cannot be read either, and that is told.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let table = whole(table);
    match table.strip_prefix(whole(dir)) {
        Ok(inside) => inside.to_owned(),
        Err(_) => table,
    }
}

/// The shortest interval of a learning period.
const LEARN_MIN: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// A learning period costs far more than keeping fresh does.
fn warn_of_learning(refresh: &RefreshConfig, pages: usize) {
    let visits = refresh.budget.requests_per_day(1);
    stderr_line!(
        "warning: --learn asks for every page {visits:.0} times a day, {:.0} times what one visit a week costs: \
         about {:.0} requests a day for its {pages} pages, until it is stopped or --max-time ends it; \
         a plan learns from its own visits, and without this",
        visits * 7.0,
        visits * pages as f64,
    );
}

/// The pages of which a crawl has had a copy.
fn pages(dir: &Path, tries: u8) -> anyhow::Result<Pages> {
    let mut pages = Pages::default();
    read_visits(&CrawlDir::new(dir), |visit| {
        // Only which pages there are is asked, not when they were seen.
        pages.take(visit, tries, 0.0);
        true
    })?;
    Ok(pages)
}

/// What to say of a directory without a crawl.
pub(crate) fn no_crawl(dir: &Path) -> String {
    format!(
        "there is no crawl in {}: begin one with `geomi crawl URL -o {0}`",
        dir.display()
    )
}

/// Time-outs are spans of the clock like all others; no shorter, though, than an
/// answer on loopback may need on a busy machine.
fn scale(config: &mut CrawlConfig, times: u32) {
    const TIMEOUT_MIN: Duration = Duration::from_secs(1);
    let shorter = |span: &mut Duration| *span = (*span / times).max(TIMEOUT_MIN);
    shorter(&mut config.fetch.connect_timeout);
    shorter(&mut config.fetch.silence_timeout);
    shorter(&mut config.fetch.total_timeout);
    // A rest that is over too soon is for nobody's servers but one's own.
    config.fetch.address_policy.deny_public = true;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_in_the_crawl_directory_moves_with_it() {
        let place = |table: &str, dir: &str| place_of(Path::new(table), Path::new(dir));
        let inside = Path::new("schedule.csv");
        assert_eq!(place("news/schedule.csv", "./news/"), inside);
        assert_eq!(place("/data/news/schedule.csv", "/data/news"), inside);
        let elsewhere = Path::new("/tmp/week.csv");
        assert_eq!(place("/tmp/week.csv", "/data/news"), elsewhere);
        assert!(place("week.csv", "news").is_absolute());
    }
}
