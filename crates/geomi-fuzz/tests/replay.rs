//! The corpora, and a bounded number of mutations of them, on every run of the tests.

use geomi_fuzz::{Mutator, TARGETS, corpus};

/// Mutations of each target: a few seconds in all.
const MUTATIONS: usize = 500;

#[test]
fn corpora_and_their_mutations_break_nothing() {
    for target in TARGETS {
        let inputs = corpus(target.name).expect("every target has a corpus");
        assert!(!inputs.is_empty(), "{} has an empty corpus", target.name);
        for input in &inputs {
            (target.run)(input);
        }
        let mut mutator = Mutator::new(inputs, target.words, 2026);
        for _ in 0..MUTATIONS {
            (target.run)(&mutator.input());
        }
    }
}
