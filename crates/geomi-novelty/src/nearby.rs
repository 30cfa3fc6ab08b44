//! Near-duplicates: which page seen lately says nearly the same.
//!
//! Two simhashes that differ in at most three of 64 bits agree in at least one
//! of their four blocks of 16 bits (Manku, Jain and Das Sarma 2007). So a hash
//! is filed four times, once under each of its blocks, and is compared with the
//! few others filed there.
//!
//! Memory is bounded and stated: the last [`PAGES_MAX`] pages, and of those with
//! one block in common the last [`BUCKET_MAX`], in 1 MiB and 32 bytes a page: 9 MiB
//! once full. A page whose near-duplicate came longer ago is taken for a new one.

/// Bits in which near-duplicates differ at most.
pub const DISTANCE_MAX: u32 = 3;
/// Pages remembered.
pub const PAGES_MAX: usize = 1 << 18;
/// Pages remembered under one block of a hash.
pub const BUCKET_MAX: usize = 8;

const BLOCKS: usize = 4;
const BUCKETS: usize = 1 << 16;
/// No page.
const NONE: u32 = u32::MAX;

/// A page that says nearly the same as another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Near {
    /// Hash of the other's URL.
    pub url: u64,
    /// Bits in which they differ.
    pub distance: u32,
}

/// A page seen lately.
#[derive(Clone, Copy, Debug)]
struct Page {
    simhash: u64,
    url: u64,
    /// For each of its blocks, the page filed there before it.
    before: [u32; BLOCKS],
}

/// The pages seen lately, by their simhashes.
#[derive(Clone, Default)]
pub struct Nearby {
    /// The oldest is overwritten. What was filed after it still leads there, and
    /// then on along the files of another page: since every page is measured by
    /// its hash and only so many are looked at, that does no harm.
    pages: Vec<Page>,
    next: usize,
    /// For each block and each value of it, the last page; empty until the first
    /// page comes.
    last: Vec<u32>,
}

impl Nearby {
    /// The nearest page seen lately, if one is near; then remembers this one
    /// under `url`, unless it is the same page again.
    pub fn meet(&mut self, simhash: u64, url: u64) -> Option<Near> {
        if self.last.is_empty() {
            self.last = vec![NONE; BLOCKS * BUCKETS];
        }
        let mut nearest: Option<Near> = None;
        let mut is_known = false;
        for (block, slot) in slots(simhash).into_iter().enumerate() {
            let mut at = self.last[slot];
            for _ in 0..BUCKET_MAX {
                let Some(page) = self.pages.get(at as usize) else {
                    break;
                };
                let distance = (simhash ^ page.simhash).count_ones();
                if page.url == url {
                    is_known |= page.simhash == simhash;
                } else if distance <= DISTANCE_MAX
                    && nearest.is_none_or(|near| distance < near.distance)
                {
                    let url = page.url;
                    nearest = Some(Near { url, distance });
                }
                at = page.before[block];
            }
        }
        if !is_known {
            self.remember(simhash, url);
        }
        nearest
    }

    /// Pages remembered.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    fn remember(&mut self, simhash: u64, url: u64) {
        let at = self.next;
        let slots = slots(simhash);
        let page = Page {
            simhash,
            url,
            before: slots.map(|slot| self.last[slot]),
        };
        if at < self.pages.len() {
            self.pages[at] = page;
        } else {
            self.pages.push(page);
        }
        self.next = (at + 1) % PAGES_MAX;
        for slot in slots {
            self.last[slot] = u32::try_from(at).unwrap_or(NONE);
        }
    }
}

impl std::fmt::Debug for Nearby {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pages = self.pages.len();
        f.debug_struct("Nearby")
            .field("pages", &pages)
            .finish_non_exhaustive()
    }
}

/// Where a hash is filed.
fn slots(simhash: u64) -> [usize; BLOCKS] {
    std::array::from_fn(|block| {
        let value = (simhash >> (16 * block)) as usize % BUCKETS;
        block * BUCKETS + value
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash that nothing else is near to.
    fn hash(seed: u64) -> u64 {
        let mut hash = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash ^ hash >> 29
    }

    #[test]
    fn up_to_three_bits_are_near_wherever_they_lie() {
        for bits in [0_u64, 1, 1 << 63, 1 | 1 << 20, 1 << 5 | 1 << 30 | 1 << 50] {
            let mut nearby = Nearby::default();
            assert_eq!(nearby.meet(hash(1), 1), None);
            let near = nearby.meet(hash(1) ^ bits, 2).unwrap();
            assert_eq!((near.url, near.distance), (1, bits.count_ones()));
        }
        let mut nearby = Nearby::default();
        nearby.meet(hash(1), 1);
        assert_eq!(nearby.meet(hash(1) ^ 0b1111, 2), None, "four bits");
    }

    #[test]
    fn the_nearest_counts_and_a_page_is_not_its_own_duplicate() {
        let mut nearby = Nearby::default();
        nearby.meet(hash(1) ^ 0b11, 1);
        nearby.meet(hash(1) ^ 0b10, 2);
        assert_eq!(
            nearby.meet(hash(1), 3),
            Some(Near {
                url: 2,
                distance: 1
            })
        );
        let pages = nearby.len();
        assert_eq!(nearby.meet(hash(9), 4), None);
        assert_eq!(nearby.meet(hash(9), 4), None, "seen again");
        assert_eq!(nearby.len(), pages + 1);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_is_forgotten() {
        let mut nearby = Nearby::default();
        let count = PAGES_MAX as u64 + 1_000;
        for seed in 1..=count {
            nearby.meet(hash(seed), seed);
        }
        assert_eq!(nearby.len(), PAGES_MAX);
        assert_eq!(nearby.last.len(), BLOCKS * BUCKETS);
        let near = nearby.meet(hash(count) ^ 1, 0).unwrap();
        assert_eq!(near.url, count, "the last is remembered");
        assert_eq!(nearby.meet(hash(1) ^ 1, 0), None, "the first is not");
    }
}
