//! One priority's queue of one site, and the chooser among a site's lanes.
//!
//! A lane is a FIFO. On disk it is a row of numbered chunks, each written in
//! the commit that admitted its URLs and never changed; in memory there is a
//! bounded *front*. Leases may be settled out of order, so what is done is
//! remembered as a *watermark*: the first position that is not settled. Chunks
//! below it are deleted. Positions above it may be settled, too; the lane is
//! *ragged* then, and they are recognised by their URL records when the chunk is
//! read back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use geomi_model::{PRIORITIES, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Entry, LaneState};

/// How many early retries a lane holds in memory before it waits for them.
const DELAYED_MAX: usize = 256;

/// Where an entry stands in its lane.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Position {
    /// Number of the chunk, from 0, without gaps.
    pub chunk: u64,
    /// Place in the chunk.
    pub index: u32,
}

#[derive(Debug)]
pub(crate) struct Lane {
    front: VecDeque<(Position, Arc<Entry>)>,
    /// Retries taken from the front before they were due.
    delayed: Vec<(Timestamp, Position, Arc<Entry>)>,
    /// Leased and not settled; at most the site's connections.
    leased: Vec<Position>,
    /// First position that is on disk only.
    disk_from: Position,
    /// Entries on disk only.
    disk_len: u64,
    next_chunk: u64,
    /// Nothing from here on is settled.
    settled_below: Position,
    /// The first chunk not yet reported as free to delete.
    kept_from: u64,
    /// Virtual time of the chooser; see [`choose`].
    pass: u64,
    /// Had nothing to do when the chooser last looked.
    idle: bool,
}

impl Lane {
    pub(crate) fn open(state: &LaneState, is_ragged: bool) -> Self {
        let end = Position {
            chunk: state.next_chunk,
            index: 0,
        };
        Self {
            settled_below: if is_ragged { end } else { state.watermark },
            front: VecDeque::new(),
            delayed: Vec::new(),
            leased: Vec::new(),
            disk_from: state.watermark,
            disk_len: state.len,
            next_chunk: state.next_chunk,
            kept_from: state.watermark.chunk,
            pass: 0,
            idle: true,
        }
    }

    pub(crate) fn state(&self) -> LaneState {
        LaneState {
            watermark: self.watermark(),
            next_chunk: self.next_chunk,
            len: self.len() + self.leased.len() as u64,
        }
    }

    /// Entries waiting: front, delayed and on disk.
    pub(crate) fn len(&self) -> u64 {
        self.in_memory() as u64 + self.disk_len
    }

    pub(crate) fn in_memory(&self) -> usize {
        self.front.len() + self.delayed.len()
    }

    pub(crate) fn begin_chunk(&mut self) -> u64 {
        self.next_chunk += 1;
        self.next_chunk - 1
    }

    /// Appends an entry of a new chunk. It joins the front only if nothing
    /// before it is on disk alone and there is room.
    pub(crate) fn append(&mut self, position: Position, entry: &Arc<Entry>, room: bool) {
        if self.disk_len == 0 && room {
            self.front.push_back((position, Arc::clone(entry)));
        } else {
            if self.disk_len == 0 {
                self.disk_from = position;
            }
            self.disk_len += 1;
        }
    }

    /// Takes over entries read back from disk; `next` is where reading stopped.
    ///
    /// What was settled before a crash is on disk still but not in the count,
    /// so the end of the lane, not the count, says when the disk is empty.
    pub(crate) fn refill(&mut self, entries: Vec<(Position, Arc<Entry>)>, next: Position) {
        let at_end = next.chunk >= self.next_chunk;
        self.disk_len = if at_end {
            0
        } else {
            self.disk_len.saturating_sub(entries.len() as u64).max(1)
        };
        self.disk_from = next;
        self.front.extend(entries);
    }

    /// The first position that is not in memory, if there is any.
    pub(crate) const fn disk_from(&self) -> Position {
        self.disk_from
    }

    /// Where to read on, if the front is empty and the disk is not.
    pub(crate) fn wants_refill(&self) -> Option<Position> {
        (self.front.is_empty() && self.disk_len > 0 && !self.delayed_full())
            .then_some(self.disk_from)
    }

    fn delayed_full(&self) -> bool {
        self.delayed.len() >= DELAYED_MAX
    }

    /// When the next entry may be taken: `None` where the lane is empty.
    /// What is on disk counts as due: it takes a look to know.
    pub(crate) fn due(&self, now: Timestamp) -> Option<Timestamp> {
        let more = !self.front.is_empty() || self.disk_len > 0;
        if more && !self.delayed_full() {
            return Some(now);
        }
        self.delayed.iter().map(|(due, ..)| *due).min()
    }

