//! The captures of one page, and two of them compared.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::{View, alert_of, empty};
use super::{empty_as_none, format, reach};
use crate::api::captures::{
    CaptureRow, CaptureRows, CapturesQuery, DiffLine, DiffQuery, Difference, LineFate, compare,
    find,
};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;
use crate::in_flight;
use crate::words::Words;

/// What the forms send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    url: String,
    before: String,
    from: String,
    to: String,
}

/// Shows the captures of a page.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let found = match empty_as_none(&asked.url) {
        None => None,
        Some(url) => {
            let query = CapturesQuery {
                url,
                before: asked.before.parse().ok(),
                limit: None,
            };
            Some(find(&app, &crawl, query).await)
        }
    };
    let compared = match (asked.from.parse().ok(), asked.to.parse().ok()) {
        (Some(from), Some(to)) => {
            let query = DiffQuery {
                url: asked.url.clone(),
                from: Some(from),
                to: Some(to),
            };
            Some(compare(&app, view.caller.known(), &crawl, query).await)
        }
        _ => None,
    };
    let reach = reach::find(&app, &crawl).await?;
    let words = view.words;
    let content = html! {
        form.filters method="get" action={ "/crawls/" (crawl.id) "/captures" } {
            label.grow { span { (words.url) } input name="url" value=(asked.url) maxlength="2048" spellcheck="false" required; }
            button type="submit" { (words.show) }
        }
        (reach::note(words, &crawl, reach))
        @match &compared {
            None => {}
            Some(Ok((difference, _))) => (changes(words, difference)),
            Some(Err(problem)) => (alert_of(words, problem)),
        }
        @match &found {
            None => (empty(words.captures, words.captures_lead)),
            Some(Err(problem)) => (alert_of(words, problem)),
            Some(Ok(found)) => (list(words, &crawl.id, &asked, found)),
        }
    };
    let page = super::html(crawl::page(&view, &crawl, Tab::Pages, &content));
    match compared {
        Some(Ok((difference, reserved))) => {
            drop(difference);
            in_flight::send(&app, view.caller.known(), page, reserved).await
        }
        _ => Ok(page),
    }
}

/// Where the captures of a URL are shown.
pub(crate) fn link(id: &str, url: &str) -> String {
    format!("/crawls/{id}/captures?url={}", format::query(url))
}

fn list(words: &Words, id: &str, asked: &Asked, found: &CaptureRows) -> Markup {
    if found.items.is_empty() {
        return html! {
            (empty(words.no_captures, words.no_captures_text))
            @if !found.near.is_empty() {
                section.card {
                    h2 { (words.near_captures) }
                    ul.urls { @for url in &found.near { li { a href=(link(id, url)) { (url) } } } }
                }
            }
        };
    }
    html! {
        form.stack method="get" action={ "/crawls/" (id) "/captures" } {
            input type="hidden" name="url" value=(asked.url);
            (table(words, id, asked, &found.items))
            div.pager {
                @if found.items.len() > 1 { button.primary type="submit" { (words.compare) } }
                @if let Some(next) = found.next { a.button href={ (link(id, &asked.url)) "&before=" (next) } { (words.older) } }
            }
        }
    }
}

fn table(words: &Words, id: &str, asked: &Asked, rows: &[CaptureRow]) -> Markup {
    // The last two are compared unless others are chosen.
    let chosen = |asked: &str, usual: usize| {
        let named = rows.iter().position(|row| row.at.to_string() == asked);
        named.unwrap_or(usual.min(rows.len() - 1))
    };
    let (from, to) = (chosen(&asked.from, 1), chosen(&asked.to, 0));
    let has_several = rows.len() > 1;
    html! {
        div.scroll.framed tabindex="0" role="region" aria-label=(words.captures) {
            table.list {
                thead { tr {
                    @if has_several {
                        th scope="col" { (words.earlier) }
                        th scope="col" { (words.later) }
                    }
                    th scope="col" { (words.time) }
                    th.num scope="col" { (words.code) }
                    th scope="col" { (words.content) }
                    th scope="col" { (words.content_type) }
                    th.num scope="col" { (words.size) }
                    th scope="col" { (words.stored) }
                    th scope="col" { (words.show) }
                } }
                tbody { @for (at, row) in rows.iter().enumerate() {
                    tr {
                        @if has_several {
                            td { input type="radio" name="from" value=(row.at) checked[at == from] aria-label={ (words.earlier) " " (row.time) }; }
                            td { input type="radio" name="to" value=(row.at) checked[at == to] aria-label={ (words.later) " " (row.time) }; }
                        }
                        th scope="row" { time datetime=(row.time) { (format::moment(&row.time)) } }
                        td.num { @if let Some(code) = row.code { (code) } }
                        td { (fate(words, row.changed)) }
                        td { (row.mime.as_deref().unwrap_or_default()) }
                        td.num { @if let Some(length) = row.length { (format::bytes(length as f64)) } }
                        td.muted { (row.file) @if let Some(offset) = row.offset { " @" (offset) } }
                        td { (parts(words, id, row)) }
                    }
                } }
            }
        }
    }
}

/// Whether the content differs from that of the capture before.
fn fate(words: &Words, changed: Option<bool>) -> Markup {
    html! {
        @match changed {
            Some(true) => strong { (words.changed) },
            Some(false) => span.muted { (words.unchanged) },
            None => span.muted { "–" },
        }
    }
}

/// Its text, which opens as plain text, and its body, which is stored.
fn parts(words: &Words, id: &str, row: &CaptureRow) -> Markup {
    let part = |name: &str| {
        let url = format::query(&row.url);
        format!(
            "/api/v1/crawls/{id}/captures/{name}?url={url}&at={}",
            row.at
        )
    };
    html! {
        a href=(part("text")) { (words.text) } " · "
        a href=(part("body")) download { (words.download) }
    }
}

fn changes(words: &Words, difference: &Difference) -> Markup {
    html! {
        section.card {
            h2 { (words.diff) }
            p.muted {
                time datetime=(difference.from.time) { (format::moment(&difference.from.time)) } " → "
                time datetime=(difference.to.time) { (format::moment(&difference.to.time)) } " · "
                span.gone { "−" (format::count(difference.gone)) } " "
                span.new { "+" (format::count(difference.new)) } " · "
                (words.unchanged) " " (format::count(difference.same))
            }
            @if difference.lines.iter().all(|line| line.is == LineFate::LeftOut) {
                p { (words.no_difference) }
            } @else {
                div.scroll.diff tabindex="0" role="region" aria-label=(words.diff) {
                    @for line in &difference.lines { (diff_line(words, line)) }
                }
            }
            @if difference.truncated { p.muted { (words.cut) } }
        }
    }
}

fn diff_line(words: &Words, line: &DiffLine) -> Markup {
    html! {
        @match line.is {
            LineFate::Same => div { (line.text) },
            LineFate::Gone => del { span.hidden { (words.gone) " " } (line.text) },
            LineFate::New => ins { span.hidden { (words.new) " " } (line.text) },
            LineFate::LeftOut => div.left-out { "… " (line.text) " " (words.lines_same) },
        }
    }
}
