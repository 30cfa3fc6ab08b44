//! A merge: the frozen young and the base become the next base, beside the
//! caller.

use std::io::{BufWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use super::base::{Hashes, Index, MARK, Needs, NewBase, Share};
use super::{BaseStore, Manifest, MergeTask};
use crate::StateError;

/// Hashes between two looks at whether to give up.
const LOOK_EVERY: u64 = 1 << 16;
/// Bytes of a base that are written at once.
const WRITE_BYTES: usize = 64 << 10;

/// What a merge came to: nothing, if it was given up.
type Outcome = Result<Option<NewBase>, StateError>;

/// A merge under way, or done and not adopted yet.
pub(super) struct Merge {
    /// Sorted; asked until the new base holds.
    frozen: Arc<Vec<u64>>,
    given_up: Arc<AtomicBool>,
    log_from: u64,
    work: Option<Work>,
    base: Option<NewBase>,
    generation: u64,
}

/// A task and where its outcome arrives.
struct Work {
    task: Box<dyn MergeTask>,
    outcome: Receiver<Outcome>,
}

impl Work {
    fn wait(self) -> Outcome {
        self.task.wait();
        self.outcome.recv().expect("a merge does not panic")
    }
}

impl std::fmt::Debug for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge")
            .field("generation", &self.generation)
            .field("frozen", &self.frozen.len())
            .finish_non_exhaustive()
    }
}

impl Merge {
    pub(super) fn start(
        bases: &Arc<dyn BaseStore>,
        base: Share,
        mut frozen: Vec<u64>,
        log_from: u64,
        needs: Needs,
    ) -> Result<Self, StateError> {
        frozen.sort_unstable();
        let frozen = Arc::new(frozen);
        let given_up = Arc::new(AtomicBool::new(false));
        let generation = base.generation + 1;
        let job = Job {
            bases: Arc::clone(bases),
            generation,
            old: base,
            frozen: Arc::clone(&frozen),
            given_up: Arc::clone(&given_up),
            needs,
        };
        let (done, outcome) = sync_channel(1);
        let task = bases.spawn(Box::new(move || {
            // Refused only if the merge was dropped: then the outcome is not wanted.
            drop(done.send(job.run()));
        }))?;
        Ok(Self {
            frozen,
            given_up,
            log_from,
            work: Some(Work { task, outcome }),
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
    pub(super) fn result(&mut self, wait: bool) -> Result<Option<Manifest>, StateError> {
        if let Some(work) = self.work.take_if(|work| wait || work.task.is_done()) {
            self.base = work.wait()?;
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
        // Nothing may be written once the seen test is gone.
        self.given_up.store(true, Ordering::Relaxed);
        if let Some(work) = self.work.take() {
            // The outcome is not used: the log still has everything.
            work.task.wait();
        }
    }
}

struct Job {
    bases: Arc<dyn BaseStore>,
    generation: u64,
    old: Share,
    frozen: Arc<Vec<u64>>,
    given_up: Arc<AtomicBool>,
    needs: Needs,
}

impl Job {
    fn run(self) -> Outcome {
        let path = self.bases.path(self.generation);
        let failed = || StateError::io("write", &path);
        let out = self.bases.create(self.generation)?;
        let mut out = BufWriter::with_capacity(WRITE_BYTES, out);
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
            out.write_all(&hash.to_le_bytes()).map_err(failed())?;
            if index.len().is_multiple_of(LOOK_EVERY) && self.given_up.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        let trailer = [index.len().to_le_bytes(), index.sum.to_le_bytes(), MARK];
        out.write_all(trailer.as_flattened()).map_err(failed())?;
        let out = out.into_inner();
        out.map_err(|error| failed()(error.into_error()))?
            .finish()?;
        index.into_base(&*self.bases, self.generation).map(Some)
    }

    fn old_hashes(&self) -> Result<Old, StateError> {
        if let Some(hashes) = &self.old.hashes {
            return Ok(Old::Held(Arc::clone(hashes), 0));
        }
        let hashes = Hashes::open(&*self.bases, self.old.generation, self.old.len)?;
        Ok(Old::Stored(hashes))
    }
}

/// The old base, hash by hash.
enum Old {
    Held(Arc<Vec<u64>>, usize),
    Stored(Hashes),
}

impl Old {
    fn next(&mut self) -> Result<Option<u64>, StateError> {
        match self {
            Self::Held(hashes, at) => {
                *at += 1;
                Ok(hashes.get(*at - 1).copied())
            }
            Self::Stored(hashes) => hashes.next(),
        }
    }
}