    /// Takes the next due entry, moving early retries aside.
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<(Position, Arc<Entry>)> {
        if let Some(at) = self.delayed.iter().position(|(due, ..)| *due <= now) {
            let (_, position, entry) = self.delayed.swap_remove(at);
            self.leased.push(position);
            return Some((position, entry));
        }
        while !self.delayed_full() {
            let (position, entry) = self.front.pop_front()?;
            match entry.not_before {
                Some(due) if due > now => self.delayed.push((due, position, entry)),
                _ => {
                    self.leased.push(position);
                    return Some((position, entry));
                }
            }
        }
        None
    }

    pub(crate) fn settle(&mut self, position: Position) {
        let at = self.leased.iter().position(|leased| *leased == position);
        self.leased
            .swap_remove(at.expect("a settled position was leased"));
        let after = Position {
            index: position.index + 1,
            ..position
        };
        self.settled_below = self.settled_below.max(after);
    }

    /// Whether entries at or after the watermark may be settled.
    pub(crate) fn is_ragged(&self) -> bool {
        self.settled_below > self.watermark()
    }

    /// Whether entries that are on disk only may be settled.
    pub(crate) fn is_ragged_on_disk(&self) -> bool {
        self.settled_below > self.disk_from
    }

    /// The first position that is not settled.
    fn watermark(&self) -> Position {
        let end = Position {
            chunk: self.next_chunk,
            index: 0,
        };
        let disk = if self.disk_len > 0 {
            self.disk_from
        } else {
            end
        };
        let front = self.front.front().map_or(end, |(position, _)| *position);
        let held = self
            .leased
            .iter()
            .chain(self.delayed.iter().map(|(_, position, _)| position));
        held.copied().fold(disk.min(front), Position::min)
    }

    /// Chunks that have been settled whole since the last call.
    pub(crate) fn take_freed(&mut self) -> Range<u64> {
        let freed = self.kept_from..self.watermark().chunk;
        self.kept_from = freed.end;
        freed
    }

    /// Any entry in memory.
    pub(crate) fn peek(&self) -> Option<&Arc<Entry>> {
        self.front
            .front()
            .map(|(_, entry)| entry)
            .or_else(|| self.delayed.first().map(|(_, _, entry)| entry))
    }

    pub(crate) fn leased(&self) -> &[Position] {
        &self.leased
    }

    /// Whether an entry waits or is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.len() > 0 || !self.leased.is_empty()
    }
}

/// Which lane a site serves next: biased to high priority, starving none.
///
/// Stride scheduling (Waldspurger 1995): lane *i* of *k* advances its virtual
/// time by 2^i a turn, and the lane furthest behind goes first. So each lane
/// gets twice the turns of the one below it, exactly and without dice. A lane
/// that was empty joins at the current virtual time: it cannot save up turns.
pub(crate) fn choose(lanes: &mut [Lane], clock: &mut u64, now: Timestamp) -> Option<usize> {
    let mut best: Option<(usize, u64)> = None;
    for (index, lane) in lanes.iter_mut().enumerate() {
        if lane.due(now).is_none_or(|due| due > now) {
            lane.idle = true;
            continue;
        }
        if std::mem::take(&mut lane.idle) {
            lane.pass = lane.pass.max(*clock);
        }
        // Lanes past the last priority are left from a breadth-first run.
        let finish = lane.pass + (1 << index.min(usize::from(PRIORITIES) - 1));
        if best.is_none_or(|(_, earliest)| finish < earliest) {
            best = Some((index, finish));
        }
    }
    let (index, finish) = best?;
    *clock = lanes[index].pass;
    lanes[index].pass = finish;
    Some(index)
}

