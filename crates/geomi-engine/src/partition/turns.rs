//! Which sites have URLs waiting, and whose turn it is: the durable side of `turns.rs`.

use geomi_frontier::{Closed, Entry, PageOrder, SiteState};
use geomi_state::{Scan, State};
use geomi_url::SiteHash;

use super::Partition;
use super::site_list::SiteList;
use crate::{EngineError, keys};

impl Partition {
    /// Whether URLs wait that are in no queue yet.
    pub(crate) fn has_parked(&self) -> bool {
        self.sites
            .as_ref()
            .is_some_and(|list| !list.parked().is_empty())
    }

    /// Every site with URLs in its queue, up to that many.
    pub(crate) fn pending_sites(&self, max: usize) -> Result<Vec<SiteState>, EngineError> {
        let (from, to) = keys::all(b's');
        let mut sites = Vec::new();
        let mut broken = None;
        self.state.scan(&from, &to, &mut |_, value| {
            match keys::decode::<SiteState>("site", value) {
                Ok(site) if site.pending() > 0 => sites.push(site),
                Ok(_) => {}
                Err(error) => broken = Some(error),
            }
            if sites.len() < max && broken.is_none() {
                Scan::Continue
            } else {
                Scan::Stop
            }
        })?;
        broken.map_or(Ok(sites), Err)
    }

    /// Calls back with every site that has URLs in its queue.
    pub(crate) fn each_pending(&self, take: &mut dyn FnMut(SiteState)) -> Result<(), EngineError> {
        let (from, to) = keys::all(b's');
        self.each(&from, &to, "site", &mut |site: SiteState| {
            if site.pending() > 0 {
                take(site);
            }
        })
    }

    /// Makes the list of sites, in a partition that has none.
    pub(crate) fn list_sites(&mut self) {
        let bytes = self.gather_bytes;
        self.sites.get_or_insert_with(|| SiteList::new(bytes));
    }

    fn list(&mut self) -> (&mut SiteList, &mut State) {
        let bytes = self.gather_bytes;
        let list = self.sites.get_or_insert_with(|| SiteList::new(bytes));
        (list, &mut self.state)
    }

    /// Whether sites wait for their turn.
    pub(crate) fn others_wait(&self) -> bool {
        self.sites.as_ref().is_some_and(SiteList::others_wait)
    }

    /// The next site whose turn it is, with its row in the list.
    pub(crate) fn next_listed(&mut self) -> Result<Option<(u64, SiteHash)>, EngineError> {
        match &mut self.sites {
            Some(list) => list.next(&mut self.state),
            None => Ok(None),
        }
    }

    /// That site was opened.
    pub(crate) fn opened_listed(&mut self, row: u64, site: SiteHash) {
        self.list().0.opened(row, site);
    }

    /// That site has nothing waiting.
    pub(crate) fn drop_listed(&mut self, row: u64) {
        SiteList::drop_row(row, &mut self.state);
    }

    /// That site is retired for this run.
    pub(crate) fn leave_listed(&mut self, row: u64) {
        self.list().0.keep_row(row);
    }

    /// A site is in memory: it is listed from now on. What was parked for it.
    pub(crate) fn list_open(&mut self, site: SiteHash) -> Result<Vec<Entry>, EngineError> {
        let (list, state) = self.list();
        list.add(site, state)
    }

    /// A site was taken out of memory.
    pub(crate) fn site_closed(&mut self, closed: &Closed) {
        let (list, state) = self.list();
        if closed.is_retired {
            list.retired(closed.site);
        } else {
            list.closed(closed.site, closed.pending > 0, state);
        }
    }

    /// What was parked for a site in memory; it is to be admitted in this commit.
    pub(crate) fn take_parked(&mut self, site: SiteHash) -> Result<Vec<Entry>, EngineError> {
        match &mut self.sites {
            Some(list) => list.take_parked(site),
            None => Ok(Vec::new()),
        }
    }

    /// Whether a site has URLs that are neither in its queue nor in memory.
    pub(crate) fn is_parked(&self, site: SiteHash) -> bool {
        self.sites
            .as_ref()
            .is_some_and(|list| list.parked().contains(site))
    }

    /// Before a commit: lets what was parked for long join the queues. What belongs
    /// to sites in memory is to be admitted in the same commit.
    pub(crate) fn spill_due(
        &mut self,
        is_open: &dyn Fn(SiteHash) -> bool,
        order: PageOrder,
    ) -> Result<Vec<Entry>, EngineError> {
        match &mut self.sites {
            Some(list) => list.spill_due(is_open, order, &mut self.state),
            None => Ok(Vec::new()),
        }
    }

    /// Keeps a URL whose site is not in memory, or has plenty; durable with the next
    /// commit.
    pub(crate) fn park(&mut self, entry: &Entry) {
        self.list().0.park(entry);
    }
}
