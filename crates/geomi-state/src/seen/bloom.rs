//! A Bloom filter in blocks of one cache line (Putze, Sanders, Singler 2007):
//! all bits of a hash lie in 512 neighbouring ones, so that a question costs one
//! miss. It says "not there" or "perhaps".

/// Words of a block.
const BLOCK_WORDS: usize = 8;
const BLOCK_BYTES: usize = BLOCK_WORDS * size_of::<u64>();
/// Bits set a hash. Best at about seven bits a hash, good from five to ten.
const BITS_SET: u32 = 5;
/// Bits a hash has at least, if there is memory; more than twice as many bring little.
const BITS_PER_HASH: usize = 10;
/// Spreads the bits of a hash anew: its upper ones choose the block.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug)]
pub(super) struct Bloom {
    words: Vec<u64>,
}

impl Bloom {
    /// The size of a filter for so many hashes, of at most so many bytes. It grows by
    /// doubling, because a filter that grows is filled anew.
    pub(super) fn bytes_for(hashes: usize, bytes_max: usize) -> usize {
        let bytes = (hashes * BITS_PER_HASH / 8).next_power_of_two();
        let bytes = bytes.min(bytes_max).max(BLOCK_BYTES);
        bytes - bytes % BLOCK_BYTES
    }

    /// An empty filter of a size that [`Bloom::bytes_for`] gave.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            words: vec![0; bytes / size_of::<u64>()],
        }
    }

    pub(super) fn insert(&mut self, hash: u64) {
        let first = self.block(hash);
        for bit in bits(hash) {
            self.words[first + (bit >> 6)] |= 1 << (bit & 63);
        }
    }

    /// False only if the hash was not inserted.
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        let first = self.block(hash);
        bits(hash).all(|bit| self.words[first + (bit >> 6)] >> (bit & 63) & 1 == 1)
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// The first word of a hash's block. Hashes in order meet blocks in order.
    fn block(&self, hash: u64) -> usize {
        let blocks = (self.words.len() / BLOCK_WORDS) as u128;
        ((u128::from(hash) * blocks) >> 64) as usize * BLOCK_WORDS
    }
}

fn bits(hash: u64) -> impl Iterator<Item = usize> {
    let spread = hash.wrapping_mul(SPREAD);
    (0..BITS_SET).map(move |n| (spread >> (64 - 9 * (n + 1))) as usize & 511)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u64) -> u64 {
        (n + 1)
            .wrapping_mul(0xd6e8_feb8_6659_fd93)
            .rotate_left(29)
            .wrapping_mul(0xff51_afd7_ed55_8ccd)
    }

    #[test]
    fn what_is_in_is_never_denied_and_little_else_passes() {
        for (bytes_max, wrong_max) in [(usize::MAX, 300), (50_000 * 5 / 8, 1_800)] {
            let mut bloom = Bloom::new(Bloom::bytes_for(50_000, bytes_max));
            (0..50_000).for_each(|n| bloom.insert(hash(n)));
            assert!((0..50_000).all(|n| bloom.may_contain(hash(n))));
            let wrong = (50_000..60_000)
                .filter(|n| bloom.may_contain(hash(*n)))
                .count();
            assert!(wrong < wrong_max, "{wrong} of 10,000 at {bytes_max}");
            assert!(bloom.bytes() <= bytes_max.min(65_536));
        }
    }
}
