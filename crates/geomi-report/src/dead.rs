//! Pages that are dead as far as the crawl knows: their last visit failed.

use std::collections::HashMap;

use geomi_model::{Fate, Visit};
use geomi_url::UrlHash;

/// The dead pages, each by its hash with the number of the visit that failed.
#[derive(Debug, Default)]
pub(crate) struct Dead {
    visits: HashMap<UrlHash, u64>,
}

impl Dead {
    /// Takes the visits of a page in their order. A failure makes a page dead,
    /// any other end brings it back; one that is tried again decides nothing.
    pub(crate) fn add(&mut self, visit: &Visit, fate: Fate) {
        match fate {
            Fate::Failed => {
                self.visits.insert(visit.url.hash64(), visit.number);
            }
            Fate::Saved | Fate::Redirected | Fate::Answered => {
                self.visits.remove(&visit.url.hash64());
            }
            Fate::Retry => {}
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.visits.len()
    }

    /// Whether a page is dead.
    pub(crate) fn contains(&self, url: UrlHash) -> bool {
        self.visits.contains_key(&url)
    }

    /// Each page with the visit that failed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (UrlHash, u64)> {
        self.visits.iter().map(|(url, number)| (*url, *number))
    }
}
