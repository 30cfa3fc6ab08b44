//! Who may do what: users, sessions, API tokens, log-in limits, audit.
//!
//! Users and tokens live in one small file, `console/accounts.json`, replaced
//! atomically at every change and readable by its owner only; there are tens of
//! them, not millions. Sessions live in memory: a restart logs everybody out.
//! What is done is added to `console/audit.jsonl`.
//!
//! There is no default password. While there is no user, one secret link lets
//! whoever holds it make the first admin; it is made anew at every start and
//! works once.

pub(crate) mod audit;
mod familiar;
pub(crate) mod limiter;
pub(crate) mod password;
pub(crate) mod sessions;
pub(crate) mod store;

use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use geomi_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ConsoleError;
use crate::network::network;
use crate::secret;
use audit::Audit;
use limiter::{Attempt, Limiter, Visitor};
use password::Hasher;
use sessions::Sessions;
use store::{Book, Token, User};

/// What somebody may do; each may do what those before may.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look at everything but accounts.
    Viewer,
    /// Start and steer crawls.
    Operator,
    /// Manage accounts.
    Admin,
}

impl Role {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Somebody who is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Principal {
    /// Number of the user.
    pub(crate) user: u32,
    /// What the user logs in with.
    pub(crate) id: String,
    /// Name for people.
    pub(crate) name: String,
    /// What may be done: a token may do less than its user.
    pub(crate) role: Role,
    /// How they are known.
    pub(crate) by: Proof,
}

/// How somebody is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proof {
    /// By a session in a browser, whose forms carry this word.
    Session {
        /// The word against forged requests.
        csrf: String,
        /// Hash of the session's secret.
        key: secret::Hash,
    },
    /// By an API token of this number.
    Token(u32),
}

/// Why a change of accounts was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refusal {
    /// There is no such user or token.
    Unknown,
    /// The id is taken.
    Taken,
    /// It would leave no admin.
    LastAdmin,
    /// The link was used, or there are users already.
    LinkUsed,
    /// The user has as many tokens as a user may have.
    TooManyTokens,
}

/// All accounts of a console.
///
/// Whoever needs both locks takes that of the book first.
#[derive(Debug)]
pub(crate) struct Accounts {
    book: Mutex<Book>,
    sessions: Mutex<Sessions>,
    pub(crate) limiter: Limiter,
    pub(crate) hasher: Hasher,
    pub(crate) audit: Audit,
    /// The secret of the link for the first admin, until it is used.
    first: Mutex<Option<String>>,
}

