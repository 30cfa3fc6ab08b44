//! How partitions come to workers and leave them: opened, closed, lost with a process
//! that died, taken away from one that sleeps.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::time::Duration;

use geomi_cluster::PartitionId;
use geomi_engine::{Engine, EngineError, Round, SeedInput, partition_of};
use geomi_model::{Fate, Visit};
use geomi_url::CrawlUrl;

use super::history::{CRASH_ONE_IN, CRASHES_MAX, History, PARTITIONS, Stop};
use super::ledger::Sums;
use super::upkeep::copies;
use super::web::SITES;
use super::worker::{Hosted, Life, Stage, Worker};

fn broken(error: impl Into<EngineError>) -> Stop {
    Stop::Violation(format!("a partition can be opened: {}", error.into()))
}

impl History {
    pub(super) fn partition(&self, url: &CrawlUrl) -> u16 {
        partition_of(self.map, url).0
    }

    /// The sites of a partition, and where they listen.
    pub(super) fn sites_of(&self, partition: u16) -> Vec<(usize, IpAddr)> {
        let sites = (0..SITES).filter(|site| self.partition(self.web.front(*site)) == partition);
        sites.map(|site| (site, self.web.address(site))).collect()
    }

    /// Gives a partition to a worker.
    pub(super) fn open(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        let at = usize::from(partition);
        let holder = self.owners[at].take();
        let is_taken_away =
            holder.is_some_and(|holder| self.workers[holder].engines.contains_key(&partition));
        self.tell(format_args!("w{worker} opens p{partition}"));
        if let Some(holder) = holder.filter(|_| is_taken_away) {
            self.note_durable(holder, partition)?;
            self.forget(holder, partition);
        }
        let place = self.places[at].open(is_taken_away).map_err(broken)?;
        let now = self.clock(worker);
        let shared = &mut self.workers[worker].shared;
        let id = PartitionId(partition);
        let engine =
            Engine::open(id, self.map, &self.config, place, shared, now).map_err(broken)?;
        let hosted = Hosted {
            durable_visit: engine.last_visit(),
            engine,
            stage: Stage::Stays,
            commits: 0,
            kept: VecDeque::new(),
        };
        self.owners[at] = Some(worker);
        self.workers[worker].engines.insert(partition, hosted);
        self.check_opened(worker, partition)?;
        let sites = self.sites_of(partition);
        let offset = self.workers[worker].clock_off_us;
        let forward = (offset - self.last_offsets[at]).max(0) as u64;
        self.last_offsets[at] = offset;
        let forward = Duration::from_micros(forward);
        let is_clean = std::mem::take(&mut self.is_clean[at]);
        (self.watch).reopened(&sites, forward, is_clean, self.now);
        self.contact_from[at] = self.now;
        self.office.reopened(partition, self.now);
        self.begin(worker, partition)?;
        self.workers[worker].wakes_at = Some(self.now);
        Ok(())
    }

    /// The run of a partition begins: rows go into files, the seeds are given.
    fn begin(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        self.write_rows(worker, partition)?;
        if let Some(upkeep) = &mut self.upkeep {
            let map = self.map;
            let of = |url: &CrawlUrl| partition_of(map, url).0;
            let copies = copies(&self.ledger, of, partition);
            upkeep.begins(partition, copies, &self.ledger, of, self.now);
        }
        let seeds = self.seeds.iter();
        let own = seeds.filter(|seed| self.partition(seed) == partition);
        let own: Vec<SeedInput> = own
            .map(|url| SeedInput {
                url: url.clone(),
                topic: None,
            })
            .collect();
        for seed in &own {
            // A seed that could not be reached gets another chance in each run.
            let last = self.ledger.pages.get(&seed.url).and_then(|page| page.last);
            if last.is_some_and(|(fate, _)| fate == Fate::Failed) {
                self.watch.retried(&seed.url);
            }
        }
        self.with_engine(worker, partition, None, |engine, around| {
            engine.set_running(true);
            let round = Round::wanted(std::iter::once(engine.round()), false, true);
            engine.begin(round, around)?;
            engine.admit_given(0, &own, around)
        })?;
        self.commit(worker)
    }

    /// Durable rows that are still in the state go into a file.
    pub(super) fn write_rows(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        let hosted = self.workers[worker].engines.get_mut(&partition);
        let hosted = hosted.expect("rows of an engine that is hosted");
        let mut rows: Vec<Visit> = Vec::new();
        let durable = hosted.durable_visit;
        (hosted.engine)
            .loose_visits(&mut |visit| rows.push(visit))
            .map_err(broken)?;
        rows.retain(|visit| visit.number <= durable);
        let numbers: Vec<u64> = rows.iter().map(|visit| visit.number).collect();
        self.archive.write_rows(partition, rows);
        self.durable_step(worker)?;
        let hosted = self.workers[worker].engines.get_mut(&partition);
        let engine = &mut hosted.expect("it was just there").engine;
        for number in numbers {
            engine.forget_visit(number);
        }
        Ok(())
    }

