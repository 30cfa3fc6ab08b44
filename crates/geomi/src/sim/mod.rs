//! `geomi sim`: the scheduler in virtual time.
//!
//! Glue and printing; the laboratories themselves are in geomi-sim.

mod args;
mod capacity;
mod faults;
mod order;
mod priority;

pub(crate) use args::SimArgs;
use args::SimTask;

use crate::Exit;
use crate::args::Global;

/// Runs the command.
pub(crate) fn run(args: &SimArgs, global: &Global) -> anyhow::Result<Exit> {
    match &args.task {
        SimTask::Order(args) => order::run(args, global),
        SimTask::Run(args) => faults::run(args, global),
        SimTask::Capacity(args) => capacity::run(args, global),
        SimTask::Priority(args) => priority::run(args, global),
    }
}
