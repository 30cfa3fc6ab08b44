//! Pages that were visited, from the tables of visits: what the log tells and
//! the title, size and place of what was stored.

use std::cmp::Reverse;

use axum::extract::State;
use axum::response::Response;
use geomi_model::{Timestamp, Visit};
use geomi_store::segment::{self, Segment};
use geomi_store::{CrawlDir, StoreError, visits};
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
    /// Number of the visit, in its partition.
    pub(crate) n: u64,
    /// Its partition, in a crawl of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) p: Option<u16>,
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

impl PageRow {
    fn of(partition: Option<u16>, visit: Visit) -> Self {
        let capture = visit.capture;
        Self {
            n: visit.number,
            p: partition,
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
    /// Send this as `before` for older ones; null at the beginning. It is the number of a
    /// visit, or in a crawl of several partitions a time in microseconds.
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
            "Visits before this number or time: what `next` said",
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
    /// A number, or a time where there are several partitions.
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
            && self.code.is_none_or(|code| visit.code == Some(code))
            && self.part.as_ref().is_none_or(has_part)
    }
}

fn look(dir: &CrawlDir, wanted: &Wanted, limit: usize) -> Result<PageRows, StoreError> {
    let segments = segment::list(dir)?;
    if segments.iter().any(|segment| segment.partition.is_some()) {
        look_by_time(dir, &segments, wanted, limit)
    } else {
        look_by_number(dir, &segments, wanted, limit)
    }
}

/// Newest tables first; of each the last rows that fit.
fn look_by_number(
    dir: &CrawlDir,
    segments: &[Segment],
    wanted: &Wanted,
    limit: usize,
) -> Result<PageRows, StoreError> {
    let mut found = PageRows::default();
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
            if visit.number < wanted.before && wanted.fits(&visit) {
                last.push_back(visit);
                if last.len() > left + 1 {
                    last.pop_front();
                }
            }
        }
        let has_more_here = last.len() > left;
        found.items.extend(
            last.into_iter()
                .rev()
                .take(left)
                .map(|visit| PageRow::of(None, visit)),
        );
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

/// The latest rows that fit, over all partitions, whose tables lie side by side in time.
/// Tables are read in the order of their latest visits: rows that are later than the
/// latest visit of every table left are settled, because nothing comes before them.
fn look_by_time(
    dir: &CrawlDir,
    segments: &[Segment],
    wanted: &Wanted,
    limit: usize,
) -> Result<PageRows, StoreError> {
    let before = Timestamp::from_micros(i64::try_from(wanted.before).unwrap_or(i64::MAX));
    let mut unread = tables_before(dir, segments, before)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut read = 0;
    loop {
        let until = unread.last().map(|(latest, _)| *latest);
        let is_settled = |row: &&Row| until.is_none_or(|until| row.visit.time > until);
        let settled = rows.iter().take_while(is_settled).count();
        let has_advanced = until.is_some_and(|until| just_after(until) < before);
        if settled >= limit || (read >= TABLES_MAX && has_advanced) {
            return Ok(page_of(rows, settled, until, limit));
        }
        let Some((_, segment)) = unread.pop() else {
            return Ok(page_of(rows, settled, None, limit));
        };
        read += 1;
        for visit in visits::read_visits(&segment.table(dir))? {
            let visit = visit?;
            if visit.time < before && wanted.fits(&visit) {
                rows.push(Row {
                    partition: segment.partition,
                    visit,
                });
            }
        }
        rows.sort_by_key(|row| Reverse((row.visit.time, row.partition, row.visit.number)));
        keep_latest(&mut rows, limit);
    }
}

/// A visit of a partition.
struct Row {
    partition: Option<u16>,
    visit: Visit,
}

/// The tables with visits before a time, each with the time of its latest visit; the
/// latest table last.
fn tables_before(
    dir: &CrawlDir,
    segments: &[Segment],
    before: Timestamp,
) -> Result<Vec<(Timestamp, Segment)>, StoreError> {
    let mut tables = Vec::new();
    for segment in segments {
        match visits::time_range(&segment.table(dir))? {
            Some(range) if *range.start() >= before => {}
            Some(range) => tables.push((*range.end(), *segment)),
            // A table that does not say may hold anything.
            None => tables.push((before, *segment)),
        }
    }
    tables.sort_unstable();
    Ok(tables)
}

/// Drops the rows behind those that fill a page, but the first one: it shows that there
/// are more. Rows of one moment are on one page, because the next page begins before it.
fn keep_latest(rows: &mut Vec<Row>, limit: usize) {
    let Some(last) = rows.get(limit - 1).map(|row| row.visit.time) else {
        return;
    };
    if let Some(older) = rows.iter().position(|row| row.visit.time < last) {
        rows.truncate(older + 1);
    }
}

/// The rows for one page. Of `rows` the first ones are settled; tables up to `until` are
/// not read yet.
fn page_of(mut rows: Vec<Row>, settled: usize, until: Option<Timestamp>, limit: usize) -> PageRows {
    let next = if settled < limit {
        rows.truncate(settled);
        until.map(just_after)
    } else {
        let last = rows[limit - 1].visit.time;
        let all = rows.len();
        rows.retain(|row| row.visit.time >= last);
        (until.is_some() || rows.len() < all).then_some(last)
    };
    let items = rows.into_iter();
    PageRows {
        items: items
            .map(|row| PageRow::of(row.partition, row.visit))
            .collect(),
        next: next.and_then(|next| u64::try_from(next.micros()).ok()),
    }
}

fn just_after(time: Timestamp) -> Timestamp {
    Timestamp::from_micros(time.micros().saturating_add(1))
}

#[cfg(test)]
mod tests {
    use geomi_url::CrawlUrl;

