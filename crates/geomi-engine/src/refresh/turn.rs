//! The plan in the crawl loop: what is due is queued, and visits are reported to it.

use std::time::Duration;

use geomi_frontier::Entry;
use geomi_model::{Change, ChangeSignal, LinkKind, PRIORITIES, Timestamp, UrlRecord, Visit};
use geomi_refresh::PageId;
use geomi_refresh::upkeep::{
    ComparedAnswer, EarlyVisit, NeverFetchedId, Pages, RefreshPlan, SignalSource, SiteSignals,
};
use geomi_url::{CrawlUrl, SiteHash};

use crate::EngineError;
use crate::again::Counted;
use crate::engine::{Around, Engine};
use crate::stage::arrival::Arrival;

/// Pages queued between two commits.
const QUEUED_MAX: usize = 1_024;
/// Days of budget that are spent at once after a time without a run.
const SAVED_MAX: f64 = 1.0;

/// Why a page is visited out of its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalledVisit {
    /// When its turn was, in days since 1970.
    due: f64,
    /// Who said that it has changed.
    source: SignalSource,
}

impl Engine {
    /// Reads the past, if the crawl is to be kept fresh.
    pub(crate) fn take_up_refresh(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let Some(config) = self.rules.config.refresh.clone() else {
            return Ok(());
        };
        let config = config.shared(self.upkeep.share);
        let mut plan = RefreshPlan::new(&config);
        let tries = self.rules.config.tries;
        for visit in around.world.visits(self.id, 0, self.outgoing.last_visit)? {
            plan.take(&visit?, tries);
        }
        let saved_max = if config.once {
            f64::INFINITY
        } else {
            SAVED_MAX
        };
        let now = plan.days(around.now);
        let unknown = plan.start(now, saved_max);
        if unknown > 0 {
            tracing::warn!(
                visits = unknown,
                "the schedule names pages of which there is no copy"
            );
        }
        for page in plan.take_tried() {
            // It may have been refused since, which leaves no visit: then it does not
            // wait in its queue.
            if self.was_refused(plan.pages().url(page))? {
                plan.missed(page, now);
            }
        }
        for never_fetched in plan.tried_never_fetched() {
            if self.was_refused(plan.never_fetched_urls().url(never_fetched))? {
                plan.missed_never_fetched(never_fetched, now);
            }
        }
        tracing::info!(
            pages = plan.pages().len(),
            never_fetched = plan.never_fetched_len(),
            policy = config.policy,
            requests_a_day = plan.requests_per_day(),
            "the plan is made"
        );
        self.upkeep.plan = Some(plan);
        self.begin_discovery_day(around)?;
        // What limits are about is this run.
        self.rounds
            .round
            .count_from(Counted::of(&self.store.counters));
        Ok(())
    }

    fn was_refused(&self, url: &str) -> Result<bool, EngineError> {
        // What is in the files was a URL once; a row that is damaged is no page.
        let Ok(url) = CrawlUrl::parse(url) else {
            return Ok(false);
        };
        self.store.is_refused(&url)
    }

    /// When the plan is due next; `None` if it has nothing to do.
    pub(crate) fn refresh_wakeup(&self) -> Option<Timestamp> {
        let plan = self.upkeep.plan.as_ref().filter(|_| self.may_refresh())?;
        let wake = plan.wake()?;
        Some(plan.instant(wake))
    }

    /// Whether the plan goes on until the operator stops it.
    pub(crate) fn keeps_fresh(&self) -> bool {
        self.upkeep.plan.is_some() && !self.upkeep.is_over
    }

    fn may_refresh(&self) -> bool {
        self.is_running && !self.upkeep.is_over
    }

    /// Queues the pages that are due.
    pub(crate) fn queue_due(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        if !self.may_refresh() {
            return Ok(());
        }
        let Some(mut plan) = self.upkeep.plan.take() else {
            return Ok(());
        };
        let now = plan.days(around.now);
        let mut queued = 0;
        while queued < QUEUED_MAX
            && let Some(page) = plan.next(now)
        {
            if !self.queue_page(around, &plan, page)? {
                plan.missed(page, now);
            }
            queued += 1;
        }
        while queued < QUEUED_MAX
            && let Some(never_fetched) = plan.next_never_fetched(now)
        {
            if !self.queue_never_fetched(around, &plan, never_fetched)? {
                plan.missed_never_fetched(never_fetched, now);
            }
            queued += 1;
        }
        self.upkeep.is_over = plan.config().once && queued < QUEUED_MAX;
        self.upkeep.plan = Some(plan);
        Ok(())
    }

    /// Queues a page, unless it waits already; `false` if it cannot be queued. New pages can
    /// wait: the plan says that it is due.
    fn queue_page(
        &mut self,
        around: &mut Around<'_>,
        plan: &RefreshPlan,
        page: PageId,
    ) -> Result<bool, EngineError> {
        self.queue_known(around, plan, (plan.pages(), page), 1)
    }

    /// The same for pages that were never fetched, which have the lowest precedence.
    fn queue_never_fetched(
        &mut self,
        around: &mut Around<'_>,
        plan: &RefreshPlan,
        never_fetched: NeverFetchedId,
    ) -> Result<bool, EngineError> {
        self.queue_known(
            around,
            plan,
            (plan.never_fetched_urls(), never_fetched),
            PRIORITIES,
        )
    }

