//! The week of a crawl's visits.

use axum::extract::State;
use axum::response::Response;
use geomi_model::week::{DAYS, HOURS};
use geomi_store::schedule::FreeHours;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{VISIT_MAX, between, limit, visit};
use crate::actions::Started;
use crate::app::App;
use crate::http::bounded::UpTo;
use crate::http::extract::{Json, Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, Param, ParamKind, number, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::schedule::{self, Week};
use crate::wrong::Wrong;

const TAG: &str = "schedule";
/// URLs of a page, unless asked for others.
const URLS: usize = 100;
const URLS_MAX: usize = 1_000;

/// A day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Day {
    Sunday,
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
}

impl Day {
    const ALL: [Self; 7] = [
        Self::Sunday,
        Self::Monday,
        Self::Tuesday,
        Self::Wednesday,
        Self::Thursday,
        Self::Friday,
        Self::Saturday,
    ];
}

/// One hour of the week.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HourView {
    /// The day.
    day: Day,
    /// The hour, in the time zone of the plan (`refresh.timezone`).
    hour: usize,
    /// Visits made in it, those that moved here from free hours included.
    visits: u64,
    /// Visits written down for it.
    planned: u64,
    /// Whether it is left free: its visits are made in the next open hour.
    free: bool,
}

/// A week of visits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScheduleView {
    /// Visits in all.
    visits: u64,
    /// All 168 hours, from Sunday midnight on.
    hours: Vec<HourView>,
    /// Lines of the table that cannot be read; with one of them no run follows it.
    faults: Vec<String>,
}

impl From<&Week> for ScheduleView {
    fn from(week: &Week) -> Self {
        let hours = (0..HOURS).map(|at| HourView {
            day: Day::ALL[at / 24],
            hour: at % 24,
            visits: week.hours[at].visits,
            planned: week.hours[at].planned,
            free: week.free.contains(at),
        });
        Self {
            visits: week.visits,
            hours: hours.collect(),
            faults: week.faults.clone(),
        }
    }
}

pub(crate) const GET: Operation = Operation {
    id: "getSchedule",
    tag: TAG,
    summary: "Visits by hour of the week, as schedule.csv plans them.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<ScheduleView>),
    problems: &[],
};

/// Gives the week.
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let week = schedule::week(&app, &crawl).await?;
    let week = week.ok_or_else(schedule::no_plan)?;
    Ok(respond::json(&headers, &ScheduleView::from(&*week)))
}

/// Which URLs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UrlsQuery {
    day: Option<Day>,
    hour: Option<usize>,
    after: Option<u64>,
    limit: Option<u64>,
}

/// URLs that are visited in an hour.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UrlsView {
    /// The URLs, in the order of the table.
    items: Vec<String>,
    /// What to send as `after` for the next page.
    next: Option<u64>,
}

pub(crate) const URLS_OF: Operation = Operation {
    id: "listScheduledUrls",
    tag: TAG,
    summary: "URLs that are visited in an hour of the week.",
    params: &[
        Param {
            name: "day",
            kind: ParamKind::OneOf(&DAYS),
            doc: "The day, Sunday unless given",
        },
        number(
            "hour",
            0,
            23,
            "The hour in the time zone of the plan, 0 unless given",
        ),
        number("after", 0, VISIT_MAX, "Line of the table to go on behind"),
        number("limit", 1, URLS_MAX as u64, "How many, 100 unless given"),
    ],
    body: None,
    answer: Answer::Json(schema::<UrlsView>),
    problems: &[],
};

/// Gives what is behind an hour.
pub(crate) async fn urls(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<UrlsQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let limit = limit(query.limit, URLS, URLS_MAX)?;
    let after = visit("after", query.after, 0)?.unwrap_or(0);
    let hour = query.hour.unwrap_or(0);
    if hour > 23 {
        return Err(between("hour", 0, 23));
    }
    let at = query.day.unwrap_or(Day::Sunday) as usize * 24 + hour;
    let found = schedule::urls(&app, &crawl, at, after, limit).await?;
    let view = UrlsView {
        items: found.urls,
        next: found.next,
    };
    Ok(respond::json(&headers, &view))
}

/// An hour that is left free.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FreeHour {
    /// The day.
    day: Day,
    /// The hour, in the time zone of the plan (`refresh.timezone`).
    hour: UpTo<23>,
}

/// Hours to be left free.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PaintBody {
    /// All hours that shall be free; every other one is open.
    #[schemars(length(max = 168))]
    free: Vec<FreeHour>,
}

pub(crate) const PAINT: Operation = Operation {
    id: "paintSchedule",
    tag: TAG,
    summary: "Leave these hours free and no others; their visits are made in the next open hour.",
    params: &[],
    body: Some(schema::<PaintBody>),
    answer: Answer::Done,
    problems: &[409],
};

/// Paints.
pub(crate) async fn paint(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<PaintBody>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let mut free = FreeHours::default();
    if body.free.len() > HOURS {
        let said = "a week has 168 hours".to_owned();
        return Err(Problem::unprocessable(Wrong::Said(said)));
    }
    for FreeHour { day, hour } in body.free {
        free.set(day as usize * 24 + usize::from(hour.0), true);
    }
    schedule::paint(&app, &caller, &crawl, free).await?;
    Ok(respond::done())
}

/// How making a plan went.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanMade {
    /// Whether it is made already; a large crawl's takes longer than this answer.
    done: bool,
}

pub(crate) const PLAN: Operation = Operation {
    id: "planSchedule",
    tag: TAG,
    summary: "Plan the coming week, as `geomi refresh plan` does; hours left free stay so.",
    params: &[],
    body: None,
    answer: Answer::Fresh(schema::<PlanMade>),
    problems: &[409],
};

/// Plans.
pub(crate) async fn plan(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let done = schedule::plan(&app, &caller, &crawl).await?;
    Ok(respond::plain_json(&PlanMade { done }))
}

pub(crate) const FOLLOW: Operation = Operation {
    id: "followSchedule",
    tag: TAG,
    summary: "Start a run that follows the plan, as `geomi refresh run --schedule` does.",
    params: &[],
    body: None,
    answer: Answer::Fresh(schema::<Started>),
    problems: &[409],
};

/// Follows.
pub(crate) async fn follow(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let started = schedule::follow(&app, &caller, &crawl).await?;
    Ok(respond::plain_json(&started))
}
