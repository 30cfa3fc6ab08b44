//! Mail between the partitions of this process.
//!
//! The contract is the mailbox's: the sender's outbox is the truth, the
//! receiver's cursor makes repetition harmless, and an acknowledgement lets the
//! sender forget.

use geomi_cluster::embedded::{EmbeddedMailbox, PostOffice};
use geomi_cluster::{Mail, Mailbox, PartitionId, Partitions, Published};

use crate::CrawlError;
use crate::keys;
use crate::partition::{MailBody, Partition};

/// Mail the embedded post holds for one receiver before it says full.
const OFFICE_BYTES_MAX: usize = 16 << 20;
/// Mails taken from one partition's box in one round.
const MAILS_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct Post {
    partitions: Partitions,
    mailbox: EmbeddedMailbox,
    /// Taken in and to be acknowledged once committed: (to, from, number).
    taken: Vec<(PartitionId, PartitionId, u64)>,
}

impl Post {
    pub(crate) fn new(partitions: Partitions) -> Self {
        Self {
            partitions,
            mailbox: PostOffice::new(OFFICE_BYTES_MAX).handle(),
            taken: Vec::new(),
        }
    }

    /// Publishes what the partitions have committed to their outboxes.
    pub(crate) fn publish(&mut self, partitions: &mut [Partition]) -> Result<(), CrawlError> {
        for (from, partition) in self.partitions.iter().zip(partitions) {
            let mut full: Vec<(u16, u64, Vec<u8>)> = Vec::new();
            let posted = std::mem::take(&mut partition.posted);
            for (to, seq, body) in posted {
                // Behind a full box everything waits, so that order is kept.
                let mail = Mail {
                    from,
                    to: PartitionId(to),
                    seq,
                    body: body.clone(),
                };
                if full.iter().any(|(waiting, ..)| *waiting == to)
                    || self.mailbox.publish(mail)? == Published::Full
                {
                    full.push((to, seq, body));
                }
            }
            partition.posted = full;
        }
        Ok(())
    }

    /// The mail that has come for a partition and was not taken in before.
    pub(crate) fn collect(
        &mut self,
        to: PartitionId,
        partition: &mut Partition,
    ) -> Result<Vec<MailBody>, CrawlError> {
        let mut bodies = Vec::new();
        for mail in self.mailbox.receive(to, MAILS_MAX)? {
            self.taken.push((to, mail.from, mail.seq));
            if partition
                .cursor(mail.from.0)?
                .is_some_and(|cursor| mail.seq <= cursor)
            {
                continue;
            }
            partition.advance_cursor(mail.from.0, mail.seq);
            bodies.push(keys::decode("mail", &mail.body)?);
        }
        Ok(bodies)
    }

    /// After a commit: tells the senders, and lets them forget.
    pub(crate) fn acknowledge(&mut self, partitions: &mut [Partition]) -> Result<(), CrawlError> {
        for (to, from, seq) in self.taken.drain(..) {
            self.mailbox.acknowledge(to, from, seq)?;
        }
        for (from, partition) in self.partitions.iter().zip(partitions) {
            let awaited: Vec<u16> = partition.awaited().collect();
            for to in awaited {
                if let Some(seq) = self.mailbox.acknowledged(from, PartitionId(to))? {
                    partition.acknowledged(to, seq);
                }
            }
        }
        Ok(())
    }
}
