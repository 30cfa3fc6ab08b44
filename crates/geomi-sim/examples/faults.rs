//! Runs histories of the simulation: `faults --trials N` or `faults --seed N [--tell]`.

#![expect(clippy::print_stdout, reason = "a program of the command line")]

use std::process::ExitCode;

use geomi_sim::faults;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| {
        let at = args.iter().position(|arg| arg == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let outcome = match value("--seed") {
        Some(seed) => faults::run(seed, true).map(|story| {
            if args.iter().any(|arg| arg == "--tell") {
                println!("{}", story.history.join("\n"));
            }
            format!(
                "seed {seed}: {} steps, digest {:016x}",
                story.steps, story.digest
            )
        }),
        None => faults::run_many(value("--trials").unwrap_or(100)).map(|total| {
            let days = total.lasted.as_secs() / 86_400;
            format!("{} steps in {days} virtual days", total.steps)
        }),
    };
    match outcome {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(violation) => {
            println!("{}", violation.history.join("\n"));
            println!("violated: {}\nseed {}", violation.what, violation.seed);
            ExitCode::FAILURE
        }
    }
}
