//! How a round becomes durable: WARC synced, engines committed, mail out, log.

use geomi_model::Visit;

use super::Worker;
use crate::CrawlError;
use crate::steps::DurableStep;

impl Worker<'_> {
    /// Makes the round durable. The order is the promise; see the crate's
    /// documentation.
    pub(super) fn commit(&mut self) -> Result<(), CrawlError> {
        self.each_engine(geomi_engine::Engine::prepare_commit)?;
        if self.files.ends.iter().any(Option::is_some) {
            self.passed(DurableStep::WarcWritten)?;
            self.files.archive.sync()?;
            self.passed(DurableStep::WarcSynced)?;
        }
        self.commit_engines()?;
        let announced = self.take_effects()?;
        self.post.publish(&mut self.engines)?;
        self.passed(DurableStep::MailPublished)?;
        self.post.acknowledge(&mut self.engines)?;
        if self.files.archive.take_file_closed() {
            self.passed(DurableStep::WarcRolled)?;
        }
        let now = self.clock.now();
        let is_segment_due = self.files.archive.segment_due(now);
        if !announced.is_empty() {
            self.files.archive.flush_log()?;
            self.passed(DurableStep::LogWritten)?;
            for visit in &announced {
                self.observer.visited(visit);
            }
        }
        if is_segment_due {
            self.write_segments()?;
        }
        Ok(())
    }

    /// Commits the engines in order: a crash between two commits leaves records at the
    /// end of the archive that no commit speaks of, and none in the middle.
    pub(super) fn commit_engines(&mut self) -> Result<(), CrawlError> {
        for index in 0..self.engines.len() {
            if let Some(end) = self.files.ends[index].take() {
                self.files.archive.reached(end);
            }
            if !self.engines[index].is_dirty() {
                continue;
            }
            let end = self.files.archive.committed();
            let file = end.map(|end| end.file.as_str());
            let offset = end.map_or(0, |end| end.offset);
            self.engines[index].commit(file, offset)?;
            self.passed(DurableStep::PartitionCommitted)?;
        }
        Ok(())
    }

    /// Logs the visits that are durable now, and returns them.
    fn take_effects(&mut self) -> Result<Vec<Visit>, CrawlError> {
        let mut announced = Vec::new();
        let is_cut = self.engines.len() > 1;
        for engine in &mut self.engines {
            let effects = engine.effects()?;
            if effects.visits.is_empty() {
                continue;
            }
            let partition = is_cut.then_some(engine.id().0);
            self.files.archive.log(partition, &effects.visits)?;
            announced.extend(effects.visits);
        }
        Ok(announced)
    }

    /// Writes the visits in no file yet into one file per partition.
    pub(super) fn write_segments(&mut self) -> Result<(), CrawlError> {
        let is_cut = self.engines.len() > 1;
        let mut written = Vec::new();
        for engine in &self.engines {
            let id = is_cut.then_some(engine.id().0);
            written.push(self.files.archive.write_segment(id, engine)?);
        }
        self.passed(DurableStep::SegmentWritten)?;
        for (engine, numbers) in self.engines.iter_mut().zip(written) {
            for number in numbers {
                engine.forget_visit(number);
            }
        }
        self.commit_engines()?;
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
