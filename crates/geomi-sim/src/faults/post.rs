//! Mail between partitions: lost, doubled and delayed, and in order all the same, as
//! the contract of `geomi_cluster::Mailbox` asks for.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use geomi_engine::Posted;
use geomi_model::Timestamp;

use crate::draws::Draws;

/// After this time without an acknowledgement everything is sent again.
const RESENT_AFTER: Duration = Duration::from_secs(20);

/// A mail that has come.
#[derive(Clone, Debug)]
pub(super) struct Mail {
    pub(super) from: u16,
    pub(super) number: u64,
    pub(super) body: Vec<u8>,
}

/// What one partition sends another.
#[derive(Debug, Default)]
struct Channel {
    /// Mail that is not acknowledged, in order.
    sent: VecDeque<(u64, Vec<u8>)>,
    /// The next of them to be delivered, and when.
    next: usize,
    at: Timestamp,
    /// Up to which mail the receiver has acknowledged.
    acknowledged: Option<u64>,
}

/// The post office.
#[derive(Debug, Default)]
pub(super) struct Office {
    channels: BTreeMap<(u16, u16), Channel>,
}

impl Office {
    /// A mail leaves. Publishing it again changes nothing.
    pub(super) fn publish(&mut self, from: u16, mail: Posted, now: Timestamp, draws: &mut Draws) {
        let channel = self.channels.entry((from, mail.to.0)).or_default();
        let last = channel.sent.back().map(|(number, _)| *number);
        if last
            .max(channel.acknowledged)
            .is_some_and(|last| mail.number <= last)
        {
            return;
        }
        if channel.next == channel.sent.len() {
            channel.at = now + delay(draws);
        }
        channel.sent.push_back((mail.number, mail.body));
    }

    /// When there is mail for a partition.
    pub(super) fn next_for(&self, to: u16) -> Option<Timestamp> {
        let channels = self.channels.iter();
        let channels = channels.filter(|((_, receiver), _)| *receiver == to);
        channels.filter_map(|(_, channel)| channel.due()).min()
    }

    /// The mail that has come for a partition.
    pub(super) fn collect(&mut self, to: u16, now: Timestamp, draws: &mut Draws) -> Vec<Mail> {
        let mut collected = Vec::new();
        for ((from, receiver), channel) in &mut self.channels {
            if *receiver == to {
                channel.deliver(*from, now, draws, &mut collected);
            }
        }
        collected
    }

    /// The receiver has durably taken in everything up to a number; the word may be lost.
    pub(super) fn acknowledge(&mut self, to: u16, from: u16, number: u64, draws: &mut Draws) {
        let channel = self.channels.entry((from, to)).or_default();
        if draws.once_in(6) {
            return;
        }
        channel.acknowledged = channel.acknowledged.max(Some(number));
        while channel
            .sent
            .front()
            .is_some_and(|(sent, _)| *sent <= number)
        {
            channel.sent.pop_front();
            channel.next = channel.next.saturating_sub(1);
        }
    }

    /// Up to which mail a receiver has acknowledged.
    pub(super) fn acknowledged(&self, from: u16, to: u16) -> Option<u64> {
        self.channels.get(&(from, to))?.acknowledged
    }

    /// A partition is opened anew: it is given everything again that it has not
    /// acknowledged.
    pub(super) fn reopened(&mut self, partition: u16, now: Timestamp) {
        for ((_, to), channel) in &mut self.channels {
            if *to == partition {
                channel.next = 0;
                channel.at = now;
            }
        }
    }
}

impl Channel {
    fn due(&self) -> Option<Timestamp> {
        (!self.sent.is_empty()).then_some(self.at)
    }

    fn deliver(&mut self, from: u16, now: Timestamp, draws: &mut Draws, into: &mut Vec<Mail>) {
        if self.due().is_none_or(|at| at > now) {
            return;
        }
        if self.next == self.sent.len() {
            // Nothing was acknowledged for long.
            self.next = 0;
        }
        while self.next < self.sent.len() {
            if draws.once_in(8) {
                // It is lost, and everything behind it.
                self.at = now + delay(draws) * 4;
                return;
            }
            let mut give = |at: usize| {
                let (number, body) = self.sent[at].clone();
                into.push(Mail { from, number, body });
            };
            give(self.next);
            if draws.once_in(8) {
                give(draws.below(self.next as u64 + 1) as usize);
            }
            self.next += 1;
        }
        self.at = now + RESENT_AFTER;
    }
}

fn delay(draws: &mut Draws) -> Duration {
    Duration::from_millis(1 + draws.below(1_500))
}
