//! The base: one sorted list of hashes, and how to ask it.
//!
//! Its bytes are the hashes, 8 bytes little-endian each and ascending, then a
//! trailer of 24 bytes: how many, a checksum over all in order, and a mark with
//! the version. It is always read whole when opened, which checks it.

use std::io::{BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::bloom::Bloom;
use super::{BaseReader, BaseStore, Budget};
use crate::StateError;

/// Hashes of a block: one page of the disk.
pub(super) const BLOCK_LEN: usize = 512;
const HASH_BYTES: usize = size_of::<u64>();
/// Bytes that are read at once while a base is read whole.
const READ_BYTES: usize = 256 << 10;
/// Ends a base, with the version of the format.
pub(super) const MARK: [u8; 8] = *b"geomisn1";

/// Folds a hash into a checksum; the order counts.
pub(super) const fn fold(sum: u64, hash: u64) -> u64 {
    (sum.rotate_left(5) ^ hash).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Everything older than the young; empty before the first merge.
#[derive(Debug, Default)]
pub(super) struct Base {
    len: u64,
    /// Its number; 0 before the first merge.
    generation: u64,
    /// The first hash of every block.
    fences: Vec<u64>,
    blocks: Blocks,
}

/// Where the blocks of a base are read.
#[derive(Debug)]
enum Blocks {
    InMemory(Arc<Vec<u64>>),
    Stored(Stored),
}

/// A base that is read block by block.
#[derive(Debug)]
struct Stored {
    path: PathBuf,
    reader: Box<dyn BaseReader>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self::InMemory(Arc::default())
    }
}

/// A base that is gone over to, and the filter that goes with it if the one before will
/// not do.
#[derive(Debug, Default)]
pub(super) struct NewBase {
    pub(super) base: Base,
    pub(super) filter: Option<Bloom>,
}

/// What a new base is to bring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Needs {
    /// The size of the filter there is; 0 if there is none.
    pub(super) filter_bytes: usize,
    pub(super) budget: Budget,
}

/// Reads a base, and keeps of it what the budget allows.
pub(super) fn open(
    bases: &dyn BaseStore,
    generation: u64,
    len: u64,
    budget: &Budget,
) -> Result<NewBase, StateError> {
    let needs = Needs {
        filter_bytes: 0,
        budget: *budget,
    };
    let mut index = Index::new(len as usize, &needs);
    let mut hashes = Hashes::open(bases, generation, len)?;
    while let Some(hash) = hashes.next()? {
        index.add(hash);
    }
    hashes.check_trailer(index.sum)?;
    index.into_base(bases, generation)
}

impl Base {
    pub(super) fn contains(&self, hash: u64) -> Result<bool, StateError> {
        let guess = share_of(hash, u64::MAX, self.fences.len());
        let after = count_up_to(&self.fences, hash, guess);
        let Some(block) = after.checked_sub(1) else {
            return Ok(false);
        };
        let start = block * BLOCK_LEN;
        let len = BLOCK_LEN.min(self.len as usize - start);
        match &self.blocks {
            Blocks::InMemory(hashes) => {
                let first = self.fences[block];
                let end = self.fences.get(after).copied().unwrap_or(u64::MAX);
                let guess = share_of(hash - first, end - first, len);
                let block = &hashes[start..start + len];
                let upto = count_up_to(block, hash, guess);
                Ok(upto > 0 && block[upto - 1] == hash)
            }
            Blocks::Stored(stored) => stored.block_contains(start, len, hash),
        }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) const fn is_in_memory(&self) -> bool {
        matches!(self.blocks, Blocks::InMemory(_))
    }

    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let held = match &self.blocks {
            Blocks::InMemory(hashes) => hashes.len() * HASH_BYTES,
            Blocks::Stored(_) => 0,
        };
        held + self.fences.len() * HASH_BYTES
    }

    /// What a merge needs of it.
    pub(super) fn share(&self) -> Share {
        Share {
            generation: self.generation,
            len: self.len,
            hashes: match &self.blocks {
                Blocks::InMemory(hashes) => Some(Arc::clone(hashes)),
                Blocks::Stored(_) => None,
            },
        }
    }
}

impl Stored {
    fn block_contains(&self, start: usize, len: usize, hash: u64) -> Result<bool, StateError> {
        let mut block = [0; BLOCK_LEN * HASH_BYTES];
        let block = &mut block[..len * HASH_BYTES];
        self.reader
            .read_at(block, (start * HASH_BYTES) as u64)
            .map_err(StateError::io("read", &self.path))?;
        let wanted = hash.to_le_bytes();
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = usize::midpoint(low, high);
            let at = &block[middle * HASH_BYTES..][..HASH_BYTES];
            match hash_of(at).cmp(&hash) {
                std::cmp::Ordering::Less => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(block
            .get(low * HASH_BYTES..)
            .is_some_and(|at| at.starts_with(&wanted)))
    }
}

/// A base as its merge sees it.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) generation: u64,
    pub(super) len: u64,
    /// All of them, if they are in memory.
    pub(super) hashes: Option<Arc<Vec<u64>>>,
}

