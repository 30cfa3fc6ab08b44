//! All crawls, and the form that starts one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{self, View, alert_of};
use super::{format, lines};
use crate::accounts::Role;
use crate::actions::{self, NewCrawl};
use crate::api::crawls::CrawlRow;
use crate::app::App;
use crate::http::extract::{Form, Query};
use crate::http::problem::Problem;
use crate::library::Crawl;
use crate::words::{Words, look_up};

/// Crawls on a page.
const ROWS: usize = 100;

/// Which page.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ListQuery {
    after: Option<String>,
}

/// Shows the crawls.
pub(crate) async fn list(
    State(app): State<App>,
    view: View,
    Query(query): Query<ListQuery>,
) -> Result<Response, Problem> {
    let crawls = app.library.list(app.now()).await?;
    let form = StartForm::default();
    Ok(super::html(page(
        &app,
        &view,
        &crawls,
        query.after.as_deref(),
        &form,
        None,
        None,
    )))
}

fn page(
    app: &App,
    view: &View,
    crawls: &[Arc<Crawl>],
    after: Option<&str>,
    form: &StartForm,
    command: Option<&str>,
    problem: Option<&Problem>,
) -> Markup {
    let words = view.words;
    // What moves stands first; below it the rest by name.
    let mut rows: Vec<&Arc<Crawl>> = crawls.iter().collect();
    rows.sort_by_key(|crawl| !crawl.is_running());
    let from = after.and_then(|after| rows.iter().position(|crawl| crawl.name == after));
    let from = from.map_or(0, |at| at + 1);
    let shown: Vec<&Arc<Crawl>> = rows.iter().skip(from).take(ROWS).copied().collect();
    let has_more = from + shown.len() < rows.len();
    let content = html! {
        div.page-head {
            div {
                h1 { (words.crawls) }
                p.lead { (words.crawls_lead) " " span.muted { (format::counted(words.in_all, crawls.len() as u64)) } }
            }
        }
        @if view.may(Role::Operator) {
            @if app.launcher.is_some() {
                (start(view, form, command, problem, crawls.is_empty()))
            } @else {
                p.muted.note { (words.start_disabled) }
            }
        }
        @if crawls.is_empty() {
            (layout::empty(words.none_yet_title, words.none_yet_text))
        } @else {
            (table(&shown, words))
            @if has_more && let Some(last) = shown.last() {
                nav.pager { a.button href={ "/?after=" (format::query(&last.name)) } { (words.older) } }
            }
        }
    };
    layout::page(view, words.crawls, &content)
}

fn table(crawls: &[&Arc<Crawl>], words: &Words) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.crawls) {
            table.list {
                thead { tr {
                    th scope="col" { (words.name) }
                    th scope="col" { (words.state) }
                    th.num scope="col" { (words.saved) }
                    th.num scope="col" { (words.queued) }
                    th.num scope="col" { (words.failed) }
                    th.num scope="col" { (words.pages_per_s) }
                    th.num scope="col" { (words.elapsed) }
                    th scope="col" { (words.started) }
                } }
                tbody { @for crawl in crawls { (row(crawl, words)) } }
            }
        }
    }
}

fn row(crawl: &Crawl, words: &Words) -> Markup {
    let row = CrawlRow::new(crawl);
    html! {
        tr {
            th scope="row" { a href={ "/crawls/" (row.id) } { (row.name) } }
            td { (badge(&row.state, words)) @if let Some(trouble) = &row.trouble { small.trouble { (trouble) } } }
            td.num { (format::count(row.saved)) }
            td.num { (format::count(row.queued)) }
            td.num { (format::count(row.failed)) }
            td.num { @if row.running { (format::rate(row.pages_per_s)) } @else { span.muted { "–" } } }
            td.num { (format::span(row.elapsed_s, words)) }
            td { @if let Some(started) = &row.started { time datetime=(started) { (format::moment(started)) } } }
        }
    }
}

/// How a crawl stands, with a colour.
pub(crate) fn badge(state: &str, words: &Words) -> Markup {
    html! { span.badge data-state=(state) { (look_up(words.states, state)) } }
}

