//! The book in the crawl loop: what is due is queued, what was seen is told.

use std::path::Path;
use std::time::Duration;

use geomi_cluster::Partitions;
use geomi_frontier::Entry;
use geomi_model::{Change, ChangeSignal, LinkKind, PRIORITIES, Timestamp, UrlRecord, Visit};
use geomi_refresh::PageId;
use geomi_refresh::upkeep::{Answered, Called, Herald, Pages, RefreshBook, SiteSigns, StrayId};
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
/// Days of budget that are spent at once after a time in which nobody ran.
const SAVED_MAX: f64 = 1.0;

/// Why a page is visited out of its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// When its turn was, in days since 1970.
    due: f64,
    /// Who said that it has changed.
    herald: Herald,
}

impl Journey<'_> {
    /// Reads the past, if the crawl is to be kept fresh.
    pub(crate) fn take_up_refresh(&mut self) -> Result<(), CrawlError> {
        let Some(config) = self.config.refresh.clone() else {
            return Ok(());
        };
        // Rows that a crash left in the state are read from a file, too.
        self.write_segment()?;
        let mut book = RefreshBook::new(&config);
        let (control, tries) = (self.control.clone(), self.config.tries);
        read_visits(self.reporter.dir(), |visit| {
            book.take(visit, tries);
            !matches!(control.desired(), Desired::Stop | Desired::StopNow)
        })?;
        let saved_max = if config.once {
            f64::INFINITY
        } else {
            SAVED_MAX
        };
        let now = book.days(self.clock.now());
        warn_of_unknown(book.start(now, saved_max));
        for page in book.take_tried() {
            // It may have been refused since, which leaves no visit: then it does not
            // wait in its queue.
            if self.was_refused(book.pages().url(page))? {
                book.missed(page, now);
            }
        }
        for stray in book.tried_strays() {
            if self.was_refused(book.stray_urls().url(stray))? {
                book.missed_stray(stray, now);
            }
        }
        tracing::info!(
            pages = book.pages().len(),
            strays = book.strays(),
            policy = config.policy,
            requests_a_day = book.requests_per_day(),
            "the plan is made"
        );
        let dir = self.reporter.dir().root();
        let file = config.drive.file();
        self.table = file.map(|file| TableFile::new(dir.join(file)));
        self.refresh = Some(book);
        self.begin_discovery_day()?;
        // What limits are about is this run.
        self.round.count_from(Counted::of(&self.counters()));
        Ok(())
    }

    fn was_refused(&self, url: &str) -> Result<bool, CrawlError> {
        // What is in the files was a URL once; a row that is damaged is no page.
        let Ok(url) = CrawlUrl::parse(url) else {
            return Ok(false);
        };
        self.partitions[self.partition_of(url.site_hash())].is_refused(&url)
    }

    /// When the plan wants to be asked again; `None` if it does not.
    pub(crate) fn refresh_wakeup(&self) -> Option<Timestamp> {
        let book = self.refresh.as_ref().filter(|_| self.may_refresh())?;
        let wake = book.wake()?;
        Some(book.instant(wake))
    }

    /// What is told of the plan, if there is one.
    pub(crate) fn refresh_status(&self) -> Option<RefreshStatus> {
        let config = self.config.refresh.as_ref()?;
        let book = self.refresh.as_ref();
        let pages = book.map_or(0, |book| book.pages().len());
        let requests = book.map(RefreshBook::requests_per_day);
        Some(RefreshStatus {
            drive: config.drive.kind(),
            // One whose name is not text is as good as not known: nobody could type it.
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
            next_due: book
                .and_then(RefreshBook::wake)
                .map(|wake| config.timezone.instant(wake).to_rfc3339_millis()),
        })
    }

    /// Whether the plan goes on for as long as nobody stops it.
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
        let Some(mut book) = self.refresh.take() else {
            return Ok(());
        };
        let now = book.days(self.clock.now());
        let mut queued = 0;
        while queued < QUEUED_MAX
            && let Some(page) = book.next(now)
        {
            if !self.queue_page(&book, page)? {
                book.missed(page, now);
            }
            queued += 1;
        }
        while queued < QUEUED_MAX
            && let Some(stray) = book.next_stray(now)
        {
            if !self.queue_stray(&book, stray)? {
                book.missed_stray(stray, now);
            }
            queued += 1;
        }
        self.refresh_is_over = book.config().once && queued < QUEUED_MAX;
        self.refresh = Some(book);
        Ok(())
    }

    /// Queues a page, unless it waits already; `false` if it cannot be queued. New pages can
    /// wait: the plan says that it is due.
    fn queue_page(&mut self, book: &RefreshBook, page: PageId) -> Result<bool, CrawlError> {
        self.queue_known(book, (book.pages(), page), 1)
    }

    /// The same for what never came, which can wait for everything else.
    fn queue_stray(&mut self, book: &RefreshBook, stray: StrayId) -> Result<bool, CrawlError> {
        self.queue_known(book, (book.stray_urls(), stray), PRIORITIES)
    }

    fn queue_known(
        &mut self,
        book: &RefreshBook,
        (urls, number): (&Pages, u32),
        priority: u8,
    ) -> Result<bool, CrawlError> {
        // What is in the files was a URL once; a row that is damaged is no page.
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
        let via = urls.via(number).map(|via| book.pages().url(via));
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

    /// How long before its turn a visit was made, if somebody called for it.
    pub(crate) fn refresh_early(&self, visit: &Visit) -> Option<Duration> {
        let book = self.refresh.as_ref()?;
        let call = self.called.get(&book.pages().find(&visit.url)?)?;
        Some(book.instant(call.due).since(visit.time))
    }

    /// A visit was made: it goes into the book.
    pub(crate) fn refresh_saw(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        let Some(book) = &mut self.refresh else {
            return Ok(());
        };
        let Some(sighted) = book.take(visit, self.config.tries) else {
            return Ok(());
        };
        if let Some(call) = self.called.remove(&sighted.page)
            && let Some(changed) = sighted.kind.changed()
        {
            self.with_signs(visit.url.site_hash(), |signs| {
                signs.signal_proved(call.herald, changed);
            })?;
        }
        Ok(())
    }

    /// A page was compared with its copy: what does that say of its site's word?
    pub(crate) fn refresh_heard(
        &mut self,
        before: Option<&UrlRecord>,
        read: &Read,
        change: Option<Change>,
    ) -> Result<(), CrawlError> {
        if let (Some(_), Some(before), Some(change)) = (&self.refresh, before, change) {
            let answer = Answered {
                is_conditional: read.is_conditional,
                is_not_modified: read.answer.is_not_modified(),
                etag: read.answer.etag.as_deref(),
                last_modified: read.answer.last_modified.as_deref(),
            };
            self.with_signs(read.lease.site(), |signs| {
                signs.hear(before, answer, change.changed);
            })?;
        }
        Ok(())
    }

    /// Whether a page is asked for only if it has changed: an audit asks for it in
    /// any case.
    pub(crate) fn may_ask_conditionally(&mut self, site: SiteHash) -> Result<bool, CrawlError> {
        if self.refresh.is_none() {
            return Ok(true);
        }
        self.with_signs(site, SiteSigns::may_ask_conditionally)
    }

    /// A sitemap or feed says when a page was modified.
    pub(crate) fn refresh_told(
        &mut self,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        herald: Herald,
    ) -> Result<(), CrawlError> {
        let Some(modified) = signal.modified else {
            return Ok(());
        };
        let Some(mut book) = self.refresh.take() else {
            return Ok(());
        };
        let now = self.clock.now();
        // A date in the future says nothing of what is there now.
        let is_heeded = modified <= now
            && book.would_call(url, book.days(modified))
            && self.with_signs(url.site_hash(), |signs| signs.heeds_signal(herald))?;
        let (modified, now) = (book.days(modified), book.days(now));
        if is_heeded && let Some(called) = book.call(url, modified, now) {
            let Called { page, due, is_out } = called;
            if !is_out || self.queue_page(&book, page)? {
                // It may have been called before and wait: the first to tell is right
                // or wrong.
                self.called.entry(page).or_insert(Call { due, herald });
            } else {
                book.missed(page, now);
            }
        }
        self.refresh = Some(book);
        Ok(())
    }

    /// Reads what is known of a site's word, changes it and keeps it.
    fn with_signs<T>(
        &mut self,
        site: SiteHash,
        change: impl FnOnce(&mut SiteSigns) -> T,
    ) -> Result<T, CrawlError> {
        let partition = self.partition_of(site);
        let mut signs = match self.signs.get(&site) {
            Some(signs) => *signs,
            None => self.partitions[partition].signs(site)?.unwrap_or_default(),
        };
        let said = change(&mut signs);
        self.signs.insert(site, signs);
        self.partitions[partition].set_signs(site, &signs);
        Ok(said)
    }

    /// A page was refused when its turn came: it made no visit.
    pub(crate) fn refresh_refused(&mut self, url: &CrawlUrl, now: Timestamp) {
        let Some(book) = &mut self.refresh else {
            return;
        };
        let now = book.days(now);
        if let Some(page) = book.pages().find(url) {
            book.missed(page, now);
            self.called.remove(&page);
        } else if let Some(stray) = book.stray(url) {
            book.missed_stray(stray, now);
        }
    }
}

/// What was learned of a site's own words, read from a directory at rest. The
/// caller holds its lock.
pub fn site_signs(
    config: &CrawlConfig,
    dir: &CrawlDir,
    site: SiteHash,
) -> Result<SiteSigns, CrawlError> {
    let map = Partitions::new(config.partitions);
    let partitions = open_partitions(config, dir, map)?;
    let partition = &partitions[usize::from(map.partition_of(site).0)];
    Ok(partition.signs(site)?.unwrap_or_default())
}
