//! The week of a crawl's visits: counted, painted, planned and followed.
//!
//! The plan is the table `schedule.csv` in the crawl directory, which `geomi
//! refresh plan` writes and `geomi refresh run --schedule` follows. It is read
//! with that command's own reader, so that what is shown is what is followed.
//! Counts are kept while the file is the same; rows are never kept.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use geomi_model::week::HOURS;
use geomi_store::schedule::{self, FreeHours, Row};
use geomi_store::{CrawlDir, StoreError};
use xxhash_rust::xxh3::xxh3_64;

use crate::actions::{self, Started};
use crate::app::App;
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::launch::{Drive, Made, Plan, Refresh};
use crate::library::{Crawl, Mark};
use crate::wrong::Wrong;

/// Faults of a table that are told.
const FAULTS_MAX: usize = 5;
/// How long counts of an unchanged table are kept.
const KEPT: Duration = Duration::from_hours(24);

/// One hour of the week.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hour {
    /// Visits written down for it.
    pub(crate) planned: u64,
    /// Visits made in it, those that moved here included.
    pub(crate) visits: u64,
}

/// A table, counted.
#[derive(Clone, Debug)]
pub(crate) struct Week {
    /// From Sunday midnight on.
    pub(crate) hours: [Hour; HOURS],
    /// Hours that are left free.
    pub(crate) free: FreeHours,
    /// All visits.
    pub(crate) visits: u64,
    /// Lines that cannot be read: with one of them nobody follows the table.
    pub(crate) faults: Vec<String>,
}

impl Week {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let mut week = Self {
            hours: [Hour::default(); HOURS],
            free: FreeHours::default(),
            visits: 0,
            faults: Vec::new(),
        };
        schedule::read(path, |line, row| {
            match row {
                Ok(Row::Visit(hour, _)) => week.hours[hour].planned += 1,
                Ok(Row::Free(hour)) => week.free.set(hour, true),
                Err(why) if week.faults.len() < FAULTS_MAX => {
                    week.faults
                        .push(format!("schedule.csv: line {line}: {why}"));
                }
                Err(_) => {}
            }
            ControlFlow::Continue(())
        })?;
        for hour in 0..HOURS {
            let planned = week.hours[hour].planned;
            week.visits += planned;
            week.hours[week.free.moved(hour)].visits += planned;
        }
        Ok(week)
    }

    /// The hour with the most visits, if there is a visit at all.
    pub(crate) fn busiest(&self) -> Option<usize> {
        let hours = (0..HOURS).filter(|hour| self.hours[*hour].visits > 0);
        hours.max_by_key(|hour| (self.hours[*hour].visits, std::cmp::Reverse(*hour)))
    }
}

/// The week of a crawl, if it has a plan.
pub(crate) async fn week(app: &App, crawl: &Crawl) -> Result<Option<Arc<Week>>, Problem> {
    let (key, dir) = (crawl.id.clone(), crawl.dir.clone());
    let work = move |app: &App| -> Result<Option<Arc<Week>>, Problem> {
        let path = dir.schedule();
        // A table that is not there, or vanishes now, is no plan.
        let Ok(mark) = Mark::of(&path) else {
            return Ok(None);
        };
        let about = xxh3_64(format!("{mark:?}").as_bytes());
        if let Some(kept) = app.caches.weeks.get(&key, about, KEPT, app.now()) {
            return Ok(Some(kept));
        }
        let week = Arc::new(Week::read(&path)?);
        let kept = Arc::clone(&week);
        app.caches.weeks.put(key, about, kept, app.now());
        Ok(Some(week))
    };
    app.read(work).await
}

/// A page of the URLs that are visited in an hour.
#[derive(Clone, Debug, Default)]
pub(crate) struct Urls {
    /// In the order of the table.
    pub(crate) urls: Vec<String>,
    /// The line behind which the next page begins.
    pub(crate) next: Option<u64>,
}

/// The URLs of an hour, those that moved there included, from behind a line on.
pub(crate) async fn urls(
    app: &App,
    crawl: &Crawl,
    hour: usize,
    after: u64,
    limit: usize,
) -> Result<Urls, Problem> {
    let Some(week) = week(app, crawl).await? else {
        return Err(no_plan());
    };
    let dir = crawl.dir.clone();
    let read = move |_: &App| urls_of(&dir, &week.free, hour, after, limit);
    Ok(app.read(read).await?)
}

fn urls_of(
    dir: &CrawlDir,
    free: &FreeHours,
    hour: usize,
    after: u64,
    limit: usize,
) -> Result<Urls, StoreError> {
    let (mut found, mut last) = (Urls::default(), 0);
    schedule::read(&dir.schedule(), |line, row| {
        match row {
            Ok(Row::Visit(at, url)) if line > after && free.moved(at) == hour => {
                if found.urls.len() == limit {
                    found.next = Some(last);
                    return ControlFlow::Break(());
                }
                found.urls.push(url.to_string());
                last = line;
            }
            _ => {}
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// What to say where there is no plan.
pub(crate) fn no_plan() -> Problem {
    Problem::not_found(Wrong::NoPlan)
}

/// Leaves these hours free and no others.
pub(crate) async fn paint(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
    free: FreeHours,
) -> Result<(), Problem> {
    if free.is_whole_week() {
        return Err(Problem::conflict(Wrong::WholeWeekFree));
    }
    let path = crawl.dir.schedule();
    let painted = app
        .read(move |_| path.is_file().then(|| schedule::paint(&path, &free)))
        .await;
    painted.ok_or_else(no_plan)??;
    let what = format!("{}: {} hours left free", crawl.name, free.iter().count());
    actions::note(app, caller, "paint-schedule", &what);
    Ok(())
}

/// Makes the plan, anew where there is one; whether it is made already.
pub(crate) async fn plan(app: &App, caller: &Caller, crawl: &Crawl) -> Result<bool, Problem> {
    let dir = crawl.dir.clone();
    let made = app
        .start(move |app| app.planner.as_ref().map(|planner| planner.plan(&dir)))
        .await;
    let Some(made) = made.transpose()? else {
        return Err(Problem::conflict(Wrong::PlansNothing));
    };
    match made {
        Made::Refused(errors) => Err(Problem::conflict(Wrong::NotPlanned).with_said(errors)),
        made => {
            actions::note(app, caller, "plan-schedule", &crawl.name);
            Ok(made == Made::Done)
        }
    }
}

/// The run that follows the plan.
pub(crate) fn run(crawl: &Crawl) -> Plan {
    Plan {
        dir: crawl.dir.root().to_owned(),
        refresh: Some(Refresh {
            drive: Drive::Table(crawl.dir.schedule()),
            once: false,
        }),
        ..Plan::default()
    }
}

/// Starts a run that follows the plan.
pub(crate) async fn follow(app: &App, caller: &Caller, crawl: &Crawl) -> Result<Started, Problem> {
    if week(app, crawl).await?.is_none() {
        return Err(no_plan());
    }
    if crawl.is_running() {
        return Err(Problem::conflict(Wrong::RunningOtherwise));
    }
    actions::launch(app, caller, run(crawl)).await
}
