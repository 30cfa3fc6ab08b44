//! Crawls: the list, one of them, its curves.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use geomi_engine::{Answers, Left, RefreshStatus, Status};
use geomi_refresh::upkeep::RefreshDrive;
use geomi_store::{StoreError, read_small_beneath};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::log::NOT_MODIFIED;
use super::{between, bounded, limit, one_of};
use crate::accounts::Role;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, Param, ParamKind, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::library::stats::{Sample, series};

/// A longer file is no configuration.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// States a list can be cut down to.
pub(crate) const STATES: &[&str] = &[
    "starting",
    "running",
    "paused",
    "stopping",
    "done",
    "empty",
    "not-closed",
    "silent",
    "finished",
    "incomplete",
    "seeds-failed",
    "nothing-saved",
    "too-many-failures",
    "page-limit",
    "byte-limit",
    "time-limit",
    "disk-full",
    "stopped",
];

/// A crawl in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct CrawlRow {
    /// Name in addresses.
    pub(crate) id: String,
    /// Name for people: its path below what is served.
    pub(crate) name: String,
    /// How it stands: `running`, `paused`, `finished` and so on.
    pub(crate) state: String,
    /// Whether a process is at work on it.
    pub(crate) running: bool,
    /// That process.
    pub(crate) pid: Option<u32>,
    /// Why it could not be asked or read.
    pub(crate) trouble: Option<String>,
    /// When its status was taken, RFC 3339 in UTC.
    pub(crate) time: Option<String>,
    /// When its last run began.
    pub(crate) started: Option<String>,
    /// Seconds that run has taken.
    pub(crate) elapsed_s: f64,
    /// Pages saved. A page counts once, however often it is visited.
    pub(crate) saved: u64,
    /// Pages this run saved for the first time.
    pub(crate) saved_this_run: u64,
    /// Visits that saved a page or found it unchanged.
    pub(crate) visits_saved: u64,
    /// Those of this run.
    pub(crate) visits_saved_this_run: u64,
    /// Pages that redirect.
    pub(crate) redirected: u64,
    /// Pages given up.
    pub(crate) failed: u64,
    /// URLs never requested, by robots.txt or a rule.
    pub(crate) refused: u64,
    /// URLs waiting.
    pub(crate) queued: u64,
    /// URLs being visited.
    pub(crate) in_flight: u64,
    /// Pages visited and saved, or found unchanged, a second, over the last ten seconds.
    pub(crate) pages_per_s: f64,
    /// Bytes a second over the wire, over the last ten seconds.
    pub(crate) bytes_per_s: f64,
    /// Bytes over the wire.
    pub(crate) wire_bytes: u64,
    /// Seeds known.
    pub(crate) seeds: u64,
}

impl CrawlRow {
    pub(crate) fn new(crawl: &Crawl) -> Self {
        let blank = Status::default();
        let status = crawl.status.as_ref().unwrap_or(&blank);
        let counters = &status.counters;
        let known = |text: &String| crawl.status.is_some().then(|| text.clone());
        // A crawl that is over has no rate, whatever its last status said.
        let rate = |value: f64| if crawl.is_running() { value } else { 0.0 };
        Self {
            id: crawl.id.clone(),
            name: crawl.name.clone(),
            state: crawl.state().to_owned(),
            running: crawl.is_running(),
            pid: crawl.pid,
            trouble: crawl.trouble.clone(),
            time: known(&status.time),
            started: known(&status.started),
            elapsed_s: status.elapsed_s,
            saved: counters.saved,
            saved_this_run: status.saved_this_run,
            visits_saved: counters.visits_saved,
            visits_saved_this_run: status.visits_saved_this_run,
            redirected: counters.redirected,
            failed: counters.failed,
            refused: counters.refused,
            queued: status.queued,
            in_flight: if crawl.is_running() {
                status.in_flight
            } else {
                0
            },
            pages_per_s: rate(status.pages_per_s),
            bytes_per_s: rate(status.bytes_per_s),
            wire_bytes: counters.wire_bytes,
            seeds: status.seeds,
        }
    }
}

/// A page of crawls.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CrawlPage {
    /// The crawls, by name.
    pub(crate) items: Vec<CrawlRow>,
    /// Send this as `after` for those behind; null at the end.
    pub(crate) next: Option<String>,
    /// How many there are in all.
    pub(crate) total: u64,
}

