//! The operations of one commit.

/// Puts and deletes that are committed together.
///
/// Keys and values lie end to end in one buffer, so that filling a batch costs
/// no allocation once its buffers have grown to the size of a usual commit.
/// Keep one batch and [`clear`](Self::clear) it.
///
/// ```
/// use geomi_store::state::{Batch, MemoryStore, StateStore};
///
/// let mut store = MemoryStore::new();
/// let mut batch = Batch::new();
/// batch.put(b"site/1", b"waiting");
/// batch.delete(b"pending/1");
/// store.commit(&batch)?;
/// batch.clear();
/// assert_eq!(store.get(b"site/1")?.as_deref(), Some(b"waiting".as_slice()));
/// # Ok::<(), geomi_store::StoreError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
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
        self.entries.push(Entry {
            start: self.bytes.len(),
            key_len,
            value_len,
        });
        self.bytes.extend_from_slice(key);
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
    }

    /// The operations, in the order they were added.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        self.entries.iter().map(|entry| {
            let key_end = entry.start + usize::from(entry.key_len);
            let key = &self.bytes[entry.start..key_end];
            match entry.value_len {
                Some(len) => Operation::Put(key, &self.bytes[key_end..key_end + len as usize]),
                None => Operation::Delete(key),
            }
        })
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
    #[should_panic(expected = "a key is not empty")]
    fn an_empty_key_is_a_bug() {
        Batch::new().put(b"", b"value");
    }
}
