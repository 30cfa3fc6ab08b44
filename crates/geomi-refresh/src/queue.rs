//! The queue of a plan: pages by the time at which they are due.
//!
//! It hands out entries in the order of a heap, but only those of the next minutes
//! are in one. All others lie unsorted in boxes of six minutes, so that an entry of
//! a plan with ten million pages is put into its place with one write, and the heap
//! stays small enough for the processor's cache. Where entries come in no order, as when
//! a plan begins, the box that is open may be a late one, and those before it gather in
//! the heap; when they are many they go back into boxes, and the first is opened.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::policy::PageId;

/// A tick, and the page that is due then.
pub(crate) type Entry = (u32, PageId);

/// Bits of a tick that tell times within a box apart.
const BOX_BITS: u32 = 5;
/// Entries that may gather in the heap, beside twice those of the box it was filled from.
const GATHERED_MAX: usize = 4_096;

/// The number of an entry's box.
const fn box_of((tick, _): Entry) -> u32 {
    tick >> BOX_BITS
}

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// Entries of the boxes up to `open`; empty only if the queue is.
    near: BinaryHeap<Reverse<Entry>>,
    open: u32,
    /// How many of them are too many.
    near_max: usize,
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
        if box_of(entry) <= self.open {
            self.near.push(Reverse(entry));
            if self.near.len() > self.near_max {
                self.close();
            }
        } else {
            self.put_away(entry);
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

    fn put_away(&mut self, entry: Entry) {
        self.far.entry(box_of(entry)).or_default().push(entry);
    }

    /// Puts the entries of the heap back into their boxes. Half of them at least have
    /// come since it was filled: it is paid for by them.
    fn close(&mut self) {
        for Reverse(entry) in std::mem::take(&mut self.near) {
            self.put_away(entry);
        }
    }

    /// Opens the next box once the heap is empty.
    fn open_next(&mut self) {
        if !self.near.is_empty() {
            return;
        }
        if let Some((number, entries)) = self.far.pop_first() {
            self.open = number;
            self.near_max = 2 * entries.len() + GATHERED_MAX;
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

    #[test]
    fn the_heap_is_small_whatever_the_order() {
        let count = 50_000_u32;
        let mut queue = Queue::default();
        // The last comes first, and the others in no order.
        for at in 0..count {
            let tick = count - at.wrapping_mul(7_919) % count;
            queue.push((tick, at));
            assert!(queue.near.len() <= queue.near_max, "{at}");
        }
        assert!(queue.near.len() <= 2 * GATHERED_MAX, "{}", queue.near.len());
        assert_eq!(queue.len(), count as usize);
        let ticks: Vec<u32> = std::iter::from_fn(|| queue.pop().map(|entry| entry.0)).collect();
        assert_eq!(ticks, (1..=count).collect::<Vec<_>>());
    }
}
