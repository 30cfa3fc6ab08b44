//! How often a log-in may be tried.
//!
//! An attempt counts before its password is hashed, so that a thousand attempts
//! sent at once are a thousand attempts. Three limits hold together:
//!
//! | counted by | limit |
//! |---|---|
//! | account and network | 5 in 15 minutes |
//! | network, over all accounts | 30 in 15 minutes |
//! | account, over all unfamiliar networks | 20, then 1 every 5 minutes |
//!
//! A network is *familiar* to an account that signed in from it within 90 days
//! ([`store`](super::store) keeps the list). Attempts from there are not held
//! up by the third limit, so that strangers cannot lock a user out; strangers
//! themselves are slowed down and never locked out. A success clears the first
//! count and gives the other two their attempt back.
//!
//! Hashes under way are limited by account and network, by network and in
//! total; the last 4 of 16 are for familiar networks.
//!
//! The third limit has one entry for each account that exists, which goes with
//! the account and with nothing else. Ids that do not exist share a fixed number of
//! entries, so that they are limited in the same way and no answer tells which
//! ids exist. The table of networks is bounded: the network whose count began
//! first is forgotten first.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_model::Timestamp;

use super::hold;
use crate::secret;

/// How long the attempts of a network are remembered.
const WINDOW: Duration = Duration::from_mins(15);
/// Attempts on one account from one network in a window.
const PAIR_MAX: u32 = 5;
/// Attempts from one network in a window.
const NETWORK_MAX: u32 = 30;
/// Networks remembered.
const NETWORKS_MAX: usize = 10_000;
/// Attempts on one account from unfamiliar networks: this many, and one more
/// for each interval that has passed.
const ACCOUNT_MAX: u32 = 20;
const ACCOUNT_EVERY: Duration = Duration::from_mins(5);
/// Entries that ids which do not exist share.
const UNKNOWN_ENTRIES: usize = 4_096;
/// Attempts under way: on one account from one network, from one network, in
/// total, and in total from unfamiliar networks. Each takes its turn for a hash
/// (two at a time).
const PAIR_AT_ONCE: u32 = 2;
const NETWORK_AT_ONCE: u32 = 4;
const ALL_AT_ONCE: u32 = 16;
const UNFAMILIAR_AT_ONCE: u32 = ALL_AT_ONCE - 4;
/// When to try again where too many attempts are under way.
const SOON: Duration = Duration::from_secs(1);
/// How often counts are written to the audit log.
const MINUTE: Duration = Duration::from_mins(1);
/// Failed log-ins written to the audit log in a minute; others are counted.
const NOTES_PER_MINUTE: u32 = 60;

/// Attempts that are not in the audit log one by one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Unlisted {
    /// With a wrong password.
    pub(crate) failed: u64,
    /// Refused with 429, without a look at the password.
    pub(crate) refused: u64,
}

/// Who tries to log in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visitor<'a> {
    /// The id as sent.
    pub(crate) id: &'a str,
    /// Number of the account with this id.
    pub(crate) account: Option<u32>,
    /// The network of the visitor.
    pub(crate) network: IpAddr,
    /// Whether the account signed in from there lately.
    pub(crate) is_familiar: bool,
}

/// Attempts from one network.
#[derive(Debug)]
struct Attempts {
    since: Timestamp,
    count: u32,
    /// By hash of the id. Each attempt that counts adds one at most.
    by_id: Vec<(u64, u32)>,
}

/// Attempts on one account from unfamiliar networks: when all of them will be
/// allowed again.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    full_at: Timestamp,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            full_at: Timestamp::EPOCH,
        }
    }
}

impl Allowance {
    /// How long until an attempt is allowed.
    fn wait(self, now: Timestamp) -> Option<Duration> {
        let until_full = self.full_at.since(now);
        let wait = until_full.saturating_sub(ACCOUNT_EVERY * (ACCOUNT_MAX - 1));
        (!wait.is_zero()).then_some(wait)
    }

