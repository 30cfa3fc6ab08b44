//! Start: the seeds join their queues.

use geomi_model::UrlRecord;
use geomi_scope::Refusal;

use crate::CrawlError;
use crate::journey::Journey;
use crate::seeds::SeedOutcome;
use crate::stage::admit::Admission;

/// Seeds queued in one commit. All of them are known from the first one on, so
/// that a crash between two leaves none behind.
const SEEDS_PER_COMMIT: u32 = 4_096;

impl Journey<'_> {
    /// Queues the seeds. Those of an earlier run are seen already, unless a
    /// crash came between finding one and queueing it.
    pub(crate) fn admit_seeds(&mut self) -> Result<(), CrawlError> {
        for input in std::mem::take(&mut self.config.seeds) {
            self.seeds.add(&input, None);
        }
        for number in 0..self.seeds.len() as u32 {
            if number % SEEDS_PER_COMMIT == SEEDS_PER_COMMIT - 1 {
                self.commit()?;
            }
            if self.seeds.get(number).is_unreached() {
                self.retry_seed(number)?;
            } else {
                self.admit_seed(number)?;
            }
        }
        Ok(())
    }

    /// A seed that could not be reached in an earlier run gets another chance:
    /// whoever runs a crawl again has perhaps mended the network.
    fn retry_seed(&mut self, number: u32) -> Result<(), CrawlError> {
        let url = self.seeds.get(number).url.clone();
        let Admission::Queue(entry, _) = self.admit.seed(&url, number) else {
            return Ok(());
        };
        let now = self.clock.now();
        let at = self.partition_of(url.site_hash());
        let partition = &mut self.partitions[at];
        if let Some(record) = partition.record(&url)? {
            partition.set_record(
                &url,
                &UrlRecord {
                    attempts: 0,
                    ..record
                },
            );
        }
        partition.counters.failed = partition.counters.failed.saturating_sub(1);
        self.seeds
            .edit(number, |seed| seed.outcome = SeedOutcome::Pending);
        self.enqueue(at, entry, now)
    }

    pub(crate) fn admit_seed(&mut self, number: u32) -> Result<(), CrawlError> {
        let url = self.seeds.get(number).url.clone();
        match self.admit.seed(&url, number) {
            Admission::Queue(entry, _) => {
                let partition = self.partition_of(url.site_hash());
                self.queue(partition, entry)?;
            }
            Admission::Refused(refusal) => self.refuse_seed(number, &refusal),
            Admission::CandidateSeed => unreachable!("a seed is no candidate"),
        }
        Ok(())
    }

    pub(crate) fn refuse_seed(&mut self, number: u32, refusal: &Refusal) {
        let seed = self.seeds.get(number);
        if seed.outcome == SeedOutcome::Refused {
            return;
        }
        tracing::warn!(url = %seed.url, reason = %refusal, "seed refused");
        self.seeds
            .edit(number, |seed| seed.outcome = SeedOutcome::Refused);
        self.partitions[0].counters.refused += 1;
        self.partitions[0].counters.refusal(refusal.as_str());
    }
}
