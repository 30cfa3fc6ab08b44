//! How a round becomes durable: WARC synced, partitions committed, mail out, log.

use geomi_model::Visit;

use super::Journey;
use crate::CrawlError;
use crate::steps::DurableStep;

/// Sites whose signals are kept in memory from one commit to the next.
const SIGNALS_MAX: usize = 4_096;

impl Journey<'_> {
    /// Makes the round durable. The order is the promise; see the crate's
    /// documentation.
    pub(crate) fn commit(&mut self) -> Result<(), CrawlError> {
        let committed = self.commit_state()?;
        let now = self.clock.now();
        if committed.is_empty() && !self.archive.segment_due(now) {
            return Ok(());
        }
        self.archive.log(&committed)?;
        self.passed(DurableStep::LogWritten)?;
        for visit in &committed {
            self.observer.visited(visit);
        }
        if self.archive.segment_due(now) {
            self.write_segment()?;
        }
        Ok(())
    }

    fn commit_state(&mut self) -> Result<Vec<Visit>, CrawlError> {
        self.spill_parked()?;
        for append in self.frontier.take_appends().collect::<Vec<_>>() {
            let partition = self.partition_of(append.site);
            self.partitions[partition].append(&append);
        }
        for save in self.frontier.take_saves() {
            let partition = self.partition_of(save.state.key.hash64());
            self.partitions[partition].save(&save);
        }
        self.seeds.save(&mut self.partitions[0]);
        if self.partitions[0].is_dirty() {
            let queued = self.waiting() + self.frontier.counts().leased;
            self.partitions[0].set_meta("queued", &queued);
        }
        if self.ends.iter().any(Option::is_some) {
            self.passed(DurableStep::WarcWritten)?;
            self.archive.sync()?;
            self.passed(DurableStep::WarcSynced)?;
        }
        let committed = self.commit_partitions()?;
        self.hand_over_contents();
        self.seeds.committed();
        if self.signals.len() > SIGNALS_MAX {
            // All of them can be read back now.
            self.signals.clear();
        }
        self.post.publish(&mut self.partitions)?;
        self.passed(DurableStep::MailPublished)?;
        self.post.acknowledge(&mut self.partitions)?;
        if self.archive.take_file_closed() {
            self.passed(DurableStep::WarcRolled)?;
        }
        Ok(committed)
    }

    /// Commits the partitions in order. Visits are numbered here, so that a
    /// crash between two commits leaves no gap.
    fn commit_partitions(&mut self) -> Result<Vec<Visit>, CrawlError> {
        let mut committed = Vec::new();
        for index in 0..self.partitions.len() {
            let partition = &mut self.partitions[index];
            for mut visit in self.visits[index].drain(..) {
                visit.number = self.archive.next_number();
                partition.add_visit(&visit);
                committed.push(visit);
            }
            if let Some(end) = self.ends[index].take() {
                self.archive.reached(end);
            }
            if partition.is_dirty() {
                partition.commit(self.archive.mark())?;
                self.passed(DurableStep::PartitionCommitted)?;
            }
        }
        Ok(committed)
    }

    pub(crate) fn write_segment(&mut self) -> Result<(), CrawlError> {
        let numbers = self.archive.write_segment(&self.partitions)?;
        self.passed(DurableStep::SegmentWritten)?;
        // Each number is in one partition; deleting it in the others is nothing.
        for partition in &mut self.partitions {
            for number in &numbers {
                partition.forget_visit(*number);
            }
            partition.commit(self.archive.mark())?;
        }
        self.passed(DurableStep::SegmentForgotten)
    }

    fn passed(&mut self, step: DurableStep) -> Result<(), CrawlError> {
        if self.steps.passed(step) {
            Ok(())
        } else {
            Err(CrawlError::Crashed)
        }
    }
}
