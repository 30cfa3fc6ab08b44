//! A merge: the frozen young and the base become the next base, on a thread of
//! its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::Manifest;
use super::base::{self, Hashes, Held, Index, MARK, Needs, NewBase, Share};
use crate::{AtomicFile, StoreError};

/// Hashes between two looks at whether to give up.
const LOOK_EVERY: u64 = 1 << 16;

/// A merge under way, or done and not adopted yet.
#[derive(Debug)]
pub(super) struct Merge {
    /// Sorted; asked until the new base holds.
    frozen: Arc<Vec<u64>>,
    given_up: Arc<AtomicBool>,
    log_from: u64,
    work: Option<JoinHandle<Result<Option<NewBase>, StoreError>>>,
    base: Option<NewBase>,
    generation: u64,
}

impl Merge {
    pub(super) fn start(
        folder: &Path,
        base: Share,
        mut frozen: Vec<u64>,
        log_from: u64,
        needs: Needs,
    ) -> Result<Self, StoreError> {
        frozen.sort_unstable();
        let frozen = Arc::new(frozen);
        let given_up = Arc::new(AtomicBool::new(false));
        let generation = base.generation + 1;
        let task = Task {
            folder: folder.to_owned(),
            generation,
            old: base,
            frozen: Arc::clone(&frozen),
            given_up: Arc::clone(&given_up),
            needs,
        };
        let work = std::thread::Builder::new()
            .name("seen-merge".to_owned())
            .spawn(move || task.run())
            .map_err(StoreError::io("start a thread for", folder))?;
        Ok(Self {
            frozen,
            given_up,
            log_from,
            work: Some(work),
            base: None,
            generation,
        })
    }

    pub(super) fn holds(&self, hash: u64) -> bool {
        self.frozen.binary_search(&hash).is_ok()
    }

    pub(super) fn frozen_len(&self) -> usize {
        self.frozen.len()
    }

    /// The manifest of the new base, if it is done or `wait` says to wait.
    pub(super) fn result(&mut self, wait: bool) -> Result<Option<Manifest>, StoreError> {
        if let Some(work) = self.work.take_if(|work| wait || work.is_finished()) {
            let outcome = work.join().expect("a merge does not panic");
            self.base = outcome?;
        }
        Ok(self.base.as_ref().map(|new| Manifest {
            generation: self.generation,
            len: new.base.len(),
            log_from: self.log_from,
        }))
    }

    pub(super) fn take_base(&mut self) -> Option<NewBase> {
        self.base.take()
    }
}

impl Drop for Merge {
    fn drop(&mut self) {
        // Nothing may write into the folder once its owner is gone.
        self.given_up.store(true, Ordering::Relaxed);
        if let Some(work) = self.work.take() {
            // What it came to is not asked: the log still has everything.
            drop(work.join());
        }
    }
}

struct Task {
    folder: PathBuf,
    generation: u64,
    old: Share,
    frozen: Arc<Vec<u64>>,
    given_up: Arc<AtomicBool>,
    needs: Needs,
}

impl Task {
    /// Nothing, if it was given up.
    fn run(self) -> Result<Option<NewBase>, StoreError> {
        let path = base::path(&self.folder, self.generation);
        let mut out = AtomicFile::create(&path)?;
        let len_max = self.old.len as usize + self.frozen.len();
        let mut index = Index::new(len_max, &self.needs);
        let mut old = self.old_hashes()?;
        let mut young = self.frozen.iter().copied().peekable();
        let mut next_old = old.next()?;
        loop {
            let hash = match (next_old, young.peek().copied()) {
                (None, None) => break,
                (Some(old), Some(young)) => old.min(young),
                (old, young) => old.or(young).expect("one of them is there"),
            };
            if next_old == Some(hash) {
                next_old = old.next()?;
            }
            young.next_if_eq(&hash);
            index.add(hash);
            out.write_all(&hash.to_le_bytes())
                .map_err(StoreError::io("write", &path))?;
            if index.len().is_multiple_of(LOOK_EVERY) && self.given_up.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        let trailer = [index.len().to_le_bytes(), index.sum.to_le_bytes(), MARK];
        out.write_all(trailer.as_flattened())
            .map_err(StoreError::io("write", &path))?;
        out.commit()?;
        index.into_base(path, self.generation).map(Some)
    }

    fn old_hashes(&self) -> Result<Old, StoreError> {
        if let Held::All(hashes) = &self.old.held {
            return Ok(Old::Held(Arc::clone(hashes), 0));
        }
        let path = base::path(&self.folder, self.old.generation);
        Ok(Old::File(Hashes::open(&path, self.old.len)?))
    }
}

/// The old base, hash by hash.
enum Old {
    Held(Arc<Vec<u64>>, usize),
    File(Hashes),
}

impl Old {
    fn next(&mut self) -> Result<Option<u64>, StoreError> {
        match self {
            Self::Held(hashes, at) => {
                *at += 1;
                Ok(hashes.get(*at - 1).copied())
            }
            Self::File(hashes) => hashes.next(),
        }
    }
}
