//! Starting and steering crawls.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actions::{self, NewCrawl, SeedsTaken, Started, Steer};
use crate::app::App;
use crate::http::bounded::{Text, Texts};
use crate::http::extract::{Json, Path};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, SchemaOf, schema};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::preview::{self, Preview};
use crate::wrong::Wrong;

const fn order(
    id: &'static str,
    summary: &'static str,
    body: Option<SchemaOf>,
    answer: Answer,
    problems: &'static [u16],
) -> Operation {
    Operation {
        id,
        tag: "steering",
        summary,
        params: &[],
        body,
        answer,
        problems,
    }
}

/// A crawl to be started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewCrawl")]
pub(crate) struct StartBody {
    /// Where to begin; a host alone will do.
    urls: Texts<1, 1000>,
    /// Name of the directory; made of the first host unless given.
    #[serde(default)]
    name: Option<Text<0, 100>>,
    /// Values for keys, as `KEY=VALUE`.
    #[serde(default)]
    settings: Texts<0, 1000>,
    /// A whole geomi.toml.
    #[serde(default)]
    toml: Option<Text<0, 1_000_000>>,
}

pub(crate) const START_NEW: Operation = order(
    "startCrawl",
    "Start a new crawl in a directory of its own.",
    Some(schema::<StartBody>),
    Answer::Created(schema::<Started>),
    &[409],
);

/// Starts a new crawl.
pub(crate) async fn start_new(
    State(app): State<App>,
    caller: Caller,
    Json(body): Json<StartBody>,
) -> Result<Response, Problem> {
    let new = NewCrawl {
        urls: body.urls.0,
        name: body.name.map(|name| name.0),
        settings: body.settings.0,
        toml: body.toml.map(|toml| toml.0),
    };
    let started = actions::start_new(&app, &caller, new).await?;
    let place = format!("/api/v1/crawls/{}", started.id);
    Ok(respond::created(&place, &started))
}

pub(crate) const START: Operation = order(
    "resumeDirectory",
    "Start a crawl at rest again; it goes on where it stopped.",
    None,
    Answer::Fresh(schema::<Started>),
    &[409],
);

/// Starts a crawl at rest.
pub(crate) async fn start(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let started = actions::start_again(&app, &caller, &crawl).await?;
    Ok(respond::plain_json(&started))
}

async fn steer(app: App, caller: Caller, id: String, how: Steer) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::steer(&app, &caller, &crawl, how).await?;
    Ok(respond::done())
}

pub(crate) const PAUSE: Operation = order(
    "pauseCrawl",
    "Start no new request; those under way are finished.",
    None,
    Answer::Done,
    &[409],
);

/// Pauses.
pub(crate) async fn pause(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, caller, id, Steer::Pause).await
}

pub(crate) const RESUME: Operation = order(
    "resumeCrawl",
    "Go on after a pause.",
    None,
    Answer::Done,
    &[409],
);

/// Goes on.
pub(crate) async fn resume(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, caller, id, Steer::Resume).await
}

pub(crate) const STOP: Operation = order(
    "stopCrawl",
    "Finish what is under way, close all files, end.",
    None,
    Answer::Done,
    &[409],
);

/// Stops.
pub(crate) async fn stop(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, caller, id, Steer::Stop).await
}

/// Seeds to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSeeds {
    /// URLs; a host alone will do.
    urls: Texts<1, 100_000>,
}

pub(crate) const ADD_SEEDS: Operation = order(
    "addSeeds",
    "Add seeds to a running crawl.",
    Some(schema::<NewSeeds>),
    Answer::Fresh(schema::<SeedsTaken>),
    &[409],
);

/// Adds seeds.
pub(crate) async fn add_seeds(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(new): Json<NewSeeds>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let added = actions::add_seeds(&app, &caller, &crawl, &new.urls.0).await?;
    Ok(respond::plain_json(&added))
}

/// Settings to change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSettings {
    /// `KEY=VALUE`, or `KEY+=VALUE` to add to a list.
    settings: Texts<1, 1000>,
}

pub(crate) const SET: Operation = order(
    "changeSettings",
    "Change keys of a running crawl: delays, limits, scope, connections.",
    Some(schema::<NewSettings>),
    Answer::Done,
    &[409],
);

/// Changes settings.
pub(crate) async fn set(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(new): Json<NewSettings>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::set(&app, &caller, &crawl, new.settings.0).await?;
    Ok(respond::done())
}

/// Patterns that keep URLs out.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Exclusions {
    /// The patterns in force.
    items: Vec<String>,
}

pub(crate) const EXCLUSIONS: Operation = Operation {
    id: "listExclusions",
    tag: "steering",
    summary: "The patterns that keep URLs out.",
    params: &[],
    body: None,
    answer: Answer::Json(schema::<Exclusions>),
    problems: &[409],
};

/// Lists exclusions.
pub(crate) async fn exclusions(
    State(app): State<App>,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let config = app
        .read(move |app| app.options.settings.of_crawl(crawl.dir.root()))
        .await;
    let config = config.map_err(|errors| Problem::conflict(Wrong::Toml).with_said(errors))?;
    let items = config.engine.scope.exclude;
    Ok(respond::json(&headers, &Exclusions { items }))
}

/// Patterns to add, or to try.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExclusions {
    /// Globs, or regular expressions behind `re:`.
    patterns: Texts<1, 1000>,
    /// Only tell what they would keep out.
    #[serde(default)]
    dry_run: bool,
}

pub(crate) const EXCLUDE: Operation = order(
    "addExclusions",
    "Keep URLs out of a running crawl, or tell which ones it would be.",
    Some(schema::<NewExclusions>),
    Answer::Fresh(schema::<Preview>),
    &[409],
);

/// Adds exclusions, or tries them.
pub(crate) async fn exclude(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    Json(new): Json<NewExclusions>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let preview = preview::preview(&app, crawl.clone(), &new.patterns.0).await?;
    if !new.dry_run {
        actions::exclude(&app, &caller, &crawl, &new.patterns.0).await?;
    }
    Ok(respond::plain_json(&preview))
}
