//! The sites of a partition that have URLs waiting, in the order of their turns.
//!
//! A bounded number of sites is in memory. The list is in the partition's state, one
//! numbered row a site, and has every site with URLs waiting, those in memory
//! included: so opening a crawl reads as many rows as there is room for sites
//! and no more, and a crash loses no site. Sites not in memory that are given
//! URLs have them *parked*: they gather ([`Gather`]) and are later written to
//! their queues, many at once, without the site being opened. Sites in memory that
//! have plenty may have more parked, which join their queues by way of the
//! frontier.
//!
//! A row may outlive its reason (its site was emptied, or got another row): it
//! is deleted when its turn comes. A site without a row has URLs waiting among
//! the gathered only; it gets one when they join its queue.

use std::collections::BTreeMap;

use geomi_frontier::{Entry, LaneState, PageOrder, SiteState};
use geomi_state::{Scan, State};
use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::compact::{self, Chunk};
use super::gather::Gather;
use crate::EngineError;
use crate::keys;

/// Rows read at once.
const ROWS_READ: usize = 256;
/// Entries of a chunk: reading some of them back means fetching all.
const CHUNK_LEN_MAX: usize = 128;
/// Sites that join the list at once when it has come to its end.
const SPILLED_AT_END: usize = 256;

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
    /// The first row of a retired site: it is there for the next run.
    left_alone: Option<u64>,
    /// URLs of sites that are not in memory and not in their queues yet.
    gather: Gather,
    /// The list came to its end while URLs were gathered.
    is_hungry: bool,
}

impl SiteList {
    /// Nothing, in a partition that has no list yet.
    pub(super) fn open(state: &State, gather_bytes: usize) -> Result<Option<Self>, EngineError> {
        let bounds: Option<Bounds> = super::read(state, "list", &keys::site_list())?;
        let gather = Gather::open(state, gather_bytes)?;
        if bounds.is_none() && !gather.is_begun() {
            return Ok(None);
        }
        let bounds = bounds.unwrap_or_default();
        Ok(Some(Self {
            cursor: bounds.first,
            bounds,
            written: bounds,
            gather,
            ..Self::default()
        }))
    }

    /// An empty list.
    pub(super) fn new(gather_bytes: usize) -> Self {
        Self {
            gather: Gather::new(gather_bytes),
            ..Self::default()
        }
    }

    /// Whether sites wait for their turn.
    pub(super) fn others_wait(&self) -> bool {
        !self.read.is_empty() || self.cursor < self.bounds.end || !self.gather.is_empty()
    }

    /// The next site in the list that is not in memory.
    pub(super) fn next(
        &mut self,
        state: &mut State,
    ) -> Result<Option<(u64, SiteHash)>, EngineError> {
        loop {
            if self.read.is_empty() {
                self.read_on(state)?;
            }
            let Some((row, site)) = self.read.pop() else {
                self.is_hungry = !self.gather.is_empty();
                return Ok(None);
            };
            match self.rows.get(&site) {
                None => return Ok(Some((row, site))),
                Some(known) if *known == row => {}
                Some(_) => state.delete(&keys::listed(row)),
            }
        }
    }

