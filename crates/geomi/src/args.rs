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
    /// Set any key of geomi.toml, for example crawl.tries=2; `GEOMI_SET` has one a line
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// What to print on standard output: human, json or jsonl
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
    #[command(after_help = "Example:\n  geomi demo -o /tmp/my-demo")]
    Demo(DemoArgs),
    /// Check that what a crawl kept agrees with itself
    #[command(
        after_help = "Example:\n  geomi verify geomi-example.com\n\nExit code 6 means damage."
    )]
    Verify(VerifyArgs),
    /// Write what a crawl kept in another form: a mirror, WARC, tables, lists
    #[command(after_help = crate::export::AFTER_HELP)]
    Export(crate::export::ExportArgs),
    /// Write a geomi.toml with every key, documented at its default
    #[command(after_help = "Example:\n  geomi init && $EDITOR geomi.toml")]
    Init(InitArgs),
    /// Show the configuration that would be used, and where each value is from
    #[command(after_help = "Example:\n  geomi config politeness.site_delay")]
    Config(ConfigArgs),
    /// Measure what the journey of a page costs on this machine, stage by stage
    #[command(after_help = "Example:\n  geomi bench --pages 20000 --size 100kB --format json")]
    Bench(BenchArgs),
    /// Serve the test web of `bench` until standard input closes
    #[command(hide = true)]
    ServeTestweb(ServeTestwebArgs),
}

/// Arguments of `geomi crawl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  geomi crawl https://example.com --contact https://example.org/about-our-crawler
  geomi crawl --seeds urls.txt -o news --scope domain -n 10000
  geomi crawl -o news                  (resumes)

Everything else is in geomi.toml (see `geomi init`) or --set KEY=VALUE.
Order: flag, variable, DIR/geomi.toml, ./geomi.toml, default.
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
}

/// Arguments of `geomi verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Crawl directory
    pub(crate) dir: PathBuf,
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

/// Arguments of `geomi bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
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
        .help_heading(flag.heading)
        .help(help);
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
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
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