/// The form that starts a crawl.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StartForm {
    urls: String,
    name: String,
    scope: String,
    depth: String,
    max_pages: String,
    contact: String,
    toml: String,
    /// `preview` shows the command only.
    act: String,
}

impl StartForm {
    fn crawl(&self) -> NewCrawl {
        let keys = [
            ("scope.kind", &self.scope),
            ("scope.depth", &self.depth),
            ("crawl.max_pages", &self.max_pages),
            ("fetch.contact", &self.contact),
        ];
        let given = keys
            .into_iter()
            .filter(|(_, value)| !value.trim().is_empty());
        NewCrawl {
            urls: lines(&self.urls),
            name: Some(self.name.clone()),
            settings: given
                .map(|(key, value)| format!("{key}={}", value.trim()))
                .collect(),
            toml: Some(self.toml.clone()),
        }
    }
}

fn start(
    view: &View,
    form: &StartForm,
    command: Option<&str>,
    problem: Option<&Problem>,
    is_first: bool,
) -> Markup {
    let words = view.words;
    let scopes = ["", "page", "path", "host", "domain", "party", "any"];
    let is_open = is_first || problem.is_some() || command.is_some();
    html! {
        details.card.start open[is_open] {
            summary { h2 { (words.start_title) } span.muted { (words.start_lead) } }
            @if let Some(problem) = problem { (alert_of(words, problem)) }
            form.grid method="post" action="/crawls" {
                (view.csrf())
                label.wide {
                    span { (words.root_url) }
                    textarea name="urls" rows="2" required placeholder="https://example.com/" spellcheck="false" { (form.urls) }
                    small { (words.root_url_help) }
                }
                label { span { (words.crawl_name) } input name="name" value=(form.name) maxlength="100" spellcheck="false"; small { (words.crawl_name_help) } }
                label { span { (words.contact) } input name="contact" value=(form.contact) type="url" placeholder="https://example.org/crawler" spellcheck="false"; small { (words.contact_help) } }
                details.wide {
                    summary { (words.advanced) }
                    div.grid {
                        label { span { (words.scope) } select name="scope" {
                            @for scope in scopes { option value=(scope) selected[form.scope == *scope] { @let kind = if scope.is_empty() { "host" } else { scope }; (look_up(words.scopes, kind)) " (" (kind) ")" } }
                        } }
                        label { span { (words.depth) } input name="depth" value=(form.depth) inputmode="numeric" pattern="[0-9]*" placeholder=(words.no_limit); }
                        label { span { (words.max_pages) } input name="max_pages" value=(form.max_pages) inputmode="numeric" pattern="[0-9]*" placeholder=(words.no_limit); }
                        label.wide { span { (words.toml) } textarea name="toml" rows="6" spellcheck="false" { (form.toml) } small { (words.toml_help) } }
                    }
                }
                @if let Some(command) = command {
                    div.wide { p.eyebrow { (words.equivalent) } pre.command { code { (command) } } }
                }
                div.actions.wide {
                    button.primary type="submit" name="act" value="start" { (words.start) }
                    button type="submit" name="act" value="preview" { (words.preview) }
                }
            }
        }
    }
}

/// Starts a crawl, or shows the command that would.
pub(crate) async fn start_new(
    State(app): State<App>,
    view: View,
    Form(form): Form<StartForm>,
) -> Result<Response, Problem> {
    let new = form.crawl();
    let outcome = if form.act == "preview" {
        let by = view.caller.clone();
        app.read(move |app| actions::plan(app, &by, &new))
            .await
            .map(|plan| plan.command())
    } else {
        match actions::start_new(&app, &view.caller, new).await {
            Ok(started) => {
                return Ok(Redirect::to(&format!("/crawls/{}", started.id)).into_response());
            }
            Err(problem) => Err(problem),
        }
    };
    let crawls = app.library.list(app.now()).await?;
    let (command, problem) = match outcome {
        Ok(command) => (Some(command), None),
        Err(problem) => (None, Some(problem)),
    };
    let mut response = super::html(page(
        &app,
        &view,
        &crawls,
        None,
        &form,
        command.as_deref(),
        problem.as_ref(),
    ));
    if let Some(problem) = problem {
        *response.status_mut() = problem.status;
    }
    Ok(response)
}
