//! A crawl under faults, with every invariant checked at every step.
//!
//! The frontier, its politeness and the robots rules are the real ones. Around
//! them a model process ([`world`]) does what the crawler does, over model disks
//! ([`disk`]) and a model web ([`web`]), in virtual time. What goes wrong: sites
//! that are slow, die, or answer 503 for a while; names that cannot be looked
//! up; a process that dies between any two durable steps, and a system clock
//! that steps before it is back; mail between partitions that is lost or comes
//! twice. What must hold all the same is watched from the servers' side
//! ([`watch`]) and, at the end, by what is left on disk.
//!
//! The drivers' errors can be made on purpose ([`Mutation`]): an invariant that
//! no error violates would prove nothing.

mod disk;
mod durable;
mod mutation;
mod visit;
mod watch;
mod web;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use mutation::Mutation;
use world::World;

use crate::trials::in_parallel;

/// A history in which every invariant held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Story {
    /// Its seed.
    pub seed: u64,
    /// Steps it took.
    pub steps: u64,
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
pub fn run(seed: u64, mutation: Option<Mutation>, tells_all: bool) -> Result<Story, Violation> {
    let mut world = World::new(seed, mutation, tells_all);
    // The frontier's own invariants are panics.
    let outcome = catch_unwind(AssertUnwindSafe(|| world.run()));
    let outcome = outcome.unwrap_or_else(|panic| Err(message(&*panic)));
    let history = world.take_history();
    match outcome {
        Ok(steps) => Ok(Story {
            seed,
            steps,
            digest: world.digest,
            history: if tells_all { history } else { Vec::new() },
        }),
        Err(what) => Err(Violation {
            seed,
            what,
            history,
        }),
    }
}

/// Runs the histories of the seeds from 1 to `trials`, on every core; the
/// steps they took, or the first that went wrong.
pub fn run_many(trials: u64, mutation: Option<Mutation>) -> Result<u64, Violation> {
    /// Few enough that a violation ends the run soon.
    const AT_ONCE: u64 = 64;
    let mut steps = 0;
    for first in (1..=trials).step_by(AT_ONCE as usize) {
        let count = AT_ONCE.min(trials + 1 - first);
        let stories = in_parallel(count, |at| run(first + at, mutation, false));
        for story in stories {
            steps += story?.steps;
        }
    }
    Ok(steps)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| Some((*panic.downcast_ref::<&str>()?).to_owned()));
    text.unwrap_or_else(|| "an invariant of the frontier".to_owned())
}
