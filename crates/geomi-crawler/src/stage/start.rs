//! Start: the seeds join their queues.
//!
//! Seeds that were given outright do so before anything is fetched. Those of an
//! earlier run and those of a stream follow some at a time, between two rounds,
//! each portion with its own commit.

use geomi_model::UrlRecord;
use geomi_scope::Refusal;
use geomi_state::Scan;
use geomi_url::CrawlUrl;

use crate::control::Desired;
use crate::journey::Journey;
use crate::refusal::RefusalRule;
use crate::seeds::{Added, Seed, SeedOutcome};
use crate::stage::admit::Admission;
use crate::{CrawlError, SeedInput};

/// Seeds taken in between two commits, of an earlier run and of a stream each:
/// so few that answers do not wait for long, so many that syncing is little of it.
const SEEDS_PER_COMMIT: usize = 1_024;

impl Journey<'_> {
    /// Before the first round: queues the seeds that were given outright, and
    /// the first of the others.
    pub(crate) fn admit_seeds(&mut self) -> Result<(), CrawlError> {
        let given = std::mem::take(&mut self.config.seeds);
        for some in given.chunks(SEEDS_PER_COMMIT) {
            self.admit_given(some)?;
            self.commit()?;
        }
        self.take_seeds()
    }

    /// Whether seeds are taken in as things stand.
    pub(crate) fn takes_seeds(&self) -> bool {
        self.control.desired() == Desired::Run && self.limit.is_none()
    }

    /// Queues the next seeds, if there are any.
    pub(crate) fn take_seeds(&mut self) -> Result<(), CrawlError> {
        self.feed.look()?;
        if !self.takes_seeds() {
            return Ok(());
        }
        self.review_known()?;
        let given = self.feed.take(SEEDS_PER_COMMIT)?;
        self.admit_given(&given)
    }

    fn admit_given(&mut self, given: &[SeedInput]) -> Result<(), CrawlError> {
        for input in given {
            if let Added::New(number) = self.seeds.add(&self.partitions[0], input, None)? {
                self.admit_seed(&input.url, number)?;
            }
        }
        Ok(())
    }

    /// Looks at the next seeds of an earlier run. They are seen already, unless
    /// a crash came between finding one and queueing it.
    fn review_known(&mut self) -> Result<(), CrawlError> {
        let numbers = self.feed.take_known(SEEDS_PER_COMMIT as u32);
        if numbers.is_empty() {
            return Ok(());
        }
        let mut known = Vec::with_capacity(numbers.len());
        self.partitions[0].each_seed(numbers.start, &mut |number, seed| {
            if number >= numbers.end {
                return Ok(Scan::Stop);
            }
            let is_retried = seed.is_unreached() && !self.was_tried_now(&seed);
            known.push((number, seed.url, is_retried));
            Ok(Scan::Continue)
        })?;
        for (number, url, is_retried) in known {
            if is_retried {
                self.retry_seed(&url, number)?;
            } else {
                self.admit_seed(&url, number)?;
            }
        }
        Ok(())
    }

    /// Whether a seed that failed did so in this run.
    fn was_tried_now(&self, seed: &Seed) -> bool {
        let started = self.reporter.started;
        seed.party.is_some_and(|(_, last)| last >= started)
    }

    /// A seed that could not be reached in an earlier run gets another chance:
    /// whoever runs a crawl again has perhaps mended the network.
    fn retry_seed(&mut self, url: &CrawlUrl, number: u32) -> Result<(), CrawlError> {
        let Admission::Queue(entry, _) = self.admit.seed(url, number) else {
            return Ok(());
        };
        let now = self.clock.now();
        let at = self.partition_of(url.site_hash());
        let partition = &mut self.partitions[at];
        if let Some(record) = partition.record(url)? {
            partition.set_record(
                url,
                &UrlRecord {
                    attempts: 0,
                    ..record
                },
            );
        }
        partition.counters.failed = partition.counters.failed.saturating_sub(1);
        self.seeds.edit(&self.partitions[0], number, |seed| {
            seed.outcome = SeedOutcome::Pending;
        })?;
        self.enqueue(at, entry, now)
    }

    pub(crate) fn admit_seed(&mut self, url: &CrawlUrl, number: u32) -> Result<(), CrawlError> {
        match self.admit.seed(url, number) {
            Admission::Queue(entry, _) => {
                let partition = self.partition_of(url.site_hash());
                self.queue(partition, entry)?;
                Ok(())
            }
            Admission::Refused(refusal) => self.refuse_seed(url, number, &refusal),
            Admission::CandidateSeed => unreachable!("a seed is no candidate"),
        }
    }

    pub(crate) fn refuse_seed(
        &mut self,
        url: &CrawlUrl,
        number: u32,
        refusal: &Refusal,
    ) -> Result<(), CrawlError> {
        let (book, home) = (&mut self.seeds, &mut self.partitions[0]);
        if book.get(home, number)?.outcome == SeedOutcome::Refused {
            return Ok(());
        }
        if self.warn_seeds.allows() {
            tracing::warn!(%url, reason = %refusal, "seed refused");
        }
        book.edit(home, number, |seed| seed.outcome = SeedOutcome::Refused)?;
        home.counters.refused += 1;
        home.counters.refusal(RefusalRule::Scope(*refusal));
        Ok(())
    }
}
