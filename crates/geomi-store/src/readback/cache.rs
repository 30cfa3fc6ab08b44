//! Records read lately, within a bound of bytes; the longest unused goes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Record;

/// What a record costs beside its content: its header and its place here.
const OVERHEAD_BYTES: usize = 1024;

/// Where a record lies: file and offset.
pub(super) type Place = (String, u64);

/// What a cache has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheCounters {
    /// Records that were there.
    pub hits: u64,
    /// Records that had to be read.
    pub misses: u64,
    /// Records given up for others.
    pub evicted: u64,
    /// Bytes held now.
    pub bytes: usize,
}

/// Records by their place.
#[derive(Debug)]
pub(super) struct Cache {
    bytes_max: usize,
    records: HashMap<Place, (u64, Arc<Record>)>,
    /// Places by the time of their last use, which is a count of uses.
    by_use: BTreeMap<u64, Place>,
    uses: u64,
    counters: CacheCounters,
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            records: HashMap::new(),
            by_use: BTreeMap::new(),
            uses: 0,
            counters: CacheCounters::default(),
        }
    }

    pub(super) fn counters(&self) -> CacheCounters {
        self.counters
    }

    pub(super) fn get(&mut self, place: &Place) -> Option<Arc<Record>> {
        let Some((used, record)) = self.records.get_mut(place) else {
            self.counters.misses += 1;
            return None;
        };
        self.counters.hits += 1;
        self.uses += 1;
        self.by_use.remove(used);
        *used = self.uses;
        self.by_use.insert(self.uses, place.clone());
        Some(Arc::clone(record))
    }

    /// Keeps a record, unless it is larger than everything together may be.
    pub(super) fn put(&mut self, place: Place, record: Arc<Record>) {
        let cost = cost(&record);
        // Two readers may miss the same record at once and both bring it.
        if cost > self.bytes_max || self.records.contains_key(&place) {
            return;
        }
        while self.counters.bytes + cost > self.bytes_max
            && let Some((_, oldest)) = self.by_use.pop_first()
            && let Some((_, record)) = self.records.remove(&oldest)
        {
            self.counters.bytes -= self::cost(&record);
            self.counters.evicted += 1;
        }
        self.uses += 1;
        self.counters.bytes += cost;
        self.by_use.insert(self.uses, place.clone());
        self.records.insert(place, (self.uses, record));
    }
}

fn cost(record: &Record) -> usize {
    record.block.len() + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warc::RecordInfo;

    fn record(bytes: usize) -> Arc<Record> {
        Arc::new(Record {
            info: RecordInfo {
                offset: 0,
                fields: Vec::new(),
                content_length: bytes as u64,
            },
            block: vec![0; bytes],
            truncated: false,
        })
    }

    fn place(offset: u64) -> Place {
        ("a.warc.gz".to_owned(), offset)
    }

    #[test]
    fn the_longest_unused_record_makes_room() {
        let mut cache = Cache::new(3 * (100 + OVERHEAD_BYTES));
        for offset in 0..3 {
            cache.put(place(offset), record(100));
        }
        assert!(cache.get(&place(0)).is_some());
        cache.put(place(3), record(100));
        assert!(cache.get(&place(1)).is_none(), "unused for longest");
        for offset in [0, 2, 3] {
            assert!(cache.get(&place(offset)).is_some(), "{offset}");
        }
        let counters = cache.counters();
        assert_eq!((counters.hits, counters.misses), (4, 1));
        assert_eq!(counters.evicted, 1);
        assert_eq!(counters.bytes, 3 * (100 + OVERHEAD_BYTES));
    }

    #[test]
    fn the_bound_holds_whatever_comes() {
        let bytes_max = 10_000;
        let mut cache = Cache::new(bytes_max);
        for offset in 0..1_000_u64 {
            cache.put(place(offset % 50), record((offset * 37 % 9_900) as usize));
            assert!(cache.counters().bytes <= bytes_max);
            assert_eq!(cache.records.len(), cache.by_use.len());
        }
        cache.put(place(99), record(bytes_max));
        assert!(cache.get(&place(99)).is_none(), "too large to keep");
        let held: usize = cache.records.values().map(|(_, one)| cost(one)).sum();
        assert_eq!(held, cache.counters().bytes);
    }
}
