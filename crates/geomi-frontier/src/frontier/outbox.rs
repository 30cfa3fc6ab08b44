//! What other frontiers are to hear of.

use geomi_model::Timestamp;

use crate::address::Call;
use crate::entry::{Errand, LostErrand};

/// Calls and errands that ended here, to be passed on.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    unused_calls: Vec<Call>,
    lost_errands: Vec<LostErrand>,
}

impl Outbox {
    /// Passes on the call of a site that is not ready any more, if it has one.
    pub(super) fn pass_on(&mut self, call: Option<Call>) {
        self.unused_calls.extend(call);
    }

    pub(super) fn next_unused_call(&mut self) -> Option<Call> {
        self.unused_calls.pop()
    }

    /// Reports an errand for another frontier that cannot be carried out before `until`.
    pub(super) fn lose(&mut self, errand: Errand, until: Option<Timestamp>) {
        self.lost_errands.push(LostErrand { errand, until });
    }

    pub(super) fn take_lost_errands(&mut self) -> Vec<LostErrand> {
        std::mem::take(&mut self.lost_errands)
    }
}
