//! Turns: which sites are in memory, and what becomes of URLs of the others.
//!
//! The frontier has room for a bounded number of sites; the partition keeps the list
//! of all sites that have URLs waiting. After each commit, sites that are done or have
//! had their turn are closed, and the next ones of the list are opened.
//!
//! Sites are known by a hash of their name. A URL whose site has the hash of another
//! known site is refused: it must not share that site's rules, address and credentials.

use geomi_frontier::{Entry, SiteState};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use crate::engine::{Around, Engine};
use crate::refusal::RefusalRule;
use crate::{EngineError, RobotsMode};

impl Engine {
    /// Puts a URL into the queue of its site. A site that is not in memory is opened for
    /// it only if there is room and no other site waits for it; a site in memory with
    /// enough URLs gets it later, with others.
    pub(crate) fn enqueue(&mut self, entry: Entry, now: Timestamp) -> Result<(), EngineError> {
        let site = entry.url.site_hash();
        let is_parked = if self.queues.frontier.is_open(site) {
            self.others_wait() && self.queues.frontier.has_plenty(site, entry.priority)
        } else {
            self.others_wait() || !self.queues.frontier.has_room()
        };
        if is_parked {
            self.store.park(&entry);
            self.queues.parked += 1;
            return Ok(());
        }
        if self.ensure_open(&entry.url, now)? {
            self.join(entry, now);
        } else {
            self.refuse_collision(&entry.url);
        }
        Ok(())
    }

    /// Puts a URL into the queue of its site, which is in memory.
    fn join(&mut self, entry: Entry, now: Timestamp) {
        if self.queues.frontier.is_taken(&entry.url) {
            self.refuse_collision(&entry.url);
        } else {
            self.queues.frontier.admit(entry, now);
        }
    }

    /// Whether the site that is known by the hash of this URL's site is another one. For a
    /// site that only has parked URLs the answer is found when it is opened.
    pub(crate) fn is_taken(&self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let site = url.site_hash();
        if self.queues.frontier.is_open(site) {
            return Ok(self.queues.frontier.is_taken(url));
        }
        if self.store.is_parked(site) {
            return Ok(false);
        }
        let known = self.store.site(site)?;
        Ok(known.is_some_and(|known| !known.key.is_of(url)))
    }

    /// Counts a URL that is not requested as its site has the hash of another one.
    pub(crate) fn refuse_collision(&mut self, url: &CrawlUrl) {
        tracing::warn!(%url, "its site has the hash of another site");
        self.store.counters.refusal(RefusalRule::HashCollision);
    }

    /// Before a commit: lets URLs join their queues that were parked for long, or
    /// whose site is in memory and has few left.
    pub(crate) fn spill_parked(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let mut wanted = Vec::new();
        let order = self.rules.config.page_order();
        let frontier = &self.queues.frontier;
        wanted.extend(
            self.store
                .spill_due(&|site| frontier.is_open(site), order)?,
        );
        for site in self.queues.frontier.short_sites() {
            wanted.extend(self.store.take_parked(site)?);
        }
        let now = around.now;
        for entry in wanted {
            self.queues.parked = self.queues.parked.saturating_sub(1);
            self.join(entry, now);
        }
        Ok(())
    }

    /// Whether sites wait for their turn.
    pub(crate) fn others_wait(&self) -> bool {
        self.store.others_wait()
    }

    /// Takes up what an earlier run left: as many sites as there is room for.
    pub(crate) fn open_sites(&mut self, now: Timestamp) -> Result<(), EngineError> {
        self.store.list_sites();
        self.queues.parked = self.store.meta("queued")?.unwrap_or_default();
        self.open_next(now)
    }

    /// After a commit: closes sites to make room, and opens those next in line.
    pub fn change_turns(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let now = around.now;
        self.sites.robots.shrink();
        let others_wait = self.others_wait();
        let closed = self.queues.frontier.close_sites(others_wait, now);
        for closed in &closed {
            self.store.site_closed(closed);
            self.queues.parked += closed.pending;
        }
        if !closed.is_empty() {
            let frontier = &self.queues.frontier;
            self.sites.robots.retain(|site| frontier.is_open(site));
            self.sites
                .unaddressed
                .retain(|site, _| frontier.is_open(*site));
            self.close_novelty();
        }
        self.open_next(now)
    }

    fn open_next(&mut self, now: Timestamp) -> Result<(), EngineError> {
        if !self.others_wait() {
            return Ok(());
        }
        while self.queues.frontier.has_room()
            && let Some((row, site)) = self.store.next_listed()?
        {
            match self.store.site(site)? {
                Some(state) if self.queues.frontier.is_retired(&state) => {
                    self.store.leave_listed(row);
                }
                Some(state) if state.pending() > 0 => {
                    self.queues.parked = self.queues.parked.saturating_sub(state.pending());
                    self.store.opened_listed(row, site);
                    self.open_site(state, now)?;
                }
                _ => self.store.drop_listed(row),
            }
        }
        Ok(())
    }

    /// Brings the site of a URL into memory, unless it is there. Returns `false` if the
    /// known site that has its hash, and is in memory now, is another one.
    pub(crate) fn ensure_open(
        &mut self,
        url: &CrawlUrl,
        now: Timestamp,
    ) -> Result<bool, EngineError> {
        let site = url.site_hash();
        if self.queues.frontier.is_open(site) {
            return Ok(!self.queues.frontier.is_taken(url));
        }
        let state = self.store.site(site)?;
        let is_its_own = state.as_ref().is_none_or(|state| state.key.is_of(url));
        let pending = state.as_ref().map_or(0, SiteState::pending);
        self.queues.parked = self.queues.parked.saturating_sub(pending);
        self.open_site(state.unwrap_or_else(|| SiteState::new(url.site())), now)?;
        Ok(is_its_own)
    }

    /// Brings a site into memory, with what its robots.txt permitted.
    pub(crate) fn open_site(
        &mut self,
        mut state: SiteState,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let site = state.key.hash64();
        let own = self.rules.policies.own(&state.key);
        let policy = own.unwrap_or(self.rules.policies.general());
        if policy.robots == RobotsMode::Respect
            && !self.sites.robots.knows(site)
            && let Some(access) = self.store.access(site)?
        {
            if access.is_failure() {
                // That it failed once is no rule: it is asked again.
                state.robots_until = None;
            } else {
                self.sites.robots.set(site, access);
            }
        }
        let rest = policy
            .politeness
            .rest(state.last_download, state.crawl_delay);
        let not_before = self.queues.unclean_since.map_or(now, |since| since + rest);
        let rules = match own {
            // Counting means reading every record of the site: only where asked.
            Some(own) if own.pages_max.is_some() => {
                Some(own.rules(self.store.saved_of(site, self.rounds.round.started())?))
            }
            own => own.map(|own| own.rules(0)),
        };
        self.queues
            .frontier
            .open_site_with(state, rules, not_before, now);
        for entry in self.store.list_open(site)? {
            self.queues.parked = self.queues.parked.saturating_sub(1);
            self.join(entry, now);
        }
        Ok(())
    }
}
