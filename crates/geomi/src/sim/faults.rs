//! `geomi sim run`: the engines under faults.

use geomi_sim::faults::{self, Violation};
use serde_json::json;

use super::args::RunArgs;
use crate::Exit;
use crate::args::{Format, Global};
use crate::terminal::print;
use crate::words;

pub(super) fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Exit> {
    let outcome = match args.seed {
        Some(seed) => faults::run(seed, true).map(|story| {
            let human = format!(
                "{}\n\nseed {seed}: every invariant held, {} steps in {:.1} virtual days",
                story.history.join("\n"),
                words::count(story.steps),
                days(story.lasted)
            );
            let digest = format!("{:016x}", story.digest);
            (
                human,
                json!({
                    "ok": true,
                    "seed": seed,
                    "steps": story.steps,
                    "days": days(story.lasted),
                    "digest": digest,
                }),
            )
        }),
        None => faults::run_many(args.trials).map(|total| {
            let (trials, days) = (args.trials, days(total.lasted));
            let human = format!(
                "{}: every invariant held, {} steps in {} virtual days",
                words::plural(trials, "trial"),
                words::count(total.steps),
                words::count(days as u64)
            );
            let json = json!({"ok": true, "trials": trials, "steps": total.steps, "days": days});
            (human, json)
        }),
    };
    let (exit, (human, json)) = match outcome {
        Ok(told) => (Exit::Done, told),
        Err(violation) => (Exit::Error, tell(&violation)),
    };
    print(&match global.format {
        Format::Human => human,
        Format::Json => serde_json::to_string_pretty(&json)?,
        Format::Jsonl => json.to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(exit)
}

fn days(span: std::time::Duration) -> f64 {
    span.as_secs_f64() / 86_400.0
}

fn tell(violation: &Violation) -> (String, serde_json::Value) {
    let replay = format!("geomi sim run --seed {}", violation.seed);
    let human = format!(
        "{}\n\nviolated: {}\nseed {}; replay with: {replay}",
        violation.history.join("\n"),
        violation.what,
        violation.seed
    );
    let json = json!({
        "ok": false,
        "seed": violation.seed,
        "violated": violation.what,
        "replay": replay,
        "history": violation.history,
    });
    (human, json)
}
