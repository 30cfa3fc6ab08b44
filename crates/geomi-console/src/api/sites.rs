//! Sites, the queue, and why something is as it is.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use geomi_crawler::remote::{Request, Response as Answered};
use geomi_engine::explain::{Explanation, Held, SiteOrder, SiteReport, SitesPage};
use geomi_report::{SectionKind, Value};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::sections;
use super::{bounded, limit, one_of};
use crate::actions::ask;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::operation::{Answer, Operation, Param, ParamKind, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::wrong::Wrong;

/// How old a list of sites may be.
const SITES_AGE: Duration = Duration::from_secs(2);
/// Sites told of a crawl at rest.
const AT_REST_MAX: usize = 1_000;

/// A site. What only a running crawl knows is null at rest, and the other way
/// round.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct SiteRow {
    /// Its name.
    pub(crate) site: String,
    /// What it waits for: `ready`, `delay`, `back-off` and so on.
    pub(crate) hold: Option<String>,
    /// The same in a sentence.
    pub(crate) why: Option<String>,
    /// The same, for pages in other languages.
    #[serde(skip)]
    pub(crate) held: Option<Held>,
    /// When that ends by itself.
    pub(crate) until: Option<String>,
    /// URLs waiting.
    pub(crate) queued: Option<u64>,
    /// Requests under way.
    pub(crate) in_flight: Option<u64>,
    /// Requests made.
    pub(crate) requests: u64,
    /// Failures in a row.
    pub(crate) failures: Option<u32>,
    /// Rest after each answer, in seconds.
    pub(crate) delay_s: Option<f64>,
    /// Crawl-delay of its robots.txt, in seconds.
    pub(crate) crawl_delay_s: Option<f64>,
    /// Milliseconds from request to first byte.
    pub(crate) rtt_ms: Option<f64>,
    /// Its address.
    pub(crate) address: Option<String>,
    /// Pages saved.
    pub(crate) saved: Option<u64>,
    /// Pages given up.
    pub(crate) failed: Option<u64>,
}

/// A page of sites.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SiteRows {
    /// The sites.
    pub(crate) items: Vec<SiteRow>,
    /// Send this as `after` for those behind; null at the end.
    pub(crate) next: Option<String>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// Whether the crawl was asked; at rest the sites are those of its report.
    pub(crate) live: bool,
}

/// Which sites.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SitesQuery {
    pub(crate) order: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) limit: Option<u64>,
    pub(crate) part: Option<String>,
}

/// Names of orders.
pub(crate) const ORDERS: &[&str] = &["queued", "rtt", "failures", "name"];

fn order(name: Option<&str>) -> Result<SiteOrder, Problem> {
    match name {
        None | Some("queued" | "") => Ok(SiteOrder::Queued),
        Some("rtt") => Ok(SiteOrder::Rtt),
        Some("failures") => Ok(SiteOrder::Failures),
        Some("name") => Ok(SiteOrder::Name),
        Some(_) => Err(one_of("order", ORDERS)),
    }
}

pub(crate) const LIST: Operation = Operation {
    id: "listSites",
    tag: "sites",
    summary: "Sites the running crawl has in memory, and what each waits for; of a crawl at rest, the largest ones of its report.",
    params: &[
        Param {
            name: "order",
            kind: ParamKind::OneOf(ORDERS),
            doc: "In which order; `queued` unless given",
        },
        text("after", 1000, "Sites behind this place: what `next` said"),
        number("limit", 1, 1000, "How many, 100 unless given"),
        text("part", 200, "Only names with this in them"),
    ],
    body: None,
    answer: Answer::Json(schema::<SiteRows>),
    problems: &[409],
};

/// Lists sites.
pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<SitesQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(respond::json(&headers, &find(&app, &crawl, query).await?))
}

/// Sites, for the API and the page.
pub(crate) async fn find(
    app: &App,
    crawl: &Arc<Crawl>,
    query: SitesQuery,
) -> Result<SiteRows, Problem> {
    let order = order(query.order.as_deref())?;
    let limit = limit(query.limit, 100, 1_000)?;
    let after = bounded("after", query.after, 1_000)?;
    let part = bounded("part", query.part, 200)?;
    if !crawl.is_running() {
        return at_rest(app, crawl, order, after.as_deref(), limit, part.as_deref()).await;
    }
    let key = (crawl.id.clone(), order, after.clone(), limit, part.clone());
    let kept = app.caches.sites.get(&key, 0, SITES_AGE, app.now());
    if let Some(page) = kept {
        return Ok(live_rows(&page));
    }
    let request = Request::Sites {
        order,
        after,
        limit,
        part,
    };
    let Answered::Sites { page } = ask(crawl, request).await? else {
        return Err(Problem::conflict(Wrong::OtherAnswer));
    };
    let page: Arc<SitesPage> = Arc::from(page);
    app.caches.sites.put(key, 0, Arc::clone(&page), app.now());
    Ok(live_rows(&page))
}

