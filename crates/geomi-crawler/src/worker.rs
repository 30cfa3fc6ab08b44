//! The worker, and the one crawl loop of geomi: read this file first.
//!
//! A worker hosts the engines of the partitions it owns (crate `geomi-engine`) and
//! gives them what they do not have: time, network, readers, archive files, mail and
//! control. A crawl on one machine is a worker that owns all partitions of a directory.
//! [`run`] opens them, goes round until there is nothing left or the crawl is stopped,
//! and closes the directory. One round is
//!
//! ```text
//! turns     sites enter and leave memory                          (engine: turns)
//! lease     what may be done now: robots? ─▶ fetch ─▶ read        (engine: stage/lease; crew)
//! end?      nothing is left, a limit is reached, or it is stopped;
//!           before a natural end, deferred URLs get a last chance (engine: held)
//! wait      for answers, a wake-up of an engine, or a command
//! orders    other settings, more seeds, questions                 (orders)
//! upkeep    known pages again, pages that are due, new pages
//!           within their budget, deferred URLs that are released  (engine: again, refresh, held)
//! seeds     of an earlier run, and those that have come           (engine: stage/start)
//! arrive    each answer: judge ─▶ keep ─▶ settle ─▶ admit links   (engine: stage/*)
//! mail      letters of other partitions                           (post, engine: letters)
//! commit    WARC synced ─▶ engines committed ─▶ mail out ─▶ log   (worker/commit)
//! report    status.json, stats.jsonl, progress                    (report, worker/status)
//! publish   now and then the index and the lists of seeds         (publish)
//! ```
//!
//! There is no other crawl loop. The thread that runs this owns all engines; network
//! and readers work beside it and see one job at a time.

mod commit;
mod open;
mod status;
mod world;

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{after, never, select};
use geomi_cluster::Partitions;
use geomi_cluster::embedded::EmbeddedOwnership;
use geomi_engine::{
    Around, Counters, Ending, Engine, EngineError, Left, LeftSums, Observer, Phase, Poll, Round,
    SEEDS_PER_COMMIT, SeedCounts, SeedInput, Shared, Status, partition_of,
};
use geomi_model::Timestamp;
use geomi_page::Readers;
use geomi_store::CrawlDir;
use geomi_store::warc::Position;
use geomi_url::CrawlUrl;

use crate::archive::Archive;
use crate::control::{Control, Desired};
use crate::crew::{Crew, Event};
use crate::post::Post;
use crate::publish::Publisher;
use crate::quarantine::Quarantine;
use crate::refresh::TableFile;
use crate::report::Reporter;
use crate::seeds::{SeedFeed, SeedStream};
use crate::steps::Steps;
use crate::{Clock, CrawlConfig, CrawlError};

pub(crate) use open::{open_place, open_places};
use world::WorkerWorld;

/// After the first answer of a round, more are waited for this long, so that
/// they share one sync.
const GATHER_TIME: Duration = Duration::from_millis(4);
/// Answers that make a round full.
const GATHER_MAX: usize = 256;
/// How often the status is reported.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// What a crawl is run with, beside its configuration.
pub struct Surroundings<'a> {
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// How it is steered.
    pub control: Control,
    /// Receives its visits and reports.
    pub observer: &'a mut dyn Observer,
    /// Is asked after each durable step whether to go on.
    pub steps: &'a mut dyn Steps,
}

/// A worker at its crawl.
pub(crate) struct Worker<'a> {
    /// As given, and as changed since by orders.
    pub(crate) config: CrawlConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) control: Control,
    pub(crate) map: Partitions,
    /// The engines, by the number of their partition.
    pub(crate) engines: Vec<Engine>,
    pub(crate) shared: Shared,
    pub(crate) files: Files,
    /// Seeds that are still to come.
    pub(crate) feed: SeedFeed,
    pub(crate) crew: Crew,
    pub(crate) run: Run,
    /// The claims on all partitions, held as long as the crawl runs.
    _ownership: EmbeddedOwnership,
    post: Post,
    pub(crate) reporter: Reporter,
    observer: &'a mut dyn Observer,
    steps: &'a mut dyn Steps,
}

