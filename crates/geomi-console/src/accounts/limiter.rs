//! How often a log-in may be tried.
//!
//! An attempt is counted before its password is hashed, by account and by
//! network, each in a window: whoever guesses one password is held up by the
//! account, whoever tries one password on every account by the network. So a
//! thousand attempts sent at once are a thousand attempts. A success clears the
//! account's count and gives the network its attempt back. Hashes under way are
//! limited too, by account, by network and in total.
//!
//! Ids come from strangers and are kept as hashes. The table is bounded; when
//! it is full the oldest entries go first.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_model::Timestamp;

use super::hold;
use crate::network::network;
use crate::secret::{self, Hash};

/// How long attempts are remembered.
const WINDOW: Duration = Duration::from_mins(15);
/// Attempts on one account in a window.
const ACCOUNT_MAX: u32 = 5;
/// Attempts from one network in a window.
const NETWORK_MAX: u32 = 30;
/// Entries remembered.
const ENTRIES_MAX: usize = 10_000;
/// Attempts under way: on one account, from one network, in total. Each takes
/// its turn for a hash (two at a time).
const ACCOUNT_AT_ONCE: u32 = 2;
const NETWORK_AT_ONCE: u32 = 4;
const ALL_AT_ONCE: u32 = 16;
/// When to try again where too many attempts are under way.
const SOON: Duration = Duration::from_secs(1);
/// Failed log-ins written to the audit log in a minute; others are counted.
const NOTES_PER_MINUTE: u32 = 60;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Key {
    Account(Hash),
    Network(IpAddr),
}

impl Key {
    const fn attempts_max(self) -> u32 {
        match self {
            Self::Account(_) => ACCOUNT_MAX,
            Self::Network(_) => NETWORK_MAX,
        }
    }

