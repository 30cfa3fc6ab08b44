//! Lease: take what the frontier says may be done now, ask robots.txt, and
//! send it on its way.

use std::sync::Arc;

use geomi_frontier::{Action, Lease, Work};
use geomi_model::{NetworkState, Timestamp};

use crate::CrawlError;
use crate::books::{Access, Unaddressed};
use crate::control::Desired;
use crate::journey::Journey;

/// How many URLs are turned away in one go before the owner looks up again.
const TURNED_AWAY_MAX: usize = 1_000;

impl Journey<'_> {
    /// Sends as much work out as there is room for. Says when there may be
    /// more: `None` if only an event can bring some.
    pub(crate) fn lease_more(&mut self) -> Result<Option<Timestamp>, CrawlError> {
        let wakeup = self.lease_until_full()?;
        self.crew.send_out();
        Ok(wakeup)
    }

    fn lease_until_full(&mut self) -> Result<Option<Timestamp>, CrawlError> {
        let mut turned_away = 0;
        while self.may_lease() {
            let now = self.clock.now();
            match self.frontier.poll(now) {
                Action::Lease(lease) => turned_away += usize::from(!self.start(lease, now)?),
                Action::Refill { site, lane, from } => {
                    let partition = self.partition_of(site);
                    let len = self.frontier.refill_len();
                    let (entries, next) =
                        self.partitions[partition].read_lane(site, lane, from, len)?;
                    self.frontier.refilled(site, lane, entries, next, now);
                }
                Action::Wait(when) => return Ok(when),
            }
            if turned_away == TURNED_AWAY_MAX {
                return Ok(Some(now));
            }
        }
        Ok(None)
    }

    fn may_lease(&self) -> bool {
        let under_way = self.in_flight as u64;
        self.in_flight < self.config.connections
            && self.control.desired() == Desired::Run
            && self.limit.is_none()
            // Every page under way may be saved: the limit is never passed.
            && self.config.limits.pages_max.is_none_or(|max| self.saved() + under_way < max)
    }

    /// Starts a lease, or settles one for which no request is needed.
    fn start(&mut self, lease: Lease, now: Timestamp) -> Result<bool, CrawlError> {
        let Work::Page(entry, addr) = lease.work() else {
            self.dispatch(lease);
            return Ok(true);
        };
        if addr.is_none() {
            match self.unaddressed.get(&lease.site()).cloned() {
                Some(Unaddressed::Refused(reason)) => {
                    self.refuse(lease, "address", &reason, now)?;
                }
                Some(Unaddressed::NoAddress(reason)) => {
                    self.give_up(lease, NetworkState::NoIp, reason, now)?;
                }
                None => {
                    let reason = "the host has no address".to_owned();
                    self.give_up(lease, NetworkState::NoIp, reason, now)?;
                }
            }
            return Ok(false);
        }
        let entry = Arc::clone(entry);
        self.admit_sitemaps(&entry)?;
        // It may have been queued before the rule was made.
        if let Some(refusal) = self.admit.scope().denies(&entry.url) {
            let reason = self.admit.scope().explain_refusal(&entry.url, refusal);
            self.refuse(lease, refusal.as_str(), &reason, now)?;
            return Ok(false);
        }
        let path = entry.url.path_and_query();
        match self.robots.access(lease.site(), &self.config.agent, path) {
            Access::Allowed => {
                self.dispatch(lease);
                return Ok(true);
            }
            Access::Disallowed(reason) => self.refuse(lease, "robots", &reason, now)?,
            Access::Unreachable(state, reason) => self.give_up(lease, state, reason, now)?,
        }
        Ok(false)
    }

    fn dispatch(&mut self, lease: Lease) {
        self.in_flight += 1;
        self.crew.make_ready(lease);
    }
}
