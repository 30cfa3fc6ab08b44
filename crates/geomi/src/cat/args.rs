//! The arguments of `geomi cat`.

use std::path::PathBuf;

use clap::Args;

/// Examples and exit codes.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi cat news https://example.com/             the latest body, decoded
  geomi cat news https://example.com/ --list      every capture of it
  geomi cat news https://example.com/ --at 20261115 --text
  geomi cat news https://example.com/logo.png > logo.png

TIME is 2026-11-15, 2026-11-15T09:42:00Z or archive digits such as 20261115094200; the
capture nearest to it is meant. A capture that repeats an earlier one has that one's body.
With --format json or jsonl the capture is one object: header, body and where it lies.
Exit codes: 0 written, 1 error, or a damaged record, 2 usage, no index, or never captured.";

/// Arguments of `geomi cat`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag of a command line is given or not"
)]
#[command(group = clap::ArgGroup::new("part").multiple(false))]
pub(crate) struct CatArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
    /// What was captured; a host alone will do
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// The capture nearest to this time; the latest if left out
    #[arg(long, value_name = "TIME", conflicts_with = "list")]
    pub(crate) at: Option<String>,
    /// The body with framing and codings taken off: this is the default
    #[arg(long, group = "part")]
    pub(crate) body: bool,
    /// The answer as it came: header and body, chunked or compressed as they were
    #[arg(long, group = "part")]
    pub(crate) raw: bool,
    /// The header alone
    #[arg(long, group = "part")]
    pub(crate) headers: bool,
    /// What a reader of the page would see, as plain text in UTF-8
    #[arg(long, group = "part")]
    pub(crate) text: bool,
    /// List the captures of the URL instead
    #[arg(short, long, group = "part")]
    pub(crate) list: bool,
}
