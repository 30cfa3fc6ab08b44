//! Arguments of the commands that read what a crawl left.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `geomi verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
}

/// Arguments of `geomi report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Sections: overview, measures, states, codes, types, charsets, depths, link_types,
topics, sites, slowest_sites, servers, slowest_pages, biggest_pages, pages,
duplicates, mirrors, near_duplicates, soft_404s, spam, robots, dead_links, known
(with --known).

Examples:
  geomi report news
  geomi report news --section dead_links
  geomi report news --section sites --top 0 --format csv > sites.csv
  geomi report news --known urls.txt --section measures,known --format json

A running crawl is reported up to its last closed table of visits.
Exit codes: 0 done, 1 error, 2 usage or no crawl directory.")]
pub(crate) struct ReportArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
    /// Sections to report, with commas between; all unless given
    #[arg(
        short,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        env = "GEOMI_SECTION",
        hide_env_values = true
    )]
    pub(crate) section: Vec<String>,
    /// Rows of a table, and linking pages of a dead link; 0 for all
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        env = "GEOMI_TOP",
        hide_env_values = true
    )]
    pub(crate) top: usize,
    /// File with one URL a line that should have been saved: tells the recall
    #[arg(long, value_name = "FILE", env = "GEOMI_KNOWN", hide_env_values = true)]
    pub(crate) known: Option<PathBuf>,
}

/// Arguments of `geomi explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
    /// A URL, or a site such as example.com:8080; the whole crawl if left out
    #[arg(value_name = "URL|SITE")]
    pub(crate) what: Option<String>,
    /// Visits to show, the latest ones
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        env = "GEOMI_EXPLAIN_VISITS",
        hide_env_values = true
    )]
    pub(crate) visits: usize,
}
