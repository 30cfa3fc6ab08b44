//! The seeds: what was given, what was found, and what became of each.
//!
//! There may be millions. They live in the state of partition 0; of each only its
//! number and the hash of its URL stay in memory ([`index`]), beside a bounded
//! number that were in use lately ([`book`]). [`feed`] is how they come in.

mod book;
mod feed;
mod index;

pub(crate) use book::{Added, SeedBook};
pub(crate) use feed::SeedFeed;
pub use feed::SeedStream;

use std::rc::Rc;

use geomi_model::{Digest, NetworkState, Timestamp};
use geomi_state::Scan;
use geomi_store::seeds::{SeedOrigin, SeedRow, SeedsWriter};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::journey::Journey;
use crate::{CrawlError, SeedInput, keys};

/// A seed, with what its row in seeds.parquet needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Seed {
    pub(crate) url: CrawlUrl,
    pub(crate) topic: Option<String>,
    /// The URL scope is judged by: where the seed redirects to, if it does.
    pub(crate) home: CrawlUrl,
    /// The page it was found on; `None` for a seed that was given.
    pub(crate) via: Option<CrawlUrl>,
    pub(crate) outcome: SeedOutcome,
    pub(crate) state: NetworkState,
    pub(crate) digest: Option<Digest>,
    /// First and last visit of its party.
    pub(crate) party: Option<(Timestamp, Timestamp)>,
    pub(crate) pages: u64,
    /// URLs taken into its party. Stored after the rest, since format 2.
    #[serde(skip)]
    pub(crate) urls: u64,
}

/// Format of seeds that do not know how many URLs their party has.
const FORMAT_WITHOUT_URLS: u8 = 1;
/// Format of seeds as they are written.
const FORMAT: u8 = 2;

impl Seed {
    /// One that nothing is known of.
    fn new(input: &SeedInput, via: Option<&CrawlUrl>) -> Self {
        Self {
            url: input.url.clone(),
            topic: input.topic.clone(),
            home: input.url.clone(),
            via: via.cloned(),
            outcome: SeedOutcome::default(),
            state: NetworkState::NotTried,
            digest: None,
            party: None,
            pages: 0,
            urls: 0,
        }
    }

    /// As it is stored.
    pub(crate) fn encode(&self) -> Vec<u8> {
        keys::encode_as(FORMAT, &(self, self.urls))
    }

    /// Reads a stored seed, also one of an earlier version: its party has at
    /// least the pages that were visited.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CrawlError> {
        if bytes.first() == Some(&FORMAT_WITHOUT_URLS) {
            let seed: Self = keys::decode_as(FORMAT_WITHOUT_URLS, "seed", bytes)?;
            return Ok(Self {
                urls: seed.pages,
                ..seed
            });
        }
        let (seed, urls) = keys::decode_as::<(Self, u64)>(FORMAT, "seed", bytes)?;
        Ok(Self { urls, ..seed })
    }

    /// Whether it was given up without any answer.
    pub(crate) fn is_unreached(&self) -> bool {
        self.outcome == SeedOutcome::Failed && !self.state.is_answer()
    }
}

/// What became of a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) enum SeedOutcome {
    #[default]
    Pending,
    Saved,
    Failed,
    Refused,
}

impl Journey<'_> {
    /// Writes seeds.parquet and seeds-out.txt, seed by seed.
    pub(crate) fn write_seeds(&self) -> Result<(), CrawlError> {
        let mut out = SeedsWriter::create(self.reporter.dir())?;
        self.partitions[0].each_seed(0, &mut |number, seed| {
            out.push(row(number, seed))?;
            Ok(Scan::Continue)
        })?;
        Ok(out.finish()?)
    }

    /// A seed, by its number.
    pub(crate) fn seed(&self, number: u32) -> Result<Rc<Seed>, CrawlError> {
        self.seeds.get(&self.partitions[0], number)
    }

    /// Changes a seed; durable with the next commit.
    pub(crate) fn edit_seed(
        &mut self,
        number: u32,
        edit: impl FnOnce(&mut Seed),
    ) -> Result<(), CrawlError> {
        self.seeds.edit(&self.partitions[0], number, edit)
    }
}

/// The row of a seed in seeds.parquet.
fn row(number: u32, seed: Seed) -> SeedRow {
    SeedRow {
        id: u64::from(number) + 1,
        url: seed.url,
        content_hash: seed.digest,
        party_time: seed.party.map(|(first, last)| last.since(first)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_both_formats_read_back() {
        let input = SeedInput {
            url: CrawlUrl::parse("http://a.example/").unwrap(),
            topic: Some("news".to_owned()),
        };
        let mut seed = Seed::new(&input, None);
        (seed.pages, seed.urls) = (3, 9);
        assert_eq!(Seed::decode(&seed.encode()).unwrap(), seed);
        let old = keys::encode_as(FORMAT_WITHOUT_URLS, &seed);
        let read = Seed::decode(&old).unwrap();
        assert_eq!((read.urls, read.topic), (3, seed.topic));
        assert!(Seed::decode(&[9, 0]).is_err());
    }
}
