//! What every [`Ownership`] must do.

use std::thread::ScopedJoinHandle;
use std::time::Duration;

use geomi_model::Timestamp;

use crate::{Claim, Epoch, Ownership, PartitionId, Standing};

/// A cluster in which workers compete.
pub trait Workers {
    /// A worker's hand.
    type Hand: Ownership;

    /// A new cluster in which nothing is owned.
    fn fresh(lease: Duration) -> Self;

    /// A hand of the named worker.
    fn hand(&mut self, worker: &str) -> Self::Hand;
}

const LEASE: Duration = Duration::from_secs(3);
const PARTITION: PartitionId = PartitionId(7);

/// Runs the whole suite.
pub fn run_all<W: Workers>() {
    a_claim_keeps_others_out::<W>();
    a_lapsed_lease_can_be_claimed_and_the_old_holder_is_told::<W>();
    a_renewal_moves_the_end_of_the_lease::<W>();
    a_released_partition_is_free_at_once::<W>();
    epochs_only_grow::<W>();
    a_worker_that_started_again_fences_its_former_self::<W>();
    partitions_do_not_disturb_each_other::<W>();
    of_many_claims_at_once_one_is_granted::<W>();
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_secs(1_000_000 + seconds)
}

fn granted(claim: Claim) -> Epoch {
    match claim {
        Claim::Granted(epoch) => epoch,
        Claim::Held(holder) => panic!("the claim is granted, not held by {}", holder.worker),
    }
}

fn claim(hand: &mut impl Ownership, now: Timestamp) -> Claim {
    hand.claim(PARTITION, now).expect("the table answers")
}

fn renew(hand: &mut impl Ownership, epoch: Epoch, now: Timestamp) -> Standing {
    hand.renew(PARTITION, epoch, now)
        .expect("the table answers")
}

fn release(hand: &mut impl Ownership, epoch: Epoch) -> Standing {
    hand.release(PARTITION, epoch).expect("the table answers")
}

fn owner(hand: &impl Ownership, now: Timestamp) -> Option<String> {
    let holder = hand.owner_of(PARTITION, now).expect("the table answers");
    holder.map(|holder| holder.worker.to_string())
}

fn a_claim_keeps_others_out<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut one, mut two) = (workers.hand("one"), workers.hand("two"));
    assert_eq!(owner(&two, at(0)), None, "nobody owns it at first");
    let epoch = granted(claim(&mut one, at(0)));
    match claim(&mut two, at(2)) {
        Claim::Granted(_) => panic!("a running lease keeps others out"),
        Claim::Held(holder) => {
            assert_eq!((holder.worker.as_str(), holder.epoch), ("one", epoch));
        }
    }
    assert_eq!(owner(&two, at(2)).as_deref(), Some("one"));
    assert_eq!(renew(&mut one, epoch, at(2)), Standing::Owner);
}

fn a_lapsed_lease_can_be_claimed_and_the_old_holder_is_told<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut one, mut two) = (workers.hand("one"), workers.hand("two"));
    let old = granted(claim(&mut one, at(0)));
    assert_eq!(owner(&two, at(3)), None, "a lapsed lease is no ownership");
    let new = granted(claim(&mut two, at(3)));
    assert!(new > old, "a change of hands is a later epoch");
    assert_eq!(renew(&mut one, old, at(3)), Standing::Lost);
    assert_eq!(release(&mut one, old), Standing::Lost);
    assert_eq!(
        owner(&one, at(4)).as_deref(),
        Some("two"),
        "an old holder's release changes nothing"
    );
    assert_eq!(renew(&mut two, new, at(4)), Standing::Owner);
}

fn a_renewal_moves_the_end_of_the_lease<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut one, mut two) = (workers.hand("one"), workers.hand("two"));
    let epoch = granted(claim(&mut one, at(0)));
    for second in [2, 4, 6] {
        assert_eq!(renew(&mut one, epoch, at(second)), Standing::Owner);
    }
    assert!(matches!(claim(&mut two, at(8)), Claim::Held(_)));
    assert_eq!(
        renew(&mut one, epoch, at(20)),
        Standing::Owner,
        "a lapsed lease nobody claimed may still be renewed"
    );
    assert!(matches!(claim(&mut two, at(21)), Claim::Held(_)));
}

fn a_released_partition_is_free_at_once<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut one, mut two) = (workers.hand("one"), workers.hand("two"));
    let epoch = granted(claim(&mut one, at(0)));
    assert_eq!(release(&mut one, epoch), Standing::Owner);
    assert_eq!(owner(&one, at(0)), None);
    assert_eq!(renew(&mut one, epoch, at(0)), Standing::Lost);
    assert!(granted(claim(&mut two, at(0))) > epoch);
}

fn epochs_only_grow<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let mut last = None;
    for round in 0..10 {
        let mut hand = workers.hand(if round % 2 == 0 { "one" } else { "two" });
        let epoch = granted(claim(&mut hand, at(10 * round)));
        assert!(Some(epoch) > last, "epochs grow over lapses and releases");
        if round % 3 == 0 {
            release(&mut hand, epoch);
        }
        last = Some(epoch);
    }
}

fn a_worker_that_started_again_fences_its_former_self<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut before, mut after) = (workers.hand("one"), workers.hand("one"));
    let old = granted(claim(&mut before, at(0)));
    let new = granted(claim(&mut after, at(1)));
    assert!(new > old);
    assert_eq!(renew(&mut before, old, at(1)), Standing::Lost);
    assert_eq!(renew(&mut after, new, at(1)), Standing::Owner);
}

fn partitions_do_not_disturb_each_other<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let (mut one, mut two) = (workers.hand("one"), workers.hand("two"));
    let epoch = granted(claim(&mut one, at(0)));
    let other = two.claim(PartitionId(8), at(0)).expect("the table answers");
    let other = granted(other);
    assert_eq!(renew(&mut one, epoch, at(1)), Standing::Owner);
    let standing = two.renew(PartitionId(8), other, at(1));
    assert_eq!(standing.expect("the table answers"), Standing::Owner);
}

fn of_many_claims_at_once_one_is_granted<W: Workers>() {
    let mut workers = W::fresh(LEASE);
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut hands: Vec<_> = names.iter().map(|name| workers.hand(name)).collect();
    let grants: usize = std::thread::scope(|scope| {
        let start = |hand| scope.spawn(move || matches!(claim(hand, at(0)), Claim::Granted(_)));
        let claims: Vec<_> = hands.iter_mut().map(start).collect();
        let won = claims.into_iter().map(ScopedJoinHandle::join);
        won.map(|won| usize::from(won.expect("no claim panics")))
            .sum()
    });
    assert_eq!(grants, 1, "of several claims at once one is granted");
}
