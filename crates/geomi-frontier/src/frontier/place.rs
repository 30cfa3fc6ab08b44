//! Where a site stands: in the heap of those that wait for a moment, in the
//! heap of those that are ready, or in neither.
//!
//! A site's entry in a heap carries a ticket. Placing a site anew gives it a
//! new ticket, which makes the old entry stale; stale entries are dropped when
//! they come up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::Frontier;
use crate::order::Load;
use crate::site::Place;

/// A moment or a key, the ticket of a site, and the site.
type Placed<K> = Reverse<(K, u64, SiteHash)>;

/// The sites that wait for a moment, and those that are ready.
#[derive(Debug, Default)]
pub(super) struct SiteQueue {
    waiting: BinaryHeap<Placed<Timestamp>>,
    ready: BinaryHeap<Placed<i64>>,
    last_ticket: u64,
}

impl SiteQueue {
    pub(super) fn next_ticket(&mut self) -> u64 {
        self.last_ticket += 1;
        self.last_ticket
    }

    /// The site whose moment comes first, and its ticket.
    pub(super) fn first_waiting(&self) -> Option<(Timestamp, u64, SiteHash)> {
        self.waiting.peek().map(|Reverse(first)| *first)
    }

    fn pop_waiting(&mut self) {
        self.waiting.pop();
    }

    fn push_waiting(&mut self, until: Timestamp, ticket: u64, site: SiteHash) {
        self.waiting.push(Reverse((until, ticket, site)));
    }

    /// The ready site that goes first, and its ticket.
    pub(super) fn pop_ready(&mut self) -> Option<(u64, SiteHash)> {
        let Reverse((_, ticket, site)) = self.ready.pop()?;
        Some((ticket, site))
    }

    fn push_ready(&mut self, key: i64, ticket: u64, site: SiteHash) {
        self.ready.push(Reverse((key, ticket, site)));
    }

    fn ready_len(&self) -> usize {
        self.ready.len()
    }
}

impl Frontier {
    /// Moves the sites whose time has come from waiting to ready.
    pub(super) fn wake(&mut self, now: Timestamp) {
        while let Some((when, ticket, hash)) = self.queue.first_waiting() {
            let is_current = self
                .sites
                .get(&hash)
                .is_some_and(|site| site.ticket == ticket && site.place == Place::Waiting(when));
            if is_current && when > now {
                return;
            }
            // Due, or left behind by a site that was placed elsewhere since.
            self.queue.pop_waiting();
            if is_current {
                self.make_ready(hash, when);
            }
        }
    }

    /// Puts a site into the heap it belongs in.
    pub(super) fn place(&mut self, hash: SiteHash, now: Timestamp) {
        let Some(site) = self.sites.get_mut(&hash) else {
            return;
        };
        let due = site.next_due(now);
        if matches!((site.place, due), (Place::Waiting(before), Some(due)) if before == due && due > now)
        {
            return;
        }
        site.ticket = self.queue.next_ticket();
        if due.is_none_or(|due| due > now) {
            let call = site.take_call(self.id);
            self.outbox.pass_on(call);
        }
        match due {
            None => site.place = Place::Idle,
            Some(due) if due <= now => self.make_ready(hash, now),
            Some(due) => {
                site.place = Place::Waiting(due);
                self.queue.push_waiting(due, site.ticket, hash);
            }
        }
    }

    /// After an admission: a site already ready, or in line for an address,
    /// keeps its place in the queue of sites.
    pub(super) fn replace_if_resting(&mut self, hash: SiteHash, now: Timestamp) {
        let place = self.sites.get(&hash).map(|site| site.place);
        if matches!(place, Some(Place::Idle | Place::Waiting(_))) {
            self.place(hash, now);
        }
    }

    pub(super) fn make_ready(&mut self, hash: SiteHash, ready_at: Timestamp) {
        let site = self
            .sites
            .get_mut(&hash)
            .expect("a site made ready is open");
        site.place = Place::Ready;
        let load = Load {
            ready: self.queue.ready_len(),
            waiting: self.counts.waiting,
            pace: &self.pace,
        };
        let view = site.view(ready_at, &self.config.politeness);
        let key = self.config.order.policy().key(&view, &load);
        self.queue.push_ready(key, site.ticket, hash);
    }
}
