//! The sites of a partition that have URLs waiting, in the order of their turns.
//!
//! Only so many sites are in memory. The list is in the partition's state, one
//! numbered row a site, and has every site with URLs waiting, those in memory
//! included: so opening a crawl reads as many rows as there is room for sites
//! and no more, and a crash forgets nobody. Sites not in memory that are given
//! URLs have them *parked*: written to their queues in the next commit, without
//! being opened.
//!
//! A row may outlive its reason (its site was emptied, or got another row): it
//! is deleted when its turn comes. A site without a row never has URLs waiting.

use std::collections::BTreeMap;

use geomi_frontier::{Entry, SiteState};
use geomi_store::state::{Batch, Scan, StateStore};
use geomi_url::SiteHash;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::keys;

/// Rows read at once.
const ROWS_READ: usize = 256;
/// Entries of a chunk: reading some of them back means reading all.
const CHUNK_LEN_MAX: usize = 512;

/// What is kept of the list itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Bounds {
    /// No row before this one is of use.
    first: u64,
    /// The next row to be written.
    end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct SiteList {
    /// The rows of the sites in memory.
    rows: HashMap<SiteHash, u64>,
    /// Rows read whose turn has not come, the next one last.
    read: Vec<(u64, SiteHash)>,
    /// The next row to be read.
    cursor: u64,
    bounds: Bounds,
    written: Bounds,
    /// The first row of a site that is left alone: it is there for the next run.
    left_alone: Option<u64>,
    /// URLs of sites that are not in memory, to be written with the next commit.
    parked: HashMap<SiteHash, BTreeMap<u8, Vec<Entry>>>,
}

impl SiteList {
    /// Nothing, in a partition that has no list yet.
    pub(super) fn open(store: &dyn StateStore) -> Result<Option<Self>, CrawlError> {
        let bounds: Option<Bounds> = super::read(store, "list", &keys::site_list())?;
        Ok(bounds.map(|bounds| Self {
            cursor: bounds.first,
            bounds,
            written: bounds,
            ..Self::default()
        }))
    }

    /// Whether sites wait for their turn.
    pub(super) fn others_wait(&self) -> bool {
        !self.read.is_empty() || self.cursor < self.bounds.end || !self.parked.is_empty()
    }

    /// The next site in the list that is not in memory, of the rows committed.
    pub(super) fn next(
        &mut self,
        store: &dyn StateStore,
        batch: &mut Batch,
    ) -> Result<Option<(u64, SiteHash)>, CrawlError> {
        loop {
            if self.read.is_empty() {
                self.read_on(store)?;
            }
            let Some((row, site)) = self.read.pop() else {
                return Ok(None);
            };
            match self.rows.get(&site) {
                None => return Ok(Some((row, site))),
                Some(known) if *known == row => {}
                Some(_) => batch.delete(&keys::listed(row)),
            }
        }
    }

    fn read_on(&mut self, store: &dyn StateStore) -> Result<(), CrawlError> {
        let (from, to) = (keys::listed(self.cursor), keys::listed(self.written.end));
        let read = &mut self.read;
        store.scan(&from, &to, &mut |key, site| {
            read.extend(keys::listed_row(key).zip(keys::listed_site(site)));
            if read.len() < ROWS_READ {
                Scan::Continue
            } else {
                Scan::Stop
            }
        })?;
        self.cursor = match read.last() {
            Some((row, _)) if read.len() == ROWS_READ => row + 1,
            _ => self.cursor.max(self.written.end),
        };
        read.reverse();
        Ok(())
    }

    /// A site was opened at its turn.
    pub(super) fn opened(&mut self, row: u64, site: SiteHash) {
        self.rows.insert(site, row);
    }

    /// A site is in memory and must have a row; what was parked for it.
    pub(super) fn add(
        &mut self,
        site: SiteHash,
        batch: &mut Batch,
    ) -> impl Iterator<Item = Entry> + use<> {
        if !self.rows.contains_key(&site) {
            let nobody_waits = !self.others_wait();
            let row = self.append(site, batch);
            self.rows.insert(site, row);
            if nobody_waits {
                self.cursor = self.bounds.end;
            }
        }
        let parked = self.parked.remove(&site);
        parked.into_iter().flatten().flat_map(|(_, lane)| lane)
    }

    /// A row read has no use any more.
    pub(super) fn drop_row(row: u64, batch: &mut Batch) {
        batch.delete(&keys::listed(row));
    }

    /// The row of a site that is left alone stays for the next run.
    pub(super) fn keep_row(&mut self, row: u64) {
        self.left_alone = Some(self.left_alone.map_or(row, |first| first.min(row)));
    }

    /// A site was taken out of memory: with URLs waiting it joins the end.
    pub(super) fn closed(&mut self, site: SiteHash, has_urls: bool, batch: &mut Batch) {
        if let Some(row) = self.rows.remove(&site) {
            Self::drop_row(row, batch);
        }
        if has_urls {
            self.append(site, batch);
        }
    }

    /// A site was taken out of memory for the rest of this run.
    pub(super) fn retired(&mut self, site: SiteHash) {
        if let Some(row) = self.rows.remove(&site) {
            self.keep_row(row);
        }
    }

    fn append(&mut self, site: SiteHash, batch: &mut Batch) -> u64 {
        let row = self.bounds.end;
        batch.put(&keys::listed(row), &site.0.to_be_bytes());
        self.bounds.end += 1;
        row
    }

    /// Keeps a URL of a site that is not in memory for the next commit.
    pub(super) fn park(&mut self, entry: Entry) {
        let lane = entry.priority.clamp(1, geomi_frontier::PRIORITIES) - 1;
        let lanes = self.parked.entry(entry.url.site_hash()).or_default();
        lanes.entry(lane).or_default().push(entry);
    }

    /// Whether a URL of that site is parked.
    pub(super) fn is_parked(&self, site: SiteHash) -> bool {
        self.parked.contains_key(&site)
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Adds what is parked, and the bounds, to a commit.
    pub(super) fn write(
        &mut self,
        store: &dyn StateStore,
        batch: &mut Batch,
    ) -> Result<(), CrawlError> {
        for (site, lanes) in std::mem::take(&mut self.parked) {
            self.write_parked(site, lanes, store, batch)?;
        }
        let held = self.rows.values().chain(&self.left_alone);
        let unread = self.read.last().map_or(self.cursor, |(row, _)| *row);
        self.bounds.first = held.copied().fold(unread, u64::min);
        if self.bounds != self.written {
            batch.put(&keys::site_list(), &keys::encode(&self.bounds));
            self.written = self.bounds;
        }
        Ok(())
    }

    fn write_parked(
        &mut self,
        site: SiteHash,
        lanes: BTreeMap<u8, Vec<Entry>>,
        store: &dyn StateStore,
        batch: &mut Batch,
    ) -> Result<(), CrawlError> {
        let state: Option<SiteState> = super::read(store, "site", &keys::site(site))?;
        let first = lanes.values().flatten().next();
        let mut state = state.unwrap_or_else(|| {
            SiteState::new(first.expect("nothing is parked for nobody").url.site())
        });
        if state.pending() == 0 {
            self.append(site, batch);
        }
        for (lane, entries) in lanes {
            let queue = &mut state.lanes[usize::from(lane)];
            for chunk in entries.chunks(CHUNK_LEN_MAX) {
                let key = keys::chunk(site, lane, queue.next_chunk);
                batch.put(&key, &keys::encode(&chunk));
                queue.next_chunk += 1;
                queue.len += chunk.len() as u64;
            }
        }
        batch.put(&keys::site(site), &keys::encode(&state));
        Ok(())
    }
}
