//! Telling people: status.json, stats.jsonl and whoever holds a [`Control`].

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;

use geomi_frontier::{Counts, Overview};
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError, open_in_place};

use crate::{Control, CrawlError};
use geomi_engine::{Answers, Counters, Ending, LeftReason, Phase, Status};

const STATUS_EVERY: Duration = Duration::from_secs(1);
const STATS_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Reporter {
    dir: CrawlDir,
    control: Control,
    stats: File,
    rates: Rates,
    /// Pages saved, and visits that saved one, before this run.
    saved_before: (u64, u64),
    next_status: Timestamp,
    next_stats: Timestamp,
    /// When this run began.
    pub(crate) started: Timestamp,
    /// When to report next.
    pub(crate) next: Timestamp,
    /// Room on the disk at the last look.
    pub(crate) free_bytes: u64,
}

impl Reporter {
    pub(crate) fn open(
        dir: &CrawlDir,
        control: &Control,
        now: Timestamp,
        counters: &Counters,
    ) -> Result<Self, CrawlError> {
        let path = dir.stats();
        let stats = open_in_place(OpenOptions::new().create(true).append(true), &path);
        let stats = stats.map_err(|source| StoreError::from_io("open", &path, source))?;
        Ok(Self {
            dir: dir.clone(),
            control: control.clone(),
            stats,
            rates: Rates::default(),
            saved_before: (counters.saved, counters.visits_saved),
            next_status: now,
            next_stats: now + STATS_EVERY,
            started: now,
            next: now,
            free_bytes: dir.free_bytes()?,
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a status is made of everything there is"
    )]
    pub(crate) fn status(
        &mut self,
        state: Phase,
        reason: Option<Ending>,
        counters: Counters,
        answers: Answers,
        overview: &Overview,
        counts: Counts,
        seeds: u64,
        now: Timestamp,
    ) -> Status {
        let (pages_per_s, bytes_per_s) =
            self.rates
                .sample(now, counters.visits_saved, counters.wire_bytes);
        let retired = overview
            .retired
            .iter()
            .map(|(site, _, why)| (site.to_string(), why.clone()));
        let reasons = overview.retired.iter();
        let reasons = reasons.map(|(_, reason, _)| LeftReason::of(*reason));
        Status {
            state,
            reason,
            time: now.to_rfc3339_millis(),
            started: self.started.to_rfc3339_millis(),
            elapsed_s: now.since(self.started).as_secs_f64(),
            saved_this_run: counters.saved - self.saved_before.0,
            visits_saved_this_run: counters.visits_saved - self.saved_before.1,
            left: None,
            counters,
            answers,
            queued: counts.waiting,
            in_flight: counts.leased,
            pages_per_s,
            bytes_per_s,
            sites_ready: overview.ready as u64,
            sites_waiting: overview.waiting as u64,
            sites_backing_off: overview.backing_off as u64,
            sites_retired: retired.collect(),
            sites_retired_reasons: reasons.collect(),
            sites_retired_count: overview.retired_count,
            sites_failing: overview
                .failing
                .iter()
                .map(|(site, failures)| (site.to_string(), *failures))
                .collect(),
            slowest_site: overview
                .slowest
                .as_ref()
                .map(|(site, rtt)| (site.to_string(), rtt.as_secs_f64() * 1e3)),
            seeds,
            refresh: None,
        }
    }

    /// Publishes a status, and writes the files whose time has come.
    pub(crate) fn write(&mut self, status: &Status, now: Timestamp) -> Result<(), CrawlError> {
        self.control.publish(status);
        if now >= self.next_status {
            self.next_status = now + STATUS_EVERY;
            self.free_bytes = self.dir.free_bytes()?;
            CrawlDir::write_atomic(&self.dir.status(), &json(status))?;
        }
        if now >= self.next_stats {
            self.next_stats = now + STATS_EVERY;
            self.add_stats(status)?;
        }
        Ok(())
    }

    /// Publishes the last status and writes both files.
    pub(crate) fn write_last(&mut self, status: &Status) -> Result<(), CrawlError> {
        self.control.publish(status);
        self.add_stats(status)?;
        Ok(CrawlDir::write_atomic(&self.dir.status(), &json(status))?)
    }

    fn add_stats(&mut self, status: &Status) -> Result<(), CrawlError> {
        let mut line = serde_json::to_vec(status).expect("a status is plain data");
        line.push(b'\n');
        let path = self.dir.stats();
        Ok(self
            .stats
            .write_all(&line)
            .map_err(|source| StoreError::from_io("write", &path, source))?)
    }
}

fn json(status: &Status) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(status).expect("a status is plain data");
    bytes.push(b'\n');
    bytes
}

/// Rates over the last ten seconds.
#[derive(Debug, Default)]
pub(crate) struct Rates {
    samples: std::collections::VecDeque<(Timestamp, u64, u64)>,
}

impl Rates {
    /// Takes a sample and returns pages and bytes a second.
    pub(crate) fn sample(&mut self, now: Timestamp, saved: u64, bytes: u64) -> (f64, f64) {
        self.samples.push_back((now, saved, bytes));
        while self.samples.len() > 2
            && self
                .samples
                .front()
                .is_some_and(|(then, ..)| now.since(*then) > Duration::from_secs(10))
        {
            self.samples.pop_front();
        }
        let Some((then, saved_then, bytes_then)) = self.samples.front() else {
            return (0.0, 0.0);
        };
        let seconds = now.since(*then).as_secs_f64();
        if seconds < 0.1 {
            return (0.0, 0.0);
        }
        (
            (saved - saved_then) as f64 / seconds,
            (bytes - bytes_then) as f64 / seconds,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_look_back_ten_seconds() {
        let mut rates = Rates::default();
        let at = |s| Timestamp::from_secs(s);
        assert_eq!(rates.sample(at(0), 0, 0), (0.0, 0.0));
        assert_eq!(rates.sample(at(10), 100, 1_000), (10.0, 100.0));
        assert_eq!(rates.sample(at(20), 100, 1_000), (0.0, 0.0));
    }
}
