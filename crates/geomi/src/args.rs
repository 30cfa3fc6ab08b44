//! The command line: what was typed, and nothing about what it means.
//!
//! The flags of `crawl` that set a key are made from the table of
//! keys, with their variable and help; only what is
//! not a setting is declared here.

mod crawling;
mod reading;
mod settings;
mod steering;
mod tools;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

pub(crate) use crawling::{ConfigArgs, CrawlArgs, DemoArgs, FetchArgs, InitArgs};
pub(crate) use reading::{ExplainArgs, ReportArgs, VerifyArgs};
pub(crate) use settings::Settings;
pub(crate) use steering::{AddArgs, LsArgs, SetArgs, SteerArgs, StopArgs};
pub(crate) use tools::{
    BenchArgs, BenchFrontierArgs, BenchOrderArgs, BenchTask, CompletionsArgs, ManArgs,
    ServeTestwebArgs,
};

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
