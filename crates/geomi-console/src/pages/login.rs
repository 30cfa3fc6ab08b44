//! Logging in and out.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, header};
use maud::{Markup, html};
use serde::Deserialize;

use super::format;
use super::layout::{self, View};
use super::preferences::is_ours;
use crate::api::session::{self, ID_MAX, LogIn, PASSWORD_MAX};
use crate::app::App;
use crate::http::bounded::Text;
use crate::http::extract::{Form, Query};
use crate::http::guard;
use crate::http::problem::Problem;
use crate::http::respond;

/// The log-in that leads back to a page.
pub(crate) fn address(next: &str) -> String {
    if next == "/" {
        "/login".to_owned()
    } else {
        format!("/login?next={}", format::query(next))
    }
}

/// Where to go after it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Next {
    next: Option<String>,
}

/// Shows the log-in.
pub(crate) async fn show(view: View, Query(next): Query<Next>) -> Response {
    if view.caller.principal.is_some() {
        return Redirect::to("/").into_response();
    }
    super::html(page(&view, next.next.as_deref().unwrap_or("/"), "", None))
}

fn page(view: &View, next: &str, id: &str, problem: Option<&Problem>) -> Markup {
    let words = view.words;
    let content = html! {
        section.card.narrow.login {
            h1 { (words.log_in_title) }
            p.lead { (words.log_in_lead) }
            @if let Some(problem) = problem { (layout::alert_of(words, problem)) }
            form.stack method="post" action="/login" {
                input type="hidden" name="next" value=(next);
                label { span { (words.user_id) } input name="id" value=(id) autocomplete="username" required autofocus maxlength="100"; }
                label { span { (words.password) } input name="password" type="password" autocomplete="current-password" required maxlength="1024"; }
                button.primary type="submit" { (words.log_in) }
            }
        }
    };
    layout::page(view, words.log_in_title, &content)
}

/// A log-in by the form.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    id: Text<0, ID_MAX>,
    password: Text<0, PASSWORD_MAX>,
    next: Option<String>,
}

/// Logs in and goes on.
pub(crate) async fn log_in(State(app): State<App>, view: View, Form(sent): Form<Sent>) -> Response {
    let next = sent.next.filter(|path| is_ours(path));
    let next = next.unwrap_or_else(|| "/".to_owned());
    let id = sent.id.0;
    let log_in = LogIn {
        id: id.clone(),
        password: sent.password.0,
    };
    match session::begin(&app, &view.caller, log_in).await {
        Ok(begun) => {
            let response = Redirect::to(&next).into_response();
            respond::and(response, header::SET_COOKIE, begun.cookie)
        }
        Err(problem) => {
            let mut response = super::html(page(&view, &next, &id, Some(&problem)));
            *response.status_mut() = problem.status;
            response
        }
    }
}

/// Logs out.
pub(crate) async fn log_out(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(secret) = guard::session(&headers) {
        app.accounts.end_session(secret);
    }
    let response = Redirect::to("/login").into_response();
    respond::and(response, header::SET_COOKIE, session::clear_cookie())
}
