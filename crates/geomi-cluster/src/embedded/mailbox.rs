//! Mail in memory, bounded for each receiver.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::{ClusterError, Mail, Mailbox, PartitionId, Published};

/// What a mail takes besides its body, roughly: empty mails are bounded too.
const MAIL_BYTES: usize = 64;

/// Where mail waits, shared by the handles of several workers.
#[derive(Clone, Debug)]
pub struct PostOffice {
    bytes_max: usize,
    boxes: Arc<Mutex<HashMap<PartitionId, Inbox>>>,
}

/// The mail of one receiver.
#[derive(Debug, Default)]
struct Inbox {
    senders: BTreeMap<PartitionId, Lane>,
    bytes: usize,
}

/// The mail from one sender to one receiver.
#[derive(Debug, Default)]
struct Lane {
    waiting: BTreeMap<u64, Vec<u8>>,
    acknowledged: Option<u64>,
}

impl PostOffice {
    /// An empty office that holds about `bytes_max` for each receiver, and one
    /// mail of any size always.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            boxes: Arc::default(),
        }
    }

    /// A new handle, which hands out everything that is not acknowledged.
    pub fn handle(&self) -> EmbeddedMailbox {
        EmbeddedMailbox {
            office: self.clone(),
            readers: HashMap::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PartitionId, Inbox>> {
        self.boxes
            .lock()
            .expect("no code panics while it holds the office")
    }
}

/// One handle on a [`PostOffice`].
#[derive(Debug)]
pub struct EmbeddedMailbox {
    office: PostOffice,
    readers: HashMap<PartitionId, Reader>,
}

/// How far this handle has read a receiver's mail.
#[derive(Debug, Default)]
struct Reader {
    handed_out: HashMap<PartitionId, u64>,
    /// The sender served last; the next one comes first, so that none starves.
    last_served: Option<PartitionId>,
}

impl Mailbox for EmbeddedMailbox {
    fn publish(&mut self, mail: Mail) -> Result<Published, ClusterError> {
        ClusterError::check_size(&mail.body)?;
        let mut boxes = self.office.lock();
        let inbox = boxes.entry(mail.to).or_default();
        let lane = inbox.senders.entry(mail.from).or_default();
        if lane.acknowledged >= Some(mail.seq) || lane.waiting.contains_key(&mail.seq) {
            return Ok(Published::Accepted);
        }
        if let Some((&after, _)) = lane.waiting.last_key_value()
            && after > mail.seq
        {
            let Mail { from, to, seq, .. } = mail;
            return Err(ClusterError::OutOfOrder {
                from,
                to,
                seq,
                after,
            });
        }
        let bytes = inbox.bytes + mail.body.len() + MAIL_BYTES;
        if inbox.bytes > 0 && bytes > self.office.bytes_max {
            return Ok(Published::Full);
        }
        inbox.bytes = bytes;
        lane.waiting.insert(mail.seq, mail.body);
        Ok(Published::Accepted)
    }

    fn receive(&mut self, to: PartitionId, max: usize) -> Result<Vec<Mail>, ClusterError> {
        let boxes = self.office.lock();
        let Some(inbox) = boxes.get(&to) else {
            return Ok(Vec::new());
        };
        let reader = self.readers.entry(to).or_default();
        Ok(reader.take(to, inbox, max))
    }

    fn acknowledge(
        &mut self,
        to: PartitionId,
        from: PartitionId,
        seq: u64,
    ) -> Result<(), ClusterError> {
        let mut boxes = self.office.lock();
        let inbox = boxes.entry(to).or_default();
        let lane = inbox.senders.entry(from).or_default();
        while let Some(first) = lane.waiting.first_entry()
            && *first.key() <= seq
        {
            inbox.bytes -= first.remove().len() + MAIL_BYTES;
        }
        lane.acknowledged = lane.acknowledged.max(Some(seq));
        Ok(())
    }

    fn acknowledged(
        &self,
        from: PartitionId,
        to: PartitionId,
    ) -> Result<Option<u64>, ClusterError> {
        let boxes = self.office.lock();
        let lane = boxes.get(&to).and_then(|inbox| inbox.senders.get(&from));
        Ok(lane.and_then(|lane| lane.acknowledged))
    }
}

impl Reader {
    fn take(&mut self, to: PartitionId, inbox: &Inbox, max: usize) -> Vec<Mail> {
        let mut taken = Vec::new();
        for (&from, lane) in self.senders_in_turn(inbox) {
            let after = match self.handed_out.get(&from) {
                Some(&seq) => Bound::Excluded(seq),
                None => Bound::Unbounded,
            };
            let room = max - taken.len();
            for (&seq, body) in lane.waiting.range((after, Bound::Unbounded)).take(room) {
                let body = body.clone();
                taken.push(Mail {
                    from,
                    to,
                    seq,
                    body,
                });
                self.handed_out.insert(from, seq);
                self.last_served = Some(from);
            }
            if taken.len() == max {
                break;
            }
        }
        taken
    }

    fn senders_in_turn<'a>(
        &self,
        inbox: &'a Inbox,
    ) -> impl Iterator<Item = (&'a PartitionId, &'a Lane)> + use<'a> {
        let senders = &inbox.senders;
        let (next, rest) = match self.last_served {
            Some(last) => (Bound::Excluded(last), Bound::Included(last)),
            None => (Bound::Unbounded, Bound::Excluded(PartitionId(0))),
        };
        let later = senders.range((next, Bound::Unbounded));
        later.chain(senders.range((Bound::Unbounded, rest)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::mailbox::{self, Office};

    impl Office for PostOffice {
        type Handle = EmbeddedMailbox;

        fn fresh() -> Self {
            Self::new(1 << 20)
        }

        fn handle(&mut self) -> EmbeddedMailbox {
            PostOffice::handle(self)
        }
    }

    #[test]
    fn conforms() {
        mailbox::run_all::<PostOffice>();
    }

    fn mail(from: u16, seq: u64) -> Mail {
        Mail {
            from: PartitionId(from),
            to: PartitionId(0),
            seq,
            body: vec![0; 36],
        }
    }

    #[test]
    fn a_full_box_takes_mail_again_after_an_acknowledgement() {
        let mut handle = PostOffice::new(200).handle();
        let mut publish = |seq| handle.publish(mail(1, seq)).unwrap();
        assert_eq!(publish(1), Published::Accepted);
        assert_eq!(publish(2), Published::Accepted);
        assert_eq!(publish(3), Published::Full);
        assert_eq!(publish(2), Published::Accepted, "it is there already");
        let to = PartitionId(0);
        handle.acknowledge(to, PartitionId(1), 1).unwrap();
        assert_eq!(handle.publish(mail(1, 3)).unwrap(), Published::Accepted);
    }

    #[test]
    fn one_mail_of_any_size_always_fits() {
        let mut handle = PostOffice::new(1).handle();
        assert_eq!(handle.publish(mail(1, 1)).unwrap(), Published::Accepted);
        assert_eq!(handle.publish(mail(1, 2)).unwrap(), Published::Full);
    }

    #[test]
    fn a_busy_sender_does_not_starve_the_others() {
        let mut handle = PostOffice::new(1 << 20).handle();
        for seq in 1..=100 {
            handle.publish(mail(1, seq)).unwrap();
        }
        handle.publish(mail(2, 1)).unwrap();
        handle.publish(mail(3, 1)).unwrap();
        let mut senders = || -> Vec<u16> {
            let mails = handle.receive(PartitionId(0), 4).unwrap();
            mails.iter().map(|mail| mail.from.0).collect()
        };
        assert_eq!(senders(), [1, 1, 1, 1]);
        assert_eq!(senders(), [2, 3, 1, 1]);
    }

    #[test]
    fn a_late_mail_with_a_lower_number_is_refused() {
        let mut handle = PostOffice::new(1 << 20).handle();
        handle.publish(mail(1, 5)).unwrap();
        let late = handle.publish(mail(1, 4));
        assert!(matches!(
            late,
            Err(ClusterError::OutOfOrder {
                seq: 4,
                after: 5,
                ..
            })
        ));
    }
}