/// The lane a breadth-first site serves: the lowest one that has an entry waiting or
/// under way. Lanes after it wait until all of that depth is settled.
pub(crate) fn shallowest(lanes: &[Lane]) -> Option<usize> {
    lanes.iter().position(Lane::is_open)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::LinkKind;
    use geomi_url::CrawlUrl;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_000);

    fn entry(path: &str, not_before: Option<Timestamp>) -> Arc<Entry> {
        Arc::new(Entry {
            url: CrawlUrl::parse(&format!("http://a.test/{path}")).unwrap(),
            seed: 0,
            via: None,
            kind: LinkKind::Anchor,
            depth: 0,
            priority: 1,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before,
        })
    }

    fn lane(len: u32) -> Lane {
        let mut lane = Lane::open(&LaneState::default(), false);
        for index in 0..len {
            let chunk = lane.begin_chunk();
            lane.append(
                Position { chunk, index: 0 },
                &entry(&index.to_string(), None),
                true,
            );
        }
        lane
    }

    #[test]
    fn the_watermark_waits_for_the_oldest_lease() {
        let mut lane = lane(3);
        let (first, _) = lane.take(NOW).unwrap();
        let (second, _) = lane.take(NOW).unwrap();
        lane.settle(second);
        assert_eq!(lane.state().watermark, first);
        assert!(lane.is_ragged() && !Lane::open(&lane.state(), false).is_ragged());
        assert!(Lane::open(&lane.state(), true).is_ragged_on_disk());
        lane.settle(first);
        assert!(!lane.is_ragged());
        assert_eq!(lane.state().watermark, Position { chunk: 2, index: 0 });
        assert_eq!(lane.state().len, 1);
    }

    #[test]
    fn entries_past_the_front_stay_in_order_on_disk() {
        let mut lane = lane(1);
        let chunk = lane.begin_chunk();
        lane.append(Position { chunk, index: 0 }, &entry("disk", None), false);
        lane.append(Position { chunk, index: 1 }, &entry("after", None), true);
        assert_eq!((lane.len(), lane.in_memory()), (3, 1));
        assert!(lane.take(NOW).is_some());
        assert_eq!(lane.wants_refill(), Some(Position { chunk, index: 0 }));
        let read = vec![
            (Position { chunk, index: 0 }, entry("disk", None)),
            (Position { chunk, index: 1 }, entry("after", None)),
        ];
        lane.refill(
            read,
            Position {
                chunk: chunk + 1,
                index: 0,
            },
        );
        assert!(lane.take(NOW).unwrap().1.url.as_str().ends_with("disk"));
        assert!(lane.take(NOW).unwrap().1.url.as_str().ends_with("after"));
        assert_eq!(lane.due(NOW), None);
    }

    #[test]
    fn an_early_retry_steps_aside_and_comes_back_when_due() {
        let mut lane = Lane::open(&LaneState::default(), false);
        let due = NOW + Duration::from_secs(5);
        let chunk = lane.begin_chunk();
        lane.append(
            Position { chunk, index: 0 },
            &entry("retry", Some(due)),
            true,
        );
        lane.append(Position { chunk, index: 1 }, &entry("fresh", None), true);
        assert!(lane.take(NOW).unwrap().1.url.as_str().ends_with("fresh"));
        assert!(lane.take(NOW).is_none());
        assert_eq!(lane.due(NOW), Some(due));
        assert!(lane.take(due).unwrap().1.url.as_str().ends_with("retry"));
    }

    #[test]
    fn high_lanes_get_twice_the_turns_and_the_lowest_still_moves() {
        let mut lanes: Vec<Lane> = (0..PRIORITIES).map(|_| lane(400)).collect();
        let mut clock = 0;
        let mut turns = [0u32; PRIORITIES as usize];
        for _ in 0..255 {
            let index = choose(&mut lanes, &mut clock, NOW).unwrap();
            lanes[index].take(NOW).unwrap();
            turns[index] += 1;
        }
        assert!(turns.windows(2).all(|pair| pair[0] > pair[1]), "{turns:?}");
        assert!(turns[7] >= 1 && turns[0] >= 120, "{turns:?}");
    }

    #[test]
    fn a_few_urgent_urls_come_first_and_an_idle_lane_saves_up_nothing() {
        let mut lanes: Vec<Lane> = (0..PRIORITIES).map(|_| lane(0)).collect();
        let mut clock = 0;
        for _ in 0..500 {
            let chunk = lanes[7].begin_chunk();
            lanes[7].append(Position { chunk, index: 0 }, &entry("low", None), true);
        }
        for _ in 0..100 {
            let index = choose(&mut lanes, &mut clock, NOW).unwrap();
            assert_eq!(index, 7);
            lanes[index].take(NOW).unwrap();
        }
        for _ in 0..5 {
            let chunk = lanes[0].begin_chunk();
            lanes[0].append(Position { chunk, index: 0 }, &entry("high", None), true);
        }
        let picks: Vec<usize> = (0..6)
            .map(|_| {
                let index = choose(&mut lanes, &mut clock, NOW).unwrap();
                lanes[index].take(NOW).unwrap();
                index
            })
            .collect();
        assert_eq!(picks, [0, 0, 0, 0, 0, 7]);
    }
}
