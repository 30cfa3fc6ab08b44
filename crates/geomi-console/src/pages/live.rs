//! A crawl as it runs: figures, curves, outcomes, the log.
//!
//! The page is whole as it is sent. With scripts, three events keep it so:
//! `figures` and `state` replace what is shown, `log` puts rows on top, and
//! `sample` adds a point to the curves.

use axum::extract::State;
use axum::response::Response;
use geomi_crawler::log_reader::LoggedVisit;
use geomi_engine::Status;
use geomi_engine::explain::Cause;
use geomi_model::Timestamp;
use geomi_refresh::upkeep::RefreshDrive;
use http::HeaderMap;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::crawl;
use super::crawls::badge;
use super::format;
use super::layout::View;
use crate::api::crawls::{CrawlDetail, CrawlRow, Refreshing};
use crate::api::log::{CLASSES, LogQuery, NOT_MODIFIED, find, stream};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::launch::Plan;
use crate::library::Crawl;
use crate::live::Form;
use crate::why;
use crate::words::{Language, Table, Words, fill, look_up, translate};

/// Rows of the log that a page begins with.
const ROWS: usize = 40;

/// Rows of a table of bars.
const BARS_MAX: usize = 8;

/// Shows a crawl.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(query): Query<Shown>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let latest = find(&app, &crawl, LogQuery::default(), ROWS).await?;
    let of = crawl.clone();
    let causes = app.read(move |app| why::causes(app, &of)).await;
    let now = app.now();
    let since = latest.lines.first().map_or(0, LoggedVisit::position);
    let words = view.words;
    let content = html! {
        @if query.started.is_some() { (started(&crawl, words)) }
        div #why sse-swap="why" { (why(&causes, words)) }
        div #figures sse-swap="figures" { (figures(&crawl, words)) }
        div.charts data-stats={ "/api/v1/crawls/" (crawl.id) "/stats?points=600" } data-time={ (words.time) " (UTC)" } data-empty=(words.no_samples) sse-swap="sample" hx-swap="none" {
            figure.card { figcaption { (words.rate_over_time) } div.chart data-series="pages_per_s" data-label=(words.pages_per_s) {} }
            figure.card { figcaption { (words.queue_over_time) } div.chart data-series="queued saved" data-label={ (words.queued) "|" (words.saved) } {} }
        }
        section.card {
            h2 { (words.live_log) }
            noscript { p.muted { (words.refresh_hint) } }
            div.scroll.log tabindex="0" role="region" aria-label=(words.live_log) {
                table.list {
                    (log_head(words))
                    tbody #log sse-swap="log" hx-swap="afterbegin" { @for visit in &latest.lines { (log_row(visit, now, words)) } }
                }
            }
            @if latest.lines.is_empty() { p.muted.while-empty { (words.nothing_yet) } }
        }
    };
    let stream = format!("/crawls/{}/events?since={since}", crawl.id);
    Ok(super::html(crawl::live_page(
        &view, &crawl, &stream, &content,
    )))
}

/// What was done before the page is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    /// The crawl was started again.
    started: Option<String>,
}

/// What came of starting a crawl again.
fn started(crawl: &Crawl, words: &Words) -> Markup {
    let saved = crawl
        .status
        .as_ref()
        .map_or(0, |status| status.saved_this_run);
    let has_nothing_left = crawl.state() == "finished" && saved == 0;
    html! {
        div.note.started role="status" {
            @if crawl.is_running() { p { (words.started_runs) } } @else {
                p { (fill(words.started_ended, &[("saved", &format::count(saved))])) }
                @if has_nothing_left {
                    p { (words.started_nothing) }
                    pre.command { code { (Plan::visit_again(crawl).command()) } }
                }
            }
        }
    }
}

/// From where on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Since {
    since: Option<u64>,
}

/// Streams pieces of the page.
pub(crate) async fn events(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<Since>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let form = Form::Html(Language::of(&headers));
    stream(&app, &caller, crawl, &headers, query.since, form).await
}

/// Why it is not running; nothing while it is.
pub(crate) fn why(causes: &[Cause], words: &Words) -> Markup {
    html! {
        @if !causes.is_empty() {
            section.card.why {
                h2 { (words.why_stands) }
                (super::queue::causes(words, causes))
            }
        }
    }
}

/// How it stands.
pub(crate) fn state(crawl: &Crawl, words: &Words) -> Markup {
    badge(crawl.state(), words)
}

/// The point the curves go on with.
pub(crate) fn sample(crawl: &Crawl) -> Value {
    let row = CrawlRow::new(crawl);
    let time = row.time.as_deref().and_then(Timestamp::parse_rfc3339);
    json!({
        "time": time.map(|time| time.micros() as f64 / 1e6),
        "pages_per_s": row.pages_per_s,
        "queued": row.queued,
        "saved": row.saved,
    })
}

