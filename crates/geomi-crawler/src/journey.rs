//! The journey, wired: read this file first.
//!
//! [`run`] opens a crawl directory, goes round until there is nothing left or
//! somebody says stop, and closes the directory. One round is
//!
//! ```text
//! turns     sites go into memory and leave it                           (turns)
//! lease     what may be done now: robots? ─▶ fetch ─▶ read ─▶ arrive    (stage/lease, crew)
//! end?      nothing is left, a limit is reached, or somebody says stop;
//!           before a natural end, last calls for what was deferred      (held)
//! wait      for answers, a wake-up of the frontier, or a word from Control
//! orders    other settings, more seeds, questions                       (orders)
//! again     what was visited before, in a round that visits it again    (again)
//! refresh   what the plan of a crawl that is kept fresh says is due     (refresh)
//! discover  new pages that waited for their budget                     (refresh/discovery)
//! release   what was held back and is worth a request after all         (held)
//! seeds     those that have come, and those of an earlier run           (stage/start)
//! arrive    each answer: judge ─▶ keep ─▶ settle ─▶ admit its links     (stage/*)
//! mail      links from other partitions: seen? ─▶ queue                 (post, stage/links)
//! commit    WARC synced ─▶ partitions committed ─▶ mail out ─▶ log      (journey/commit)
//! report    status.json, stats.jsonl, progress                          (report)
//! publish   now and then the index and the lists of seeds                (publish)
//! ```
//!
//! There is no other crawl loop in geomi. The owner of all state is the thread
//! that runs this; network and readers work beside it and only ever see one
//! lease each.

mod commit;
mod open;

use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{after, never, select};
use geomi_cluster::Partitions;
use geomi_cluster::embedded::EmbeddedOwnership;
use geomi_frontier::{Counts, Frontier, Importance};
use geomi_model::{Timestamp, Visit};
use geomi_novelty::{Mirrors, Missing, Nearby};
use geomi_page::Readers;
use geomi_refresh::upkeep::{RefreshPlan, SiteSignals};
use geomi_store::CrawlDir;
use geomi_store::warc::Position;
use geomi_url::{SiteHash, UrlHash};
use hashbrown::{HashMap, HashSet};

use crate::again::{Rereading, Round};
use crate::archive::Archive;
use crate::books::{RobotsBook, Unaddressed};
use crate::contents::FreshContents;
use crate::control::{Control, Desired};
use crate::cookies::Cookies;
use crate::credentials::Keyring;
use crate::crew::{Crew, Event};
use crate::failing::FailingSites;
use crate::left::Left;
use crate::novelty::NoveltyBook;
use crate::partition::Partition;
use crate::policies::SitePolicies;
use crate::post::Post;
use crate::publish::Publisher;
use crate::quarantine::Quarantine;
use crate::refresh::{Discovery, SignalledVisit, TableFile};
use crate::report::Reporter;
use crate::script_links::ScriptLinks;
use crate::seeds::{SeedBook, SeedFeed, SeedStream};
use crate::stage::admit::Admit;
use crate::status::{Answers, Counters, Ending, Observer, Phase, Status};
use crate::steps::Steps;
use crate::warnings::WarnLimit;
use crate::{Clock, CrawlConfig, CrawlError};

pub(crate) use open::open_partitions;

/// After the first answer of a round, more are waited for this long, so that
/// they share one sync.
const GATHER_TIME: Duration = Duration::from_millis(4);
/// Answers that make a round full.
const GATHER_MAX: usize = 256;
/// How often people are told.
const REPORT_EVERY: Duration = Duration::from_millis(500);

/// What a crawl is run with, beside its configuration.
pub struct Surroundings<'a> {
    /// Where time comes from.
    pub clock: Arc<dyn Clock>,
    /// How it is steered.
    pub control: Control,
    /// Who hears of its visits.
    pub observer: &'a mut dyn Observer,
    /// Who hears of its durable steps.
    pub steps: &'a mut dyn Steps,
}

