//! What must hold at every step and at the end.

use std::time::Duration;

use geomi_engine::{LeftReason, LeftSums, partition_of};
use geomi_url::CrawlUrl;

use super::history::{CONNECTIONS, History, Stop};
use super::ledger::Sums;
use super::web::SITES;
use super::worker::Life;

/// How long a site that is well may wait for its next request while pages of it are owed.
const CONTACT_MAX: Duration = Duration::from_mins(20);

impl History {
    /// What must hold at every step.
    pub(super) fn check(&mut self) -> Result<(), String> {
        for worker in &self.workers {
            if worker.flights.len() > CONNECTIONS {
                return Err("no more requests are under way than allowed".to_owned());
            }
            worker.shared.addresses.check_invariants();
            for (partition, hosted) in &worker.engines {
                hosted.engine.frontier().check_invariants();
                let flights = worker.flights.iter();
                let own = flights.filter(|flight| flight.partition == *partition);
                let pages = own.filter(|flight| flight.is_page()).count() as u64;
                let leased = hosted.engine.counts().leased;
                if leased != pages {
                    return Err(format!(
                        "every lease is under way: {leased} are leased in p{partition}, {pages} under way"
                    ));
                }
            }
        }
        self.check_failures()?;
        if self.freshens {
            let map = self.map;
            let of = |url: &CrawlUrl| partition_of(map, url).0;
            if let Some(upkeep) = &mut self.upkeep {
                upkeep.check(&self.ledger, &self.web, of, self.now)?;
            }
            return Ok(());
        }
        self.check_contacts()
    }

    fn check_failures(&self) -> Result<(), String> {
        for (number, worker) in self.workers.iter().enumerate() {
            if worker.life != Life::Up {
                continue;
            }
            let now = self.clock(number);
            for (partition, hosted) in &worker.engines {
                if !self.is_owner(number, *partition) {
                    continue;
                }
                for view in hosted.engine.frontier().views(now) {
                    let site = self.web.site(view.key.hash64());
                    let known = self.watch.failures(site);
                    if known.is_some_and(|known| view.state.failures > known) {
                        return Err(format!("failures end with an answer: {}", view.key));
                    }
                }
            }
        }
        Ok(())
    }

    /// No site that is well waits for ever, whatever the others do.
    fn check_contacts(&mut self) -> Result<(), String> {
        if self.now.since(self.contacts_checked) < Duration::from_mins(1) {
            return Ok(());
        }
        self.contacts_checked = self.now;
        let mut since = [None; SITES];
        for (url, owed) in &self.ledger.owed_since {
            if !self.ledger.is_finished(url) && !self.web.is_ever_forbidden(url) {
                let site = self.web.site_of(url);
                since[site] = since[site].max(Some(*owed));
            }
        }
        for (site, owed) in since.into_iter().enumerate() {
            let url = self.web.front(site);
            let Some(owed) = owed.filter(|_| self.web.was_always_well(url, self.now)) else {
                continue;
            };
            let partition = usize::from(self.partition(url));
            let from = owed.max(self.contact_from[partition]);
            let from = self.watch.contacted(site).map_or(from, |at| at.max(from));
            let waited = self.now.since(from);
            if waited > CONTACT_MAX && self.owners[partition].is_some() {
                return Err(format!(
                    "a site that is well is contacted within a bound: {url} waited {} s",
                    waited.as_secs()
                ));
            }
        }
        Ok(())
    }

    /// Counters are what happened, as far as it is durable.
    pub(super) fn check_sums(&self, partition: u16, told: Sums) -> Result<(), Stop> {
        let sums = self.ledger.sums[usize::from(partition)];
        if sums != told {
            return Err(Stop::Violation(format!(
                "counters say what happened: p{partition} counts {told:?}, there were {sums:?}"
            )));
        }
        Ok(())
    }

    /// What must hold when the crawl has come to its end: nothing was lost.
    pub(super) fn check_end(&self) -> Result<(), String> {
        for (worker, partition) in self.all_engines() {
            let engine = &self.workers[worker].engines[&partition].engine;
            let counters = engine.counters();
            let told = Sums {
                visits: counters.visits,
                captured: counters.captured,
                saved: counters.saved,
                visits_saved: counters.visits_saved,
                retried: counters.retried,
            };
            if told != self.ledger.sums[usize::from(partition)] {
                return Err(format!(
                    "counters say what happened: p{partition} counts {told:?}, there were {:?}",
                    self.ledger.sums[usize::from(partition)]
                ));
            }
            let mut sums = LeftSums::default();
            let left = engine.add_left(&mut sums);
            left.map_err(|error| format!("what is left can be read: {error}"))?;
            let left = sums.into_left();
            let groups = left.iter().flat_map(|left| &left.groups);
            for group in groups {
                if group.reason == LeftReason::Queued {
                    return Err(format!(
                        "what is left at the end is left for a reason: {:?}",
                        group.example
                    ));
                }
            }
            let left = left.as_ref().map_or(0, |left| left.urls);
            self.check_owed(partition, left)?;
        }
        self.check_records()
    }

    /// Every URL that must not be lost is visited, refused, or left.
    fn check_owed(&self, partition: u16, left: u64) -> Result<(), String> {
        let owed = self.ledger.owed.iter();
        let owed = owed.filter(|url| self.partition(url) == partition);
        let open: Vec<_> = owed.filter(|url| !self.ledger.is_finished(url)).collect();
        let lost = |url: &&&CrawlUrl| !self.web.is_ever_forbidden(url);
        let lost: Vec<_> = open.iter().filter(lost).collect();
        if lost.len() as u64 > left {
            return Err(format!(
                "a URL admitted is fetched, refused or waiting: {} of p{partition} are not, and {left} wait; such as {}",
                lost.len(),
                lost[0]
            ));
        }
        Ok(())
    }

    /// The archive has a record for every visit, and no other but those that a crash or
    /// a worker that lost its partition left behind.
    fn check_records(&self) -> Result<(), String> {
        let records: usize = self
            .archive
            .files
            .iter()
            .map(|file| file.records.len())
            .sum();
        let named = self.ledger.records();
        if records < named || (!self.may_leave_records && records > named) {
            return Err(format!(
                "the archive has the records of the visits: {records}, not {named}"
            ));
        }
        Ok(())
    }

    fn all_engines(&self) -> Vec<(usize, u16)> {
        let workers = self.workers.iter().enumerate();
        let all = workers.flat_map(|(number, worker)| {
            let engines = worker.engines.keys();
            engines.map(move |partition| (number, *partition))
        });
        all.filter(|(number, partition)| self.is_owner(*number, *partition))
            .collect()
    }

    /// What must hold when a crawl that was kept fresh is left.
    pub(super) fn check_fresh_end(&self) -> Result<(), String> {
        for (worker, partition) in self.all_engines() {
            let engine = &self.workers[worker].engines[&partition].engine;
            let (_, postponed) = engine.discovered();
            self.check_owed(
                partition,
                engine.waiting() + engine.counts().leased + postponed,
            )?;
        }
        Ok(())
    }
}
