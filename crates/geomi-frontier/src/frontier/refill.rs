//! A lane's front, filled again from its queue.
//!
//! What was read back ends where the last commit ended. Chunks admitted since are
//! not on disk yet: they are still here, to be written in the next commit, and
//! follow what was read.

use std::sync::Arc;

use geomi_model::{PRIORITIES, Timestamp};
use geomi_url::SiteHash;

use super::{Append, Frontier};
use crate::Entry;
use crate::lane::Position;

type Placed = (Position, Arc<Entry>);

/// Entries a refill asks for at least.
const REFILL_LEN_MIN: usize = 8;

impl Frontier {
    /// Answers [`Action::Refill`](super::Action::Refill): entries in order, and
    /// where reading stopped. URLs of another site with the same hash are left out;
    /// returns how many.
    pub fn refilled(
        &mut self,
        site: SiteHash,
        lane: u8,
        entries: Vec<(Position, Entry)>,
        mut next: Position,
        now: Timestamp,
    ) -> u64 {
        let open = self.sites.get(&site).expect("a refilled site is open");
        let read = entries.len();
        let mut entries: Vec<Placed> = entries
            .into_iter()
            .filter(|(_, entry)| open.state.key.is_of(&entry.url))
            .map(|(position, entry)| (position, Arc::new(entry)))
            .collect();
        let left_out = (read - entries.len()) as u64;
        let from = open.lanes[usize::from(lane)].disk_from();
        let first = self.unsaved.of_lane(site, lane).next();
        if first.is_some_and(|append| next.chunk > append.chunk) {
            let room = self.config.front_len_max.saturating_sub(entries.len());
            let mut rest = self.unsaved.of_lane(site, lane).flat_map(placed);
            let wanted = rest.by_ref().filter(|(position, _)| *position >= from);
            entries.extend(wanted.take(room.max(1)));
            next = rest.next().map_or(next, |(position, _)| position);
        }
        self.in_memory += entries.len();
        let open = self.sites.get_mut(&site).expect("it was just there");
        let before = open.lanes[usize::from(lane)].len();
        open.lanes[usize::from(lane)].refill(entries, next);
        let after = open.lanes[usize::from(lane)].len();
        // The count on disk is corrected by what was really there.
        self.counts.waiting = self.counts.waiting - before + after;
        self.counts.admitted = self.counts.admitted - before + after;
        self.mark_dirty(site);
        self.place(site, now);
        left_out
    }

    /// How many entries of a lane to read for a refill: fewer where memory is
    /// short, but always some, as looking for them is dear.
    pub fn refill_len(&self) -> usize {
        let room = self.config.memory_len_max.saturating_sub(self.in_memory);
        let share = room / usize::from(PRIORITIES);
        self.config.front_len_max.min(share.max(REFILL_LEN_MIN))
    }
}

fn placed(append: &Append) -> impl Iterator<Item = Placed> + '_ {
    (0u32..).zip(&append.entries).map(|(index, entry)| {
        let chunk = append.chunk;
        (Position { chunk, index }, Arc::clone(entry))
    })
}

#[cfg(test)]
mod tests {
    use geomi_model::LinkKind;
    use geomi_url::CrawlUrl;

    use super::*;
    use crate::{Action, Addresses, Config, FrontierId, LaneState, Resolved, SiteState, Work};

    const NOW: Timestamp = Timestamp::from_secs(1_000);
    const END: Position = Position {
        chunk: u64::MAX,
        index: 0,
    };

    fn entry(page: u32) -> Entry {
        Entry {
            url: CrawlUrl::parse(&format!("http://a.test/{page}")).unwrap(),
            seed: page,
            via: None,
            kind: LinkKind::Anchor,
            depth: 0,
            priority: 1,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before: None,
        }
    }

    #[test]
    fn what_was_admitted_since_the_last_commit_follows_what_is_read_back() {
        let mut state = SiteState::new(entry(0).url.site());
        state.lanes[0] = LaneState {
            next_chunk: 1,
            len: 1,
            ..LaneState::default()
        };
        let mut addresses = Addresses::new();
        let config = Config {
            ask_robots: false,
            front_len_max: 2,
            ..Config::default()
        };
        let mut frontier = Frontier::new(FrontierId(0), config);
        frontier.open_site(state, NOW, NOW);
        for page in 1..4 {
            frontier.admit(entry(page), NOW);
        }
        let (mut visited, mut now) = (Vec::new(), NOW);
        while visited.len() < 4 {
            match frontier.poll(now, &mut addresses) {
                Action::Lease(lease) => {
                    if let Work::Page(entry, _) = lease.work().clone() {
                        visited.push(entry.seed);
                        let done = crate::Settlement::NotAsked;
                        frontier.settle(lease, done, &mut addresses, now);
                    } else {
                        let resolved = Resolved::Address {
                            addr: [127, 0, 0, 1].into(),
                            until: Timestamp::from_secs(9_000),
                            is_public: false,
                        };
                        frontier.settle_resolve(lease, resolved, now);
                    }
                }
                Action::Refill {
                    site, lane, from, ..
                } => {
                    // Only the first chunk is on disk.
                    let position = Position::default();
                    let entries = Vec::from_iter((from == position).then(|| (from, entry(0))));
                    frontier.refilled(site, lane, entries, END, now);
                }
                Action::Wait(when) => now = when.expect("URLs wait"),
            }
            frontier.check_invariants();
        }
        assert_eq!(visited, [0, 1, 2, 3]);
        assert_eq!(frontier.counts().waiting, 0);
    }
}
