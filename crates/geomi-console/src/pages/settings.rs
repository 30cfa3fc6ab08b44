//! Users, tokens, audit log.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::format;
use super::layout::{self, View, alert_of};
use crate::accounts::Role;
use crate::accounts::audit::{self, Place};
use crate::api::accounts::{MakeUser, audit_place, drop_user, make_user};
use crate::api::tokens::{MakeToken, drop_token, make_token, visible_tokens};
use crate::app::App;
use crate::http::extract::{Form, Path, Query};
use crate::http::problem::Problem;
use crate::words::look_up;

/// Lines of the audit log.
const AUDIT_LINES: usize = 50;

/// Which part of the audit log.
#[derive(Debug, Deserialize)]
pub(crate) struct Part {
    before: Option<String>,
}

/// Shows the settings.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Query(part): Query<Part>,
) -> Result<Response, Problem> {
    let from = part.before.as_deref().map(audit_place).transpose()?;
    Ok(super::html(part_page(&app, &view, None, None, from).await?))
}

async fn page(
    app: &App,
    view: &View,
    secret: Option<&str>,
    problem: Option<&Problem>,
) -> Result<Markup, Problem> {
    part_page(app, view, secret, problem, None).await
}

async fn part_page(
    app: &App,
    view: &View,
    secret: Option<&str>,
    problem: Option<&Problem>,
    from: Option<Place>,
) -> Result<Markup, Problem> {
    let words = view.words;
    let is_admin = view.may(Role::Admin);
    let entries = if is_admin {
        app.read(move |app| app.accounts.audit.page(from, AUDIT_LINES))
            .await?
    } else {
        audit::Page::default()
    };
    let content = html! {
        div.page-head { h1 { (words.settings) } }
        @if let Some(problem) = problem { (alert_of(words, problem)) }
        (tokens(app, view, secret))
        @if is_admin { (users(app, view)) (audit(view, &entries)) }
    };
    Ok(layout::page(view, words.settings, &content))
}

fn roles(view: &View, name: &str, most: Role) -> Markup {
    html! {
        select name=(name) { @for role in Role::ALL { @if role <= most {
            option value=(role.as_str()) { (look_up(view.words.roles, role.as_str())) }
        } } }
    }
}

fn removal(view: &View, action: &str) -> Markup {
    html! { form method="post" action=(action) { (view.csrf()) button.quiet.danger type="submit" { (view.words.remove) } } }
}

fn tokens(app: &App, view: &View, secret: Option<&str>) -> Markup {
    let words = view.words;
    let known = view.caller.known();
    let tokens = visible_tokens(app, known);
    html! {
        section.card {
            h2 { (words.tokens) }
            p.lead { (words.tokens_lead) }
            @if let Some(secret) = secret {
                div.note role="status" { p { (words.token_once) } pre.command { code { (secret) } } }
            }
            @if !tokens.is_empty() {
                div.scroll tabindex="0" role="region" aria-label=(words.tokens) { table.list {
                    thead { tr { th.num scope="col" { (words.number) } th scope="col" { (words.token_name) } th scope="col" { (words.token_scope) } th scope="col" { (words.since) } th scope="col" { span.hidden { (words.remove) } } } }
                    tbody { @for token in &tokens { tr {
                        td.num { (token.no) } th scope="row" { (token.name) } td { (look_up(words.roles, token.scope.as_str())) }
                        td { (format::moment(&token.date)) } td { (removal(view, &format!("/settings/tokens/{}/remove", token.no))) }
                    } } }
                } }
            }
            form.filters method="post" action="/settings/tokens" {
                (view.csrf())
                label.grow { span { (words.token_name) } input name="name" required maxlength="100"; }
                label { span { (words.token_scope) } (roles(view, "scope", known.role)) }
                button type="submit" { (words.make_token) }
            }
        }
    }
}

