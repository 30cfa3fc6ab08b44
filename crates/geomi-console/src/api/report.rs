//! Reports: what a crawl came to.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use geomi_report::{Linking, Options, Section, SectionKind};
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{limit, one_of};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::operation::{Answer, Operation, Param, ParamKind, number, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::wrong::Wrong;

/// How old the report of a crawl at rest may be; it changes only if the
/// directory does, which its count of visits tells.
const AT_REST_AGE: Duration = Duration::from_hours(24);
/// How old that of a running crawl may be.
const RUNNING_AGE: Duration = Duration::from_secs(30);

/// Names of sections that need no list of URLs.
const SECTIONS: &[&str] = &[
    "overview",
    "measures",
    "states",
    "codes",
    "types",
    "charsets",
    "depths",
    "link_types",
    "topics",
    "sites",
    "slowest_sites",
    "servers",
    "slowest_pages",
    "biggest_pages",
    "pages",
    "duplicates",
    "mirrors",
    "near_duplicates",
    "soft_404s",
    "spam",
    "robots",
    "dead_links",
];

/// What of a report.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportQuery {
    section: Option<String>,
    top: Option<u64>,
}

/// A report.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReportView {
    /// The sections asked for, as in `geomi report --format json`.
    sections: Map<String, Value>,
}

pub(crate) const GET: Operation = Operation {
    id: "getReport",
    tag: "report",
    summary: "What a crawl came to, up to its last closed table of visits.",
    params: &[
        Param {
            name: "section",
            kind: ParamKind::OneOf(SECTIONS),
            doc: "Which section; overview, states, codes and types unless given",
        },
        number("top", 1, 1000, "Rows of a table, 20 unless given"),
    ],
    body: None,
    answer: Answer::Json(schema::<ReportView>),
    problems: &[409],
};

/// Gives a report.
pub(crate) async fn get(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<ReportQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let kinds = kinds(query.section.as_deref())?;
    let top = limit(query.top, 20, 1_000)?;
    let made = sections(&app, &crawl, kinds, top).await?;
    let named = made
        .iter()
        .map(|section| (section.kind.as_str().to_owned(), section.to_json()));
    let view = ReportView {
        sections: named.collect(),
    };
    Ok(respond::json(&headers, &view))
}

fn kinds(name: Option<&str>) -> Result<Vec<SectionKind>, Problem> {
    let Some(name) = name else {
        use SectionKind::{Codes, Overview, States, Types};
        return Ok(vec![Overview, States, Codes, Types]);
    };
    let known = SECTIONS.iter().find(|known| **known == name);
    let kind = known.and_then(|name| SectionKind::from_name(name));
    kind.map(|kind| vec![kind])
        .ok_or_else(|| one_of("section", SECTIONS))
}

/// Sections of a crawl's report, from the cache where it still holds.
pub(crate) async fn sections(
    app: &App,
    crawl: &Arc<Crawl>,
    kinds: Vec<SectionKind>,
    top: usize,
) -> Result<Arc<Vec<Section>>, Problem> {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let key = (crawl.id.clone(), names.join(","), top);
    let visits = crawl
        .status
        .as_ref()
        .map_or(0, |status| status.counters.visits);
    let (about, age) = if crawl.is_running() {
        (0, RUNNING_AGE)
    } else {
        (visits + 1, AT_REST_AGE)
    };
    if let Some(made) = app.caches.reports.get(&key, about, age, app.now()) {
        return Ok(made);
    }
    let crawl = Arc::clone(crawl);
    let made = app.read(move |app| make(app, &crawl, kinds, top)).await?;
    let made = Arc::new(made);
    app.caches
        .reports
        .put(key, about, Arc::clone(&made), app.now());
    Ok(made)
}

fn make(
    app: &App,
    crawl: &Crawl,
    sections: Vec<SectionKind>,
    top: usize,
) -> Result<Vec<Section>, Problem> {
    let config = app.options.settings.of_crawl(crawl.dir.root());
    let config = config.map_err(|errors| Problem::conflict(Wrong::Toml).with_said(errors))?;
    let options = Options {
        sections,
        top: Some(top),
        known: None,
        linking: Linking::IfQuick,
    };
    Ok(geomi_report::make(&crawl.dir, &config, &options)?.sections)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_can_be_asked_for() {
        let all = SectionKind::ALL
            .iter()
            .filter(|kind| **kind != SectionKind::Known);
        let all: Vec<&str> = all.map(|kind| kind.as_str()).collect();
        assert_eq!(all, SECTIONS);
    }
}
