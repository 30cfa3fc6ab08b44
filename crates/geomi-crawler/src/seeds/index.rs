//! Which number a seed has: 14 to 19 bytes a seed, and nothing else of it.
//!
//! The hashes of all URLs lie in blocks, in the order of their numbers, so that
//! they take what they need and no more; a table of numbers finds them again.
//! Two URLs with the same hash of 64 bits would be taken for one seed, as they
//! are taken for one page by the seen test.

use std::hash::BuildHasher as _;

use geomi_url::UrlHash;
use hashbrown::{DefaultHashBuilder, HashTable};

/// Hashes of a block: half a mebibyte.
const BLOCK_LEN: usize = 1 << 16;

/// The numbers of all seeds, from 0 without a gap.
#[derive(Debug, Default)]
pub(super) struct SeedIndex {
    blocks: Vec<Vec<u64>>,
    numbers: HashTable<u32>,
    /// Places of the table are seeded: in a party crawl strangers name seeds.
    places: DefaultHashBuilder,
}

impl SeedIndex {
    pub(super) fn len(&self) -> u32 {
        self.numbers.len() as u32
    }

    pub(super) fn get(&self, url: UrlHash) -> Option<u32> {
        let blocks = &self.blocks;
        let is_it = |number: &u32| hash_of(blocks, *number) == url.0;
        let place = self.places.hash_one(url.0);
        self.numbers.find(place, is_it).copied()
    }

    /// Gives the next number to a URL that has none.
    pub(super) fn add(&mut self, url: UrlHash) -> u32 {
        debug_assert!(self.get(url).is_none(), "a seed has one number");
        let number = self.len();
        match self.blocks.last_mut() {
            Some(block) if block.len() < BLOCK_LEN => block.push(url.0),
            // The first block grows with the seeds, since most crawls have a few.
            None => self.blocks.push(vec![url.0]),
            Some(_) => {
                let mut block = Vec::with_capacity(BLOCK_LEN);
                block.push(url.0);
                self.blocks.push(block);
            }
        }
        let place = |hash: u64| self.places.hash_one(hash);
        let blocks = &self.blocks;
        self.numbers.insert_unique(place(url.0), number, |number| {
            place(hash_of(blocks, *number))
        });
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
            let url = UrlHash(hash % 150_000);
            assert_eq!(index.get(url), model.get(&url).copied());
            if index.get(url).is_none() {
                let number = index.add(url);
                assert_eq!(number as usize, model.len());
                model.insert(url, number);
            }
        }
        assert!(model.len() > BLOCK_LEN, "{}", model.len());
        assert_eq!(index.len() as usize, model.len());
        for (url, number) in model {
            assert_eq!(index.get(url), Some(number));
        }
    }
}
