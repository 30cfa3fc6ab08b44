//! Every invariant holds under faults.

use std::time::Duration;

use geomi_sim::faults::{run, run_many};

#[test]
fn a_hundred_histories_without_a_violation() {
    match run_many(100) {
        Err(violation) => panic!("{violation:#?}"),
        // One in four is crowded and ends with the crawl.
        Ok(total) => assert!(total.lasted > Duration::from_hours(75 * 7 * 24)),
    }
}

#[test]
fn one_seed_is_one_history() {
    for seed in 1..6 {
        let first = run(seed, true);
        assert_eq!(first, run(seed, true));
        assert_ne!(
            first.map(|story| story.digest),
            run(seed + 1, false).map(|story| story.digest)
        );
    }
}
