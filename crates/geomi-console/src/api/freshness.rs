//! How fresh the copies of a crawl are.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use geomi_model::Timestamp;
use geomi_refresh::upkeep::instant;
use geomi_report::freshness::{Class, Point};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::http::extract::Path;
use crate::http::operation::{Answer, Operation, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::library::freshness::{Freshness, Times};
use crate::wrong::Wrong;

/// An estimate holds for a day while no table is closed: it ends with the time it was
/// made at.
const KEPT: Duration = Duration::from_hours(24);
/// That of a large crawl holds for this long though one is: all rows are read for the next.
const SAMPLE_KEPT: Duration = Duration::from_mins(10);

/// Freshness and age at a time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PointView {
    /// When.
    time: String,
    /// The share of copies that were probably right.
    freshness: f64,
    /// Hours since the first change that a copy lacks, on average.
    age_h: f64,
}

impl From<&Point> for PointView {
    fn from(point: &Point) -> Self {
        Self {
            time: instant(point.at).to_rfc3339_secs(),
            freshness: point.estimated.freshness,
            age_h: point.estimated.age_h,
        }
    }
}

/// Visits for which about the same chance of a change was predicted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ClassView {
    /// Visits.
    visits: u64,
    /// How likely a change was thought to be, on average.
    predicted: f64,
    /// The share that found one.
    seen: f64,
}

impl From<&Class> for ClassView {
    fn from(class: &Class) -> Self {
        Self {
            visits: class.visits,
            predicted: class.predicted(),
            seen: class.seen(),
        }
    }
}

/// How fresh copies are.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FreshnessView {
    /// From the first visit on, the last one when it was estimated; 57 at most.
    points: Vec<PointView>,
    /// Predicted against seen, by chance in steps of a tenth. A change that a signal led to
    /// counts as found at the page's turn.
    classes: Vec<ClassView>,
    /// Requests a day for each page, for the sake of freshness; none if less than a day
    /// was seen.
    load_ratio: Option<f64>,
    /// Pages of which it was estimated.
    pages: usize,
    /// One page in so many was taken, with all its visits: 1 up to 100,000 visits.
    one_in: u64,
}

pub(crate) const GET: Operation = Operation {
    id: "getFreshness",
    tag: "changes",
    summary: "How fresh copies are and were, estimated, and predicted against seen, over closed tables of visits.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<FreshnessView>),
    problems: &[409],
};

/// Gives the estimate.
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let found = estimate(&app, &crawl).await?;
    let view = FreshnessView {
        points: found.points.iter().map(Into::into).collect(),
        classes: found.classes.iter().map(Into::into).collect(),
        load_ratio: found.load_ratio,
        pages: found.pages,
        one_in: found.one_in,
    };
    Ok(respond::json(&headers, &view))
}

/// The estimate, for the API and the page: the last one where it still holds.
pub(crate) async fn estimate(app: &App, crawl: &Arc<Crawl>) -> Result<Arc<Freshness>, Problem> {
    let looked_at = Arc::clone(crawl);
    if let Some(kept) = app.read(move |app| kept(app, &looked_at)).await? {
        return Ok(kept);
    }
    let crawl = Arc::clone(crawl);
    app.estimate(move |app| match kept(app, &crawl)? {
        // Somebody else had asked for it.
        Some(kept) => Ok(kept),
        None => make(app, &crawl),
    })
    .await
}

fn kept(app: &App, crawl: &Crawl) -> Result<Option<Arc<Freshness>>, Problem> {
    let of = |age: Duration| app.caches.freshness.get(&crawl.id, 0, age, app.now());
    let Some(kept) = of(KEPT) else {
        return Ok(None);
    };
    let holds_though_old = kept.is_sample() && of(SAMPLE_KEPT).is_some();
    let holds = holds_though_old || kept.is_up_to_date(&crawl.dir)?;
    Ok(holds.then_some(kept))
}

fn make(app: &App, crawl: &Crawl) -> Result<Arc<Freshness>, Problem> {
    let config = app.options.settings.of_crawl(crawl.dir.root());
    let config = config.map_err(|errors| Problem::conflict(Wrong::Toml).with_said(errors))?;
    let reported = crawl.status.as_ref();
    let reported = reported.and_then(|status| Timestamp::parse_rfc3339(&status.time));
    let times = Times {
        reported: reported.unwrap_or(Timestamp::EPOCH),
        now: app.now(),
    };
    let found = Arc::new(Freshness::of(&crawl.dir, &config, times)?);
    let key = crawl.id.clone();
    app.caches
        .freshness
        .put(key, 0, Arc::clone(&found), app.now());
    Ok(found)
}
