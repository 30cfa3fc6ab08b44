//! The command line: what was typed, and nothing about what it means.
//!
//! The flags of `crawl` that set a key are made from the table of
//! keys, with their variable and help; only what is
//! not a setting is declared here.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{
    Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Parser, Subcommand, ValueEnum,
};

use crate::config::keys::{Flag, KEYS, Key};
use crate::config::{Place, Raw, Setting};

/// A polite, crash-safe, resumable web crawler.
#[derive(Debug, Parser)]
#[command(
    name = "geomi",
    version,
    arg_required_else_help = true,
    after_help = "Start with `geomi demo`: it needs no network."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Task,
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global")]
pub(crate) struct Global {
    /// Configuration file instead of ./geomi.toml
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "GEOMI_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Values for any keys; the variable is read where they are taken.
    #[arg(
        long,
        global = true,
        value_name = "KEY=VALUE",
        help = "Set any key of geomi.toml, for example crawl.tries=2 [env: GEOMI_SET, one a line]"
    )]
    pub(crate) set: Vec<String>,
    /// What to print on standard output: human, json, jsonl or csv
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "human",
        hide_possible_values = true,
        env = "GEOMI_FORMAT",
        hide_env_values = true
    )]
    pub(crate) format: Format,
    /// When to use colours: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "auto",
        hide_possible_values = true,
        env = "GEOMI_COLOR",
        hide_env_values = true
    )]
    pub(crate) color: Color,
    /// Print the last line only
    #[arg(
        short,
        long,
        global = true,
        env = "GEOMI_QUIET",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) quiet: bool,
    /// Tell more on standard error; twice for even more
    #[arg(
        short,
        long,
        global = true,
        action = ArgAction::Count,
        env = "GEOMI_VERBOSE",
        hide_env_values = true
    )]
    pub(crate) verbose: u8,
    /// Show no progress
    #[arg(long, global = true, env = "GEOMI_NO_PROGRESS", hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) no_progress: bool,
}

/// Forms of output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// One object at the end
    Json,
    /// One object a line
    Jsonl,
    /// A table, where a command has one
    Csv,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless the variable `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Crawl into a directory; the same directory again resumes
    Crawl(CrawlArgs),
    /// Crawl a whole built-in web on loopback: needs no network
    #[command(after_help = "\
Example:
  geomi demo -o /tmp/my-demo

Exit codes: 0 done, 1 error, 2 usage, 5 disk full, 6 what was kept is damaged,
130 or 143 stopped by a signal.")]
    Demo(DemoArgs),
    /// Take one URL through the whole journey and show every decision
    Fetch(FetchArgs),
    /// Check that what a crawl kept agrees with itself
    #[command(after_help = "\
Example:
  geomi verify geomi-example.com

Exit codes: 0 sound, 1 error, 2 usage, 6 damage found.")]
    Verify(VerifyArgs),
    /// Tell what a crawl came to: states, types, sites, dead links, load and more
    Report(ReportArgs),
    /// Write what a crawl kept in another form: a mirror, WARC, tables, lists
    #[command(after_help = crate::export::AFTER_HELP)]
    Export(crate::export::ExportArgs),
    /// Print a capture, by URL and time: body, header, text or a list
    #[command(after_help = crate::cat::AFTER_HELP)]
    Cat(crate::cat::CatArgs),
    /// Write a geomi.toml with every key, documented at its default
    #[command(after_help = "\
Example:
  geomi init && $EDITOR geomi.toml

Exit codes: 0 written, 1 error (a file that is there is never overwritten), 2 usage.")]
    Init(InitArgs),
    /// Show the configuration that would be used, and where each value is from
    #[command(after_help = "\
Examples:
  geomi config politeness.site_delay
  geomi config --preset robot-2003 --scope host
  geomi config --site shop.example.com -o news

Takes the flags of `geomi crawl` that set a key, and their variables.
Exit codes: 0 shown, 2 something written is wrong.")]
    Config(ConfigArgs),
    /// Explain a crawl, a site or a URL: what is known, what comes next, and why
    #[command(after_help = "\
Examples:
  geomi explain news                        why nothing moves
  geomi explain news example.com            what a site waits for
  geomi explain news https://example.com/a  what happens to a URL

Exit codes: 0 explained, 1 error, 2 usage.")]
    Explain(ExplainArgs),
    /// List running crawls, or all crawls in a folder
    #[command(after_help = "\
Examples:
  geomi ls
  geomi ls ~/crawls --format json
  GEOMI_TOKEN=... geomi ls --server https://crawler.example.org:8600

Exit codes: 0 listed, 1 error, 2 usage.")]
    Ls(LsArgs),
    /// Pause a running crawl: no new request starts
    #[command(
        after_help = "Example:\n  geomi pause news\n\nExit codes: 0 paused, 1 error, 2 no such crawl is running."
    )]
    Pause(SteerArgs),
    /// Let a paused crawl go on
    #[command(
        after_help = "Example:\n  geomi resume news\n\nExit codes: 0 it goes on, 1 error, 2 no such crawl is running."
    )]
    Resume(SteerArgs),
    /// Stop a running crawl in good order and wait for it
    #[command(after_help = "\
Example:
  geomi stop news

The crawl ends as after SIGTERM, with exit code 143; the same command again resumes it.
Exit codes: 0 stopped, 1 error, 2 no such crawl is running.")]
    Stop(StopArgs),
    /// Change keys of a running crawl: delays, limits, exclusions, connections
    #[command(after_help = "\
Examples:
  geomi set news politeness.site_delay=5s
  geomi set news 'scope.exclude+=*logout*' crawl.max_pages=none

KEY+=VALUE adds to a list. It holds from the next request on, and for later runs;
limits hold for this run only.
Exit codes: 0 changed, 1 error, 2 nothing was changed.")]
    Set(SetArgs),
    /// Add seeds to a running crawl
    #[command(after_help = "\
Examples:
  geomi add news https://example.com/new-section/
  geomi add news --seeds more.txt

Exit codes: 0 added, 1 error, 2 usage, or no such crawl is running.")]
    Add(AddArgs),
    /// Keep a crawl fresh for the fewest requests; compare policies
    #[command(after_help = "\
Example:
  geomi refresh run example --budget 0.5

Exit codes: 0 done, 1 error, 2 usage; each command's help says more.")]
    Refresh(crate::refresh::RefreshArgs),
    /// Recompute the papers' figures, and say where they do not follow
    #[command(after_help = crate::papers::AFTER_HELP)]
    Papers(crate::papers::PapersArgs),
    /// Serve the web console and the API over one or many crawls
    #[command(after_help = crate::serve::AFTER_HELP)]
    Serve(crate::serve::ServeArgs),
    /// Print a JSON schema of geomi.toml, for editors
    #[command(after_help = "\
Example:
  geomi schema > geomi.schema.json   (and `#:schema geomi.schema.json` in geomi.toml)

