//! The file of users and tokens.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError};
use serde::{Deserialize, Serialize};

use super::familiar::{self, Familiar};
use super::{Refusal, Role};
use crate::{ConsoleError, secret};

const FILE: &str = "accounts.json";
/// Tokens of one user.
pub(crate) const TOKENS_MAX: usize = 20;

/// A row of the user table.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct User {
    /// Number; never given twice.
    pub(crate) no: u32,
    /// Name for people.
    pub(crate) name: String,
    /// What the user logs in with.
    pub(crate) id: String,
    /// argon2id hash of the password.
    pub(crate) pw: String,
    /// When it was made.
    pub(crate) date: String,
    /// What the user may do.
    pub(crate) role: Role,
    /// Networks of the latest log-ins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) networks: Vec<Familiar>,
}

/// A user to be made.
#[derive(Clone, Debug)]
pub(crate) struct NewUser {
    pub(crate) name: String,
    pub(crate) id: String,
    /// Hash of the password.
    pub(crate) pw: String,
    pub(crate) role: Role,
}

/// What may change about a user.
#[derive(Clone, Debug, Default)]
pub(crate) struct UserChange {
    pub(crate) name: Option<String>,
    /// Hash of the new password.
    pub(crate) pw: Option<String>,
    pub(crate) role: Option<Role>,
}

/// An API token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Token {
    /// Number; never given twice.
    pub(crate) no: u32,
    /// Whose it is.
    pub(crate) user: u32,
    /// What it is for.
    pub(crate) name: String,
    /// What may be done with it, and no more than its user may.
    pub(crate) scope: Role,
    /// SHA-256 of the secret, in hex.
    pub(crate) hash: String,
    /// When it was made.
    pub(crate) date: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    last_user: u32,
    last_token: u32,
    users: Vec<User>,
    tokens: Vec<Token>,
}

/// Users and tokens, in memory as on disk.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    contents: Contents,
}

impl Book {
    pub(crate) fn open(folder: &Path) -> Result<Self, ConsoleError> {
        let path = folder.join(FILE);
        let contents = match fs::read(&path) {
            Ok(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| ConsoleError::Accounts {
                    path: path.clone(),
                    reason: error.to_string(),
                })?
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Contents {
                version: 1,
                ..Contents::default()
            },
            Err(error) => return Err(StoreError::from_io("read", &path, error).into()),
        };
        Ok(Self { path, contents })
    }

    pub(crate) fn users(&self) -> &[User] {
        &self.contents.users
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.contents.tokens
    }

    pub(crate) fn add_user(
        &mut self,
        new: NewUser,
        now: Timestamp,
    ) -> Result<Result<User, Refusal>, ConsoleError> {
        if self.users().iter().any(|user| user.id == new.id) {
            return Ok(Err(Refusal::Taken));
        }
        self.contents.last_user += 1;
        let user = User {
            no: self.contents.last_user,
            name: new.name,
            id: new.id,
            pw: new.pw,
            date: now.to_rfc3339_secs(),
            role: new.role,
            networks: Vec::new(),
        };
        self.contents.users.push(user.clone());
        self.write()?;
        Ok(Ok(user))
    }

    pub(crate) fn change_user(
        &mut self,
        no: u32,
        change: UserChange,
    ) -> Result<Result<User, Refusal>, ConsoleError> {
        let Some(at) = self.users().iter().position(|user| user.no == no) else {
            return Ok(Err(Refusal::Unknown));
        };
        let is_demoted = change.role.is_some_and(|role| role < Role::Admin);
        if is_demoted && self.is_last_admin(no) {
            return Ok(Err(Refusal::LastAdmin));
        }
        let user = &mut self.contents.users[at];
        user.name = change.name.unwrap_or_else(|| user.name.clone());
        user.role = change.role.unwrap_or(user.role);
        if let Some(pw) = change.pw {
            user.pw = pw;
            user.networks.clear();
            self.contents.tokens.retain(|token| token.user != no);
        }
        let changed = self.contents.users[at].clone();
        self.write()?;
        Ok(Ok(changed))
    }

    /// Remembers that a user signed in from the network with this hash. Nothing
    /// is remembered if the user or the password has changed meanwhile.
    pub(crate) fn remember_network(
        &mut self,
        of: &User,
        hash: String,
        now: Timestamp,
    ) -> Result<(), ConsoleError> {
        let mut users = self.contents.users.iter_mut();
        let user = users.find(|user| user.no == of.no && user.pw == of.pw);
        let is_new = user.is_some_and(|user| familiar::remember(&mut user.networks, hash, now));
        if is_new { self.write() } else { Ok(()) }
    }

    pub(crate) fn remove_user(&mut self, no: u32) -> Result<Result<(), Refusal>, ConsoleError> {
        if !self.users().iter().any(|user| user.no == no) {
            return Ok(Err(Refusal::Unknown));
        }
        if self.is_last_admin(no) {
            return Ok(Err(Refusal::LastAdmin));
        }
        self.contents.users.retain(|user| user.no != no);
        self.contents.tokens.retain(|token| token.user != no);
        self.write()?;
        Ok(Ok(()))
    }

    fn is_last_admin(&self, no: u32) -> bool {
        let mut admins = self.users().iter().filter(|user| user.role == Role::Admin);
        admins.all(|user| user.no == no)
    }