impl Accounts {
    /// Opens the accounts kept in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, ConsoleError> {
        let book = Book::open(folder)?;
        let first = book.users().is_empty().then(secret::new);
        Ok(Self {
            book: Mutex::new(book),
            sessions: Mutex::default(),
            limiter: Limiter::default(),
            hasher: Hasher::default(),
            audit: Audit::new(folder),
            first: Mutex::new(first),
        })
    }

    /// The secret that makes the first admin, while there is none.
    pub(crate) fn first_secret(&self) -> Option<String> {
        hold(&self.first).clone()
    }

    /// Whether this is that secret.
    pub(crate) fn is_first_secret(&self, sent: &str) -> bool {
        hold(&self.first)
            .as_deref()
            .is_some_and(|secret| secret::is_same(secret, sent))
    }

    /// Makes the first admin; the link is used up by it.
    pub(crate) fn make_first(
        &self,
        sent: &str,
        user: store::NewUser,
        now: Timestamp,
    ) -> Result<Result<User, Refusal>, ConsoleError> {
        let mut first = hold(&self.first);
        let is_valid = first
            .as_deref()
            .is_some_and(|secret| secret::is_same(secret, sent));
        if !is_valid {
            return Ok(Err(Refusal::LinkUsed));
        }
        let made = hold(&self.book).add_user(user, now)?;
        if made.is_ok() {
            *first = None;
        }
        Ok(made)
    }

    /// The users, in the order they were made.
    pub(crate) fn users(&self) -> Vec<User> {
        hold(&self.book).users().to_vec()
    }

    /// The user with this id.
    pub(crate) fn user_by_id(&self, id: &str) -> Option<User> {
        let book = hold(&self.book);
        book.users().iter().find(|user| user.id == id).cloned()
    }

    /// Begins an attempt to log in, or says how long to wait before the next.
    pub(crate) fn begin_log_in(
        &self,
        id: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Attempt, Duration> {
        let network = network(address);
        let user = self.user_by_id(id);
        // Computed for an id that does not exist too, so that it takes as long.
        let key = user.as_ref().map_or(password::NOBODYS, |user| &user.pw);
        let hash = familiar::hash(key, network);
        let is_familiar = user
            .as_ref()
            .is_some_and(|user| familiar::is_familiar(&user.networks, &hash, now));
        let visitor = Visitor {
            id,
            account: user.map(|user| user.no),
            network,
            is_familiar,
        };
        self.limiter.begin(visitor, now)
    }

    /// Writes the number of attempts to log in that are not listed one by one.
    pub(crate) fn write_unlisted(&self, now: Timestamp, is_end: bool) {
        if let Some(unlisted) = self.limiter.take_unlisted(now, is_end) {
            let to = format!(
                "not listed one by one: {} failed, {} refused with 429",
                unlisted.failed, unlisted.refused
            );
            let entry = audit::Entry::new(now, "", "", "log-in", &to);
            self.audit.write(&entry.refused());
        }
    }

    /// Remembers that a user signed in from an address. One of which nothing is
    /// known is not remembered.
    pub(crate) fn remember_network(
        &self,
        user: &User,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<(), ConsoleError> {
        if address.is_unspecified() {
            return Ok(());
        }
        let hash = familiar::hash(&user.pw, network(address));
        hold(&self.book).remember_network(user, hash, now)
    }

    /// Adds a user.
    pub(crate) fn add_user(
        &self,
        user: store::NewUser,
        now: Timestamp,
    ) -> Result<Result<User, Refusal>, ConsoleError> {
        hold(&self.book).add_user(user, now)
    }

    /// Changes a user. Its sessions end, so that what it may do now holds at
    /// once. With the password go its tokens: whoever knew the old password may
    /// have made them.
    pub(crate) fn change_user(
        &self,
        no: u32,
        change: store::UserChange,
    ) -> Result<Result<User, Refusal>, ConsoleError> {
        let mut book = hold(&self.book);
        let changed = book.change_user(no, change)?;
        // Under the lock of the book: no session begins and no token is made between.
        if changed.is_ok() {
            hold(&self.sessions).end_all_of(no);
        }
        Ok(changed)
    }

    /// Removes a user with all tokens and sessions.
    pub(crate) fn remove_user(&self, no: u32) -> Result<Result<(), Refusal>, ConsoleError> {
        let mut book = hold(&self.book);
        let removed = book.remove_user(no)?;
        if removed.is_ok() {
            self.limiter.forget_account(no);
            hold(&self.sessions).end_all_of(no);
        }
        Ok(removed)
    }

    /// The tokens of a user, or all.
    pub(crate) fn tokens(&self, of: Option<u32>) -> Vec<Token> {
        let book = hold(&self.book);
        let tokens = book.tokens().iter();
        let tokens = tokens.filter(|token| of.is_none_or(|user| token.user == user));
        tokens.cloned().collect()
    }

    /// Makes a token of somebody who is known by a session; the secret is told
    /// this once. A session that ended meanwhile makes none.
    pub(crate) fn add_token(
        &self,
        known: &Principal,
        name: String,
        scope: Role,
        now: Timestamp,
    ) -> Result<Result<(Token, String), Refusal>, ConsoleError> {
        let mut book = hold(&self.book);
        let is_known = match &known.by {
            Proof::Session { key, .. } => hold(&self.sessions).find(key, now).is_some(),
            Proof::Token(_) => false,
        };
        if !is_known {
            return Ok(Err(Refusal::Unknown));
        }
        let secret = format!("geomi_{}", secret::new());
        let made = book.add_token(known.user, name, scope, &secret, now)?;
        Ok(made.map(|token| (token, secret)))
    }

    /// Removes a token.
    pub(crate) fn remove_token(&self, no: u32) -> Result<Result<(), Refusal>, ConsoleError> {
        hold(&self.book).remove_token(no)
    }

    /// Whose token this is.
    pub(crate) fn by_token(&self, sent: &str) -> Option<Principal> {
        let book = hold(&self.book);
        let (token, user) = book.find_token(sent)?;
        Some(Principal {
            user: user.no,
            id: user.id.clone(),
            name: user.name.clone(),
            role: token.scope.min(user.role),
            by: Proof::Token(token.no),
        })
    }

    /// Whose session this is, if it has not ended.
    pub(crate) fn by_session(&self, sent: &str, now: Timestamp) -> Option<Principal> {
        let key = secret::hash(sent);
        let (user, csrf) = hold(&self.sessions).find(&key, now)?;
        let book = hold(&self.book);
        let user = book.users().iter().find(|known| known.no == user)?;
        Some(Principal {
            user: user.no,
            id: user.id.clone(),
            name: user.name.clone(),
            role: user.role,
            by: Proof::Session { csrf, key },
        })
    }

    /// Whether somebody who was known when an answer began still is: the
    /// session has not ended, the token was not removed, the user is there. An
    /// answer that goes on for long asks again and again.
    pub(crate) fn is_still_known(&self, known: &Principal, now: Timestamp) -> bool {
        let has_proof = match &known.by {
            Proof::Session { key, .. } => hold(&self.sessions).find(key, now).is_some(),
            Proof::Token(no) => hold(&self.book)
                .tokens()
                .iter()
                .any(|token| token.no == *no),
        };
        has_proof
            && hold(&self.book)
                .users()
                .iter()
                .any(|user| user.no == known.user)
    }

    /// Begins a session; its secret and the word for its forms. `None` if the user
    /// was removed or has another password since it was checked.
    pub(crate) fn begin_session(&self, of: &User, now: Timestamp) -> Option<(String, String)> {
        let book = hold(&self.book);
        let mut users = book.users().iter();
        let is_same = users.any(|user| user.no == of.no && user.pw == of.pw);
        is_same.then(|| hold(&self.sessions).begin(of.no, now))
    }

    /// Ends a session.
    pub(crate) fn end_session(&self, sent: &str) {
        hold(&self.sessions).end(sent);
    }
}

/// Nothing can panic half-way through a change under these locks, so that a
/// poisoned one is as good as another.
pub(crate) fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn accounts(folder: &Path) -> (Accounts, User) {
        let accounts = Accounts::open(folder).unwrap();
        let new = store::NewUser {
            name: "Kim".to_owned(),
            id: "kim".to_owned(),
            pw: "old".to_owned(),
            role: Role::Viewer,
        };
        let user = accounts.add_user(new, NOW).unwrap().unwrap();
        (accounts, user)
    }

    fn reset(accounts: &Accounts, no: u32) {
        let change = store::UserChange {
            pw: Some("new".to_owned()),
            ..store::UserChange::default()
        };
        accounts.change_user(no, change).unwrap().unwrap();
    }

    #[test]
    fn a_password_that_was_reset_while_it_was_checked_begins_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let (accounts, checked) = accounts(folder.path());
        assert!(accounts.begin_session(&checked, NOW).is_some());
        reset(&accounts, checked.no);
        assert_eq!(accounts.begin_session(&checked, NOW), None);
        let checked = accounts.user_by_id("kim").unwrap();
        assert!(accounts.begin_session(&checked, NOW).is_some());
    }

    #[test]
    fn a_session_that_ended_while_a_request_was_read_makes_no_token() {
        let folder = tempfile::tempdir().unwrap();
        let (accounts, user) = accounts(folder.path());
        let (secret, _) = accounts.begin_session(&user, NOW).unwrap();
        let known = accounts.by_session(&secret, NOW).unwrap();
        let make = || {
            let made = accounts.add_token(&known, "t".to_owned(), Role::Viewer, NOW);
            made.unwrap().map(|(token, _)| token.no)
        };
        assert_eq!(make(), Ok(1));
        reset(&accounts, user.no);
        assert_eq!(make(), Err(Refusal::Unknown));
        assert_eq!(accounts.tokens(None), []);
    }
}
