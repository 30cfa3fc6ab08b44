//! Ownership as a table in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use geomi_model::Timestamp;

use crate::{Claim, ClusterError, Epoch, Holder, Ownership, PartitionId, Standing, WorkerId};

/// Who holds what, shared by the handles of several workers.
#[derive(Clone, Debug)]
pub struct OwnershipTable {
    lease: Duration,
    rows: Arc<Mutex<HashMap<PartitionId, Row>>>,
}

/// The last epoch of a partition outlives its holder, so that epochs only grow.
#[derive(Clone, Debug)]
struct Row {
    last_epoch: Epoch,
    holder: Option<Holder>,
}

impl OwnershipTable {
    /// An empty table in which a partition is held for `lease` at a time.
    pub fn new(lease: Duration) -> Self {
        Self::resume(lease, [])
    }

    /// A table that goes on after the epochs kept from an earlier process.
    pub fn resume(lease: Duration, epochs: impl IntoIterator<Item = (PartitionId, Epoch)>) -> Self {
        let row = |(partition, last_epoch)| {
            let holder = None;
            (partition, Row { last_epoch, holder })
        };
        let rows = epochs.into_iter().map(row).collect();
        Self {
            lease,
            rows: Arc::new(Mutex::new(rows)),
        }
    }

    /// The hand of one worker.
    pub fn handle(&self, worker: WorkerId) -> EmbeddedOwnership {
        EmbeddedOwnership {
            worker,
            table: self.clone(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PartitionId, Row>> {
        self.rows
            .lock()
            .expect("no code panics while it holds the table")
    }
}

/// One worker's hand on an [`OwnershipTable`].
#[derive(Clone, Debug)]
pub struct EmbeddedOwnership {
    worker: WorkerId,
    table: OwnershipTable,
}

impl EmbeddedOwnership {
    /// Runs `change` on the holder if `epoch` is the holder's, else it has lost.
    fn as_holder(
        &self,
        partition: PartitionId,
        epoch: Epoch,
        change: impl FnOnce(&mut Option<Holder>),
    ) -> Standing {
        let mut rows = self.table.lock();
        let holder = rows.get_mut(&partition).map(|row| &mut row.holder);
        match holder {
            Some(holder) if holder.as_ref().is_some_and(|now| now.epoch == epoch) => {
                change(holder);
                Standing::Owner
            }
            _ => Standing::Lost,
        }
    }
}

impl Ownership for EmbeddedOwnership {
    fn claim(&mut self, partition: PartitionId, now: Timestamp) -> Result<Claim, ClusterError> {
        let mut rows = self.table.lock();
        let row = rows.entry(partition).or_insert(Row {
            last_epoch: Epoch(0),
            holder: None,
        });
        if let Some(holder) = &row.holder
            && holder.worker != self.worker
            && now < holder.until
        {
            return Ok(Claim::Held(holder.clone()));
        }
        let epoch = Epoch(row.last_epoch.0 + 1);
        row.last_epoch = epoch;
        row.holder = Some(Holder {
            worker: self.worker.clone(),
            epoch,
            until: now + self.table.lease,
        });
        Ok(Claim::Granted(epoch))
    }

    fn renew(
        &mut self,
        partition: PartitionId,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<Standing, ClusterError> {
        let until = now + self.table.lease;
        Ok(self.as_holder(partition, epoch, |holder| {
            if let Some(holder) = holder {
                holder.until = holder.until.max(until);
            }
        }))
    }

    fn release(&mut self, partition: PartitionId, epoch: Epoch) -> Result<Standing, ClusterError> {
        Ok(self.as_holder(partition, epoch, |holder| *holder = None))
    }

    fn owner_of(
        &self,
        partition: PartitionId,
        now: Timestamp,
    ) -> Result<Option<Holder>, ClusterError> {
        let rows = self.table.lock();
        let holder = rows.get(&partition).and_then(|row| row.holder.clone());
        Ok(holder.filter(|holder| now < holder.until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::ownership::{self, Workers};

    struct InProcess(OwnershipTable);

    impl Workers for InProcess {
        type Hand = EmbeddedOwnership;

        fn fresh(lease: Duration) -> Self {
            Self(OwnershipTable::new(lease))
        }

        fn hand(&mut self, worker: &str) -> EmbeddedOwnership {
            self.0.handle(WorkerId::new(worker))
        }
    }

    #[test]
    fn conforms() {
        ownership::run_all::<InProcess>();
    }

    #[test]
    fn epochs_go_on_after_those_kept_from_before() {
        let kept = [(PartitionId(3), Epoch(41))];
        let table = OwnershipTable::resume(Duration::from_secs(3), kept);
        let mut hand = table.handle(WorkerId::new("only"));
        let now = Timestamp::EPOCH;
        let claim = |hand: &mut EmbeddedOwnership, id| hand.claim(PartitionId(id), now).unwrap();
        assert_eq!(claim(&mut hand, 3), Claim::Granted(Epoch(42)));
        assert_eq!(claim(&mut hand, 4), Claim::Granted(Epoch(1)));
    }
}
