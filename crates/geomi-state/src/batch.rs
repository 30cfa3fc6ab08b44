//! The operations of one commit.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Puts and deletes that are committed together.
///
/// Keys and values lie end to end in one buffer, so that filling a batch costs
/// no allocation once its buffers have grown to the size of a usual commit.
/// Keep one batch and [`clear`](Self::clear) it. A table of the last operation
/// per key makes the batch readable before it is committed.
///
/// ```
/// use geomi_state::{Batch, MemoryStore, StateStore};
///
/// let mut store = MemoryStore::new();
/// let mut batch = Batch::new();
/// batch.put(b"site/1", b"waiting");
/// batch.delete(b"pending/1");
/// store.commit(&batch)?;
/// batch.clear();
/// assert_eq!(store.get(b"site/1")?.as_deref(), Some(b"waiting".as_slice()));
/// # Ok::<(), geomi_state::StateError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The last operation of each key, as an index into `entries`.
    latest: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// One operation of a [`Batch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation<'a> {
    /// Sets the key's value.
    Put(&'a [u8], &'a [u8]),
    /// Removes the key, if it is there.
    Delete(&'a [u8]),
}

/// Where an operation lies in the buffer: the key, then the value of a put.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    key_len: u16,
    value_len: Option<u32>,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of `key`.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        let value_len = u32::try_from(value.len()).expect("a value is shorter than 4 GiB");
        self.push(key, Some(value_len));
        self.bytes.extend_from_slice(value);
    }

    /// Removes `key`; it need not be there.
    pub fn delete(&mut self, key: &[u8]) {
        self.push(key, None);
    }

    fn push(&mut self, key: &[u8], value_len: Option<u32>) {
        assert!(!key.is_empty(), "a key is not empty");
        let key_len = u16::try_from(key.len()).expect("a key is at most KEY_BYTES_MAX long");
        let number = u32::try_from(self.entries.len()).expect("a batch is bounded");
        self.entries.push(Entry {
            start: self.bytes.len(),
            key_len,
            value_len,
        });
        self.bytes.extend_from_slice(key);
        let Self {
            bytes,
            entries,
            latest,
            hasher,
        } = self;
        let hash = hasher.hash_one(key);
        let found = latest.find_mut(hash, |at| entries[*at as usize].key(bytes) == key);
        match found {
            Some(at) => *at = number,
            None => {
                latest.insert_unique(hash, number, |at| {
                    hasher.hash_one(entries[*at as usize].key(bytes))
                });
            }
        }
    }

    /// What the batch does to a key: `None` if nothing, otherwise its last operation.
    pub fn get(&self, key: &[u8]) -> Option<Operation<'_>> {
        if self.entries.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one(key);
        let is_it = |at: &u32| self.entries[*at as usize].key(&self.bytes) == key;
        let at = self.latest.find(hash, is_it)?;
        Some(self.entries[*at as usize].operation(&self.bytes))
    }

    /// The last operation of each key between two keys, in the order of keys.
    pub fn range(&self, from: &[u8], to: &[u8]) -> Vec<Operation<'_>> {
        let entries = self.latest.iter().map(|at| self.entries[*at as usize]);
        let inside = entries.filter(|entry| {
            let key = entry.key(&self.bytes);
            from <= key && key < to
        });
        let mut found: Vec<_> = inside.map(|entry| entry.operation(&self.bytes)).collect();
        found.sort_unstable_by(|one, other| one.key().cmp(other.key()));
        found
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The length of all keys and values together.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Forgets the operations and keeps the buffers.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.latest.clear();
    }

    /// The operations, in the order they were added.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.operation(&self.bytes))
    }
}

impl Entry {
    fn key(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + usize::from(self.key_len)]
    }

    fn operation(self, bytes: &[u8]) -> Operation<'_> {
        let key = self.key(bytes);
        let value = self.start + key.len();
        match self.value_len {
            Some(len) => Operation::Put(key, &bytes[value..value + len as usize]),
            None => Operation::Delete(key),
        }
    }
}

impl<'a> Operation<'a> {
    /// The key it is about.
    pub const fn key(&self) -> &'a [u8] {
        match self {
            Self::Put(key, _) | Self::Delete(key) => key,
        }
    }

    /// The value the key has after it; `None` if it has none.
    pub const fn value(&self) -> Option<&'a [u8]> {
        match self {
            Self::Put(_, value) => Some(value),
            Self::Delete(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_come_back_as_they_went_in() {
        let mut batch = Batch::new();
        batch.put(b"a", b"1");
        batch.delete(b"b");
        batch.put(b"c", b"");
        let all: Vec<_> = batch.operations().collect();
        assert_eq!(
            all,
            [
                Operation::Put(b"a", b"1"),
                Operation::Delete(b"b"),
                Operation::Put(b"c", b"")
            ]
        );
        assert_eq!((batch.len(), batch.bytes()), (3, 4));
    }

    #[test]
    fn clearing_keeps_the_buffers() {
        let mut batch = Batch::new();
        batch.put(b"key", &[0; 1000]);
        let capacity = batch.bytes.capacity();
        batch.clear();
        assert!(batch.is_empty());
        assert_eq!(batch.bytes(), 0);
        assert_eq!(batch.bytes.capacity(), capacity);
    }

    #[test]
    fn the_last_operation_on_a_key_is_found() {
        let mut batch = Batch::new();
        for number in 0..1_000_u32 {
            batch.put(&number.to_be_bytes(), b"first");
        }
        batch.put(&7_u32.to_be_bytes(), b"second");
        batch.delete(&8_u32.to_be_bytes());
        let value = |key: u32| batch.get(&key.to_be_bytes()).map(|found| found.value());
        assert_eq!(value(6), Some(Some(b"first".as_slice())));
        assert_eq!(value(7), Some(Some(b"second".as_slice())));
        assert_eq!(value(8), Some(None));
        assert_eq!(value(1_000), None);
        let range = batch.range(&6_u32.to_be_bytes(), &9_u32.to_be_bytes());
        let values: Vec<_> = range.iter().map(Operation::value).collect();
        assert_eq!(
            values,
            [Some(b"first".as_slice()), Some(b"second"), None],
            "in order, each key once"
        );
        batch.clear();
        assert_eq!(batch.get(&7_u32.to_be_bytes()), None);
    }

    #[test]
    #[should_panic(expected = "a key is not empty")]
    fn an_empty_key_is_a_bug() {
        Batch::new().put(b"", b"value");
    }
}
