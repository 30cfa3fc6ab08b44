//! What can go wrong between workers.

use crate::{BODY_BYTES_MAX, PartitionId};

/// A failure of the network between workers, or a message that breaks its rules.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The broker does not answer. Nothing is known of whether the request was
    /// carried out; every operation may be repeated.
    #[error("the cluster's broker cannot be reached: {detail}")]
    Unreachable {
        /// What the connection said.
        detail: String,
    },
    /// A body is larger than [`BODY_BYTES_MAX`].
    #[error("a message of {bytes} bytes is over the limit of {BODY_BYTES_MAX}")]
    TooLarge {
        /// The size of the body.
        bytes: usize,
    },
    /// A subject or key is not made of `a-z A-Z 0-9 - _` in tokens joined by dots.
    #[error("{subject:?} is not a subject: use letters, digits, - and _ between dots")]
    InvalidSubject {
        /// The subject as given.
        subject: String,
    },
    /// A sender published a new mail with a lower number than one before it.
    #[error("mail {seq} from {from} to {to} came after mail {after}")]
    OutOfOrder {
        /// The sending partition.
        from: PartitionId,
        /// The receiving partition.
        to: PartitionId,
        /// The number of the mail.
        seq: u64,
        /// The highest number before it.
        after: u64,
    },
}

impl ClusterError {
    /// Refuses a body over [`BODY_BYTES_MAX`].
    pub fn check_size(body: &[u8]) -> Result<(), Self> {
        match body.len() {
            bytes if bytes > BODY_BYTES_MAX => Err(Self::TooLarge { bytes }),
            _ => Ok(()),
        }
    }
}
