//! How what an engine did becomes durable, and what may happen only then.

use geomi_cluster::PartitionId;
use geomi_model::Visit;

use super::{Around, Engine};
use crate::CrawlError;
use crate::partition::{ArchiveMark, Posted};

/// Sites whose change signals are kept in memory from one commit to the next.
const SIGNALS_MAX: usize = 4_096;

/// What became possible because commits are durable.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Visits to be announced, in order.
    pub(crate) visits: Vec<Visit>,
}

impl Engine {
    /// Gathers everything that changed since the last commit, to be followed by
    /// [`Engine::commit`]. Between the two the worker syncs the archive.
    pub(crate) fn prepare_commit(&mut self, around: &mut Around<'_>) -> Result<(), CrawlError> {
        self.report_lost_errands();
        self.spill_parked(around)?;
        for append in self.queues.frontier.take_appends().collect::<Vec<_>>() {
            self.store.append(&append);
        }
        for save in self.queues.frontier.take_saves() {
            self.store.save(&save);
        }
        self.seeds.book.save(&mut self.store);
        if self.is_dirty() {
            let counts = self.queues.counts();
            self.store
                .set_meta("queued", &(counts.waiting + counts.leased));
        }
        Ok(())
    }

    /// Whether there is anything to commit.
    pub(crate) fn is_dirty(&self) -> bool {
        self.store.is_dirty() || !self.outgoing.visits.is_empty()
    }

    /// Commits everything, with where the archive ends. It is readable at once;
    /// [`Engine::effects`] follows when it is durable.
    pub(crate) fn commit(&mut self, file: Option<&str>, offset: u64) -> Result<(), CrawlError> {
        let visits = std::mem::take(&mut self.outgoing.visits);
        let mut committed = Vec::with_capacity(visits.len());
        for mut visit in visits {
            self.outgoing.last_visit += 1;
            visit.number = self.outgoing.last_visit;
            self.store.add_visit(&visit);
            committed.push(visit);
        }
        let mark = ArchiveMark {
            visits: self.outgoing.last_visit,
            file: file.map(str::to_owned),
            offset,
        };
        let number = self.store.commit(&mark)?;
        self.seeds.book.committed();
        if self.upkeep.signals.len() > SIGNALS_MAX {
            self.upkeep.signals.clear();
        }
        self.outgoing.committed.push_back((number, committed));
        Ok(())
    }

    /// What may happen now because commits are durable.
    pub(crate) fn effects(&mut self) -> Result<Effects, CrawlError> {
        let durable = self.store.durable()?;
        let mut effects = Effects::default();
        while let Some((_, visits)) = (self.outgoing.committed)
            .front()
            .is_some_and(|(number, _)| *number <= durable)
            .then(|| self.outgoing.committed.pop_front())
            .flatten()
        {
            effects.visits.extend(visits);
        }
        Ok(effects)
    }

    /// The next mail that may leave.
    pub(crate) fn next_mail(&mut self) -> Option<Posted> {
        self.store.next_posted()
    }

    /// Whether mail of this partition is on its way.
    pub(crate) fn awaits_mail(&self) -> bool {
        self.store.awaits_mail()
    }

    /// Receivers that have not confirmed everything yet.
    pub(crate) fn awaited(&self) -> Vec<PartitionId> {
        self.store.awaited().map(PartitionId).collect()
    }

    /// Prepares for the end of the run.
    pub(crate) fn close(&mut self, is_finished: bool) {
        if is_finished {
            self.end_round();
        }
        self.save_all_novelty();
    }

    /// Notes that nothing is under way any more, so that sites need no rest before the
    /// next run.
    pub(crate) fn set_clean(&mut self) {
        let is_clean = self.queues.in_flight == 0;
        self.store.set_meta("clean", &is_clean);
    }
}