    pub(crate) fn add_token(
        &mut self,
        user: u32,
        name: String,
        scope: Role,
        secret: &str,
        now: Timestamp,
    ) -> Result<Result<Token, Refusal>, ConsoleError> {
        let of_user = self.tokens().iter().filter(|token| token.user == user);
        if of_user.count() >= TOKENS_MAX {
            return Ok(Err(Refusal::TooManyTokens));
        }
        self.contents.last_token += 1;
        let token = Token {
            no: self.contents.last_token,
            user,
            name,
            scope,
            hash: HEXLOWER.encode(&secret::hash(secret)),
            date: now.to_rfc3339_secs(),
        };
        self.contents.tokens.push(token.clone());
        self.write()?;
        Ok(Ok(token))
    }

    pub(crate) fn remove_token(&mut self, no: u32) -> Result<Result<(), Refusal>, ConsoleError> {
        let before = self.tokens().len();
        self.contents.tokens.retain(|token| token.no != no);
        if self.tokens().len() == before {
            return Ok(Err(Refusal::Unknown));
        }
        self.write()?;
        Ok(Ok(()))
    }

    /// The token with this secret, and its user.
    pub(crate) fn find_token(&self, secret: &str) -> Option<(&Token, &User)> {
        let hash = HEXLOWER.encode(&secret::hash(secret));
        let token = self.tokens().iter().find(|token| token.hash == hash)?;
        let user = self.users().iter().find(|user| user.no == token.user)?;
        Some((token, user))
    }

    fn write(&self) -> Result<(), ConsoleError> {
        make_folder(&self.path)?;
        let bytes = serde_json::to_vec_pretty(&self.contents).expect("accounts are plain data");
        Ok(CrawlDir::write_private(&self.path, &bytes)?)
    }
}

/// Makes the folder of a file, for its user only.
pub(crate) fn make_folder(file: &Path) -> Result<(), StoreError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|error| StoreError::from_io("create", folder, error))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn new(id: &str, role: Role) -> NewUser {
        NewUser {
            name: id.to_uppercase(),
            id: id.to_owned(),
            pw: "hash".to_owned(),
            role,
        }
    }

    #[test]
    fn accounts_survive_and_numbers_are_never_given_twice() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        let kim = book
            .add_user(new("kim", Role::Admin), NOW)
            .unwrap()
            .unwrap();
        let lee = book
            .add_user(new("lee", Role::Viewer), NOW)
            .unwrap()
            .unwrap();
        assert_eq!((kim.no, lee.no), (1, 2));
        let token = book
            .add_token(2, "grafana".into(), Role::Viewer, "secret", NOW)
            .unwrap()
            .unwrap();
        assert_eq!(book.find_token("secret").unwrap().0, &token);
        assert_eq!(book.find_token("Secret"), None);
        book.remove_user(2).unwrap().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        assert_eq!(book.users(), [kim]);
        assert_eq!(book.tokens(), [], "the tokens of a user go with it");
        let park = book.add_user(new("park", Role::Viewer), NOW).unwrap();
        assert_eq!(park.unwrap().no, 3);
        let mode = fs::metadata(folder.path().join(FILE))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }

    #[test]
    fn tokens_are_limited_and_go_with_the_password() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        for id in ["kim", "lee"] {
            book.add_user(new(id, Role::Admin), NOW).unwrap().unwrap();
        }
        let mut add = |user: u32, n: usize| {
            let secret = format!("secret {user} {n}");
            let added = book.add_token(user, "t".into(), Role::Viewer, &secret, NOW);
            added.unwrap().map(|_| ())
        };
        for n in 0..TOKENS_MAX {
            assert_eq!(add(1, n), Ok(()));
        }
        assert_eq!(add(1, TOKENS_MAX), Err(Refusal::TooManyTokens));
        assert_eq!(add(2, 0), Ok(()));
        let name = UserChange {
            name: Some("Kim".to_owned()),
            ..UserChange::default()
        };
        book.change_user(1, name).unwrap().unwrap();
        assert_eq!(book.tokens().len(), TOKENS_MAX + 1);
        let password = UserChange {
            pw: Some("another hash".to_owned()),
            ..UserChange::default()
        };
        book.change_user(1, password).unwrap().unwrap();
        assert!(book.find_token("secret 1 0").is_none());
        assert!(book.find_token("secret 2 0").is_some());
        let book = Book::open(folder.path()).unwrap();
        assert_eq!(book.tokens().len(), 1);
    }

    #[test]
    fn the_last_admin_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut book = Book::open(folder.path()).unwrap();
        book.add_user(new("kim", Role::Admin), NOW)
            .unwrap()
            .unwrap();
        let lesser = UserChange {
            role: Some(Role::Operator),
            ..UserChange::default()
        };
        assert_eq!(
            book.change_user(1, lesser.clone()).unwrap(),
            Err(Refusal::LastAdmin)
        );
        assert_eq!(book.remove_user(1).unwrap(), Err(Refusal::LastAdmin));
        book.add_user(new("lee", Role::Admin), NOW)
            .unwrap()
            .unwrap();
        assert!(book.change_user(1, lesser).unwrap().is_ok());
        assert_eq!(
            book.add_user(new("lee", Role::Viewer), NOW).unwrap(),
            Err(Refusal::Taken)
        );
    }
}
