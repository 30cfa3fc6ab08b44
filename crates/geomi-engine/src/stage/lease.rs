//! Lease: the next entry that the frontier permits, checked against robots.txt and given
//! to the worker as a job.

use std::sync::Arc;

use geomi_frontier::{Action, Entry, Lease, Settlement, Work};
use geomi_model::{LinkKind, NetworkState, Timestamp};
use geomi_url::template::Template;

use crate::EngineError;
use crate::books::{Access, Unaddressed};
use crate::engine::{Around, Engine, Job, Poll};
use crate::novelty::NotWorth;
use crate::partition::Reading;
use crate::refusal::RefusalRule;

/// What a request carries beside its URL.
#[derive(Debug, Default)]
pub struct Extras {
    /// Validators of the stored answer, for a conditional request.
    pub validators: Option<Validators>,
    /// The `Cookie` field.
    pub cookie: Option<String>,
    /// The `Authorization` field.
    pub authorization: Option<String>,
    /// Whether the body is taken only if its type is wanted.
    pub filters_types: bool,
}

/// The validators of a stored answer.
#[derive(Debug)]
pub struct Validators {
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its `Last-Modified`.
    pub last_modified: Option<String>,
}

/// How many URLs are turned away in one go before the owner looks up again.
const TURNED_AWAY_MAX: usize = 1_000;

impl Engine {
    /// The next job. URLs for which no request is needed are settled on the way.
    pub fn poll(&mut self, around: &mut Around<'_>) -> Result<Poll, EngineError> {
        let now = around.now;
        for _ in 0..TURNED_AWAY_MAX {
            match self.queues.frontier.poll(now, &mut around.shared.addresses) {
                Action::Lease(lease) => {
                    if let Some(job) = self.start(around, lease, now)? {
                        self.queues.in_flight += 1;
                        return Ok(Poll::Start(Box::new(job)));
                    }
                }
                Action::Refill {
                    site,
                    lane,
                    from,
                    is_ragged,
                } => {
                    let len = self.queues.frontier.refill_len();
                    let reading = Reading { len, is_ragged };
                    let (entries, next) = self.store.read_lane(site, lane, from, reading)?;
                    let frontier = &mut self.queues.frontier;
                    let left_out = frontier.refilled(site, lane, entries, next, now);
                    if left_out > 0 {
                        let rule = RefusalRule::HashCollision;
                        self.store.counters.refusals(rule, left_out);
                    }
                }
                Action::Wait(when) => return Ok(Poll::Wait(when)),
            }
        }
        Ok(Poll::Wait(Some(now)))
    }