/// One crawl, with everything it counted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CrawlDetail {
    #[serde(flatten)]
    pub(crate) row: CrawlRow,
    /// Visits, robots.txt included.
    pub(crate) visits: u64,
    /// Visits stored.
    pub(crate) captured: u64,
    /// Visits that will be tried again.
    pub(crate) retried: u64,
    /// Links found on pages.
    pub(crate) links: u64,
    /// Visits by network state.
    pub(crate) states: BTreeMap<String, u64>,
    /// Visits by class of answer: `2xx` and so on, `304` for "not modified", or `none`.
    pub(crate) classes: BTreeMap<String, u64>,
    /// Visits by status code.
    pub(crate) codes: BTreeMap<String, u64>,
    /// Answers by content type: fifty by name, the rest as `other`.
    pub(crate) types: BTreeMap<String, u64>,
    /// Links not admitted, by reason.
    pub(crate) refusals: BTreeMap<String, u64>,
    /// Sites that may be asked now.
    pub(crate) sites_ready: u64,
    /// Sites resting between requests.
    pub(crate) sites_waiting: u64,
    /// Sites left alone after failures.
    pub(crate) sites_backing_off: u64,
    /// Sites left alone for this run.
    pub(crate) sites_retired: u64,
    /// Share of the known work that is done, from 0 to 1.
    pub(crate) done_share: Option<f64>,
    /// Seconds the rest will take at the present rate.
    pub(crate) left_s: Option<f64>,
    /// Sites whose last requests all failed, and how many did: the ten worst.
    pub(crate) sites_failing: Vec<FailingSite>,
    /// What is left of a crawl that ended by itself; `null` if nothing is.
    pub(crate) left: Option<LeftUrls>,
    /// How it is kept fresh; `null` if every URL is visited once.
    pub(crate) refresh: Option<Refreshing>,
}

/// A site whose last requests all failed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailingSite {
    /// Its name.
    pub(crate) site: String,
    /// Failures in a row.
    pub(crate) failures: u32,
}

/// What a crawl left.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LeftUrls {
    /// How many URLs.
    pub(crate) urls: u64,
    /// Of how many sites.
    pub(crate) sites: u64,
    /// By reason.
    pub(crate) reasons: Vec<LeftFor>,
}

/// What a crawl left for one reason.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LeftFor {
    /// The reason: `trap-guard`, `long-wait`, `long-delay`, `site-failing`,
    /// `robots-elsewhere`, `site-page-limit` or `queued`.
    pub(crate) reason: String,
    /// The same in a sentence.
    pub(crate) text: String,
    /// How to get them.
    pub(crate) advice: String,
    /// How many URLs.
    pub(crate) urls: u64,
    /// Of how many sites.
    pub(crate) sites: u64,
    /// When the last of the sites may be asked again, where that is known.
    pub(crate) until: Option<String>,
}

impl LeftUrls {
    fn new(left: &Left) -> Self {
        let reasons = left.groups.iter().map(|group| LeftFor {
            reason: group.reason.as_str().to_owned(),
            text: group.in_words(),
            advice: group.reason.advice().to_owned(),
            urls: group.urls,
            sites: group.sites,
            until: group.until.clone(),
        });
        Self {
            urls: left.urls,
            sites: left.sites,
            reasons: reasons.collect(),
        }
    }
}

/// How a crawl is kept fresh.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Refreshing {
    /// By a `plan`, in `rounds` or by a `table`.
    #[schemars(with = "String")]
    pub(crate) drive: RefreshDrive,
    /// The policy of a plan.
    pub(crate) policy: String,
    /// Pages that are kept fresh.
    pub(crate) pages: u64,
    /// Requests a day that may be made for it.
    pub(crate) requests_per_day: f64,
    /// When a page is due next; `null` at rest.
    pub(crate) next_due: Option<String>,
}

impl Refreshing {
    fn new(status: &RefreshStatus, crawl: &Crawl) -> Self {
        Self {
            drive: status.drive,
            policy: status.policy.clone(),
            pages: status.pages,
            requests_per_day: status.requests_per_day,
            // Nothing is due while nobody runs it, whatever its last status said.
            next_due: status.next_due.clone().filter(|_| crawl.is_running()),
        }
    }
}

