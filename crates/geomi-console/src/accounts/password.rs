//! Passwords: argon2id, with the numbers OWASP names (19 MiB, two passes).
//!
//! One hash takes some ten milliseconds and 19 MiB, so callers run it on a
//! thread that may block, few at a time. The memory is used again: what many
//! threads give back to the allocator stays with each of them.

use std::sync::Mutex;

use argon2::password_hash::{Output, ParamsString, PasswordHash, SaltString};
use argon2::{Algorithm, Argon2, Block, Params, Version};

use super::hold;
use crate::secret;
use crate::wrong::Wrong;

/// The shortest password, in characters.
pub(crate) const CHARS_MIN: usize = 10;
/// The longest, in bytes: longer ones only cost time.
pub(crate) const BYTES_MAX: usize = 4_096;

/// A hash nobody's password has, to be checked where there is no user, so that
/// the time an answer takes does not tell which ids exist.
pub(super) const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm8gdXNlciBoYXMgaXQ$3m5u8tLM3e2j6pO0dX0n0zyhRGkp5rqzVZkqS4gCvO8";

fn params() -> Params {
    Params::new(19 * 1024, 2, 1, None).expect("these numbers are within its bounds")
}

/// Hashes passwords. Holds as much memory as hashes were ever made at once.
#[derive(Debug, Default)]
pub(crate) struct Hasher {
    free: Mutex<Vec<Vec<Block>>>,
}

impl Hasher {
    /// The hash of a password, as kept.
    pub(crate) fn hash(&self, password: &str) -> String {
        let salt = SaltString::encode_b64(&secret::salt()).expect("16 bytes are a salt");
        let params = params();
        let kept = PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(&params).expect("these numbers can be written"),
            salt: Some(salt.as_salt()),
            hash: None,
        };
        let hash = self.output(password, &kept);
        let hash = Some(hash.expect("a bounded password has a hash"));
        PasswordHash { hash, ..kept }.to_string()
    }

    /// Whether `password` is the one whose hash is kept; without a hash it takes
    /// as long and is not.
    pub(crate) fn is_right(&self, password: &str, kept: Option<&str>) -> bool {
        if password.len() > BYTES_MAX {
            return false;
        }
        let is_same = PasswordHash::new(kept.unwrap_or(NOBODYS)).is_ok_and(|kept| {
            let hash = self.output(password, &kept);
            // Compared in constant time.
            hash.is_some_and(|hash| Some(hash) == kept.hash)
        });
        is_same && kept.is_some()
    }

    /// The hash of a password with the salt and numbers of another.
    fn output(&self, password: &str, like: &PasswordHash<'_>) -> Option<Output> {
        let params = Params::try_from(like).ok()?;
        let version = like
            .version
            .and_then(|version| Version::try_from(version).ok());
        let mut bytes = [0; 64];
        let salt = like.salt?.decode_b64(&mut bytes).ok()?;
        let (blocks, len) = (params.block_count(), params.output_len());
        let argon2 = Argon2::new(
            Algorithm::try_from(like.algorithm).ok()?,
            version.unwrap_or_default(),
            params,
        );
        let mut memory = hold(&self.free).pop().unwrap_or_default();
        memory.resize(memory.len().max(blocks), Block::default());
        let mut out = vec![0; len.unwrap_or(Params::DEFAULT_OUTPUT_LEN)];
        let hashed =
            argon2.hash_password_into_with_memory(password.as_bytes(), salt, &mut out, &mut memory);
        hold(&self.free).push(memory);
        hashed.ok()?;
        Output::new(&out).ok()
    }
}

/// What is wrong with a new password, if anything is.
pub(crate) fn fault(password: &str) -> Option<Wrong> {
    if password.chars().count() < CHARS_MIN {
        Some(Wrong::ShortPassword)
    } else if password.len() > BYTES_MAX {
        Some(Wrong::LongPassword)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};

    use super::*;

    #[test]
    fn only_the_right_password_fits() {
        let hasher = Hasher::default();
        let kept = hasher.hash("correct horse battery");
        assert!(
            kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{kept}"
        );
        assert!(hasher.is_right("correct horse battery", Some(&kept)));
        assert!(!hasher.is_right("correct horse batterY", Some(&kept)));
        assert!(!hasher.is_right("correct horse battery", None));
        assert_ne!(kept, hasher.hash("correct horse battery"), "salted");
        assert_eq!(hold(&hasher.free).len(), 1, "memory is used again");
        // As the library itself writes and reads them.
        let salt = SaltString::encode_b64(b"0123456789abcdef").unwrap();
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params());
        let theirs = argon2.hash_password(b"correct horse battery", &salt);
        let theirs = theirs.unwrap().to_string();
        assert!(hasher.is_right("correct horse battery", Some(&theirs)));
        let ours = PasswordHash::new(&kept).unwrap();
        assert!(
            argon2
                .verify_password(b"correct horse battery", &ours)
                .is_ok()
        );
    }

    #[test]
    fn the_hash_of_nobody_can_be_checked() {
        assert!(PasswordHash::new(NOBODYS).is_ok());
    }

    #[test]
    fn faults_are_told() {
        assert!(fault("short").is_some());
        assert!(fault(&"x".repeat(BYTES_MAX + 1)).is_some());
        assert_eq!(fault("비밀번호는열글자이상이에요"), None);
    }
}
