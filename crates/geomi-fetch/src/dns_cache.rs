//! What is remembered of names.
//!
//! Pure: it is told the time. An answer is kept for the time its owner gave,
//! within bounds; a failure for a time of our own. An answer that is in use and
//! near its end is reported as due for a refresh, once, so that a busy site
//! never waits for its name.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// The addresses of a name, or why there are none.
pub(crate) type Answer = Result<Addresses, Arc<str>>;

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Addresses {
    pub(crate) addrs: Arc<[IpAddr]>,
    /// The name at the end of its aliases, where it is one.
    pub(crate) canonical: Option<Arc<str>>,
}

/// An answer used this often is worth refreshing before it ends.
const HOT_USES: u32 = 2;

/// Answers of many names, under a limit.
#[derive(Debug)]
pub(crate) struct DnsCache {
    names: HashMap<Box<str>, Known>,
    names_max: usize,
}

#[derive(Debug)]
struct Known {
    answer: Answer,
    refresh_from: Instant,
    expires: Instant,
    uses: u32,
    is_refreshing: bool,
}

/// An answer that still holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Hit {
    pub(crate) answer: Answer,
    pub(crate) expires_in: Duration,
    /// Whether the caller should look the name up again; said only once.
    pub(crate) refresh_due: bool,
}

impl DnsCache {
    pub(crate) fn new(names_max: usize) -> Self {
        Self {
            names: HashMap::new(),
            names_max,
        }
    }

    /// The answer for a name, if it still holds.
    pub(crate) fn get(&mut self, name: &str, now: Instant) -> Option<Hit> {
        let known = self.names.get_mut(name)?;
        if now >= known.expires {
            self.names.remove(name);
            return None;
        }
        known.uses = known.uses.saturating_add(1);
        let refresh_due = known.answer.is_ok()
            && known.uses >= HOT_USES
            && now >= known.refresh_from
            && !known.is_refreshing;
        known.is_refreshing |= refresh_due;
        Some(Hit {
            answer: known.answer.clone(),
            expires_in: known.expires - now,
            refresh_due,
        })
    }

    /// Remembers an answer for `ttl`.
    pub(crate) fn insert(&mut self, name: &str, answer: Answer, ttl: Duration, now: Instant) {
        if self.names.len() >= self.names_max && !self.names.contains_key(name) {
            self.make_room(now);
        }
        let known = Known {
            answer,
            refresh_from: now + ttl / 5 * 4,
            expires: now + ttl,
            uses: 0,
            is_refreshing: false,
        };
        self.names.insert(name.into(), known);
    }

    /// Forgets what has ended, or else the eighth that ends first, so that a
    /// full table is not searched for every name.
    fn make_room(&mut self, now: Instant) {
        self.names.retain(|_, known| known.expires > now);
        if self.names.len() < self.names_max {
            return;
        }
        let mut ends: Vec<Instant> = self.names.values().map(|known| known.expires).collect();
        let eighth = ends.len() / 8;
        let (_, &mut last, _) = ends.select_nth_unstable(eighth);
        self.names.retain(|_, known| known.expires > last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses() -> Addresses {
        Addresses {
            addrs: Arc::from([IpAddr::from([192, 0, 2, 1])]),
            canonical: None,
        }
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn an_answer_holds_until_its_end() {
        let mut cache = DnsCache::new(10);
        let start = Instant::now();
        cache.insert("a", Ok(addresses()), secs(100), start);
        let hit = cache.get("a", start + secs(99)).unwrap();
        assert_eq!((hit.answer, hit.expires_in), (Ok(addresses()), secs(1)));
        assert_eq!(cache.get("a", start + secs(100)), None);
        assert_eq!(cache.get("b", start), None);
    }

    #[test]
    fn a_busy_name_is_refreshed_once_near_its_end() {
        let mut cache = DnsCache::new(10);
        let start = Instant::now();
        cache.insert("a", Ok(addresses()), secs(100), start);
        let mut due = |after| cache.get("a", start + secs(after)).unwrap().refresh_due;
        assert!(!due(10), "too early");
        assert!(!due(79), "too early");
        assert!(due(80), "busy and near the end");
        assert!(!due(81), "said once");
        cache.insert("b", Ok(addresses()), secs(100), start);
        let first = cache.get("b", start + secs(90)).unwrap();
        assert!(!first.refresh_due, "a name asked for once is not busy");
    }

    #[test]
    fn failures_are_remembered_and_not_refreshed() {
        let mut cache = DnsCache::new(10);
        let start = Instant::now();
        cache.insert("a", Err("no such name".into()), secs(100), start);
        for _ in 0..3 {
            let hit = cache.get("a", start + secs(95)).unwrap();
            assert!(hit.answer.is_err() && !hit.refresh_due);
        }
    }

    #[test]
    fn the_table_stays_within_its_limit() {
        let mut cache = DnsCache::new(64);
        let start = Instant::now();
        for number in 0..1000 {
            let ttl = secs(100 + number);
            cache.insert(&number.to_string(), Ok(addresses()), ttl, start);
            assert!(cache.names.len() <= 64);
        }
        assert!(cache.get("999", start).is_some());
        assert!(cache.get("0", start).is_none());
        let late = start + secs(5000);
        cache.insert("new", Ok(addresses()), secs(1), late);
        assert_eq!(cache.names.len(), 1);
    }
}
