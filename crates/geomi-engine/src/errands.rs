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

#[cfg(test)]
mod tests {
    use super::*;

    fn errand(name: &str) -> RobotsErrand {
        let url = geomi_url::CrawlUrl::parse(&format!("http://{name}.test/robots.txt")).unwrap();
        RobotsErrand {
            for_site: url.site_hash(),
            url,
            redirects: 1,
        }
    }

    #[test]
    fn errands_are_there_again_until_they_are_answered() {
        let (a, b) = (errand("a"), errand("b"));
        let disk = geomi_state::MemoryDisk::new();
        let open = || {
            let bases = std::sync::Arc::new(geomi_state::seen::MemoryBases::new());
            Partition::open(Box::new(disk.open().unwrap()), bases, 4_096).unwrap()
        };
        let mut store = open();
        let mut errands = Errands::load(&store).unwrap();
        errands.insert(PartitionId(1), a.clone());
        errands.insert(PartitionId(2), b.clone());
        assert_eq!(errands.remove(a.for_site), Some(PartitionId(1)));
        errands.save(&mut store);
        store
            .commit(&crate::partition::ArchiveMark::default())
            .unwrap();
        drop(store);
        let errands = Errands::load(&open()).unwrap();
        assert_eq!(errands.all(), std::slice::from_ref(&b));
        assert_eq!(errands.asker(b.for_site), Some(PartitionId(2)));
    }
}
