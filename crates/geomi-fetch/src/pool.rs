//! Connections that wait for their next request.
//!
//! A connection is filed under its origin (scheme, host, port) and address, and
//! under the order in which it came to rest. The first finds one to reuse, the
//! newest first; the second closes the oldest when there are too many or they
//! are too old. The pool owns only idle connections: one in use is in nobody's
//! hands but its exchange's, and one that is not handed back is closed.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Idle connections of type `C`, under limits.
pub(crate) struct Pool<C> {
    limits: PoolLimits,
    shelf: Mutex<Shelf<C>>,
}

/// How many connections may wait, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolLimits {
    pub(crate) connections: usize,
    pub(crate) per_origin: usize,
    /// Open connections to one address, those in use included.
    pub(crate) per_address: usize,
    pub(crate) age: Duration,
}

struct Shelf<C> {
    /// By the order in which they came to rest.
    by_age: BTreeMap<u64, Idle<C>>,
    /// Numbers into `by_age`, the newest last.
    by_origin: HashMap<Box<str>, Vec<u64>>,
    /// How many are in use, by address.
    in_use: HashMap<IpAddr, usize>,
    next_number: u64,
}

/// A connection in use, for as long as this lives.
pub(crate) struct InUse<'a, C> {
    pool: &'a Pool<C>,
    addr: IpAddr,
}

impl<C> Drop for InUse<'_, C> {
    fn drop(&mut self) {
        let mut shelf = self.pool.lock();
        if let Some(count) = shelf.in_use.get_mut(&self.addr) {
            *count -= 1;
            if *count == 0 {
                shelf.in_use.remove(&self.addr);
            }
        }
    }
}

struct Idle<C> {
    connection: C,
    origin: Box<str>,
    addr: IpAddr,
    since: Instant,
}

impl<C> Pool<C> {
    pub(crate) fn new(limits: PoolLimits) -> Self {
        Self {
            limits,
            shelf: Mutex::new(Shelf {
                by_age: BTreeMap::new(),
                by_origin: HashMap::new(),
                in_use: HashMap::new(),
                next_number: 0,
            }),
        }
    }

