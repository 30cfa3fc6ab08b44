//! Errands: robots.txt files that this partition asks for on account of others.
//!
//! Whoever sent the errand waits for a letter with the answer. So an errand is part of
//! the durable state until it is answered: a run that takes over asks again.

use std::collections::BTreeMap;

use geomi_cluster::PartitionId;
use geomi_url::SiteHash;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::letters::RobotsErrand;
use crate::partition::Partition;

/// Sites for which another partition asks this one for a robots.txt.
const ERRANDS_MAX: usize = 1 << 14;
/// The record of all errands.
const META: &str = "errands";

/// An errand, and the partition that waits for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    asker: u16,
    errand: RobotsErrand,
}

/// Errands by the site they are for.
#[derive(Debug, Default)]
pub(crate) struct Errands {
    waiting: BTreeMap<SiteHash, Waiting>,
    is_changed: bool,
}

impl Errands {
    /// As the last commit left them.
    pub(crate) fn load(store: &Partition) -> Result<Self, EngineError> {
        let waiting: Vec<Waiting> = store.meta(META)?.unwrap_or_default();
        let waiting = waiting.into_iter();
        Ok(Self {
            waiting: waiting
                .map(|waiting| (waiting.errand.for_site, waiting))
                .collect(),
            is_changed: false,
        })
    }

    /// Puts them into the next commit, if they changed.
    pub(crate) fn save(&mut self, store: &mut Partition) {
        if std::mem::take(&mut self.is_changed) {
            let waiting: Vec<&Waiting> = self.waiting.values().collect();
            store.set_meta(META, &waiting);
        }
    }

    pub(crate) fn insert(&mut self, asker: PartitionId, errand: RobotsErrand) {
        if self.waiting.len() >= ERRANDS_MAX {
            // Those that wait ask again when their site has its next turn.
            self.waiting.clear();
        }
        let waiting = Waiting {
            asker: asker.0,
            errand,
        };
        self.waiting.insert(waiting.errand.for_site, waiting);
        self.is_changed = true;
    }

    /// The partition that asked for the robots.txt of a site.
    pub(crate) fn asker(&self, for_site: SiteHash) -> Option<PartitionId> {
        let waiting = self.waiting.get(&for_site)?;
        Some(PartitionId(waiting.asker))
    }

    pub(crate) fn remove(&mut self, for_site: SiteHash) -> Option<PartitionId> {
        let waiting = self.waiting.remove(&for_site)?;
        self.is_changed = true;
        Some(PartitionId(waiting.asker))
    }

    /// All of them, in a fixed order.
    pub(crate) fn all(&self) -> Vec<RobotsErrand> {
        let waiting = self.waiting.values();
        waiting.map(|waiting| waiting.errand.clone()).collect()
    }
}
