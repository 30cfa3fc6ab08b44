//! The seen test of a partition, with its log in the partition's state.
//!
//! A hash is durable with the commit that queues its URL, as part of one row of
//! the log. When the seen test has merged what it gathered into its base file,
//! the next commit names that file and deletes the rows it covers, at once. So
//! opening reads one file and a short log, and after a crash either both the old
//! file and all its rows hold, or the new file does.

use std::path::Path;

use geomi_store::seen::{Manifest, Seen};
use geomi_store::state::{Batch, Scan, StateStore};

use crate::CrawlError;
use crate::keys;

#[derive(Debug)]
pub(crate) struct SeenLog {
    seen: Seen,
    /// Inserted since the last commit.
    fresh: Vec<u64>,
    /// The first row that is kept, and the next one to be written.
    rows: std::ops::Range<u64>,
}

impl SeenLog {
    /// Reads the base file and the rows of the log that it does not cover.
    pub(super) fn open(
        store: &dyn StateStore,
        folder: &Path,
        memory_bytes: usize,
    ) -> Result<Self, CrawlError> {
        let manifest: Option<Manifest> = super::read(store, "seen", &keys::seen_base())?;
        let mut seen = Seen::open(folder, memory_bytes, manifest)?;
        let first = manifest.map_or(0, |manifest| manifest.log_from);
        let mut next = first;
        let (_, end) = keys::all(b'h');
        store.scan(&keys::seen(first), &end, &mut |_, hashes| {
            next += 1;
            let (hashes, _) = hashes.as_chunks();
            for hash in hashes {
                seen.insert(u64::from_le_bytes(*hash));
            }
            Scan::Continue
        })?;
        Ok(Self {
            seen,
            fresh: Vec::new(),
            rows: first..next,
        })
    }

    pub(super) fn contains(&self, hash: u64) -> Result<bool, CrawlError> {
        Ok(self.seen.contains(hash)?)
    }

    /// Whether a hash is new; from now on it is not.
    pub(super) fn first_sight(&mut self, hash: u64) -> Result<bool, CrawlError> {
        if self.seen.contains(hash)? {
            return Ok(false);
        }
        self.seen.insert(hash);
        self.fresh.push(hash);
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
    pub(super) fn write(&mut self, batch: &mut Batch) -> Result<(), CrawlError> {
        if let Some(manifest) = self.seen.merged()? {
            batch.put(&keys::seen_base(), &keys::encode(&manifest));
            for row in self.rows.start..manifest.log_from {
                batch.delete(&keys::seen(row));
            }
            self.rows.start = manifest.log_from;
        }
        if !self.fresh.is_empty() {
            let hashes: Vec<u8> = self.fresh.drain(..).flat_map(u64::to_le_bytes).collect();
            batch.put(&keys::seen(self.rows.end), &hashes);
            self.rows.end += 1;
        }
        Ok(())
    }

    /// That commit is durable.
    pub(super) fn committed(&mut self) -> Result<(), CrawlError> {
        self.seen.adopt()?;
        Ok(self.seen.freeze_if_due(self.rows.end)?)
    }
}
