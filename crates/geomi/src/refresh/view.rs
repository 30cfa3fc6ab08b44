//! A crawl directory as its plan sees it, for the commands that look and do not
//! touch.
//!
//! Visits are read from their files in order; those a running crawl has not yet
//! put into a file are left out. What is made of them is told in
//! [`geomi_report::freshness`].

use std::path::{Path, PathBuf};

use clap::Args;
use geomi_crawler::refresh::read_visits;
use geomi_crawler::{Clock as _, CrawlConfig, SystemClock};
use geomi_engine::Status;
use geomi_model::{Timestamp, Zone};
use geomi_refresh::upkeep::RefreshPlan;
use geomi_refresh::{Belief, Learner, PageId, Posterior};
use geomi_report::freshness::{self, Moment, Past, Seen};
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;

use super::run::{PlanArgs, no_crawl};
use crate::args::Global;
use crate::config::{self, Problems, Sources};
use crate::crawl::{has_begun, sets};
use crate::seeds_file;
use crate::terminal::print;

/// The share of the probability within the intervals that are shown.
pub(super) const SHARE: f64 = 0.9;

/// Which directory.
#[derive(Debug, Args)]
pub(crate) struct DirArgs {
    /// Crawl directory
    pub(super) dir: PathBuf,
}

/// The directory.
pub(super) struct View {
    pub(super) plan: RefreshPlan,
    pub(super) learner: Learner,
    pub(super) seen: Vec<Seen>,
    pub(super) config: CrawlConfig,
    pub(super) dir: CrawlDir,
    /// Now, in days since 1970 by the clock of the plan.
    pub(super) now: f64,
}

impl View {
    /// Reads the directory; `watch` hears of every visit.
    pub(super) fn open(
        root: &Path,
        plan: &PlanArgs,
        global: &Global,
        mut watch: impl FnMut(&Moment<'_>),
    ) -> anyhow::Result<Self> {
        let mut problems = Problems::default();
        if !has_begun(root) && !has_visits(root) {
            problems.add_general(no_crawl(root));
            problems.into_result()?;
            unreachable!("a problem was told");
        }
        let (from_variable, from_flag) = sets(global, &mut problems);
        let settings = [from_variable, plan.settings(&mut problems), from_flag].concat();
        let sources = Sources {
            config: global.config.as_deref(),
            dir: Some(root),
            settings: &settings,
        };
        let written = config::load(&sources, &mut problems);
        let config = config::resolve(&written, Vec::new(), &mut problems);
        problems.into_result()?;
        let dir = CrawlDir::new(root);
        let now = SystemClock::default().now().max(last_time(root));
        let now = config.engine.plan.timezone.days(now);
        let mut past = Past::new(&config.engine.plan, config.engine.tries);
        read_visits(&dir, |visit| {
            past.take(visit, &mut watch);
            true
        })?;
        past.plan.start(now, 0.0);
        let Past {
            plan,
            learner,
            seen,
            ..
        } = past;
        Ok(Self {
            plan,
            learner,
            seen,
            config,
            dir,
            now,
        })
    }

    /// The zone whose clock hours and days go by.
    pub(super) fn zone(&self) -> &Zone {
        &self.config.engine.plan.timezone
    }

    /// All pages.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageId> + use<> {
        0..self.seen.len() as PageId
    }

    /// The page of a URL; an error if there is no copy of it.
    pub(super) fn find(&self, url: &CrawlUrl) -> Result<PageId, Problems> {
        self.plan.pages().find(url).ok_or_else(|| {
            let dir = self.dir.root().display();
            Problems::one(format!(
                "there is no copy of {url} in {dir}: {}",
                self.why_not_here(url)
            ))
        })
    }

    /// Why there is no copy of a URL, and what comes of it.
    fn why_not_here(&self, url: &CrawlUrl) -> String {
        match self.plan.never_fetched_due(url) {
            None => "it was not visited; `geomi explain` tells why".to_owned(),
            Some(None) => "it is being tried again".to_owned(),
            Some(Some(due)) => format!(
                "no visit to it has brought one; a run asks for it again at {}",
                self.plan.instant(due).to_rfc3339_secs()
            ),
        }
    }

    /// What is believed of a page's rate.
    pub(super) fn posterior(&self, page: PageId) -> Posterior {
        self.learner.posterior(page)
    }

    /// What is predicted of a page with: what the policy believes, or its rate.
    pub(super) fn belief(&self, page: PageId) -> Belief {
        freshness::belief(&self.plan, &self.learner, page)
    }
}

/// Whether there is something to read, though nothing to go on from.
fn has_visits(root: &Path) -> bool {
    // A folder that cannot be listed holds no visits we could read.
    segment::list(&CrawlDir::new(root)).is_ok_and(|segments| !segments.is_empty())
}

/// The URL that somebody typed.
pub(super) fn typed_url(text: &str) -> Result<CrawlUrl, Problems> {
    let seed = seeds_file::typed(text);
    let seed = seed.map_err(|why| Problems::one(format!("{text:?} is no URL: {why}")))?;
    Ok(seed.url)
}

/// When the last run reported by its own clock, which may have been a fast one.
pub(super) fn last_time(dir: &Path) -> Timestamp {
    // Without a report, or with one that is not ours, time begins now.
    let time = last_status(dir).and_then(|status| Timestamp::parse_rfc3339(&status.time));
    time.unwrap_or(Timestamp::EPOCH)
}

/// What the last run told of itself; `None` without a report, or with one that is not
/// ours.
pub(super) fn last_status(dir: &Path) -> Option<Status> {
    let written = std::fs::read(CrawlDir::new(dir).status()).ok()?;
    serde_json::from_slice(&written).ok()
}

/// Prints lines of fields in columns; the first line names them.
pub(super) fn print_table(lines: &[Vec<String>], lefts: &[usize]) -> anyhow::Result<()> {
    let columns = crate::table::columns(lines, |at| !lefts.contains(&at));
    let aligned = lines
        .iter()
        .map(|line| crate::table::aligned(line, &columns));
    print(&aligned.collect::<Vec<_>>().join("\n"))
}
