//! URLs of sites that are not in memory, gathered before they join their queues.
//!
//! Links of a page go to many sites, and most of those are not in memory. To add
//! each to its site's queue at once means to read and write a site's state for
//! every second URL. So they gather here, a chunk a site, until memory is short,
//! they have grown old, or their site is opened; each commit writes what it
//! gathered as one row of a log.
//!
//! A row is entries and, in between, the sites that were *taken*: from then on
//! what was gathered for that site is in its queue, in the same commit. Opening
//! reads the rows in order and does the same again. The site gathered for longest
//! is spilled first, so that rows at the front of the log come free.

use std::collections::VecDeque;
use std::ops::Range;

use geomi_frontier::Entry;
use geomi_state::{Scan, State};
use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;

use super::compact::{self, Chunk};
use crate::EngineError;
use crate::keys;

/// A site is spilled after this many commits at the latest, so that it gets its
/// turn.
const COMMITS_MAX: u64 = 2_048;
/// What a site takes beside its chunk: its places in the table and the line.
const SITE_BYTES: usize = 120;

/// The tags of a row.
const ENTRY: u8 = 0;
const TAKEN: u8 = 1;
/// An entry found on the same page as the one before it in the row.
const SAME_PAGE: u8 = 2;

#[derive(Debug)]
struct Gathered {
    /// The row its first entry is in, and the commit that wrote it.
    row: u64,
    commit: u64,
    chunk: Chunk,
}

#[derive(Debug, Default)]
pub(super) struct Gather {
    sites: HashMap<SiteHash, Gathered>,
    /// The sites, the one gathered for longest first. Those taken meanwhile are
    /// still in line.
    line: VecDeque<(u64, SiteHash)>,
    bytes: usize,
    bytes_max: usize,
    /// The row of this commit, and the page its last entry was found on.
    fresh: Vec<u8>,
    fresh_via: Option<CrawlUrl>,
    /// The first row that is kept, and the next one to be written.
    rows: Range<u64>,
    /// The first row, as the state has it.
    written_from: Option<u64>,
    commits: u64,
}

