//! Users and the audit log.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::limit;
use crate::accounts::audit::{Entry, Place};
use crate::accounts::store::{NewUser, TOKENS_MAX, User, UserChange};
use crate::accounts::{Refusal, Role, password};
use crate::actions::note;
use crate::app::App;
use crate::http::bounded::Text;
use crate::http::extract::{Json, Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, SchemaOf, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::wrong::Wrong;

/// The longest id and name.
const NAME_MAX: usize = 100;

pub(super) const fn about(
    id: &'static str,
    summary: &'static str,
    body: Option<SchemaOf>,
    answer: Answer,
    problems: &'static [u16],
) -> Operation {
    Operation {
        id,
        tag: "accounts",
        summary,
        params: &[],
        body,
        answer,
        problems,
    }
}

/// A user, without the hash of the password.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UserView {
    /// Number.
    no: u32,
    /// Name for people.
    name: String,
    /// What the user logs in with.
    id: String,
    /// When it was made.
    date: String,
    /// What the user may do.
    role: Role,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            no: user.no,
            name: user.name,
            id: user.id,
            date: user.date,
            role: user.role,
        }
    }
}

/// All users.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Users {
    items: Vec<UserView>,
}

pub(crate) const LIST_USERS: Operation = about(
    "listUsers",
    "All users.",
    None,
    Answer::Json(schema::<Users>),
    &[],
);

/// Lists users.
pub(crate) async fn list_users(State(app): State<App>, headers: HeaderMap) -> Response {
    let users = app.accounts.users().into_iter();
    let items = users.map(UserView::from).collect();
    respond::json(&headers, &Users { items })
}

/// A user to be made.
#[derive(Debug)]
pub(crate) struct MakeUser {
    /// What the user logs in with.
    pub(crate) id: String,
    /// Name for people; the id unless given.
    pub(crate) name: Option<String>,
    /// At least ten characters.
    pub(crate) password: String,
    /// What the user may do.
    pub(crate) role: Role,
}

/// A user to be made, as it is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MakeUser")]
pub(crate) struct UserBody {
    /// What the user logs in with.
    id: Text<1, 100>,
    /// Name for people; the id unless given.
    #[serde(default)]
    name: Option<Text<0, 100>>,
    /// At least ten characters.
    password: Text<10, 1024>,
    /// What the user may do.
    role: Role,
}

/// What is wrong with a name that is none.
pub(super) const NAME: Wrong = Wrong::Name { max: NAME_MAX };

/// Whether a text can be an id or a name.
pub(super) fn is_name(text: &str) -> bool {
    let len = text.chars().count();
    let is_plain = !text.chars().any(char::is_control) && text.trim() == text;
    (1..=NAME_MAX).contains(&len) && is_plain
}

/// A new user with the password hashed, or everything that is wrong with it.
pub(crate) async fn prepare(app: &App, make: MakeUser) -> Result<NewUser, Problem> {
    let name = make
        .name
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| make.id.clone());
    let mut faults = Vec::new();
    faults.extend((!is_name(&make.id)).then_some(Wrong::UserId { max: NAME_MAX }));
    faults.extend((!is_name(&name)).then_some(NAME));
    faults.extend(password::fault(&make.password));
    if !faults.is_empty() {
        return Err(Problem::conflict(Wrong::CannotMakeUser).with_errors(faults));
    }
    let password = make.password;
    let pw = app
        .hash(move |app| app.accounts.hasher.hash(&password))
        .await;
    Ok(NewUser {
        name,
        id: make.id,
        pw,
        role: make.role,
    })
}

/// A refusal as a problem.
pub(crate) fn refused(refusal: Refusal) -> Problem {
    match refusal {
        Refusal::Unknown => Problem::not_found(Wrong::NoAccount),
        Refusal::Taken => Problem::conflict(Wrong::Taken),
        Refusal::LastAdmin => Problem::conflict(Wrong::LastAdmin),
        Refusal::LinkUsed => Problem::forbidden(Wrong::LinkUsed),
        Refusal::TooManyTokens => Problem::conflict(Wrong::TooManyTokens { max: TOKENS_MAX }),
    }
}

pub(crate) const ADD_USER: Operation = about(
    "addUser",
    "Make a user.",
    Some(schema::<UserBody>),
    Answer::Created(schema::<UserView>),
    &[409],
);

/// Makes a user.
pub(crate) async fn add_user(
    State(app): State<App>,
    caller: Caller,
    Json(body): Json<UserBody>,
) -> Result<Response, Problem> {
    let make = MakeUser {
        id: body.id.0,
        name: body.name.map(|name| name.0),
        password: body.password.0,
        role: body.role,
    };
    let user = make_user(&app, &caller, make).await?;
    let place = format!("/api/v1/users/{}", user.no);
    Ok(respond::created(&place, &UserView::from(user)))
}