fn live_rows(page: &SitesPage) -> SiteRows {
    let rows = page.rows.iter().cloned().map(|line| SiteRow {
        site: line.site,
        hold: Some(line.hold),
        why: Some(line.why),
        held: line.held,
        until: line.until,
        queued: Some(line.queued),
        in_flight: Some(line.in_flight),
        requests: line.requests,
        failures: Some(line.failures),
        delay_s: Some(line.delay_s),
        crawl_delay_s: line.crawl_delay_s,
        rtt_ms: line.rtt_ms,
        address: line.address,
        saved: None,
        failed: None,
    });
    SiteRows {
        items: rows.collect(),
        next: page.next.clone(),
        total: page.total,
        live: true,
    }
}

/// Of a crawl at rest: its report, which is kept while nothing changes.
async fn at_rest(
    app: &App,
    crawl: &Arc<Crawl>,
    order: SiteOrder,
    after: Option<&str>,
    limit: usize,
    part: Option<&str>,
) -> Result<SiteRows, Problem> {
    let made = sections(app, crawl, vec![SectionKind::Sites], AT_REST_MAX).await?;
    let section = &made[0];
    let mut rows: Vec<SiteRow> = section
        .rows
        .iter()
        .map(|row| reported(section.columns, row))
        .collect();
    let total = match part {
        None => section.rows_in_all,
        Some(part) => {
            rows.retain(|row| row.site.contains(part));
            rows.len() as u64
        }
    };
    match order {
        SiteOrder::Queued => {}
        SiteOrder::Name => rows.sort_by(|one, other| one.site.cmp(&other.site)),
        SiteOrder::Failures => rows.sort_by_key(|row| std::cmp::Reverse(row.failed)),
        SiteOrder::Rtt => rows.sort_by(|one, other| {
            let rtt = |row: &SiteRow| row.rtt_ms.unwrap_or(-1.0);
            rtt(other).total_cmp(&rtt(one))
        }),
    }
    let behind = after.and_then(|after| rows.iter().position(|row| row.site == after));
    let rows = rows.split_off(behind.map_or(0, |at| at + 1));
    let has_more = rows.len() > limit;
    let items: Vec<SiteRow> = rows.into_iter().take(limit).collect();
    let next = items
        .last()
        .filter(|_| has_more)
        .map(|row| row.site.clone());
    Ok(SiteRows {
        items,
        next,
        total,
        live: false,
    })
}

fn reported(columns: &[&str], cells: &[Value]) -> SiteRow {
    let cell = |name: &str| {
        columns
            .iter()
            .position(|column| *column == name)
            .map(|at| &cells[at])
    };
    let count = |name: &str| match cell(name) {
        Some(Value::Count(count)) => Some(*count),
        _ => None,
    };
    SiteRow {
        site: cell("site").map(Value::to_plain).unwrap_or_default(),
        requests: count("visits").unwrap_or(0),
        saved: count("saved"),
        failed: count("failed"),
        rtt_ms: match cell("mean_rtt_s") {
            Some(Value::Seconds(seconds)) => Some(seconds * 1e3),
            _ => None,
        },
        ..SiteRow::default()
    }
}

/// What is asked about.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueQuery {
    pub(crate) url: Option<String>,
}

/// Why things are as they are.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueueView {
    /// As `geomi explain --format json` tells it.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    explanation: Explanation,
}

pub(crate) const QUEUE: Operation = Operation {
    id: "getQueue",
    tag: "sites",
    summary: "What the queue of a running crawl waits for, and with `url` what happens to that URL and why.",
    params: &[text("url", 2048, "A URL to be explained")],
    body: None,
    answer: Answer::Fresh(schema::<QueueView>),
    problems: &[409],
};

/// Explains the queue.
pub(crate) async fn queue(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<QueueQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let explanation = explain(&crawl, query).await?;
    Ok(respond::plain_json(&QueueView { explanation }))
}

/// Explains, for the API and the page.
pub(crate) async fn explain(crawl: &Crawl, query: QueueQuery) -> Result<Explanation, Problem> {
    let url = bounded("url", query.url, 2_048)?;
    let request = Request::Explain {
        url,
        is_site: false,
    };
    explained(crawl, request).await
}

/// Explains a site, for the page.
pub(crate) async fn explain_site(
    crawl: &Crawl,
    site: String,
) -> Result<Option<SiteReport>, Problem> {
    let site = bounded("site", Some(site), 300)?;
    let request = Request::Explain {
        url: site.map(|site| format!("http://{site}")),
        is_site: true,
    };
    Ok(explained(crawl, request).await?.site)
}

async fn explained(crawl: &Crawl, request: Request) -> Result<Explanation, Problem> {
    match ask(crawl, request).await? {
        Answered::Explained { explanation } => Ok(*explanation),
        _ => Err(Problem::conflict(Wrong::OtherAnswer)),
    }
}