impl CrawlDetail {
    pub(crate) fn new(crawl: &Crawl) -> Self {
        let blank = Status::default();
        let status = crawl.status.as_ref().unwrap_or(&blank);
        let expected = status.expectation().filter(|_| crawl.is_running());
        let counters = &status.counters;
        Self {
            row: CrawlRow::new(crawl),
            visits: counters.visits,
            captured: counters.captured,
            retried: counters.retried,
            links: counters.links,
            states: counters.states.clone(),
            classes: classes(&status.answers),
            codes: status.answers.codes.clone(),
            types: status.answers.types.clone(),
            refusals: counters.refusals.clone(),
            sites_ready: status.sites_ready,
            sites_waiting: status.sites_waiting,
            sites_backing_off: status.sites_backing_off,
            // Statuses of earlier versions named them all.
            sites_retired: (status.sites_retired.len() as u64).max(status.sites_retired_count),
            sites_failing: status
                .sites_failing
                .iter()
                .map(|(site, failures)| FailingSite {
                    site: site.clone(),
                    failures: *failures,
                })
                .collect(),
            left: status.left.as_ref().map(LeftUrls::new),
            done_share: expected.map(|(share, _)| share),
            left_s: expected.map(|(_, left)| left.as_secs_f64()),
            refresh: status
                .refresh
                .as_ref()
                .map(|refresh| Refreshing::new(refresh, crawl)),
        }
    }
}

fn classes(answers: &Answers) -> BTreeMap<String, u64> {
    let mut classes = answers.classes();
    if let Some(count) = answers.codes.get(NOT_MODIFIED) {
        if let Some(redirected) = classes.get_mut("3xx") {
            *redirected = redirected.saturating_sub(*count);
        }
        classes.insert(NOT_MODIFIED.to_owned(), *count);
    }
    classes.insert("none".to_owned(), answers.none);
    classes.retain(|_, count| *count > 0);
    classes
}

/// What a list of crawls can be asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuery {
    after: Option<String>,
    limit: Option<u64>,
    state: Option<String>,
}

pub(crate) const LIST: Operation = Operation {
    id: "listCrawls",
    tag: "crawls",
    summary: "All crawls below what is served, by name.",
    params: &[
        text("after", 1000, "Crawls behind this name: what `next` said"),
        number("limit", 1, 1000, "How many, 100 unless given"),
        Param {
            name: "state",
            kind: ParamKind::OneOf(STATES),
            doc: "Only those that stand so",
        },
    ],
    body: None,
    answer: Answer::Json(schema::<CrawlPage>),
    problems: &[],
};

/// Lists crawls.
pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Response, Problem> {
    let limit = limit(query.limit, 100, 1_000)?;
    let after = bounded("after", query.after, 1_000)?;
    if let Some(state) = &query.state
        && !STATES.contains(&state.as_str())
    {
        return Err(one_of("state", STATES));
    }
    let crawls = app.library.list(app.now()).await?;
    let wanted = |crawl: &Crawl| {
        query
            .state
            .as_ref()
            .is_none_or(|state| crawl.state() == state)
    };
    let total = crawls.iter().filter(|crawl| wanted(crawl)).count() as u64;
    let behind = crawls
        .iter()
        .filter(|crawl| after.as_ref().is_none_or(|after| crawl.name > *after))
        .filter(|crawl| wanted(crawl));
    let mut items: Vec<CrawlRow> = behind
        .take(limit + 1)
        .map(|crawl| CrawlRow::new(crawl))
        .collect();
    let has_more = items.len() > limit;
    items.truncate(limit);
    let next = items
        .last()
        .filter(|_| has_more)
        .map(|row| row.name.clone());
    Ok(respond::json(&headers, &CrawlPage { items, next, total }))
}

pub(crate) const GET: Operation = Operation {
    id: "getCrawl",
    tag: "crawls",
    summary: "One crawl, with everything it counted.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<CrawlDetail>),
    problems: &[],
};

/// Gives one crawl.
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(respond::json(&headers, &CrawlDetail::new(&crawl)))
}

