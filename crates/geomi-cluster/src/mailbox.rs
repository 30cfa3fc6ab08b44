//! Mail between partitions: batches of links on their way to their owner.
//!
//! The mailbox carries; it is not the truth. The contract between the two
//! ends makes delivery at-least-once on the way and exactly-once in effect:
//!
//! 1. The sender commits each mail to its outbox, in its own durable state,
//!    under a number (`seq`) that grows with every mail it writes; then it
//!    publishes. To each receiver it publishes in the order of the numbers:
//!    after [`Published::Full`] it sends that receiver nothing newer before
//!    the refused mail was taken.
//! 2. The receiver keeps, in its own durable state, the highest number it has
//!    taken from each sender. It skips mail up to there, commits new links and
//!    the new number in one batch, and then acknowledges, skipped mail too.
//! 3. The sender may delete outbox rows up to [`Mailbox::acknowledged`].
//! 4. A sender that restarts publishes every row of its outbox again; a
//!    receiver that restarts opens a new handle and is given all that it has
//!    not acknowledged.
//!
//! So the mailbox may lose everything at any time and no link is lost.

use crate::{ClusterError, PartitionId};

/// A batch of links from one partition to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mail {
    /// The sending partition.
    pub from: PartitionId,
    /// The receiving partition.
    pub to: PartitionId,
    /// The sender's number of it: `(from, seq)` names a mail.
    pub seq: u64,
    /// The links, at most [`BODY_BYTES_MAX`](crate::BODY_BYTES_MAX).
    pub body: Vec<u8>,
}

/// The answer to a publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Published {
    /// The mail is on its way, or had been already.
    Accepted,
    /// The receiver is behind: keep the mail in the outbox and try again later.
    Full,
}

/// Carries mail between partitions. See the module for the contract.
///
/// A handle remembers what it has handed out to each receiver. A new handle
/// hands out everything again that is not acknowledged.
pub trait Mailbox: Send {
    /// Sends a mail. Publishing it again changes nothing.
    fn publish(&mut self, mail: Mail) -> Result<Published, ClusterError>;

    /// At most `max` mails to a partition that this handle has not handed out
    /// yet; mail of one sender comes in the order of its numbers.
    fn receive(&mut self, to: PartitionId, max: usize) -> Result<Vec<Mail>, ClusterError>;

    /// The receiver has durably taken all mail of this sender up to `seq`.
    fn acknowledge(
        &mut self,
        to: PartitionId,
        from: PartitionId,
        seq: u64,
    ) -> Result<(), ClusterError>;

    /// Up to where the receiver has acknowledged this sender's mail, as far
    /// as is known; `None` if nothing is.
    fn acknowledged(&self, from: PartitionId, to: PartitionId)
    -> Result<Option<u64>, ClusterError>;
}