/// What is gathered of a base while it is read or written.
#[derive(Debug)]
pub(super) struct Index {
    len: u64,
    pub(super) sum: u64,
    fences: Vec<u64>,
    /// All, if they are to be in memory.
    hashes: Option<Vec<u64>>,
    filter: Option<Bloom>,
}

impl Index {
    /// Of a base of at most that length.
    pub(super) fn new(len: usize, needs: &Needs) -> Self {
        let is_held = len <= needs.budget.base_len;
        let filter_bytes = Bloom::bytes_for(len, needs.budget.bloom_bytes);
        let is_wanted = !is_held && filter_bytes != needs.filter_bytes;
        Self {
            len: 0,
            sum: 0,
            fences: Vec::with_capacity(len / BLOCK_LEN + 1),
            hashes: is_held.then(|| Vec::with_capacity(len)),
            filter: is_wanted.then(|| Bloom::new(filter_bytes)),
        }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn add(&mut self, hash: u64) {
        if self.len.is_multiple_of(BLOCK_LEN as u64) {
            self.fences.push(hash);
        }
        self.len += 1;
        self.sum = fold(self.sum, hash);
        if let Some(filter) = &mut self.filter {
            filter.insert(hash);
        }
        if let Some(hashes) = &mut self.hashes {
            hashes.push(hash);
        }
    }

    /// The base, which exists by now.
    pub(super) fn into_base(
        self,
        bases: &dyn BaseStore,
        generation: u64,
    ) -> Result<NewBase, StateError> {
        let blocks = match self.hashes {
            Some(hashes) => Blocks::InMemory(Arc::new(hashes)),
            None => Blocks::Stored(Stored {
                path: bases.path(generation),
                reader: bases.open(generation)?,
            }),
        };
        Ok(NewBase {
            base: Base {
                len: self.len,
                generation,
                fences: self.fences,
                blocks,
            },
            filter: self.filter,
        })
    }
}

/// The hashes of a stored base, from the first to the last.
pub(super) struct Hashes {
    path: PathBuf,
    bytes: BufReader<Box<dyn Read + Send>>,
    left: u64,
    last: Option<u64>,
}

impl Hashes {
    pub(super) fn open(
        bases: &dyn BaseStore,
        generation: u64,
        len: u64,
    ) -> Result<Self, StateError> {
        Ok(Self {
            path: bases.path(generation),
            bytes: BufReader::with_capacity(READ_BYTES, bases.read(generation)?),
            left: len,
            last: None,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<u64>, StateError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let hash = self.word()?;
        if self.last.is_some_and(|last| last >= hash) {
            return Err(StateError::damaged(
                &self.path,
                "its hashes are out of order",
            ));
        }
        self.last = Some(hash);
        Ok(Some(hash))
    }

    fn word(&mut self) -> Result<u64, StateError> {
        let mut bytes = [0; HASH_BYTES];
        self.bytes
            .read_exact(&mut bytes)
            .map_err(StateError::io("read", &self.path))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// After the last hash: whether the rest is what was written.
    fn check_trailer(&mut self, sum: u64) -> Result<(), StateError> {
        let (_, stored, mark) = (self.word()?, self.word()?, self.word()?);
        if mark != u64::from_le_bytes(MARK) || stored != sum {
            return Err(StateError::damaged(
                &self.path,
                "its checksum does not agree",
            ));
        }
        Ok(())
    }
}

fn hash_of(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("a hash has eight bytes"))
}

/// Where `part` of `whole` stands among `len` that are spread evenly.
fn share_of(part: u64, whole: u64, len: usize) -> usize {
    let share = u128::from(part) * len as u128 / u128::from(whole.max(1));
    usize::try_from(share).unwrap_or(len)
}

/// How many of `sorted` are at most `hash`. Hashes are spread evenly, so that it is
/// looked for around where it should be: a few neighbours instead of halving all.
pub(super) fn count_up_to(sorted: &[u64], hash: u64, guess: usize) -> usize {
    let mut low = guess.min(sorted.len());
    let mut high = low;
    let mut step = 1;
    while low > 0 && sorted[low - 1] > hash {
        high = low - 1;
        low = low.saturating_sub(step);
        step *= 2;
    }
    step = 1;
    while high < sorted.len() && sorted[high] <= hash {
        low = high + 1;
        high = (high + step).min(sorted.len());
        step *= 2;
    }
    low + sorted[low..high.max(low)].partition_point(|one| *one <= hash)
}
