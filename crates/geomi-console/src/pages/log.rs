//! The log of a crawl, with filters.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::{View, empty};
use super::live::{log_head, log_row};
use super::{empty_as_none, format};
use crate::api::log::{CLASSES, LogQuery, STATES, find, next};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;
use crate::words::look_up;

/// Rows of a page.
const ROWS: usize = 100;

/// What a form sends: fields may be empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    before: String,
    state: String,
    code: String,
    class: String,
    part: String,
}

impl Filter {
    fn query(&self) -> LogQuery {
        LogQuery {
            before: self.before.parse().ok(),
            limit: None,
            state: empty_as_none(&self.state),
            // A code that is no number filters nothing; the field says so.
            code: self.code.parse().ok(),
            class: empty_as_none(&self.class),
            part: empty_as_none(&self.part),
        }
    }

    fn link(&self, id: &str, before: Option<u64>) -> String {
        let before = before.map_or(String::new(), |n| format!("before={n}&"));
        format!(
            "/crawls/{id}/log?{before}state={}&class={}&code={}&part={}",
            format::query(&self.state),
            format::query(&self.class),
            format::query(&self.code),
            format::query(&self.part)
        )
    }
}

/// Shows the log.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let found = find(&app, &crawl, filter.query(), ROWS).await?;
    let (words, now) = (view.words, app.now());
    let older = next(&found);
    let content = html! {
        (form(&view, &crawl.id, &filter))
        @if found.lines.is_empty() && older.is_none() {
            (empty(words.nothing_yet, words.log))
        } @else {
            div.scroll.log tabindex="0" role="region" aria-label=(words.log) {
                table.list { (log_head(words)) tbody { @for visit in &found.lines { (log_row(visit, now, words)) } } }
            }
        }
        nav.pager {
            @if !filter.before.is_empty() { a.button href=(filter.link(&crawl.id, None)) { (words.newer) } }
            @if let Some(older) = older {
                a.button href=(filter.link(&crawl.id, Some(older))) { (words.older) }
                span.muted { (words.looked_on) " " (format::count(older)) }
            }
        }
    };
    Ok(super::html(crawl::page(&view, &crawl, Tab::Log, &content)))
}

fn form(view: &View, id: &str, filter: &Filter) -> Markup {
    let words = view.words;
    html! {
        form.filters method="get" action={ "/crawls/" (id) "/log" } {
            label { span { (words.state) } select name="state" {
                option value="" { (words.any_state) }
                @for state in STATES { option value=(state) selected[filter.state == *state] { (state) " · " (look_up(words.network, state)) } }
            } }
            label { span { (words.by_class) } select name="class" {
                option value="" { (words.any_state) }
                @for class in CLASSES { option value=(class) selected[filter.class == *class] { (class) " · " (look_up(words.classes, class)) } }
            } }
            label { span { (words.code) } input name="code" value=(filter.code) inputmode="numeric" pattern="[0-9]{3}" maxlength="3" size="5"; }
            label.grow { span { (words.filter_url) } input name="part" value=(filter.part) maxlength="500" spellcheck="false"; }
            button type="submit" { (words.show) }
        }
    }
}
