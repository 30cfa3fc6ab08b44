//! The book in the crawl loop: what is due is queued, what was seen is told.

use std::time::Duration;

use geomi_frontier::{Entry, PRIORITIES};
use geomi_model::{Change, ChangeSignal, LinkKind, Timestamp, UrlRecord, Visit};
use geomi_refresh::PageId;
use geomi_url::{CrawlUrl, SiteHash};

use super::book::{Called, RefreshBook};
use super::pages::Pages;
use super::signs::{Herald, SiteSigns};
use super::strays::StrayId;
use crate::again::Counted;
use crate::engine::{Around, Engine};
use crate::stage::arrival::Arrival;
use crate::CrawlError;

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

impl Engine {
    /// Reads the past, if the crawl is to be kept fresh.
    pub(crate) fn take_up_refresh(&mut self, around: &mut Around<'_>) -> Result<(), CrawlError> {
        let Some(config) = self.rules.config.refresh.clone() else {
            return Ok(());
        };
        let mut book = RefreshBook::new(&config);
        let tries = self.rules.config.tries;
        for visit in around.world.visits(self.id, 0, self.outgoing.last_visit)? {
            book.take(&visit?, tries);
        }
        let saved_max = if config.once {
            f64::INFINITY
        } else {
            SAVED_MAX
        };
        let now = book.days(around.now);
        book.start(now, saved_max);
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
        self.upkeep.plan = Some(book);
        self.begin_discovery_day(around)?;
        // What limits are about is this run.
        self.rounds.round.count_from(Counted::of(&self.store.counters));
        Ok(())
    }

    fn was_refused(&self, url: &str) -> Result<bool, CrawlError> {
        // What is in the files was a URL once; a row that is damaged is no page.
        let Ok(url) = CrawlUrl::parse(url) else {
            return Ok(false);
        };
        self.store.is_refused(&url)
    }

    /// When the plan wants to be asked again; `None` if it does not.
    pub(crate) fn refresh_wakeup(&self) -> Option<Timestamp> {
        let book = self.upkeep.plan.as_ref().filter(|_| self.may_refresh())?;
        let wake = book.wake()?;
        Some(book.instant(wake))
    }

    /// Whether the plan goes on for as long as nobody stops it.
    pub(crate) fn keeps_fresh(&self) -> bool {
        self.upkeep.plan.is_some() && !self.upkeep.is_over
    }

    fn may_refresh(&self) -> bool {
        self.is_running && !self.upkeep.is_over
    }

    /// Queues the pages that are due.
    pub(crate) fn queue_due(&mut self, around: &mut Around<'_>) -> Result<(), CrawlError> {
        if !self.may_refresh() {
            return Ok(());
        }
        let Some(mut book) = self.upkeep.plan.take() else {
            return Ok(());
        };
        let now = book.days(around.now);
        let mut queued = 0;
        while queued < QUEUED_MAX
            && let Some(page) = book.next(now)
        {
            if !self.queue_page(around, &book, page)? {
                book.missed(page, now);
            }
            queued += 1;
        }
        while queued < QUEUED_MAX
            && let Some(stray) = book.next_stray(now)
        {
            if !self.queue_stray(around, &book, stray)? {
                book.missed_stray(stray, now);
            }
            queued += 1;
        }
        self.upkeep.is_over = book.config().once && queued < QUEUED_MAX;
        self.upkeep.plan = Some(book);
        Ok(())
    }

    /// Queues a page, unless it waits already; `false` if it cannot be queued. New pages can
    /// wait: the plan says that it is due.
    fn queue_page(&mut self, around: &mut Around<'_>, book: &RefreshBook, page: PageId) -> Result<bool, CrawlError> {
        self.queue_known(around, book, (book.pages(), page), 1)
    }

    /// The same for what never came, which can wait for everything else.
    fn queue_stray(&mut self, around: &mut Around<'_>, book: &RefreshBook, stray: StrayId) -> Result<bool, CrawlError> {
        self.queue_known(around, book, (book.stray_urls(), stray), PRIORITIES)
    }

