//! What must hold at every step and at the end, as far as the frontier and the
//! disks show it.

use geomi_frontier::{Hold, Work};

use super::world::{CONNECTIONS, Stop, World};

impl World {
    /// What must hold at every step.
    pub(super) fn check(&self) -> Result<(), Stop> {
        self.frontier.check_invariants();
        self.addresses.check_invariants();
        let pages = self
            .flying
            .iter()
            .filter(|flight| matches!(flight.lease.work(), Work::Page(..)));
        if self.frontier.counts().leased != pages.count() as u64 {
            return Err("every lease is under way".to_owned().into());
        }
        if self.flying.len() > CONNECTIONS {
            return Err("no more requests are under way than allowed"
                .to_owned()
                .into());
        }
        self.check_contacts()?;
        let now = self.clock();
        for view in self.frontier.views(now) {
            let site = self.web.site(view.key.hash64());
            let known = self.watch.failures(site);
            if known.is_some_and(|known| view.state.failures > known) {
                return Err(format!("failures end with an answer: {}", view.key).into());
            }
        }
        Ok(())
    }

    /// What must hold when nothing is left to do: no URL and no mail was lost.
    pub(super) fn check_end(&self) -> Result<(), String> {
        if !self.posted.is_empty() {
            let lost = self.posted.len();
            return Err(format!(
                "mail arrives at least once: {lost} letters did not"
            ));
        }
        let now = self.clock();
        for url in &self.owed {
            let waits = || {
                let site = url.site_hash();
                let view = self.frontier.view(site, now);
                let stored = self.disks[self.partition_of(url)].sites.get(&site);
                let is_retired = view.is_some_and(|view| matches!(view.hold, Hold::Retired(_)))
                    // It may have made room for others since.
                    || stored.is_some_and(|state| self.frontier.is_retired(state));
                is_retired && self.disks[self.partition_of(url)].is_queued(url)
            };
            if !self.watch.is_finished(url) && !waits() {
                return Err(format!(
                    "a URL admitted is fetched, retired or waiting: {url} is lost"
                ));
            }
        }
        Ok(())
    }
}
