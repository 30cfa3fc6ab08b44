//! What every [`Mailbox`] must do.

use crate::{BODY_BYTES_MAX, ClusterError, Mail, Mailbox, PartitionId, Published};

/// Where mail waits between handles.
pub trait Office {
    /// A handle.
    type Handle: Mailbox;

    /// A new office without mail, with room for some kilobytes at least.
    fn fresh() -> Self;

    /// A new handle, as after a restart of its worker.
    fn handle(&mut self) -> Self::Handle;
}

/// Runs the whole suite.
pub fn run_all<O: Office>() {
    mail_arrives_in_order::<O>();
    publishing_again_changes_nothing::<O>();
    a_new_handle_is_given_what_is_not_acknowledged::<O>();
    acknowledgements_reach_the_sender_and_only_grow::<O>();
    receivers_and_senders_are_kept_apart::<O>();
    at_most_max_are_handed_out::<O>();
    a_body_over_the_limit_is_refused::<O>();
    no_link_is_lost_or_doubled_over_restarts::<O>();
}

const A: PartitionId = PartitionId(1);
const B: PartitionId = PartitionId(2);
const C: PartitionId = PartitionId(3);

fn mail(from: PartitionId, to: PartitionId, seq: u64) -> Mail {
    Mail {
        from,
        to,
        seq,
        body: seq.to_be_bytes().to_vec(),
    }
}

fn publish(handle: &mut impl Mailbox, mail: Mail) {
    let published = handle.publish(mail).expect("the office answers");
    assert_eq!(published, Published::Accepted, "there is room for a mail");
}

fn receive(handle: &mut impl Mailbox, to: PartitionId, max: usize) -> Vec<(PartitionId, u64)> {
    let mails = handle.receive(to, max).expect("the office answers");
    let name = |mail: Mail| {
        assert_eq!(mail.to, to, "mail comes to whom it is for");
        assert_eq!(mail.body, mail.seq.to_be_bytes(), "bodies stay as sent");
        (mail.from, mail.seq)
    };
    mails.into_iter().map(name).collect()
}

fn acknowledge(handle: &mut impl Mailbox, to: PartitionId, from: PartitionId, seq: u64) {
    let done = handle.acknowledge(to, from, seq);
    done.expect("the office answers");
}

fn acknowledged(handle: &impl Mailbox, from: PartitionId, to: PartitionId) -> Option<u64> {
    handle.acknowledged(from, to).expect("the office answers")
}

fn mail_arrives_in_order<O: Office>() {
    let mut office = O::fresh();
    let (mut sender, mut receiver) = (office.handle(), office.handle());
    for seq in [3, 5, 9] {
        publish(&mut sender, mail(A, B, seq));
    }
    assert_eq!(receive(&mut receiver, B, 10), [(A, 3), (A, 5), (A, 9)]);
    assert_eq!(receive(&mut receiver, B, 10), [], "handed out once");
    publish(&mut sender, mail(A, B, 10));
    assert_eq!(receive(&mut receiver, B, 10), [(A, 10)]);
}

fn publishing_again_changes_nothing<O: Office>() {
    let mut office = O::fresh();
    let (mut sender, mut receiver) = (office.handle(), office.handle());
    publish(&mut sender, mail(A, B, 1));
    publish(&mut sender, mail(A, B, 1));
    publish(&mut sender, mail(A, B, 2));
    publish(&mut sender, mail(A, B, 1));
    assert_eq!(receive(&mut receiver, B, 10), [(A, 1), (A, 2)]);
    publish(&mut sender, mail(A, B, 2));
    assert_eq!(receive(&mut receiver, B, 10), []);
    acknowledge(&mut receiver, B, A, 2);
    publish(&mut sender, mail(A, B, 1));
    assert_eq!(acknowledged(&sender, A, B), Some(2));
    assert_eq!(receive(&mut receiver, B, 10), []);
}

