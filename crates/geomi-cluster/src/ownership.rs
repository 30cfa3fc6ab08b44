//! Who owns a partition now.
//!
//! A partition is free or held. A worker *claims* it and is granted an epoch,
//! or is told who holds it. The holder *renews* before its lease lapses, and
//! *releases* the partition when it leaves in good order. A claim on a
//! partition whose lease has lapsed is granted; the old holder finds out at
//! its next renewal that it is [`Standing::Lost`], and must have stopped
//! before: by its own clock it knows when its lease can end.
//!
//! | state | claim by A | claim by B | renew by A's epoch | release by A's epoch |
//! |---|---|---|---|---|
//! | free | A holds, next epoch | B holds, next epoch | lost | lost |
//! | held by A, lease runs | A holds, next epoch | told that A holds | lease anew | free |
//! | held by A, lease lapsed | A holds, next epoch | B holds, next epoch | lease anew | free |
//!
//! A worker that claims what it holds is a worker that started again: its
//! former self must not go on, so the epoch moves. Every change is a
//! compare-and-set: of two claims at once, one is granted.
//!
//! Epochs of a partition only grow, also over releases. They fence: whoever
//! keeps the epoch beside what it writes can refuse a writer with an older one.
//! The lease is about availability; safety is the epoch's.

use std::fmt;

use geomi_model::Timestamp;

use crate::{ClusterError, PartitionId, WorkerId};

/// How often a partition has changed hands; later is higher.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Epoch(pub u64);

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}", self.0)
    }
}

/// Who holds a partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Holder {
    /// The worker.
    pub worker: WorkerId,
    /// The epoch it was granted.
    pub epoch: Epoch,
    /// When its lease lapses unless it is renewed.
    pub until: Timestamp,
}

/// The answer to a claim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The partition is the claimant's, under this epoch.
    Granted(Epoch),
    /// Another worker holds it and its lease runs.
    Held(Holder),
}

/// Whether the holder of an epoch is still the owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is, or was until it released the partition just now.
    Owner,
    /// The partition was released or went to somebody else: stop at once.
    Lost,
}

/// One worker's hand in the ownership of partitions. See the
/// module for states and transitions.
pub trait Ownership: Send {
    /// Asks for a partition.
    fn claim(&mut self, partition: PartitionId, now: Timestamp) -> Result<Claim, ClusterError>;

    /// Keeps a partition for another lease from `now`.
    fn renew(
        &mut self,
        partition: PartitionId,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<Standing, ClusterError>;

    /// Gives a partition up, so that the next owner need not wait.
    fn release(&mut self, partition: PartitionId, epoch: Epoch) -> Result<Standing, ClusterError>;

    /// Who holds a partition; `None` if it is free or the lease has lapsed.
    fn owner_of(
        &self,
        partition: PartitionId,
        now: Timestamp,
    ) -> Result<Option<Holder>, ClusterError>;
}
