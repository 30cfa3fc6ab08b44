//! Start: the seeds join their queues.
//!
//! Seeds that were given outright do so before anything is fetched. Those of an
//! earlier run and those of a stream follow some at a time, between two rounds,
//! each portion with its own commit.

use geomi_model::UrlRecord;
use geomi_scope::Refusal;
use geomi_state::Scan;
use geomi_url::CrawlUrl;

use crate::engine::{Around, Engine};
use crate::refusal::RefusalRule;
use crate::seeds::{Added, Seed, SeedOutcome};
use crate::stage::admit::Admission;
use crate::{EngineError, SeedInput};

/// What became of a seed that an operator added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedAdded {
    /// It is new and was queued.
    Queued,
    /// Known already, as a seed or as a page.
    Known,
    /// Refused by a rule of scope, for this reason.
    Refused(String),
}

/// Seeds taken in between two commits, from an earlier run and from a stream each: few
/// enough that answers do not wait for long, enough that syncing costs little.
pub const SEEDS_PER_COMMIT: u32 = 1_024;

impl Engine {
    /// Queues seeds that were given; `first` is the position of the first of them in all
    /// that is given to the crawl.
    pub fn admit_given(
        &mut self,
        first: u64,
        given: &[SeedInput],
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        for (position, input) in (first..).zip(given) {
            if let Added::New(number) = self.seeds.book.add(&self.store, input, None)? {
                if self.map.count() > 1 {
                    self.edit_seed(number, |seed| seed.position = Some(position))?;
                }
                self.admit_seed(around, &input.url, number)?;
            }
        }
        Ok(())
    }

    /// Queues a seed that an operator adds to a running crawl, and returns its outcome.
    pub fn add_seed(
        &mut self,
        input: &SeedInput,
        around: &mut Around<'_>,
    ) -> Result<SeedAdded, EngineError> {
        let Added::New(number) = self.seeds.book.add(&self.store, input, None)? else {
            return Ok(SeedAdded::Known);
        };
        match self.rules.admit.seed(&input.url, number) {
            Admission::Queue(entry, _) => {
                let is_new = self.queue(around, entry)?;
                Ok(if is_new {
                    SeedAdded::Queued
                } else {
                    SeedAdded::Known
                })
            }
            Admission::Refused(refusal) => {
                self.refuse_seed(&input.url, number, &refusal)?;
                let reason = self
                    .rules
                    .admit
                    .scope()
                    .explain_refusal(&input.url, refusal);
                Ok(SeedAdded::Refused(reason))
            }
            Admission::CandidateSeed => unreachable!("a seed is no candidate"),
        }
    }

    /// Looks at the next seeds of an earlier run. They are seen already, unless
    /// a crash came between finding one and queueing it.
    pub fn review_known(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let known = &mut self.seeds.known;
        let end = known.end.min(known.start.saturating_add(SEEDS_PER_COMMIT));
        let numbers = known.start..end;
        known.start = end;
        if numbers.is_empty() {
            return Ok(());
        }
        let mut known = Vec::with_capacity(numbers.len());
        self.store.each_seed(numbers.start, &mut |number, seed| {
            if number >= numbers.end {
                return Ok(Scan::Stop);
            }
            if seed.is_guest {
                return Ok(Scan::Continue);
            }
            let is_retried = seed.is_unreached() && !self.was_tried_now(&seed);
            known.push((number, seed.url, is_retried));
            Ok(Scan::Continue)
        })?;
        for (number, url, is_retried) in known {
            if is_retried {
                self.retry_seed(around, &url, number)?;
            } else {
                self.admit_seed(around, &url, number)?;
            }
        }
        Ok(())
    }

    /// Whether a seed that failed did so in this run.
    fn was_tried_now(&self, seed: &Seed) -> bool {
        let started = self.rules.started;
        seed.party.is_some_and(|(_, last)| last >= started)
    }

    /// Queues a seed again that could not be reached in an earlier run: the network may
    /// work now.
    fn retry_seed(
        &mut self,
        around: &mut Around<'_>,
        url: &CrawlUrl,
        number: u32,
    ) -> Result<(), EngineError> {
        let Admission::Queue(entry, _) = self.rules.admit.seed(url, number) else {
            return Ok(());
        };
        let now = around.now;
        if let Some(record) = self.store.record(url)? {
            let waiting = UrlRecord {
                attempts: 0,
                ..record
            };
            self.store.set_record(url, &waiting);
        }
        let failed = &mut self.store.counters.failed;
        *failed = failed.saturating_sub(1);
        self.seeds.book.edit(&self.store, number, |seed| {
            seed.outcome = SeedOutcome::Pending;
        })?;
        self.enqueue(entry, now)
    }

    pub(crate) fn admit_seed(
        &mut self,
        around: &mut Around<'_>,
        url: &CrawlUrl,
        number: u32,
    ) -> Result<(), EngineError> {
        match self.rules.admit.seed(url, number) {
            Admission::Queue(entry, _) => {
                self.queue(around, entry)?;
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
    ) -> Result<(), EngineError> {
        let (book, home) = (&mut self.seeds.book, &mut self.store);
        if book.get(home, number)?.outcome == SeedOutcome::Refused {
            return Ok(());
        }
        if self.notices.seeds.allows() {
            tracing::warn!(%url, reason = %refusal, "seed refused");
        }
        book.edit(home, number, |seed| seed.outcome = SeedOutcome::Refused)?;
        home.counters.refused += 1;
        home.counters.refusal(RefusalRule::Scope(*refusal));
        Ok(())
    }
}