fn a_new_handle_is_given_what_is_not_acknowledged<O: Office>() {
    let mut office = O::fresh();
    let mut first = office.handle();
    for seq in 1..=4 {
        publish(&mut first, mail(A, B, seq));
    }
    assert_eq!(receive(&mut first, B, 3).len(), 3);
    acknowledge(&mut first, B, A, 2);
    drop(first);
    let mut second = office.handle();
    assert_eq!(receive(&mut second, B, 10), [(A, 3), (A, 4)]);
}

fn acknowledgements_reach_the_sender_and_only_grow<O: Office>() {
    let mut office = O::fresh();
    let (mut sender, mut receiver) = (office.handle(), office.handle());
    assert_eq!(acknowledged(&sender, A, B), None);
    for seq in 1..=3 {
        publish(&mut sender, mail(A, B, seq));
    }
    acknowledge(&mut receiver, B, A, 2);
    assert_eq!(acknowledged(&sender, A, B), Some(2));
    acknowledge(&mut receiver, B, A, 1);
    assert_eq!(acknowledged(&sender, A, B), Some(2));
    assert_eq!(receive(&mut receiver, B, 10), [(A, 3)]);
    assert_eq!(acknowledged(&sender, B, A), None, "the other way is apart");
}

fn receivers_and_senders_are_kept_apart<O: Office>() {
    let mut office = O::fresh();
    let mut handle = office.handle();
    publish(&mut handle, mail(A, B, 1));
    publish(&mut handle, mail(A, C, 2));
    publish(&mut handle, mail(C, B, 1));
    publish(&mut handle, mail(B, B, 1));
    acknowledge(&mut handle, B, C, 1);
    assert_eq!(receive(&mut handle, C, 10), [(A, 2)]);
    let mut to_b = receive(&mut handle, B, 10);
    to_b.sort_unstable();
    assert_eq!(to_b, [(A, 1), (B, 1)]);
}

fn at_most_max_are_handed_out<O: Office>() {
    let mut office = O::fresh();
    let mut handle = office.handle();
    for seq in 1..=5 {
        publish(&mut handle, mail(A, B, seq));
    }
    assert_eq!(receive(&mut handle, B, 0), []);
    assert_eq!(receive(&mut handle, B, 2), [(A, 1), (A, 2)]);
    assert_eq!(receive(&mut handle, B, 3), [(A, 3), (A, 4), (A, 5)]);
}

fn a_body_over_the_limit_is_refused<O: Office>() {
    let mut office = O::fresh();
    let mut large = mail(A, B, 1);
    large.body = vec![0; BODY_BYTES_MAX + 1];
    let refused = office.handle().publish(large);
    assert!(matches!(refused, Err(ClusterError::TooLarge { .. })));
}

/// Both ends follow the contract and lose their handles now and then, always
/// between a durable commit and what should have followed it.
fn no_link_is_lost_or_doubled_over_restarts<O: Office>() {
    let mut office = O::fresh();
    let (mut sender, mut receiver) = (office.handle(), office.handle());
    let mut outbox = Vec::new();
    let (mut cursor, mut arrived) = (0, Vec::new());
    for seq in 1..=60_u64 {
        outbox.push(seq);
        if seq % 7 == 0 {
            sender = office.handle();
            for &row in &outbox {
                publish(&mut sender, mail(A, B, row));
            }
        } else {
            publish(&mut sender, mail(A, B, seq));
        }
        for (_, number) in receive(&mut receiver, B, 2) {
            if number > cursor {
                (cursor, arrived) = (number, [arrived, vec![number]].concat());
            }
        }
        if seq % 5 == 0 {
            receiver = office.handle();
        } else {
            acknowledge(&mut receiver, B, A, cursor);
        }
        let done = acknowledged(&sender, A, B).unwrap_or(0);
        outbox.retain(|&row| row > done);
    }
    assert_eq!(arrived, (1..=60).collect::<Vec<_>>());
    assert!(outbox.len() < 10, "acknowledged rows leave the outbox");
}
