//! Sections about single pages.

use std::time::Duration;

use geomi_model::Visit;
use geomi_url::UrlHash;

use crate::links::Linking;
use crate::report::Findings;
use crate::sweep::{Found, Known};
use crate::tables::Rows;
use crate::{Section, SectionKind, Value};

/// The visits whose rows these sections need, to tell a URL by.
pub(crate) fn numbers(findings: &Findings, kinds: &[SectionKind]) -> Vec<u64> {
    let mut numbers = Vec::new();
    for kind in kinds {
        match kind {
            SectionKind::Pages => {
                numbers.extend(findings.pages.top.values().map(|page| page.number));
            }
            SectionKind::Duplicates => {
                let contents = findings.duplicates.top.values();
                numbers.extend(contents.map(|content| content.first));
            }
            SectionKind::Soft404s => numbers.extend(findings.sweep.likeness.numbers()),
            SectionKind::DeadLinks => {
                let dead = dead_in_order(findings).into_iter();
                numbers.extend(dead.map(|(_, number)| number));
            }
            _ => {}
        }
    }
    numbers
}

/// The answers that took longest.
pub(crate) fn slowest_pages(findings: &Findings) -> Section {
    let rows = findings.sweep.slowest.rows().map(|(_, url, slow)| {
        vec![
            url.as_str().into(),
            seconds(Some(slow.total)),
            seconds(slow.rtt),
            seconds(slow.download),
            Value::Bytes(slow.wire_bytes),
            slow.state.as_str().into(),
            Value::code(slow.code),
        ]
    });
    ranked(
        findings,
        SectionKind::SlowestPages,
        &[
            "url",
            "total_s",
            "rtt_s",
            "download_s",
            "wire_bytes",
            "state",
            "code",
        ],
        rows.collect(),
    )
}

/// The answers with the largest bodies.
pub(crate) fn biggest_pages(findings: &Findings) -> Section {
    let rows = findings.sweep.biggest.rows().map(|(body_bytes, url, big)| {
        vec![
            url.as_str().into(),
            Value::Bytes(body_bytes),
            Value::Bytes(big.wire_bytes),
            Value::text(big.mime.as_ref()),
        ]
    });
    ranked(
        findings,
        SectionKind::BiggestPages,
        &["url", "body_bytes", "wire_bytes", "type"],
        rows.collect(),
    )
}

/// Rows of which only the first were kept: all there are is all that was
/// fetched.
fn ranked(
    findings: &Findings,
    kind: SectionKind,
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
) -> Section {
    Section {
        rows_in_all: findings.pages.fetched,
        ..Section::rows(kind, columns, rows, None)
    }
}

/// Pages visited more than once, those that change most first.
pub(crate) fn pages(findings: &Findings, visits: &Rows) -> Section {
    let pages = &findings.pages;
    let rows = pages.top.values().map(|page| {
        let age = page.ages.mean().map_or(Value::Nothing, Value::Seconds);
        let variation = page.ages.variation();
        vec![
            url_of(visits, page.number),
            Value::Count(page.visits.into()),
            Value::Count(page.saved.into()),
            Value::Count(page.failed.into()),
            Value::Count(page.changes.into()),
            Value::share(page.saved.into(), (page.saved + page.failed).into()),
            Value::share(page.changes.into(), page.comparisons.into()),
            age,
            variation.map_or(Value::Nothing, Value::Ratio),
        ]
    });
    Section {
        rows_in_all: pages.revisited,
        ..Section::rows(
            SectionKind::Pages,
            &[
                "url",
                "visits",
                "saved",
                "failed",
                "changes",
                "success_rate",
                "change_rate",
                "mean_age_s",
                "age_variation",
            ],
            rows.collect(),
            None,
        )
    }
    .with(vec![
        ("pages", Value::Count(pages.urls)),
        ("visited_once", Value::Count(pages.urls - pages.revisited)),
        ("visited_again", Value::Count(pages.revisited)),
    ])
}

