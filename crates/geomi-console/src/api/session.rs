//! Logging in and out. The page of the log-in comes here too.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use geomi_model::Timestamp;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::accounts::Role;
use crate::accounts::audit::Entry;
use crate::accounts::limiter::Attempt;
use crate::accounts::sessions::ABSOLUTE;
use crate::accounts::store::User;
use crate::app::App;
use crate::http::bounded::Text;
use crate::http::extract::Json;
use crate::http::guard::{self, COOKIE, Caller};
use crate::http::operation::{Answer, Operation, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::wrong::Wrong;

/// Who is logged in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionView {
    /// What the user logs in with.
    id: String,
    /// Name for people.
    name: String,
    /// What may be done.
    role: Role,
    /// Word to send as `X-CSRF-Token` with what changes something; null with an
    /// API token, which needs none.
    csrf: Option<String>,
}

pub(crate) const GET: Operation = Operation {
    id: "getSession",
    tag: "session",
    summary: "Who is logged in.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<SessionView>),
    problems: &[],
};

/// Tells who is logged in.
pub(crate) async fn get(caller: Caller, headers: HeaderMap) -> Response {
    let known = caller.known();
    let view = SessionView {
        id: known.id.clone(),
        name: known.name.clone(),
        role: known.role,
        csrf: Some(caller.csrf().to_owned()).filter(|word| !word.is_empty()),
    };
    respond::json(&headers, &view)
}

/// The longest id and password of a log-in, in characters.
pub(crate) const ID_MAX: usize = 100;
pub(crate) const PASSWORD_MAX: usize = 1024;

/// A log-in.
#[derive(Debug)]
pub(crate) struct LogIn {
    /// The user.
    pub(crate) id: String,
    /// The password.
    pub(crate) password: String,
}

/// A log-in as it is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogIn")]
pub(crate) struct LogInBody {
    /// The user.
    id: Text<1, ID_MAX>,
    /// The password.
    password: Text<0, PASSWORD_MAX>,
}

pub(crate) const LOG_IN: Operation = Operation {
    id: "logIn",
    tag: "session",
    summary: "Log in: sets the cookie of a session.",
    params: &[],
    body: Some(schema::<LogInBody>),
    answer: Answer::Created(schema::<SessionView>),
    problems: &[401, 429],
};

/// Logs in.
pub(crate) async fn log_in(
    State(app): State<App>,
    caller: Caller,
    Json(sent): Json<LogInBody>,
) -> Result<Response, Problem> {
    let sent = LogIn {
        id: sent.id.0,
        password: sent.password.0,
    };
    let begun = begin(&app, &caller, sent).await?;
    let view = SessionView {
        id: begun.id,
        name: begun.name,
        role: begun.role,
        csrf: Some(begun.csrf),
    };
    let made = respond::created("/api/v1/session", &view);
    Ok(respond::and(made, header::SET_COOKIE, begun.cookie))
}

/// A session that was begun.
pub(crate) struct Begun {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) csrf: String,
    pub(crate) cookie: HeaderValue,
}

/// Begins a session for whoever knows the password. Attempts are counted, and
/// too many of them have to wait.
pub(crate) async fn begin(app: &App, caller: &Caller, sent: LogIn) -> Result<Begun, Problem> {
    let now = app.now();
    let attempt = app.accounts.begin_log_in(&sent.id, caller.address, now);
    let attempt = attempt.map_err(|wait| {
        app.accounts.limiter.note_refused();
        too_many(wait)
    })?;
    let from = caller.address;
    let found = app
        .hash(move |app| check(app, &sent, attempt, from, now))
        .await;
    let user = found.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, Wrong::LogIn))?;
    session_for(app, caller, user, now)
}

/// The user whose id and password these are. Blocks. All of it happens also
/// when the client has gone away meanwhile.
fn check(app: &App, sent: &LogIn, attempt: Attempt, from: IpAddr, now: Timestamp) -> Option<User> {
    let user = app.accounts.user_by_id(&sent.id);
    let kept = user.as_ref().map(|user| &*user.pw);
    let is_right = app.accounts.hasher.is_right(&sent.password, kept);
    let entry = Entry::new(now, &sent.id, &from.to_string(), "log-in", "");
    let Some(user) = user.filter(|_| is_right) else {
        if app.accounts.limiter.note_failure(now) {
            app.accounts.audit.write(&entry.refused());
        }
        return None;
    };
    attempt.succeeded();
    // The log-in itself needs nothing of the disk.
    if let Err(error) = app.accounts.remember_network(&user, from, now) {
        tracing::error!(%error, "the network of a log-in cannot be remembered");
    }
    app.accounts.audit.write(&entry);
    Some(user)
}

/// A new session of a user whose password was checked.
pub(crate) fn session_for(
    app: &App,
    caller: &Caller,
    user: User,
    now: Timestamp,
) -> Result<Begun, Problem> {
    let begun = app.accounts.begin_session(&user, now);
    let (secret, csrf) =
        begun.ok_or_else(|| Problem::new(StatusCode::UNAUTHORIZED, Wrong::LogIn))?;
    Ok(Begun {
        id: user.id,
        name: user.name,
        role: user.role,
        csrf,
        cookie: set_cookie(&secret, caller.is_secure),
    })
}

fn too_many(wait: Duration) -> Problem {
    let seconds = wait.as_secs().max(1);
    let minutes = seconds.div_ceil(60);
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        Wrong::TooManyLogIns { minutes },
    )
    .with(header::RETRY_AFTER, HeaderValue::from(seconds))
}

fn set_cookie(secret: &str, is_secure: bool) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let age = ABSOLUTE.as_secs();
    let text =
        format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
    HeaderValue::from_str(&text).expect("a secret is plain text")
}

/// A cookie that takes the session away.
pub(crate) fn clear_cookie() -> HeaderValue {
    const GONE: &str = "geomi_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";
    debug_assert!(GONE.starts_with(COOKIE), "it is the same cookie");
    HeaderValue::from_static(GONE)
}

pub(crate) const LOG_OUT: Operation = Operation {
    id: "logOut",
    tag: "session",
    summary: "End the session.",
    params: &[],
    body: None,
    answer: Answer::Done,
    problems: &[],
};

/// Logs out.
pub(crate) async fn log_out(State(app): State<App>, headers: HeaderMap) -> Response {
    if let Some(secret) = guard::session(&headers) {
        app.accounts.end_session(secret);
    }
    respond::and(respond::done(), header::SET_COOKIE, clear_cookie())
}
