//! The base: one sorted file of hashes, and how to ask it.
//!
//! The file is the hashes, 8 bytes little-endian each and ascending, then a
//! trailer of 24 bytes: how many, a checksum over all in order, and a mark with
//! the version. It is always read whole when opened, which checks it.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Budget;
use super::bloom::Bloom;
use crate::StoreError;
use crate::dir::sync_dir;

/// Hashes of a block: one page of the disk.
pub(super) const BLOCK_LEN: usize = 512;
const HASH_BYTES: usize = size_of::<u64>();
/// Ends a file, with the version of the format.
pub(super) const MARK: [u8; 8] = *b"geomisn1";

/// Folds a hash into a checksum; the order counts.
pub(super) const fn fold(sum: u64, hash: u64) -> u64 {
    (sum.rotate_left(5) ^ hash).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// Where a base lies.
pub(super) fn path(folder: &Path, generation: u64) -> PathBuf {
    folder.join(format!("seen-{generation:08}.base"))
}

/// Removes every file of a seen test but that base.
pub(super) fn remove_others(folder: &Path, generation: Option<u64>) -> Result<(), StoreError> {
    let kept = generation.map(|generation| path(folder, generation));
    let failed = || StoreError::io("list", folder);
    for file in fs::read_dir(folder).map_err(failed())? {
        let file = file.map_err(failed())?.path();
        if Some(&file) != kept.as_ref() {
            fs::remove_file(&file).map_err(StoreError::io("remove", &file))?;
        }
    }
    Ok(())
}

/// Everything older than the young; empty before the first merge.
#[derive(Debug, Default)]
pub(super) struct Base {
    len: u64,
    /// Its file; `None` before the first merge.
    file: Option<(PathBuf, u64, File)>,
    /// The first hash of every block.
    fences: Vec<u64>,
    held: Held,
}

/// What of a base is in memory.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// All of it.
    All(Arc<Vec<u64>>),
    /// None but its fences.
    Fences,
}

impl Default for Held {
    fn default() -> Self {
        Self::All(Arc::default())
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
    folder: &Path,
    generation: u64,
    len: u64,
    budget: &Budget,
) -> Result<NewBase, StoreError> {
    let path = path(folder, generation);
    let needs = Needs {
        filter_bytes: 0,
        budget: *budget,
    };
    let mut index = Index::new(len as usize, &needs);
    let mut hashes = Hashes::open(&path, len)?;
    while let Some(hash) = hashes.next()? {
        index.add(hash);
    }
    hashes.check_trailer(index.sum)?;
    index.into_base(path, generation)
}

impl Base {
    pub(super) fn contains(&self, hash: u64) -> Result<bool, StoreError> {
        let guess = share_of(hash, u64::MAX, self.fences.len());
        let after = count_up_to(&self.fences, hash, guess);
        let Some(block) = after.checked_sub(1) else {
            return Ok(false);
        };
        let start = block * BLOCK_LEN;
        let len = BLOCK_LEN.min(self.len as usize - start);
        match &self.held {
            Held::All(hashes) => {
                let first = self.fences[block];
                let end = self.fences.get(after).copied().unwrap_or(u64::MAX);
                let guess = share_of(hash - first, end - first, len);
                let block = &hashes[start..start + len];
                let upto = count_up_to(block, hash, guess);
                Ok(upto > 0 && block[upto - 1] == hash)
            }
            Held::Fences => self.block_contains(start, len, hash),
        }
    }

    fn block_contains(&self, start: usize, len: usize, hash: u64) -> Result<bool, StoreError> {
        let (path, _, file) = self.file.as_ref().expect("a base with blocks has a file");
        let mut block = [0; BLOCK_LEN * HASH_BYTES];
        let block = &mut block[..len * HASH_BYTES];
        file.read_exact_at(block, (start * HASH_BYTES) as u64)
            .map_err(StoreError::io("read", path))?;
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

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    pub(super) const fn is_on_disk(&self) -> bool {
        matches!(self.held, Held::Fences)
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let held = match &self.held {
            Held::All(hashes) => hashes.len() * HASH_BYTES,
            Held::Fences => 0,
        };
        held + self.fences.len() * HASH_BYTES
    }

    /// What a merge needs of it.
    pub(super) fn share(&self) -> Share {
        Share {
            generation: self
                .file
                .as_ref()
                .map_or(0, |(_, generation, _)| *generation),
            len: self.len,
            held: self.held.clone(),
        }
    }

    /// Removes its file: another base has taken its place.
    pub(super) fn remove(self) -> Result<(), StoreError> {
        let Some((path, ..)) = self.file else {
            return Ok(());
        };
        fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        path.parent().map_or(Ok(()), sync_dir)
    }
}

/// A base as its merge sees it.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) generation: u64,
    pub(super) len: u64,
    pub(super) held: Held,
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

    pub(super) fn into_base(self, path: PathBuf, generation: u64) -> Result<NewBase, StoreError> {
        let file = File::open(&path).map_err(StoreError::io("open", &path))?;
        let base = Base {
            len: self.len,
            file: Some((path, generation, file)),
            fences: self.fences,
            held: self
                .hashes
                .map_or(Held::Fences, |hashes| Held::All(Arc::new(hashes))),
        };
        Ok(NewBase {
            base,
            filter: self.filter,
        })
    }
}

/// The hashes of a base file, from the first to the last.
#[derive(Debug)]
pub(super) struct Hashes {
    path: PathBuf,
    file: BufReader<File>,
    left: u64,
    last: Option<u64>,
}

impl Hashes {
    pub(super) fn open(path: &Path, len: u64) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        Ok(Self {
            path: path.to_owned(),
            file: BufReader::with_capacity(256 << 10, file),
            left: len,
            last: None,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<u64>, StoreError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let hash = self.word()?;
        if self.last.is_some_and(|last| last >= hash) {
            return Err(StoreError::damaged(
                &self.path,
                "its hashes are out of order",
            ));
        }
        self.last = Some(hash);
        Ok(Some(hash))
    }

    fn word(&mut self) -> Result<u64, StoreError> {
        let mut bytes = [0; HASH_BYTES];
        self.file
            .read_exact(&mut bytes)
            .map_err(StoreError::io("read", &self.path))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// After the last hash: whether the rest is what was written.
    fn check_trailer(&mut self, sum: u64) -> Result<(), StoreError> {
        let (_, stored, mark) = (self.word()?, self.word()?, self.word()?);
        if mark != u64::from_le_bytes(MARK) || stored != sum {
            return Err(StoreError::damaged(
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
