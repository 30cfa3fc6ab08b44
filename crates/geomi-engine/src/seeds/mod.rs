//! The seeds: what was given, what was found, and what became of each.
//!
//! There may be millions. Each is in the state of the partition that owns its URL,
//! numbered there; other partitions have a card of it ([`SeedCard`]). Of each seed
//! only its number and the hash of its URL stay in memory ([`index`]), beside a
//! bounded number that were in use lately ([`book`]).

mod book;
mod index;

pub(crate) use book::{Added, SeedBook};

use std::rc::Rc;

use geomi_model::{Digest, NetworkState, Timestamp};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::{EngineError, SeedInput, keys};

/// A seed, with what its row in seeds.parquet needs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seed {
    /// The URL of the seed.
    pub url: CrawlUrl,
    /// Its label, if it was given one.
    pub topic: Option<String>,
    /// The URL scope is judged by: where the seed redirects to, if it does.
    pub home: CrawlUrl,
    /// The page it was found on; `None` for a seed that was given.
    pub via: Option<CrawlUrl>,
    /// What became of it so far.
    pub outcome: SeedOutcome,
    /// The network state of its last visit.
    pub state: NetworkState,
    /// The payload digest of its last stored answer.
    pub digest: Option<Digest>,
    /// First and last visit of its party.
    pub party: Option<(Timestamp, Timestamp)>,
    /// Pages of its party visited by this partition.
    pub pages: u64,
    /// URLs taken into its party by this partition.
    pub urls: u64,
    /// Whether it is the card of a seed of another partition.
    pub is_guest: bool,
    /// Its position in what was given, in a crawl of several partitions; `None` for seeds
    /// that were found or added.
    pub position: Option<u64>,
}

/// Format of seeds. The first two had no cards.
const FORMAT: u8 = 3;

/// What another partition needs to know of a seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SeedCard {
    pub(crate) url: CrawlUrl,
    pub(crate) home: CrawlUrl,
    pub(crate) topic: Option<String>,
}

impl SeedCard {
    pub(crate) fn of(seed: &Seed) -> Self {
        Self {
            url: seed.url.clone(),
            home: seed.home.clone(),
            topic: seed.topic.clone(),
        }
    }
}

impl Seed {
    /// A seed that was not visited yet.
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
            is_guest: false,
            position: None,
        }
    }

    /// The card of a seed of another partition.
    fn guest(card: &SeedCard) -> Self {
        let SeedCard { url, home, topic } = card.clone();
        Self {
            home,
            is_guest: true,
            ..Self::new(&SeedInput { url, topic }, None)
        }
    }

    /// As it is stored.
    pub(crate) fn encode(&self) -> Vec<u8> {
        keys::encode_as(FORMAT, self)
    }

    /// Reads a stored seed.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, EngineError> {
        keys::decode_as(FORMAT, "seed", bytes)
    }

    /// Takes in what a visit of the seed, or of where it redirects to, brought.
    pub(crate) fn became(
        &mut self,
        outcome: Option<SeedOutcome>,
        state: NetworkState,
        digest: Option<Digest>,
    ) {
        self.state = state;
        self.digest = digest.or(self.digest);
        self.outcome = outcome.unwrap_or(self.outcome);
    }

    /// Whether it was given up without any answer.
    pub(crate) fn is_unreached(&self) -> bool {
        self.outcome == SeedOutcome::Failed && !self.state.is_answer()
    }
}

/// What became of a seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum SeedOutcome {
    /// It was not visited yet, or will be tried again.
    #[default]
    Pending,
    /// It was answered.
    Saved,
    /// Every try failed.
    Failed,
    /// A rule refused it.
    Refused,
}

impl Engine {
    /// A seed, by its number.
    pub(crate) fn seed(&self, number: u32) -> Result<Rc<Seed>, EngineError> {
        self.seeds.book.get(&self.store, number)
    }

    /// Changes a seed; durable with the next commit.
    pub(crate) fn edit_seed(
        &mut self,
        number: u32,
        edit: impl FnOnce(&mut Seed),
    ) -> Result<(), EngineError> {
        self.seeds.book.edit(&self.store, number, edit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_reads_back() {
        let input = SeedInput {
            url: CrawlUrl::parse("http://a.example/").unwrap(),
            topic: Some("news".to_owned()),
        };
        let mut seed = Seed::new(&input, None);
        (seed.pages, seed.urls) = (3, 9);
        assert_eq!(Seed::decode(&seed.encode()).unwrap(), seed);
        let guest = Seed::guest(&SeedCard::of(&seed));
        assert_eq!((guest.topic.as_deref(), guest.urls), (Some("news"), 0));
        assert!(Seed::decode(&guest.encode()).unwrap().is_guest);
        assert!(Seed::decode(&[9, 0]).is_err());
    }
}
