//! API tokens.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::{NAME, about, is_name, refused};
use crate::accounts::store::Token;
use crate::accounts::{Principal, Proof, Refusal, Role};
use crate::actions::note;
use crate::app::App;
use crate::http::bounded::Text;
use crate::http::extract::{Json, Path};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::wrong::Wrong;

/// A token, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TokenView {
    /// Number.
    no: u32,
    /// Number of its user.
    user: u32,
    /// What it is for.
    name: String,
    /// What may be done with it.
    scope: Role,
    /// When it was made.
    date: String,
}

impl From<Token> for TokenView {
    fn from(token: Token) -> Self {
        Self {
            no: token.no,
            user: token.user,
            name: token.name,
            scope: token.scope,
            date: token.date,
        }
    }
}

/// The tokens somebody may see.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    items: Vec<TokenView>,
}

pub(crate) const LIST_TOKENS: Operation = about(
    "listTokens",
    "Your API tokens; for admins, those of everybody.",
    None,
    Answer::Json(schema::<Tokens>),
    &[],
);

/// The tokens this caller may see.
pub(crate) fn visible_tokens(app: &App, known: &Principal) -> Vec<Token> {
    let of = (known.role < Role::Admin).then_some(known.user);
    app.accounts.tokens(of)
}

/// Lists tokens.
pub(crate) async fn list_tokens(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
) -> Response {
    let tokens = visible_tokens(&app, caller.known()).into_iter();
    let items = tokens.map(TokenView::from).collect();
    respond::json(&headers, &Tokens { items })
}

/// A token to be made.
#[derive(Debug)]
pub(crate) struct MakeToken {
    /// What it is for.
    pub(crate) name: String,
    /// What may be done with it.
    pub(crate) scope: Role,
}

/// A token to be made, as it is sent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MakeToken")]
pub(crate) struct TokenBody {
    /// What it is for.
    name: Text<1, 100>,
    /// What may be done with it.
    scope: Role,
}

/// A token with its secret, which is told this once.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NewToken {
    #[serde(flatten)]
    token: TokenView,
    /// Send it as `Authorization: Bearer`.
    pub(crate) secret: String,
}

pub(crate) const ADD_TOKEN: Operation = about(
    "addToken",
    "Make an API token of your own, with the session of a log-in; its secret is told this once. A user has at most 20.",
    Some(schema::<TokenBody>),
    Answer::Created(schema::<NewToken>),
    &[409],
);

/// Makes a token.
pub(crate) async fn add_token(
    State(app): State<App>,
    caller: Caller,
    Json(body): Json<TokenBody>,
) -> Result<Response, Problem> {
    let make = MakeToken {
        name: body.name.0,
        scope: body.scope,
    };
    let token = make_token(&app, &caller, make).await?;
    let place = format!("/api/v1/tokens/{}", token.token.no);
    Ok(respond::created(&place, &token))
}

/// Makes a token, for the API and the page.
pub(crate) async fn make_token(
    app: &App,
    caller: &Caller,
    make: MakeToken,
) -> Result<NewToken, Problem> {
    let known = caller.known();
    if !is_name(&make.name) {
        return Err(Problem::conflict(NAME));
    }
    if matches!(known.by, Proof::Token(_)) {
        return Err(Problem::forbidden(Wrong::TokenByToken));
    }
    if make.scope > known.role {
        return Err(Problem::forbidden(Wrong::StrongToken));
    }
    let known = known.clone();
    let made = app
        .read(move |app| {
            app.accounts
                .add_token(&known, make.name, make.scope, app.now())
        })
        .await?;
    let (token, secret) = made.map_err(refused)?;
    note(
        app,
        caller,
        "add-token",
        &format!("{} ({})", token.name, token.scope.as_str()),
    );
    Ok(NewToken {
        token: token.into(),
        secret,
    })
}

pub(crate) const REMOVE_TOKEN: Operation = about(
    "removeToken",
    "Remove an API token; it works no longer.",
    None,
    Answer::Done,
    &[409],
);

/// Removes a token.
pub(crate) async fn remove_token(
    State(app): State<App>,
    caller: Caller,
    Path(no): Path<u32>,
) -> Result<Response, Problem> {
    drop_token(&app, &caller, no).await?;
    Ok(respond::done())
}

/// Removes a token, for the API and the page.
pub(crate) async fn drop_token(app: &App, caller: &Caller, no: u32) -> Result<(), Problem> {
    if caller.known().by == Proof::Token(no) {
        return Err(Problem::conflict(Wrong::OwnToken));
    }
    let visible = visible_tokens(app, caller.known());
    let Some(token) = visible.into_iter().find(|token| token.no == no) else {
        return Err(refused(Refusal::Unknown));
    };
    let removed = app.read(move |app| app.accounts.remove_token(no)).await?;
    removed.map_err(refused)?;
    note(app, caller, "remove-token", &token.name);
    Ok(())
}
