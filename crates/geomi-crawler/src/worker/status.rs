//! What a worker reports: its engines added up.

use std::path::Path;

use geomi_engine::{
    Answers, Counted, Counters, Ending, Engine, FailingSites, Phase, RefreshStatus, Status,
};
use geomi_frontier::{Counts, FAILING_LISTED, Overview, RETIRED_LISTED};
use geomi_model::Timestamp;

use super::{REPORT_EVERY, Worker};
use crate::CrawlError;
use crate::control::Desired;
use crate::refresh::warn_of_unknown;
use geomi_refresh::upkeep::RefreshPlan;

impl Worker<'_> {
    /// Writes and shows the status when it is time.
    pub(super) fn report(&mut self) -> Result<(), CrawlError> {
        let now = self.clock.now();
        if now < self.reporter.next {
            return Ok(());
        }
        self.reporter.next = now + self.clock.passes_in(REPORT_EVERY);
        self.reread_table();
        self.share_budget(now);
        let status = self.status(self.phase(), None, now);
        self.reporter.write(&status, now)?;
        self.publish(now)?;
        self.observer.status(&status);
        Ok(())
    }

    /// What the crawl is doing.
    pub(crate) fn phase(&self) -> Phase {
        match self.control.desired() {
            _ if self.run.limit.is_some() => Phase::Stopping,
            Desired::Run => Phase::Running,
            Desired::Pause => Phase::Paused,
            Desired::Stop | Desired::StopNow => Phase::Stopping,
        }
    }

    /// The status of the crawl.
    pub(crate) fn status(
        &mut self,
        phase: Phase,
        reason: Option<Ending>,
        now: Timestamp,
    ) -> Status {
        let mut answers = Answers::default();
        let mut counts = Counts::default();
        let mut overview = Overview::default();
        for engine in &self.engines {
            answers.add(engine.answers());
            counts = sum_of(counts, engine.counts());
            overview = merged(overview, engine.overview(now));
        }
        let seeds = self.seed_counts().own;
        let counters = total(&self.engines);
        let is_nothing_saved = counters.saved == 0;
        let status = self.reporter.status(
            phase, reason, counters, answers, &overview, counts, seeds, now,
        );
        let tables = self.engines.iter().map(Engine::failing);
        Status {
            sites_failing: FailingSites::worst(
                tables,
                status.sites_failing.clone(),
                is_nothing_saved,
            ),
            refresh: self.refresh_status(),
            left: self.run.left.clone(),
            ..status
        }
    }

    /// How the crawl is kept fresh, if it is.
    fn refresh_status(&self) -> Option<RefreshStatus> {
        let config = self.config.engine.refresh.as_ref()?;
        let plans = || self.engines.iter().filter_map(Engine::plan);
        let pages: usize = plans().map(|plan| plan.pages().len()).sum();
        let has_plans = plans().next().is_some();
        let requests: f64 = plans().map(RefreshPlan::requests_per_day).sum();
        let discovered = || self.engines.iter().map(Engine::discovered);
        let per_day = self.engines.iter().filter_map(Engine::discovery_per_day);
        let next_due = plans().filter_map(RefreshPlan::wake).reduce(f64::min);
        Some(RefreshStatus {
            drive: config.drive.kind(),
            // A path that is not text cannot be shown, nor typed.
            table: config
                .drive
                .file()
                .and_then(Path::to_str)
                .map(str::to_owned),
            policy: config.policy.clone(),
            once: config.once,
            pages: pages as u64,
            requests_per_day: if has_plans {
                requests
            } else {
                config.budget.requests_per_day(pages)
            },
            discovery_per_day: per_day.reduce(|sum, one| sum + one),
            discovered: discovered().map(|(requested, _)| requested).sum(),
            postponed: discovered().map(|(_, postponed)| postponed).sum(),
            timezone: config.timezone.name().to_owned(),
            next_due: next_due.map(|wake| config.timezone.instant(wake).to_rfc3339_millis()),
        })
    }

    /// Cuts the refresh budget among the partitions by their pages.
    pub(super) fn share_budget(&mut self, now: Timestamp) {
        /// A share is changed when it is off by more than this part of it.
        const TOLERANCE: f64 = 0.05;
        if self.engines.len() == 1 || self.config.engine.refresh.is_none() {
            return;
        }
        let pages = |engine: &Engine| 1 + engine.plan().map_or(0, |plan| plan.pages().len());
        let all: usize = self.engines.iter().map(pages).sum();
        for engine in &mut self.engines {
            let share = pages(engine) as f64 / all as f64;
            if (engine.budget_share() / share - 1.0).abs() > TOLERANCE {
                engine.share_budget(share, now);
            }
        }
    }

    /// Reads the schedule again if its file has changed.
    fn reread_table(&mut self) {
        let Some(file) = &mut self.files.table else {
            return;
        };
        let Some(read) = file.if_new() else {
            return;
        };
        let (path, now) = (file.path.display().to_string(), self.clock.now());
        match read {
            Ok(rows) => {
                let engines = self.engines.iter_mut();
                let unknown = engines.filter_map(|engine| engine.follow_table(&rows, now));
                if let Some(unknown) = unknown.reduce(|sum, one| sum + one) {
                    tracing::info!(file = path, "the schedule has changed and is followed");
                    warn_of_unknown(unknown);
                }
            }
            Err(error) => tracing::warn!(
                "the schedule has changed and cannot be followed, so the last one is: {error}"
            ),
        }
    }

    /// A counter over all partitions, since their rounds began.
    pub(super) fn since_round(
        &self,
        count: impl Fn(&Counters) -> u64,
        before: impl Fn(&Counted) -> u64,
    ) -> u64 {
        let engines = self.engines.iter();
        let since = engines.map(|engine| {
            let before = before(&engine.round().before());
            count(engine.counters()).saturating_sub(before)
        });
        since.sum()
    }
}

/// Counters over all partitions.
pub(super) fn total(engines: &[Engine]) -> Counters {
    engines.iter().fold(Counters::default(), |mut sum, engine| {
        sum.add(engine.counters());
        sum
    })
}

fn sum_of(one: Counts, other: Counts) -> Counts {
    Counts {
        admitted: one.admitted + other.admitted,
        waiting: one.waiting + other.waiting,
        leased: one.leased + other.leased,
        settled: one.settled + other.settled,
    }
}

fn merged(mut one: Overview, other: Overview) -> Overview {
    one.retired.extend(other.retired);
    one.retired.truncate(RETIRED_LISTED);
    one.failing.extend(other.failing);
    one.failing
        .sort_by_key(|(_, failures)| std::cmp::Reverse(*failures));
    one.failing.truncate(FAILING_LISTED);
    let rtt = |slowest: &(geomi_url::SiteKey, std::time::Duration)| slowest.1;
    Overview {
        ready: one.ready + other.ready,
        waiting: one.waiting + other.waiting,
        backing_off: one.backing_off + other.backing_off,
        retired_count: one.retired_count + other.retired_count,
        slowest: one.slowest.into_iter().chain(other.slowest).max_by_key(rtt),
        ..one
    }
}
