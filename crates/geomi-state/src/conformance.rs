//! What every [`StateStore`] must do, as a suite any store can run.
//!
//! Implement [`Place`] for the store and call [`run_all`] from a test. A
//! failure is a panic that names the promise that was broken.

use std::collections::BTreeMap;

use crate::{Batch, KEY_BYTES_MAX, Scan, StateError, StateStore};

/// Somewhere a store keeps its data, outliving the handles opened on it.
pub trait Place {
    /// The store.
    type Store: StateStore;

    /// A new, empty place.
    fn fresh() -> Self;

    /// Opens what is there; called again after the last handle was dropped.
    fn open(&mut self) -> Result<Self::Store, StateError>;
}

/// Runs the whole suite.
pub fn run_all<P: Place>() {
    reads_what_was_put::<P>();
    last_operation_on_a_key_wins::<P>();
    scans_in_order_within_bounds::<P>();
    scan_stops_when_told::<P>();
    takes_the_longest_key_and_an_empty_value::<P>();
    empty_batch_changes_nothing::<P>();
    committed_data_outlives_the_handle::<P>();
    second_handle_is_refused::<P>();
    for seed in 1..=8 {
        behaves_as_a_map::<P>(seed);
    }
}

fn open<P: Place>(place: &mut P) -> P::Store {
    place.open().expect("the place opens")
}

fn commit(store: &mut impl StateStore, fill: impl FnOnce(&mut Batch)) {
    let mut batch = Batch::new();
    fill(&mut batch);
    let before = store.durable();
    let number = store.commit(&batch).expect("the commit is acknowledged");
    assert!(number > before, "commits are numbered upwards");
    assert!(
        store.durable() <= number,
        "what is durable was committed before"
    );
}

fn get(store: &impl StateStore, key: &[u8]) -> Option<Vec<u8>> {
    store.get(key).expect("the key can be read")
}

fn scan(store: &impl StateStore, from: &[u8], to: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    store
        .scan(from, to, &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Scan::Continue
        })
        .expect("the range can be scanned");
    found
}

fn keys(store: &impl StateStore, from: &[u8], to: &[u8]) -> Vec<Vec<u8>> {
    let entries = scan(store, from, to);
    entries.into_iter().map(|(key, _)| key).collect()
}

fn reads_what_was_put<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    commit(&mut store, |batch| batch.put(b"a", b"1"));
    assert_eq!(get(&store, b"a").as_deref(), Some(b"1".as_slice()));
    assert_eq!(get(&store, b"b"), None, "a key never put has no value");
    commit(&mut store, |batch| batch.put(b"a", b"2"));
    assert_eq!(get(&store, b"a").as_deref(), Some(b"2".as_slice()));
    commit(&mut store, |batch| batch.delete(b"a"));
    assert_eq!(get(&store, b"a"), None, "a deleted key has no value");
    commit(&mut store, |batch| batch.delete(b"never put"));
}

fn last_operation_on_a_key_wins<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    commit(&mut store, |batch| {
        batch.put(b"put twice", b"1");
        batch.put(b"put twice", b"2");
        batch.put(b"put then deleted", b"1");
        batch.delete(b"put then deleted");
        batch.delete(b"deleted then put");
        batch.put(b"deleted then put", b"1");
    });
    let check = |store: &P::Store| {
        assert_eq!(get(store, b"put twice").as_deref(), Some(b"2".as_slice()));
        assert_eq!(get(store, b"put then deleted"), None);
        let put = get(store, b"deleted then put");
        assert_eq!(put.as_deref(), Some(b"1".as_slice()));
        assert_eq!(keys(store, b"a", b"z").len(), 2);
    };
    check(&store);
    drop(store);
    check(&open(&mut place));
}

fn scans_in_order_within_bounds<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    commit(&mut store, |batch| {
        for key in [b"c".as_slice(), b"a", b"b\0", b"b", b"\xff"] {
            batch.put(key, b"x");
        }
    });
    assert_eq!(
        keys(&store, b"a", b"c"),
        [b"a".to_vec(), b"b".to_vec(), b"b\0".to_vec()],
        "the start is included, the end is not, and the order is that of bytes"
    );
    assert_eq!(keys(&store, b"b\0", b"\xff").len(), 2);
    assert!(keys(&store, b"b", b"b").is_empty(), "an empty range");
    assert!(keys(&store, b"c", b"a").is_empty(), "an inverted range");
    assert!(keys(&store, b"d", b"e").is_empty(), "nothing there");
}

