//! The command line as a whole: what the arguments of each command have in
//! common.
//!
//! Every flag has a variable: where a command names none, it is made of the
//! command's and the flag's name, `GEOMI_BENCH_PAGES`. The first help lists the
//! commands by what they are for; a command that no group names stands in the
//! last one, so that none can be forgotten.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::{FalseyValueParser, StyledStr};
use clap::{Arg, ArgAction, ColorChoice, Command, CommandFactory as _, ValueEnum as _};

use crate::args::{Cli, Color};
use crate::config::keys;

/// What the commands are for, in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Crawl", &["crawl", "demo", "refresh", "observe", "fetch"]),
    (
        "Running crawls",
        &[
            "ls", "pause", "resume", "stop", "set", "add", "serve", "worker",
        ],
    ),
    (
        "What a crawl brought",
        &[
            "report", "stats", "explain", "items", "cat", "export", "verify",
        ],
    ),
    ("Configuration", &["init", "config", "schema"]),
    ("Measure and simulate", &["bench", "sim", "papers"]),
    ("This program", &["completions", "man"]),
];

/// The command line, ready to read what was typed.
pub(crate) fn command() -> Command {
    let command = with_variables(Cli::command(), "GEOMI");
    // What `crawl` takes, `config` shows: it need not list it all again.
    let command = command.mut_subcommand("config", |config| {
        config.mut_args(|arg| match keys::find(arg.get_id().as_str()) {
            Some(_) => arg.hide(true),
            None => arg,
        })
    });
    let template = template(&command);
    command.help_template(template)
}

/// The command line without what is not for users: for man pages and
/// completions.
pub(crate) fn visible() -> Command {
    let whole = command();
    let shown = whole.get_subcommands().filter(|sub| !sub.is_hide_set());
    let mut visible = Command::new("geomi")
        .disable_help_subcommand(true)
        .args(whole.get_arguments().cloned())
        .subcommands(shown.cloned());
    if let Some(version) = whole.get_version() {
        visible = visible.version(version.to_owned());
    }
    if let Some(about) = whole.get_about() {
        visible = visible.about(about.clone());
    }
    if let Some(after) = whole.get_after_help() {
        visible = visible.after_help(after.clone());
    }
    visible
}

/// When the help itself has colours: `--color` and its variable decide before
/// anything is read; `NO_COLOR` is clap's own affair.
pub(crate) fn help_colours(words: impl IntoIterator<Item = OsString>) -> ColorChoice {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let apart = words.iter().position(|word| word == "--color");
    let apart = apart.and_then(|at| words.get(at + 1)).map(String::as_str);
    let mut joined = words
        .iter()
        .filter_map(|word| word.strip_prefix("--color="));
    // A variable that is not there, or not text, decides nothing.
    let variable = std::env::var("GEOMI_COLOR").ok();
    let word = apart.or(joined.next()).or(variable.as_deref());
    match word.and_then(|word| Color::from_str(word, false).ok()) {
        Some(Color::Always) => ColorChoice::Always,
        Some(Color::Never) => ColorChoice::Never,
        // A wrong word is told when it is read.
        Some(Color::Auto) | None => ColorChoice::Auto,
    }
}

/// Gives every flag of a command, and of those below it, a variable.
fn with_variables(command: Command, prefix: &str) -> Command {
    let prefix_of_args = prefix.to_owned();
    let command = command.mut_args(|arg| with_variable(arg, &prefix_of_args));
    let prefix = prefix.to_owned();
    command.mut_subcommands(|sub| {
        let prefix = format!("{prefix}_{}", upper(sub.get_name()));
        with_variables(sub, &prefix)
    })
}

fn with_variable(arg: Arg, prefix: &str) -> Arg {
    let Some(long) = arg.get_long() else {
        return arg;
    };
    // `--set` may be repeated and reads its variable itself, line by line.
    if arg.get_env().is_some() || matches!(long, "help" | "version" | "set") {
        return arg;
    }
    let variable = format!("{prefix}_{}", upper(long));
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    let arg = arg.env(variable).hide_env_values(true);
    if is_switch {
        return arg.value_parser(FalseyValueParser::new());
    }
    arg
}

