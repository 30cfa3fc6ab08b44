//! Which number a seed has: 14 to 19 bytes a seed, and nothing else of it.
//!
//! The hashes of all URLs lie in blocks, in the order of their numbers, so that
//! they take what they need and no more; a table of numbers finds them again.
//! Two URLs with the same hash of 64 bits would be taken for one seed. The hash
//! is seeded at random whenever the index is made, so that strangers, who name
//! seeds in a party crawl, cannot make such URLs or crowd one place of the table.

use std::hash::{BuildHasher as _, RandomState};

use geomi_url::CrawlUrl;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Hashes of a block: half a mebibyte.
const BLOCK_LEN: usize = 1 << 16;

/// The numbers of all seeds, from 0 without a gap.
#[derive(Debug)]
pub(super) struct SeedIndex {
    blocks: Vec<Vec<u64>>,
    numbers: HashTable<u32>,
    seed: u64,
}

impl Default for SeedIndex {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            numbers: HashTable::new(),
            // The standard library asks the system for this randomness.
            seed: RandomState::new().hash_one(0),
        }
    }
}

impl SeedIndex {
    pub(super) fn len(&self) -> u32 {
        self.numbers.len() as u32
    }

    pub(super) fn get(&self, url: &CrawlUrl) -> Option<u32> {
        self.find(self.hash(url))
    }

    /// Gives the next number to a URL that has none.
    pub(super) fn add(&mut self, url: &CrawlUrl) -> u32 {
        self.insert(self.hash(url))
    }

    fn hash(&self, url: &CrawlUrl) -> u64 {
        xxh3_64_with_seed(url.as_str().as_bytes(), self.seed)
    }

    fn find(&self, hash: u64) -> Option<u32> {
        let blocks = &self.blocks;
        let is_it = |number: &u32| hash_of(blocks, *number) == hash;
        self.numbers.find(hash, is_it).copied()
    }

    fn insert(&mut self, hash: u64) -> u32 {
        debug_assert!(self.find(hash).is_none(), "a seed has one number");
        let number = self.len();
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK_LEN => block.push(hash),
            // The first block grows with the seeds, since most crawls have a few.
            None => self.blocks.push(vec![hash]),
            Some(_) => {
                let mut block = Vec::with_capacity(BLOCK_LEN);
                block.push(hash);
                self.blocks.push(block);
            }
        }
        let blocks = &self.blocks;
        self.numbers
            .insert_unique(hash, number, |number| hash_of(blocks, *number));
        number
    }
}

fn hash_of(blocks: &[Vec<u64>], number: u32) -> u64 {
    blocks[number as usize / BLOCK_LEN][number as usize % BLOCK_LEN]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_finds_what_a_map_finds() {
        let mut index = SeedIndex::default();
        let mut model = HashMap::new();
        let mut hash = 1u64;
        for _ in 0..200_000 {
            // Few distinct upper bits: the table has to bear bad hashes, too.
            hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17);
            let url = hash % 150_000;
            assert_eq!(index.find(url), model.get(&url).copied());
            if index.find(url).is_none() {
                let number = index.insert(url);
                assert_eq!(number as usize, model.len());
                model.insert(url, number);
            }
        }
        assert!(model.len() > BLOCK_LEN, "{}", model.len());
        assert_eq!(index.len() as usize, model.len());
        for (url, number) in model {
            assert_eq!(index.find(url), Some(number));
        }
    }

    #[test]
    fn each_index_has_hashes_of_its_own() {
        let url = "http://a.test/".parse().unwrap();
        let (one, other) = (SeedIndex::default(), SeedIndex::default());
        assert_ne!(one.hash(&url), other.hash(&url));
    }
}
