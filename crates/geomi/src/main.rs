//! The command line of geomi: glue between a person and the crates below.
//!
//! `main` reads the arguments ([`args`]), hands them to the command's module and
//! turns the outcome into an exit code. What a value means is decided in
//! [`config`]; how a crawl runs, in geomi-crawler.

#![warn(clippy::print_stderr, reason = "all output passes terminal.rs")]

mod args;
mod bench;
mod cat;
mod command;
mod config;
mod crawl;
mod csv;
mod demo;
mod explain;
mod export;
mod fetch;
mod manual;
mod papers;
mod progress;
mod refresh;
mod report;
mod report_command;
mod running;
mod seeds_file;
mod serve;
mod session;
mod settings;
mod signals;
mod sim;
mod table;
mod terminal;
mod verify;
mod words;

use std::process::ExitCode;

use clap::FromArgMatches as _;

use args::{Cli, Color, Format, Global, Task};
use config::Problems;
use running::{commands, list};
use terminal::{Style, Styled};

/// How a command ended; the numbers are a contract with the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// It came to its end.
    Done,
    /// Something went wrong.
    Error,
    /// What was typed or configured is wrong.
    Usage,
    /// Every seed failed, or too many pages.
    Failed,
    /// A limit was reached.
    Limit,
    /// The disk is full.
    DiskFull,
    /// Verify found damage.
    Damage,
    /// Stopped by a signal, with 128 added to its number.
    Signal(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Error => 1,
            Exit::Usage => 2,
            Exit::Failed => 3,
            Exit::Limit => 4,
            Exit::DiskFull => 5,
            Exit::Damage => 6,
            Exit::Signal(code) => code,
        })
    }
}

fn main() -> ExitCode {
    terminal::tell_panics_safely();
    let colours = command::help_colours(std::env::args_os());
    let matches = command::command().color(colours).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    listen(&cli.global);
    let outcome = match &cli.command {
        task if cli.global.format == Format::Csv && !task.prints_csv() => Err(no_csv()),
        Task::Crawl(args) => crawl::run(args, &cli.global),
        Task::Demo(args) => demo::run(args, &cli.global),
        Task::Fetch(args) => fetch::run(args, &cli.global),
        Task::Verify(args) => verify::run(args, &cli.global),
        Task::Report(args) => report_command::run(args, &cli.global),
        Task::Export(args) => export::run(args, &cli.global),
        Task::Cat(args) => cat::run(args, &cli.global),
        Task::Init(args) => settings::init(args),
        Task::Config(args) => settings::show(args, &cli.global),
        Task::Explain(args) => explain::run(args, &cli.global),
        Task::Ls(args) => list::run(args, &cli.global),
        Task::Pause(args) => commands::pause(args, &cli.global),
        Task::Resume(args) => commands::resume(args, &cli.global),
        Task::Stop(args) => commands::stop(args, &cli.global),
        Task::Set(args) => commands::set(args, &cli.global),
        Task::Add(args) => commands::add(args, &cli.global),
        Task::Refresh(args) => refresh::run(args, &cli.global),
        Task::Papers(args) => papers::run(args, &cli.global),
        Task::Serve(args) => serve::run(args, &cli.global),
        Task::Schema => settings::schema(),
        Task::Bench(args) => bench::run(args, &cli.global),
        Task::Sim(args) => sim::run(args, &cli.global),
        Task::Completions(args) => manual::complete(args),
        Task::Man(args) => manual::explain(args),
        Task::ServeTestweb(args) => bench::serve(args),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(error) => complain(&error, &cli.global).into(),
    }
}

/// Said before anything is begun: most commands have nothing that is a table.
fn no_csv() -> anyhow::Error {
    let what = "--format csv: this command prints no table; choose human, json or jsonl";
    Problems::one(what).into()
}

/// Tells what went wrong, all of it.
fn complain(error: &anyhow::Error, global: &Global) -> Exit {
    let complaint = |words: &str| {
        let mut text = Styled::new(has_colours(global));
        text.push_in(Style::Alarm, "error:");
        text.push(" ");
        text.push(words);
        terminal::print_err_styled(&text);
    };
    if let Some(problems) = error.downcast_ref::<Problems>() {
        for problem in problems.iter() {
            complaint(problem);
        }
        return Exit::Usage;
    }
    complaint(&format!("{error:#}"));
    Exit::Error
}

fn has_colours(global: &Global) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal::is_stderr_terminal() && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// Sends what the crates below have to say to standard error.
fn listen(global: &Global) {
    let level = match (global.quiet, global.verbose) {
        (true, _) => tracing::Level::ERROR,
        (_, 0) => tracing::Level::WARN,
        (_, 1) => tracing::Level::INFO,
        _ => tracing::Level::DEBUG,
    };
    tracing_subscriber::fmt()
        .with_writer(terminal::LogEvents)
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .init();
}