    fn take(&mut self, now: Timestamp) {
        self.full_at = self.full_at.max(now) + ACCOUNT_EVERY;
    }

    fn give_back(&mut self) {
        self.full_at = self.full_at - ACCOUNT_EVERY;
    }
}

/// What an attempt is counted by.
#[derive(Clone, Copy, Debug)]
struct Keys {
    network: IpAddr,
    /// Hash of the id.
    id: u64,
    account: Option<u32>,
    is_familiar: bool,
}

#[derive(Debug)]
struct State {
    networks: HashMap<IpAddr, Attempts>,
    /// The same networks by the time their counts began.
    by_age: BTreeSet<(Timestamp, IpAddr)>,
    accounts: HashMap<u32, Allowance>,
    unknown: Vec<Allowance>,
    under_way: Vec<Keys>,
    /// Failures written to the audit log since this time.
    noted: u32,
    noted_since: Option<Timestamp>,
    /// Attempts that were not written one by one.
    unlisted: Unlisted,
    unlisted_since: Option<Timestamp>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            networks: HashMap::new(),
            by_age: BTreeSet::new(),
            accounts: HashMap::new(),
            unknown: vec![Allowance::default(); UNKNOWN_ENTRIES],
            under_way: Vec::new(),
            noted: 0,
            noted_since: None,
            unlisted: Unlisted::default(),
            unlisted_since: None,
        }
    }
}

/// Counts log-ins.
#[derive(Debug)]
pub(crate) struct Limiter {
    state: Arc<Mutex<State>>,
    /// Makes the hashes of ids unpredictable.
    salt: String,
}

impl Default for Limiter {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            salt: secret::new(),
        }
    }
}

/// A log-in under way: it counts as failed unless it succeeds.
#[derive(Debug)]
pub(crate) struct Attempt {
    state: Arc<Mutex<State>>,
    keys: Keys,
}

impl Limiter {
    /// Begins an attempt, or says how long to wait before the next.
    pub(crate) fn begin(&self, visitor: Visitor<'_>, now: Timestamp) -> Result<Attempt, Duration> {
        let hash = secret::hash(&format!("{}{}", self.salt, visitor.id));
        let (start, _) = hash.split_first_chunk().expect("a hash has 32 bytes");
        let keys = Keys {
            network: visitor.network,
            id: u64::from_le_bytes(*start),
            account: visitor.account,
            is_familiar: visitor.is_familiar,
        };
        let mut state = hold(&self.state);
        if let Some(wait) = state.wait(keys, now) {
            return Err(wait);
        }
        state.count(keys, now);
        state.under_way.push(keys);
        Ok(Attempt {
            state: Arc::clone(&self.state),
            keys,
        })
    }

    /// Forgets an account that was removed.
    pub(crate) fn forget_account(&self, no: u32) {
        hold(&self.state).accounts.remove(&no);
    }

    /// Whether a failed log-in is to be written to the audit log; otherwise it is
    /// counted. A flood of them must not fill the disk.
    pub(crate) fn note_failure(&self, now: Timestamp) -> bool {
        let mut state = hold(&self.state);
        let is_new_minute = state
            .noted_since
            .is_none_or(|since| now.since(since) >= MINUTE);
        if is_new_minute {
            state.noted_since = Some(now);
            state.noted = 0;
        }
        if state.noted >= NOTES_PER_MINUTE {
            state.unlisted.failed += 1;
            return false;
        }
        state.noted += 1;
        true
    }

    /// Counts an attempt that has to wait.
    pub(crate) fn note_refused(&self) {
        hold(&self.state).unlisted.refused += 1;
    }

    /// The attempts that were counted since the last time, once a minute or at
    /// the end.
    pub(crate) fn take_unlisted(&self, now: Timestamp, is_end: bool) -> Option<Unlisted> {
        let mut state = hold(&self.state);
        let is_due = state
            .unlisted_since
            .is_none_or(|since| now.since(since) >= MINUTE);
        if state.unlisted == Unlisted::default() || !(is_due || is_end) {
            return None;
        }
        state.unlisted_since = Some(now);
        Some(std::mem::take(&mut state.unlisted))
    }
}

