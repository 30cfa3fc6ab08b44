//! What can be typed after `geomi sim`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// Arguments of `geomi sim`.
#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// Which laboratory.
    #[command(subcommand)]
    pub(super) task: SimTask,
}

impl SimArgs {
    /// Whether `--format csv` can be printed.
    pub(crate) const fn prints_csv(&self) -> bool {
        matches!(self.task, SimTask::Order(_))
    }
}

/// The laboratories.
#[derive(Debug, Subcommand)]
pub(super) enum SimTask {
    /// Compare the host orders on model webs
    #[command(after_help = "\
Examples:
  geomi sim order --web mixed
  geomi sim order --web mixed,equal --policy rtt,round-robin --trials 10 --html orders.html
  geomi sim order --regime few,many,limit --format csv

Every order crawls the same sites at equal politeness with 256 connections.
Times are virtual; docs/simulation.md says what each figure means.
Exit codes: 0 done, 1 error, 2 usage.")]
    Order(OrderArgs),
    /// Run crawls of the real engines under faults and check every invariant at every step
    #[command(after_help = "\
Examples:
  geomi sim run --trials 1000
  geomi sim run --seed 42                       (replays one history)

Exit codes: 0 every invariant held, 1 one was violated, 2 usage.")]
    Run(RunArgs),
    /// Plan workers, connections, bandwidth and storage for a number of pages
    #[command(after_help = "\
Examples:
  geomi sim capacity --pages 1e9 --per month
  geomi sim capacity --pages 1e9 --per month --page-size 500kB --kept 1   (400 pages/s, 500 TB)
  geomi sim capacity --pages 1e9 --per day --cores 16

Exit codes: 0 done, 1 error, 2 usage.")]
    Capacity(CapacityArgs),
    /// Compare rules of priority on a model web whose page rank is known
    #[command(after_help = "\
Examples:
  geomi sim priority
  geomi sim priority --pages 200000 --sites 2000 --seed 2 --format json

It prints the share of all page rank among the first pages visited, by rule.
Exit codes: 0 done, 1 error, 2 usage.")]
    Priority(PriorityArgs),
}

/// Arguments of `geomi sim priority`.
#[derive(Debug, Args)]
pub(super) struct PriorityArgs {
    /// Pages of the web
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub(super) pages: u32,
    /// Sites of the web; the front pages of a tenth of them are seeds
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    pub(super) sites: u32,
    /// Where the draws begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
}

/// Arguments of `geomi sim order`.
#[derive(Debug, Args)]
pub(super) struct OrderArgs {
    /// Webs: mixed, regions, tail, equal; all if left out
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) web: Vec<String>,
    /// Orders: rtt, round-robin, fifo, priority; all if left out
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) policy: Vec<String>,
    /// What is short: few (sites), many (sites, so connections), limit (pages)
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "many"
    )]
    pub(super) regime: Vec<String>,
    /// Where the draws begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// How often each web is drawn
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub(super) trials: u64,
    /// Also write a page with tables and plots
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

/// Arguments of `geomi sim run`.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// One history, told event by event
    #[arg(long, value_name = "N", conflicts_with = "trials")]
    pub(super) seed: Option<u64>,
    /// So many histories, from seed 1 on
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(super) trials: u64,
}

/// A period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Per {
    /// 24 hours
    Day,
    /// 30 days
    Month,
}

/// Arguments of `geomi sim capacity`.
#[derive(Debug, Args)]
pub(super) struct CapacityArgs {
    /// Pages in each period, for example 1e9
    #[arg(long, value_name = "N", default_value = "1e9")]
    pub(super) pages: f64,
    /// The period: day or month (30 days)
    #[arg(long, value_enum, default_value = "month", hide_possible_values = true)]
    pub(super) per: Per,
    /// Bytes of a page as it is received
    #[arg(long, value_name = "SIZE", default_value = "18kB")]
    pub(super) page_size: String,
    /// Bytes kept for each byte received
    #[arg(long, value_name = "SHARE")]
    pub(super) kept: Option<f64>,
    /// Processor seconds for 1,000 pages, as `geomi bench` tells them
    #[arg(long, value_name = "SECONDS")]
    pub(super) cpu: Option<f64>,
    /// Seconds a request holds its connection
    #[arg(long, value_name = "SECONDS")]
    pub(super) request: Option<f64>,
    /// Seconds a site rests after each answer
    #[arg(long, value_name = "SECONDS")]
    pub(super) rest: Option<f64>,
    /// Peak over mean rate
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0)]
    pub(super) peak: f64,
    /// Cores of a worker
    #[arg(long, value_name = "N", default_value_t = 2.0)]
    pub(super) cores: f64,
    /// Share of its cores a worker uses at the peak
    #[arg(long, value_name = "SHARE", default_value_t = 0.7)]
    pub(super) load: f64,
    /// Years that pages are kept
    #[arg(long, value_name = "YEARS", default_value_t = 5.0)]
    pub(super) keep: f64,
}
