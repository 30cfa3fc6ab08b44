//! Answers that take long and are asked for by many: reports and lists of
//! sites. Each is kept for a moment, and while the crawl has not moved on for
//! longer; the table is bounded.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_engine::explain::{SiteOrder, SitesPage};
use geomi_model::Timestamp;
use geomi_report::Section;

use crate::accounts::hold;
use crate::library::changes::Changes;
use crate::library::freshness::Freshness;
use crate::schedule::Week;

/// Answers kept of each kind.
const ENTRIES_MAX: usize = 64;

/// Which list of sites: crawl, order, place, limit, part of the name.
pub(crate) type SitesKey = (String, SiteOrder, Option<String>, usize, Option<String>);
/// Which report: crawl, sections, rows.
pub(crate) type ReportKey = (String, String, usize);

/// Everything that is kept.
#[derive(Debug, Default)]
pub(crate) struct Caches {
    /// Lists of sites of running crawls.
    pub(crate) sites: Kept<SitesKey, Arc<SitesPage>>,
    /// How pages change, by crawl.
    pub(crate) changes: Kept<String, Arc<Changes>>,
    /// How fresh copies are, by crawl.
    pub(crate) freshness: Kept<String, Arc<Freshness>>,
    /// Weeks of visits, by crawl.
    pub(crate) weeks: Kept<String, Arc<Week>>,
    /// Sections of reports.
    pub(crate) reports: Kept<ReportKey, Arc<Vec<Section>>>,
}

/// Answers of one kind.
#[derive(Debug)]
pub(crate) struct Kept<K, V> {
    entries: Mutex<HashMap<K, Entry<V>>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    made: Timestamp,
    /// What the answer is about; it holds while this is so.
    about: u64,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self {
            entries: Mutex::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Kept<K, V> {
    /// The answer, if it is about the same thing and not older than `age`.
    pub(crate) fn get(&self, key: &K, about: u64, age: Duration, now: Timestamp) -> Option<V> {
        let entries = hold(&self.entries);
        let entry = entries.get(key)?;
        let is_good = entry.about == about && now.since(entry.made) < age;
        is_good.then(|| entry.value.clone())
    }

    /// Keeps an answer; the oldest makes room for it.
    pub(crate) fn put(&self, key: K, about: u64, value: V, now: Timestamp) {
        let mut entries = hold(&self.entries);
        if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.made);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                entries.remove(&key);
            }
        }
        let entry = Entry {
            value,
            made: now,
            about,
        };
        entries.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_its_time_and_its_subject() {
        let kept: Kept<u32, u32> = Kept::default();
        let at = Timestamp::from_secs;
        let age = Duration::from_secs(10);
        kept.put(1, 7, 100, at(0));
        assert_eq!(kept.get(&1, 7, age, at(9)), Some(100));
        assert_eq!(kept.get(&1, 7, age, at(10)), None);
        assert_eq!(kept.get(&1, 8, age, at(0)), None);
        for key in 0..1_000 {
            kept.put(key, 0, key, at(i64::from(key)));
        }
        assert!(hold(&kept.entries).len() <= ENTRIES_MAX);
        assert_eq!(kept.get(&999, 0, age, at(999)), Some(999));
    }
}
