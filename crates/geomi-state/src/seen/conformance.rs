//! What every [`BaseStore`] must do, as a suite any store can run, and the seen
//! test over it compared with a set, with crashes between any two durable steps.
//!
//! Implement [`Place`] for the store and call [`run_all`] from a test. A failure is
//! a panic that names the promise that was broken.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{BaseStore, Manifest, Seen};
use crate::conformance::Random;

/// Somewhere a store keeps its bases, outliving the handles opened on it.
pub trait Place {
    /// A new, empty place.
    fn fresh() -> Self;

    /// Opens the store of this place; called again after a crash.
    fn open(&self) -> Arc<dyn BaseStore>;
}

/// So little memory that everything spills: 112 hashes in the young table, 256 in
/// a base that is held in memory.
pub(super) const TINY: usize = 8 << 10;

/// Runs the whole suite.
pub fn run_all<P: Place>() {
    reads_back_what_was_written::<P>();
    an_unfinished_base_is_not_there::<P>();
    a_base_can_be_written_again::<P>();
    all_but_one_are_removed::<P>();
    a_job_has_run_when_it_was_waited_for::<P>();
    for seed in 1..=8 {
        answers_as_a_set_does::<P>(seed);
    }
}

fn write(store: &dyn BaseStore, generation: u64, bytes: &[u8]) {
    let mut writer = store.create(generation).expect("a base can be created");
    for part in bytes.chunks(1000) {
        writer.write_all(part).expect("a base can be written");
    }
    writer.finish().expect("a base can be finished");
}

fn read(store: &dyn BaseStore, generation: u64) -> Option<Vec<u8>> {
    let mut found = store.read(generation).ok()?;
    let mut bytes = Vec::new();
    std::io::copy(&mut found, &mut bytes).expect("a base can be read");
    Some(bytes)
}

fn sample(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 % 251) as u8).collect()
}

fn reads_back_what_was_written<P: Place>() {
    let place = P::fresh();
    let bytes = sample(100_000);
    write(&*place.open(), 1, &bytes);
    let store = place.open();
    assert_eq!(read(&*store, 1).as_deref(), Some(bytes.as_slice()));
    let reader = store.open(1).expect("the base is there");
    for (offset, len) in [(0, 1), (7, 4096), (99_000, 1000), (100_000, 0)] {
        let mut block = vec![0; len];
        let read = reader.read_at(&mut block, offset as u64);
        read.expect("the block is there");
        assert_eq!(block, bytes[offset..offset + len], "at {offset}");
    }
    for offset in [99_999, 100_000, u64::MAX - 1] {
        let past = reader.read_at(&mut [0; 2], offset);
        assert!(past.is_err(), "a block past the end at {offset}");
    }
}

fn an_unfinished_base_is_not_there<P: Place>() {
    let place = P::fresh();
    let store = place.open();
    let mut writer = store.create(1).expect("a base can be created");
    writer
        .write_all(&sample(200_000))
        .expect("it can be written");
    assert!(store.open(1).is_err() && read(&*store, 1).is_none());
    drop(writer);
    assert!(store.open(1).is_err() && read(&*store, 1).is_none());
    assert!(place.open().open(1).is_err(), "nor for another handle");
}

fn a_base_can_be_written_again<P: Place>() {
    let place = P::fresh();
    let store = place.open();
    write(&*store, 3, &sample(5000));
    let mut writer = store.create(3).expect("a base that exists is replaced");
    writer.write_all(b"shorter").expect("it can be written");
    assert_eq!(read(&*store, 3), Some(sample(5000)), "until it is finished");
    writer.finish().expect("it can be finished");
    assert_eq!(read(&*store, 3).as_deref(), Some(b"shorter".as_slice()));
}

fn all_but_one_are_removed<P: Place>() {
    let place = P::fresh();
    let store = place.open();
    for generation in [1, 2, 30] {
        write(&*store, generation, &sample(10));
    }
    leave_unfinished(&*store, 31);
    store.remove_others(Some(2)).expect("bases can be removed");
    let left = |generation| read(&*store, generation).is_some();
    assert_eq!([1, 2, 30, 31].map(left), [false, true, false, false]);
    store.remove_others(None).expect("bases can be removed");
    assert!(!left(2));
}

/// A crash while a base is being written: its writer ends without being dropped.
fn leave_unfinished(store: &dyn BaseStore, generation: u64) {
    let mut writer = store.create(generation).expect("a base can be created");
    writer
        .write_all(&sample(200_000))
        .expect("it can be written");
    std::mem::forget(writer);
}

fn a_job_has_run_when_it_was_waited_for<P: Place>() {
    let place = P::fresh();
    let store = place.open();
    let has_run = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&has_run);
    let task = store.spawn(Box::new(move || flag.store(true, Ordering::Relaxed)));
    let task = task.expect("a job can be spawned");
    if task.is_done() {
        assert!(has_run.load(Ordering::Relaxed), "a job is done once it ran");
    }
    task.wait();
    assert!(has_run.load(Ordering::Relaxed));
}

