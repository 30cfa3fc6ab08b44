//! How the pages of a crawl change.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use geomi_model::Zone;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limit;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::operation::{Answer, Operation, number, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::library::changes::{Changes, Found, date};

/// Counts are kept for a day; which tables they cover they know themselves.
const KEPT: Duration = Duration::from_hours(24);

/// Visits to pages that were visited before, by what they found.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(crate) struct FoundView {
    /// Changed.
    changed: u64,
    /// As before.
    same: u64,
    /// Answered with 404 or 410 where an earlier visit had saved the page; of
    /// the first 1,000,000 pages.
    gone: u64,
}

impl From<Found> for FoundView {
    fn from(found: Found) -> Self {
        Self {
            changed: found.changed,
            same: found.same,
            gone: found.gone,
        }
    }
}

/// One day.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DayView {
    /// The day in `timezone`.
    date: String,
    #[serde(flatten)]
    found: FoundView,
}

/// One site.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SiteView {
    /// The site.
    site: String,
    #[serde(flatten)]
    found: FoundView,
}

/// How pages change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangesView {
    /// All visits.
    all: FoundView,
    /// The zone whose clock days and hours go by: `refresh.timezone` of the crawl.
    timezone: String,
    /// By day of the week, Monday first, and hour.
    week: Vec<Vec<FoundView>>,
    /// By day, the earliest first; 400 at most.
    days: Vec<DayView>,
    /// The sites with the most changes.
    sites: Vec<SiteView>,
    /// Whether sites beyond the first 50,000 were left out of `sites`.
    has_more_sites: bool,
}

/// How many sites.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangesQuery {
    top: Option<u64>,
}

pub(crate) const GET: Operation = Operation {
    id: "getChanges",
    tag: "changes",
    summary: "How pages change, counted over closed tables of visits.",
    params: &[number("top", 1, 1000, "How many sites, 20 unless given")],
    body: None,
    answer: Answer::Json(schema::<ChangesView>),
    problems: &[],
};

/// Gives the counts.
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<ChangesQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let top = limit(query.top, 20, 1_000)?;
    let counted = count(&app, &crawl).await?;
    let hours = |day: &[Found; 24]| day.iter().map(|found| (*found).into()).collect();
    let days = counted.days.iter().map(|(day, found)| DayView {
        date: date(*day),
        found: (*found).into(),
    });
    let sites = counted.liveliest(top).into_iter();
    let sites = sites.map(|(site, found)| SiteView {
        site: site.to_owned(),
        found: found.into(),
    });
    let view = ChangesView {
        all: counted.all.into(),
        timezone: counted.zone.name().to_owned(),
        week: counted.week.iter().map(hours).collect(),
        days: days.collect(),
        sites: sites.collect(),
        has_more_sites: counted.has_more_sites,
    };
    Ok(respond::json(&headers, &view))
}

/// Counts, for the API and the page: what was counted before, and what came
/// since.
pub(crate) async fn count(app: &App, crawl: &Crawl) -> Result<Arc<Changes>, Problem> {
    let (key, dir) = (crawl.id.clone(), crawl.dir.clone());
    let work = move |app: &App| -> Result<Arc<Changes>, Problem> {
        let before = app.caches.changes.get(&key, 0, KEPT, app.now());
        let before = before.map_or_else(Changes::default, |before| (*before).clone());
        // Counts are worth something even where the configuration cannot be read.
        let config = app.options.settings.of_crawl(dir.root());
        let zone = config.map_or(Zone::UTC, |config| config.engine.plan.timezone);
        let counted = Arc::new(before.up_to_date(&dir, &zone)?);
        let kept = Arc::clone(&counted);
        app.caches.changes.put(key, 0, kept, app.now());
        Ok(counted)
    };
    app.read(work).await
}
