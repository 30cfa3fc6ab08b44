//! Arguments of benchmarks and of what serves the shell.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Arguments of `geomi bench`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArgs {
    /// One part alone
    #[command(subcommand)]
    pub(crate) task: Option<BenchTask>,
    /// Pages in all
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) pages: u32,
    /// Mean size of a page
    #[arg(long, value_name = "SIZE", default_value = "18kB")]
    pub(crate) size: String,
    /// Sites they are on
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) sites: u32,
}

/// Parts that are measured alone.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchTask {
    /// Measure the frontier as it grows: seen test, queues, sites, commits
    #[command(after_help = "\
Example:
  geomi bench frontier --urls 10000000 --format json

It takes some 200 bytes of disk a URL at a million, 75 at ten million.
Exit codes: 0 measured, 1 error, 2 usage.")]
    Frontier(BenchFrontierArgs),
    /// Measure what planning visits costs a decision, and in memory
    #[command(after_help = "\
Example:
  geomi bench refresh --pages 10000000

Exit codes: 0 measured, 1 error, 2 usage.")]
    Refresh(crate::bench::RefreshBenchArgs),
    /// Compare the host orders on real sockets
    #[command(after_help = "\
Example:
  geomi bench order --sites 200 --format json

`geomi sim order` compares them in virtual time, where they are judged.
Exit codes: 0 measured, 1 error, 2 usage.")]
    Order(BenchOrderArgs),
}

/// Arguments of `geomi bench frontier`.
#[derive(Debug, Args)]
pub(crate) struct BenchFrontierArgs {
    /// URLs to admit in all, ten a page
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1_000..))]
    pub(crate) urls: u64,
    /// Sites they are on
    #[arg(long, value_name = "N", default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sites: u32,
    /// Memory of the seen test
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub(crate) seen_memory: String,
    /// Folder to work in; where temporary files go unless given
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of `geomi bench order`.
#[derive(Debug, Args)]
pub(crate) struct BenchOrderArgs {
    /// Sites, each with a latency of its own
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) sites: u32,
    /// Pages a site
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) pages: u32,
    /// Connections in all: far fewer than sites, or the order makes no difference
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) connections: u32,
}

/// Arguments of `geomi completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `geomi man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Which command; the first page if left out
    pub(crate) command: Vec<String>,
    /// Folder to write all pages into instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

/// Arguments of the hidden `geomi serve-testweb`.
#[derive(Debug, Args)]
pub(crate) struct ServeTestwebArgs {
    /// Number of sites.
    pub(crate) sites: u32,
    /// Pages a site.
    pub(crate) pages: u32,
    /// Mean size of a page.
    pub(crate) page_bytes: u32,
}
