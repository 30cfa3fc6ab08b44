//! The configuration of a crawl, and changing it while it runs.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::View;
use super::lines;
use crate::accounts::Role;
use crate::actions;
use crate::api::crawls::config_text;
use crate::api::files::files_for;
use crate::app::App;
use crate::http::extract::{Form, Path};
use crate::http::problem::Problem;
use crate::launch::Plan;

/// Files shown.
const FILES_MAX: usize = 200;

/// Shows the configuration.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let (of, by) = (crawl.clone(), view.caller.clone());
    let (toml, files) = app
        .read(move |app| Ok::<_, Problem>((config_text(app, &by, &of)?, files_for(app, &by, &of)?)))
        .await?;
    let plan = Plan::again(&crawl);
    let words = view.words;
    let content = html! {
        p.lead { (words.config_lead) }
        @if crawl.is_running() && view.may(Role::Operator) {
            section.card {
                h2 { (words.change) }
                form.stack method="post" action={ "/crawls/" (crawl.id) "/settings" } {
                    (view.csrf())
                    label { span { (words.settings_label) } textarea name="settings" rows="3" required spellcheck="false" {} small { (words.change_help) } }
                    div.actions { button type="submit" { (words.change) } }
                }
            }
        }
        section.card {
            h2 { "geomi.toml" }
            p.eyebrow { (words.equivalent) }
            pre.command { code { (plan.command()) } }
            pre.scroll tabindex="0" { code { (toml) } }
        }
        section.card {
            h2 { (words.files) }
            div.scroll tabindex="0" role="region" aria-label=(words.files) {
                table.list {
                    thead { tr { th scope="col" { (words.path) } th.num scope="col" { (words.bytes) } } }
                    tbody { @for file in files.iter().take(FILES_MAX) {
                        tr {
                            th scope="row" { a href={ "/api/v1/crawls/" (crawl.id) "/files/" (file.path) } download { (file.path) } }
                            td.num { (super::format::count(file.bytes)) }
                        }
                    } }
                }
            }
            @if files.len() > FILES_MAX { p.muted { (super::format::rows(words, FILES_MAX, files.len() as u64)) } }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Config,
        &content,
    )))
}

/// Settings from the form.
#[derive(Debug, Deserialize)]
pub(crate) struct SettingsForm {
    settings: String,
}

/// Changes settings.
pub(crate) async fn change(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Form(form): Form<SettingsForm>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::set(&app, &view.caller, &crawl, lines(&form.settings)).await?;
    Ok(Redirect::to(&format!("/crawls/{}/config", crawl.id)).into_response())
}