/// One crawl, running. Each field is one part; what they do to each other is
/// in `stage/`.
pub(crate) struct Journey<'a> {
    /// As given, and as changed since by orders.
    pub(crate) config: CrawlConfig,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) control: Control,
    pub(crate) frontier: Frontier,
    pub(crate) map: Partitions,
    pub(crate) partitions: Vec<Partition>,
    /// Visits of this round, by partition; numbered when committed.
    pub(crate) visits: Vec<Vec<Visit>>,
    /// Where the archive ended after each partition's records of this round.
    pub(crate) ends: Vec<Option<Position>>,
    pub(crate) archive: Archive,
    pub(crate) seeds: SeedBook,
    /// Seeds that are still to be taken in.
    pub(crate) feed: SeedFeed,
    pub(crate) robots: RobotsBook,
    pub(crate) cookies: Cookies,
    pub(crate) keyring: Keyring,
    /// Sites that cannot be asked at any address, and why; of those in memory.
    pub(crate) unaddressed: HashMap<SiteHash, Unaddressed>,
    pub(crate) admit: Admit,
    /// What was learned of sites.
    pub(crate) novelty: NoveltyBook,
    /// What addresses found in scripts came to.
    pub(crate) script_links: ScriptLinks,
    /// Pages that broke the reader.
    pub(crate) quarantine: Quarantine,
    /// What pages met lately say.
    pub(crate) nearby: Nearby,
    /// Sites whose last requests all failed.
    pub(crate) failing: FailingSites,
    /// Which sites have the same pages as another.
    pub(crate) mirrors: Mirrors,
    /// Contents that their partition does not know of yet.
    pub(crate) contents: FreshContents,
    /// What sites say of pages they do not have.
    pub(crate) missing: Missing,
    pub(crate) policies: SitePolicies,
    pub(crate) crew: Crew,
    pub(crate) in_flight: usize,
    /// Pages being visited, by the hash of their URL.
    pub(crate) under_way: HashSet<u64>,
    /// What links say of how important URLs are.
    pub(crate) importance: Importance,
    /// Whether URLs were ever promoted in this crawl.
    pub(crate) has_promoted: bool,
    /// URLs of sites that are not in memory.
    pub(crate) parked: u64,
    /// Which crawl of this directory it is.
    pub(crate) round: Round,
    /// The visits of earlier rounds, while they are queued again.
    pub(crate) rereading: Option<Rereading>,
    /// The plan, where the crawl is kept fresh.
    pub(crate) refresh: Option<RefreshPlan>,
    /// What new pages may cost while the crawl is kept fresh.
    pub(crate) discovery: Discovery,
    /// The schedule it follows, if it does.
    pub(crate) table: Option<TableFile>,
    /// Whether everything was queued that was to be visited once.
    pub(crate) refresh_is_over: bool,
    /// What was learned of the words of sites, as far as it was used lately.
    pub(crate) signals: HashMap<SiteHash, SiteSignals>,
    /// Pages that are visited because a sitemap or feed says so.
    pub(crate) early_visits: HashMap<u32, SignalledVisit>,
    /// What is left, once the crawl has come to its end.
    pub(crate) left: Option<Left>,
    /// Warnings about addresses and seeds that were refused.
    pub(crate) warn_addresses: WarnLimit,
    pub(crate) warn_seeds: WarnLimit,
    /// A limit that was reached; nothing new is leased.
    pub(crate) limit: Option<Ending>,
    /// URLs handed to other partitions lately.
    pub(crate) sent: HashSet<(SiteHash, UrlHash)>,
    /// After an unclean stop, sites rest a full delay from here.
    pub(crate) unclean_since: Option<Timestamp>,
    /// The claims on all partitions, held as long as the crawl runs.
    _ownership: EmbeddedOwnership,
    post: Post,
    pub(crate) reporter: Reporter,
    pub(crate) publisher: Publisher,
    observer: &'a mut dyn Observer,
    steps: &'a mut dyn Steps,
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
/// taken in while pages are fetched.
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
    let outcome = Journey::open(config, dir, surroundings, stream, readers).and_then(to_the_end);
    control.close();
    outcome
}

fn to_the_end(mut journey: Journey<'_>) -> Result<Status, CrawlError> {
    match journey.go() {
        Ok(ending) => journey.close(ending),
        Err(error) => {
            // What is said of a crawl that failed should be its last word.
            let now = journey.clock.now();
            let status = journey.status(Phase::Stopping, None, now);
            journey.control.publish(&status);
            journey.crew.dismiss();
            Err(error)
        }
    }
}

