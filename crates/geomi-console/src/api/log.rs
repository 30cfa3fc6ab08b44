//! The log, and events as they happen.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use geomi_crawler::log_reader::{self, Bounds, Found, LoggedVisit};
use http::{HeaderMap, HeaderValue, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{VISIT_MAX, between, bounded, limit, one_of, visit};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, Param, ParamKind, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::live::{self, Form};

/// Network states, as the log names them.
pub(crate) const STATES: &[&str] = &[
    "OK",
    "code",
    "noIP",
    "cErr",
    "cTim",
    "Conn",
    "hErr",
    "hTim",
    "hSht",
    "hNpr",
    "dErr",
    "dTim",
    "not tried",
];
/// Classes of answers: by the first digit of the code, or none came.
pub(crate) const CLASSES: &[&str] = &["1xx", "2xx", "3xx", NOT_MODIFIED, "4xx", "5xx", "none"];

/// The class of answers that say "not modified": they redirect nowhere.
pub(crate) const NOT_MODIFIED: &str = "304";
/// Lines one request looks at.
const LOOKS_MAX: usize = 100_000;

/// A line of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct VisitRow {
    /// Number of the visit, in its partition.
    n: u64,
    /// Its partition, in a crawl of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<u16>,
    /// When it started, RFC 3339 in UTC.
    time: String,
    /// What was asked for.
    url: String,
    /// Network state by name.
    state: String,
    /// Status code.
    code: Option<u16>,
    /// Content type.
    mime: Option<String>,
    /// Bytes of the body, decoded.
    bytes: u64,
    /// Links from the seed.
    depth: u16,
    /// Which try.
    attempt: u8,
    /// Milliseconds to the first byte.
    rtt_ms: Option<f64>,
    /// Milliseconds in all.
    total_ms: f64,
    /// The page that linked to it.
    via: Option<String>,
    /// Redirect target.
    location: Option<String>,
    /// What went wrong.
    error: Option<String>,
}

impl From<LoggedVisit> for VisitRow {
    fn from(visit: LoggedVisit) -> Self {
        Self {
            n: visit.n,
            p: visit.p,
            time: visit.time,
            url: visit.url,
            state: visit.state,
            code: visit.code,
            mime: visit.mime,
            bytes: visit.bytes,
            depth: visit.depth,
            attempt: visit.attempt,
            rtt_ms: visit.rtt_ms,
            total_ms: visit.total_ms,
            via: visit.via,
            location: visit.location,
            error: visit.error,
        }
    }
}

/// A page of the log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogPage {
    /// Visits, the latest first.
    items: Vec<VisitRow>,
    /// Send this as `before` for older ones; null at the beginning.
    next: Option<u64>,
}

/// Which lines.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogQuery {
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) state: Option<String>,
    pub(crate) code: Option<u16>,
    pub(crate) class: Option<String>,
    pub(crate) part: Option<String>,
}

impl LogQuery {
    /// Checks and bounds what was asked for.
    fn check(mut self) -> Result<Self, Problem> {
        self.part = bounded("part", self.part, 500)?;
        self.state = self.state.filter(|state| !state.is_empty());
        if let Some(state) = &self.state
            && !STATES.contains(&state.as_str())
        {
            return Err(one_of("state", STATES));
        }
        self.class = self.class.filter(|class| !class.is_empty());
        if let Some(class) = &self.class
            && !CLASSES.contains(&class.as_str())
        {
            return Err(one_of("class", CLASSES));
        }
        match self.code {
            Some(code) if !(100..=999).contains(&code) => Err(between("code", 100, 999)),
            _ => Ok(self),
        }
    }

    fn is_wanted(&self, visit: &LoggedVisit) -> bool {
        self.state
            .as_ref()
            .is_none_or(|state| visit.state == *state)
            && self.code.is_none_or(|code| visit.code == Some(code))
            && self
                .class
                .as_ref()
                .is_none_or(|class| class_of(visit.code) == *class)
            && self
                .part
                .as_ref()
                .is_none_or(|part| visit.url.contains(part))
    }
}

