//! Turns: which sites are in memory, and what becomes of URLs of the others.
//!
//! The frontier has room for so many sites; each partition keeps the list of all
//! that have URLs waiting. After each commit, sites that are done or have had
//! their turn are closed, and the next ones in the lists are opened, one
//! partition after the other.

use geomi_frontier::{Entry, SiteState};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use crate::journey::Journey;
use crate::partition::Partition;
use crate::{CrawlError, RobotsMode};

impl Journey<'_> {
    /// Puts a URL into the queue of its site. A site that is not in memory is
    /// opened for it only if there is room and nobody waits for it; one that is and
    /// has plenty gets it later, with others.
    pub(crate) fn enqueue(
        &mut self,
        partition: usize,
        entry: Entry,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let site = entry.url.site_hash();
        let is_parked = if self.frontier.is_open(site) {
            self.others_wait() && self.frontier.has_plenty(site, entry.priority)
        } else {
            self.others_wait() || !self.frontier.has_room()
        };
        if is_parked {
            self.partitions[partition].park(&entry);
            self.parked += 1;
            return Ok(());
        }
        self.ensure_open(&entry.url, now)?;
        self.frontier.admit(entry, now);
        Ok(())
    }

    /// Before a commit: lets URLs join their queues that were parked for long, or
    /// whose site is in memory and has few left.
    pub(crate) fn spill_parked(&mut self) -> Result<(), CrawlError> {
        let mut wanted = Vec::new();
        let order = self.config.page_order();
        for partition in &mut self.partitions {
            let frontier = &self.frontier;
            wanted.extend(partition.spill_due(&|site| frontier.is_open(site), order)?);
        }
        for site in self.frontier.short_sites() {
            let partition = self.partition_of(site);
            wanted.extend(self.partitions[partition].take_parked(site)?);
        }
        let now = self.clock.now();
        for entry in wanted {
            self.parked = self.parked.saturating_sub(1);
            self.frontier.admit(entry, now);
        }
        Ok(())
    }

    /// Whether sites wait for their turn.
    pub(crate) fn others_wait(&self) -> bool {
        self.partitions.iter().any(Partition::others_wait)
    }

    /// Takes up what an earlier run left: as many sites as there is room for.
    pub(crate) fn open_sites(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        for index in 0..self.partitions.len() {
            self.partitions[index].list_sites(self.archive.mark())?;
        }
        self.parked = self.partitions[0].meta("queued")?.unwrap_or_default();
        self.open_next(now)
    }

    /// After a commit: closes sites to make room, and opens those next in line.
    pub(crate) fn take_turns(&mut self) -> Result<(), CrawlError> {
        let now = self.clock.now();
        self.robots.shrink();
        let others_wait = self.others_wait();
        let closed = self.frontier.close_sites(others_wait, now);
        for closed in &closed {
            let partition = self.partition_of(closed.site);
            self.partitions[partition].site_closed(closed);
            self.parked += closed.pending;
        }
        if !closed.is_empty() {
            let frontier = &self.frontier;
            self.robots.retain(|site| frontier.is_open(site));
            self.unaddressed.retain(|site, _| frontier.is_open(*site));
            self.close_novelty();
        }
        self.open_next(now)
    }

    fn open_next(&mut self, now: Timestamp) -> Result<(), CrawlError> {
        if !self.others_wait() {
            return Ok(());
        }
        let mut is_over = vec![false; self.partitions.len()];
        while is_over.contains(&false) {
            for (index, is_over) in is_over.iter_mut().enumerate() {
                if *is_over || !self.frontier.has_room() {
                    *is_over = true;
                    continue;
                }
                match self.partitions[index].next_listed()? {
                    None => *is_over = true,
                    Some((row, site)) => match self.partitions[index].site(site)? {
                        Some(state) if self.frontier.is_retired(&state) => {
                            self.partitions[index].leave_listed(row);
                        }
                        Some(state) if state.pending() > 0 => {
                            self.parked = self.parked.saturating_sub(state.pending());
                            self.partitions[index].opened_listed(row, site);
                            self.open_site(index, state, now)?;
                        }
                        _ => self.partitions[index].drop_listed(row),
                    },
                }
            }
        }
        Ok(())
    }

    /// Brings the site of a URL into memory, unless it is there.
    pub(crate) fn ensure_open(&mut self, url: &CrawlUrl, now: Timestamp) -> Result<(), CrawlError> {
        let site = url.site_hash();
        if self.frontier.is_open(site) {
            return Ok(());
        }
        let partition = self.partition_of(site);
        let state = self.partitions[partition].site(site)?;
        let pending = state.as_ref().map_or(0, SiteState::pending);
        self.parked = self.parked.saturating_sub(pending);
        self.open_site(
            partition,
            state.unwrap_or_else(|| SiteState::new(url.site())),
            now,
        )
    }

    /// Brings a site into memory, with what its robots.txt permitted.
    pub(crate) fn open_site(
        &mut self,
        partition: usize,
        mut state: SiteState,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let site = state.key.hash64();
        let own = self.policies.own(&state.key);
        let policy = own.unwrap_or(self.policies.general());
        if policy.robots == RobotsMode::Respect
            && !self.robots.knows(site)
            && let Some(access) = self.partitions[partition].access(site)?
        {
            if access.is_failure() {
                // That it failed once is no rule: it is asked again.
                state.robots_until = None;
            } else {
                self.robots.set(site, access);
            }
        }
        let rest = policy
            .politeness
            .rest(state.last_download, state.crawl_delay);
        let not_before = self.unclean_since.map_or(now, |since| since + rest);
        let rules = match own {
            // Counting means reading every record of the site: only where asked.
            Some(own) if own.pages_max.is_some() => {
                Some(own.rules(self.partitions[partition].saved_of(site, self.round.started())?))
            }
            own => own.map(|own| own.rules(0)),
        };
        self.frontier.open_site_with(state, rules, not_before, now);
        for entry in self.partitions[partition].list_open(site)? {
            self.parked = self.parked.saturating_sub(1);
            self.frontier.admit(entry, now);
        }
        Ok(())
    }

    /// URLs waiting, those of sites not in memory included.
    pub(crate) fn waiting(&self) -> u64 {
        self.frontier.counts().waiting + self.parked
    }
}