impl Attempt {
    /// The password was right.
    pub(crate) fn succeeded(self) {
        let mut state = hold(&self.state);
        if let Some(attempts) = state.networks.get_mut(&self.keys.network) {
            attempts.count = attempts.count.saturating_sub(1);
            attempts.by_id.retain(|(id, _)| *id != self.keys.id);
        }
        if !self.keys.is_familiar {
            state.allowance(self.keys).give_back();
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut state = hold(&self.state);
        let is_this = |keys: &Keys| {
            keys.network == self.keys.network
                && keys.id == self.keys.id
                && keys.is_familiar == self.keys.is_familiar
        };
        if let Some(at) = state.under_way.iter().position(is_this) {
            state.under_way.swap_remove(at);
        }
    }
}

impl State {
    /// How long to wait before an attempt, if it is not allowed now.
    fn wait(&mut self, keys: Keys, now: Timestamp) -> Option<Duration> {
        let attempts = self.networks.get(&keys.network);
        let of_network = attempts.and_then(|attempts| {
            let left = WINDOW.saturating_sub(now.since(attempts.since));
            let is_spent = attempts.count >= NETWORK_MAX || attempts.of_id(keys.id) >= PAIR_MAX;
            (is_spent && !left.is_zero()).then_some(left)
        });
        let of_account = if keys.is_familiar {
            None
        } else {
            self.allowance(keys).wait(now)
        };
        let waits = of_network.into_iter().chain(of_account);
        let is_busy = || self.is_busy(keys);
        waits.max().or_else(|| is_busy().then_some(SOON))
    }

    /// Whether too many attempts are under way.
    fn is_busy(&self, keys: Keys) -> bool {
        let count = |counts: &dyn Fn(&Keys) -> bool| {
            let counted = self.under_way.iter().filter(|other| counts(other));
            counted.count() as u32
        };
        let of_network = count(&|other| other.network == keys.network);
        let of_pair = count(&|other| other.network == keys.network && other.id == keys.id);
        let unfamiliar = count(&|other| !other.is_familiar);
        of_pair >= PAIR_AT_ONCE
            || of_network >= NETWORK_AT_ONCE
            || self.under_way.len() as u32 >= ALL_AT_ONCE
            || !keys.is_familiar && unfamiliar >= UNFAMILIAR_AT_ONCE
    }

    /// The allowance of an account, or the one that an unknown id shares.
    fn allowance(&mut self, keys: Keys) -> &mut Allowance {
        match keys.account {
            Some(no) => self.accounts.entry(no).or_default(),
            None => &mut self.unknown[(keys.id % UNKNOWN_ENTRIES as u64) as usize],
        }
    }

    fn count(&mut self, keys: Keys, now: Timestamp) {
        if !keys.is_familiar {
            self.allowance(keys).take(now);
        }
        let begun = self.networks.get(&keys.network).map(|known| known.since);
        if let Some(since) = begun.filter(|since| now.since(*since) >= WINDOW) {
            self.networks.remove(&keys.network);
            self.by_age.remove(&(since, keys.network));
        }
        if !self.networks.contains_key(&keys.network) {
            self.by_age.insert((now, keys.network));
        }
        let attempts = self.networks.entry(keys.network).or_insert(Attempts {
            since: now,
            count: 0,
            by_id: Vec::new(),
        });
        attempts.count += 1;
        match attempts.by_id.iter_mut().find(|(id, _)| *id == keys.id) {
            Some((_, count)) => *count += 1,
            None => attempts.by_id.push((keys.id, 1)),
        }
        if self.networks.len() > NETWORKS_MAX
            && let Some((_, oldest)) = self.by_age.pop_first()
        {
            self.networks.remove(&oldest);
        }
    }
}

impl Attempts {
    fn of_id(&self, id: u64) -> u32 {
        let found = self.by_id.iter().find(|(known, _)| *known == id);
        found.map_or(0, |(_, count)| *count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    /// A visitor for the account of this number.
    fn known(account: u32, network: IpAddr) -> Visitor<'static> {
        const IDS: [&str; 3] = ["kim", "lee", "park"];
        Visitor {
            id: IDS[account as usize],
            account: Some(account),
            network,
            is_familiar: false,
        }
    }

    fn familiar(account: u32, network: IpAddr) -> Visitor<'static> {
        Visitor {
            is_familiar: true,
            ..known(account, network)
        }
    }

