//! What can be typed after `geomi export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `geomi export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Crawl directory; it may be running
    pub(crate) dir: PathBuf,
    /// warc, cdxj, parquet, jsonl, crawl-log, changes, urls or files
    #[arg(
        long = "as",
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        env = "GEOMI_EXPORT_AS",
        hide_env_values = true
    )]
    pub(crate) kind: Kind,
    /// File to write, or folder for files; standard output if left out or `-`
    #[arg(
        short,
        long,
        value_name = "OUT",
        env = "GEOMI_EXPORT_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
    /// Only what these select.
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
}

/// Forms of export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// Whole WARC records, as they are
    Warc,
    /// Sorted index lines that point into the crawl's own WARC files
    Cdxj,
    /// Visits in the schema of visits/
    Parquet,
    /// One object a visit, with every field
    Jsonl,
    /// Lines of Heritrix's crawl.log
    CrawlLog,
    /// A table of what each visit found against the copy there was
    Changes,
    /// One URL a line, sorted, each once
    Urls,
    /// A mirror to be read in a browser
    Files,
}

impl Kind {
    /// As it is typed.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Warc => "warc",
            Self::Cdxj => "cdxj",
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
            Self::CrawlLog => "crawl-log",
            Self::Changes => "changes",
            Self::Urls => "urls",
            Self::Files => "files",
        }
    }
}

/// Flags that select visits. Those of one kind are alternatives, the kinds must
/// all agree.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Selection")]
pub(crate) struct FilterArgs {
    /// Only this site; `*.example.com` for all under it (repeatable)
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_delimiter = ' ',
        env = "GEOMI_EXPORT_SITE",
        hide_env_values = true
    )]
    pub(crate) site: Vec<String>,
    /// Only URLs that match, as in scope.include; `re:` for a regular expression (repeatable)
    #[arg(
        long,
        value_name = "GLOB",
        value_delimiter = ' ',
        env = "GEOMI_EXPORT_URL",
        hide_env_values = true
    )]
    pub(crate) url: Vec<String>,
    /// Only this media type, such as text/html or image/* (repeatable)
    #[arg(
        long = "type",
        value_name = "MIME",
        value_delimiter = ' ',
        env = "GEOMI_EXPORT_TYPE",
        hide_env_values = true
    )]
    pub(crate) mime: Vec<String>,
    /// Only this network state, such as OK, code or cTim (repeatable)
    #[arg(
        long,
        value_name = "STATE",
        value_delimiter = ' ',
        env = "GEOMI_EXPORT_STATE",
        hide_env_values = true
    )]
    pub(crate) state: Vec<String>,
    /// Only this status code, such as 404 or 4xx (repeatable)
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ' ',
        env = "GEOMI_EXPORT_CODE",
        hide_env_values = true
    )]
    pub(crate) code: Vec<String>,
    /// Only visits from this time on: RFC 3339, a date (its 00:00 UTC), or a span back from now such as 2h
    #[arg(
        long,
        value_name = "TIME",
        env = "GEOMI_EXPORT_SINCE",
        hide_env_values = true
    )]
    pub(crate) since: Option<String>,
    /// Only visits before this time
    #[arg(
        long,
        value_name = "TIME",
        env = "GEOMI_EXPORT_UNTIL",
        hide_env_values = true
    )]
    pub(crate) until: Option<String>,
    /// Only the first N visits selected
    #[arg(
        long,
        value_name = "N",
        env = "GEOMI_EXPORT_LIMIT",
        hide_env_values = true
    )]
    pub(crate) limit: Option<u64>,
}

/// What `geomi help export` says at its end.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi export news --as files -o mirror --site www.example.com
  geomi export news --as warc --type image/* -o images.warc.gz
  geomi export news --as urls --code 4xx --since 2026-11-01
  geomi export news --as changes --site www.example.com -o changes.csv

warc, cdxj and files have captured visits only. changes is CSV of visits that say
something of a page: time, URL, size fetched, size changed, changed or not, and what
was found, as `geomi refresh` sees it (first, unchanged, same, changed, edited, gone,
failed); what is not selected is still compared with. cdxj points into DIR/warc, also
when a warc was exported. files keeps the latest capture of each page (see
--until), follows redirects, and leaves error pages out. parquet and files need
-o; an OUT that exists is refused unless it is empty.

Exit codes: 0 done, 1 error, 2 usage, 5 disk full.";
