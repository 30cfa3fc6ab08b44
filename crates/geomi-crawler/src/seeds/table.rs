//! seeds.parquet and seeds-out.txt: the seeds of all partitions.

use std::collections::VecDeque;
use std::time::Duration;

use geomi_engine::{Engine, Seed};
use geomi_model::Timestamp;
use geomi_state::Scan;
use geomi_store::CrawlDir;
use geomi_store::seeds::{SeedOrigin, SeedRow, SeedsWriter};
use geomi_url::UrlHash;
use hashbrown::HashMap;

use crate::CrawlError;

/// Seeds of a partition read at once.
const SEEDS_READ: u32 = 1_024;

/// First and last visit of the part of a party that is in other partitions.
type Abroad = HashMap<UrlHash, (Timestamp, Timestamp)>;

/// Writes both files, seed by seed. The cards of a seed, in other partitions, know when
/// its party was visited there.
pub(crate) fn write_seeds(dir: &CrawlDir, engines: &[Engine]) -> Result<(), CrawlError> {
    let mut abroad = Abroad::new();
    if engines.len() > 1 {
        for engine in engines {
            engine.each_seed(0, &mut |_, seed| {
                if let Some((first, last)) = seed.party.filter(|_| seed.is_guest) {
                    let known = abroad.entry(seed.url.hash64()).or_insert((first, last));
                    *known = (known.0.min(first), known.1.max(last));
                }
                Ok(Scan::Continue)
            })?;
        }
    }
    let mut out = SeedsWriter::create(dir)?;
    let mut cursors: Vec<_> = engines.iter().map(Cursor::new).collect();
    let mut id = 0;
    loop {
        let mut first: Option<(u64, usize)> = None;
        for (index, cursor) in cursors.iter_mut().enumerate() {
            let Some(position) = cursor.position()? else {
                continue;
            };
            if first.is_none_or(|(best, _)| position < best) {
                first = Some((position, index));
            }
        }
        let Some((_, index)) = first else {
            return Ok(out.finish()?);
        };
        id += 1;
        let seed = cursors[index].seeds.pop_front();
        let seed = seed.expect("its position was just looked at");
        let elsewhere = abroad.get(&seed.url.hash64()).copied();
        out.push(row(id, seed, elsewhere))?;
    }
}

/// The seeds of a partition in order, some of them in memory.
struct Cursor<'a> {
    engine: &'a Engine,
    next: u32,
    is_over: bool,
    seeds: VecDeque<Seed>,
}

impl<'a> Cursor<'a> {
    fn new(engine: &'a Engine) -> Self {
        Self {
            engine,
            next: 0,
            is_over: false,
            seeds: VecDeque::new(),
        }
    }

    /// The position of the next seed. Those that were found or added come last.
    fn position(&mut self) -> Result<Option<u64>, CrawlError> {
        while self.seeds.is_empty() && !self.is_over {
            self.read_on()?;
        }
        let first = self.seeds.front();
        Ok(first.map(|seed| seed.position.unwrap_or(u64::MAX)))
    }

    fn read_on(&mut self) -> Result<(), CrawlError> {
        let Self {
            engine,
            next,
            is_over,
            seeds,
        } = self;
        let mut read = 0;
        engine.each_seed(*next, &mut |number, seed| {
            *next = number + 1;
            read += 1;
            if !seed.is_guest {
                seeds.push_back(seed);
            }
            Ok(if read < SEEDS_READ {
                Scan::Continue
            } else {
                Scan::Stop
            })
        })?;
        *is_over = read < SEEDS_READ;
        Ok(())
    }
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