Exit codes: 0 printed, 1 error, 2 usage.")]
    Schema,
    /// Measure what the journey of a page costs on this machine, stage by stage
    #[command(after_help = "\
Example:
  geomi bench --pages 20000 --size 100kB --format json
  geomi bench refresh --pages 10000000

Exit codes: 0 measured, 1 error, 2 usage.")]
    Bench(BenchArgs),
    /// The scheduler in virtual time: host orders, faults, capacity
    #[command(after_help = "\
Example:
  geomi sim order --web mixed --trials 5

Exit codes: 0 done, 1 error or a violated invariant, 2 usage; each command's help says more.")]
    Sim(crate::sim::SimArgs),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  geomi completions bash > ~/.local/share/bash-completion/completions/geomi
  geomi completions zsh > ~/.zfunc/_geomi
  geomi completions fish > ~/.config/fish/completions/geomi.fish

Exit codes: 0 printed, 1 error, 2 usage.")]
    Completions(CompletionsArgs),
    /// Print a man page, or write all of them
    #[command(after_help = "\
Examples:
  geomi man crawl | man -l -
  geomi man --dir ~/.local/share/man/man1

Exit codes: 0 done, 1 error, 2 usage.")]
    Man(ManArgs),
    /// Serve the test web of `bench` until standard input closes
    #[command(hide = true)]
    ServeTestweb(ServeTestwebArgs),
}

impl Task {
    /// Whether the command has tables that `--format csv` can print.
    pub(crate) const fn prints_csv(&self) -> bool {
        match self {
            Self::Report(_) | Self::Cat(_) | Self::Refresh(_) => true,
            Self::Sim(args) => args.prints_csv(),
            _ => false,
        }
    }
}

/// Arguments of `geomi crawl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  geomi crawl https://example.com --contact https://example.org/about-our-crawler
  geomi crawl --seeds urls.txt -o news --scope domain -n 10000
  geomi crawl -o news                  (resumes)

Everything else is in geomi.toml (see `geomi init`) or --set KEY=VALUE.
Order: flag, variable, DIR/geomi.toml, ./geomi.toml, preset, default.
Exit codes: 0 done, 1 error, 2 usage, 3 seeds or too many pages failed, 4 limit,
5 disk full, 130 or 143 stopped by a signal.")]
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
    /// Let time run N times as fast, on private addresses only: for laboratories
    #[arg(
        long,
        value_name = "N",
        env = "GEOMI_TIME_SCALE",
        hide_env_values = true,
        value_parser = clap::value_parser!(u32).range(1..=100_000)
    )]
    pub(crate) time_scale: Option<u32>,
    /// Visit every page the directory knows once more, and what they lead to
    #[arg(
        long,
        env = "GEOMI_AGAIN",
        hide_env_values = true,
        value_parser = clap::builder::FalseyValueParser::new()
    )]
    pub(crate) again: bool,
    /// Serve the web console of this crawl while it runs [default ADDR: 127.0.0.1:8600]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = crate::serve::LISTEN,
        env = "GEOMI_SERVE",
        hide_env_values = true
    )]
    pub(crate) serve: Option<std::net::SocketAddr>,
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
    /// Crawl directory; must not exist yet [default: geomi-demo]
    #[arg(
        short,
        long,
        value_name = "DIR",
        env = "GEOMI_OUT",
        hide_env_values = true
    )]
    pub(crate) out: Option<PathBuf>,
    /// Where the web console is while the demo runs [default: 127.0.0.1:8600, or a free port]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = crate::serve::LISTEN,
        env = "GEOMI_SERVE",
        hide_env_values = true
    )]
    pub(crate) serve: Option<std::net::SocketAddr>,
}

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

