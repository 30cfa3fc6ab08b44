//! The refresh plan in the crawl loop: queues the pages that are due and reports their visits.

use std::path::Path;
use std::time::Duration;

use geomi_cluster::Partitions;
use geomi_frontier::Entry;
use geomi_model::{Change, ChangeSignal, LinkKind, PRIORITIES, Timestamp, UrlRecord, Visit};
use geomi_refresh::PageId;
use geomi_refresh::upkeep::{
    ComparedAnswer, EarlyVisit, NeverFetchedId, Pages, RefreshPlan, SignalSource, SiteSignals,
};
use geomi_store::CrawlDir;
use geomi_url::{CrawlUrl, SiteHash};

use super::history::read_visits;
use super::table_file::{TableFile, warn_of_unknown};
use crate::again::Counted;
use crate::control::Desired;
use crate::journey::{Journey, open_partitions};
use crate::stage::read::Read;
use crate::status::RefreshStatus;
use crate::{CrawlConfig, CrawlError};

/// Pages queued between two commits.
const QUEUED_MAX: usize = 1_024;
/// Maximum days of budget that are spent at once after a pause.
const SAVED_MAX: f64 = 1.0;

/// A visit that was made early because of a change signal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalledVisit {
    /// When the page would have been due, in days since 1970.
    due: f64,
    /// The source of the signal.
    source: SignalSource,
}

