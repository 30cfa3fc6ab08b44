//! The first admin, by the link the first start prints.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header;
use maud::{Markup, html};
use serde::Deserialize;

use super::layout::{self, View};
use crate::accounts::{Refusal, Role};
use crate::actions::note;
use crate::api::accounts::{MakeUser, prepare, refused};
use crate::api::session::session_for;
use crate::app::App;
use crate::http::extract::{Form, Query};
use crate::http::problem::Problem;
use crate::http::respond;

/// The secret of the link.
#[derive(Debug, Deserialize)]
pub(crate) struct Link {
    token: String,
}

/// Shows the form to whoever has the link.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Query(link): Query<Link>,
) -> Result<Response, Problem> {
    if !app.accounts.is_first_secret(&link.token) {
        return Err(refused(Refusal::LinkUsed));
    }
    Ok(super::html(page(&view, &link.token, None)))
}

fn page(view: &View, token: &str, problem: Option<&Problem>) -> Markup {
    let words = view.words;
    let content = html! {
        section.card.narrow.login {
            h1 { (words.first_title) }
            p.lead { (words.first_lead) }
            @if let Some(problem) = problem { (layout::alert_of(words, problem)) }
            form.stack method="post" action="/first" {
                input type="hidden" name="token" value=(token);
                label { span { (words.your_name) } input name="name" autocomplete="name" maxlength="100"; }
                label { span { (words.user_id) } input name="id" autocomplete="username" required maxlength="100"; }
                label {
                    span { (words.password) }
                    input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="1024" aria-describedby="rule";
                    small #rule { (words.password_rule) }
                }
                button.primary type="submit" { (words.make_admin) }
            }
        }
    };
    layout::page(view, words.first_title, &content)
}

/// What was filled in.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    token: String,
    id: String,
    name: Option<String>,
    password: String,
}

/// Makes the first admin and logs in.
pub(crate) async fn make(
    State(app): State<App>,
    view: View,
    Form(sent): Form<Sent>,
) -> Result<Response, Problem> {
    // Hashing is dear: only for who has the link.
    if !app.accounts.is_first_secret(&sent.token) {
        return Err(refused(Refusal::LinkUsed));
    }
    let user = MakeUser {
        id: sent.id.trim().to_owned(),
        name: sent.name.map(|name| name.trim().to_owned()),
        password: sent.password,
        role: Role::Admin,
    };
    let new = match prepare(&app, user).await {
        Ok(new) => new,
        Err(problem) => {
            let mut response = super::html(page(&view, &sent.token, Some(&problem)));
            *response.status_mut() = problem.status;
            return Ok(response);
        }
    };
    let token = sent.token;
    let made = app
        .read(move |app| app.accounts.make_first(&token, new, app.now()))
        .await?;
    let user = made.map_err(refused)?;
    note(&app, &view.caller, "first-admin", &user.id);
    let begun = session_for(&app, &view.caller, user, app.now())?;
    let response = Redirect::to("/").into_response();
    Ok(respond::and(response, header::SET_COOKIE, begun.cookie))
}
