//! The flags that set a key, made from the table of keys: with its variable, its
//! help and its values.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::config::keys::{Flag, KEYS, Key};
use crate::config::{Place, Raw, Setting};

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
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::args::{Cli, Task};

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