/// The files of the crawl directory that a worker writes.
pub(crate) struct Files {
    pub(crate) dir: CrawlDir,
    pub(crate) archive: Archive,
    /// Where the archive ended after the records of each partition in this round.
    pub(crate) ends: Vec<Option<Position>>,
    /// Pages that broke the reader.
    pub(crate) quarantine: Quarantine,
    pub(crate) publisher: Publisher,
    /// The schedule the refresh plan follows, if it does.
    pub(crate) table: Option<TableFile>,
}

/// How the run stands.
#[derive(Default)]
pub(crate) struct Run {
    /// Jobs that were sent out and have not come back.
    pub(crate) in_flight: usize,
    /// A limit that was reached; nothing new is begun.
    pub(crate) limit: Option<Ending>,
    /// What is left, once the crawl has come to its end.
    pub(crate) left: Option<Left>,
    /// Seeds that were given in this run so far.
    seeds_given: u64,
    /// The engine that is asked first for the next job.
    next_engine: usize,
}

/// Runs a crawl to its end and returns its last status. The caller holds the
/// directory's lock.
pub fn run(
    config: &CrawlConfig,
    dir: &CrawlDir,
    surroundings: Surroundings<'_>,
) -> Result<Status, CrawlError> {
    run_from(config, dir, surroundings, None)
}

/// The same, with a stream of seeds beside those of the configuration: they are
/// queued while pages are fetched.
pub fn run_from(
    config: &CrawlConfig,
    dir: &CrawlDir,
    surroundings: Surroundings<'_>,
    stream: Option<SeedStream>,
) -> Result<Status, CrawlError> {
    run_with(config, dir, surroundings, stream, Readers::standard)
}

/// The same, with readers other than the standard ones; each thread makes its own.
pub fn run_with(
    config: &CrawlConfig,
    dir: &CrawlDir,
    surroundings: Surroundings<'_>,
    stream: Option<SeedStream>,
    readers: fn() -> Readers,
) -> Result<Status, CrawlError> {
    let control = surroundings.control.clone();
    let outcome = Worker::open(config, dir, surroundings, stream, readers).and_then(to_the_end);
    control.close();
    outcome
}

fn to_the_end(mut worker: Worker<'_>) -> Result<Status, CrawlError> {
    match worker.go() {
        Ok(ending) => worker.close(ending),
        Err(error) => {
            // The last status of a crawl that failed should be its current one.
            let now = worker.clock.now();
            let status = worker.status(Phase::Stopping, None, now);
            worker.control.publish(&status);
            worker.crew.dismiss();
            Err(error)
        }
    }
}

