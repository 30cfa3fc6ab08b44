//! How often a log-in may fail.
//!
//! Failures are counted by account and by address, each in a window: whoever
//! guesses one password is held up by the account, whoever tries one password
//! on every account by the address. A success clears the account's count. The
//! table is bounded; when it is full the oldest entries go first.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use geomi_model::Timestamp;

/// How long failures are remembered.
const WINDOW: Duration = Duration::from_mins(15);
/// Failures of one account in a window.
const ACCOUNT_MAX: u32 = 5;
/// Failures from one address in a window.
const ADDRESS_MAX: u32 = 30;
/// Entries remembered.
const ENTRIES_MAX: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Account(String),
    Address(IpAddr),
}

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    since: Timestamp,
}

/// Counts failed log-ins.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    entries: HashMap<Key, Failures>,
}

impl Limiter {
    /// How long to wait before trying again; `None` if it may be tried now.
    pub(crate) fn wait(&self, id: &str, address: IpAddr, now: Timestamp) -> Option<Duration> {
        let account = self.left(&Key::Account(id.to_owned()), ACCOUNT_MAX, now);
        let address = self.left(&Key::Address(address), ADDRESS_MAX, now);
        account.max(address)
    }

    fn left(&self, key: &Key, max: u32, now: Timestamp) -> Option<Duration> {
        let failures = self.entries.get(key)?;
        let passed = now.since(failures.since);
        let left = WINDOW.saturating_sub(passed);
        (failures.count >= max && !left.is_zero()).then_some(left)
    }

    /// A log-in failed.
    pub(crate) fn failed(&mut self, id: &str, address: IpAddr, now: Timestamp) {
        for key in [Key::Account(id.to_owned()), Key::Address(address)] {
            let entry = self.entries.entry(key).or_insert(Failures {
                count: 0,
                since: now,
            });
            if now.since(entry.since) >= WINDOW {
                *entry = Failures {
                    count: 0,
                    since: now,
                };
            }
            entry.count += 1;
        }
        self.forget(now);
    }

    /// A log-in succeeded.
    pub(crate) fn succeeded(&mut self, id: &str) {
        self.entries.remove(&Key::Account(id.to_owned()));
    }

    fn forget(&mut self, now: Timestamp) {
        if self.entries.len() <= ENTRIES_MAX {
            return;
        }
        self.entries
            .retain(|_, failures| now.since(failures.since) < WINDOW);
        if self.entries.len() > ENTRIES_MAX {
            let mut times: Vec<Timestamp> =
                self.entries.values().map(|entry| entry.since).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            self.entries.retain(|_, entry| entry.since > middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    #[test]
    fn an_account_is_held_up_and_let_go() {
        let mut limiter = Limiter::default();
        for second in 0..5 {
            assert_eq!(limiter.wait("kim", HERE, at(second)), None);
            limiter.failed("kim", HERE, at(second));
        }
        assert_eq!(
            limiter.wait("kim", HERE, at(5)),
            Some(Duration::from_secs(895))
        );
        assert_eq!(limiter.wait("lee", HERE, at(5)), None);
        assert_eq!(limiter.wait("kim", HERE, at(900)), None);
        limiter.failed("kim", HERE, at(900));
        assert_eq!(limiter.wait("kim", HERE, at(901)), None);
    }

    #[test]
    fn an_address_that_tries_everybody_is_held_up() {
        let mut limiter = Limiter::default();
        for n in 0..30 {
            limiter.failed(&format!("user{n}"), HERE, at(n));
        }
        assert!(limiter.wait("another", HERE, at(31)).is_some());
        let elsewhere = IpAddr::from([10, 0, 0, 1]);
        assert_eq!(limiter.wait("another", elsewhere, at(31)), None);
    }

    #[test]
    fn the_table_is_bounded() {
        let mut limiter = Limiter::default();
        for n in 0..40_000_i64 {
            limiter.failed(&format!("user{n}"), HERE, at(n / 100));
        }
        assert!(limiter.entries.len() <= ENTRIES_MAX + 2);
    }
}
