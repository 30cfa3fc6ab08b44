//! Sessions of browsers, in memory.
//!
//! A session ends an hour after its last request and twelve hours after its
//! log-in, whichever is first. An open stream of events counts as a request.
//! Only the hash of its secret is kept.

use std::collections::HashMap;
use std::time::Duration;

use geomi_model::Timestamp;

use crate::secret::{self, Hash};

/// How long a session lasts without a request.
pub(crate) const IDLE: Duration = Duration::from_hours(1);
/// How long it lasts at all.
pub(crate) const ABSOLUTE: Duration = Duration::from_hours(12);
/// Sessions at once; the one idle longest makes room for the next.
const SESSIONS_MAX: usize = 10_000;

#[derive(Debug)]
struct Session {
    user: u32,
    csrf: String,
    begun: Timestamp,
    used: Timestamp,
}

impl Session {
    fn has_ended(&self, now: Timestamp) -> bool {
        now.since(self.used) >= IDLE || now.since(self.begun) >= ABSOLUTE
    }
}

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    sessions: HashMap<Hash, Session>,
}

impl Sessions {
    /// Begins a session; its secret and the word for its forms.
    pub(crate) fn begin(&mut self, user: u32, now: Timestamp) -> (String, String) {
        self.make_room(now);
        let (secret, csrf) = (secret::new(), secret::new());
        let session = Session {
            user,
            csrf: csrf.clone(),
            begun: now,
            used: now,
        };
        self.sessions.insert(secret::hash(&secret), session);
        (secret, csrf)
    }

    /// Whose session it is, and the word for its forms. It counts as used.
    pub(crate) fn find(&mut self, hash: &Hash, now: Timestamp) -> Option<(u32, String)> {
        let session = self.sessions.get_mut(hash)?;
        if session.has_ended(now) {
            self.sessions.remove(hash);
            return None;
        }
        session.used = now;
        Some((session.user, session.csrf.clone()))
    }

    /// Ends one.
    pub(crate) fn end(&mut self, secret: &str) {
        self.sessions.remove(&secret::hash(secret));
    }

    /// Ends all of a user.
    pub(crate) fn end_all_of(&mut self, user: u32) {
        self.sessions.retain(|_, session| session.user != user);
    }

    fn make_room(&mut self, now: Timestamp) {
        if self.sessions.len() < SESSIONS_MAX {
            return;
        }
        self.sessions.retain(|_, session| !session.has_ended(now));
        if self.sessions.len() >= SESSIONS_MAX {
            let idlest = self.sessions.iter().min_by_key(|(_, session)| session.used);
            if let Some(hash) = idlest.map(|(hash, _)| *hash) {
                self.sessions.remove(&hash);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hours: i64) -> Timestamp {
        Timestamp::from_secs(hours * 3_600)
    }

    fn find(sessions: &mut Sessions, secret: &str, now: Timestamp) -> Option<(u32, String)> {
        sessions.find(&secret::hash(secret), now)
    }

    #[test]
    fn a_session_ends_when_idle_and_after_its_time() {
        let mut sessions = Sessions::default();
        let (secret, csrf) = sessions.begin(1, at(0));
        assert_eq!(find(&mut sessions, &secret, at(0)), Some((1, csrf)));
        assert_eq!(
            find(&mut sessions, &secret, at(1)),
            None,
            "idle for an hour"
        );

        let (secret, _) = sessions.begin(1, at(0));
        for half in 1..24 {
            let now = Timestamp::from_secs(half * 1_800);
            assert!(find(&mut sessions, &secret, now).is_some(), "{half}");
        }
        assert_eq!(
            find(&mut sessions, &secret, at(12)),
            None,
            "twelve hours old"
        );
    }

    #[test]
    fn log_out_and_removal_end_sessions() {
        let mut sessions = Sessions::default();
        let (one, _) = sessions.begin(1, at(0));
        let (two, _) = sessions.begin(1, at(0));
        let (other, _) = sessions.begin(2, at(0));
        sessions.end(&one);
        assert_eq!(find(&mut sessions, &one, at(0)), None);
        sessions.end_all_of(1);
        assert_eq!(find(&mut sessions, &two, at(0)), None);
        assert!(find(&mut sessions, &other, at(0)).is_some());
    }
}
