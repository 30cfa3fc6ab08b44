//! Who fetches.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::crawls::badge;
use super::format;
use super::layout::{self, View, empty};
use crate::api::crawls::{THIS_MACHINE, find_workers};
use crate::app::App;
use crate::http::problem::Problem;

/// Shows the workers.
pub(crate) async fn show(State(app): State<App>, view: View) -> Result<Response, Problem> {
    let workers = find_workers(&app).await?;
    let words = view.words;
    let content = html! {
        div.page-head { div { h1 { (words.workers) } p.lead { (words.workers_lead) } } }
        @if workers.is_empty() { (empty(words.no_workers, words.join_hint)) } @else {
            div.scroll tabindex="0" role="region" aria-label=(words.workers) {
                table.list {
                    thead { tr {
                        th.num scope="col" { (words.number) }
                        th scope="col" { (words.crawl) }
                        th scope="col" { (words.state) }
                        th.num scope="col" { (words.process) }
                        th scope="col" { (words.machine) }
                        th.num scope="col" { (words.in_flight) }
                        th.num scope="col" { (words.pages_per_s) }
                        th scope="col" { (words.started) }
                    } }
                    tbody { @for worker in &workers {
                        tr {
                            td.num { (worker.number) }
                            th scope="row" { a href={ "/crawls/" (worker.crawl) } { (worker.crawl) } }
                            td { (badge(&worker.state, words)) }
                            td.num { (worker.pid) }
                            td { @if worker.host == THIS_MACHINE { (words.this_machine) } @else { (worker.host) } }
                            td.num { (format::count(worker.in_flight)) }
                            td.num { (format::rate(worker.pages_per_s)) }
                            td { @if let Some(started) = &worker.started { time datetime=(started) { (format::moment(started)) } } }
                        }
                    } }
                }
            }
        }
    };
    Ok(super::html(layout::page(&view, words.workers, &content)))
}
