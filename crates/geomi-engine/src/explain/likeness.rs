//! What a page is like, explained.

use std::collections::BTreeMap;

use geomi_model::{PageFacts, Visit};
use serde::{Deserialize, Serialize};

use super::Place;
use crate::EngineError;

/// What a page is like, by its last visit that tells.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PageLikeness {
    /// `near_url` of its visit in hexadecimal, if it is a near-duplicate.
    pub near_key: Option<String>,
    /// The URL that stands for, where it is known.
    pub near_to: Option<String>,
    /// Bits in which their simhashes differ.
    pub near_bits: Option<u8>,
    /// How much it looks like spam, in hundredths.
    pub spam_percent: Option<u8>,
    /// What each feature adds to that, as far as the stored page was read again.
    pub spam_parts: BTreeMap<String, u64>,
    /// Whether it came with 200 and says that it is not there.
    pub soft_404: Option<bool>,
}

impl PageLikeness {
    /// What a visit tells; `None` if it tells nothing.
    pub fn of(facts: &PageFacts) -> Option<Self> {
        let near = facts.near_duplicate;
        if near.is_none() && facts.spam_percent.is_none() && facts.soft_404.is_none() {
            return None;
        }
        Some(Self {
            near_key: near.map(|near| key(near.url)),
            near_to: None,
            near_bits: near.map(|near| near.distance),
            spam_percent: facts.spam_percent,
            spam_parts: BTreeMap::new(),
            soft_404: facts.soft_404,
        })
    }

    /// Names the page it is near to, if that is this visit's.
    pub fn name(&mut self, visit: &Visit) {
        if self.near_to.is_none() && self.near_key == Some(key(visit.url.hash64().0)) {
            self.near_to = Some(visit.url.to_string());
        }
    }
}

fn key(hash: u64) -> String {
    format!("{hash:016x}")
}

impl Place<'_> {
    /// Names what a page is near to, from the visits in no Parquet file yet.
    pub(super) fn name_near(&self, likeness: &mut PageLikeness) -> Result<(), EngineError> {
        if likeness.near_key.is_some() {
            for engine in self.all.engines {
                engine.store.visits(&mut |visit| likeness.name(&visit))?;
            }
        }
        Ok(())
    }
}