    fn unknown(id: &str, network: IpAddr) -> Visitor<'_> {
        Visitor {
            id,
            account: None,
            network,
            is_familiar: false,
        }
    }

    /// Another network for each number.
    fn network(n: u32) -> IpAddr {
        IpAddr::from((0x0a00_0000 + n).to_be_bytes())
    }

    fn fail(limiter: &Limiter, visitor: Visitor<'_>, second: i64) {
        drop(limiter.begin(visitor, at(second)).unwrap());
    }

    fn wait(limiter: &Limiter, visitor: Visitor<'_>, second: i64) -> Option<Duration> {
        limiter.begin(visitor, at(second)).err()
    }

    #[test]
    fn a_network_has_five_attempts_on_an_account_and_others_are_not_held_up() {
        let limiter = Limiter::default();
        for second in 0..5 {
            fail(&limiter, known(0, HERE), second);
        }
        let left = Some(Duration::from_secs(895));
        assert_eq!(wait(&limiter, known(0, HERE), 5), left);
        assert_eq!(wait(&limiter, known(0, network(1)), 5), None);
        assert_eq!(wait(&limiter, known(1, HERE), 5), None);
        fail(&limiter, known(0, HERE), 900);
    }

    #[test]
    fn strangers_are_slowed_down_and_lock_nobody_out() {
        // An id that does not exist is limited in the same way.
        let limiter = Limiter::default();
        for stranger in [
            |n| known(0, network(n)),
            |n| unknown("nobody", network(1_000 + n)),
        ] {
            for n in 0..ACCOUNT_MAX {
                fail(&limiter, stranger(n), 0);
            }
            assert_eq!(wait(&limiter, stranger(50), 0), Some(ACCOUNT_EVERY));
            assert_eq!(
                wait(&limiter, stranger(50), 299),
                Some(Duration::from_secs(1))
            );
            fail(&limiter, stranger(50), 300);
            assert_eq!(wait(&limiter, stranger(51), 300), Some(ACCOUNT_EVERY));
            // In a day: 20 at first, and one every five minutes.
            let tried = (301..86_700).step_by(10).zip(2_000..);
            let begun = tried.filter(|(second, n)| wait(&limiter, stranger(*n), *second).is_none());
            assert_eq!(begun.count(), 287);
        }
        // The user's own networks go on, five times as everywhere.
        for _ in 0..PAIR_MAX {
            fail(&limiter, familiar(0, HERE), 86_700);
        }
        assert!(wait(&limiter, familiar(0, HERE), 86_700).is_some());
    }

    #[test]
    fn a_success_clears_the_count_and_gives_attempts_back() {
        let limiter = Limiter::default();
        for _ in 0..100 {
            limiter.begin(known(0, HERE), at(0)).unwrap().succeeded();
        }
        for _ in 0..4 {
            fail(&limiter, known(0, HERE), 1);
        }
        limiter.begin(known(0, HERE), at(2)).unwrap().succeeded();
        fail(&limiter, known(0, HERE), 3);
    }

    #[test]
    fn a_network_that_tries_everybody_is_held_up() {
        let limiter = Limiter::default();
        for n in 0..30 {
            fail(&limiter, unknown(&format!("user{n}"), HERE), n);
        }
        assert!(wait(&limiter, unknown("another", HERE), 31).is_some());
        assert_eq!(wait(&limiter, unknown("another", network(1)), 31), None);
    }

