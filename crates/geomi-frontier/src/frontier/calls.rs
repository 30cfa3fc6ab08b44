//! Connections that become free: the sites in line for them are called.
//!
//! A site that is called becomes ready. It answers the call when it is served. If it
//! stops being ready before that, the call is put aside and passed on to the next in
//! line as soon as the [`Addresses`] are at hand.

use std::net::IpAddr;

use geomi_model::Timestamp;

use super::Frontier;
use crate::address::{Addresses, Call};
use crate::site::Place;

impl Frontier {
    /// Offers a free connection to a site of this frontier. If the site has no use for
    /// it, the next in line is called.
    pub fn call(&mut self, call: Call, addresses: &mut Addresses, now: Timestamp) {
        assert_eq!(call.frontier, self.id, "a call goes to the site's frontier");
        self.answer(&call, addresses, now);
        self.answer_calls(addresses, now);
    }

    /// Gives a connection back and wakes the site that can use it.
    pub(super) fn free_address(&mut self, addr: IpAddr, addresses: &mut Addresses, now: Timestamp) {
        addresses.release(addr, self.id);
        self.answer_calls(addresses, now);
    }

    /// Passes on the calls that were put aside, and answers those for this frontier.
    pub(super) fn answer_calls(&mut self, addresses: &mut Addresses, now: Timestamp) {
        loop {
            if let Some(unused) = self.outbox.next_unused_call() {
                addresses.decline(&unused);
            } else if let Some(call) = addresses.next_call_for(self.id) {
                self.answer(&call, addresses, now);
            } else {
                return;
            }
        }
    }

    /// Makes the site ready, or declines if it has found something else to do since it
    /// queued.
    fn answer(&mut self, call: &Call, addresses: &mut Addresses, now: Timestamp) {
        if !addresses.is_open(call) {
            return;
        }
        let site = self.sites.get_mut(&call.site);
        let Some(site) = site.filter(|site| site.place == Place::Blocked) else {
            addresses.decline(call);
            return;
        };
        let address = site.state.address.and_then(|(addr, _)| addr);
        let can_use_it = site.next_due(now).is_some_and(|due| due <= now)
            && !site.needs_address(now)
            && address == Some(call.addr);
        if can_use_it {
            site.called = Some(call.addr);
        } else {
            addresses.decline(call);
        }
        self.place(call.site, now);
    }
}
