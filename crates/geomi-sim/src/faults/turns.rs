//! Which sites are in memory: the others wait for their turn, and each that is well is
//! contacted within a bound.
//!
//! Only while the web is crawled first: a process that keeps the crawl fresh opens the
//! sites it needs.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use geomi_frontier::{Append, Entry, Save, SiteState};
use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::mutation::Mutation;
use super::world::World;

/// How long a site is in memory while others wait.
pub(super) const TURN_TIME: Duration = Duration::from_mins(1);
/// How long a site that is well may wait for its first request: all others have a turn
/// before it, each with a request at its end that takes long.
const CONTACT_MAX: Duration = Duration::from_mins(10);
/// A site that rests for longer is not opened before.
const LONG_REST: Duration = Duration::from_secs(10);

/// The sites that are not in memory.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Sites with URLs waiting, in the order of their turns.
    line: VecDeque<SiteHash>,
    /// Those that got URLs since the last commit, as the next one writes them.
    parked: BTreeMap<SiteHash, SiteState>,
    /// Since when a site has waited for its first request of this process, in true time.
    uncontacted: BTreeMap<SiteHash, (Timestamp, String)>,
}

impl Turns {
    /// The process died.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether sites wait.
    pub(super) fn others_wait(&self) -> bool {
        !self.line.is_empty()
    }

    /// A site was contacted, or a page of it dealt with without a request.
    pub(super) fn served(&mut self, site: SiteHash) {
        self.uncontacted.remove(&site);
    }
}

impl World {
    /// Queues a URL: a site that is not in memory is opened for it only if there is room
    /// and nobody waits for it.
    pub(super) fn enqueue(&mut self, entry: Entry) {
        let site = entry.url.site_hash();
        let is_known = self.frontier.is_open(site) || self.turns.parked.contains_key(&site);
        if !is_known && !self.freshens {
            let waits = (self.now, entry.url.to_string());
            self.turns.uncontacted.entry(site).or_insert(waits);
        }
        let may_open = !self.turns.others_wait() && self.frontier.has_room();
        if self.frontier.is_open(site) || may_open || self.freshens {
            self.ensure_open(&entry.url);
            let now = self.clock();
            self.frontier.admit(entry, now);
            return;
        }
        self.park(entry);
    }

    /// Adds a URL to the queue of a site that is not in memory.
    fn park(&mut self, entry: Entry) {
        let site = entry.url.site_hash();
        let partition = self.partition(site);
        let stored = self.disks[partition].sites.get(&site);
        let state = (self.turns.parked.entry(site)).or_insert_with(|| {
            stored
                .cloned()
                .unwrap_or_else(|| SiteState::new(entry.url.site()))
        });
        let lane = entry.priority - 1;
        let queue = &mut state.lanes[usize::from(lane)];
        let chunk = queue.next_chunk;
        queue.next_chunk += 1;
        queue.len += 1;
        self.batches[partition].appends.push(Append {
            site,
            lane,
            chunk,
            entries: vec![Arc::new(entry)],
        });
        if !self.turns.line.contains(&site) {
            self.turns.line.push_back(site);
        }
    }

    /// The state of a site that is to be opened, with what it was given since the last
    /// commit.
    pub(super) fn unpark(&mut self, site: SiteHash) -> Option<SiteState> {
        let state = self.turns.parked.remove(&site)?;
        self.batches[self.web.site(site) % super::world::PARTITIONS]
            .saves
            .push(Save {
                state: state.clone(),
                freed: Vec::new(),
            });
        Some(state)
    }

    /// Puts the queues of sites that are not in memory into the next commit.
    pub(super) fn save_parked(&mut self) {
        let sites: Vec<SiteHash> = self.turns.parked.keys().copied().collect();
        for site in sites {
            self.unpark(site);
        }
    }

    /// A site that was found on disk waits for its turn.
    pub(super) fn line_up(&mut self, state: &SiteState) {
        let waits = (self.now, state.key.to_string());
        self.turns.uncontacted.insert(state.key.hash64(), waits);
        self.turns.line.push_back(state.key.hash64());
    }

    /// After a commit: sites that have had their turn go, and the next ones come.
    pub(super) fn take_turns(&mut self) {
        let now = self.clock();
        let others_wait = self.turns.others_wait();
        for closed in self.frontier.close_sites(others_wait, now) {
            if closed.pending > 0 && !closed.is_retired {
                self.turns.line.push_back(closed.site);
            }
        }
        if self.is(Mutation::TurnsNotTaken) {
            return;
        }
        for _ in 0..self.turns.line.len() {
            let Some(site) = self.turns.line.pop_front() else {
                return;
            };
            let state = self.disks[self.partition(site)].sites.get(&site).cloned();
            match state {
                _ if self.frontier.is_open(site) => {}
                Some(state) if self.frontier.is_retired(&state) || state.pending() == 0 => {}
                Some(state) if self.frontier.has_room() && !rests_long(&state, now) => {
                    self.open(state);
                }
                _ => self.turns.line.push_back(site),
            }
        }
    }

    /// When the sites that wait are looked at again, in true time.
    pub(super) fn turns_wakeup(&self) -> Option<Timestamp> {
        let soon = self.clock() + Duration::from_secs(1);
        let states =
            (self.turns.line.iter()).map(|site| self.disks[self.partition(*site)].sites.get(site));
        let when = states.map(|state| match state {
            Some(state) if rests_long(state, self.clock()) => rest_ends(state) - LONG_REST,
            _ => soon,
        });
        when.min().map(|when| self.true_time(when.max(soon)))
    }

    /// What must hold at every step: no site that is well waits for ever, whatever the
    /// others do.
    pub(super) fn check_contacts(&self) -> Result<(), String> {
        for (site, (since, name)) in &self.turns.uncontacted {
            let waited = self.now.since(*since);
            let url = self.web.front(self.web.site(*site));
            if waited > CONTACT_MAX && self.web.is_well(url, *since, self.now) {
                let waited = waited.as_secs();
                return Err(format!(
                    "a site that is well is contacted within a bound: {name} waited {waited} s"
                ));
            }
        }
        Ok(())
    }
}

fn rest_ends(state: &SiteState) -> Timestamp {
    state.backoff_until.max(state.throttled_until)
}

fn rests_long(state: &SiteState, now: Timestamp) -> bool {
    rest_ends(state).since(now) > LONG_REST
}
