//! Hashes lately found in stored blocks: most links lead to the same few pages.

use std::cell::Cell;

/// One place a hash, the last one keeps it. Zero marks an empty place, so the
/// hash zero is never found here, only in a block.
#[derive(Debug)]
pub(super) struct Recent {
    places: Vec<Cell<u64>>,
    len: usize,
}

impl Recent {
    /// The places are made with the first find: while all is in memory there
    /// are few.
    pub(super) const fn new(len: usize) -> Self {
        Self {
            places: Vec::new(),
            len,
        }
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        hash != 0
            && self
                .places
                .get(hash as usize % self.len)
                .is_some_and(|place| place.get() == hash)
    }

    pub(super) fn note(&self, hash: u64) {
        if let Some(place) = self.places.get(hash as usize % self.len) {
            place.set(hash);
        }
    }

    /// Makes the places, once finds cost a read.
    pub(super) fn begin(&mut self) {
        if self.places.is_empty() {
            self.places = vec![Cell::new(0); self.len];
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.places.len() * size_of::<u64>()
    }
}