fn users(app: &App, view: &View) -> Markup {
    let words = view.words;
    html! {
        section.card {
            h2 { (words.users) }
            p.lead { (words.users_lead) }
            div.scroll tabindex="0" role="region" aria-label=(words.users) { table.list {
                thead { tr { th.num scope="col" { (words.number) } th scope="col" { (words.user_id) } th scope="col" { (words.name) } th scope="col" { (words.role) } th scope="col" { (words.since) } th scope="col" { span.hidden { (words.remove) } } } }
                tbody { @for user in app.accounts.users() { tr {
                    td.num { (user.no) } th scope="row" { (user.id) } td { (user.name) } td { (look_up(words.roles, user.role.as_str())) }
                    td { (format::moment(&user.date)) } td { (removal(view, &format!("/settings/users/{}/remove", user.no))) }
                } } }
            } }
            h3 { (words.add_user) }
            form.filters method="post" action="/settings/users" {
                (view.csrf())
                label { span { (words.user_id) } input name="id" required maxlength="100" autocomplete="off"; }
                label { span { (words.name) } input name="name" maxlength="100" autocomplete="off"; }
                label { span { (words.password) } input name="password" type="password" required minlength="10" maxlength="1024" autocomplete="new-password" title=(words.password_rule); }
                label { span { (words.role) } (roles(view, "role", Role::Admin)) }
                button type="submit" { (words.add) }
            }
        }
    }
}

fn audit(view: &View, page: &audit::Page) -> Markup {
    let words = view.words;
    html! {
        section.card #audit {
            h2 { (words.audit) }
            p.lead { (words.audit_lead) }
            div.scroll tabindex="0" role="region" aria-label=(words.audit) { table.list {
                thead { tr { th scope="col" { (words.time) } th scope="col" { (words.who) } th scope="col" { (words.from_where) } th scope="col" { (words.did) } th scope="col" { (words.to) } th scope="col" { (words.result) } } }
                tbody { @for entry in &page.entries { tr {
                    td { time datetime=(entry.time) { (format::moment(&entry.time)) } } td { (entry.who) } td { (entry.from) } td { (look_up(words.actions, &entry.did)) } td.url { (entry.to) }
                    td { (if entry.ok { words.ok } else { words.refused_word }) }
                } } }
            } }
            @if let Some(place) = page.older { nav.pager { a.button href=(format!("/settings?before={place}#audit")) { (words.older) } } }
        }
    }
}

/// Either goes back to the page, or shows it with what was wrong.
async fn finish(app: &App, view: &View, outcome: Result<(), Problem>) -> Result<Response, Problem> {
    match outcome {
        Ok(()) => Ok(Redirect::to("/settings").into_response()),
        Err(problem) => {
            let mut response = super::html(page(app, view, None, Some(&problem)).await?);
            *response.status_mut() = problem.status;
            Ok(response)
        }
    }
}

/// Makes a token and shows its secret, once.
pub(crate) async fn add_token(
    State(app): State<App>,
    view: View,
    Form(make): Form<TokenForm>,
) -> Result<Response, Problem> {
    let make = MakeToken {
        name: make.name.trim().to_owned(),
        scope: make.scope,
    };
    match make_token(&app, &view.caller, make).await {
        Ok(token) => Ok(super::html(
            page(&app, &view, Some(&token.secret), None).await?,
        )),
        Err(problem) => finish(&app, &view, Err(problem)).await,
    }
}

/// A token from the form.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenForm {
    name: String,
    scope: Role,
}

/// Removes a token.
pub(crate) async fn remove_token(
    State(app): State<App>,
    view: View,
    Path(no): Path<u32>,
) -> Result<Response, Problem> {
    let outcome = drop_token(&app, &view.caller, no).await;
    finish(&app, &view, outcome).await
}

/// A user from the form.
#[derive(Debug, Deserialize)]
pub(crate) struct UserForm {
    id: String,
    name: String,
    password: String,
    role: Role,
}

/// Makes a user.
pub(crate) async fn add_user(
    State(app): State<App>,
    view: View,
    Form(form): Form<UserForm>,
) -> Result<Response, Problem> {
    let make = MakeUser {
        id: form.id.trim().to_owned(),
        name: Some(form.name.trim().to_owned()),
        password: form.password,
        role: form.role,
    };
    let outcome = make_user(&app, &view.caller, make).await.map(drop);
    finish(&app, &view, outcome).await
}

/// Removes a user.
pub(crate) async fn remove_user(
    State(app): State<App>,
    view: View,
    Path(no): Path<u32>,
) -> Result<Response, Problem> {
    let outcome = drop_user(&app, &view.caller, no).await;
    finish(&app, &view, outcome).await
}
