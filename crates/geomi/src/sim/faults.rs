//! `geomi sim run`: the scheduler under faults.

use geomi_sim::faults::{self, Mutation, Violation};
use serde_json::json;

use super::args::RunArgs;
use crate::Exit;
use crate::args::{Format, Global};
use crate::config::Problems;
use crate::terminal::print;
use crate::words;

pub(super) fn run(args: &RunArgs, global: &Global) -> anyhow::Result<Exit> {
    let mutation = args.mutate.as_deref().map(read).transpose()?;
    let outcome = match args.seed {
        Some(seed) => faults::run(seed, mutation, true).map(|story| {
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
        None => faults::run_many(args.trials, mutation).map(|total| {
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
        Err(violation) => (Exit::Error, tell(&violation, mutation)),
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

fn read(name: &str) -> anyhow::Result<Mutation> {
    Mutation::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Mutation::ALL.into_iter().map(Mutation::as_str).collect();
        let what = format!(
            "--mutate: there is no {name:?}; choose from {}",
            known.join(", ")
        );
        Problems::one(what).into()
    })
}

fn tell(violation: &Violation, mutation: Option<Mutation>) -> (String, serde_json::Value) {
    let mutate = mutation.map_or_else(String::new, |name| format!(" --mutate {}", name.as_str()));
    let replay = format!("geomi sim run --seed {}{mutate}", violation.seed);
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
