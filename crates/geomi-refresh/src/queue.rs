//! The queue of a plan: pages by the time at which they are due.
//!
//! It hands out entries in the order of a heap, but only those of the next minutes
//! are in one. All others lie unsorted in boxes of six minutes, so that an entry of
//! a plan with ten million pages is put into its place with one write, and the heap
//! stays small enough for the processor's cache.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::policy::PageId;

/// A tick, and the page that is due then.
pub(crate) type Entry = (u32, PageId);

/// Bits of a tick that tell times within a box apart.
const BOX_BITS: u32 = 5;

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Entries of the boxes up to `open`; empty only if the queue is.
    near: BinaryHeap<Reverse<Entry>>,
    open: u32,
    far: BTreeMap<u32, Vec<Entry>>,
    len: usize,
}

impl Queue {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The first entry.
    pub(crate) fn peek(&self) -> Option<Entry> {
        self.near.peek().map(|Reverse(entry)| *entry)
    }

    /// Puts an entry in.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.len += 1;
        let its = entry.0 >> BOX_BITS;
        if its <= self.open {
            self.near.push(Reverse(entry));
        } else {
            self.far.entry(its).or_default().push(entry);
        }
        self.open_next();
    }

    /// Takes the first entry out.
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let Reverse(entry) = self.near.pop()?;
        self.len -= 1;
        self.open_next();
        Some(entry)
    }

    /// Keeps only some entries.
    pub(crate) fn retain(&mut self, is_kept: impl Fn(Entry) -> bool) {
        self.near.retain(|Reverse(entry)| is_kept(*entry));
        self.far.retain(|_, entries| {
            entries.retain(|entry| is_kept(*entry));
            !entries.is_empty()
        });
        self.len = self.near.len() + self.far.values().map(Vec::len).sum::<usize>();
        self.open_next();
    }

    /// Opens the next box once the heap is empty.
    fn open_next(&mut self) {
        if !self.near.is_empty() {
            return;
        }
        if let Some((number, entries)) = self.far.pop_first() {
            self.open = number;
            self.near.extend(entries.into_iter().map(Reverse));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_heap() {
        let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
        let mut word = 7_u64;
        for step in 0..5_000_u32 {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Times near and far, and some before what has been handed out.
            let tick = step / 2 + ((word >> 33) % (1 << (word >> 60))) as u32;
            queue.push((tick, step));
            heap.push(Reverse((tick, step)));
            if step % 3 == 0 {
                assert_eq!(queue.pop(), heap.pop().map(|Reverse(entry)| entry));
            }
            if step == 3_000 {
                queue.retain(|(_, page)| page % 5 != 0);
                heap.retain(|Reverse((_, page))| page % 5 != 0);
            }
            assert_eq!(queue.len(), heap.len());
            assert_eq!(queue.peek(), heap.peek().map(|Reverse(entry)| *entry));
        }
        while let Some(entry) = queue.pop() {
            assert_eq!(heap.pop(), Some(Reverse(entry)));
        }
        assert!(heap.is_empty());
    }
}
