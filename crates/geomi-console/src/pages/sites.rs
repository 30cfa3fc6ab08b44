//! Sites: how fast they answer, how long they rest, what each waits for.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::{View, empty};
use super::{empty_as_none, format};
use crate::api::sites::{ORDERS, SiteRow, SiteRows, SitesQuery, find};
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;
use crate::words::{Words, look_up};

/// What the form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    order: String,
    part: String,
    after: String,
}

impl Filter {
    fn link(&self, id: &str, after: &str) -> String {
        format!(
            "/crawls/{id}/sites?order={}&part={}&after={}",
            format::query(&self.order),
            format::query(&self.part),
            format::query(after)
        )
    }
}

/// Shows sites.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let query = SitesQuery {
        order: empty_as_none(&filter.order),
        after: empty_as_none(&filter.after),
        limit: None,
        part: empty_as_none(&filter.part),
    };
    let found = find(&app, &crawl, query).await?;
    let words = view.words;
    let content = html! {
        (form(&view, &crawl.id, &filter))
        p.muted { (if found.live { words.live_sites } else { words.at_rest_sites }) " " (format::count(found.total)) " " (words.in_all) }
        @if found.items.is_empty() { (empty(words.nothing_yet, words.queue_lead)) } @else { (table(&found, words)) }
        nav.pager {
            @if !filter.after.is_empty() { a.button href=(filter.link(&crawl.id, "")) { (words.newer) } }
            @if let Some(next) = &found.next { a.button href=(filter.link(&crawl.id, next)) { (words.older) } }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Sites,
        &content,
    )))
}

fn form(view: &View, id: &str, filter: &Filter) -> Markup {
    let words = view.words;
    html! {
        form.filters method="get" action={ "/crawls/" (id) "/sites" } {
            label { span { (words.order_by) } select name="order" {
                @for order in ORDERS { option value=(order) selected[filter.order == *order] { (look_up(words.orders, order)) } }
            } }
            label.grow { span { (words.filter) } input name="part" value=(filter.part) maxlength="200" spellcheck="false"; }
            button type="submit" { (words.show) }
        }
    }
}

fn table(found: &SiteRows, words: &Words) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.sites) {
            table.list {
                thead { tr {
                    th scope="col" { (words.site) }
                    @if found.live {
                        th scope="col" { (words.waits_for) }
                        th scope="col" { (words.until) }
                        th.num scope="col" { (words.queued) }
                        th.num scope="col" { (words.in_flight) }
                    } @else {
                        th.num scope="col" { (words.saved) }
                        th.num scope="col" { (words.failed) }
                    }
                    th.num scope="col" { (words.requests) }
                    th.num scope="col" { (words.rtt) }
                    @if found.live {
                        th.num scope="col" { (words.delay) }
                        th.num scope="col" { (words.crawl_delay) }
                        th.num scope="col" { (words.failures) }
                        th scope="col" { (words.address) }
                    }
                } }
                tbody { @for row in &found.items { (site_row(row, found.live, words)) } }
            }
        }
    }
}

fn site_row(row: &SiteRow, live: bool, words: &Words) -> Markup {
    let seconds = |value: Option<f64>| value.map(|value| format!("{value:.1} s"));
    let counted = |value: Option<u64>| value.map(format::count);
    html! {
        tr {
            th scope="row" { (row.site) }
            @if live {
                td { @if let Some(hold) = &row.hold { span.badge data-hold=(hold) title=[row.why.as_deref()] { (look_up(words.holds, hold)) } } }
                td { @if let Some(until) = &row.until { time datetime=(until) { (format::clock(until)) } } }
                td.num { (counted(row.queued).unwrap_or_default()) }
                td.num { (counted(row.in_flight).unwrap_or_default()) }
            } @else {
                td.num { (counted(row.saved).unwrap_or_default()) }
                td.num { (counted(row.failed).unwrap_or_default()) }
            }
            td.num { (format::count(row.requests)) }
            td.num { (row.rtt_ms.map(format::millis).unwrap_or_default()) }
            @if live {
                td.num { (seconds(row.delay_s).unwrap_or_default()) }
                td.num { (seconds(row.crawl_delay_s).unwrap_or_default()) }
                td.num { (row.failures.unwrap_or(0)) }
                td { (row.address.as_deref().unwrap_or_default()) }
            }
        }
    }
}
