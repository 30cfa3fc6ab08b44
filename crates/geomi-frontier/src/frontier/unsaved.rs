//! What changed since the last commit, to be written in the next one.

use std::sync::Arc;

use geomi_url::SiteHash;
use hashbrown::HashMap;

use super::Append;
use crate::Entry;
use crate::lane::Position;

/// Entries of a chunk: reading some of them back means reading all.
const CHUNK_LEN_MAX: usize = 512;

/// New chunks of queues, and sites whose state changed.
#[derive(Debug, Default)]
pub(super) struct Unsaved {
    /// Chunks being filled, by site and lane.
    filling: HashMap<(SiteHash, u8), Append>,
    full: Vec<Append>,
    dirty: Vec<SiteHash>,
}

impl Unsaved {
    /// Appends an entry to the queue of a lane and says where it is. If that begins a
    /// chunk, `begin_chunk` numbers it.
    pub(super) fn append(
        &mut self,
        site: SiteHash,
        lane: u8,
        entry: Arc<Entry>,
        begin_chunk: impl FnOnce() -> u64,
    ) -> Position {
        let append = self.filling.entry((site, lane)).or_insert_with(|| Append {
            site,
            lane,
            chunk: begin_chunk(),
            entries: Vec::new(),
        });
        let position = Position {
            chunk: append.chunk,
            index: append.entries.len() as u32,
        };
        append.entries.push(entry);
        if append.entries.len() == CHUNK_LEN_MAX {
            self.full.extend(self.filling.remove(&(site, lane)));
        }
        position
    }

    /// The chunks of a lane, in order.
    pub(super) fn of_lane(&self, site: SiteHash, lane: u8) -> impl Iterator<Item = &Append> {
        let full = self.full.iter();
        full.filter(move |append| append.site == site && append.lane == lane)
            .chain(self.filling.get(&(site, lane)))
    }

    pub(super) fn take_appends(&mut self) -> impl Iterator<Item = Append> + '_ {
        let full = self.full.drain(..);
        full.chain(self.filling.drain().map(|(_, append)| append))
    }

    /// Notes that a site changed, once per commit.
    pub(super) fn note(&mut self, site: SiteHash) {
        self.dirty.push(site);
    }

    /// The sites that changed.
    pub(super) fn dirty(&self) -> &[SiteHash] {
        &self.dirty
    }

    pub(super) fn take_dirty(&mut self) -> Vec<SiteHash> {
        std::mem::take(&mut self.dirty)
    }
}
