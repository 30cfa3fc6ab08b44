//! Passwords: argon2id, with the numbers OWASP names (19 MiB, two passes).
//!
//! One hash takes some ten milliseconds and 19 MiB, so callers run it on a
//! thread that may block, few at a time.

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};

use crate::secret;
use crate::wrong::Wrong;

/// The shortest password, in characters.
pub(crate) const CHARS_MIN: usize = 10;
/// The longest, in bytes: longer ones only cost time.
pub(crate) const BYTES_MAX: usize = 4_096;

/// A hash nobody's password has, to be checked where there is no user, so that
/// the time an answer takes does not tell which ids exist.
const NOBODYS: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm8gdXNlciBoYXMgaXQ$3m5u8tLM3e2j6pO0dX0n0zyhRGkp5rqzVZkqS4gCvO8";

fn argon2() -> Argon2<'static> {
    let params = Params::new(19 * 1024, 2, 1, None).expect("these numbers are within its bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// The hash of a password, as kept.
pub(crate) fn hash(password: &str) -> String {
    let salt = SaltString::encode_b64(&secret::salt()).expect("16 bytes are a salt");
    let hash = argon2().hash_password(password.as_bytes(), &salt);
    hash.expect("a bounded password has a hash").to_string()
}

/// Whether `password` is the one whose hash is kept; without a hash it takes as
/// long and is not.
pub(crate) fn is_right(password: &str, kept: Option<&str>) -> bool {
    if password.len() > BYTES_MAX {
        return false;
    }
    let parsed = PasswordHash::new(kept.unwrap_or(NOBODYS));
    let is_same =
        parsed.is_ok_and(|hash| argon2().verify_password(password.as_bytes(), &hash).is_ok());
    is_same && kept.is_some()
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
    use super::*;

    #[test]
    fn only_the_right_password_fits() {
        let kept = hash("correct horse battery");
        assert!(
            kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{kept}"
        );
        assert!(is_right("correct horse battery", Some(&kept)));
        assert!(!is_right("correct horse batterY", Some(&kept)));
        assert!(!is_right("correct horse battery", None));
        assert_ne!(kept, hash("correct horse battery"), "salted");
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
