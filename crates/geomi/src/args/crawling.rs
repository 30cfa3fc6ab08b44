//! Arguments of the commands that crawl, and of those about their settings.

use std::path::PathBuf;

use clap::Args;

use super::Settings;

/// Arguments of `geomi crawl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  geomi crawl https://example.com --contact https://example.org/about-our-crawler
  geomi crawl --seeds urls.txt -o news --scope domain -n 10000
  geomi crawl -o news                  (resumes)

Everything else is in geomi.toml (see `geomi init`) or --set KEY=VALUE.
Order: flag, variable, DIR/geomi.toml, ./geomi.toml, preset, default.
Exit codes: 0 nothing is left, 1 error, 2 usage (or a pipe brought lines that are no seeds), 3
nothing saved or too many failed, 4 limit or incomplete, 5 disk full, 130 or 143 by a signal.")]
pub(crate) struct CrawlArgs {
    /// Where to begin; a host alone will do
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// File with one URL a line and an optional topic after a tab; `-` is standard input
    #[arg(long, value_name = "FILE", env = "GEOMI_SEEDS", hide_env_values = true)]
    pub(crate) seeds: Option<PathBuf>,
    /// Crawl directory; named after the first seed unless given
    #[arg(
        short,
        long,
        value_name = "DIR",
        env = "GEOMI_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
    /// Let time run N times as fast; private addresses only
    #[arg(
        long,
        value_name = "N",
        env = "GEOMI_TIME_SCALE",
        hide_env_values = true,
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub(crate) time_scale: Option<u32>,
    /// Visit all known pages once more, and what they lead to
    #[arg(
        long,
        env = "GEOMI_AGAIN",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) again: bool,
    /// Flags of the console beside the crawl.
    #[command(flatten)]
    pub(crate) console: crate::serve::BesideArgs,
    /// Flags that set a key.
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Arguments of `geomi fetch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  geomi fetch example.com --contact https://example.org/about-our-crawler
  geomi fetch http://localhost:8000/page --links
  geomi fetch https://example.com/a?b --seed https://example.com/ -o news --format json

Nothing is written. robots.txt is asked for and obeyed, and a site asked twice gets its
rest in between, as in a crawl.
Exit codes: 0 there was an answer, whatever its code, 1 error, 2 usage, 3 there was none,
or the URL, or one it redirects to, was refused.")]
pub(crate) struct FetchArgs {
    /// What to fetch; a host alone will do
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Judge the URL as a link on this seed, not as a seed
    #[arg(long, value_name = "URL")]
    pub(crate) seed: Option<String>,
    /// Crawl directory whose configuration holds; nothing is written to it
    #[arg(
        short,
        long,
        value_name = "DIR",
        env = "GEOMI_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
    /// Show each link of the page and what would become of it
    #[arg(long)]
    pub(crate) links: bool,
    /// Write the header of the answer to standard output, and all else to standard error
    #[arg(long)]
    pub(crate) headers: bool,
    /// Write the decoded body to standard output, and all else to standard error
    #[arg(long)]
    pub(crate) body: bool,
    /// Flags that set a key.
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// Arguments of `geomi demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Crawl directory: a new one, or that of a demo that was stopped [default: geomi-demo]
    #[arg(
        short,
        long,
        value_name = "DIR",
        env = "GEOMI_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
    /// Flags of the console beside the demo.
    #[command(flatten)]
    pub(crate) console: crate::serve::BesideArgs,
}

/// Arguments of `geomi init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to write geomi.toml into
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// Arguments of `geomi config`.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// One key, such as `politeness.site_delay`; all if left out
    pub(crate) key: Option<String>,
    /// What holds for this site: a host, host and port, or URL
    #[arg(
        long,
        value_name = "HOST",
        env = "GEOMI_CONFIG_SITE",
        hide_env_values = true
    )]
    pub(crate) site: Option<String>,
    /// Flags that set a key, as of `crawl`; [`crate::command`] hides them.
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Crawl directory whose geomi.toml counts too
    #[arg(
        short,
        long,
        value_name = "DIR",
        env = "GEOMI_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
}
