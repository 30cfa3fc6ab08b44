//! seeds.parquet and seeds-out.txt: the seeds of all partitions.

use std::time::Duration;

use geomi_model::Timestamp;
use geomi_state::Scan;
use geomi_store::CrawlDir;
use geomi_store::seeds::{SeedOrigin, SeedRow, SeedsWriter};
use geomi_url::UrlHash;
use hashbrown::HashMap;

use super::Seed;
use crate::CrawlError;
use crate::partition::Partition;

/// First and last visit of the part of a party that is in other partitions.
type Abroad = HashMap<UrlHash, (Timestamp, Timestamp)>;

/// Writes both files, seed by seed. The cards of a seed, in other partitions, know when
/// its party was visited there.
pub(crate) fn write_seeds(dir: &CrawlDir, partitions: &[&Partition]) -> Result<(), CrawlError> {
    let mut abroad = Abroad::new();
    if partitions.len() > 1 {
        for partition in partitions {
            partition.each_seed(0, &mut |_, seed| {
                if let Some((first, last)) = seed.party.filter(|_| seed.is_guest) {
                    let known = abroad.entry(seed.url.hash64()).or_insert((first, last));
                    *known = (known.0.min(first), known.1.max(last));
                }
                Ok(Scan::Continue)
            })?;
        }
    }
    let mut out = SeedsWriter::create(dir)?;
    let count = partitions.len() as u64;
    for (id, partition) in (1..).zip(partitions) {
        partition.each_seed(0, &mut |number, seed| {
            if !seed.is_guest {
                let elsewhere = abroad.get(&seed.url.hash64()).copied();
                out.push(row(u64::from(number) * count + id, seed, elsewhere))?;
            }
            Ok(Scan::Continue)
        })?;
    }
    Ok(out.finish()?)
}

/// The row of a seed, with when its party was visited elsewhere.
fn row(id: u64, seed: Seed, elsewhere: Option<(Timestamp, Timestamp)>) -> SeedRow {
    SeedRow {
        id,
        url: seed.url,
        content_hash: seed.digest,
        party_time: party_time(seed.party, elsewhere),
        state: seed.state,
        topic: seed.topic,
        found: if seed.via.is_none() {
            SeedOrigin::Input
        } else {
            SeedOrigin::Discovered
        },
        via: seed.via,
    }
}

fn party_time(
    here: Option<(Timestamp, Timestamp)>,
    elsewhere: Option<(Timestamp, Timestamp)>,
) -> Option<Duration> {
    let all = here.into_iter().chain(elsewhere);
    let (first, last) = all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))?;
    Some(last.since(first))
}
