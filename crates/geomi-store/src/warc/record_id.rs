//! Record ids made from what the record is about.

use std::fmt;

use geomi_model::Timestamp;
use sha1::{Digest as _, Sha1};

/// The name space of our name-based UUIDs (RFC 9562 §5.5): itself an arbitrary
/// UUID, fixed for ever.
const NAMESPACE: [u8; 16] = [
    0x6f, 0x2c, 0x1d, 0x9a, 0x3b, 0x57, 0x4e, 0x08, 0x9d, 0x44, 0x67, 0x65, 0x6f, 0x6d, 0x69, 0x01,
];

/// A WARC-Record-ID; it prints as the `urn:uuid:` in angle brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordId([u8; 16]);

impl RecordId {
    /// The id of the record of `kind` that tells of `subject` (a URL or a file
    /// name) at `time`; `serial` sets apart what happens in one microsecond.
    pub(super) fn of(kind: &str, subject: &str, time: Timestamp, serial: u64) -> Self {
        let mut sha1 = Sha1::new();
        sha1.update(NAMESPACE);
        sha1.update(kind);
        sha1.update([0]);
        sha1.update(time.micros().to_be_bytes());
        sha1.update(serial.to_be_bytes());
        sha1.update(subject);
        let hash: [u8; 20] = sha1.finalize().into();
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&hash[..16]);
        uuid[6] = uuid[6] & 0x0f | 0x50;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        Self(uuid)
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u128::from_be_bytes(self.0);
        write!(
            f,
            "<urn:uuid:{:08x}-{:04x}-{:04x}-{:04x}-{:012x}>",
            bits >> 96,
            bits >> 80 & 0xffff,
            bits >> 64 & 0xffff,
            bits >> 48 & 0xffff,
            bits & 0xffff_ffff_ffff
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_of_version_five_and_differ() {
        let id = |kind, serial| {
            RecordId::of(kind, "http://example.com/", Timestamp::EPOCH, serial).to_string()
        };
        let text = id("response", 1);
        assert_eq!(
            text.len(),
            "<urn:uuid:00000000-0000-5000-8000-000000000000>".len()
        );
        assert_eq!(text.as_bytes()[24], b'5');
        assert!(b"89ab".contains(&text.as_bytes()[29]));
        assert_eq!(text, id("response", 1));
        assert_ne!(text, id("request", 1));
        assert_ne!(text, id("response", 2));
    }
}