    /// Counts a connection to this address as in use.
    pub(crate) fn enter(&self, addr: IpAddr) -> InUse<'_, C> {
        *self.lock().in_use.entry(addr).or_default() += 1;
        InUse { pool: self, addr }
    }

    /// Closes idle connections to this address, the oldest first, so that a
    /// new one keeps to the limit.
    pub(crate) fn make_room(&self, addr: IpAddr) {
        let mut shelf = self.lock();
        let in_use = shelf.in_use.get(&addr).copied().unwrap_or(0);
        let idle = shelf.by_age.iter().filter(|(_, idle)| idle.addr == addr);
        let numbers: Vec<u64> = idle.map(|(number, _)| *number).collect();
        let excess = (numbers.len() + in_use).saturating_sub(self.limits.per_address);
        let closing: Vec<_> = numbers
            .into_iter()
            .take(excess)
            .map(|number| shelf.remove(number))
            .collect();
        drop(shelf);
        drop(closing);
    }

    /// The connection to this origin and address that rested last.
    pub(crate) fn take(&self, origin: &str, addr: IpAddr, now: Instant) -> Option<C> {
        let mut shelf = self.lock();
        let too_old = shelf.remove_older(now, self.limits.age);
        let numbers = shelf.by_origin.get(origin);
        let number = numbers.and_then(|numbers| {
            let newest_first = numbers.iter().rev();
            let mut at_addr = newest_first.filter(|number| shelf.by_age[number].addr == addr);
            at_addr.next().copied()
        });
        let found = number.map(|number| shelf.remove(number).connection);
        // Closing takes system calls, which need not hold up other sites.
        drop(shelf);
        drop(too_old);
        found
    }

    /// Lets a connection rest.
    pub(crate) fn put(&self, origin: &str, addr: IpAddr, connection: C, now: Instant) {
        let limits = self.limits;
        if limits.connections == 0 || limits.per_origin == 0 {
            return;
        }
        let mut shelf = self.lock();
        let mut closing = shelf.remove_older(now, limits.age);
        let numbers = shelf.by_origin.get(origin);
        if let Some(numbers) = numbers.filter(|numbers| numbers.len() >= limits.per_origin) {
            let oldest = numbers[0];
            closing.push(shelf.remove(oldest));
        }
        if shelf.by_age.len() >= limits.connections
            && let Some((&oldest, _)) = shelf.by_age.first_key_value()
        {
            closing.push(shelf.remove(oldest));
        }
        shelf.insert(Idle {
            connection,
            origin: origin.into(),
            addr,
            since: now,
        });
        drop(shelf);
        drop(closing);
    }

    /// How many connections rest.
    pub(crate) fn len(&self) -> usize {
        self.lock().by_age.len()
    }

    /// Closes them all.
    pub(crate) fn clear(&self) {
        let mut shelf = self.lock();
        let closing = std::mem::take(&mut shelf.by_age);
        shelf.by_origin.clear();
        drop(shelf);
        drop(closing);
    }

    fn lock(&self) -> MutexGuard<'_, Shelf<C>> {
        // No code that can panic changes the shelf halfway.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C> Shelf<C> {
    fn insert(&mut self, idle: Idle<C>) {
        let number = self.next_number;
        self.next_number += 1;
        match self.by_origin.get_mut(&idle.origin) {
            Some(numbers) => numbers.push(number),
            None => {
                self.by_origin.insert(idle.origin.clone(), vec![number]);
            }
        }
        self.by_age.insert(number, idle);
    }

    fn remove(&mut self, number: u64) -> Idle<C> {
        let idle = self.by_age.remove(&number);
        let idle = idle.expect("a number filed under an origin is filed by age");
        let numbers = self.by_origin.get_mut(&idle.origin);
        let numbers = numbers.expect("a connection filed by age is filed under its origin");
        numbers.retain(|other| *other != number);
        if numbers.is_empty() {
            self.by_origin.remove(&idle.origin);
        }
        idle
    }

    fn remove_older(&mut self, now: Instant, age_max: Duration) -> Vec<Idle<C>> {
        let mut removed = Vec::new();
        while let Some((&number, idle)) = self.by_age.first_key_value() {
            if now.saturating_duration_since(idle.since) <= age_max {
                break;
            }
            removed.push(self.remove(number));
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const AWAY: IpAddr = IpAddr::V6(std::net::Ipv6Addr::LOCALHOST);

    fn pool(connections: usize, per_origin: usize) -> Pool<u32> {
        Pool::new(PoolLimits {
            connections,
            per_origin,
            per_address: 2,
            age: Duration::from_secs(10),
        })
    }

    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn a_connection_serves_its_origin_and_address_only() {
        let (pool, now) = (pool(8, 8), start());
        pool.put("http://a", HOME, 1, now);
        assert_eq!(pool.take("http://b", HOME, now), None);
        assert_eq!(pool.take("https://a", HOME, now), None);
        assert_eq!(pool.take("http://a", AWAY, now), None);
        assert_eq!(pool.take("http://a", HOME, now), Some(1));
        assert_eq!(pool.take("http://a", HOME, now), None);
        assert!(pool.lock().by_origin.is_empty());
    }

    #[test]
    fn the_newest_serves_and_the_oldest_leaves() {
        let (pool, now) = (pool(3, 2), start());
        for connection in 1..=3 {
            pool.put("http://a", HOME, connection, now);
        }
        assert_eq!(pool.len(), 2);
        pool.put("http://b", HOME, 4, now);
        pool.put("http://c", HOME, 5, now);
        assert_eq!(pool.len(), 3);
        assert_eq!(pool.take("http://a", HOME, now), Some(3));
        assert_eq!(pool.take("http://a", HOME, now), None);
        pool.clear();
        assert_eq!(pool.len(), 0);
        assert_eq!(pool.take("http://b", HOME, now), None);
    }

    #[test]
    fn old_connections_are_closed() {
        let (pool, now) = (pool(8, 8), start());
        pool.put("http://a", HOME, 1, now);
        pool.put("http://b", HOME, 2, now + Duration::from_secs(5));
        let later = now + Duration::from_secs(11);
        assert_eq!(pool.take("http://a", HOME, later), None);
        assert_eq!(pool.len(), 1);
        assert_eq!(pool.take("http://b", HOME, later), Some(2));
    }

    #[test]
    fn a_new_connection_makes_room_at_its_address() {
        let (pool, now) = (pool(8, 8), start());
        pool.put("http://a", HOME, 1, now);
        pool.put("http://b", HOME, 2, now);
        pool.put("http://c", AWAY, 3, now);
        let visitor = pool.enter(HOME);
        pool.make_room(HOME);
        assert_eq!(pool.take("http://a", HOME, now), None, "the oldest left");
        assert_eq!(pool.len(), 2);
        drop(visitor);
        assert!(pool.lock().in_use.is_empty());
    }

    #[test]
    fn a_pool_of_nothing_keeps_nothing() {
        let (pool, now) = (pool(0, 8), start());
        pool.put("http://a", HOME, 1, now);
        assert_eq!(pool.len(), 0);
    }
}
