//! A worker: it hosts engines and goes round as the worker of `geomi-crawler` does.
//!
//! One round takes in what arrived, lets the engines queue what is due, takes mail in,
//! commits, changes turns and sends out as many jobs as there is room for. Between any
//! two durable steps of it the process may die.

use std::collections::{BTreeMap, VecDeque};

use geomi_cluster::PartitionId;
use geomi_engine::{Around, Engine, EngineError, Poll, Shared, keeper};
use geomi_frontier::Work;
use geomi_model::{Attempt, Fate, Timestamp, is_guess};
use geomi_robots::{CACHE_MAX, RobotsPolicy};
use geomi_state::CommitNo;

use super::archive::{Record, RecordEnds, SimWorld};
use super::history::{
    AGENT, CONNECTIONS, History, LOOK_EVERY, REPORT_EVERY, ROBOTS_SLACK, Stop, TICK, TRIES,
};
use super::ledger::Handed;
use super::network::{self, Flight};
use super::place::is_fenced;
use super::trouble::Ends;
use super::watch::Kept;
use super::web::{Answer, START};

/// Whether a worker runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Life {
    Up,
    /// It does nothing until then, and does not know it.
    Asleep(Timestamp),
    /// It is dead until then.
    Down(Timestamp),
}

/// How far a partition is on its way to another worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Stays,
    /// Nothing new is begun; what is under way comes back first.
    Drains,
    /// Closed; its last commit becomes durable.
    Closes,
}

/// What a commit remembers of sites once it is durable, and where the archive then ends.
pub(super) type Promised = (CommitNo, Vec<Kept>, Option<(usize, usize)>);

/// An engine, and what the worker keeps beside it.
pub(super) struct Hosted {
    pub(super) engine: Engine,
    pub(super) stage: Stage,
    /// Commits since it was opened.
    pub(super) commits: u64,
    /// The last durable visit.
    pub(super) durable_visit: u64,
    /// What commits remember of sites, and where the archive ended.
    pub(super) kept: VecDeque<Promised>,
}

/// Mail that was taken in and is not acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    to: u16,
    from: u16,
    number: u64,
    commit: CommitNo,
}

/// A worker.
pub(super) struct Worker {
    pub(super) life: Life,
    /// What its clock is wrong by, in microseconds.
    pub(super) clock_off_us: i64,
    pub(super) engines: BTreeMap<u16, Hosted>,
    pub(super) shared: Shared,
    pub(super) flights: Vec<Flight>,
    /// The archive file it writes, and how far commits may say that it reaches.
    pub(super) file: usize,
    pub(super) ends: RecordEnds,
    reached: usize,
    taken: Vec<Taken>,
    /// When it goes round next, if nothing arrives before.
    pub(super) wakes_at: Option<Timestamp>,
    /// Which engine is asked first for the next job.
    next_engine: usize,
}

impl Worker {
    pub(super) fn new(file: usize, clock_off_us: i64) -> Self {
        Self {
            life: Life::Up,
            clock_off_us,
            engines: BTreeMap::new(),
            shared: Shared::default(),
            flights: Vec::new(),
            file,
            ends: RecordEnds::new(),
            reached: 0,
            taken: Vec::new(),
            wakes_at: None,
            next_engine: 0,
        }
    }

    pub(super) fn forget_mail(&mut self, partition: u16) {
        self.taken.retain(|taken| taken.to != partition);
        self.ends.remove(&partition);
    }
}

fn broken(error: EngineError) -> Stop {
    Stop::Violation(format!("an engine does not fail: {error}"))
}

impl History {
    /// The time as a worker knows it.
    pub(super) fn clock(&self, worker: usize) -> Timestamp {
        Timestamp::from_micros(self.now.micros() + self.workers[worker].clock_off_us)
    }

    fn true_time(&self, worker: usize, clock: Timestamp) -> Timestamp {
        Timestamp::from_micros(clock.micros() - self.workers[worker].clock_off_us)
    }