    fn read_on(&mut self, state: &State) -> Result<(), EngineError> {
        let (from, to) = (keys::listed(self.cursor), keys::listed(self.bounds.end));
        let read = &mut self.read;
        state.scan(&from, &to, &mut |key, site| {
            read.extend(keys::listed_row(key).zip(keys::listed_site(site)));
            if read.len() < ROWS_READ {
                Scan::Continue
            } else {
                Scan::Stop
            }
        })?;
        self.cursor = match read.last() {
            Some((row, _)) if read.len() == ROWS_READ => row + 1,
            _ => self.cursor.max(self.bounds.end),
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
        state: &mut State,
    ) -> Result<Vec<Entry>, EngineError> {
        if !self.rows.contains_key(&site) {
            let nobody_waits = !self.others_wait();
            let row = self.append(site, state);
            self.rows.insert(site, row);
            if nobody_waits {
                self.cursor = self.bounds.end;
            }
        }
        self.take_parked(site)
    }

    /// What was parked for a site.
    pub(super) fn take_parked(&mut self, site: SiteHash) -> Result<Vec<Entry>, EngineError> {
        let parked = self.gather.take(site);
        parked.map_or(Ok(Vec::new()), |chunk| compact::decode(chunk.as_bytes()))
    }

    /// A row read has no use any more.
    pub(super) fn drop_row(row: u64, state: &mut State) {
        state.delete(&keys::listed(row));
    }

    /// The row of a retired site stays for the next run.
    pub(super) fn keep_row(&mut self, row: u64) {
        self.left_alone = Some(self.left_alone.map_or(row, |first| first.min(row)));
    }

    /// A site was taken out of memory: with URLs waiting it joins the end.
    pub(super) fn closed(&mut self, site: SiteHash, has_urls: bool, state: &mut State) {
        if let Some(row) = self.rows.remove(&site) {
            Self::drop_row(row, state);
        }
        if has_urls {
            self.append(site, state);
        }
    }

    /// A site was taken out of memory for the rest of this run.
    pub(super) fn retired(&mut self, site: SiteHash) {
        if let Some(row) = self.rows.remove(&site) {
            self.keep_row(row);
        }
    }

    fn append(&mut self, site: SiteHash, state: &mut State) -> u64 {
        let row = self.bounds.end;
        state.put(&keys::listed(row), &site.0.to_be_bytes());
        self.bounds.end += 1;
        row
    }

    /// Keeps a URL of a site that is not in memory.
    pub(super) fn park(&mut self, entry: &Entry) {
        self.gather.park(entry);
    }

    /// What is parked.
    pub(super) const fn parked(&self) -> &Gather {
        &self.gather
    }

    pub(super) fn is_dirty(&self) -> bool {
        self.gather.is_dirty() || self.is_hungry
    }

    /// Lets what was parked for long join the queues, as far as memory asks for it.
    /// What belongs to sites in memory is given back, to be admitted in this commit.
    pub(super) fn spill_due(
        &mut self,
        is_open: &dyn Fn(SiteHash) -> bool,
        order: PageOrder,
        state: &mut State,
    ) -> Result<Vec<Entry>, EngineError> {
        let mut wanted = if self.is_hungry { SPILLED_AT_END } else { 0 };
        self.is_hungry = false;
        let mut open = Vec::new();
        while let Some(site) = self.gather.due().or_else(|| {
            wanted = wanted.checked_sub(1)?;
            self.gather.first()
        }) {
            let chunk = self.gather.take(site).expect("a site due is gathered");
            if is_open(site) {
                open.extend(compact::decode(chunk.as_bytes())?);
            } else {
                self.spill(site, &chunk, order, state)?;
            }
        }
        Ok(open)
    }

    /// Adds the log of what is parked, and the bounds, to a commit.
    pub(super) fn write(&mut self, state: &mut State) {
        self.gather.write(state);
        let held = self.rows.values().chain(&self.left_alone);
        let unread = self.read.last().map_or(self.cursor, |(row, _)| *row);
        self.bounds.first = held.copied().fold(unread, u64::min);
        if self.bounds != self.written {
            state.put(&keys::site_list(), &keys::encode(&self.bounds));
            self.written = self.bounds;
        }
    }

    /// Adds what was gathered for a site to its queue.
    fn spill(
        &mut self,
        site: SiteHash,
        gathered: &Chunk,
        order: PageOrder,
        state: &mut State,
    ) -> Result<(), EngineError> {
        let known: Option<SiteState> = super::read(state, "site", &keys::site(site))?;
        let mut known = match known {
            Some(known) => known,
            None => SiteState::new(site_of(gathered)?.site()),
        };
        if known.pending() == 0 {
            self.append(site, state);
        }
        let mut lanes: BTreeMap<u8, Vec<&[u8]>> = BTreeMap::new();
        for ((priority, depth), record) in compact::records(gathered)? {
            let lane = order.lane(priority, depth);
            lanes.entry(lane).or_default().push(record);
        }
        for (lane, records) in lanes {
            let index = usize::from(lane);
            if known.lanes.len() <= index {
                known.lanes.resize(index + 1, LaneState::default());
            }
            let queue = &mut known.lanes[index];
            for some in records.chunks(CHUNK_LEN_MAX) {
                let mut chunk = Chunk::new(gathered.origin());
                for record in some {
                    chunk.push_record(record);
                }
                let key = keys::chunk(site, lane, queue.next_chunk);
                state.put(&key, chunk.as_bytes());
                queue.next_chunk += 1;
                queue.len += some.len() as u64;
            }
        }
        state.put(&keys::site(site), &keys::encode(&known));
        Ok(())
    }
}

/// A URL of the site that a chunk is of.
pub(super) fn site_of(chunk: &Chunk) -> Result<CrawlUrl, EngineError> {
    CrawlUrl::parse(chunk.origin()).map_err(|error| EngineError::Damaged {
        what: format!("the origin of a queue ({error})"),
    })
}
