//! `geomi refresh`: keeping copies fresh, and its laboratory.

mod chance;
mod change_hours;
mod chart;
mod estimate;
mod estimate_page;
mod explain;
mod extent;
mod gaps;
mod group_table;
mod history_file;
mod html;
mod kinship;
mod limits;
mod mean_rate;
mod out_file;
mod plan;
mod report;
mod report_html;
mod run;
mod schedule_file;
mod simulate;
mod truth;
mod view;

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
    /// Print the schedule of the coming week: day, hour, URLs
    #[command(after_help = plan::AFTER_HELP)]
    Plan(plan::PlanCommand),
    /// Explain a URL: when it is due, why, its rate and the evidence
    #[command(after_help = explain::AFTER_HELP)]
    Explain(explain::ExplainCommand),
    /// Tell how often pages or sites change, or one page, with intervals
    #[command(after_help = estimate::AFTER_HELP)]
    Estimate(estimate::EstimateCommand),
    /// Tell how fresh the copies are, what that costs, and what changed
    #[command(after_help = report::AFTER_HELP)]
    Report(report::ReportCommand),
    /// Run policies side by side on a model web or a recorded history
    #[command(after_help = simulate::AFTER_HELP)]
    Simulate(simulate::SimulateArgs),
}

/// Runs the command.
pub(crate) fn run(args: &RefreshArgs, global: &Global) -> anyhow::Result<Exit> {
    match &args.task {
        RefreshTask::Run(args) => run::run(args, global),
        RefreshTask::Plan(args) => plan::run(args, global),
        RefreshTask::Explain(args) => explain::run(args, global),
        RefreshTask::Estimate(args) => estimate::run(args, global),
        RefreshTask::Report(args) => report::run(args, global),
        RefreshTask::Simulate(args) => simulate::run(args, global),
    }
}
