//! Mail between the partitions of this process.
//!
//! The contract is the mailbox's: the sender's outbox is the truth, the receiver's
//! cursor makes repetition harmless, and an acknowledgement lets the sender forget.
//! Mail leaves when the commit that wrote it is durable, and is acknowledged when the
//! commit that took it in is.

use geomi_cluster::embedded::{EmbeddedMailbox, PostOffice};
use geomi_cluster::{Mail, Mailbox, PartitionId, Partitions, Published};
use geomi_state::CommitNo;

use crate::CrawlError;
use crate::engine::Engine;
use crate::keys;
use crate::letters::Letter;
use crate::partition::MailBody;

/// Mail the embedded post holds for one receiver before it says full.
const OFFICE_BYTES_MAX: usize = 16 << 20;
/// Mails taken from one partition's box in one round.
const MAILS_MAX: usize = 64;

#[derive(Debug)]
pub(crate) struct Post {
    mailbox: EmbeddedMailbox,
    /// Taken in and not acknowledged yet, in order.
    taken: Vec<Taken>,
    /// Whether there is only one partition, which writes no letters.
    is_idle: bool,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    to: PartitionId,
    from: PartitionId,
    number: u64,
    /// The commit that has it.
    commit: CommitNo,
}

impl Post {
    pub(crate) fn new(partitions: Partitions) -> Self {
        Self {
            mailbox: PostOffice::new(OFFICE_BYTES_MAX).handle(),
            taken: Vec::new(),
            is_idle: partitions.count() == 1,
        }
    }

    /// Publishes what is in the engines' outboxes and durable.
    pub(crate) fn publish(&mut self, engines: &mut [Engine]) -> Result<(), CrawlError> {
        if self.is_idle {
            return Ok(());
        }
        for engine in engines {
            while let Some(posted) = engine.next_mail() {
                let mail = Mail {
                    from: engine.id,
                    to: posted.to,
                    seq: posted.number,
                    body: posted.body.clone(),
                };
                if self.mailbox.publish(mail)? == Published::Full {
                    // Everything behind it waits, so that order is kept.
                    engine.store.not_posted(posted);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The letters that have come for an engine and were not taken in before.
    pub(crate) fn collect(
        &mut self,
        engine: &mut Engine,
    ) -> Result<Vec<(PartitionId, Vec<Letter>)>, CrawlError> {
        let mut received = Vec::new();
        if self.is_idle {
            return Ok(received);
        }
        for mail in self.mailbox.receive(engine.id, MAILS_MAX)? {
            let cursor = engine.store.cursor(mail.from.0)?;
            let is_known = cursor.is_some_and(|cursor| mail.seq <= cursor);
            self.taken.push(Taken {
                to: engine.id,
                from: mail.from,
                number: mail.seq,
                // What an earlier run took in may be acknowledged at once.
                commit: if is_known {
                    CommitNo::default()
                } else {
                    engine.store.next_commit()
                },
            });
            if is_known {
                continue;
            }
            engine.store.advance_cursor(mail.from.0, mail.seq);
            let body: MailBody = keys::decode("mail", &mail.body)?;
            received.push((mail.from, body.letters));
        }
        Ok(received)
    }

    /// Acknowledges what is durably taken in, and lets the senders forget.
    pub(crate) fn acknowledge(&mut self, engines: &mut [Engine]) -> Result<(), CrawlError> {
        if self.is_idle {
            return Ok(());
        }
        let mut waiting = Vec::new();
        for taken in std::mem::take(&mut self.taken) {
            let durable = engines[usize::from(taken.to.0)].store.durable()?;
            if taken.commit <= durable {
                self.mailbox
                    .acknowledge(taken.to, taken.from, taken.number)?;
            } else {
                waiting.push(taken);
            }
        }
        self.taken = waiting;
        for engine in engines {
            for to in engine.awaited() {
                if let Some(number) = self.mailbox.acknowledged(engine.id, to)? {
                    engine.store.acknowledged(to.0, number);
                }
            }
        }
        Ok(())
    }
}