fn scan_stops_when_told<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    commit(&mut store, |batch| {
        for key in 0..10_u8 {
            batch.put(&[key + 1], b"x");
        }
    });
    let mut seen = 0;
    store
        .scan(&[1], &[100], &mut |_, _| {
            seen += 1;
            if seen == 3 {
                Scan::Stop
            } else {
                Scan::Continue
            }
        })
        .expect("the range can be scanned");
    assert_eq!(seen, 3, "no entry is visited after Stop");
}

fn takes_the_longest_key_and_an_empty_value<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    let longest = vec![7; KEY_BYTES_MAX];
    let large = vec![9; 1 << 20];
    commit(&mut store, |batch| {
        batch.put(&longest, b"");
        batch.put(b"large", &large);
    });
    assert_eq!(get(&store, &longest), Some(Vec::new()));
    drop(store);
    let store = open(&mut place);
    assert_eq!(get(&store, &longest), Some(Vec::new()));
    assert_eq!(get(&store, b"large"), Some(large));
}

fn empty_batch_changes_nothing<P: Place>() {
    let mut place = P::fresh();
    let mut store = open(&mut place);
    commit(&mut store, |batch| batch.put(b"a", b"1"));
    commit(&mut store, |_| {});
    assert_eq!(keys(&store, b"\0", b"\xff"), [b"a".to_vec()]);
}

fn committed_data_outlives_the_handle<P: Place>() {
    let mut place = P::fresh();
    for round in 0..5_u8 {
        let mut store = open(&mut place);
        assert_eq!(keys(&store, &[1], &[100]).len(), usize::from(round));
        commit(&mut store, |batch| batch.put(&[round + 1], b"x"));
    }
}

fn second_handle_is_refused<P: Place>() {
    let mut place = P::fresh();
    let first = open(&mut place);
    let second = place.open();
    assert!(
        matches!(second, Err(StateError::Locked { .. })),
        "one writer: a second handle is refused as locked"
    );
    drop(first);
    open(&mut place);
}

/// Random batches against a `BTreeMap`, reopened now and then.
fn behaves_as_a_map<P: Place>(seed: u64) {
    let mut random = Random(seed);
    let mut place = P::fresh();
    let mut store = open(&mut place);
    let mut model = BTreeMap::new();
    for _ in 0..60 {
        commit(&mut store, |batch| {
            random_batch(&mut random, batch, &mut model);
        });
        compare(&mut random, &store, &model);
        if random.below(10) == 0 {
            drop(store);
            store = open(&mut place);
        }
    }
    drop(store);
    let store = open(&mut place);
    let all: Vec<_> = model.into_iter().collect();
    assert_eq!(scan(&store, b"\0", b"\xff"), all, "seed {seed}");
}

fn random_batch(random: &mut Random, batch: &mut Batch, model: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    for _ in 0..random.below(40) {
        let key = random.key();
        if random.below(3) == 0 {
            batch.delete(&key);
            model.remove(&key);
        } else {
            let value = vec![random.below(256) as u8; random.below(2000) as usize];
            batch.put(&key, &value);
            model.insert(key, value);
        }
    }
}

fn compare(random: &mut Random, store: &impl StateStore, model: &BTreeMap<Vec<u8>, Vec<u8>>) {
    for _ in 0..10 {
        let key = random.key();
        assert_eq!(get(store, &key).as_ref(), model.get(&key));
    }
    let (one, other) = (random.key(), random.key());
    let (from, to) = if one <= other {
        (one, other)
    } else {
        (other, one)
    };
    let range = model.range(from.clone()..to.clone());
    let expected: Vec<_> = range.map(|(k, v)| (k.clone(), v.clone())).collect();
    assert_eq!(scan(store, &from, &to), expected);
}

/// A small reproducible generator (xorshift64*); the seed is not zero.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % bound
    }

    /// Few distinct keys of one to three bytes, so that they collide often.
    fn key(&mut self) -> Vec<u8> {
        let len = 1 + self.below(3);
        (0..len).map(|_| b'a' + self.below(5) as u8).collect()
    }
}