impl Worker<'_> {
    /// Goes round until the crawl is at its end.
    fn go(&mut self) -> Result<Ending, CrawlError> {
        self.begin()?;
        loop {
            self.change_turns()?;
            let wakeup = self.lease_more()?;
            if let Some(ending) = self.ending(wakeup) {
                if !ending.is_natural() {
                    return Ok(ending);
                }
                if !self.call_last()? {
                    return self.end();
                }
                self.take_orders()?;
                self.commit()?;
                self.report()?;
                continue;
            }
            let events = self.wait(wakeup);
            self.take_orders()?;
            self.set_running();
            self.keep_up()?;
            self.take_seeds()?;
            for event in events {
                self.arrive(event)?;
            }
            self.take_mail()?;
            self.commit()?;
            self.report()?;
        }
    }

    /// Takes up what earlier runs left, and the seeds that were given outright.
    fn begin(&mut self) -> Result<(), CrawlError> {
        if self.config.again || self.config.engine.refresh.is_some() {
            // Rows that a crash left in the state are read from files, too.
            self.write_segments()?;
        }
        self.set_running();
        let has_visits = self.files.archive.visits() > 0;
        let rounds = self.engines.iter().map(Engine::round);
        let is_clean = self.engines.iter().all(Engine::began_clean);
        let round = Round::wanted(rounds, self.config.again && has_visits, is_clean);
        self.each_engine(|engine, around| engine.begin(round, around))?;
        self.share_budget(self.clock.now());
        let given = std::mem::take(&mut self.config.seeds);
        for some in given.chunks(SEEDS_PER_COMMIT as usize) {
            self.admit_given(some)?;
            self.commit()?;
        }
        self.take_seeds()?;
        self.take_mail()?;
        self.commit()
    }

    /// Calls each engine in turn, with what surrounds it.
    pub(crate) fn each_engine(
        &mut self,
        mut call: impl FnMut(&mut Engine, &mut Around<'_>) -> Result<(), EngineError>,
    ) -> Result<(), CrawlError> {
        for index in 0..self.engines.len() {
            self.with_engine(index, &mut call)?;
        }
        Ok(())
    }

    /// Calls one engine, with what surrounds it.
    pub(crate) fn with_engine<T>(
        &mut self,
        index: usize,
        call: impl FnOnce(&mut Engine, &mut Around<'_>) -> Result<T, EngineError>,
    ) -> Result<T, CrawlError> {
        let mut world = WorkerWorld::new(&mut self.files, index, self.engines.len());
        let mut around = Around {
            now: self.clock.now(),
            shared: &mut self.shared,
            world: &mut world,
        };
        Ok(call(&mut self.engines[index], &mut around)?)
    }

    /// Whether new work is begun.
    fn is_running(&self) -> bool {
        self.control.desired() == Desired::Run && self.run.limit.is_none()
    }

    /// Passes on whether new work is begun.
    fn set_running(&mut self) {
        let is_running = self.is_running();
        for engine in &mut self.engines {
            engine.set_running(is_running);
        }
    }

    fn change_turns(&mut self) -> Result<(), CrawlError> {
        self.each_engine(geomi_engine::Engine::change_turns)
    }

    /// Sends out as many jobs as there is room for; says when there may be more: `None`
    /// if only an event can bring some. The engines take turns.
    fn lease_more(&mut self) -> Result<Option<Timestamp>, CrawlError> {
        self.set_running();
        self.route_calls()?;
        let count = self.engines.len();
        let mut waits: Vec<Option<Option<Timestamp>>> = vec![None; count];
        let mut asked = self.run.next_engine;
        while self.may_lease() && waits.iter().any(Option::is_none) {
            let index = asked % count;
            asked += 1;
            if waits[index].is_some() {
                continue;
            }
            match self.with_engine(index, geomi_engine::Engine::poll)? {
                Poll::Start(job) => {
                    self.run.in_flight += 1;
                    self.crew.make_ready(*job);
                }
                Poll::Wait(when) => waits[index] = Some(when),
            }
            self.route_calls()?;
        }
        self.run.next_engine = asked % count;
        self.crew.send_out();
        let now = self.clock.now();
        let polled = waits.into_iter().flatten().flatten();
        let planned = self.engines.iter().filter_map(|engine| engine.wakeup(now));
        Ok(polled.chain(planned).min())
    }

    /// Passes connections that became free to the sites that wait for them.
    fn route_calls(&mut self) -> Result<(), CrawlError> {
        while let Some(call) = self.shared.addresses.next_call() {
            let index = usize::from(call.frontier.0);
            self.with_engine(index, |engine, around| {
                engine.called(call, around);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn may_lease(&self) -> bool {
        let under_way = self.run.in_flight as u64;
        self.run.in_flight < self.config.connections
            && self.is_running()
            // Every page under way may be saved: the limit is never passed.
            && self.config.limits.pages_max.is_none_or(|max| self.saved() + under_way < max)
    }

    /// Waits for something to happen and returns the answers that came, in the
    /// order of their partitions: their records must lie in the archive in the
    /// order in which the partitions are committed.
    fn wait(&mut self, wakeup: Option<Timestamp>) -> Vec<Event> {
        let now = self.clock.now();
        let until = wakeup.map_or(self.reporter.next, |wakeup| wakeup.min(self.reporter.next));
        let mut events = Vec::new();
        let has_work = self.engines.iter().any(Engine::has_work_now)
            || self.is_running() && self.feed.is_due();
        let pause = if has_work || self.engines.iter().any(Engine::awaits_mail) {
            Duration::ZERO
        } else {
            self.clock.wait_for(until.since(now))
        };
        let seeds = self.feed.batches().filter(|_| self.is_running());
        let seeds = seeds.cloned().unwrap_or_else(never);
        select! {
            recv(self.crew.events) -> event => events.extend(event),
            recv(seeds) -> batch => self.feed.arrived(batch),
            recv(self.control.bell()) -> _ => {}
            recv(after(pause)) -> _ => {}
        }
        if has_work {
            // There is work to do while more answers gather, and one of them may
            // have come when the pause was over.
            events.extend(self.crew.events.try_iter().take(GATHER_MAX));
        }
        if events.is_empty() {
            return events;
        }
        // One more pause, and not one wake-up per answer: a stop rings the bell,
        // which ends the pause; that it timed out is the usual case.
        if !has_work && events.len() + self.crew.events.len() < self.run.in_flight {
            let _rung = self.control.bell().recv_timeout(GATHER_TIME);
        }
        events.extend(self.crew.events.try_iter().take(GATHER_MAX));
        events.sort_by_key(|event| match event {
            Event::Resolved(index, ..) | Event::Read(index, _) => *index,
            Event::Lost => 0,
        });
        events
    }

    /// Lets the engines queue what is due for a reason other than an answer.
    fn keep_up(&mut self) -> Result<(), CrawlError> {
        self.each_engine(geomi_engine::Engine::keep_up)
    }

    /// Queues the next seeds, if there are any.
    fn take_seeds(&mut self) -> Result<(), CrawlError> {
        self.feed.look()?;
        if !self.is_running() {
            return Ok(());
        }
        self.each_engine(geomi_engine::Engine::review_known)?;
        let given = self.feed.take(SEEDS_PER_COMMIT as usize)?;
        self.admit_given(&given)
    }

    /// Gives seeds to the engines of their partitions.
    fn admit_given(&mut self, given: &[SeedInput]) -> Result<(), CrawlError> {
        let first = self.run.seeds_given;
        self.run.seeds_given += given.len() as u64;
        if self.engines.len() == 1 {
            return self.with_engine(0, |engine, around| engine.admit_given(first, given, around));
        }
        for (position, input) in (first..).zip(given) {
            let index = self.index_of(&input.url);
            let one = std::slice::from_ref(input);
            self.with_engine(index, |engine, around| {
                engine.admit_given(position, one, around)
            })?;
        }
        Ok(())
    }

    /// The engine that owns a URL.
    pub(crate) fn index_of(&self, url: &CrawlUrl) -> usize {
        usize::from(partition_of(self.map, url).0)
    }

    /// Gives an engine what one of its jobs brought.
    fn arrive(&mut self, event: Event) -> Result<(), CrawlError> {
        self.run.in_flight -= 1;
        match event {
            Event::Lost => Err(CrawlError::LostWork),
            Event::Resolved(index, lease, looked_up) => {
                self.with_engine(index, |engine, around| {
                    engine.looked_up(*lease, looked_up, around);
                    Ok(())
                })
            }
            Event::Read(index, read) => self.arrive_read(index, *read),
        }
    }

    /// Takes in what other partitions wrote.
    fn take_mail(&mut self) -> Result<(), CrawlError> {
        for index in 0..self.engines.len() {
            for mail in self.post.collect(self.engines[index].id())? {
                let commit = self.with_engine(index, |engine, around| {
                    engine.receive(mail.from, mail.seq, &mail.body, around)
                })?;
                self.post.took(&mail, commit);
            }
        }
        Ok(())
    }

    /// Lets deferred URLs be fetched when nothing else is left; says whether there were
    /// any.
    fn call_last(&mut self) -> Result<bool, CrawlError> {
        let mut any = false;
        self.each_engine(|engine, around| {
            any |= engine.call_last(around)?;
            Ok(())
        })?;
        Ok(any)
    }

    /// Whether the crawl is at its end, and why.
    fn ending(&mut self, wakeup: Option<Timestamp>) -> Option<Ending> {
        self.check_limits();
        let desired = self.control.desired();
        if desired == Desired::StopNow {
            return Some(Ending::Stopped);
        }
        if self.run.in_flight > 0 {
            return None;
        }
        if desired == Desired::Stop {
            return Some(Ending::Stopped);
        }
        let drained = self.feed.is_over() && self.engines.iter().all(Engine::is_drained);
        let holds = |limit: &Ending| {
            !drained || matches!(limit, Ending::TooManyFailures | Ending::DiskFull)
        };
        if let Some(limit) = self.run.limit.filter(holds) {
            return Some(limit);
        }
        let is_finished = wakeup.is_none()
            && self.feed.is_over()
            && desired == Desired::Run
            && self
                .engines
                .iter()
                .all(|engine| engine.is_idle() && !engine.awaits_mail());
        is_finished.then_some(Ending::Finished)
    }

    /// How a crawl ended that has nothing more to do in this run: by what is left.
    fn end(&mut self) -> Result<Ending, CrawlError> {
        // Queues that were just found to be empty are written before they are counted.
        self.commit()?;
        let mut sums = LeftSums::default();
        for engine in &mut self.engines {
            engine.add_left(&mut sums)?;
            engine.count_postponed()?;
        }
        self.run.left = sums.into_left();
        let saved: u64 = self.sum(|counters| counters.saved);
        Ok(if self.have_seeds_failed() {
            Ending::SeedsFailed
        } else if self.run.left.is_some() {
            Ending::Incomplete
        } else if saved == 0 && self.seed_counts().given > 0 {
            Ending::NothingSaved
        } else {
            Ending::Finished
        })
    }

    /// Whether all seeds that were given failed, and there were any.
    fn have_seeds_failed(&self) -> bool {
        let SeedCounts { given, failed, .. } = self.seed_counts();
        given > 0 && failed == given
    }

    /// Seeds over all partitions.
    pub(crate) fn seed_counts(&self) -> SeedCounts {
        let counts = self.engines.iter().map(Engine::seed_counts);
        counts.fold(SeedCounts::default(), |sum, one| SeedCounts {
            own: sum.own + one.own,
            given: sum.given + one.given,
            failed: sum.failed + one.failed,
        })
    }

    fn check_limits(&mut self) {
        if self.run.limit.is_some() {
            return;
        }
        let limits = &self.config.limits;
        let over = |max: Option<u64>, count: u64| max.is_some_and(|max| count >= max);
        let elapsed = self.clock.now().since(self.reporter.started);
        let bytes = self.since_round(|counters| counters.wire_bytes, |before| before.wire_bytes);
        let failed = self.since_round(|counters| counters.visits_failed, |before| before.failed);
        self.run.limit = if over(limits.pages_max, self.saved()) {
            Some(Ending::PageLimit)
        } else if over(limits.bytes_max, bytes) {
            Some(Ending::ByteLimit)
        } else if limits.time_max.is_some_and(|max| elapsed >= max) {
            Some(Ending::TimeLimit)
        } else if limits.failures_max.is_some_and(|max| failed > max) {
            Some(Ending::TooManyFailures)
        } else if self.reporter.free_bytes < limits.disk_free_min {
            Some(Ending::DiskFull)
        } else {
            None
        };
    }

    /// A counter over all partitions.
    fn sum(&self, count: impl Fn(&Counters) -> u64) -> u64 {
        let counters = self.engines.iter().map(Engine::counters);
        counters.map(count).sum()
    }

    /// Visits of this round that saved a page or found it unchanged.
    fn saved(&self) -> u64 {
        self.since_round(|counters| counters.visits_saved, |before| before.saved)
    }

    /// Closes everything so that other tools find a complete archive.
    fn close(mut self, ending: Ending) -> Result<Status, CrawlError> {
        for engine in &mut self.engines {
            engine.close(ending.is_natural());
        }
        self.commit()?;
        self.write_segments()?;
        self.await_merge(self.clock.now())?;
        self.files.archive.close()?;
        self.write_seeds()?;
        // Requests that were given up may still be answered: as after a crash, it is not
        // known when.
        for engine in &mut self.engines {
            engine.set_clean();
        }
        self.commit_engines()?;
        let now = self.clock.now();
        let status = self.status(Phase::Done, Some(ending), now);
        self.reporter.write_last(&status)?;
        self.crew.dismiss();
        Ok(status)
    }
}