impl Journey<'_> {
    /// Goes round until the crawl is at its end.
    fn go(&mut self) -> Result<Ending, CrawlError> {
        self.take_up_round()?;
        self.take_up_refresh()?;
        self.admit_seeds()?;
        self.compare_scope()?;
        self.take_mail()?;
        self.commit()?;
        loop {
            self.take_turns()?;
            let wakeup = earlier(self.lease_more()?, self.refresh_wakeup());
            let wakeup = earlier(wakeup, self.discovery_wakeup());
            if let Some(ending) = self.ending(wakeup) {
                if ending.is_natural() && self.call_last()? {
                    self.take_orders()?;
                    self.commit()?;
                    self.report()?;
                    continue;
                }
                return if ending.is_natural() {
                    self.end()
                } else {
                    Ok(ending)
                };
            }
            let events = self.wait(wakeup);
            self.take_orders()?;
            self.queue_again()?;
            self.queue_due()?;
            self.release_postponed()?;
            self.release_held()?;
            self.take_seeds()?;
            for event in events {
                self.arrive(event)?;
            }
            self.take_mail()?;
            self.commit()?;
            self.report()?;
        }
    }

    /// Waits for something to happen and returns the answers that came, in the
    /// order of their partitions: their records must lie in the archive in the
    /// order in which the partitions are committed.
    fn wait(&mut self, wakeup: Option<Timestamp>) -> Vec<Event> {
        let now = self.clock.now();
        let until = wakeup.map_or(self.reporter.next, |wakeup| wakeup.min(self.reporter.next));
        let mut events = Vec::new();
        let seeds_wait = self.takes_seeds() && self.feed.is_due();
        let on_its_way = seeds_wait
            || self.is_rereading()
            || self.is_releasing()
            || self.partitions.iter().any(Partition::awaits_mail)
            || self.others_wait() && self.frontier.has_room();
        let pause = if on_its_way {
            Duration::ZERO
        } else {
            self.clock.wait_for(until.since(now))
        };
        let seeds = self.feed.batches().filter(|_| self.takes_seeds());
        let seeds = seeds.cloned().unwrap_or_else(never);
        select! {
            recv(self.crew.events) -> event => events.extend(event),
            recv(seeds) -> batch => self.feed.arrived(batch),
            recv(self.control.bell()) -> _ => {}
            recv(after(pause)) -> _ => {}
        }
        if seeds_wait {
            // There is work to do while more answers gather, and one of them may
            // have come when the pause was over.
            events.extend(self.crew.events.try_iter().take(GATHER_MAX));
        }
        if events.is_empty() {
            return events;
        }
        // One more pause, and not one wake-up an answer: a stop rings the bell,
        // which ends the pause; that it timed out is the usual case.
        if !seeds_wait && events.len() + self.crew.events.len() < self.in_flight {
            let _rung = self.control.bell().recv_timeout(GATHER_TIME);
        }
        events.extend(self.crew.events.try_iter().take(GATHER_MAX));
        events.sort_by_key(|event| match event {
            Event::Resolved(lease, _) => self.partition_of(lease.site()),
            Event::Read(read) => self.partition_of(read.lease.site()),
            Event::Lost => 0,
        });
        events
    }

    /// Whether the crawl is at its end, and why.
    fn ending(&mut self, wakeup: Option<Timestamp>) -> Option<Ending> {
        self.check_limits();
        let desired = self.control.desired();
        if desired == Desired::StopNow {
            return Some(Ending::Stopped);
        }
        if self.in_flight > 0 {
            return None;
        }
        if desired == Desired::Stop {
            return Some(Ending::Stopped);
        }
        let drained = self.waiting() == 0
            && self.rereading.is_none()
            && self.feed.is_over()
            && !self.awaits_postponed()
            && !self.keeps_fresh();
        let holds = |limit: &Ending| {
            !drained || matches!(limit, Ending::TooManyFailures | Ending::DiskFull)
        };
        if let Some(limit) = self.limit.filter(holds) {
            return Some(limit);
        }
        let idle = wakeup.is_none()
            && self.rereading.is_none()
            && self.feed.is_over()
            && !self.novelty.held.is_due()
            && desired == Desired::Run
            && !self.others_wait()
            && !self.partitions.iter().any(Partition::awaits_mail);
        let finished =
            idle && self.frontier.is_finished() && !self.partitions.iter().any(Partition::is_dirty);
        finished.then_some(Ending::Finished)
    }

    /// How a crawl ended that has nothing more to do in this run: by what is left.
    fn end(&mut self) -> Result<Ending, CrawlError> {
        // Queues that were just found to be empty are written before they are counted.
        self.commit()?;
        self.left = self.left()?;
        self.recount_postponed();
        let saved: u64 = self.partitions.iter().map(|at| at.counters.saved).sum();
        Ok(if self.seeds.all_failed() {
            Ending::SeedsFailed
        } else if self.left.is_some() {
            Ending::Incomplete
        } else if saved == 0 && self.seeds.any_given() {
            Ending::NothingSaved
        } else {
            Ending::Finished
        })
    }

    fn check_limits(&mut self) {
        if self.limit.is_some() {
            return;
        }
        let limits = &self.config.limits;
        let before = self.round.before();
        let sum = |count: fn(&Counters) -> u64| -> u64 {
            self.partitions
                .iter()
                .map(|partition| count(&partition.counters))
                .sum()
        };
        let over = |max: Option<u64>, count: u64| max.is_some_and(|max| count >= max);
        let elapsed = self.clock.now().since(self.reporter.started);
        self.limit = if over(
            limits.pages_max,
            sum(|counters| counters.visits_saved) - before.saved,
        ) {
            Some(Ending::PageLimit)
        } else if over(
            limits.bytes_max,
            sum(|counters| counters.wire_bytes) - before.wire_bytes,
        ) {
            Some(Ending::ByteLimit)
        } else if limits.time_max.is_some_and(|max| elapsed >= max) {
            Some(Ending::TimeLimit)
        } else if limits.failures_max.is_some_and(|max| {
            sum(|counters| counters.visits_failed).saturating_sub(before.failed) > max
        }) {
            Some(Ending::TooManyFailures)
        } else if self.reporter.free_bytes < limits.disk_free_min {
            Some(Ending::DiskFull)
        } else {
            None
        };
    }

    fn report(&mut self) -> Result<(), CrawlError> {
        let now = self.clock.now();
        if now < self.reporter.next {
            return Ok(());
        }
        self.reporter.next = now + self.clock.passes_in(REPORT_EVERY);
        self.reread_table();
        let status = self.status(self.phase(), None, now);
        self.reporter.write(&status, now)?;
        self.publish(now)?;
        self.observer.status(&status);
        Ok(())
    }

    /// What the crawl is doing.
    pub(crate) fn phase(&self) -> Phase {
        match self.control.desired() {
            _ if self.limit.is_some() => Phase::Stopping,
            Desired::Run => Phase::Running,
            Desired::Pause => Phase::Paused,
            Desired::Stop | Desired::StopNow => Phase::Stopping,
        }
    }

    pub(crate) fn status(
        &mut self,
        phase: Phase,
        reason: Option<Ending>,
        now: Timestamp,
    ) -> Status {
        let counters = self.counters();
        let overview = self.frontier.overview(now);
        let counts = Counts {
            waiting: self.waiting(),
            ..self.frontier.counts()
        };
        let status = self.reporter.status(
            phase,
            reason,
            counters,
            self.answers(),
            &overview,
            counts,
            u64::from(self.seeds.len()),
            now,
        );
        let is_nothing_saved = status.counters.saved == 0;
        let failing = status.sites_failing.clone();
        Status {
            sites_failing: self.failing.worst(failing, is_nothing_saved),
            refresh: self.refresh_status(),
            left: self.left.clone(),
            ..status
        }
    }

    /// Closes everything so that other tools find a complete archive.
    fn close(mut self, ending: Ending) -> Result<Status, CrawlError> {
        self.end_round(ending);
        self.save_all_novelty();
        self.commit()?;
        self.write_segment()?;
        self.await_merge(self.clock.now())?;
        self.archive.close()?;
        self.write_seeds()?;
        // Requests that were given up may still be answered: as after a crash,
        // nobody knows when.
        self.partitions[0].set_meta("clean", &(self.in_flight == 0));
        self.partitions[0].commit(self.archive.mark())?;
        let now = self.clock.now();
        let status = self.status(Phase::Done, Some(ending), now);
        self.reporter.write_last(&status)?;
        self.crew.dismiss();
        Ok(status)
    }

    /// Which partition a site belongs to.
    pub(crate) fn partition_of(&self, site: SiteHash) -> usize {
        usize::from(self.map.partition_of(site).0)
    }

    /// Counters over all partitions.
    pub(crate) fn counters(&self) -> Counters {
        total(&self.partitions)
    }

    /// What was answered, over all partitions.
    fn answers(&self) -> Answers {
        let mut sum = Answers::default();
        for partition in &self.partitions {
            sum.add(&partition.answers);
        }
        sum
    }

    /// Visits of this round that saved a page or found it unchanged.
    pub(crate) fn saved(&self) -> u64 {
        let saved = self.partitions.iter();
        let saved: u64 = saved.map(|partition| partition.counters.visits_saved).sum();
        saved - self.round.before().saved
    }

    /// Takes in what other partitions found.
    fn take_mail(&mut self) -> Result<(), CrawlError> {
        for to in self.map.iter() {
            let index = usize::from(to.0);
            for body in self.post.collect(to, &mut self.partitions[index])? {
                for entry in body.entries {
                    if self.has_room(index, &entry)? {
                        self.queue(index, entry)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The earlier of two times that may never come.
fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn total(partitions: &[Partition]) -> Counters {
    partitions
        .iter()
        .fold(Counters::default(), |mut sum, partition| {
            sum.add(&partition.counters);
            sum
        })
}