    /// What must hold when a partition was opened: its state is what was durable.
    fn check_opened(&mut self, worker: usize, partition: u16) -> Result<(), Stop> {
        let at = usize::from(partition);
        let engine = &self.workers[worker].engines[&partition].engine;
        let mark = engine.archive_mark().map_err(broken)?;
        let last_visit = engine.last_visit();
        let counters = engine.counters().clone();
        let mut loose = Vec::new();
        engine
            .loose_visits(&mut |visit| loose.push(visit))
            .map_err(broken)?;
        // Durable, and the process died before it could say so.
        for visit in loose {
            if visit.number > self.ledger.last[at] {
                self.take_durable(partition, &visit)?;
            }
        }
        if self.ledger.last[at] != last_visit {
            return Err(Stop::Violation(format!(
                "every durable visit is known: p{partition} has {last_visit}, not {}",
                self.ledger.last[at]
            )));
        }
        let file = self
            .archive
            .files
            .iter()
            .find(|file| Some(&file.name) == mark.file.as_ref());
        if file.map_or(0, |file| file.synced as u64) < mark.offset {
            return Err(Stop::Violation(format!(
                "the archive reaches as far as the state says: p{partition} {mark:?}"
            )));
        }
        let sums = Sums {
            visits: counters.visits,
            captured: counters.captured,
            saved: counters.saved,
            visits_saved: counters.visits_saved,
            retried: counters.retried,
        };
        self.check_sums(partition, sums)
    }

    /// A visit is durable.
    pub(super) fn take_durable(&mut self, partition: u16, visit: &Visit) -> Result<(), Stop> {
        (self.ledger).durable(partition, visit, &self.archive, self.now)?;
        if !visit.is_robots && self.ledger.fate(visit) != Fate::Retry {
            self.watch.finished(visit.url.clone());
        }
        Ok(())
    }

    /// Something was made durable: the process may die here.
    pub(super) fn durable_step(&mut self, _worker: usize) -> Result<(), Stop> {
        let phase = usize::from(self.freshens);
        let may = self.has_faults && self.crashes < CRASHES_MAX[phase];
        if may && self.draws.once_in(CRASH_ONE_IN[phase]) {
            self.crashes += 1;
            return Err(Stop::Crash);
        }
        Ok(())
    }

    /// What an engine that is gone had not made durable is forgotten.
    fn forget(&mut self, worker: usize, partition: u16) {
        let sites = self.sites_of(partition);
        let map = self.map;
        let is_theirs = |url: &CrawlUrl| partition_of(map, url).0 == partition;
        self.watch.forgotten(worker, &sites, is_theirs);
    }

    /// A worker lets go of an engine, with everything that is not durable.
    pub(super) fn drop_engine(&mut self, worker: usize, partition: u16) {
        let host = &mut self.workers[worker];
        host.engines.remove(&partition);
        host.flights.retain(|flight| flight.partition != partition);
        host.shared.forget(PartitionId(partition));
        host.forget_mail(partition);
        self.contact_from[usize::from(partition)] = self.now;
    }

    /// The process of a worker dies.
    pub(super) fn crash(&mut self, worker: usize) {
        let step_s = self.draws.below(60) as i64 - 30;
        let step_us = if self.draws.once_in(2) {
            step_s * 1_000_000
        } else {
            0
        };
        self.tell(format_args!(
            "w{worker} dies; its clock steps by {} s",
            step_us / 1_000_000
        ));
        for partition in self.hosted(worker) {
            if self.is_owner(worker, partition) {
                if let Err(Stop::Violation(what)) = self.note_durable(worker, partition) {
                    self.tell(format_args!("{what}"));
                }
                self.forget(worker, partition);
                self.release(partition);
            }
            self.drop_engine(worker, partition);
        }
        self.watch.died(worker);
        self.cut_archive(worker);
        let clock_off_us = self.workers[worker].clock_off_us + step_us;
        let file = self.archive.begin(worker);
        self.workers[worker] = Worker::new(file, clock_off_us);
        let down = Duration::from_millis(self.draws.below(3_000));
        self.workers[worker].life = Life::Down(self.now + down);
    }

    /// A partition is nobody's: it is given to a worker a little later.
    pub(super) fn release(&mut self, partition: u16) {
        let at = usize::from(partition);
        self.owners[at] = None;
        let wait = Duration::from_millis(self.draws.below(2_000));
        self.claims.push((self.now + wait, partition));
    }

