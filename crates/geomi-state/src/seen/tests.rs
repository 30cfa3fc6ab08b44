//! The seen test over bases in memory.

use proptest::prelude::*;

use super::conformance::{LogOwner, Place, Step, TINY, hash, run_all};
use super::*;

struct InMemory(MemoryBases);

impl Place for InMemory {
    fn fresh() -> Self {
        Self(MemoryBases::new())
    }

    fn open(&self) -> Arc<dyn BaseStore> {
        Arc::new(self.0.clone())
    }
}

/// The same, and merges are done as late as possible.
struct Late(MemoryBases);

impl Place for Late {
    fn fresh() -> Self {
        Self(MemoryBases::late())
    }

    fn open(&self) -> Arc<dyn BaseStore> {
        Arc::new(self.0.clone())
    }
}

#[test]
fn memory_conforms() {
    run_all::<InMemory>();
    run_all::<Late>();
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offers = prop::collection::vec(0u64..3_000, 1..200).prop_map(Step::Offer);
    let step = prop_oneof![
        6 => offers,
        5 => Just(Step::Commit),
        1 => Just(Step::CommitAndCrash),
        1 => Just(Step::MergeAndCrash),
        1 => Just(Step::CrashWhileWriting),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..60)
}

fn run<P: Place>(steps: &[Step], memory: usize, bases: fn(&P) -> &MemoryBases) {
    let mut owner = LogOwner::<P>::new(memory);
    for step in steps {
        owner.take(step.clone());
        let generations = bases(&owner.place).generations();
        assert!(generations.len() <= 2, "a base and the next one");
    }
    owner.crash();
    owner.check();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_place_is_found_from_any_guess(
        mut sorted in prop::collection::vec(0u64..200, 0..60),
        hash in 0u64..210,
        guess in 0usize..70,
    ) {
        sorted.sort_unstable();
        let expected = sorted.partition_point(|one| *one <= hash);
        prop_assert_eq!(super::base::count_up_to(&sorted, hash, guess), expected);
    }

    #[test]
    fn it_answers_as_a_set_does_whatever_crashes(
        steps in steps(),
        memory in prop_oneof![Just(TINY), Just(1 << 20)],
    ) {
        run::<InMemory>(&steps, memory, |place| &place.0);
        run::<Late>(&steps, memory, |place| &place.0);
    }
}

#[test]
fn past_the_budget_it_reads_blocks_within_the_budget() {
    let mut owner = LogOwner::<InMemory>::new(64 << 10);
    for n in 0..100_000 {
        owner.offer(hash(n));
        if n % 500 == 0 {
            owner.commit();
            owner.after_commit();
            // Small allocations of the tables count little here.
            assert!(owner.seen.memory_bytes() < 80 << 10, "{n}");
        }
    }
    assert!(!owner.seen.base.is_in_memory());
    owner.commit();
    owner.crash();
    owner.check();
    assert!((100_000..110_000).all(|n| !owner.contains(hash(n))));
}

#[test]
fn while_all_fits_it_stays_in_memory_and_reads_back_from_one_base() {
    let mut owner = LogOwner::<InMemory>::new(64 << 20);
    for n in 0..600_000 {
        owner.insert(hash(n));
        if n % 10_000 == 0 {
            owner.commit();
            owner.after_commit();
        }
    }
    owner.finish_merge();
    owner.commit();
    owner.after_commit();
    assert!(owner.seen.base.is_in_memory() && owner.seen.base.len() > 250_000);
    assert!(
        owner.log.len() < 40,
        "the log is short: {}",
        owner.log.len()
    );
    owner.crash();
    owner.check();
}

#[test]
fn the_extremes_are_hashes_like_others() {
    let mut owner = LogOwner::<InMemory>::new(TINY);
    for special in [0, u64::MAX, 1] {
        owner.offer(special);
        assert!(owner.contains(special));
    }
    for n in 0..500 {
        owner.offer(hash(n));
        owner.commit();
        owner.finish_merge();
        owner.after_commit();
    }
    assert!(!owner.seen.base.is_in_memory());
    for special in [0, u64::MAX, 1] {
        owner.offer(special);
    }
    owner.crash();
    owner.check();
}

#[test]
fn a_damaged_base_is_not_believed() {
    let mut owner = LogOwner::<InMemory>::new(TINY);
    for n in 0..200 {
        owner.offer(hash(n));
    }
    owner.commit();
    owner.after_commit();
    owner.finish_merge();
    owner.commit();
    let manifest = owner.manifest.expect("a merge was due");
    let bases = owner.place.0.crash_image();
    let whole = bases.bytes(manifest.generation).unwrap();
    let open = |bytes: &[u8]| {
        bases.set_bytes(manifest.generation, bytes);
        Seen::open(Arc::new(bases.clone()), TINY, Some(manifest))
    };
    assert!(open(&whole).is_ok());
    for at in [3, 800, whole.len() - 1, whole.len() - 9] {
        let mut bent = whole.clone();
        bent[at] ^= 4;
        let refused = open(&bent).unwrap_err();
        assert!(matches!(refused, StateError::Damaged { .. }), "{at}");
    }
    let cut = open(&whole[..whole.len() - 8]).unwrap_err();
    assert!(matches!(cut, StateError::Io { .. }), "{cut}");
}