    /// Starts a lease, or settles one for which no request is needed.
    fn start(
        &mut self,
        around: &mut Around<'_>,
        lease: Lease,
        now: Timestamp,
    ) -> Result<Option<Job>, EngineError> {
        let Work::Page(entry, addr) = lease.work() else {
            return Ok(Some(self.job(lease, Extras::default())));
        };
        if addr.is_none() {
            match self.sites.unaddressed.get(&lease.site()).cloned() {
                Some(Unaddressed::Refused(reason)) => {
                    self.refuse(around, lease, RefusalRule::Address, &reason, now)?;
                }
                Some(Unaddressed::NoAddress(reason)) => {
                    self.give_up(around, lease, NetworkState::NoIp, reason, now)?;
                }
                None => {
                    let reason = "the host has no address".to_owned();
                    self.give_up(around, lease, NetworkState::NoIp, reason, now)?;
                }
            }
            return Ok(None);
        }
        let entry = Arc::clone(entry);
        if self.is_void(around, &entry)? {
            let addresses = &mut around.shared.addresses;
            self.queues
                .frontier
                .settle(lease, Settlement::NotAsked, addresses, now);
            return Ok(None);
        }
        self.restore_robots(lease.site())?;
        self.admit_sitemaps(around, &entry)?;
        // It may have been queued before the rule was made.
        if let Some(refusal) = self.rules.admit.scope().denies(&entry.url) {
            let reason = self
                .rules
                .admit
                .scope()
                .explain_refusal(&entry.url, refusal);
            self.refuse(around, lease, RefusalRule::Scope(refusal), &reason, now)?;
            return Ok(None);
        }
        // Queues may hold thousands of a trap's URLs when the verdict falls. What
        // was fetched once is looked at again whatever its kin brought.
        let is_new = !entry.is_seed
            && entry.attempts == 0
            && (!entry.is_revisit || self.was_deferred(&entry.url)?);
        let template = (is_new && self.learned.novelty.is_on()).then(|| Template::of(&entry.url));
        if is_new && let Some(reason) = self.not_worth(around, &entry.url, template.as_ref())? {
            match reason {
                NotWorth::Deferred(refusal) => self.defer(around, lease, refusal, now)?,
                _ => self.refuse(around, lease, reason.rule(), &reason.reason(), now)?,
            }
            return Ok(None);
        }
        self.note_turn(&entry.url);
        if around.world.is_quarantined(&entry.url) {
            let reason =
                "the reader of this version panicked over it; its answer is in quarantine/";
            self.refuse(around, lease, RefusalRule::Quarantined, reason, now)?;
            return Ok(None);
        }
        if entry.kind == LinkKind::Script
            && entry.is_first_visit()
            && !self.learned.script_links.may_try(&entry.url)
        {
            let reason = "it was found in a script, and others like it led nowhere";
            self.refuse(around, lease, RefusalRule::ScriptLink, reason, now)?;
            return Ok(None);
        }
        let path = entry.url.path_and_query();
        match self
            .sites
            .robots
            .access(lease.site(), &self.rules.config.agent, path)
        {
            Access::Allowed if !self.may_discover(&entry, now) => {
                self.postpone(around, lease, &entry, now)?;
            }
            Access::Allowed => {
                let extras = self.extras(&entry, now)?;
                self.queues.under_way.insert(entry.url.hash64().0);
                return Ok(Some(self.job(lease, extras)));
            }
            Access::Disallowed(reason) => {
                self.note_forbidden(&entry.url)?;
                self.refuse(around, lease, RefusalRule::Robots, &reason, now)?;
            }
            Access::Unreachable(state, reason) => {
                self.give_up(around, lease, state, reason, now)?;
            }
        }
        Ok(None)
    }

    fn job(&self, lease: Lease, extras: Extras) -> Job {
        Job {
            engine: usize::from(self.id.0),
            lease,
            extras,
        }
    }

    /// What the request for a page carries.
    fn extras(&mut self, entry: &Entry, now: Timestamp) -> Result<Extras, EngineError> {
        let validators = if entry.is_first_visit() {
            None
        } else {
            self.validators(entry)?
        };
        let validators = match validators {
            Some(known) if self.may_ask_conditionally(entry.url.site_hash())? => Some(known),
            _ => None,
        };
        Ok(Extras {
            validators,
            cookie: self.sites.cookies.header(&entry.url, now),
            authorization: self.sites.keyring.authorization(&entry.url, now),
            filters_types: self.rules.admit.filters_types(&entry.url),
        })
    }

    /// The validators of a page whose content is stored. Without the content a
    /// 304 would say nothing: neither we nor the archive would have the page.
    fn validators(&self, entry: &Entry) -> Result<Option<Validators>, EngineError> {
        let partition = &self.store;
        let Some(record) = partition.record(&entry.url)? else {
            return Ok(None);
        };
        if record.etag.is_none() && record.last_modified.is_none() {
            return Ok(None);
        }
        let is_stored = match &record.digest {
            Some(digest) => self.store.stored(digest)?.is_some(),
            None => false,
        };
        Ok(is_stored.then_some(Validators {
            etag: record.etag,
            last_modified: record.last_modified,
        }))
    }
}