    /// A part of what was not synced may have reached the disk; what no durable commit
    /// speaks of is cut off.
    fn cut_archive(&mut self, worker: usize) {
        let number = self.workers[worker].file;
        let marks = self.marks.iter().flatten();
        let own = marks.filter(|(file, _)| *file == number);
        let end = own.map(|(_, end)| *end).max().unwrap_or(0);
        let file = &mut self.archive.files[number];
        let unsynced = file.records.len() - file.synced;
        file.synced += self.draws.below(unsynced as u64 + 1) as usize;
        // A commit that was durable and was not told of may say more.
        let named = (0..file.synced).filter(|at| self.is_named(number, *at));
        let named = named.max().map_or(0, |last| last + 1);
        let file = &mut self.archive.files[number];
        let end = end.max(named).min(file.synced);
        file.records.truncate(end);
        file.synced = end;
    }

    /// Begins to move a partition to another worker.
    pub(super) fn begin_move(&mut self, partition: u16) {
        let Some(owner) = self.owners[usize::from(partition)] else {
            return;
        };
        if self.workers[owner].life != Life::Up {
            return;
        }
        self.tell(format_args!("p{partition} is to leave w{owner}"));
        if let Some(hosted) = self.workers[owner].engines.get_mut(&partition) {
            hosted.stage = Stage::Drains;
            hosted.engine.set_running(false);
        }
        self.workers[owner].wakes_at = Some(self.now);
    }

    /// Brings moves on that were begun.
    pub(super) fn move_on(&mut self, worker: usize) -> Result<(), Stop> {
        for partition in self.hosted(worker) {
            let flights = self.workers[worker].flights.iter();
            let is_flying = flights
                .filter(|flight| flight.partition == partition)
                .count()
                > 0;
            let hosted = self.workers[worker].engines.get_mut(&partition);
            let hosted = hosted.expect("it is hosted");
            match hosted.stage {
                Stage::Drains if !is_flying => {
                    // It is not called clean: sites would be asked at once.
                    self.close_engine(worker, partition, false, false)?;
                    if let Some(hosted) = self.workers[worker].engines.get_mut(&partition) {
                        hosted.stage = Stage::Closes;
                    }
                }
                Stage::Closes => {
                    let durable = hosted.engine.durable().map_err(broken)?;
                    if durable.0 >= hosted.commits && !hosted.engine.is_dirty() {
                        self.settle_durable(worker)?;
                        self.let_go(worker, partition, false);
                    } else {
                        self.commit_engine(worker, partition)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Closes an engine; what it commits last is yet to become durable.
    pub(super) fn close_engine(
        &mut self,
        worker: usize,
        partition: u16,
        is_finished: bool,
        is_clean: bool,
    ) -> Result<(), Stop> {
        let hosted = self.workers[worker].engines.get_mut(&partition);
        hosted.expect("it is hosted").engine.close(is_finished);
        self.commit(worker)?;
        let Some(hosted) = self.workers[worker].engines.get_mut(&partition) else {
            return Ok(());
        };
        if is_clean {
            hosted.engine.set_clean();
        }
        self.commit_engine(worker, partition)
    }

    /// A closed engine is dropped, with everything durable.
    pub(super) fn let_go(&mut self, worker: usize, partition: u16, is_clean: bool) {
        self.tell(format_args!("w{worker} lets p{partition} go"));
        self.is_clean[usize::from(partition)] = is_clean;
        self.drop_engine(worker, partition);
        self.release(partition);
    }

    fn is_named(&self, file: usize, at: usize) -> bool {
        let name = &self.archive.files[file].name;
        self.ledger.names(name, at as u64)
    }

    /// From now on the crawl is kept fresh, by new processes.
    pub(super) fn freshen(&mut self, has_ended: bool) -> Result<(), Stop> {
        let is_killed = !has_ended || self.draws.once_in(2);
        // It is closed or killed, and does not die on the way.
        self.has_faults = false;
        for worker in 0..self.workers.len() {
            if !is_killed && self.workers[worker].life == Life::Up {
                for partition in self.hosted(worker) {
                    self.close_engine(worker, partition, true, true)?;
                    self.places[usize::from(partition)].flush(usize::MAX);
                    self.announce(worker, partition)?;
                    self.let_go(worker, partition, true);
                }
            }
            self.crash(worker);
        }
        if !is_killed {
            // After a stop in order sites are asked at once: whoever starts the crawl again
            // takes longer than a delay.
            self.now = self.now + Duration::from_mins(1);
        }
        self.has_faults = true;
        self.freshens = true;
        self.watch.has_revisits = true;
        self.config.refresh = Some(self.refresh.clone());
        self.upkeep = super::upkeep::Upkeep::new(&self.config, PARTITIONS, self.now);
        Ok(())
    }
}
