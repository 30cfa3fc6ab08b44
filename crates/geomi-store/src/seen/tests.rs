//! The seen test against a set, with crashes between any two durable steps.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A hash that looks like one.
fn hash(n: u64) -> u64 {
    let n = (n + 1).wrapping_mul(SPREAD);
    (n ^ (n >> 29)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// So little that everything spills: 112 hashes in the young table, 256 in a
/// base that is held in memory.
const TINY: usize = 8 << 10;

/// A caller: its log and manifest are what survives a crash.
struct House {
    folder: TempDir,
    memory: usize,
    seen: Seen,
    log: Vec<(u64, Vec<u64>)>,
    rows: u64,
    manifest: Option<Manifest>,
    fresh: Vec<u64>,
    /// What must be seen after a crash.
    durable: BTreeSet<u64>,
}

impl House {
    fn new(memory: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            seen: Seen::open(folder.path(), memory, None).unwrap(),
            folder,
            memory,
            log: Vec::new(),
            rows: 0,
            manifest: None,
            fresh: Vec::new(),
            durable: BTreeSet::new(),
        }
    }

    /// Offers a hash and compares with the model.
    fn offer(&mut self, hash: u64) {
        let known = self.durable.contains(&hash) || self.fresh.contains(&hash);
        assert_eq!(self.seen.contains(hash).unwrap(), known, "{hash:x}");
        if !known {
            self.seen.insert(hash);
            self.fresh.push(hash);
        }
    }

    /// One commit: the log row, and the manifest of a merge that is done.
    fn commit(&mut self) {
        if let Some(manifest) = self.seen.merged().unwrap() {
            self.log.retain(|(row, _)| *row >= manifest.log_from);
            self.manifest = Some(manifest);
        }
        let fresh = std::mem::take(&mut self.fresh);
        self.durable.extend(&fresh);
        self.log.push((self.rows, fresh));
        self.rows += 1;
    }

    fn after_commit(&mut self) {
        self.seen.adopt().unwrap();
        self.seen.freeze_if_due(self.rows).unwrap();
    }

    /// Ends without a word and opens again.
    fn crash(&mut self) {
        self.fresh.clear();
        let nothing = Seen::open(&self.folder.path().join("elsewhere"), TINY, None).unwrap();
        drop(std::mem::replace(&mut self.seen, nothing));
        std::fs::remove_dir(self.folder.path().join("elsewhere")).unwrap();
        self.seen = Seen::open(self.folder.path(), self.memory, self.manifest).unwrap();
        for (_, row) in &self.log {
            for hash in row {
                self.seen.insert(*hash);
            }
        }
    }

    fn check(&self) {
        assert_eq!(self.seen.len(), self.durable.len() as u64);
        for hash in &self.durable {
            assert!(self.seen.contains(*hash).unwrap(), "{hash:x} was forgotten");
        }
        let files = std::fs::read_dir(self.folder.path()).unwrap().count();
        assert!(files <= 2, "a base and the next one");
    }
}

/// What happens next to a seen test.
#[derive(Clone, Debug)]
enum Turn {
    Offer(Vec<u64>),
    Commit,
    /// A commit and nothing after it.
    CommitAndCrash,
    /// The next base lies there, and its manifest is not committed.
    MergeAndCrash,
    /// A base that was being written.
    CrashWhileWriting,
    Crash,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let offers = prop::collection::vec(0u64..3_000, 1..200).prop_map(Turn::Offer);
    let turn = prop_oneof![
        6 => offers,
        5 => Just(Turn::Commit),
        1 => Just(Turn::CommitAndCrash),
        1 => Just(Turn::MergeAndCrash),
        1 => Just(Turn::CrashWhileWriting),
        1 => Just(Turn::Crash),
    ];
    prop::collection::vec(turn, 1..60)
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
    fn it_answers_as_a_set_does_whatever_crashes(turns in turns(), memory in prop_oneof![Just(TINY), Just(1 << 20)]) {
        let mut house = House::new(memory);
        for turn in turns {
            match turn {
                Turn::Offer(numbers) => numbers.into_iter().for_each(|n| house.offer(hash(n))),
                Turn::Commit => {
                    house.commit();
                    house.after_commit();
                }
                Turn::CommitAndCrash => {
                    house.seen.settle();
                    house.commit();
                    house.crash();
                }
                Turn::MergeAndCrash => {
                    house.seen.settle();
                    house.crash();
                }
                Turn::CrashWhileWriting => {
                    house.crash();
                    let next = house.manifest.map_or(1, |manifest| manifest.generation + 1);
                    let half = base::path(house.folder.path(), next).with_extension("base.tmp");
                    std::fs::write(half, [7; 100]).unwrap();
                    house.crash();
                }
                Turn::Crash => house.crash(),
            }
        }
        house.crash();
        house.check();
    }
}

#[test]
fn past_the_budget_it_goes_on_from_disk_within_the_budget() {
    let mut house = House::new(64 << 10);
    for n in 0..100_000 {
        house.offer(hash(n));
        if n % 500 == 0 {
            house.commit();
            house.after_commit();
            // Small allocations of the tables count little here.
            assert!(house.seen.memory_bytes() < 80 << 10, "{n}");
        }
    }
    assert!(house.seen.base.is_on_disk());
    house.commit();
    house.crash();
    house.check();
    assert!((100_000..110_000).all(|n| !house.seen.contains(hash(n)).unwrap()));
}

#[test]
fn while_all_fits_it_stays_in_memory_and_reads_back_from_one_file() {
    let mut house = House::new(64 << 20);
    for n in 0..600_000 {
        let hash = hash(n);
        house.seen.insert(hash);
        house.fresh.push(hash);
        if n % 10_000 == 0 {
            house.commit();
            house.after_commit();
        }
    }
    house.seen.settle();
    house.commit();
    house.after_commit();
    assert!(!house.seen.base.is_on_disk() && house.seen.base.len() > 250_000);
    assert!(
        house.log.len() < 40,
        "the log is short: {}",
        house.log.len()
    );
    house.crash();
    house.check();
}

#[test]
fn the_extremes_are_hashes_like_others() {
    let mut house = House::new(TINY);
    for special in [0, u64::MAX, 1] {
        house.offer(special);
        assert!(house.seen.contains(special).unwrap());
    }
    for n in 0..500 {
        house.offer(hash(n));
        house.commit();
        house.seen.settle();
        house.after_commit();
    }
    assert!(house.seen.base.is_on_disk());
    for special in [0, u64::MAX, 1] {
        house.offer(special);
    }
    house.crash();
    house.check();
}

#[test]
fn a_damaged_base_is_not_believed() {
    let mut house = House::new(TINY);
    for n in 0..200 {
        house.offer(hash(n));
    }
    house.commit();
    house.after_commit();
    house.seen.settle();
    house.commit();
    let manifest = house.manifest.expect("a merge was due");
    let path = base::path(house.folder.path(), manifest.generation);
    let whole = std::fs::read(&path).unwrap();
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Seen::open(house.folder.path(), TINY, Some(manifest))
    };
    assert!(open(&whole).is_ok());
    for at in [3, 800, whole.len() - 1, whole.len() - 9] {
        let mut bent = whole.clone();
        bent[at] ^= 4;
        let told = open(&bent).unwrap_err().to_string();
        assert!(told.contains("damaged"), "{at}: {told}");
    }
    assert!(open(&whole[..whole.len() - 8]).is_err());
}