impl Journey<'_> {
    /// Builds the plan from the past visits, if the crawl is to be refreshed.
    pub(crate) fn take_up_refresh(&mut self) -> Result<(), CrawlError> {
        let Some(config) = self.config.refresh.clone() else {
            return Ok(());
        };
        // Rows that a crash left in the state are read from a file, too.
        self.write_segment()?;
        let mut plan = RefreshPlan::new(&config);
        let (control, tries) = (self.control.clone(), self.config.tries);
        read_visits(self.reporter.dir(), |visit| {
            plan.take(visit, tries);
            !matches!(control.desired(), Desired::Stop | Desired::StopNow)
        })?;
        let saved_max = if config.once {
            f64::INFINITY
        } else {
            SAVED_MAX
        };
        let now = plan.days(self.clock.now());
        warn_of_unknown(plan.start(now, saved_max));
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
        let dir = self.reporter.dir().root();
        let file = config.drive.file();
        self.table = file.map(|file| TableFile::new(dir.join(file)));
        self.refresh = Some(plan);
        self.begin_discovery_day()?;
        // What limits are about is this run.
        self.round.count_from(Counted::of(&self.counters()));
        Ok(())
    }

    fn was_refused(&self, url: &str) -> Result<bool, CrawlError> {
        // Stored URLs parse, unless a row is damaged.
        let Ok(url) = CrawlUrl::parse(url) else {
            return Ok(false);
        };
        self.partitions[self.partition_of(url.site_hash())].is_refused(&url)
    }

    /// When the next page may be due; `None` if there is none.
    pub(crate) fn refresh_wakeup(&self) -> Option<Timestamp> {
        let plan = self.refresh.as_ref().filter(|_| self.may_refresh())?;
        let wake = plan.wake()?;
        Some(plan.instant(wake))
    }

    /// The status of the plan, if there is one.
    pub(crate) fn refresh_status(&self) -> Option<RefreshStatus> {
        let config = self.config.refresh.as_ref()?;
        let plan = self.refresh.as_ref();
        let pages = plan.map_or(0, |plan| plan.pages().len());
        let requests = plan.map(RefreshPlan::requests_per_day);
        Some(RefreshStatus {
            drive: config.drive.kind(),
            // A name that is not UTF-8 is left out: it could not be typed.
            table: config
                .drive
                .file()
                .and_then(Path::to_str)
                .map(str::to_owned),
            policy: config.policy.clone(),
            once: config.once,
            pages: pages as u64,
            requests_per_day: requests.unwrap_or(config.budget.requests_per_day(pages)),
            discovery_per_day: self.discovery_per_day(),
            discovered: self.discovery.requested,
            postponed: self.discovery.postponed,
            timezone: config.timezone.name().to_owned(),
            next_due: plan
                .and_then(RefreshPlan::wake)
                .map(|wake| config.timezone.instant(wake).to_rfc3339_millis()),
        })
    }

    /// Whether the plan continues until it is stopped.
    pub(crate) fn keeps_fresh(&self) -> bool {
        self.refresh.is_some() && !self.refresh_is_over
    }

    fn may_refresh(&self) -> bool {
        self.control.desired() == Desired::Run && self.limit.is_none() && !self.refresh_is_over
    }

    /// Queues the pages that are due.
    pub(crate) fn queue_due(&mut self) -> Result<(), CrawlError> {
        if !self.may_refresh() {
            return Ok(());
        }
        let Some(mut plan) = self.refresh.take() else {
            return Ok(());
        };
        let now = plan.days(self.clock.now());
        let mut queued = 0;
        while queued < QUEUED_MAX
            && let Some(page) = plan.next(now)
        {
            if !self.queue_page(&plan, page)? {
                plan.missed(page, now);
            }
            queued += 1;
        }
        while queued < QUEUED_MAX
            && let Some(never_fetched) = plan.next_never_fetched(now)
        {
            if !self.queue_never_fetched(&plan, never_fetched)? {
                plan.missed_never_fetched(never_fetched, now);
            }
            queued += 1;
        }
        self.refresh_is_over = plan.config().once && queued < QUEUED_MAX;
        self.refresh = Some(plan);
        Ok(())
    }

    /// Queues a page, unless it is queued already; `false` if it cannot be queued. It has a
    /// higher priority than new pages, because it is due.
    fn queue_page(&mut self, plan: &RefreshPlan, page: PageId) -> Result<bool, CrawlError> {
        self.queue_known(plan, (plan.pages(), page), 1)
    }

    /// The same for a URL that has never been fetched, with the lowest priority.
    fn queue_never_fetched(
        &mut self,
        plan: &RefreshPlan,
        never_fetched: NeverFetchedId,
    ) -> Result<bool, CrawlError> {
        self.queue_known(plan, (plan.never_fetched_urls(), never_fetched), PRIORITIES)
    }

    fn queue_known(
        &mut self,
        plan: &RefreshPlan,
        (urls, number): (&Pages, u32),
        priority: u8,
    ) -> Result<bool, CrawlError> {
        // Stored URLs parse, unless a row is damaged.
        let Ok(url) = CrawlUrl::parse(urls.url(number)) else {
            return Ok(false);
        };
        let partition = self.partition_of(url.site_hash());
        let Some(record) = self.partitions[partition].record(&url)? else {
            return Ok(false);
        };
        let seed = urls.seed_of(number);
        let Some(seed) = seed.and_then(|seed| self.seeds.number_of(seed)) else {
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
        self.partitions[partition].forget_refused(&entry.url);
        self.put_back(partition, entry, record)?;
        Ok(true)
    }

    /// How long before it was due a page was visited, if a signal was the reason.
    pub(crate) fn refresh_early(&self, visit: &Visit) -> Option<Duration> {
        let plan = self.refresh.as_ref()?;
        let call = self.early_visits.get(&plan.pages().find(&visit.url)?)?;
        Some(plan.instant(call.due).since(visit.time))
    }

    /// Reports a visit to the plan.
    pub(crate) fn refresh_saw(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        let Some(plan) = &mut self.refresh else {
            return Ok(());
        };
        let Some(sighted) = plan.take(visit, self.config.tries) else {
            return Ok(());
        };
        if let Some(call) = self.early_visits.remove(&sighted.page)
            && let Some(changed) = sighted.kind.changed()
        {
            self.with_signals(visit.url.site_hash(), |signals| {
                signals.signal_proved(call.source, changed);
            })?;
        }
        Ok(())
    }

    /// Counts how a page compared with its copy in the signals of its site.
    pub(crate) fn refresh_heard(
        &mut self,
        before: Option<&UrlRecord>,
        read: &Read,
        change: Option<Change>,
    ) -> Result<(), CrawlError> {
        if let (Some(_), Some(before), Some(change)) = (&self.refresh, before, change) {
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

    /// Whether the next request to a site may be conditional; an audit is not.
    pub(crate) fn may_ask_conditionally(&mut self, site: SiteHash) -> Result<bool, CrawlError> {
        if self.refresh.is_none() {
            return Ok(true);
        }
        self.with_signals(site, SiteSignals::may_ask_conditionally)
    }

    /// Takes in a change signal of a sitemap or feed.
    pub(crate) fn refresh_told(
        &mut self,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        source: SignalSource,
    ) -> Result<(), CrawlError> {
        let Some(modified) = signal.modified else {
            return Ok(());
        };
        let Some(mut plan) = self.refresh.take() else {
            return Ok(());
        };
        let now = self.clock.now();
        // A date in the future is ignored.
        let is_heeded = modified <= now
            && plan.would_visit_early(url, plan.days(modified))
            && self.with_signals(url.site_hash(), |signals| signals.heeds_signal(source))?;
        let (modified, now) = (plan.days(modified), plan.days(now));
        if is_heeded && let Some(visit) = plan.visit_early(url, modified, now) {
            let EarlyVisit { page, due, is_out } = visit;
            if !is_out || self.queue_page(&plan, page)? {
                // It may be waiting because of an earlier signal: that one is counted.
                self.early_visits
                    .entry(page)
                    .or_insert(SignalledVisit { due, source });
            } else {
                plan.missed(page, now);
            }
        }
        self.refresh = Some(plan);
        Ok(())
    }

    /// Reads, changes and stores the signals of a site.
    fn with_signals<T>(
        &mut self,
        site: SiteHash,
        change: impl FnOnce(&mut SiteSignals) -> T,
    ) -> Result<T, CrawlError> {
        let partition = self.partition_of(site);
        let mut signals = match self.signals.get(&site) {
            Some(signals) => *signals,
            None => self.partitions[partition]
                .signals(site)?
                .unwrap_or_default(),
        };
        let said = change(&mut signals);
        self.signals.insert(site, signals);
        self.partitions[partition].set_signals(site, &signals);
        Ok(said)
    }

    /// Notes that a page was refused before its visit.
    pub(crate) fn refresh_refused(&mut self, url: &CrawlUrl, now: Timestamp) {
        let Some(plan) = &mut self.refresh else {
            return;
        };
        let now = plan.days(now);
        if let Some(page) = plan.pages().find(url) {
            plan.missed(page, now);
            self.early_visits.remove(&page);
        } else if let Some(never_fetched) = plan.find_never_fetched(url) {
            plan.missed_never_fetched(never_fetched, now);
        }
    }
}

/// The change signals of a site, read from a crawl directory that is not running. The caller
/// holds its lock.
pub fn site_signals(
    config: &CrawlConfig,
    dir: &CrawlDir,
    site: SiteHash,
) -> Result<SiteSignals, CrawlError> {
    let map = Partitions::new(config.partitions);
    let partitions = open_partitions(config, dir, map)?;
    let partition = &partitions[usize::from(map.partition_of(site).0)];
    Ok(partition.signals(site)?.unwrap_or_default())
}