fn figure(name: &str, value: &str, more: Option<String>) -> Markup {
    html! {
        div.figure { dt { (name) } dd { (value) @if let Some(more) = more { small { (more) } } } }
    }
}

/// How many visits saved the pages, where pages were visited again.
fn saved_in(visits: u64, pages: u64, words: &Words) -> Option<String> {
    (visits > pages).then(|| format!("{}: {}", words.visits, format::count(visits)))
}

/// How the crawl is kept fresh.
fn refreshing(refresh: &Refreshing, words: &Words) -> Markup {
    let by = match refresh.drive {
        RefreshDrive::Plan => &refresh.policy,
        RefreshDrive::Rounds => words.by_rounds,
        RefreshDrive::Table => words.by_table,
    };
    html! {
        (figure(words.kept_fresh, &format::count(refresh.pages), Some(by.to_owned())))
        (figure(words.requests_a_day, &format::rate(refresh.requests_per_day), None))
        @if let Some(next) = &refresh.next_due { (figure(words.next_due, &format::moment(next), None)) }
    }
}

/// Everything that changes twice a second.
pub(crate) fn figures(crawl: &Crawl, words: &Words) -> Markup {
    let detail = CrawlDetail::new(crawl);
    let row = &detail.row;
    let blank = Status::default();
    let status = crawl.status.as_ref().unwrap_or(&blank);
    let workers = u64::from(row.running);
    html! {
        @if let Some(trouble) = &row.trouble { div.alert role="alert" { p { (trouble) } } }
        @if let Some(share) = detail.done_share {
            div.progress-line {
                progress max="1" value=(share) aria-label=(words.done_share) {}
                span { (format::share(share)) " · " (words.left) " " (format::span(detail.left_s.unwrap_or(0.0), words)) }
            }
        }
        dl.figures {
            (figure(words.saved, &format::count(row.saved), saved_in(row.visits_saved, row.saved, words)))
            (figure(words.queued, &format::count(row.queued), None))
            (figure(words.pages_per_s, &format::rate(row.pages_per_s), None))
            (figure(words.elapsed, &format::span(row.elapsed_s, words), None))
            (figure(words.workers_connected, &format::count(workers), row.pid.map(|pid| format!("pid {pid}"))))
            (figure(words.in_flight, &format::count(row.in_flight), None))
            (figure(words.transferred, &format::bytes(row.wire_bytes as f64), Some(format!("{}/s", format::bytes(row.bytes_per_s)))))
            (figure(words.failed, &format::count(row.failed), None))
            (figure(words.redirected, &format::count(row.redirected), None))
            (figure(words.refused, &format::count(row.refused), None))
            (figure(words.sites_ready, &format::count(status.sites_ready), None))
            (figure(words.sites_waiting, &format::count(status.sites_waiting), None))
            (figure(words.sites_backing_off, &format::count(status.sites_backing_off), None))
            (figure(words.links, &format::count(detail.links), None))
            (figure(words.seeds, &format::count(row.seeds), None))
            @if let Some(refresh) = &detail.refresh { (refreshing(refresh, words)) }
        }
        div.four {
            (answers(&detail, words))
            (causes(&detail, words))
            (bars(words.by_type, named(&detail.types, &[]), words))
            (bars(words.by_refusal, named(&detail.refusals, words.refusals), words))
        }
    }
}

/// A row of bars: what, where its visits are, how many, whether that is well.
struct Bar {
    name: Markup,
    count: u64,
    is_good: bool,
    link: Option<String>,
}

/// A table of bars, the longest first.
fn bars(title: &str, mut rows: Vec<Bar>, words: &Words) -> Markup {
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    let most = rows.first().map_or(1, |row| row.count);
    html! {
        section.card {
            h2 { (title) }
            @if rows.is_empty() { p.muted { (words.nothing_yet) } } @else {
                table.bars {
                    @for row in rows.iter().take(BARS_MAX) {
                        tr {
                            th scope="row" { @if let Some(link) = &row.link { a href=(link) { (row.name) } } @else { (row.name) } }
                            td.bar { (bar(row.count, most, row.is_good)) }
                            td.num { (format::count(row.count)) }
                        }
                    }
                }
                @if rows.len() > BARS_MAX { p.muted { (format::rows(words, BARS_MAX, rows.len() as u64)) } }
            }
        }
    }
}

/// Answers by class, each with its lines of the log.
fn answers(detail: &CrawlDetail, words: &Words) -> Markup {
    let rows = detail.classes.iter().map(|(class, count)| Bar {
        name: html! { (look_up(words.classes, class)) " " code.muted { (class) } },
        count: *count,
        is_good: matches!(&**class, "2xx" | "3xx" | NOT_MODIFIED),
        // Codes beyond the known classes can be asked for one by one.
        link: CLASSES
            .contains(&class.as_str())
            .then(|| format!("/crawls/{}/log?class={class}", detail.row.id)),
    });
    bars(words.by_class, rows.collect(), words)
}

