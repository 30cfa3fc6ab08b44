//! Pages that were visited, from the tables of visits: what the log tells and
//! the title, size and place of what was stored.

use axum::extract::State;
use axum::response::Response;
use geomi_model::Visit;
use geomi_store::{CrawlDir, StoreError, segment, visits};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{VISIT_MAX, between, bounded, limit, visit};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::operation::{Answer, Operation, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;

/// Tables one request reads at most.
const TABLES_MAX: usize = 8;

/// A page that was visited.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct PageRow {
    /// Number of the visit.
    pub(crate) n: u64,
    /// When it started, RFC 3339 in UTC.
    pub(crate) time: String,
    /// The URL.
    pub(crate) url: String,
    /// Its title.
    pub(crate) title: Option<String>,
    /// Network state by name.
    pub(crate) state: String,
    /// Status code.
    pub(crate) code: Option<u16>,
    /// Content type.
    pub(crate) mime: Option<String>,
    /// Bytes of the body, decoded.
    pub(crate) bytes: u64,
    /// Whether it had changed since the visit before.
    pub(crate) changed: Option<bool>,
    /// WARC file it is stored in; null if it is not.
    pub(crate) file: Option<String>,
    /// Where in that file.
    pub(crate) offset: Option<u64>,
    /// How long the record is there.
    pub(crate) length: Option<u64>,
}

impl From<Visit> for PageRow {
    fn from(visit: Visit) -> Self {
        let capture = visit.capture;
        Self {
            n: visit.number,
            time: visit.time.to_rfc3339_millis(),
            url: visit.url.to_string(),
            title: visit.title,
            state: visit.state.as_str().to_owned(),
            code: visit.code,
            mime: visit.mime,
            bytes: visit.body_bytes,
            changed: visit.changed.map(|change| change.changed),
            offset: capture.as_ref().map(|capture| capture.offset),
            length: capture.as_ref().map(|capture| capture.length),
            file: capture.map(|capture| capture.file),
        }
    }
}

/// A page of pages.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct PageRows {
    /// Visits, the latest first.
    pub(crate) items: Vec<PageRow>,
    /// Send this as `before` for older ones; null at the beginning.
    pub(crate) next: Option<u64>,
}

/// Which pages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PagesQuery {
    pub(crate) before: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) part: Option<String>,
    pub(crate) code: Option<u16>,
}

pub(crate) const LIST: Operation = Operation {
    id: "listPages",
    tag: "pages",
    summary: "Pages in closed tables of visits, the latest first. A filter reads some tables at a time: go on while `next` is not null.",
    params: &[
        number(
            "before",
            1,
            VISIT_MAX,
            "Visits before this number: what `next` said",
        ),
        number("limit", 1, 500, "How many, 50 unless given"),
        text("part", 500, "Only URLs and titles with this in them"),
        number("code", 100, 999, "Only answers with this code"),
    ],
    body: None,
    answer: Answer::Json(schema::<PageRows>),
    problems: &[],
};

/// Lists pages.
pub(crate) async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<PagesQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(respond::json(&headers, &find(&app, &crawl, query).await?))
}

/// Looks for pages, for the API and the page.
pub(crate) async fn find(app: &App, crawl: &Crawl, query: PagesQuery) -> Result<PageRows, Problem> {
    let limit = limit(query.limit, 50, 500)?;
    let part = bounded("part", query.part, 500)?;
    let before = visit("before", query.before, 1)?;
    if query.code.is_some_and(|code| !(100..=999).contains(&code)) {
        return Err(between("code", 100, 999));
    }
    let wanted = Wanted {
        before: before.unwrap_or(u64::MAX),
        part,
        code: query.code,
    };
    let dir = crawl.dir.clone();
    Ok(app.read(move |_| look(&dir, &wanted, limit)).await?)
}

struct Wanted {
    before: u64,
    part: Option<String>,
    code: Option<u16>,
}

impl Wanted {
    fn fits(&self, visit: &Visit) -> bool {
        let has_part = |part: &String| {
            visit.url.as_str().contains(part)
                || visit
                    .title
                    .as_ref()
                    .is_some_and(|title| title.contains(part.as_str()))
        };
        !visit.is_robots
            && visit.number < self.before
            && self.code.is_none_or(|code| visit.code == Some(code))
            && self.part.as_ref().is_none_or(has_part)
    }
}

/// Newest tables first; of each the last rows that fit.
fn look(dir: &CrawlDir, wanted: &Wanted, limit: usize) -> Result<PageRows, StoreError> {
    let mut found = PageRows::default();
    let segments = segment::list(dir)?;
    let mut older = segments
        .iter()
        .rev()
        .filter(|segment| segment.first < wanted.before)
        .peekable();
    let mut tables = 0;
    while let Some(segment) = older.next() {
        let left = limit - found.items.len();
        // Only the last ones that fit are kept of a table, whatever its size.
        let mut last = std::collections::VecDeque::with_capacity(left + 1);
        for visit in visits::read_visits(&segment.table(dir))? {
            let visit = visit?;
            if wanted.fits(&visit) {
                last.push_back(visit);
                if last.len() > left + 1 {
                    last.pop_front();
                }
            }
        }
        let has_more_here = last.len() > left;
        found
            .items
            .extend(last.into_iter().rev().take(left).map(PageRow::from));
        if has_more_here {
            found.next = found.items.last().map(|row| row.n);
            return Ok(found);
        }
        tables += 1;
        let is_full = found.items.len() == limit || tables == TABLES_MAX;
        if is_full && older.peek().is_some() {
            found.next = Some(segment.first);
            return Ok(found);
        }
    }
    Ok(found)
}