impl Gather {
    /// An empty one, that takes about so much memory.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            ..Self::default()
        }
    }

    /// Reads the log.
    pub(super) fn open(state: &State, bytes_max: usize) -> Result<Self, EngineError> {
        let mut gather = Self::new(bytes_max);
        let first: Option<u64> = super::read(state, "gathered", &keys::gathered_from())?;
        let Some(first) = first else {
            return Ok(gather);
        };
        gather.rows = first..first;
        gather.written_from = Some(first);
        let (_, end) = keys::all(b'k');
        let mut broken = None;
        state.scan(&keys::gathered(first), &end, &mut |key, row| {
            let read = keys::gathered_row(key)
                .ok_or_else(|| damaged("key"))
                .and_then(|number| gather.replay(number, row));
            match read {
                Ok(()) => Scan::Continue,
                Err(error) => {
                    broken = Some(error);
                    Scan::Stop
                }
            }
        })?;
        gather.fresh.clear();
        gather.fresh_via = None;
        broken.map_or(Ok(gather), Err)
    }

    fn replay(&mut self, number: u64, row: &[u8]) -> Result<(), EngineError> {
        self.rows.end = number;
        let mut text = String::new();
        let mut via = None;
        let mut rest = row;
        while let Some((tag, after)) = rest.split_first() {
            rest = if *tag == TAKEN {
                let (site, after) = after.split_first_chunk().ok_or_else(|| damaged("site"))?;
                self.forget(SiteHash(u64::from_le_bytes(*site)));
                after
            } else {
                let (mut entry, after) = compact::decode_one("", after, &mut text)?;
                if *tag == SAME_PAGE {
                    entry.via = via;
                }
                self.park(&entry);
                via = entry.via;
                after
            };
        }
        self.rows.end = number + 1;
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    pub(super) fn contains(&self, site: SiteHash) -> bool {
        self.sites.contains_key(&site)
    }

    /// Whether anything was ever gathered.
    pub(super) const fn is_begun(&self) -> bool {
        self.written_from.is_some()
    }

    /// Whether the next commit has something to write of it.
    pub(super) fn is_dirty(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Keeps a URL.
    pub(super) fn park(&mut self, entry: &Entry) {
        let is_same = !self.fresh.is_empty() && entry.via == self.fresh_via;
        self.fresh.push(if is_same { SAME_PAGE } else { ENTRY });
        compact::encode_full(entry, !is_same, &mut self.fresh);
        if !is_same {
            self.fresh_via.clone_from(&entry.via);
        }
        let site = entry.url.site_hash();
        let (row, commit) = (self.rows.end, self.commits);
        let (line, bytes) = (&mut self.line, &mut self.bytes);
        let gathered = self.sites.entry(site).or_insert_with(|| {
            line.push_back((row, site));
            *bytes += SITE_BYTES;
            let chunk = Chunk::new(entry.url.origin());
            Gathered { row, commit, chunk }
        });
        let before = gathered.chunk.memory_bytes();
        gathered.chunk.push(entry);
        let after = gathered.chunk.memory_bytes();
        self.bytes += after - if gathered.chunk.len() == 1 { 0 } else { before };
    }

    /// What was gathered for a site. It must be in its queue with this commit.
    pub(super) fn take(&mut self, site: SiteHash) -> Option<Chunk> {
        let chunk = self.forget(site)?;
        self.fresh.push(TAKEN);
        self.fresh.extend_from_slice(&site.0.to_le_bytes());
        Some(chunk)
    }

    fn forget(&mut self, site: SiteHash) -> Option<Chunk> {
        let chunk = self.sites.remove(&site)?.chunk;
        self.bytes -= chunk.memory_bytes() + SITE_BYTES;
        self.drop_taken();
        Some(chunk)
    }

    /// Keeps the head of the line a site that is still gathered.
    fn drop_taken(&mut self) {
        while let Some((row, site)) = self.line.front()
            && self.sites.get(site).is_none_or(|found| found.row != *row)
        {
            self.line.pop_front();
        }
    }

    /// The site gathered for longest, if memory is short or it is old.
    pub(super) fn due(&self) -> Option<SiteHash> {
        let (_, site) = self.line.front()?;
        let is_old = self.sites[site].commit + COMMITS_MAX < self.commits;
        (is_old || self.bytes > self.bytes_max).then_some(*site)
    }

    /// The site gathered for longest.
    pub(super) fn first(&self) -> Option<SiteHash> {
        self.line.front().map(|(_, site)| *site)
    }

    /// What is gathered for a site, read-only.
    pub(super) fn entries(&self, site: SiteHash) -> Result<Vec<Entry>, EngineError> {
        let found = self.sites.get(&site);
        found.map_or(Ok(Vec::new()), |found| {
            compact::decode(found.chunk.as_bytes())
        })
    }

    /// Adds the row of this commit to it, and removes those that came free.
    pub(super) fn write(&mut self, state: &mut State) {
        self.commits += 1;
        if !self.fresh.is_empty() {
            state.put(&keys::gathered(self.rows.end), &self.fresh);
            self.fresh.clear();
            self.fresh_via = None;
            self.rows.end += 1;
        }
        let first = self.line.front().map_or(self.rows.end, |(row, _)| *row);
        for row in self.rows.start..first {
            state.delete(&keys::gathered(row));
        }
        self.rows.start = first;
        if self.rows.end > 0 && self.written_from != Some(first) {
            state.put(&keys::gathered_from(), &keys::encode(&first));
            self.written_from = Some(first);
        }
    }
}

fn damaged(what: &str) -> EngineError {
    EngineError::Damaged {
        what: format!("a {what} of the gathered URLs"),
    }
}

#[cfg(test)]
mod tests {
    use geomi_model::LinkKind;
    use geomi_state::MemoryStore;
    use geomi_url::CrawlUrl;

    use super::*;

    fn entry(site: u32, page: u32) -> Entry {
        Entry {
            url: CrawlUrl::parse(&format!("http://s{site}.test/{page}")).unwrap(),
            seed: 0,
            // Pages that share the page they were found on, and pages that do not.
            via: (page > 0)
                .then(|| CrawlUrl::parse(&format!("http://v{}.test/", page / 2)).unwrap()),
            kind: LinkKind::Anchor,
            depth: 1,
            priority: 3,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before: None,
        }
    }

    fn commit(gather: &mut Gather, state: &mut State) {
        gather.write(state);
        state.commit().unwrap();
    }

    fn rows(state: &State) -> usize {
        let (from, to) = keys::all(b'k');
        let mut rows = 0;
        let count = &mut |_: &[u8], _: &[u8]| {
            rows += 1;
            Scan::Continue
        };
        state.scan(&from, &to, count).unwrap();
        rows
    }

    #[test]
    fn what_was_gathered_and_not_taken_is_there_when_opened_again() {
        let mut state = State::new(Box::new(MemoryStore::new()));
        let mut gather = Gather::new(1 << 20);
        for page in 0..4 {
            gather.park(&entry(1, page));
            gather.park(&entry(2, page));
            commit(&mut gather, &mut state);
        }
        assert_eq!(rows(&state), 4);
        let one = entry(1, 0).url.site_hash();
        let two = entry(2, 0).url.site_hash();
        assert_eq!(gather.first(), Some(one));
        assert_eq!(gather.take(one).unwrap().len(), 4);
        gather.park(&entry(1, 9));
        commit(&mut gather, &mut state);

        let mut opened = Gather::open(&state, 1 << 20).unwrap();
        assert_eq!(opened.entries(one).unwrap(), [entry(1, 9)]);
        assert_eq!(opened.entries(two).unwrap().len(), 4);
        assert_eq!(opened.bytes, gather.bytes);
        assert_eq!(opened.first(), Some(two));
        assert!(!opened.is_dirty());

        opened.take(two).unwrap();
        commit(&mut opened, &mut state);
        // Only the row with what is left, and the one that says what is not.
        assert_eq!(rows(&state), 2);
        opened.take(one).unwrap();
        commit(&mut opened, &mut state);
        assert_eq!((rows(&state), opened.bytes), (0, 0));
        assert!(Gather::open(&state, 0).unwrap().is_empty());
    }

    #[test]
    fn the_oldest_is_due_when_memory_is_short_and_when_time_has_passed() {
        let mut state = State::new(Box::new(MemoryStore::new()));
        let mut gather = Gather::new(4 * SITE_BYTES);
        gather.park(&entry(1, 0));
        assert_eq!(gather.due(), None);
        for site in 2..9 {
            gather.park(&entry(site, 0));
        }
        let first = entry(1, 0).url.site_hash();
        assert_eq!(gather.due(), Some(first));
        while let Some(site) = gather.due() {
            gather.take(site).unwrap();
        }
        assert!(!gather.is_empty() && !gather.contains(first));
        for _ in 0..COMMITS_MAX {
            assert_eq!(gather.due(), None);
            commit(&mut gather, &mut state);
        }
        commit(&mut gather, &mut state);
        assert!(gather.due().is_some());
    }
}