fn upper(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

/// The first help, with the commands in their groups.
fn template(command: &Command) -> StyledStr {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, commands) in grouped(command) {
        write!(text, "\n{header}{title}:{header:#}\n").expect("a string takes everything");
        for sub in commands {
            let (name, about) = (sub.get_name(), sub.get_about().cloned().unwrap_or_default());
            writeln!(text, "  {literal}{name:<12}{literal:#} {about}")
                .expect("a string takes everything");
        }
    }
    write!(
        text,
        "\n{header}Of every command:{header:#}\n{{options}}{{after-help}}"
    )
    .expect("a string takes everything");
    StyledStr::from(text)
}

/// The commands a user sees, by group; groups without any are left out.
fn grouped(command: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let visible: Vec<&Command> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .collect();
    let mut groups: Vec<(&str, Vec<&Command>)> = Vec::new();
    for (title, names) in GROUPS {
        let named = |name: &&str| visible.iter().find(|sub| sub.get_name() == *name).copied();
        groups.push((title, names.iter().filter_map(named).collect()));
    }
    if let Some((_, last)) = groups.last_mut() {
        last.extend(visible.iter().filter(|sub| !is_grouped(sub.get_name())));
    }
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` for every command that can be run, with its whole name.
    fn each(command: &Command, path: &str, check: &dyn Fn(&str, &Command)) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                each(sub, &path, check);
            } else {
                check(&path, sub);
            }
        }
    }

    fn help(command: &Command) -> String {
        command.clone().render_help().to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
        visible().debug_assert();
    }

    #[test]
    fn every_flag_has_a_variable_and_the_help_shows_it() {
        let mut whole = command();
        whole.build();
        each(&whole, "geomi", &|path, sub| {
            let help = help(sub);
            for arg in sub.get_arguments() {
                let Some(long) = arg.get_long() else {
                    assert!(
                        arg.is_positional(),
                        "{path}: {} has no long name",
                        arg.get_id()
                    );
                    continue;
                };
                if matches!(long, "help" | "version") {
                    continue;
                }
                let variable = match arg.get_env() {
                    Some(variable) => variable.to_string_lossy().into_owned(),
                    None => format!("GEOMI_{}", upper(long)),
                };
                assert!(
                    variable.starts_with("GEOMI_"),
                    "{path} --{long}: {variable}"
                );
                assert!(
                    variable.ends_with(&upper(long)),
                    "{path} --{long}: {variable}"
                );
                let shown = format!("[env: {variable}");
                let is_hidden = sub.is_hide_set() || arg.is_hide_set();
                let squeezed = help.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(
                    is_hidden || squeezed.contains(&shown),
                    "{path} --{long}: no {shown} in\n{help}"
                );
            }
        });
    }

    #[test]
    fn every_command_has_an_example_and_its_exit_codes() {
        each(&command(), "geomi", &|path, sub| {
            if sub.is_hide_set() {
                return;
            }
            let after = sub.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            assert!(
                after.contains("Example"),
                "{path} has no example in its help"
            );
            assert!(
                after.contains("Exit code"),
                "{path} does not tell its exit codes"
            );
            assert!(
                after.contains(path),
                "{path}: the example is of another command"
            );
            assert!(
                sub.get_about().is_some(),
                "{path} says nothing about itself"
            );
        });
    }

    #[test]
    fn the_first_help_is_short_and_has_every_command_in_a_group() {
        let whole = command();
        let text = help(&whole);
        assert!(text.lines().count() <= 60, "{text}");
        for sub in whole.get_subcommands() {
            let line = format!("\n  {} ", sub.get_name());
            assert_eq!(
                text.contains(&line),
                !sub.is_hide_set(),
                "{line} in\n{text}"
            );
        }
        assert!(text.contains("\nCrawl:\n") && text.contains("\nConfiguration:\n"));
        assert!(text.contains("--config <FILE>"), "{text}");
    }

    #[test]
    fn the_help_has_the_colours_that_were_asked_for() {
        let choice = |words: &[&str]| help_colours(words.iter().map(OsString::from));
        assert_eq!(choice(&["geomi", "--color", "never"]), ColorChoice::Never);
        assert_eq!(choice(&["geomi", "--color=always"]), ColorChoice::Always);
    }
}