    #[test]
    fn attempts_at_once_are_counted_before_they_end() {
        let limiter = Limiter::default();
        let begin = |visitor| limiter.begin(visitor, at(0)).ok();
        let begun: Vec<Attempt> = (0..300).filter_map(|_| begin(known(0, HERE))).collect();
        assert_eq!(begun.len() as u32, PAIR_AT_ONCE);
        assert_eq!(wait(&limiter, known(0, HERE), 0), Some(SOON));
        drop(begun);
        for _ in PAIR_AT_ONCE..PAIR_MAX {
            fail(&limiter, known(0, HERE), 0);
        }
        assert_eq!(wait(&limiter, known(0, HERE), 0), Some(WINDOW));

        let ids: Vec<String> = (0..300).map(|id| id.to_string()).collect();
        let one = ids.iter().filter_map(|id| begin(unknown(id, network(1))));
        let one: Vec<Attempt> = one.collect();
        assert_eq!(one.len() as u32, NETWORK_AT_ONCE);
        let strangers = ids.iter().zip(2..);
        let strangers = strangers.filter_map(|(id, n)| begin(unknown(id, network(n))));
        let strangers: Vec<Attempt> = strangers.collect();
        assert_eq!((one.len() + strangers.len()) as u32, UNFAMILIAR_AT_ONCE);
        let users = (900..1_200).filter_map(|n| begin(familiar(1, network(n))));
        let users: Vec<Attempt> = users.collect();
        assert_eq!(users.len() as u32, ALL_AT_ONCE - UNFAMILIAR_AT_ONCE);
        drop((one, strangers, users));
        assert!(hold(&limiter.state).under_way.is_empty());
    }

    #[test]
    fn floods_neither_fill_the_memory_nor_make_an_account_forgotten() {
        let limiter = Limiter::default();
        for n in 0..ACCOUNT_MAX {
            fail(&limiter, known(2, network(n)), 0);
        }
        for n in 0..5 {
            fail(&limiter, familiar(1, HERE), n);
        }
        for n in 0..(NETWORKS_MAX as u32 - 1) {
            let id = format!("{n}");
            fail(&limiter, unknown(&id, network(1_000 + n)), 10);
        }
        assert!(wait(&limiter, familiar(1, HERE), 10).is_some());
        for n in 20_000..60_000 {
            let id = format!("{n}");
            // Unknown ids share entries, so that some of these have to wait.
            drop(limiter.begin(unknown(&id, network(n)), at(20)));
        }
        let state = hold(&limiter.state);
        assert_eq!(state.networks.len(), NETWORKS_MAX);
        assert_eq!(state.by_age.len(), NETWORKS_MAX);
        assert_eq!((state.accounts.len(), state.unknown.len()), (1, 4_096));
        drop(state);
        assert!(wait(&limiter, known(2, network(70_000)), 20).is_some());
        limiter.forget_account(2);
        assert_eq!(wait(&limiter, known(2, network(70_000)), 20), None);
    }

    #[test]
    fn a_flood_of_failures_is_noted_in_part_and_counted_whole() {
        let limiter = Limiter::default();
        let noted = (0..1_000).filter(|_| limiter.note_failure(at(0)));
        assert_eq!(noted.count() as u32, NOTES_PER_MINUTE);
        limiter.note_refused();
        let counted = |failed, refused| Some(Unlisted { failed, refused });
        assert_eq!(limiter.take_unlisted(at(1), false), counted(940, 1));
        limiter.note_refused();
        assert_eq!(limiter.take_unlisted(at(60), false), None, "once a minute");
        assert_eq!(limiter.take_unlisted(at(61), false), counted(0, 1));
        limiter.note_refused();
        assert_eq!(limiter.take_unlisted(at(62), true), counted(0, 1));
        assert_eq!(limiter.take_unlisted(at(200), true), None);
        assert!(limiter.note_failure(at(60)));
    }
}
