//! `geomi-fuzz TARGET|all [--seconds N] [--seed N]`: mutates until the time is up.
//!
//! An input that breaks an invariant, or takes longer than a page may, is written
//! to `TARGET-SEED-COUNT.bin` in the current directory, and the run ends with 1.

use std::panic;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use geomi_fuzz::{Mutator, TARGETS, Target, corpus};

/// One input of 64 KiB may not take longer, on a machine that does other things.
const INPUT_TIME_MAX: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        let given = at.and_then(|at| arguments.get(at + 1));
        given.map_or(Some(default), |given| given.parse().ok())
    };
    let chosen: Vec<&Target> = TARGETS
        .iter()
        .filter(|target| {
            arguments
                .first()
                .is_some_and(|name| name == target.name || name == "all")
        })
        .collect();
    let (Some(seconds), Some(seed), false) = (
        value("--seconds", 60),
        value("--seed", 1),
        chosen.is_empty(),
    ) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("usage: geomi-fuzz TARGET|all [--seconds N] [--seed N]");
        eprintln!("targets: {}", names.join(", "));
        return ExitCode::from(2);
    };
    for target in chosen {
        if let Err(problem) = run(target, Duration::from_secs(seconds), seed) {
            eprintln!("{}: {problem}", target.name);
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Whether a target takes an input without a panic, and how long that lasts.
fn timed(target: &Target, input: &[u8]) -> (bool, Duration) {
    let began = now();
    let outcome = panic::catch_unwind(|| (target.run)(input));
    (outcome.is_ok(), began.elapsed())
}

/// Runs one target; what went wrong, if something did.
fn run(target: &Target, time: Duration, seed: u64) -> Result<(), String> {
    let inputs = corpus(target.name).map_err(|error| format!("its corpus: {error}"))?;
    let mut mutator = Mutator::new(inputs, target.words, seed);
    let started = now();
    let mut count = 0_u64;
    let mut slowest = Duration::ZERO;
    while started.elapsed() < time {
        count += 1;
        let input = mutator.input();
        let (mut is_sound, mut took) = timed(target, &input);
        if is_sound && took > INPUT_TIME_MAX {
            // Somebody else may have had the processor meanwhile.
            let (is_sound_again, took_again) = timed(target, &input);
            (is_sound, took) = (is_sound_again, took.min(took_again));
        }
        slowest = slowest.max(took);
        if !is_sound || took > INPUT_TIME_MAX {
            let name = format!("{}-{seed}-{count}.bin", target.name);
            std::fs::write(&name, &input).map_err(|error| format!("{name}: {error}"))?;
            return Err(format!("input {count} broke it after {took:?}: see {name}"));
        }
    }
    eprintln!("{}: {count} inputs, slowest {slowest:?}", target.name);
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a run is bounded by the wall clock"
)]
fn now() -> Instant {
    Instant::now()
}
