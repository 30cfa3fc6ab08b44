//! The seeds: what was given, what was found, and what became of each.

use std::collections::HashMap;

use geomi_model::{Digest, NetworkState, Timestamp};
use geomi_store::seeds::{SeedOrigin, SeedRow};
use geomi_url::{CrawlUrl, UrlHash};
use serde::{Deserialize, Serialize};

use crate::partition::Partition;
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

/// All seeds, by number.
#[derive(Debug, Default)]
pub(crate) struct SeedBook {
    seeds: Vec<Seed>,
    by_url: HashMap<UrlHash, u32>,
    dirty: Vec<u32>,
}

impl SeedBook {
    /// The seeds of an earlier run.
    pub(crate) fn load(seeds: Vec<Seed>) -> Self {
        let by_url = (0u32..)
            .zip(&seeds)
            .map(|(number, seed)| (seed.url.hash64(), number))
            .collect();
        Self {
            seeds,
            by_url,
            dirty: Vec::new(),
        }
    }

    /// Adds a seed and returns its number; a seed known already keeps its own.
    /// A topic the operator gives it now is the one that counts, whether it was
    /// found on the way before or came with another list; visits made so far
    /// keep theirs.
    pub(crate) fn add(&mut self, input: &SeedInput, via: Option<&CrawlUrl>) -> u32 {
        let number = self.seeds.len() as u32;
        let known = *self.by_url.entry(input.url.hash64()).or_insert(number);
        if known == number {
            self.dirty.push(number);
            self.seeds.push(Seed {
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
            });
        } else if via.is_none() && input.topic.is_some() && self.get(known).topic != input.topic {
            self.edit(known, |seed| seed.topic.clone_from(&input.topic));
        }
        known
    }

    /// The number of a seed.
    pub(crate) fn number_of(&self, url: &CrawlUrl) -> Option<u32> {
        self.by_url.get(&url.hash64()).copied()
    }

    pub(crate) fn knows(&self, url: &CrawlUrl) -> bool {
        self.by_url.contains_key(&url.hash64())
    }

    pub(crate) fn get(&self, number: u32) -> &Seed {
        &self.seeds[number as usize]
    }

    /// Changes a seed; durable with the next commit.
    pub(crate) fn edit(&mut self, number: u32, edit: impl FnOnce(&mut Seed)) {
        if self.dirty.last() != Some(&number) {
            self.dirty.push(number);
        }
        edit(&mut self.seeds[number as usize]);
    }

    pub(crate) fn len(&self) -> usize {
        self.seeds.len()
    }

    /// Every seed with its number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Seed)> {
        (0u32..).zip(&self.seeds)
    }

    /// Whether the given seeds all failed, and there were any.
    pub(crate) fn all_failed(&self) -> bool {
        let mut given = self
            .seeds
            .iter()
            .filter(|seed| seed.via.is_none())
            .peekable();
        given.peek().is_some() && given.all(|seed| seed.outcome == SeedOutcome::Failed)
    }

    /// Puts changed seeds into the next commit.
    pub(crate) fn save(&mut self, partition: &mut Partition) {
        self.dirty.sort_unstable();
        self.dirty.dedup();
        for number in self.dirty.drain(..) {
            partition.set_seed(number, &self.seeds[number as usize].encode());
        }
    }

    /// The rows of seeds.parquet.
    pub(crate) fn rows(&self) -> impl Iterator<Item = SeedRow> {
        self.iter().map(|(number, seed)| row(number, seed))
    }
}

fn row(number: u32, seed: &Seed) -> SeedRow {
    SeedRow {
        id: u64::from(number) + 1,
        url: seed.url.clone(),
        content_hash: seed.digest,
        party_time: seed.party.map(|(first, last)| last.since(first)),
        state: seed.state,
        topic: seed.topic.clone(),
        found: if seed.via.is_none() {
            SeedOrigin::Input
        } else {
            SeedOrigin::Discovered
        },
        via: seed.via.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_given_later_counts_and_none_takes_it_away() {
        let url = || CrawlUrl::parse("http://a.example/").unwrap();
        let from = CrawlUrl::parse("http://b.example/").unwrap();
        let input = |topic: Option<&str>| SeedInput {
            url: url(),
            topic: topic.map(str::to_owned),
        };
        let mut book = SeedBook::default();
        let number = book.add(&input(None), Some(&from));
        book.add(&input(Some("news")), None);
        assert_eq!(book.get(number).topic.as_deref(), Some("news"));
        book.add(&input(None), None);
        book.add(&input(Some("found elsewhere")), Some(&from));
        assert_eq!(book.get(number).topic.as_deref(), Some("news"));
        assert_eq!(book.len(), 1);
    }

    #[test]
    fn seeds_of_both_formats_read_back() {
        let url = CrawlUrl::parse("http://a.example/").unwrap();
        let mut book = SeedBook::default();
        let topic = Some("news".to_owned());
        let number = book.add(&SeedInput { url, topic }, None);
        book.edit(number, |seed| (seed.pages, seed.urls) = (3, 9));
        let seed = book.get(number).clone();
        assert_eq!(Seed::decode(&seed.encode()).unwrap(), seed);
        let old = keys::encode_as(FORMAT_WITHOUT_URLS, &seed);
        let read = Seed::decode(&old).unwrap();
        assert_eq!((read.urls, read.topic), (3, seed.topic));
        assert!(Seed::decode(&[9, 0]).is_err());
    }
}