    fn queue_known(
        &mut self,
        around: &mut Around<'_>,
        plan: &RefreshPlan,
        (urls, number): (&Pages, u32),
        priority: u8,
    ) -> Result<bool, EngineError> {
        // What is in the files was a URL once; a row that is damaged is no page.
        let Ok(url) = CrawlUrl::parse(urls.url(number)) else {
            return Ok(false);
        };
        let Some(record) = self.store.record(&url)? else {
            return Ok(false);
        };
        let seed = urls.seed_of(number);
        let Some(seed) = seed.and_then(|seed| self.seeds.book.number_of(seed)) else {
            return Ok(false);
        };
        if record.attempts == 0 {
            return Ok(true);
        }
        let via = urls.via(number).map(|via| plan.pages().url(via));
        let entry = Entry {
            url,
            seed,
            via: via.and_then(|via| CrawlUrl::parse(via).ok()),
            kind: LinkKind::Other,
            depth: urls.depth(number),
            priority,
            attempts: 0,
            redirects: 0,
            is_seed: urls.depth(number) == 0,
            is_revisit: true,
            not_before: None,
        };
        self.store.forget_refused(&entry.url);
        self.put_back(around, entry, record)?;
        Ok(true)
    }

    /// How long before its turn a visit was made, if a change signal caused it.
    pub(crate) fn refresh_early(&self, visit: &Visit) -> Option<Duration> {
        let plan = self.upkeep.plan.as_ref()?;
        let call = self
            .upkeep
            .early_visits
            .get(&plan.pages().find(&visit.url)?)?;
        Some(plan.instant(call.due).since(visit.time))
    }

    /// A visit was made: it goes into the plan.
    pub(crate) fn refresh_saw(&mut self, visit: &Visit) -> Result<(), EngineError> {
        let Some(plan) = &mut self.upkeep.plan else {
            return Ok(());
        };
        let Some(sighted) = plan.take(visit, self.rules.config.tries) else {
            return Ok(());
        };
        if let Some(call) = self.upkeep.early_visits.remove(&sighted.page)
            && let Some(changed) = sighted.kind.changed()
        {
            self.with_signals(visit.url.site_hash(), |signals| {
                signals.signal_proved(call.source, changed);
            })?;
        }
        Ok(())
    }

    /// A page was compared with its copy: what does that say of its site's change signals?
    pub(crate) fn refresh_heard(
        &mut self,
        before: Option<&UrlRecord>,
        read: &Arrival,
        change: Option<Change>,
    ) -> Result<(), EngineError> {
        if let (Some(_), Some(before), Some(change)) = (&self.upkeep.plan, before, change) {
            let answer = ComparedAnswer {
                is_conditional: read.is_conditional,
                is_not_modified: read.answer.is_not_modified(),
                etag: read.answer.etag.as_deref(),
                last_modified: read.answer.last_modified.as_deref(),
            };
            self.with_signals(read.lease.site(), |signals| {
                signals.take_answer(before, answer, change.changed);
            })?;
        }
        Ok(())
    }

    /// Whether a page is asked for only if it has changed: an audit asks for it in
    /// any case.
    pub(crate) fn may_ask_conditionally(&mut self, site: SiteHash) -> Result<bool, EngineError> {
        if self.upkeep.plan.is_none() {
            return Ok(true);
        }
        self.with_signals(site, SiteSignals::may_ask_conditionally)
    }

    /// A sitemap or feed says when a page was modified.
    pub(crate) fn refresh_told(
        &mut self,
        around: &mut Around<'_>,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        source: SignalSource,
    ) -> Result<(), EngineError> {
        let Some(modified) = signal.modified else {
            return Ok(());
        };
        let Some(mut plan) = self.upkeep.plan.take() else {
            return Ok(());
        };
        let now = around.now;
        // A date in the future says nothing of what is there now.
        let is_heeded = modified <= now
            && plan.would_visit_early(url, plan.days(modified))
            && self.with_signals(url.site_hash(), |signals| signals.heeds_signal(source))?;
        let (modified, now) = (plan.days(modified), plan.days(now));
        if is_heeded && let Some(visit) = plan.visit_early(url, modified, now) {
            let EarlyVisit { page, due, is_out } = visit;
            if !is_out || self.queue_page(around, &plan, page)? {
                // It may have been called before and wait: the first to tell is right
                // or wrong.
                self.upkeep
                    .early_visits
                    .entry(page)
                    .or_insert(SignalledVisit { due, source });
            } else {
                plan.missed(page, now);
            }
        }
        self.upkeep.plan = Some(plan);
        Ok(())
    }

    /// Reads the reliability of a site's change signals, changes it and records it.
    fn with_signals<T>(
        &mut self,
        site: SiteHash,
        change: impl FnOnce(&mut SiteSignals) -> T,
    ) -> Result<T, EngineError> {
        let mut signals = match self.upkeep.signals.get(&site) {
            Some(signals) => *signals,
            None => self.store.signals(site)?.unwrap_or_default(),
        };
        let said = change(&mut signals);
        self.upkeep.signals.insert(site, signals);
        self.store.set_signals(site, &signals);
        Ok(said)
    }

    /// A page was refused when its turn came: it made no visit.
    pub(crate) fn refresh_refused(&mut self, url: &CrawlUrl, now: Timestamp) {
        let Some(plan) = &mut self.upkeep.plan else {
            return;
        };
        let now = plan.days(now);
        if let Some(page) = plan.pages().find(url) {
            plan.missed(page, now);
            self.upkeep.early_visits.remove(&page);
        } else if let Some(never_fetched) = plan.find_never_fetched(url) {
            plan.missed_never_fetched(never_fetched, now);
        }
    }
}
