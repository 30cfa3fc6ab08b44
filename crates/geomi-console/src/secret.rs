//! Random secrets, and comparing what was sent with what is known.
//!
//! A secret leaves this process once, to its owner; what is kept is its SHA-256,
//! which is enough for a secret of 256 random bits (a password, which is not
//! random, goes through argon2id instead: see `accounts::password`).

use data_encoding::BASE64URL_NOPAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

/// Hash of a secret, as kept.
pub(crate) type Hash = [u8; 32];

/// A new secret: 256 random bits, in 43 characters that fit into a URL.
pub(crate) fn new() -> String {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has random numbers");
    BASE64URL_NOPAD.encode(&bytes)
}

/// Random bytes for a salt.
pub(crate) fn salt() -> [u8; 16] {
    let mut bytes = [0; 16];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has random numbers");
    bytes
}

/// What is kept of a secret.
pub(crate) fn hash(secret: &str) -> Hash {
    let digest = digest(&SHA256, secret.as_bytes());
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// Whether two secrets are the same. Their hashes are compared, so that the
/// time it takes tells nothing about the secret.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    hash(one) == hash(other)
}
