//! Every invariant holds under faults, and every deliberate error is caught.

use std::time::Duration;

use geomi_sim::faults::{Mutation, run, run_many};

#[test]
fn a_hundred_histories_without_a_violation() {
    match run_many(100, None) {
        Err(violation) => panic!("{violation:#?}"),
        // One in four is crowded and ends with the crawl.
        Ok(total) => assert!(total.lasted > Duration::from_hours(75 * 7 * 24)),
    }
}

#[test]
fn every_mutation_is_caught() {
    for mutation in Mutation::ALL {
        let caught = run_many(64, Some(mutation));
        assert!(caught.is_err(), "{} went unnoticed", mutation.as_str());
        assert_eq!(Mutation::from_name(mutation.as_str()), Some(mutation));
    }
}

#[test]
fn one_seed_is_one_history() {
    for seed in 1..6 {
        let first = run(seed, None, true);
        assert_eq!(first, run(seed, None, true));
        assert_ne!(
            first.map(|story| story.digest),
            run(seed + 1, None, false).map(|story| story.digest)
        );
    }
    let broken = || run(1, Some(Mutation::SettleDropped), false);
    assert_eq!(broken(), broken(), "a violation replays");
}
