//! The seen test of a partition, with its log in the partition's state.
//!
//! A hash is durable with the commit that queues its URL, as part of one row of
//! the log. When the seen test has merged what it gathered into its base,
//! the next commit names that base and deletes the rows it covers, at once. So
//! opening reads one base and a short log, and after a crash either both the old
//! base and all its rows hold, or the new base does.
//!
//! What is kept of a URL is a key made of its hash, the hash of its site and a
//! seed that is drawn when a partition admits its first URL. A URL or site
//! cannot be made to have the hash of another one ([`strong_hash`](geomi_url::strong_hash)).
//! Both together are 128 bits, so a page can only be hidden by a URL of its own site.
//! XXH3 makes the 64-bit key of them: it gives collisions to those who know the seed,
//! and the seed is secret. Partitions of earlier versions have no seed; their keys are
//! the hashes of URLs.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use geomi_state::seen::{BaseStore, Manifest, Seen};
use geomi_state::{CommitNo, Scan, State};
use geomi_url::{SiteHash, UrlHash};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::EngineError;
use crate::keys;

#[derive(Debug)]
pub(crate) struct SeenLog {
    seen: Seen,
    seed: Seed,
    /// Inserted since the last commit.
    fresh: Vec<u64>,
    /// The first row that is kept, and the next one to be written.
    rows: std::ops::Range<u64>,
    /// The commit that has all rows, and the one that names a merged base.
    last_commit: CommitNo,
    adopts: Option<CommitNo>,
}

/// What makes keys of hashes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seed {
    /// Keys are the hashes of URLs, as in earlier versions.
    None,
    /// It is in the state.
    Kept(u64),
    /// It will be, with the first commit that has a key.
    Fresh(u64),
}

impl Seed {
    /// That of a partition, or a new one where nothing was admitted yet.
    fn open(kept: Option<u64>, is_empty: bool) -> Self {
        match kept {
            Some(seed) => Self::Kept(seed),
            // The standard library asks the system for this randomness.
            None if is_empty => Self::Fresh(RandomState::new().hash_one(0)),
            None => Self::None,
        }
    }

    fn key(self, site: SiteHash, url: UrlHash) -> u64 {
        match self {
            Self::None => url.0,
            Self::Kept(seed) | Self::Fresh(seed) => {
                let both = u128::from(site.0) << 64 | u128::from(url.0);
                xxh3_64_with_seed(&both.to_le_bytes(), seed)
            }
        }
    }
}

impl SeenLog {
    /// Reads the base and the rows of the log that it does not cover.
    pub(super) fn open(
        state: &State,
        bases: Arc<dyn BaseStore>,
        memory_bytes: usize,
    ) -> Result<Self, EngineError> {
        let manifest: Option<Manifest> = super::read(state, "seen", &keys::seen_base())?;
        let mut seen = Seen::open(bases, memory_bytes, manifest)?;
        let first = manifest.map_or(0, |manifest| manifest.log_from);
        let mut next = first;
        let (_, end) = keys::all(b'h');
        state.scan(&keys::seen(first), &end, &mut |_, hashes| {
            next += 1;
            let (hashes, _) = hashes.as_chunks();
            for hash in hashes {
                seen.insert(u64::from_le_bytes(*hash));
            }
            Scan::Continue
        })?;
        let kept = super::read(state, "seed", &keys::seen_seed())?;
        Ok(Self {
            seed: Seed::open(kept, seen.is_empty()),
            seen,
            fresh: Vec::new(),
            rows: first..next,
            last_commit: CommitNo::default(),
            adopts: None,
        })
    }

    pub(super) fn contains(&self, site: SiteHash, url: UrlHash) -> Result<bool, EngineError> {
        Ok(self.seen.contains(self.seed.key(site, url))?)
    }

    /// Whether a URL is new; from now on it is not.
    pub(super) fn first_sight(
        &mut self,
        site: SiteHash,
        url: UrlHash,
    ) -> Result<bool, EngineError> {
        let key = self.seed.key(site, url);
        if self.seen.contains(key)? {
            return Ok(false);
        }
        self.seen.insert(key);
        self.fresh.push(key);
        Ok(true)
    }

    pub(super) fn len(&self) -> u64 {
        self.seen.len()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        self.seen.memory_bytes()
    }

