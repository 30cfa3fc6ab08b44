//! Lease: take what the frontier says may be done now, ask robots.txt, and
//! send it on its way.

use std::sync::Arc;

use geomi_frontier::{Action, Entry, Lease, Settlement, Work};
use geomi_model::{LinkKind, NetworkState, Timestamp};
use geomi_url::template::Template;

use crate::CrawlError;
use crate::books::{Access, Unaddressed};
use crate::control::Desired;
use crate::journey::Journey;
use crate::novelty::NotWorth;
use crate::partition::Reading;
use crate::refusal::RefusalRule;
use crate::stage::fetch::{Enclosed, Validators};

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
                Action::Refill {
                    site,
                    lane,
                    from,
                    is_ragged,
                } => {
                    let partition = self.partition_of(site);
                    let len = self.frontier.refill_len();
                    let (entries, next) = self.partitions[partition].read_lane(
                        site,
                        lane,
                        from,
                        Reading { len, is_ragged },
                    )?;
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
            self.dispatch(lease, Enclosed::default());
            return Ok(true);
        };
        if addr.is_none() {
            match self.unaddressed.get(&lease.site()).cloned() {
                Some(Unaddressed::Refused(reason)) => {
                    self.refuse(lease, RefusalRule::Address, &reason, now)?;
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
        if self.is_void(&entry)? {
            self.frontier.settle(lease, Settlement::NotAsked, now);
            return Ok(false);
        }
        self.restore_robots(lease.site())?;
        self.admit_sitemaps(&entry)?;
        // It may have been queued before the rule was made.
        if let Some(refusal) = self.admit.scope().denies(&entry.url) {
            let reason = self.admit.scope().explain_refusal(&entry.url, refusal);
            self.refuse(lease, RefusalRule::Scope(refusal), &reason, now)?;
            return Ok(false);
        }
        // Queues may hold thousands of a trap's URLs when the verdict falls. What
        // was fetched once is looked at again whatever its kin brought.
        let is_new = !entry.is_seed
            && entry.attempts == 0
            && (!entry.is_revisit || self.was_deferred(&entry.url)?);
        let template = (is_new && self.novelty.is_on()).then(|| Template::of(&entry.url));
        if is_new && let Some(reason) = self.not_worth(&entry.url, template.as_ref())? {
            match reason {
                NotWorth::Deferred(refusal) => self.defer(lease, refusal, now)?,
                _ => self.refuse(lease, reason.rule(), &reason.reason(), now)?,
            }
            return Ok(false);
        }
        self.note_turn(&entry.url);
        if self.quarantine.holds(&entry.url) {
            let reason =
                "the reader of this version panicked over it; its answer is in quarantine/";
            self.refuse(lease, RefusalRule::Quarantined, reason, now)?;
            return Ok(false);
        }
        if entry.kind == LinkKind::Script
            && entry.is_first_visit()
            && !self.script_links.may_try(&entry.url)
        {
            let reason = "it was found in a script, and others like it led nowhere";
            self.refuse(lease, RefusalRule::ScriptLink, reason, now)?;
            return Ok(false);
        }
        let path = entry.url.path_and_query();
        match self.robots.access(lease.site(), &self.config.agent, path) {
            Access::Allowed if !self.may_discover(&entry, now) => {
                self.postpone(lease, &entry, now)?;
            }
            Access::Allowed => {
                let enclosed = self.enclose(&entry, now)?;
                self.under_way.insert(entry.url.hash64().0);
                self.dispatch(lease, enclosed);
                return Ok(true);
            }
            Access::Disallowed(reason) => {
                self.note_forbidden(&entry.url)?;
                self.refuse(lease, RefusalRule::Robots, &reason, now)?;
            }
            Access::Unreachable(state, reason) => self.give_up(lease, state, reason, now)?,
        }
        Ok(false)
    }

    /// What the request for a page carries.
    fn enclose(&mut self, entry: &Entry, now: Timestamp) -> Result<Enclosed, CrawlError> {
        let validators = if entry.is_first_visit() {
            None
        } else {
            self.validators(entry)?
        };
        let validators = match validators {
            Some(known) if self.may_ask_conditionally(entry.url.site_hash())? => Some(known),
            _ => None,
        };
        Ok(Enclosed {
            validators,
            cookie: self.cookies.header(&entry.url, now),
            authorization: self.keyring.authorization(&entry.url, now),
            body_filter: self.admit.body_filter(&entry.url),
        })
    }

    /// The validators of a page whose content is stored. Without the content a
    /// 304 would say nothing: neither we nor the archive would have the page.
    fn validators(&self, entry: &Entry) -> Result<Option<Validators>, CrawlError> {
        let partition = &self.partitions[self.partition_of(entry.url.site_hash())];
        let Some(record) = partition.record(&entry.url)? else {
            return Ok(None);
        };
        if record.etag.is_none() && record.last_modified.is_none() {
            return Ok(None);
        }
        let is_stored = match &record.digest {
            Some(digest) => self.stored(digest)?.is_some(),
            None => false,
        };
        Ok(is_stored.then_some(Validators {
            etag: record.etag,
            last_modified: record.last_modified,
        }))
    }

    fn dispatch(&mut self, lease: Lease, enclosed: Enclosed) {
        self.in_flight += 1;
        self.crew.make_ready(lease, enclosed);
    }
}
