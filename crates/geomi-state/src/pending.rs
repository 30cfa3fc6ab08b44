//! A store together with the batch being filled: reads see both.
//!
//! The owner of a partition's state reads back what it has just written, before that
//! is committed. [`State`] looks into the batch first and into the store second, so that
//! no separate table of uncommitted values is needed.

use crate::{Batch, CommitNo, Operation, Scan, StateError, StateStore};

/// A store and the operations of its next commit. See the module.
pub struct State {
    store: Box<dyn StateStore>,
    batch: Batch,
    last_commit: CommitNo,
}

impl State {
    /// The state in this store.
    pub fn new(store: Box<dyn StateStore>) -> Self {
        Self {
            store,
            batch: Batch::new(),
            last_commit: CommitNo::default(),
        }
    }

    /// The value of a key, with everything written so far.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        match self.batch.get(key) {
            Some(written) => Ok(written.value().map(<[u8]>::to_vec)),
            None => self.store.get(key),
        }
    }

    /// Visits the entries with `from <= key < to` in order, until `visit` says
    /// stop; with everything written so far.
    pub fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StateError> {
        let written = self.batch.range(from, to);
        let mut written = written.into_iter().peekable();
        let mut is_over = false;
        self.store.scan(from, to, &mut |key, value| {
            while let Some(next) = written.next_if(|next| next.key() < key) {
                if show(&next, visit) == Scan::Stop {
                    is_over = true;
                    return Scan::Stop;
                }
            }
            let shown = match written.next_if(|next| next.key() == key) {
                Some(newer) => show(&newer, visit),
                None => visit(key, value),
            };
            is_over = shown == Scan::Stop;
            shown
        })?;
        if !is_over {
            for next in written {
                if show(&next, visit) == Scan::Stop {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Sets the value of a key.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.batch.put(key, value);
    }

    /// Removes a key; it need not be there.
    pub fn delete(&mut self, key: &[u8]) {
        self.batch.delete(key);
    }

    /// Whether there is nothing to commit.
    pub fn is_clean(&self) -> bool {
        self.batch.is_empty()
    }

    /// Commits everything written so far.
    pub fn commit(&mut self) -> Result<CommitNo, StateError> {
        let number = self.store.commit(&self.batch)?;
        debug_assert_eq!(number, self.next_commit(), "commits are numbered in order");
        self.last_commit = number;
        self.batch.clear();
        Ok(number)
    }

    /// The number of the next commit.
    pub const fn next_commit(&self) -> CommitNo {
        self.last_commit.next()
    }

    /// The last commit that is durable.
    pub fn durable(&self) -> CommitNo {
        self.store.durable()
    }
}

fn show(written: &Operation<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan) -> Scan {
    match written {
        Operation::Put(key, value) => visit(key, value),
        Operation::Delete(_) => Scan::Continue,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::MemoryStore;

    /// A put or a delete of one of a few keys, or a commit.
    fn step() -> impl Strategy<Value = Option<(u8, Option<u8>)>> {
        prop_oneof![
            8 => (0..20_u8, proptest::option::of(any::<u8>())).prop_map(Some),
            1 => Just(None),
        ]
    }

    fn scanned(state: &State, from: u8, to: u8, max: usize) -> Vec<(u8, u8)> {
        let mut found = Vec::new();
        state
            .scan(&[from], &[to], &mut |key, value| {
                found.push((key[0], value[0]));
                if found.len() < max {
                    Scan::Continue
                } else {
                    Scan::Stop
                }
            })
            .unwrap();
        found
    }

    proptest! {
        #[test]
        fn it_reads_like_a_map_that_all_was_written_to(
            steps in proptest::collection::vec(step(), 1..60),
            from in 0..20_u8,
            to in 0..25_u8,
            max in 1..8_usize,
        ) {
            let mut state = State::new(Box::new(MemoryStore::new()));
            let mut model = BTreeMap::new();
            for step in steps {
                match step {
                    None => drop(state.commit().unwrap()),
                    Some((key, Some(value))) => {
                        state.put(&[key], &[value]);
                        model.insert(key, value);
                    }
                    Some((key, None)) => {
                        state.delete(&[key]);
                        model.remove(&key);
                    }
                }
                for key in 0..20 {
                    let value = model.get(&key).map(|value| vec![*value]);
                    prop_assert_eq!(state.get(&[key]).unwrap(), value);
                }
            }
            let inside = model.iter().filter(|(key, _)| (from..to).contains(*key));
            let inside: Vec<_> = inside.map(|(key, value)| (*key, *value)).take(max).collect();
            prop_assert_eq!(scanned(&state, from, to, max), inside);
        }
    }
}
