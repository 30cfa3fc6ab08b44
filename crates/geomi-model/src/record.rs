//! What is remembered of a URL between visits.

use serde::{Deserialize, Serialize};

use crate::{Digest, Fingerprint, NetworkState, Timestamp};

/// The memory of one URL, written at its first visit and not before: most URLs
/// of a frontier wait for a long time, and a record for each would be the
/// largest part of the state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UrlRecord {
    /// Attempts made since the URL was last queued; a queue entry with a lower
    /// number has been dealt with.
    pub attempts: u8,
    /// Visits in all.
    pub visits: u32,
    /// When the last visit started.
    pub last_visit: Timestamp,
    /// How the last visit ended.
    pub state: NetworkState,
    /// The last status code.
    pub code: Option<u16>,
    /// Payload digest of the last complete answer.
    pub digest: Option<Digest>,
    /// Fingerprint of the last complete answer.
    pub fingerprint: Option<Fingerprint>,
    /// Body size of the last complete answer.
    pub body_bytes: u64,
    /// Visits that could be compared with one before.
    pub comparisons: u32,
    /// Comparisons that found a change.
    pub changes: u32,
    /// Validators for a conditional request.
    pub etag: Option<String>,
    /// Last-Modified as sent.
    pub last_modified: Option<String>,
}
