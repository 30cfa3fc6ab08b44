//! How what an engine did becomes durable, and what may happen only then.

use geomi_cluster::PartitionId;
use geomi_model::Visit;
use geomi_state::CommitNo;

use super::{Around, Engine};
use crate::EngineError;
use crate::keys;
use crate::partition::{ArchiveMark, MailBody, Posted};

/// Sites whose change signals are kept in memory from one commit to the next.
const SIGNALS_MAX: usize = 4_096;

/// What may leave the engine because its commit is durable.
#[derive(Debug, Default)]
pub struct Effects {
    /// Visits to announce, in the order of their numbers.
    pub visits: Vec<Visit>,
}

impl Engine {
    /// Gathers everything that changed since the last commit, to be followed by
    /// [`Engine::commit`]. Between the two the worker syncs the archive.
    pub fn prepare_commit(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        self.report_lost_errands();
        self.sites.errands.save(&mut self.store);
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
    pub fn is_dirty(&self) -> bool {
        self.store.is_dirty() || !self.outgoing.visits.is_empty()
    }

    /// Commits everything, with where the archive ends. It is readable at once;
    /// [`Engine::effects`] follows when it is durable.
    pub fn commit(&mut self, file: Option<&str>, offset: u64) -> Result<(), EngineError> {
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
    pub fn effects(&mut self) -> Result<Effects, EngineError> {
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
    pub fn next_mail(&mut self) -> Option<Posted> {
        self.store.next_posted()
    }

    /// Puts mail back that could not be sent.
    pub fn not_sent(&mut self, mail: Posted) {
        self.store.not_posted(mail);
    }

    /// Drops outbox rows that the receiver has made durable on its side.
    pub fn acknowledged(&mut self, to: PartitionId, number: u64) {
        self.store.acknowledged(to.0, number);
    }

    /// Takes in a mail of another partition, if it was not taken in before. It may be
    /// acknowledged once the commit returned is durable.
    pub fn receive(
        &mut self,
        from: PartitionId,
        number: u64,
        body: &[u8],
        around: &mut Around<'_>,
    ) -> Result<CommitNo, EngineError> {
        let cursor = self.store.cursor(from.0)?;
        if cursor.is_some_and(|cursor| number <= cursor) {
            // An earlier run may have taken it in, or this one before its last commit.
            return Ok(self.store.last_commit());
        }
        self.store.advance_cursor(from.0, number);
        let body: MailBody = keys::decode("mail", body)?;
        self.read_letters(from, body.letters, around)?;
        Ok(self.store.next_commit())
    }

    /// The number up to which all commits are durable.
    pub fn durable(&mut self) -> Result<CommitNo, EngineError> {
        self.store.durable()
    }

    /// Whether mail of this partition is on its way.
    pub fn awaits_mail(&self) -> bool {
        self.store.awaits_mail()
    }

    /// Receivers that have not acknowledged all mail yet.
    pub fn awaited(&self) -> Vec<PartitionId> {
        self.store.awaited().map(PartitionId).collect()
    }

    /// Prepares for the end of the run.
    pub fn close(&mut self, is_finished: bool) {
        if is_finished {
            self.end_round();
        }
        self.save_all_novelty();
    }

    /// Notes that nothing is under way any more, so that sites need no rest before the
    /// next run.
    pub fn set_clean(&mut self) {
        let is_clean = self.queues.in_flight == 0;
        self.store.set_meta("clean", &is_clean);
    }
}
