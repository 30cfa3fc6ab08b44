//! A ready site is served: what it needs next becomes a lease.

use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::{Action, Frontier};
use crate::address::{Addresses, Call};
use crate::entry::{Errand, Lease, LeaseId, Work};
use crate::lane::Position;
use crate::site::{Need, Place};

impl Frontier {
    /// Serves a ready site, or puts it where it belongs instead.
    pub(super) fn serve(
        &mut self,
        hash: SiteHash,
        addresses: &mut Addresses,
        now: Timestamp,
    ) -> Option<Action> {
        let site = self.sites.get_mut(&hash).expect("a ready site is open");
        if let Some((lane, from, is_ragged)) = site.wants_refill() {
            self.place(hash, now);
            return Some(Action::Refill {
                site: hash,
                lane,
                from,
                is_ragged,
            });
        }
        if site.next_due(now).is_none_or(|due| due > now) {
            self.place(hash, now);
            return None;
        }
        if site.needs_address(now) {
            site.address = Need::Asked;
            let work = Work::Resolve {
                host: site.state.key.host().to_owned(),
                port: site.state.key.port(),
                attempts: site.state.tries.lookup,
            };
            return Some(self.lease(hash, None, None, work, now));
        }
        if site.asks_robots(self.config.ask_robots)
            && site.errands.is_empty()
            && site.needs_robots(now)
        {
            site.robots = Need::Asked;
            let page = site
                .sample_page()
                .expect("a site in need of robots.txt has a page in memory");
            let url = page
                .join("/robots.txt")
                .expect("every page can have a robots.txt beside it");
            site.errands.push_back(Errand {
                url,
                for_site: hash,
                redirects: 0,
                attempts: site.state.tries.robots,
                is_foreign: false,
            });
        }
        self.serve_request(hash, addresses, now)
    }

    fn serve_request(
        &mut self,
        hash: SiteHash,
        addresses: &mut Addresses,
        now: Timestamp,
    ) -> Option<Action> {
        let site = self.sites.get_mut(&hash).expect("a ready site is open");
        let addr = site.state.address.and_then(|(addr, _)| addr);
        let (slot, _) = site.soonest_slot().expect("a ready site has a free slot");
        let limit = site.politeness(&self.config.politeness).address_limit();
        let call = site.take_call(self.id);
        let is_elsewhere = |call: &Call| Some(call.addr) != addr;
        self.outbox.pass_on(call.filter(is_elsewhere));
        if let Some(addr) = addr {
            let wanted = Call {
                frontier: self.id,
                site: hash,
                addr,
            };
            if !addresses.connect(wanted, limit) {
                site.place = Place::Blocked;
                return None;
            }
        }
        if let Some(errand) = site.errands.pop_front() {
            let Some(addr) = addr else {
                // A redirect led to a name without an address.
                self.lose_errand(errand, "its robots.txt is at a site without an address");
                self.place(hash, now);
                return None;
            };
            return Some(self.lease(hash, Some(slot), None, Work::Robots(errand, addr), now));
        }
        let taken = site
            .choose_lane(now)
            .and_then(|index| Some((index as u8, site.lanes[index].take(now)?)));
        let Some((lane, (position, entry))) = taken else {
            if let Some(addr) = addr {
                self.free_address(addr, addresses, now);
            }
            self.place(hash, now);
            return None;
        };
        site.served += 1;
        self.in_memory -= 1;
        self.counts.waiting -= 1;
        self.counts.leased += 1;
        Some(self.lease(
            hash,
            Some(slot),
            Some((lane, position)),
            Work::Page(entry, addr),
            now,
        ))
    }

    pub(super) fn lease(
        &mut self,
        hash: SiteHash,
        slot: Option<usize>,
        position: Option<(u8, Position)>,
        work: Work,
        now: Timestamp,
    ) -> Action {
        self.next_lease += 1;
        let site = self.sites.get_mut(&hash).expect("a leased site is open");
        if let Some(slot) = slot {
            debug_assert!(
                site.slots[slot].free_at <= now,
                "a slot is not leased before its delay is over"
            );
            site.slots[slot].busy = true;
            self.pace.leased(now);
        }
        site.live_leases += 1;
        site.last_served = self.next_lease;
        self.place(hash, now);
        Action::Lease(Lease {
            id: LeaseId(self.next_lease),
            site: hash,
            slot,
            position,
            work,
        })
    }
}