/// What went wrong, each with its lines of the log.
fn causes(detail: &CrawlDetail, words: &Words) -> Markup {
    let log = format!("/crawls/{}/log", detail.row.id);
    let states = detail.states.iter();
    // An answer with a code of its own is told by that code.
    let states = states.filter(|(state, _)| !matches!(&***state, "OK" | "code"));
    let states = states.map(|(state, count)| Bar {
        name: html! { (look_up(words.network, state)) " " code.muted { (state) } },
        count: *count,
        is_good: false,
        link: Some(format!("{log}?state={}", format::query(state))),
    });
    let codes = detail.codes.iter();
    let codes = codes.filter(|(code, _)| code.as_str() >= "400");
    let codes = codes.map(|(code, count)| Bar {
        name: html! { (words.code) " " (code) },
        count: *count,
        is_good: false,
        link: Some(format!("{log}?code={}", format::query(code))),
    });
    let rows = states.chain(codes);
    bars(words.by_cause, rows.collect(), words)
}

/// Counts by name; a name that the table knows is told in its words.
fn named(counts: &std::collections::BTreeMap<String, u64>, table: Table) -> Vec<Bar> {
    let rows = counts.iter().map(|(name, count)| Bar {
        name: html! { (translate(table, name)) },
        count: *count,
        is_good: true,
        link: None,
    });
    rows.collect()
}

/// A bar as a picture: the policy forbids a width in the page's own style.
pub(crate) fn bar(part: u64, whole: u64, is_good: bool) -> Markup {
    let width = part as f64 * 100.0 / whole.max(1) as f64;
    let class = if is_good { "good" } else { "bad" };
    html! {
        svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="0" width="100" height="8" {}
            rect class=(class) x="0" y="0" width={ (format!("{width:.2}")) } height="8" {}
        }
    }
}

/// Head of a table of visits.
pub(crate) fn log_head(words: &Words) -> Markup {
    html! {
        thead { tr {
            th.num scope="col" { "#" }
            th scope="col" { (words.time) }
            th scope="col" { (words.state) }
            th.num scope="col" { (words.code) }
            th scope="col" { (words.url) }
            th scope="col" { (words.content_type) }
            th.num scope="col" { (words.size) }
            th.num scope="col" { (words.rtt) }
        } }
    }
}

/// A visit.
pub(crate) fn log_row(visit: &LoggedVisit, now: Timestamp, words: &Words) -> Markup {
    let state = look_up(words.network, &visit.state);
    let meaning = match &visit.error {
        Some(error) => format!("{state}: {error}"),
        None => state,
    };
    html! {
        tr data-n=(visit.position()) data-ok=[(visit.state == "OK").then_some("")] {
            td.num.muted { (visit.n) }
            td { (format::time(&visit.time, now)) }
            td { span.outcome title=(meaning) { (visit.state) } }
            td.num { @if let Some(code) = visit.code { (code) } }
            td.url { (visit.url) }
            td { @if let Some(mime) = &visit.mime { (mime) } }
            td.num { (format::bytes(visit.bytes as f64)) }
            td.num { @if let Some(rtt) = visit.rtt_ms { (format::millis(rtt)) } }
        }
    }
}

/// In place of visits that are not shown one by one.
pub(crate) fn skipped_row(count: u64, words: &Words) -> Markup {
    html! { tr.skipped { td colspan="8" { "… " (format::counted(words.skipped, count)) } } }
}

#[cfg(test)]
mod tests {
    use geomi_engine::RefreshStatus;

    use super::*;

    fn kept_fresh(pid: Option<u32>, drive: RefreshDrive) -> String {
        let status = Status {
            refresh: Some(RefreshStatus {
                drive,
                table: None,
                policy: "clock".to_owned(),
                once: false,
                pages: 7,
                requests_per_day: 1.0,
                discovery_per_day: None,
                discovered: 0,
                postponed: 0,
                timezone: "UTC".to_owned(),
                next_due: Some("2026-11-16T09:30:00.000Z".to_owned()),
            }),
            ..Status::default()
        };
        let crawl = Crawl::sample("news", pid, status);
        figures(&crawl, Language::English.words()).into_string()
    }

    #[test]
    fn nothing_is_due_while_nobody_runs_it() {
        let due = Language::English.words().next_due;
        assert!(kept_fresh(Some(1), RefreshDrive::Plan).contains(due));
        let rests = kept_fresh(None, RefreshDrive::Plan);
        assert!(!rests.contains(due), "{rests}");
        assert!(rests.contains("clock"), "{rests}");
    }

    #[test]
    fn what_drives_it_is_named() {
        let words = Language::English.words();
        for (drive, name) in [
            (RefreshDrive::Plan, "clock"),
            (RefreshDrive::Rounds, words.by_rounds),
            (RefreshDrive::Table, words.by_table),
        ] {
            let page = kept_fresh(None, drive);
            assert!(page.contains(&format!("<small>{name}</small>")), "{page}");
        }
    }
}