/// A URL's hash, evenly spread.
pub(super) fn hash(number: u64) -> u64 {
    let spread = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread ^ (spread >> 29)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// What happens next to a seen test.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Offer(Vec<u64>),
    Commit,
    /// A commit and nothing after it.
    CommitAndCrash,
    /// The next base is complete, and its manifest is not committed.
    MergeAndCrash,
    /// The next base is being written.
    CrashWhileWriting,
    Crash,
}

fn answers_as_a_set_does<P: Place>(seed: u64) {
    let mut random = Random(seed);
    let memory = [TINY, 1 << 20][(seed % 2) as usize];
    let mut owner = LogOwner::<P>::new(memory);
    for _ in 0..60 {
        let step = match random.below(16) {
            0..7 => {
                let len = 1 + random.below(200);
                Step::Offer((0..len).map(|_| random.below(3000)).collect())
            }
            7..12 => Step::Commit,
            12 => Step::CommitAndCrash,
            13 => Step::MergeAndCrash,
            14 => Step::CrashWhileWriting,
            _ => Step::Crash,
        };
        owner.take(step);
    }
    owner.crash();
    owner.check();
}

/// The caller of a seen test: its log and manifest survive a crash.
pub(super) struct LogOwner<P> {
    pub(super) place: P,
    memory: usize,
    pub(super) seen: Seen,
    pub(super) log: Vec<(u64, Vec<u64>)>,
    rows: u64,
    pub(super) manifest: Option<Manifest>,
    fresh: Vec<u64>,
    /// What must be seen after a crash.
    durable: BTreeSet<u64>,
}

impl<P: Place> LogOwner<P> {
    pub(super) fn new(memory: usize) -> Self {
        let place = P::fresh();
        Self {
            seen: Seen::open(place.open(), memory, None).expect("it opens"),
            place,
            memory,
            log: Vec::new(),
            rows: 0,
            manifest: None,
            fresh: Vec::new(),
            durable: BTreeSet::new(),
        }
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        self.seen.contains(hash).expect("a base can be read")
    }

    /// Offers a hash and compares the answer with the set.
    pub(super) fn offer(&mut self, hash: u64) {
        let known = self.durable.contains(&hash) || self.fresh.contains(&hash);
        assert_eq!(self.contains(hash), known, "{hash:x}");
        if !known {
            self.insert(hash);
        }
    }

    /// Inserts a hash that is new.
    pub(super) fn insert(&mut self, hash: u64) {
        self.seen.insert(hash);
        self.fresh.push(hash);
    }

    /// One commit: the log row, and the manifest of a merge that is done.
    pub(super) fn commit(&mut self) {
        if let Some(manifest) = self.seen.merged().expect("the merge succeeds") {
            self.log.retain(|(row, _)| *row >= manifest.log_from);
            self.manifest = Some(manifest);
        }
        let fresh = std::mem::take(&mut self.fresh);
        self.durable.extend(&fresh);
        self.log.push((self.rows, fresh));
        self.rows += 1;
    }

    pub(super) fn after_commit(&mut self) {
        self.seen.adopt().expect("the old base can be removed");
        let begun = self.seen.freeze_if_due(self.rows);
        begun.expect("a merge can be started");
    }

    /// Waits until a merge under way is done.
    pub(super) fn finish_merge(&mut self) {
        let merged = self.seen.merge_result(true);
        merged.expect("the merge succeeds");
    }

    /// Drops the seen test without warning and opens it again.
    pub(super) fn crash(&mut self) {
        self.fresh.clear();
        let nothing = Seen::open(Arc::new(super::MemoryBases::new()), TINY, None);
        self.seen = nothing.expect("it opens");
        let opened = Seen::open(self.place.open(), self.memory, self.manifest);
        self.seen = opened.expect("it opens");
        for (_, row) in &self.log {
            for hash in row {
                self.seen.insert(*hash);
            }
        }
    }

    pub(super) fn take(&mut self, step: Step) {
        match step {
            Step::Offer(numbers) => numbers.into_iter().for_each(|n| self.offer(hash(n))),
            Step::Commit => {
                self.commit();
                self.after_commit();
            }
            Step::CommitAndCrash => {
                self.finish_merge();
                self.commit();
                self.crash();
            }
            Step::MergeAndCrash => {
                self.finish_merge();
                self.crash();
            }
            Step::CrashWhileWriting => {
                self.crash();
                let next = self.manifest.map_or(1, |manifest| manifest.generation + 1);
                leave_unfinished(&*self.place.open(), next);
                self.crash();
            }
            Step::Crash => self.crash(),
        }
    }

    pub(super) fn check(&self) {
        assert_eq!(self.seen.len(), self.durable.len() as u64);
        for hash in &self.durable {
            assert!(self.contains(*hash), "{hash:x} was forgotten");
        }
    }
}
