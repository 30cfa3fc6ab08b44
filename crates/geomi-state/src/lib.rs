//! What the durable state of a partition offers: an ordered map of byte strings with
//! atomic, durable batches, and the [seen test](seen).
//!
//! Site queues, URL records, site state, the inbox cursor and the outbox are kept
//! in the map; the owner of the partition decides what the bytes mean. The interface
//! is small, so that a store is easy to replace: one look-up, one ordered scan, one
//! commit.
//!
//! What every [`StateStore`] promises, and [`conformance`] checks:
//!
//! - a commit is all or nothing, also across `kill -9`;
//! - a commit is readable when it returns its number, and durable once
//!   [`StateStore::durable`] has reached that number: whoever opens the store next
//!   finds it. With a local disk that is when the commit returns; with an object
//!   store it is later;
//! - within a batch the last operation on a key wins;
//! - after a failed commit the store refuses all further commits with
//!   [`StateError::Poisoned`], because it is unknown what became durable. Opening it
//!   again finds either all of that batch or none;
//! - one writer: a second handle on the same place is refused.
//!
//! It does not do transactions (there is one writer, and it reads before it
//! writes), nor caches of decoded values, nor retries.
//!
//! This crate touches neither disks nor threads. [`MemoryStore`] keeps the map in
//! memory and [`seen::MemoryBases`] the bases of the seen test, for tests and
//! simulation; `geomi-store` keeps both on a disk.

mod batch;
#[doc(hidden)]
pub mod conformance;
mod error;
mod memory;
mod pending;
pub mod seen;

pub use batch::{Batch, Operation};
pub use error::StateError;
pub use memory::{CommitFault, MemoryDisk, MemoryStore};
pub use pending::State;

/// The longest key a store takes; keys are never empty either.
pub const KEY_BYTES_MAX: usize = u16::MAX as usize;

/// One partition's state. See the [crate](self) for what is promised.
pub trait StateStore: Send {
    /// The value of `key`.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError>;

    /// Visits the entries with `from <= key < to` in the order of their keys,
    /// until `visit` says stop. An empty or inverted range visits nothing.
    ///
    /// Deleted keys still cost a scan time until the store has forgotten
    /// them, so keep a cursor rather than start a drained range at its front.
    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StateError>;

    /// Applies a batch, atomically: it is readable when this returns its number.
    /// The batch is left as it was; [`Batch::clear`] makes it ready for reuse.
    fn commit(&mut self, batch: &Batch) -> Result<CommitNo, StateError>;

    /// The last commit that is durable; all before it are as well.
    fn durable(&self) -> CommitNo;
}

/// The number of a commit since its store was opened, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct CommitNo(pub u64);

impl CommitNo {
    /// The number after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// Whether a scan goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scan {
    /// Show me the next entry.
    Continue,
    /// That was enough.
    Stop,
}

/// The first key after all keys that start with `prefix`: the `to` of a scan
/// over them.
///
/// # Panics
///
/// If the prefix is empty or nothing but `0xff`: no key comes after those.
pub fn after_prefix(prefix: &[u8]) -> Vec<u8> {
    let kept = prefix.iter().rposition(|byte| *byte != 0xff);
    let last = kept.expect("a prefix has a byte other than 0xff");
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_prefix_is_just_after_its_last_key() {
        assert_eq!(after_prefix(b"q"), b"r");
        assert_eq!(after_prefix(b"q\x01\xff\xff"), b"q\x02");
        assert!(b"q\xff\xff\xff".as_slice() < after_prefix(b"q").as_slice());
    }
}