    use super::*;

    fn rows(site: &str, times: &[i64]) -> Vec<Visit> {
        let times = times.iter().zip(1..);
        let row = |(secs, number): (&i64, u64)| Visit {
            number,
            time: Timestamp::from_secs(*secs),
            ..Visit::unknown(CrawlUrl::parse(&format!("http://{site}/{secs}")).unwrap())
        };
        times.map(row).collect()
    }

    /// All pages, each as the partitions and seconds of its rows.
    fn pages(dir: &CrawlDir, limit: usize) -> Vec<Vec<(u16, i64)>> {
        let mut wanted = Wanted {
            before: u64::MAX,
            part: None,
            code: None,
        };
        let mut pages = Vec::new();
        loop {
            let found = look(dir, &wanted, limit).unwrap();
            let row = |row: &PageRow| {
                let time = Timestamp::parse_rfc3339(&row.time).unwrap();
                (row.p.unwrap(), time.micros() / 1_000_000)
            };
            pages.push(found.items.iter().map(row).collect());
            match found.next {
                Some(next) => wanted.before = next,
                None => return pages,
            }
        }
    }

    #[test]
    fn partitions_are_listed_by_time() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        segment::write(&dir, Some(1), &rows("a.test", &[10, 20, 40])).unwrap();
        segment::write(&dir, Some(2), &rows("b.test", &[15, 20, 30, 50])).unwrap();
        assert_eq!(
            pages(&dir, 2),
            [
                vec![(2, 50), (1, 40)],
                vec![(2, 30), (2, 20), (1, 20)],
                vec![(2, 15), (1, 10)],
            ]
        );
        assert_eq!(pages(&dir, 7).concat(), pages(&dir, 2).concat());
    }

    #[test]
    fn many_tables_are_read_over_several_requests() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut all = Vec::new();
        for partition in 0..=(TABLES_MAX as u16 * 2) {
            let secs = i64::from(partition) * 10 + 1;
            segment::write(&dir, Some(partition), &rows("a.test", &[secs, secs + 12])).unwrap();
            all.extend([(secs, partition), (secs + 12, partition)]);
        }
        all.sort_unstable();
        let all: Vec<_> = all.into_iter().rev().map(|(secs, of)| (of, secs)).collect();
        let pages = pages(&dir, 100);
        assert!(pages.len() > 1, "{pages:?}");
        assert_eq!(pages.concat(), all);
    }
}
