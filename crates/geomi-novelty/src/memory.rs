//! What a site has said lately: bounded memories of 64-bit hashes.

use serde::{Deserialize, Serialize};

/// Hashes remembered.
const LEN_MAX: usize = 512;

/// The last hashes, each once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ring {
    hashes: Vec<u64>,
    next: u16,
}

impl Ring {
    /// Whether a hash was there already; it is now.
    pub(crate) fn meet(&mut self, hash: u64) -> bool {
        if self.hashes.contains(&hash) {
            return true;
        }
        if self.hashes.len() < LEN_MAX {
            self.hashes.push(hash);
        } else {
            self.hashes[usize::from(self.next)] = hash;
            self.next = (self.next + 1) % LEN_MAX as u16;
        }
        false
    }
}

/// Slots of a [`HashTable`] at first, and at most.
const SLOTS_MIN: usize = 128;
const SLOTS_MAX: usize = 1024;
/// Slots among which a hash has its place.
const WAYS: usize = 4;

/// Hashes met lately, and how often each. It grows as it fills; where it cannot, a
/// new hash takes the place of the one met least.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HashTable {
    /// A hash whose low byte is a count; 0 for none.
    slots: Vec<u64>,
    used: u16,
}

impl HashTable {
    /// How often a hash was met before; it is once more.
    pub(crate) fn meet(&mut self, hash: u64) -> u8 {
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS_MIN];
        } else if self.slots.len() < SLOTS_MAX && usize::from(self.used) * 4 > self.slots.len() {
            self.grow();
        }
        let set = self.set_of(hash);
        let ways = &mut self.slots[set..set + WAYS];
        if let Some(slot) = ways.iter_mut().find(|slot| is_of(**slot, hash)) {
            let count = count_of(*slot);
            *slot += u64::from(count < u8::MAX);
            return count;
        }
        let least = ways.iter_mut().min_by_key(|slot| count_of(**slot));
        if let Some(slot) = least {
            self.used += u16::from(*slot == 0);
            *slot = (hash & !0xFF) | 1;
        }
        0
    }

    /// How often a hash was met.
    pub(crate) fn count(&self, hash: u64) -> u8 {
        if self.slots.is_empty() {
            return 0;
        }
        let set = self.set_of(hash);
        let slot = self.slots[set..set + WAYS].iter();
        let slot = slot.copied().find(|slot| is_of(*slot, hash));
        slot.map_or(0, count_of)
    }

    fn set_of(&self, hash: u64) -> usize {
        (hash >> 32) as usize % (self.slots.len() / WAYS) * WAYS
    }

    fn grow(&mut self) {
        let slots = vec![0; self.slots.len() * 2];
        let before = std::mem::replace(&mut self.slots, slots);
        self.used = 0;
        for slot in before.into_iter().filter(|slot| *slot != 0) {
            let set = self.set_of(slot);
            if let Some(free) = self.slots[set..set + WAYS]
                .iter_mut()
                .find(|slot| **slot == 0)
            {
                *free = slot;
                self.used += 1;
            }
        }
    }
}

const fn is_of(slot: u64, hash: u64) -> bool {
    slot != 0 && slot >> 8 == hash >> 8
}

const fn count_of(slot: u64) -> u8 {
    (slot & 0xFF) as u8
}

/// One URL with a part taken out, and what it brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Template and part.
    pub(crate) of: u64,
    /// Hash of the spelling without the part.
    pub(crate) stripped: u64,
    /// What came.
    pub(crate) content: u64,
    /// Whether the same came under another spelling.
    pub(crate) is_paired: bool,
}

impl Note {
    pub(crate) const fn new(of: u64, stripped: u64, content: u64) -> Self {
        Self {
            of,
            stripped,
            content,
            is_paired: false,
        }
    }
}

/// The last notes; a new one takes the place of the oldest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notes {
    notes: Vec<Note>,
    next: u16,
}

impl Notes {
    /// What was noted of this spelling.
    pub(crate) fn find(&mut self, of: u64, stripped: u64) -> Option<&mut Note> {
        let mut notes = self.notes.iter_mut();
        notes.find(|note| note.stripped == stripped && note.of == of)
    }

    pub(crate) fn add(&mut self, note: Note) {
        if self.notes.len() < LEN_MAX {
            self.notes.push(note);
        } else {
            self.notes[usize::from(self.next)] = note;
            self.next = (self.next + 1) % LEN_MAX as u16;
        }
    }

    /// Takes out the spellings noted of one part.
    pub(crate) fn take(&mut self, of: u64) -> Vec<u64> {
        let (taken, kept): (Vec<Note>, Vec<Note>) =
            self.notes.drain(..).partition(|note| note.of == of);
        self.notes = kept;
        self.next = 0;
        taken.into_iter().map(|note| note.stripped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let mut ring = Ring::default();
        for hash in 0..600 {
            assert!(!ring.meet(hash));
        }
        assert!(ring.meet(599) && ring.meet(100));
        assert!(!ring.meet(0), "forgotten");
        assert_eq!(ring.hashes.len(), LEN_MAX);
    }

    #[test]
    fn a_table_counts_grows_and_stays_bounded() {
        let spread = |n: u64| xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes());
        let mut table = HashTable::default();
        for _ in 0..3 {
            for n in 0..30 {
                table.meet(spread(n));
            }
        }
        for n in 1_000..20_000 {
            table.meet(spread(n));
        }
        assert_eq!(table.slots.len(), SLOTS_MAX);
        let kept = (0..30).filter(|n| table.count(spread(*n)) == 3).count();
        assert!(kept >= 29, "what is met often is not forgotten: {kept}");
        assert_eq!(table.meet(spread(3)), 3);
    }

    #[test]
    fn notes_are_found_by_part_and_spelling() {
        let content = |notes: &mut Notes, of, stripped| {
            let note = notes.find(of, stripped);
            note.map(|note| note.content)
        };
        let mut notes = Notes::default();
        for stripped in 0..600 {
            let of = stripped % 2;
            notes.add(Note {
                of,
                stripped,
                content: 7,
                is_paired: false,
            });
        }
        assert_eq!(content(&mut notes, 1, 599), Some(7));
        assert_eq!(content(&mut notes, 0, 599), None);
        assert_eq!(content(&mut notes, 0, 0), None, "forgotten");
        assert_eq!(notes.take(1).len(), 256);
        assert_eq!(content(&mut notes, 1, 599), None);
        assert_eq!(content(&mut notes, 0, 598), Some(7));
    }
}
