//! Which worker should own a partition: rendezvous hashing.
//!
//! Every worker computes the same answer from the same list of live workers,
//! without asking anybody. Each worker has a weight for each partition, and
//! the heaviest worker owns it: when one leaves, only its own partitions find
//! a new owner, and when one joins, it takes only what it now owns. (Thaler
//! and Ravishankar, 1998.)
//!
//! The answer is where partitions *should* be; who owns one at this moment is
//! [`Ownership`](crate::Ownership)'s word alone.

use std::fmt;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::PartitionId;

/// The name of a worker, unique in its cluster.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WorkerId(Arc<str>);

impl WorkerId {
    /// A worker of this name.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorkerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A live worker, as placement sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worker {
    /// Its name.
    pub id: WorkerId,
    /// Where it runs, if the operator said so.
    pub region: Option<String>,
}

impl Worker {
    /// A worker in no particular region.
    pub fn new(name: &str) -> Self {
        Self {
            id: WorkerId::new(name),
            region: None,
        }
    }

    /// The same worker in `region`.
    #[must_use]
    pub fn in_region(mut self, region: &str) -> Self {
        self.region = Some(region.to_owned());
        self
    }
}

/// The worker that should own `partition`: one in `region` if any of those
/// lives, else any; `None` only if there is no worker at all.
///
/// The order of `workers` does not matter, nor do duplicates.
pub fn owner<'a>(
    partition: PartitionId,
    region: Option<&str>,
    workers: &'a [Worker],
) -> Option<&'a WorkerId> {
    let heaviest = |wanted: Option<&str>| {
        workers
            .iter()
            .filter(|worker| wanted.is_none() || worker.region.as_deref() == wanted)
            // The name breaks a tie, so that all workers break it alike.
            .max_by_key(|worker| (weight(partition, &worker.id), &worker.id))
            .map(|worker| &worker.id)
    };
    region
        .and_then(|region| heaviest(Some(region)))
        .or_else(|| heaviest(None))
}

/// All workers of a cluster must agree on this function, whatever their
/// version: changing it moves partitions between workers of a mixed cluster.
fn weight(partition: PartitionId, worker: &WorkerId) -> u64 {
    mix(xxh3_64(worker.as_str().as_bytes()) ^ mix(u64::from(partition.0) + 1))
}

/// The finaliser of `SplitMix64`: every bit of the input moves half of the output.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;
    use crate::Partitions;

    fn workers() -> impl Strategy<Value = Vec<Worker>> {
        btree_set("[a-z0-9.-]{1,20}", 2..16)
            .prop_map(|names| names.iter().map(|name| Worker::new(name)).collect())
    }

    proptest! {
        #[test]
        fn a_leaving_worker_moves_only_its_own_partitions(
            workers in workers(), gone: prop::sample::Index,
        ) {
            let gone = gone.index(workers.len());
            let mut rest = workers.clone();
            let left = rest.remove(gone);
            for partition in Partitions::new(256).iter() {
                let before = owner(partition, None, &workers).unwrap();
                let after = owner(partition, None, &rest).unwrap();
                prop_assert!(before == after || *before == left.id);
                prop_assert!(*after != left.id);
            }
        }

        #[test]
        fn the_order_of_workers_does_not_matter(
            workers in workers(), partition: u16,
        ) {
            let mut turned = workers.clone();
            turned.reverse();
            let partition = PartitionId(partition);
            prop_assert_eq!(owner(partition, None, &workers), owner(partition, None, &turned));
        }

        #[test]
        fn the_load_is_balanced(workers in workers()) {
            let partitions = Partitions::new(4096);
            let mut load: HashMap<&WorkerId, f64> = HashMap::new();
            for partition in partitions.iter() {
                *load.entry(owner(partition, None, &workers).unwrap()).or_default() += 1.0;
            }
            // 4,096 over at most 15 workers: half as much again is over 8 sigma.
            let mean = f64::from(partitions.count()) / workers.len() as f64;
            for worker in &workers {
                let share = load[&worker.id] / mean;
                prop_assert!((0.5..1.5).contains(&share), "{} has {share}", worker.id);
            }
        }
    }

    #[test]
    fn a_region_comes_first_and_is_not_the_only_one() {
        let workers = [
            Worker::new("seoul-1").in_region("kr"),
            Worker::new("oslo-1").in_region("no"),
            Worker::new("oslo-2").in_region("no"),
        ];
        for partition in Partitions::new(64).iter() {
            let placed = |region| owner(partition, region, &workers).unwrap().as_str();
            assert_eq!(placed(Some("kr")), "seoul-1");
            assert!(placed(Some("no")).starts_with("oslo"));
            assert_eq!(placed(Some("br")), placed(None), "nobody lives there");
        }
        assert_eq!(owner(PartitionId(0), None, &[]), None);
    }

    #[test]
    fn placement_is_the_same_in_every_version() {
        let workers = ["a", "b", "c"].map(Worker::new);
        let owners: String = Partitions::new(16)
            .iter()
            .map(|partition| owner(partition, None, &workers).unwrap().as_str())
            .collect();
        assert_eq!(owners, "bacbaabbabaaccab");
    }
}
