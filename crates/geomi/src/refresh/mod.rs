//! `geomi refresh`: keeping copies fresh, and its laboratory.

mod html;
mod run;
mod simulate;

use clap::{Args, Subcommand};

use crate::Exit;
use crate::args::Global;

/// Arguments of `geomi refresh`.
#[derive(Debug, Args)]
pub(crate) struct RefreshArgs {
    /// What to do.
    #[command(subcommand)]
    task: RefreshTask,
}

/// What `geomi refresh` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum RefreshTask {
    /// Keep a crawl fresh: visit its pages again when they are due
    #[command(after_help = run::AFTER_HELP)]
    Run(run::RunArgs),
    /// Run policies side by side on a model web or a recorded history
    #[command(after_help = simulate::AFTER_HELP)]
    Simulate(simulate::SimulateArgs),
}

/// Runs the command.
pub(crate) fn run(args: &RefreshArgs, global: &Global) -> anyhow::Result<Exit> {
    match &args.task {
        RefreshTask::Run(args) => run::run(args, global),
        RefreshTask::Simulate(args) => simulate::run(args, global),
    }
}