fn class_of(code: Option<u16>) -> String {
    match code {
        None => "none".to_owned(),
        Some(304) => NOT_MODIFIED.to_owned(),
        Some(code) => format!("{}xx", code / 100),
    }
}

pub(crate) const LIST: Operation = Operation {
    id: "listLog",
    tag: "log",
    summary: "Visits, the latest first. A filter looks at 100,000 lines at a time: go on while `next` is not null.",
    params: &[
        number(
            "before",
            1,
            VISIT_MAX,
            "Visits before this number: what `next` said",
        ),
        number("limit", 1, 1000, "How many, 100 unless given"),
        Param {
            name: "state",
            kind: ParamKind::OneOf(STATES),
            doc: "Only visits that ended so",
        },
        number("code", 100, 999, "Only answers with this code"),
        Param {
            name: "class",
            kind: ParamKind::OneOf(CLASSES),
            doc: "Only answers of this class",
        },
        text("part", 500, "Only URLs with this in them"),
    ],
    body: None,
    answer: Answer::Json(schema::<LogPage>),
    problems: &[],
};

/// Gives a page of the log.
pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<LogQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let limit = limit(query.limit, 100, 1_000)?;
    let found = find(&app, &crawl, query, limit).await?;
    let next = next(&found);
    let items = found.lines.into_iter().map(VisitRow::from).collect();
    Ok(respond::json(&headers, &LogPage { items, next }))
}

/// Looks for lines, for the API and the page.
pub(crate) async fn find(
    app: &App,
    crawl: &Crawl,
    query: LogQuery,
    limit: usize,
) -> Result<Found, Problem> {
    let query = query.check()?;
    visit("before", query.before, 1)?;
    let dir = crawl.dir.clone();
    let bounds = Bounds {
        lines: limit,
        looks: LOOKS_MAX,
    };
    let look = move |_: &App| {
        log_reader::before(&dir, query.before, bounds, &|visit| query.is_wanted(visit))
    };
    Ok(app.read(look).await?)
}

/// Where to go on.
pub(crate) fn next(found: &Found) -> Option<u64> {
    found.looked_to.filter(|n| !found.is_all && *n > 1)
}

/// From where on events are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    since: Option<u64>,
}

pub(crate) const EVENTS: Operation = Operation {
    id: "watchCrawl",
    tag: "log",
    summary: "What happens, as server-sent events: `status`, `visit` (its number is the id), `skipped` (numbers not shown one by one). \
        Come back with Last-Event-ID and nothing is missed.",
    params: &[number(
        "since",
        0,
        VISIT_MAX,
        "Begin behind this visit, where there is no Last-Event-ID",
    )],
    body: None,
    answer: Answer::Events,
    problems: &[],
};

/// Streams events.
pub(crate) async fn events(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<EventsQuery>,
) -> Result<Response, Problem> {
    let since = visit("since", query.since, 0)?;
    let crawl = app.crawl(id).await?;
    stream(&app, &caller, crawl, &headers, since, Form::Json).await
}

/// A stream of events, for the API and the page.
pub(crate) async fn stream(
    app: &App,
    caller: &Caller,
    crawl: std::sync::Arc<Crawl>,
    headers: &HeaderMap,
    since: Option<u64>,
    form: Form,
) -> Result<Response, Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    // An id that is no number is none of ours: begin where the others are.
    let last = last.and_then(|id| id.trim().parse().ok());
    let frames = live::watch(app, caller.known(), crawl, last.or(since), form).await?;
    let response = respond::with_type("text/event-stream", Body::new(frames));
    // A proxy that collects an answer before passing it on would stop it.
    let response = respond::and(
        response,
        header::HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    Ok(respond::and(
        response,
        header::CACHE_CONTROL,
        HeaderValue::from_static("no-store"),
    ))
}
