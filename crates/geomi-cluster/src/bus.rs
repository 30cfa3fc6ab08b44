//! Control and events.
//!
//! Two kinds of message with different promises. An *event* (a log line, a
//! counter) is told to whoever is subscribed at the moment; a subscriber that
//! is behind loses the oldest, and is told how many. *Desired state* (which
//! crawls run, at which rate) is a table of keys and values: a watcher is given
//! every key's present value first and then each key's latest, so that a worker
//! that was away for an hour still ends where the operator wants it.
//!
//! Subjects and keys are tokens of `a-z A-Z 0-9 - _` joined by dots. A prefix
//! matches whole tokens: `crawl` matches `crawl` and `crawl.7`, not `crawler`;
//! the empty prefix matches all.

use crate::{ClusterError, Subscription, Watch};

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What it is about.
    pub subject: String,
    /// What is said.
    pub body: Vec<u8>,
}

/// How often desired state has changed; later is higher.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Revision(pub u64);

/// One key of desired state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub key: String,
    /// Its value; `None` once it was removed.
    pub value: Option<Vec<u8>>,
    /// The change that made it so.
    pub revision: Revision,
}

/// Control and event messages. See the module for what is promised.
pub trait Bus: Send {
    /// Tells the present subscribers. Never waits for one of them.
    fn publish(&self, subject: &str, body: &[u8]) -> Result<(), ClusterError>;

    /// Listens to all subjects under `prefix`, holding at most `events_max`.
    fn subscribe(&self, prefix: &str, events_max: usize) -> Result<Subscription, ClusterError>;

    /// Sets a key of desired state.
    fn set(&self, key: &str, value: &[u8]) -> Result<Revision, ClusterError>;

    /// Removes a key of desired state; it need not be there.
    fn remove(&self, key: &str) -> Result<Revision, ClusterError>;

    /// Reads a key of desired state; `None` if it is not set.
    fn get(&self, key: &str) -> Result<Option<Entry>, ClusterError>;

    /// Watches all keys under `prefix`, starting with the present values.
    fn watch(&self, prefix: &str) -> Result<Watch, ClusterError>;
}

/// Refuses what is not a subject or key.
pub fn check_subject(subject: &str) -> Result<(), ClusterError> {
    let good = |token: &str| {
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !token.is_empty() && token.bytes().all(word)
    };
    if subject.split('.').all(good) {
        Ok(())
    } else {
        Err(ClusterError::InvalidSubject {
            subject: subject.to_owned(),
        })
    }
}

/// Whether a subject lies under a prefix, token by token.
pub fn subject_matches(prefix: &str, subject: &str) -> bool {
    match subject.strip_prefix(prefix) {
        Some(rest) => prefix.is_empty() || rest.is_empty() || rest.starts_with('.'),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_matches_whole_tokens() {
        for (prefix, subject, expected) in [
            ("", "crawl.7", true),
            ("crawl", "crawl", true),
            ("crawl", "crawl.7", true),
            ("crawl", "crawler", false),
            ("crawl.7", "crawl", false),
            ("crawl.7", "crawl.70", false),
        ] {
            assert_eq!(
                subject_matches(prefix, subject),
                expected,
                "{prefix} {subject}"
            );
        }
    }

    #[test]
    fn subjects_are_tokens_joined_by_dots() {
        for good in ["a", "crawl.7.rate_max", "A-1"] {
            assert!(check_subject(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "a.", ".a", "a..b", "a b", "a.*", "é", "a/b"] {
            assert!(check_subject(bad).is_err(), "{bad}");
        }
    }
}