/// Values for keys, from flags and variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// From variables.
    pub(crate) variables: Vec<Setting>,
    /// From flags.
    pub(crate) flags: Vec<Setting>,
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        KEYS.iter()
            .filter_map(|key| key.flag.map(|flag| argument(key, flag)))
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn argument(key: &'static Key, flag: Flag) -> Arg {
    let is_list = key.default == Some("[]");
    let doc = key.doc.trim_end_matches('.');
    let help = match key.default {
        Some(default) if !is_list && !flag.value.is_empty() => {
            format!("{doc} [default: {}]", default.trim_matches('"'))
        }
        _ => doc.to_owned(),
    };
    let argument = Arg::new(key.path)
        .long(flag.long)
        .env(flag.variable)
        .hide_env_values(true)
        .help(help);
    let argument = match flag.heading {
        "" => argument,
        heading => argument.help_heading(heading),
    };
    let argument = match flag.short {
        Some(letter) => argument.short(letter),
        None => argument,
    };
    if flag.value.is_empty() {
        return argument
            .action(ArgAction::SetTrue)
            .value_parser(clap::builder::FalseyValueParser::new());
    }
    let argument = argument.value_name(flag.value).allow_hyphen_values(true);
    if is_list {
        argument.action(ArgAction::Append)
    } else {
        argument
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Self::default();
        for key in KEYS {
            let Some(flag) = key.flag else { continue };
            match matches.value_source(key.path) {
                Some(ValueSource::CommandLine) => settings.flags.push(Setting {
                    path: key.path.to_owned(),
                    raw: raw(matches, key, flag, false),
                    place: Place::Flag(format!("--{}", flag.long)),
                }),
                Some(ValueSource::EnvVariable) => settings.variables.push(Setting {
                    path: key.path.to_owned(),
                    raw: raw(matches, key, flag, true),
                    place: Place::Variable(flag.variable),
                }),
                _ => {}
            }
        }
        Ok(settings)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The value of a flag. A variable can be given once only, so that the items
/// of a list stand in it side by side, with spaces between.
fn raw(matches: &ArgMatches, key: &Key, flag: Flag, is_variable: bool) -> Raw {
    if flag.value.is_empty() {
        return Raw::Bool(matches.get_flag(key.path));
    }
    let mut values = matches.get_many::<String>(key.path).into_iter().flatten();
    if key.default != Some("[]") {
        return Raw::Typed(values.next_back().cloned().unwrap_or_default());
    }
    if is_variable {
        let items = values.flat_map(|value| value.split_whitespace());
        return Raw::List(items.map(str::to_owned).collect());
    }
    Raw::List(values.cloned().collect())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(words: &[&str]) -> Settings {
        let cli = Cli::try_parse_from(["geomi", "crawl"].iter().chain(words)).unwrap();
        match cli.command {
            Task::Crawl(args) => args.settings,
            _ => unreachable!("the words say crawl"),
        }
    }

    #[test]
    fn flags_become_settings_with_their_place() {
        let settings = parse(&["x.test", "-n", "5", "--include", "a", "--include", "b"]);
        let found: Vec<_> = settings
            .flags
            .iter()
            .map(|setting| (setting.path.as_str(), setting.raw.clone()))
            .collect();
        assert_eq!(
            found,
            [
                ("crawl.max_pages", Raw::Typed("5".into())),
                ("scope.include", Raw::List(vec!["a".into(), "b".into()])),
            ]
        );
        assert_eq!(settings.flags[0].place.to_string(), "--max-pages");
    }

    #[test]
    fn help_is_short_and_names_every_flag() {
        let mut command = Cli::command();
        let crawl = command.find_subcommand_mut("crawl").unwrap();
        let help = crawl.render_help().to_string();
        assert!(help.lines().count() < 100, "{help}");
        for flag in KEYS.iter().filter_map(|key| key.flag) {
            assert!(help.contains(&format!("--{}", flag.long)), "{}", flag.long);
            assert!(help.contains(flag.variable), "{}", flag.variable);
        }
    }
}