/// The curves of a crawl.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Stats {
    /// Samples in the order of time, ten seconds apart or more.
    pub(crate) items: Vec<Sample>,
}

/// How finely.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatsQuery {
    points: Option<u64>,
}

pub(crate) const STATS: Operation = Operation {
    id: "getStats",
    tag: "crawls",
    summary: "Rates and counts over time, thinned out evenly.",
    params: &[number(
        "points",
        2,
        5000,
        "How many samples at most, 500 unless given",
    )],
    body: None,
    answer: Answer::Json(schema::<Stats>),
    problems: &[],
};

/// Gives the curves.
pub(crate) async fn stats(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<StatsQuery>,
) -> Result<Response, Problem> {
    let points = limit(query.points, 500, 5_000)?;
    if points < 2 {
        return Err(between("points", 2, 5_000));
    }
    let crawl = app.crawl(id).await?;
    let items = app.read(move |_| series(&crawl.dir, points)).await?;
    Ok(respond::json(&headers, &Stats { items }))
}

/// The configuration of a crawl.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConfigText {
    /// geomi.toml as used; without secrets unless an admin asks.
    pub(crate) toml: String,
}

pub(crate) const CONFIG: Operation = Operation {
    id: "getConfig",
    tag: "crawls",
    summary: "The configuration as used; without secrets unless an admin asks.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<ConfigText>),
    problems: &[],
};

/// Gives the configuration.
pub(crate) async fn config(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let toml = app
        .read(move |app| config_text(app, &caller, &crawl))
        .await?;
    Ok(respond::json(&headers, &ConfigText { toml }))
}

/// geomi.toml of a crawl as this caller may see it: with secrets for admins, without
/// for everybody else. Empty where there is none.
pub(crate) fn config_text(app: &App, caller: &Caller, crawl: &Crawl) -> Result<String, StoreError> {
    use std::io::ErrorKind::{InvalidInput, NotFound};
    let path = crawl.dir.config();
    match read_small_beneath(crawl.dir.root(), "geomi.toml", CONFIG_BYTES_MAX) {
        Ok(text) if caller.may(Role::Admin) => Ok(text),
        Ok(text) => Ok(app.options.settings.redact_toml(&text)),
        // A symbolic link is not followed: it may lead to anything.
        Err(error) if matches!(error.kind(), NotFound | InvalidInput) => Ok(String::new()),
        Err(error) => Err(StoreError::from_io("read", &path, error)),
    }
}

/// Who fetches.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Worker {
    /// Number, from 1.
    pub(crate) number: u32,
    /// The crawl it works on.
    pub(crate) crawl: String,
    /// Its process.
    pub(crate) pid: u32,
    /// Its machine.
    pub(crate) host: String,
    /// What it does.
    pub(crate) state: String,
    /// Requests under way.
    pub(crate) in_flight: u64,
    /// Pages saved a second.
    pub(crate) pages_per_s: f64,
    /// When it began.
    pub(crate) started: Option<String>,
}

/// All workers.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Workers {
    /// One for each running crawl.
    pub(crate) items: Vec<Worker>,
}

pub(crate) const WORKERS: Operation = Operation {
    id: "listWorkers",
    tag: "workers",
    summary: "The processes that fetch, one for each running crawl.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<Workers>),
    problems: &[],
};

/// Lists workers.
pub(crate) async fn workers(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Ok(respond::json(
        &headers,
        &Workers {
            items: find_workers(&app).await?,
        },
    ))
}

/// Where the workers of crawls are that this console serves.
pub(crate) const THIS_MACHINE: &str = "this machine";

/// The workers of all running crawls.
pub(crate) async fn find_workers(app: &App) -> Result<Vec<Worker>, Problem> {
    let crawls = app.library.list(app.now()).await?;
    let running = crawls.iter().filter_map(|crawl| Some((crawl, crawl.pid?)));
    let workers = running.zip(1..).map(|((crawl, pid), number)| {
        let row = CrawlRow::new(crawl);
        Worker {
            number,
            crawl: crawl.id.clone(),
            pid,
            host: THIS_MACHINE.to_owned(),
            state: row.state,
            in_flight: row.in_flight,
            pages_per_s: row.pages_per_s,
            started: row.started,
        }
    });
    Ok(workers.collect())
}
