//! Pages that were visited and stored.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::captures;
use super::crawl::{self, Tab};
use super::layout::View;
use super::{empty_as_none, format, reach};
use crate::api::pages::{PageRow, PagesQuery, find};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;

/// What the form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    before: String,
    part: String,
    code: String,
}

/// Shows pages.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let query = PagesQuery {
        before: filter.before.parse().ok(),
        limit: None,
        part: empty_as_none(&filter.part),
        code: filter.code.parse().ok(),
    };
    let found = find(&app, &crawl, query).await?;
    let reach = reach::find(&app, &crawl).await?;
    let words = view.words;
    let link = |before: u64| {
        let (part, code) = (format::query(&filter.part), format::query(&filter.code));
        format!(
            "/crawls/{}/pages?before={before}&part={part}&code={code}",
            crawl.id
        )
    };
    let content = html! {
        form.filters method="get" action={ "/crawls/" (crawl.id) "/pages" } {
            label.grow { span { (words.filter_url) } input name="part" value=(filter.part) maxlength="500" spellcheck="false"; }
            label { span { (words.code) } input name="code" value=(filter.code) inputmode="numeric" pattern="[0-9]{3}" maxlength="3" size="5"; }
            button type="submit" { (words.show) }
        }
        (reach::note(words, &crawl, reach))
        @if found.items.is_empty() && found.next.is_none() {
            (reach::no_rows(words, &crawl, reach))
        } @else { (table(&view, &crawl.id, &found.items)) }
        nav.pager { @if let Some(next) = found.next { a.button href=(link(next)) { (words.older) } } }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Pages,
        &content,
    )))
}

fn table(view: &View, id: &str, rows: &[PageRow]) -> Markup {
    let words = view.words;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.pages) {
            table.list {
                thead { tr {
                    th scope="col" { (words.time) }
                    th scope="col" { (words.title) " / " (words.url) }
                    th.num scope="col" { (words.code) }
                    th scope="col" { (words.content_type) }
                    th.num scope="col" { (words.size) }
                    th scope="col" { (words.stored) }
                } }
                tbody { @for row in rows {
                    tr {
                        td { time datetime=(row.time) { (format::moment(&row.time)) } }
                        td.page-cell { @if let Some(title) = &row.title { span.title { (title) } } a.url href=(captures::link(id, &row.url)) { (row.url) } }
                        td.num { @if let Some(code) = row.code { (code) } @else { (row.state) } }
                        td { (row.mime.as_deref().unwrap_or_default()) }
                        td.num { (format::bytes(row.bytes as f64)) }
                        td.muted { @if let (Some(file), Some(offset)) = (&row.file, row.offset) { (file) " @" (offset) } }
                    }
                } }
            }
        }
    }
}
