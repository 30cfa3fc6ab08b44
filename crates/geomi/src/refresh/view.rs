//! A crawl directory as its plan sees it, for the commands that look and do not
//! touch.
//!
//! Visits are read from their files in order; those a running crawl has not yet
//! put into a file are left out. The rates shown are learned here, from all
//! visits and with what pages of one kind have in common, whatever the policy. What is
//! predicted of a copy goes by what the policy believes, hours and days included, where
//! it believes anything; otherwise by that rate.

use std::path::{Path, PathBuf};

use clap::Args;
use geomi_crawler::refresh::{RefreshBook, Sighted, Sighting, days, facts, read_visits};
use geomi_crawler::{Clock as _, CrawlConfig, Status, SystemClock};
use geomi_model::{Timestamp, Visit};
use geomi_refresh::{AccountId, Belief, Learner, PageId, Policy as _, Posterior, Sight};
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;

use crate::args::Global;
use crate::config::{self, Problems, Sources};
use crate::crawl::{has_begun, sets};
use crate::seeds_file;
use crate::session::print;

use super::run::{PlanArgs, no_crawl};

/// The share of the probability within the intervals that are shown.
pub(super) const SHARE: f64 = 0.9;

/// Which directory.
#[derive(Debug, Args)]
pub(crate) struct DirArgs {
    /// Crawl directory
    pub(super) dir: PathBuf,
}

/// What was seen of a page.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Seen {
    /// Visits that came to an end, the first one included.
    pub(super) visits: u32,
    /// Those that could be compared.
    pub(super) compared: u32,
    pub(super) changed: u32,
    pub(super) missed: u32,
    /// Days between the visits that were compared.
    pub(super) watched: f64,
    /// When it was first and last seen, in days.
    pub(super) first: f64,
    pub(super) last: f64,
    /// What its freshness weighs; 0 where many pages are summed up.
    pub(super) weight: f32,
}

impl Seen {
    /// What a belief of the page's rate rests on, in words.
    pub(super) fn evidence(&self) -> String {
        format!(
            "{} visits over {:.1} days, {} of {} comparisons found a change, {} came to nothing",
            self.visits,
            self.last - self.first,
            self.changed,
            self.compared,
            self.missed
        )
    }
}

/// A visit, and what was thought before it.
pub(super) struct Moment<'a> {
    pub(super) visit: &'a Visit,
    pub(super) sighted: Sighted,
    /// How likely a change was, where there is something to compare with.
    pub(super) chance: Option<f64>,
    /// When the page was seen before.
    pub(super) before: f64,
    /// The budgets it is subject to.
    pub(super) accounts: [Option<AccountId>; 2],
}

/// The directory.
pub(super) struct View {
    pub(super) book: RefreshBook,
    pub(super) learner: Learner,
    pub(super) seen: Vec<Seen>,
    pub(super) config: CrawlConfig,
    pub(super) dir: CrawlDir,
    /// Now, in days since 1970.
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
        let mut view = Self {
            book: RefreshBook::new(&config.plan),
            learner: Learner::default(),
            seen: Vec::new(),
            config,
            now: days(SystemClock::default().now().max(last_time(root))),
            dir: dir.clone(),
        };
        read_visits(&dir, |visit| {
            view.take(visit, &mut watch);
            true
        })?;
        view.book.start(view.now, 0.0);
        Ok(view)
    }

    fn take(&mut self, visit: &Visit, watch: &mut impl FnMut(&Moment<'_>)) {
        let foreseen = self.foreseen(visit);
        let Some(sighted) = self.book.take(visit, self.config.tries) else {
            return;
        };
        let Sighted { page, kind, at, .. } = sighted;
        if kind == Sighting::First {
            self.learner.add(&facts(visit));
            self.seen.push(Seen {
                first: at,
                last: at,
                weight: sighted.weight,
                ..Seen::default()
            });
        }
        let before = self.seen[page as usize].last;
        let mut accounts = self.book.planner().accounts_of(page);
        watch(&Moment {
            visit,
            sighted,
            chance: foreseen.filter(|_| kind.changed().is_some()),
            before,
            accounts: [accounts.next(), accounts.next()],
        });
        let seen = &mut self.seen[page as usize];
        seen.visits += 1;
        if matches!(kind, Sighting::Gone | Sighting::Failed) {
            seen.missed += 1;
            return;
        }
        seen.last = at;
        if let Some(changed) = kind.changed() {
            seen.compared += 1;
            seen.changed += u32::from(changed);
            let from = before.min(at);
            seen.watched += at - from;
            let early = visit
                .early
                .map_or(0.0, |early| early.as_secs_f64() / 86_400.0);
            let due = at + early;
            self.learner
                .observe(&Sight::called(page, changed, (from, at), due));
        }
    }

    /// How likely a change was before a visit that can be compared. It is asked before
    /// anybody hears of the visit, for that would be hindsight.
    fn foreseen(&self, visit: &Visit) -> Option<f64> {
        visit.changed?;
        let page = self.book.pages().find(&visit.url)?;
        let before = self.seen[page as usize].last;
        Some(1.0 - self.belief(page).fresh(before, days(visit.time)))
    }

    /// All pages.
    pub(super) fn pages(&self) -> impl Iterator<Item = PageId> + use<> {
        0..self.seen.len() as PageId
    }

    /// The page of a URL; an error if there is no copy of it.
    pub(super) fn find(&self, url: &CrawlUrl) -> Result<PageId, Problems> {
        self.book.pages().find(url).ok_or_else(|| {
            let dir = self.dir.root().display();
            Problems::one(format!(
                "there is no copy of {url} in {dir}: a plan is of pages that came at least once; \
                 `geomi crawl -o {dir} --again` tries the others"
            ))
        })
    }

    /// What is believed of a page's rate.
    pub(super) fn posterior(&self, page: PageId) -> Posterior {
        self.learner.posterior(page)
    }

    /// What is predicted of a page with: what the policy believes, or its rate.
    pub(super) fn belief(&self, page: PageId) -> Belief {
        let by_policy = self.book.planner().policy().belief(page);
        by_policy.unwrap_or_else(|| Belief::steady(self.posterior(page)))
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
    let written = std::fs::read(CrawlDir::new(dir).status());
    let status = written
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Status>(&bytes).ok());
    let time = status.and_then(|status| Timestamp::parse_rfc3339(&status.time));
    time.unwrap_or(Timestamp::EPOCH)
}

/// A URL as a field of CSV.
pub(super) fn quoted(url: &str) -> String {
    if url.contains([',', '"']) {
        return format!("\"{}\"", url.replace('"', "\"\""));
    }
    url.to_owned()
}

/// Prints lines of fields in columns; the first line names them.
pub(super) fn print_table(lines: &[Vec<String>], lefts: &[usize]) -> anyhow::Result<()> {
    let columns = crate::table::columns(lines, |at| !lefts.contains(&at));
    let aligned = lines
        .iter()
        .map(|line| crate::table::aligned(line, &columns));
    print(&aligned.collect::<Vec<_>>().join("\n"))
}