/// Makes a user, for the API and the page.
pub(crate) async fn make_user(app: &App, caller: &Caller, make: MakeUser) -> Result<User, Problem> {
    let new = prepare(app, make).await?;
    let made = app
        .read(move |app| app.accounts.add_user(new, app.now()))
        .await?;
    let user = made.map_err(refused)?;
    note(
        app,
        caller,
        "add-user",
        &format!("{} ({})", user.id, user.role.as_str()),
    );
    Ok(user)
}

/// What to change about a user.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeUser {
    /// Another name.
    #[serde(default)]
    pub(crate) name: Option<Text<1, 100>>,
    /// Another password.
    #[serde(default)]
    pub(crate) password: Option<Text<10, 1024>>,
    /// Another role.
    #[serde(default)]
    pub(crate) role: Option<Role>,
}

pub(crate) const CHANGE_USER: Operation = about(
    "changeUser",
    "Change a user's name, password or role; the user's sessions end, and with another password the API tokens too.",
    Some(schema::<ChangeUser>),
    Answer::Fresh(schema::<UserView>),
    &[409],
);

/// Changes a user.
pub(crate) async fn change_user(
    State(app): State<App>,
    caller: Caller,
    Path(no): Path<u32>,
    Json(change): Json<ChangeUser>,
) -> Result<Response, Problem> {
    let name = change.name.map(|name| name.0);
    if name.as_deref().is_some_and(|name| !is_name(name)) {
        return Err(Problem::conflict(NAME));
    }
    if no == caller.known().user && change.role.is_some_and(|role| role != Role::Admin) {
        return Err(Problem::conflict(Wrong::OwnRole));
    }
    let changed = app
        .hash(move |app| {
            let change = UserChange {
                name,
                pw: change
                    .password
                    .map(|password| app.accounts.hasher.hash(&password.0)),
                role: change.role,
            };
            app.accounts.change_user(no, change)
        })
        .await?;
    let user = changed.map_err(refused)?;
    note(&app, &caller, "change-user", &user.id);
    Ok(respond::plain_json(&UserView::from(user)))
}

pub(crate) const REMOVE_USER: Operation = about(
    "removeUser",
    "Remove a user with all tokens.",
    None,
    Answer::Done,
    &[409],
);

/// Removes a user.
pub(crate) async fn remove_user(
    State(app): State<App>,
    caller: Caller,
    Path(no): Path<u32>,
) -> Result<Response, Problem> {
    drop_user(&app, &caller, no).await?;
    Ok(respond::done())
}

/// Removes a user, for the API and the page.
pub(crate) async fn drop_user(app: &App, caller: &Caller, no: u32) -> Result<(), Problem> {
    if no == caller.known().user {
        return Err(Problem::conflict(Wrong::OwnUser));
    }
    let users = app.accounts.users();
    let id = users
        .into_iter()
        .find(|user| user.no == no)
        .map(|user| user.id);
    let removed = app.read(move |app| app.accounts.remove_user(no)).await?;
    removed.map_err(refused)?;
    note(app, caller, "remove-user", &id.unwrap_or_default());
    Ok(())
}

/// A page of the audit log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditPage {
    /// What was done, the latest first.
    items: Vec<Entry>,
    /// Send this as `before` for older entries; null at the beginning of the log.
    next: Option<String>,
}

/// How much of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditQuery {
    before: Option<String>,
    limit: Option<u64>,
}

pub(crate) const AUDIT: Operation = Operation {
    id: "listAudit",
    tag: "accounts",
    summary: "Who did what, the latest first.",
    params: &[
        text(
            "before",
            40,
            "Entries older than this place: what `next` said",
        ),
        number("limit", 1, 1000, "How many, 100 unless given"),
    ],
    body: None,
    answer: Answer::Json(schema::<AuditPage>),
    problems: &[404],
};

/// Gives the audit log.
pub(crate) async fn audit(
    State(app): State<App>,
    headers: HeaderMap,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Problem> {
    let limit = limit(query.limit, 100, 1_000)?;
    let from = query.before.as_deref().map(audit_place).transpose()?;
    let page = app
        .read(move |app| app.accounts.audit.page(from, limit))
        .await?;
    let page = AuditPage {
        items: page.entries,
        next: page.older.map(|place| place.to_string()),
    };
    Ok(respond::json(&headers, &page))
}

/// A place in the audit log, as `next` named it.
pub(crate) fn audit_place(text: &str) -> Result<Place, Problem> {
    Place::parse(text).ok_or_else(|| Problem::not_found(Wrong::Place { name: "before" }))
}
