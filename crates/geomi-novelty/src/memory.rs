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

/// Slots of a [`HashTable`].
const SLOTS: usize = 512;

/// Hashes met lately, each in a slot of its own: a new one takes the place of
/// another.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HashTable {
    /// Empty until there is a hash.
    slots: Vec<u64>,
}

impl HashTable {
    /// Whether all of these were there already; they are now.
    pub(crate) fn meet_all(&mut self, hashes: &[u64]) -> bool {
        if self.slots.is_empty() && !hashes.is_empty() {
            self.slots = vec![0; SLOTS];
        }
        let mut are_known = true;
        for hash in hashes {
            let slot = &mut self.slots[*hash as usize % SLOTS];
            are_known &= *slot == *hash;
            *slot = *hash;
        }
        are_known
    }
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