    /// Calls an engine, with what surrounds it.
    pub(super) fn with_engine<T>(
        &mut self,
        worker: usize,
        partition: u16,
        record: Option<Record>,
        call: impl FnOnce(&mut Engine, &mut Around<'_>) -> Result<T, EngineError>,
    ) -> Result<T, Stop> {
        let now = self.clock(worker);
        let worker = &mut self.workers[worker];
        let hosted = worker.engines.get_mut(&partition);
        let hosted = hosted.expect("a worker calls engines that it hosts");
        let mut world = SimWorld {
            archive: &mut self.archive,
            file: worker.file,
            partition,
            ends: &mut worker.ends,
            record,
        };
        let mut around = Around {
            now,
            shared: &mut worker.shared,
            world: &mut world,
        };
        call(&mut hosted.engine, &mut around).map_err(broken)
    }

    /// The partitions that a worker hosts.
    pub(super) fn hosted(&self, worker: usize) -> Vec<u16> {
        self.workers[worker].engines.keys().copied().collect()
    }

    fn staying(&self, worker: usize) -> Vec<u16> {
        let engines = self.workers[worker].engines.iter();
        let staying = engines.filter(|(_, hosted)| hosted.stage == Stage::Stays);
        staying.map(|(partition, _)| *partition).collect()
    }

    /// One round of a worker.
    pub(super) fn round(&mut self, worker: usize) -> Result<(), Stop> {
        self.workers[worker].wakes_at = None;
        self.land_all(worker)?;
        for partition in self.staying(worker) {
            self.with_engine(worker, partition, None, |engine, around| {
                engine.keep_up(around)?;
                engine.review_known(around)
            })?;
        }
        self.take_mail(worker)?;
        self.commit(worker)?;
        // It may have slept for longer than its claims hold, with nothing to commit.
        for partition in self.hosted(worker) {
            if !self.is_owner(worker, partition) {
                self.drop_engine(worker, partition);
            }
        }
        for partition in self.staying(worker) {
            self.with_engine(worker, partition, None, Engine::change_turns)?;
        }
        let polled = self.lease_more(worker)?;
        self.move_on(worker)?;
        let now = self.clock(worker);
        let engines = self.workers[worker].engines.values();
        let planned = engines.filter_map(|hosted| hosted.engine.wakeup(now));
        // A plan that does not move on is asked again a second later.
        let soon = now + std::time::Duration::from_secs(1);
        let planned = planned.map(|when| when.max(soon));
        let wakes_at = polled.into_iter().chain(planned).min();
        self.is_waiting[worker] = wakes_at.is_some();
        let wakes_at = wakes_at.map(|when| self.true_time(worker, when).max(self.now));
        let has_work = |hosted: &Hosted| hosted.engine.has_work_now();
        let has_work = self.workers[worker].engines.values().any(has_work);
        let soon = has_work.then(|| self.now + TICK);
        let is_dirty = |hosted: &Hosted| hosted.engine.is_dirty();
        let is_dirty = self.workers[worker].engines.values().any(is_dirty);
        let closes = |hosted: &Hosted| hosted.stage == Stage::Closes;
        let closes = self.workers[worker].engines.values().any(closes);
        let later = (is_dirty || closes).then(|| self.now + REPORT_EVERY);
        // Sites wait for a turn that nothing but time brings.
        let hidden = |hosted: &Hosted| {
            let engine = &hosted.engine;
            engine.waiting() > 0 && engine.frontier().next_wakeup().is_none()
        };
        let hidden = self.workers[worker].engines.values().any(hidden);
        let hidden = hidden && self.workers[worker].flights.is_empty();
        let look = hidden.then(|| self.now + LOOK_EVERY);
        let wakes = wakes_at.into_iter().chain(soon).chain(later).chain(look);
        let is_idle = |hosted: &Hosted| hosted.engine.is_idle();
        let is_idle = self.workers[worker].engines.values().all(is_idle);
        let look =
            (!is_idle && self.workers[worker].flights.is_empty()).then(|| self.now + LOOK_EVERY);
        self.workers[worker].wakes_at = wakes.min().or(look);
        Ok(())
    }

    /// Hands over what has landed, partition by partition: records lie in the archive in
    /// the order of the commits.
    fn land_all(&mut self, worker: usize) -> Result<(), Stop> {
        let now = self.now;
        let flights = std::mem::take(&mut self.workers[worker].flights);
        let (mut landed, flying): (Vec<_>, Vec<_>) =
            flights.into_iter().partition(|flight| flight.lands <= now);
        self.workers[worker].flights = flying;
        landed.sort_by_key(|flight| (flight.partition, flight.lands));
        for flight in landed {
            self.land(worker, flight)?;
        }
        Ok(())
    }

    fn land(&mut self, worker: usize, flight: Flight) -> Result<(), Stop> {
        let partition = flight.partition;
        let now = self.now;
        let Some(url) = flight.url.clone() else {
            let Work::Resolve { host, .. } = flight.lease.work() else {
                unreachable!("only look-ups have no URL")
            };
            let looked_up = network::looked_up(&self.web, host, now);
            return self.with_engine(worker, partition, None, |engine, around| {
                engine.looked_up(flight.lease, looked_up, around);
                Ok(())
            });
        };
        self.tell(format_args!("w{worker} {:?} {url}", flight.ends));
        let site = self.web.site_of(&url);
        let (ends, holds, landed) = (flight.ends, flight.holds, flight.lands);
        let took = landed.since(flight.started);
        let addr = self.web.address(site);
        // A worker that lost the partition is not heard any more.
        let is_owner = self.is_owner(worker, partition);
        if is_owner {
            (self.watch).answer(worker, site, addr, &url, ends, took, landed);
        }
        if let (Ends::Answered(Answer::Page(content, _)), Some(page)) = (ends, self.web.page(&url))
        {
            self.tag(&url, network::content_hash(page.site, content), content);
        }
        let ended = self.clock(worker);
        let ended = Timestamp::from_micros(ended.micros() - now.since(landed).as_micros() as i64);
        let mut arrival = network::arrival(&self.web, flight, ended, landed);
        let unknown = self.workers[worker].engines[&partition]
            .engine
            .unknown_content(&arrival)
            .map_err(broken)?;
        if let Some(digest) = unknown {
            let keeper = keeper(self.map, &digest);
            let keeper = self.workers[worker].engines.get(&keeper.0);
            let original = keeper.map(|keeper| keeper.engine.stored(&digest));
            arrival.original = original.transpose().map_err(broken)?.flatten();
        }
        let work = arrival.lease.work().clone();
        let leads = match ends {
            Ends::Answered(Answer::Page(..)) => {
                let links = arrival.document.links.iter();
                links.map(|link| link.url.clone()).collect()
            }
            Ends::Answered(Answer::Moved(_)) => arrival.answer.location.iter().cloned().collect(),
            _ => Vec::new(),
        };
        let handed = Handed {
            holds,
            leads,
            is_complete: arrival.content.is_some(),
        };
        self.ledger.hands(&url, arrival.started, handed);
        let record = arrival.content.is_some().then(|| Record {
            url: url.clone(),
            time: arrival.started,
        });
        match work {
            _ if !is_owner => {}
            Work::Robots(errand, _) => {
                let site = self.web.site(errand.for_site);
                let is_own = self.web.robots_at(site).is_none();
                let told = arrival.answer.robots.as_deref().filter(|_| is_own);
                let told = told.and_then(|rules: &RobotsPolicy| rules.crawl_delay(AGENT));
                self.watch.told(site, told);
            }
            Work::Page(entry, _) => {
                let attempt = Attempt {
                    state: arrival.answer.state,
                    code: arrival.answer.code,
                    has_target: arrival.answer.location.is_some(),
                    is_guess: is_guess(&url),
                    number: entry.attempts + 1,
                };
                if attempt.fate(TRIES) != Fate::Retry {
                    self.watch.took_in(url.clone());
                }
            }
            Work::Resolve { .. } => {}
        }
        self.with_engine(worker, partition, record, |engine, around| {
            engine.arrived(arrival, around)
        })
    }

    fn take_mail(&mut self, worker: usize) -> Result<(), Stop> {
        for partition in self.staying(worker) {
            let mails = (self.office).collect(partition, self.now, &mut self.draws);
            for mail in mails {
                self.tell(format_args!(
                    "mail {} from p{} to p{partition}",
                    mail.number, mail.from
                ));
                let commit = self.with_engine(worker, partition, None, |engine, around| {
                    engine.receive(PartitionId(mail.from), mail.number, &mail.body, around)
                })?;
                self.workers[worker].taken.push(Taken {
                    to: partition,
                    from: mail.from,
                    number: mail.number,
                    commit,
                });
            }
        }
        Ok(())
    }

    /// Makes a round durable, as the worker of `geomi-crawler` does.
    pub(super) fn commit(&mut self, worker: usize) -> Result<(), Stop> {
        for partition in self.hosted(worker) {
            self.with_engine(worker, partition, None, Engine::prepare_commit)?;
        }
        if !self.workers[worker].ends.is_empty() {
            self.durable_step(worker)?;
            let file = &mut self.archive.files[self.workers[worker].file];
            file.synced = file.records.len();
            self.durable_step(worker)?;
        }
        for partition in self.hosted(worker) {
            self.commit_engine(worker, partition)?;
        }
        self.settle_durable(worker)
    }

    /// Commits one engine. A worker that lost the partition notices it here.
    pub(super) fn commit_engine(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        let host = &mut self.workers[worker];
        if let Some(end) = host.ends.remove(&partition) {
            host.reached = host.reached.max(end);
        }
        let hosted = host.engines.get_mut(&partition);
        let hosted = hosted.expect("a worker commits engines that it hosts");
        if !hosted.engine.is_dirty() {
            return Ok(());
        }
        let (file, reached) = (host.file, host.reached);
        let name = (reached > 0).then(|| self.archive.files[file].name.as_str());
        match hosted.engine.commit(name, reached as u64) {
            Ok(()) => {}
            Err(error) if is_fenced(&error) => {
                self.tell(format_args!("w{worker} has lost p{partition}"));
                self.drop_engine(worker, partition);
                return Ok(());
            }
            Err(error) => return Err(broken(error)),
        }
        hosted.commits += 1;
        let number = CommitNo(hosted.commits);
        let sites = self.sites_of(partition);
        let kept = sites.iter().map(|(site, _)| self.watch.to_keep(*site));
        let kept = kept.collect();
        let mark = (reached > 0).then_some((file, reached));
        let hosted = self.workers[worker].engines.get_mut(&partition);
        hosted
            .expect("it was just there")
            .kept
            .push_back((number, kept, mark));
        if self.places[usize::from(partition)].is_late() {
            let wait = self.draws.below(3_000);
            let at = self.now + std::time::Duration::from_millis(wait);
            let last = self.flushes.iter().filter(|(_, of)| *of == partition);
            let at = last
                .map(|(at, _)| *at)
                .max()
                .map_or(at, |last| at.max(last));
            self.flushes.push((at, partition));
        }
        self.durable_step(worker)
    }

    /// What may happen now because commits are durable: visits are announced, mail
    /// leaves, mail is acknowledged.
    pub(super) fn settle_durable(&mut self, worker: usize) -> Result<(), Stop> {
        for partition in self.hosted(worker) {
            self.announce(worker, partition)?;
            let host = &mut self.workers[worker];
            let hosted = host.engines.get_mut(&partition);
            let engine = &mut hosted.expect("it is hosted").engine;
            while let Some(posted) = engine.next_mail() {
                (self.office).publish(partition, posted, self.now, &mut self.draws);
            }
        }
        self.durable_step(worker)?;
        self.acknowledge(worker)
    }

    /// What durable commits remember is not forgotten.
    pub(super) fn note_durable(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        let hosted = self.workers[worker].engines.get_mut(&partition);
        let hosted = hosted.expect("a worker asks engines that it hosts");
        let durable = hosted.engine.durable().map_err(broken)?;
        while let Some((number, ..)) = hosted.kept.front()
            && *number <= durable
            && let Some((_, sites, mark)) = hosted.kept.pop_front()
        {
            for site in sites {
                self.watch.kept(site);
            }
            if mark.is_some() {
                self.marks[usize::from(partition)] = mark;
            }
        }
        Ok(())
    }

    /// Visits of durable commits reach the book-keeper.
    pub(super) fn announce(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        self.note_durable(worker, partition)?;
        let hosted = self.workers[worker].engines.get_mut(&partition);
        let hosted = hosted.expect("a worker announces visits of engines that it hosts");
        let effects = hosted.engine.effects().map_err(broken)?;
        if let Some(last) = effects.visits.last() {
            hosted.durable_visit = last.number;
        }
        if !self.is_owner(worker, partition) {
            // Whoever has the partition now found them in its state.
            return Ok(());
        }
        for visit in effects.visits {
            self.take_durable(partition, &visit)?;
        }
        Ok(())
    }

    fn acknowledge(&mut self, worker: usize) -> Result<(), Stop> {
        let mut waiting = Vec::new();
        for taken in std::mem::take(&mut self.workers[worker].taken) {
            let Some(hosted) = self.workers[worker].engines.get_mut(&taken.to) else {
                continue;
            };
            if taken.commit <= hosted.engine.durable().map_err(broken)? {
                (self.office).acknowledge(taken.to, taken.from, taken.number, &mut self.draws);
                if let Some(sender) = self.owners[usize::from(taken.from)] {
                    let wakes_at = self.workers[sender].wakes_at;
                    self.workers[sender].wakes_at = wakes_at.into_iter().chain([self.now]).min();
                }
            } else {
                waiting.push(taken);
            }
        }
        let host = &mut self.workers[worker];
        host.taken = waiting;
        for (partition, hosted) in &mut host.engines {
            for to in hosted.engine.awaited() {
                if let Some(number) = self.office.acknowledged(*partition, to.0) {
                    hosted.engine.acknowledged(to, number);
                }
            }
        }
        Ok(())
    }

    /// Sends out as many jobs as there is room for; says when there may be more, by the
    /// clock of the worker.
    fn lease_more(&mut self, worker: usize) -> Result<Option<Timestamp>, Stop> {
        self.route_calls(worker)?;
        let mut engines = self.staying(worker);
        // That a run began is durable before the first request: otherwise a crash would
        // leave a state that needs no rest.
        let host = &mut self.workers[worker];
        engines.retain(|partition| {
            let hosted = host.engines.get_mut(partition);
            let durable = hosted.map(|hosted| hosted.engine.durable());
            matches!(durable, Some(Ok(durable)) if durable.0 > 0)
        });
        let mut waits: Vec<Option<Option<Timestamp>>> = vec![None; engines.len()];
        let mut asked = self.workers[worker].next_engine;
        while self.workers[worker].flights.len() < CONNECTIONS && waits.iter().any(Option::is_none)
        {
            let index = asked % engines.len();
            asked += 1;
            if waits[index].is_some() {
                continue;
            }
            let partition = engines[index];
            match self.with_engine(worker, partition, None, Engine::poll)? {
                Poll::Start(job) => self.start(worker, partition, *job)?,
                Poll::Wait(when) => waits[index] = Some(when),
            }
            self.route_calls(worker)?;
        }
        self.workers[worker].next_engine = asked % engines.len().max(1);
        Ok(waits.into_iter().flatten().flatten().min())
    }

    /// Passes connections that became free to the sites that wait for them.
    fn route_calls(&mut self, worker: usize) -> Result<(), Stop> {
        while let Some(call) = self.workers[worker].shared.addresses.next_call() {
            self.with_engine(worker, call.frontier.0, None, |engine, around| {
                engine.called(call, around);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Sends a job out.
    fn start(&mut self, worker: usize, partition: u16, job: geomi_engine::Job) -> Result<(), Stop> {
        let geomi_engine::Job { lease, extras, .. } = job;
        let url = match lease.work() {
            Work::Resolve { host, .. } => {
                let told = format!("w{worker} look up {host}");
                self.tell(format_args!("{told}"));
                let took = std::time::Duration::from_millis(1 + self.draws.below(50));
                self.workers[worker].flights.push(Flight {
                    partition,
                    started: self.now,
                    lands: self.now + took,
                    ends: Ends::Silent,
                    holds: None,
                    url: None,
                    is_conditional: false,
                    lease,
                });
                return Ok(());
            }
            Work::Robots(errand, _) => errand.url.clone(),
            Work::Page(entry, _) => {
                if entry.attempts == 0 {
                    self.asks_again(partition, &entry.url.clone())?;
                }
                entry.url.clone()
            }
        };
        let site = self.web.site_of(&url);
        let etag = extras.validators.and_then(|known| known.etag);
        let known = etag.as_ref().and_then(|etag| self.content_of(&url, etag));
        let served = self.web.serve(&url, known, self.now, &mut self.draws);
        self.tell(format_args!("w{worker} ask {url}"));
        // Rules may be as old as they may be kept.
        let forbidden = self.web.forbidden_since(&url, self.now);
        let forbidden = forbidden.filter(|_| matches!(lease.work(), Work::Page(..)));
        let is_forbidden = forbidden
            .is_some_and(|since| since == START || since + CACHE_MAX + ROBOTS_SLACK < self.now);
        let addr = self.web.address(site);
        (self.watch).request(worker, site, addr, &url, is_forbidden, self.now)?;
        self.workers[worker].flights.push(Flight {
            partition,
            started: self.now,
            lands: self.now + served.took,
            ends: served.ends,
            holds: served.holds,
            url: Some(url),
            is_conditional: etag.is_some(),
            lease,
        });
        Ok(())
    }
}