/// Content that several pages have.
pub(crate) fn duplicates(findings: &Findings, visits: &Rows) -> Section {
    let found = &findings.duplicates;
    let rows = found.top.values().map(|content| {
        vec![
            Value::Count(content.pages),
            Value::Bytes(content.body_bytes),
            Value::Bytes((content.pages - 1) * content.body_bytes),
            url_of(visits, content.first),
        ]
    });
    Section {
        rows_in_all: found.groups,
        ..Section::rows(
            SectionKind::Duplicates,
            &["pages", "body_bytes", "redundant_bytes", "first_url"],
            rows.collect(),
            None,
        )
    }
    .with(vec![
        ("contents", Value::Count(found.groups)),
        ("pages", Value::Count(found.pages)),
        ("redundant_pages", Value::Count(found.pages - found.groups)),
        ("redundant_bytes", Value::Bytes(found.redundant_bytes)),
        (
            "revisit_records",
            Value::Count(findings.sweep.totals.revisits),
        ),
    ])
}

/// The dead pages to tell, with the visits that failed: those with the most
/// linking pages first, then in the order of their visits.
fn dead_in_order(findings: &Findings) -> Vec<(UrlHash, u64)> {
    let mut dead: Vec<(UrlHash, u64)> = findings.sweep.dead.iter().collect();
    let count = |dead| linking(findings, dead).map_or(0, |linking| linking.count);
    dead.sort_by_cached_key(|(dead, number)| (std::cmp::Reverse(count(*dead)), *number));
    dead.truncate(findings.top.unwrap_or(usize::MAX));
    dead
}

fn linking(findings: &Findings, dead: UrlHash) -> Option<&Linking> {
    findings.linkers.as_ref()?.to(dead)
}

/// Dead pages, with the pages that link to them.
pub(crate) fn dead_links(findings: &Findings, visits: &Rows) -> Section {
    let rows = dead_in_order(findings).into_iter().map(|(dead, number)| {
        let visit = visits.get(&number);
        let (count, pages) = match (&findings.linkers, linking(findings, dead)) {
            (None, _) => (Value::Nothing, found_on(visit)),
            (Some(_), None) => (Value::Count(0), Vec::new()),
            (Some(_), Some(linking)) => {
                let pages = linking.pages.iter().map(ToString::to_string);
                (Value::Count(linking.count), pages.collect())
            }
        };
        vec![
            url_of(visits, number),
            visit.map_or(Value::Nothing, |visit| visit.state.as_str().into()),
            Value::code(visit.and_then(|visit| visit.code)),
            Value::text(visit.and_then(|visit| visit.error.as_ref())),
            visit.map_or(Value::Nothing, |visit| Value::Moment(visit.time)),
            count,
            Value::Texts(pages),
        ]
    });
    let linkers = findings.linkers.as_ref();
    let fact = |of: fn(&crate::links::Linkers) -> u64| {
        linkers.map_or(Value::Nothing, |linkers| Value::Count(of(linkers)))
    };
    let facts = vec![
        ("dead", Value::Count(findings.sweep.dead.len() as u64)),
        ("pages_read_again", fact(|linkers| linkers.reread)),
        ("pages_unreadable", fact(|linkers| linkers.unreadable)),
    ];
    Section {
        rows_in_all: findings.sweep.dead.len() as u64,
        ..Section::rows(
            SectionKind::DeadLinks,
            &[
                "url",
                "state",
                "code",
                "error",
                "visited",
                "linking_pages",
                "linked_from",
            ],
            rows.collect(),
            None,
        )
    }
    .with(facts)
}

/// The page a URL was found on: all that is known without the stored pages.
fn found_on(visit: Option<&Visit>) -> Vec<String> {
    let via = visit.and_then(|visit| visit.via.as_ref());
    via.map(ToString::to_string).into_iter().collect()
}

/// The known URLs that were not saved.
pub(crate) fn known(findings: &Findings) -> Section {
    let known = findings.sweep.known.as_ref();
    let mut missing: Vec<_> = known
        .into_iter()
        .flat_map(Known::iter)
        .filter(|(_, found)| *found != Found::Saved)
        .collect();
    missing.sort_unstable();
    let rows = missing.into_iter().map(|(url, found)| {
        let how = match found {
            Found::No => "not visited",
            Found::Visited | Found::Saved => "not saved",
        };
        vec![url.as_str().into(), how.into()]
    });
    Section::rows(
        SectionKind::Known,
        &["url", "found"],
        rows.collect(),
        findings.top,
    )
    .with(crate::measures::recall(findings))
}

fn url_of(visits: &Rows, number: u64) -> Value {
    Value::text(visits.get(&number).map(|visit| &visit.url))
}

fn seconds(span: Option<Duration>) -> Value {
    span.map_or(Value::Nothing, |span| Value::Seconds(span.as_secs_f64()))
}
