//! What is made durable, step by step, and the death of the process between
//! any two steps.

use std::time::Duration;

use geomi_frontier::{Addresses, Frontier, FrontierId};

use super::disk::VisitKey;
use super::mutation::Mutation;
use super::web::SITES;
use super::world::{PARTITIONS, Stop, World};

/// Durable steps after which the process dies, one in so many: while it crawls,
/// and while it keeps the crawl fresh.
const CRASH_ONE_IN: [u64; 2] = [120, 2_500];
/// A process that dies too often never comes to an end.
const CRASHES_MAX: [u32; 2] = [8, 16];

impl World {
    /// Makes everything durable, and lets other sites have their turn.
    pub(super) fn commit(&mut self) -> Result<(), Stop> {
        self.write_all()?;
        self.take_turns();
        Ok(())
    }

    /// Makes everything durable, step by step.
    pub(super) fn write_all(&mut self) -> Result<(), Stop> {
        self.is_dirty = false;
        if !self.is(Mutation::SyncSkipped) {
            for partition in 0..PARTITIONS {
                let batch = &mut self.batches[partition];
                self.disks[partition].sync(batch);
                self.durable_step()?;
            }
        }
        self.save_parked();
        let appends: Vec<_> = self.frontier.take_appends().collect();
        for append in appends {
            let partition = self.partition(append.site);
            self.batches[partition].appends.push(append);
        }
        for save in self.frontier.take_saves() {
            let partition = self.web.site(save.state.key.hash64()) % PARTITIONS;
            self.batches[partition].saves.push(save);
        }
        for partition in 0..PARTITIONS {
            self.commit_partition(partition)?;
            self.durable_step()?;
        }
        for partition in 0..PARTITIONS {
            self.publish(partition)?;
            let taken = std::mem::take(&mut self.batches[partition].taken);
            self.disks[partition].mailbox.drain(..taken);
            self.durable_step()?;
        }
        Ok(())
    }

    fn commit_partition(&mut self, partition: usize) -> Result<(), Stop> {
        let batch = &mut self.batches[partition];
        self.disks[partition].apply(batch, self.mutation)?;
        let sites = (0..SITES).filter(|site| site % PARTITIONS == partition);
        self.watch.committed(sites);
        let web = &self.web;
        self.watch
            .kept_back(|url| web.site_of(url) % PARTITIONS == partition);
        self.ledger.committed(partition);
        for last in self.last_visits[partition].drain(..) {
            self.watch.finished(last.url);
            self.owed.extend(last.links);
            self.posted.extend(last.letters);
        }
        for number in self.batches[partition].received.drain(..) {
            self.posted.remove(&number);
        }
        Ok(())
    }

    /// Sends mail to other partitions. Some is lost on the way, and sent again
    /// later; some arrives twice.
    fn publish(&mut self, partition: usize) -> Result<(), Stop> {
        let forgotten = std::mem::take(&mut self.batches[partition].outbox);
        self.disks[partition].outbox.extend(forgotten);
        for _ in 0..self.disks[partition].outbox.len() {
            let Some(letter) = self.disks[partition].outbox.front().cloned() else {
                break;
            };
            let to = self.partition_of(&letter.url);
            let times = match self.draws.below(8) {
                0 => 0,
                1 => 2,
                _ => 1,
            };
            self.disks[to]
                .mailbox
                .extend(std::iter::repeat_n(letter.clone(), times));
            self.durable_step()?;
            self.disks[partition].outbox.pop_front();
            if times == 0 && !self.is(Mutation::MailNotRetried) {
                self.disks[partition].outbox.push_back(letter);
            }
        }
        Ok(())
    }

    /// Something was made durable: the process may die here.
    fn durable_step(&mut self) -> Result<(), Stop> {
        let phase = usize::from(self.freshens);
        if self.crashes < CRASHES_MAX[phase] && self.draws.once_in(CRASH_ONE_IN[phase]) {
            self.crashes += 1;
            return Err(Stop::Crash);
        }
        Ok(())
    }

    /// The process is gone, and a new one opens what is durable. In between the
    /// system's clock may have been put forward or back.
    pub(super) fn restart(&mut self) -> Result<(), String> {
        let step_s = self.draws.below(60) as i64 - 30;
        let step_us = if self.draws.once_in(2) {
            step_s * 1_000_000
        } else {
            0
        };
        self.tell(format_args!(
            "the process dies; the clock steps by {} s",
            step_us / 1_000_000
        ));
        let forward = Duration::from_micros(step_us.max(0) as u64);
        self.watch.crashed(forward, self.now);
        self.ledger.crashed();
        self.now = self.now + Duration::from_millis(self.draws.below(3_000));
        self.clock_off_us += step_us;
        self.flying.clear();
        self.config.run = Some(self.clock());
        self.turns.clear();
        self.frontier = Frontier::new(FrontierId::default(), self.config);
        self.addresses = Addresses::new();
        self.unclean_since = Some(self.clock());
        self.reopen()?;
        // It may have died before the seeds were durable: they are typed again.
        self.plant();
        if self.freshens {
            self.take_up_plan()?;
        }
        Ok(())
    }

    /// Opens what is durable.
    fn reopen(&mut self) -> Result<(), String> {
        self.rules.clear();
        self.records.clear();
        let mut sites = Vec::new();
        for (partition, disk) in self.disks.iter_mut().enumerate() {
            // A part of what was not synced may have reached the disk.
            let written = std::mem::take(&mut self.batches[partition]).archive;
            let survives = self.draws.below(written.len() as u64 + 1) as usize;
            let is_unsynced = |record: &VisitKey| !disk.archive.contains(record);
            let part: Vec<VisitKey> = written
                .into_iter()
                .take(survives)
                .filter(is_unsynced)
                .collect();
            disk.archive.extend(part);
            disk.recover()?;
            self.seen[partition].clone_from(&disk.seen);
            self.last_visits[partition].clear();
            self.records.extend(disk.records.clone());
            self.rules.extend(disk.rules.clone());
            sites.extend(disk.pending().cloned());
        }
        let rows = self.disks.iter().filter_map(|disk| disk.rows.last());
        self.next_row = rows.map(|row| row.number + 1).max().unwrap_or(1);
        for state in sites {
            if self.freshens {
                self.open(state);
            } else {
                self.line_up(&state);
            }
        }
        self.take_turns();
        Ok(())
    }
}