    const fn at_once_max(self) -> u32 {
        match self {
            Self::Account(_) => ACCOUNT_AT_ONCE,
            Self::Network(_) => NETWORK_AT_ONCE,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Attempts {
    count: u32,
    since: Timestamp,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<Key, Attempts>,
    /// Attempts under way.
    under_way: HashMap<Key, u32>,
    /// Failures written to the audit log since this time, and those since
    /// then that were not.
    noted: u32,
    noted_since: Option<Timestamp>,
    not_noted: u64,
}

/// Counts log-ins.
#[derive(Debug, Default)]
pub(crate) struct Limiter(Arc<Mutex<State>>);

/// A log-in under way: it counts as failed unless it succeeds.
#[derive(Debug)]
pub(crate) struct Attempt {
    state: Arc<Mutex<State>>,
    keys: [Key; 2],
}

impl Limiter {
    /// Begins an attempt, or says how long to wait before the next.
    pub(crate) fn begin(
        &self,
        id: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Attempt, Duration> {
        let keys = [
            Key::Account(secret::hash(id)),
            Key::Network(network(address)),
        ];
        let mut state = hold(&self.0);
        let waits = keys.iter().filter_map(|key| state.wait(*key, now));
        if let Some(wait) = waits.max() {
            return Err(wait);
        }
        for key in keys {
            state.count(key, now);
            *state.under_way.entry(key).or_default() += 1;
        }
        state.forget(now);
        Ok(Attempt {
            state: Arc::clone(&self.0),
            keys,
        })
    }

    /// Whether a failed log-in is to be written to the audit log, and how many
    /// before it were not. A flood of them must not fill the disk.
    pub(crate) fn note_failure(&self, now: Timestamp) -> Option<u64> {
        let mut state = hold(&self.0);
        let is_new_minute = state
            .noted_since
            .is_none_or(|since| now.since(since) >= Duration::from_mins(1));
        if is_new_minute {
            state.noted_since = Some(now);
            state.noted = 0;
        }
        if state.noted >= NOTES_PER_MINUTE {
            state.not_noted += 1;
            return None;
        }
        state.noted += 1;
        Some(std::mem::take(&mut state.not_noted))
    }
}

impl Attempt {
    /// The password was right.
    pub(crate) fn succeeded(self) {
        let mut state = hold(&self.state);
        let [account, from] = self.keys;
        state.entries.remove(&account);
        if let Some(attempts) = state.entries.get_mut(&from) {
            attempts.count = attempts.count.saturating_sub(1);
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut state = hold(&self.state);
        for key in self.keys {
            if let Some(count) = state.under_way.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    state.under_way.remove(&key);
                }
            }
        }
    }
}

impl State {
    fn wait(&self, key: Key, now: Timestamp) -> Option<Duration> {
        let attempts = self.entries.get(&key);
        let left = attempts.and_then(|attempts| {
            let left = WINDOW.saturating_sub(now.since(attempts.since));
            (attempts.count >= key.attempts_max() && !left.is_zero()).then_some(left)
        });
        let at_once = self.under_way.get(&key).copied().unwrap_or(0);
        let is_busy = at_once >= key.at_once_max() || self.all_under_way() >= ALL_AT_ONCE;
        left.or_else(|| is_busy.then_some(SOON))
    }

    /// Each attempt has one account.
    fn all_under_way(&self) -> u32 {
        let of_accounts = self.under_way.iter();
        of_accounts
            .filter_map(|(key, count)| matches!(key, Key::Account(_)).then_some(count))
            .sum()
    }

    fn count(&mut self, key: Key, now: Timestamp) {
        let fresh = Attempts {
            count: 0,
            since: now,
        };
        let entry = self.entries.entry(key).or_insert(fresh);
        if now.since(entry.since) >= WINDOW {
            *entry = fresh;
        }
        entry.count += 1;
    }

    fn forget(&mut self, now: Timestamp) {
        if self.entries.len() <= ENTRIES_MAX {
            return;
        }
        self.entries
            .retain(|_, attempts| now.since(attempts.since) < WINDOW);
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

    fn fail(limiter: &Limiter, id: &str, from: IpAddr, second: i64) {
        drop(limiter.begin(id, from, at(second)).unwrap());
    }

    fn wait(limiter: &Limiter, id: &str, from: IpAddr, second: i64) -> Option<Duration> {
        limiter.begin(id, from, at(second)).err()
    }

    #[test]
    fn an_account_is_held_up_and_let_go() {
        let limiter = Limiter::default();
        for second in 0..5 {
            fail(&limiter, "kim", HERE, second);
        }
        let left = Some(Duration::from_secs(895));
        assert_eq!(wait(&limiter, "kim", HERE, 5), left);
        fail(&limiter, "lee", HERE, 5);
        fail(&limiter, "kim", HERE, 900);
        fail(&limiter, "kim", HERE, 901);
    }

    #[test]
    fn a_success_clears_the_account_and_gives_the_network_its_attempt_back() {
        let limiter = Limiter::default();
        for _ in 0..100 {
            limiter.begin("kim", HERE, at(0)).unwrap().succeeded();
        }
        for _ in 0..4 {
            fail(&limiter, "kim", HERE, 1);
        }
        limiter.begin("kim", HERE, at(2)).unwrap().succeeded();
        fail(&limiter, "kim", HERE, 3);
    }

    #[test]
    fn a_network_that_tries_everybody_is_held_up() {
        let limiter = Limiter::default();
        let from = |text: &str| text.parse::<IpAddr>().unwrap();
        for n in 0..30 {
            // A whole /64 is one subscriber's.
            let address = from(&format!("2001:db8::{n}"));
            fail(&limiter, &format!("user{n}"), address, n);
        }
        assert!(wait(&limiter, "another", from("2001:db8::ffff"), 31).is_some());
        assert_eq!(wait(&limiter, "another", from("2001:db8:0:1::1"), 31), None);
    }

    #[test]
    fn attempts_at_once_are_counted_before_they_end() {
        let limiter = Limiter::default();
        let begun: Vec<Attempt> = (0..300)
            .filter_map(|_| limiter.begin("kim", HERE, at(0)).ok())
            .collect();
        assert_eq!(begun.len() as u32, ACCOUNT_AT_ONCE);
        assert_eq!(wait(&limiter, "kim", HERE, 0), Some(SOON));
        drop(begun);
        for _ in ACCOUNT_AT_ONCE..ACCOUNT_MAX {
            fail(&limiter, "kim", HERE, 0);
        }
        assert_eq!(wait(&limiter, "kim", HERE, 0), Some(WINDOW));

        let limiter = Limiter::default();
        let begin = |n: u8, id: u32| limiter.begin(&id.to_string(), [10, 0, 0, n].into(), at(0));
        let one: Vec<Attempt> = (0..300).filter_map(|id| begin(1, id).ok()).collect();
        assert_eq!(one.len() as u32, NETWORK_AT_ONCE);
        let all = (0..=255).filter_map(|n| begin(n, 1_000 + u32::from(n)).ok());
        let all: Vec<Attempt> = all.collect();
        assert_eq!((one.len() + all.len()) as u32, ALL_AT_ONCE);
        drop((one, all));
        assert!(hold(&limiter.0).under_way.is_empty());
    }

    #[test]
    fn the_table_is_bounded_and_keeps_no_ids() {
        let limiter = Limiter::default();
        let long = "x".repeat(1 << 10);
        for n in 0..40_000_u32 {
            let from = IpAddr::from(n.to_be_bytes());
            fail(&limiter, &format!("{long}{n}"), from, i64::from(n) / 100);
        }
        assert!(hold(&limiter.0).entries.len() <= ENTRIES_MAX + 2);
        assert!(std::mem::size_of::<(Key, Attempts)>() <= 64);
    }

    #[test]
    fn a_flood_of_failures_is_noted_in_part_and_counted_whole() {
        let limiter = Limiter::default();
        let noted = (0..1_000).filter(|_| limiter.note_failure(at(0)).is_some());
        assert_eq!(noted.count() as u32, NOTES_PER_MINUTE);
        assert_eq!(limiter.note_failure(at(60)), Some(940));
        assert_eq!(limiter.note_failure(at(60)), Some(0));
    }
}
