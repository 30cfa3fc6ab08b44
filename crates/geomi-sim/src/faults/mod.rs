//! A crawl under faults, with every invariant checked at every step.
//!
//! The frontier, its politeness, the robots rules and the planner with its
//! policies are the real ones. Around them a model process (`world`) does what
//! the crawler does: it crawls a web to its end (`visit`) and then keeps it fresh
//! for some weeks (`revisit`, `plan`), over model disks (`disk`) and a test web
//! (`web`), in virtual time. What goes wrong (`trouble`): sites that are slow,
//! die, answer 503 for a while, or forbid what they allowed; names that cannot be
//! looked up; a process that dies between any two durable steps (`durable`), and
//! a system clock that steps before it is back; mail between partitions that is
//! lost or comes twice. There is memory for a third of the sites (`turns`), and one history
//! in four is crowded: half of the sites ask for an hour's wait. What must hold all the same is watched from the servers'
//! side (`watch`), by a book-keeper (`ledger`) and, at the end, by what is left
//! on disk.
//!
//! The drivers' errors can be made on purpose ([`Mutation`]): an invariant that
//! no error violates would prove nothing.

mod check;
mod chronicle;
mod disk;
mod durable;
mod ledger;
mod mutation;
mod plan;
mod revisit;
mod robots;
mod row;
mod trouble;
mod turns;
mod visit;
mod watch;
mod web;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

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
pub fn run(seed: u64, mutation: Option<Mutation>, tells_all: bool) -> Result<Story, Violation> {
    let mut world = World::new(seed, mutation, tells_all);
    // The frontier's own invariants are panics.
    let outcome = catch_unwind(AssertUnwindSafe(|| world.run()));
    let outcome = outcome.unwrap_or_else(|panic| Err(message(&*panic)));
    let history = world.chronicle.take();
    match outcome {
        Ok(steps) => Ok(Story {
            seed,
            steps,
            lasted: world.lasted(),
            digest: world.chronicle.digest,
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
pub fn run_many(trials: u64, mutation: Option<Mutation>) -> Result<Total, Violation> {
    /// Few enough that a violation ends the run soon.
    const AT_ONCE: u64 = 16;
    let mut total = Total::default();
    for first in (1..=trials).step_by(AT_ONCE as usize) {
        let count = AT_ONCE.min(trials + 1 - first);
        let stories = in_parallel(count, |at| run(first + at, mutation, false));
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
