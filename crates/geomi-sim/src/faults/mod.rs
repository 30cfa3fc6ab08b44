//! A crawl under faults, with every invariant checked at every step.
//!
//! The engines are the real ones (`geomi-engine`), each with the real frontier, robots
//! rules, seen test, state and refresh plan. What hosts them is a model that does what
//! the worker of `geomi-crawler` does: a history ([`history`]) with one to four workers
//! ([`worker`]), their archive files ([`archive`]), their mail ([`post`]) and model disks
//! ([`place`]), over a test web ([`web`], [`network`]), in virtual time. It crawls the web
//! to its end and then keeps it fresh for some weeks.
//!
//! What goes wrong: sites that are slow, die, answer 503 for a while, or forbid what they
//! allowed ([`trouble`]); names that cannot be looked up; a process that dies between any
//! two durable steps, and a clock that steps before it is back; commits that are durable
//! late or never; mail that is lost, doubled and delayed; partitions that move, are lost
//! with their worker, or are taken from one that sleeps ([`handover`]).
//!
//! What must hold all the same is watched from the servers' side ([`watch`]) and by
//! book-keepers that know nothing of the engine ([`ledger`], [`upkeep`], [`check`]).
//!
//! That each invariant can be violated is shown by errors made in the engine itself:
//! `scripts/mutants`.

mod archive;
mod check;
mod chronicle;
mod handover;
mod history;
mod ledger;
mod network;
mod place;
mod post;
mod trouble;
mod upkeep;
mod watch;
mod web;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use history::History;

use crate::trials::in_parallel;

/// A history in which every invariant held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// Its seed.
    pub seed: u64,
    /// Steps it took.
    pub steps: u64,
    /// How long it was, in virtual time.
    pub lasted: Duration,
    /// A digest of all that happened: one seed, one history.
    pub digest: u64,
    /// What happened, where it was asked for.
    pub history: Vec<String>,
}

/// A history in which an invariant was violated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// Its seed: the same again is the same history.
    pub seed: u64,
    /// The invariant.
    pub what: String,
    /// What happened last.
    pub history: Vec<String>,
}

/// Runs the history of a seed. `tells_all` keeps all of it, not only its end.
pub fn run(seed: u64, tells_all: bool) -> Result<Story, Violation> {
    let mut run = History::new(seed, tells_all);
    // The frontier's own invariants are panics.
    let outcome = catch_unwind(AssertUnwindSafe(|| run.run()));
    let outcome = outcome.unwrap_or_else(|panic| Err(message(&*panic)));
    let history = run.chronicle.take();
    match outcome {
        Ok(steps) => Ok(Story {
            seed,
            steps,
            lasted: run.lasted(),
            digest: run.chronicle.digest,
            history: if tells_all { history } else { Vec::new() },
        }),
        Err(what) => Err(Violation {
            seed,
            what,
            history,
        }),
    }
}

/// Histories in which every invariant held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Total {
    /// Steps they took.
    pub steps: u64,
    /// How long they were, in virtual time.
    pub lasted: Duration,
}

/// Runs the histories of the seeds from 1 to `trials`, on every core; what they
/// come to, or the first that went wrong.
pub fn run_many(trials: u64) -> Result<Total, Violation> {
    /// Few enough that a violation ends the run soon.
    const AT_ONCE: u64 = 16;
    let mut total = Total::default();
    for first in (1..=trials).step_by(AT_ONCE as usize) {
        let count = AT_ONCE.min(trials + 1 - first);
        let stories = in_parallel(count, |at| run(first + at, false));
        for story in stories {
            let story = story?;
            total.steps += story.steps;
            total.lasted += story.lasted;
        }
    }
    Ok(total)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned()));
    text.unwrap_or_else(|| "an invariant of the frontier".to_owned())
}