    pub(super) fn is_dirty(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Adds what is new to a commit.
    pub(super) fn write(&mut self, state: &mut State) -> Result<(), EngineError> {
        if self.adopts.is_none()
            && let Some(manifest) = self.seen.merged()?
        {
            self.adopts = Some(state.next_commit());
            state.put(&keys::seen_base(), &keys::encode(&manifest));
            for row in self.rows.start..manifest.log_from {
                state.delete(&keys::seen(row));
            }
            self.rows.start = manifest.log_from;
        }
        if !self.fresh.is_empty() {
            if let Seed::Fresh(seed) = self.seed {
                state.put(&keys::seen_seed(), &keys::encode(&seed));
                self.seed = Seed::Kept(seed);
            }
            let hashes: Vec<u8> = self.fresh.drain(..).flat_map(u64::to_le_bytes).collect();
            state.put(&keys::seen(self.rows.end), &hashes);
            self.rows.end += 1;
        }
        Ok(())
    }

    /// The commit that has all of it was made.
    pub(super) fn committed(&mut self, number: CommitNo) {
        self.last_commit = number;
    }

    /// Commits up to this one are durable: a merged base may take the place of the one
    /// before, and what is logged may be merged.
    pub(super) fn durable(&mut self, durable: CommitNo) -> Result<(), EngineError> {
        if self.adopts.is_some_and(|commit| commit <= durable) {
            self.adopts = None;
            self.seen.adopt()?;
        }
        if self.fresh.is_empty() && self.last_commit <= durable {
            self.seen.freeze_if_due(self.rows.end)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use geomi_state::MemoryStore;
    use geomi_state::seen::MemoryBases;
    use geomi_url::CrawlUrl;

    use super::*;

    const OURS: SiteHash = SiteHash(1);
    const THEIRS: SiteHash = SiteHash(2);
    const PAGE: UrlHash = UrlHash(7);

    fn open(state: &State, bases: &MemoryBases) -> SeenLog {
        SeenLog::open(state, Arc::new(bases.clone()), 1 << 20).unwrap()
    }

    fn commit(log: &mut SeenLog, state: &mut State) {
        log.write(state).unwrap();
        let number = state.commit().unwrap();
        log.committed(number);
        log.durable(state.durable()).unwrap();
    }

    /// Both have the XXH3-64 89dd7e7b7c1ee53c, which was the hash of URLs once.
    #[test]
    fn a_link_made_to_have_the_xxh3_hash_of_a_page_does_not_hide_it() {
        let page = CrawlUrl::parse("http://victim.test/important.html").unwrap();
        let made = CrawlUrl::parse("http://victim.test/p?x=xxxxxxxxx2menmsidaaaaaaaaz5mzp2bcaaaaaaaacftqzojcaaaaaaaau1hv33tbaaaaaaaaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx").unwrap();
        let bases = MemoryBases::new();
        let state = State::new(Box::new(MemoryStore::new()));
        let mut log = open(&state, &bases);
        assert!(log.first_sight(made.site_hash(), made.hash64()).unwrap());
        assert!(log.first_sight(page.site_hash(), page.hash64()).unwrap());
    }

    #[test]
    fn a_url_with_the_hash_of_another_sites_page_does_not_hide_it() {
        let bases = MemoryBases::new();
        let mut state = State::new(Box::new(MemoryStore::new()));
        let mut log = open(&state, &bases);
        assert!(log.first_sight(THEIRS, PAGE).unwrap());
        assert!(!log.contains(OURS, PAGE).unwrap());
        assert!(log.first_sight(OURS, PAGE).unwrap());
        commit(&mut log, &mut state);
        // The same after a restart: the seed is kept.
        let again = open(&state, &bases);
        assert_eq!(log.seed, again.seed);
        assert!(again.contains(OURS, PAGE).unwrap() && again.contains(THEIRS, PAGE).unwrap());
        // Another crawl has other keys.
        let nothing = State::new(Box::new(MemoryStore::new()));
        let other = open(&nothing, &MemoryBases::new());
        assert_ne!(log.seed.key(OURS, PAGE), other.seed.key(OURS, PAGE));
    }

    #[test]
    fn a_partition_of_an_earlier_version_keeps_its_keys() {
        let bases = MemoryBases::new();
        let mut state = State::new(Box::new(MemoryStore::new()));
        state.put(&keys::seen(0), &PAGE.0.to_le_bytes());
        state.commit().unwrap();
        let mut log = open(&state, &bases);
        assert!(log.contains(OURS, PAGE).unwrap());
        assert!(log.first_sight(OURS, UrlHash(8)).unwrap());
        commit(&mut log, &mut state);
        let again = open(&state, &bases);
        assert_eq!(again.seed, Seed::None);
        assert!(again.contains(OURS, UrlHash(8)).unwrap());
    }
}