    fn queue_known(
        &mut self, around: &mut Around<'_>,
        book: &RefreshBook,
        (urls, number): (&Pages, u32),
        priority: u8,
    ) -> Result<bool, CrawlError> {
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
        self.store.forget_refused(&entry.url);
        self.put_back(around, entry, record)?;
        Ok(true)
    }

    /// How long before its turn a visit was made, if somebody called for it.
    pub(crate) fn refresh_early(&self, visit: &Visit) -> Option<Duration> {
        let book = self.upkeep.plan.as_ref()?;
        let call = self.upkeep.called.get(&book.pages().find(&visit.url)?)?;
        Some(book.instant(call.due).since(visit.time))
    }

    /// A visit was made: it goes into the book.
    pub(crate) fn refresh_saw(&mut self, visit: &Visit) -> Result<(), CrawlError> {
        let Some(book) = &mut self.upkeep.plan else {
            return Ok(());
        };
        let Some(sighted) = book.take(visit, self.rules.config.tries) else {
            return Ok(());
        };
        if let Some(call) = self.upkeep.called.remove(&sighted.page)
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
        read: &Arrival,
        change: Option<Change>,
    ) -> Result<(), CrawlError> {
        if let (Some(_), Some(before), Some(change)) = (&self.upkeep.plan, before, change) {
            self.with_signs(read.lease.site(), |signs| {
                signs.hear(before, &read.answer, change, read.is_conditional);
            })?;
        }
        Ok(())
    }

    /// Whether a page is asked for only if it has changed: an audit asks for it in
    /// any case.
    pub(crate) fn may_ask_conditionally(&mut self, site: SiteHash) -> Result<bool, CrawlError> {
        if self.upkeep.plan.is_none() {
            return Ok(true);
        }
        self.with_signs(site, SiteSigns::may_ask_conditionally)
    }

    /// A sitemap or feed says when a page was modified.
    pub(crate) fn refresh_told(
        &mut self, around: &mut Around<'_>,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        herald: Herald,
    ) -> Result<(), CrawlError> {
        let Some(modified) = signal.modified else {
            return Ok(());
        };
        let Some(mut book) = self.upkeep.plan.take() else {
            return Ok(());
        };
        let now = around.now;
        // A date in the future says nothing of what is there now.
        let is_heeded = modified <= now
            && book.would_call(url, book.days(modified))
            && self.with_signs(url.site_hash(), |signs| signs.heeds_signal(herald))?;
        let (modified, now) = (book.days(modified), book.days(now));
        if is_heeded && let Some(called) = book.call(url, modified, now) {
            let Called { page, due, is_out } = called;
            if !is_out || self.queue_page(around, &book, page)? {
                // It may have been called before and wait: the first to tell is right
                // or wrong.
                self.upkeep.called.entry(page).or_insert(Call { due, herald });
            } else {
                book.missed(page, now);
            }
        }
        self.upkeep.plan = Some(book);
        Ok(())
    }

    /// Reads what is known of a site's word, changes it and keeps it.
    fn with_signs<T>(
        &mut self,
        site: SiteHash,
        change: impl FnOnce(&mut SiteSigns) -> T,
    ) -> Result<T, CrawlError> {
        let mut signs = match self.upkeep.signs.get(&site) {
            Some(signs) => *signs,
            None => self.store.signs(site)?.unwrap_or_default(),
        };
        let said = change(&mut signs);
        self.upkeep.signs.insert(site, signs);
        self.store.set_signs(site, &signs);
        Ok(said)
    }

    /// A page was refused when its turn came: it made no visit.
    pub(crate) fn refresh_refused(&mut self, url: &CrawlUrl, now: Timestamp) {
        let Some(book) = &mut self.upkeep.plan else {
            return;
        };
        let now = book.days(now);
        if let Some(page) = book.pages().find(url) {
            book.missed(page, now);
            self.upkeep.called.remove(&page);
        } else if let Some(stray) = book.stray(url) {
            book.missed_stray(stray, now);
        }
    }
}
