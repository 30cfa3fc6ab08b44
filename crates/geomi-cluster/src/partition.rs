//! The parts of the URL space.

use std::fmt;

use geomi_url::SiteHash;

/// One part of the URL space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartitionId(pub u16);

impl fmt::Display for PartitionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition {}", self.0)
    }
}

/// How the URL space is cut.
///
/// The number of partitions is chosen when a crawl is created and then stays:
/// a different number puts domains elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partitions {
    count: u16,
}

impl Partitions {
    /// A cut into `count` parts.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
    pub const fn new(count: u16) -> Self {
        assert!(count > 0, "there is at least one partition");
        Self { count }
    }

    /// The number of parts.
    pub const fn count(self) -> u16 {
        self.count
    }

    /// The partition that a hash belongs to. Each partition holds a contiguous range of
    /// hashes, in order. A crawl gives the hash of the registrable domain.
    pub fn partition_of(self, site: SiteHash) -> PartitionId {
        let scaled = u128::from(site.0) * u128::from(self.count);
        PartitionId((scaled >> 64) as u16)
    }

    /// All partitions.
    pub fn iter(self) -> impl Iterator<Item = PartitionId> {
        (0..self.count).map(PartitionId)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_ends_of_the_hash_space_are_in_the_first_and_last_partition() {
        let partitions = Partitions::new(256);
        assert_eq!(partitions.partition_of(SiteHash(0)), PartitionId(0));
        assert_eq!(
            partitions.partition_of(SiteHash(u64::MAX)),
            PartitionId(255)
        );
        assert_eq!(partitions.partition_of(SiteHash(1 << 56)), PartitionId(1));
        assert_eq!(partitions.iter().count(), 256);
    }

    proptest! {
        #[test]
        fn every_site_has_a_partition_and_order_is_kept(
            count in 1_u16.., one: u64, other: u64,
        ) {
            let partitions = Partitions::new(count);
            let (low, high) = (one.min(other), one.max(other));
            let (low, high) = (
                partitions.partition_of(SiteHash(low)),
                partitions.partition_of(SiteHash(high)),
            );
            prop_assert!(low <= high);
            prop_assert!(high.0 < count);
        }
    }
}
