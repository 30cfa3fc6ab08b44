//! Arguments of the commands that steer a running crawl.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `geomi ls`.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// List all crawls in these folders, running or not
    #[arg(value_name = "FOLDER")]
    pub(crate) folders: Vec<PathBuf>,
    /// A console to ask.
    #[command(flatten)]
    pub(crate) server: crate::running::api::ServerArgs,
}

/// Arguments of `geomi pause` and `geomi resume`.
#[derive(Debug, Args)]
pub(crate) struct SteerArgs {
    /// Crawl directory; may be left out while only one crawl is running
    pub(crate) dir: Option<PathBuf>,
    /// A console to ask.
    #[command(flatten)]
    pub(crate) server: crate::running::api::ServerArgs,
}

/// Arguments of `geomi stop`.
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Crawl directory; may be left out while only one crawl is running
    pub(crate) dir: Option<PathBuf>,
    /// Give up what is under way
    #[arg(long, env = "GEOMI_STOP_NOW", hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) now: bool,
    /// Do not wait for the end
    #[arg(long, env = "GEOMI_STOP_NO_WAIT", hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) no_wait: bool,
    /// A console to ask.
    #[command(flatten)]
    pub(crate) server: crate::running::api::ServerArgs,
}

/// Arguments of `geomi set`.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
    /// What to change
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub(crate) settings: Vec<String>,
}

/// Arguments of `geomi add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
    /// Seeds to add
    #[arg(value_name = "URL")]
    pub(crate) urls: Vec<String>,
    /// File with one URL a line and an optional topic after a tab; `-` is standard input
    #[arg(long, value_name = "FILE", env = "GEOMI_SEEDS", hide_env_values = true)]
    pub(crate) seeds: Option<PathBuf>,
}
