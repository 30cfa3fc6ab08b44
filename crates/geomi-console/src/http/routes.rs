//! **The table of all routes.** Who may do what is decided here and nowhere
//! else; the router, the document of the API and the test that walks every
//! route by role are made of it.

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, delete, get, patch, post};
use http::{StatusCode, header};

use super::assets;
use super::guard::{Gate, caller, guard};
use super::headers;
use super::host;
use super::operation::Operation;
use super::problem::Problem;
use crate::accounts::Role::{self, Admin, Operator, Viewer};
use crate::api::{
    accounts, captures, changes, crawls, files, freshness, health, log, pages, report, schedule,
    session, sites, steering, tokens,
};
use crate::app::App;
use crate::metrics;
use crate::pages as page;
use crate::pages::layout::View;
use crate::wrong::Wrong;

/// Methods we answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    /// As the document of the API writes it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// What a route needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Needs {
    /// Nothing: anybody may.
    Nothing,
    /// Somebody with this role or more.
    Role(Role),
    /// The same, or somebody on this machine.
    RoleOrLoopback(Role),
}

/// Who a route is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// People: problems are pages, nobody is sent to the log-in.
    Page,
    /// Programs.
    Api,
}

/// One route.
pub(crate) struct Route {
    pub(crate) verb: Verb,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    pub(crate) kind: Kind,
    handler: fn() -> MethodRouter<App>,
    pub(crate) operation: Option<Operation>,
}

type Handler = fn() -> MethodRouter<App>;

const fn page(verb: Verb, path: &'static str, role: Role, handler: Handler) -> Route {
    Route {
        verb,
        path,
        needs: Needs::Role(role),
        kind: Kind::Page,
        handler,
        operation: None,
    }
}

const fn open(verb: Verb, path: &'static str, kind: Kind, handler: Handler) -> Route {
    Route {
        verb,
        path,
        needs: Needs::Nothing,
        kind,
        handler,
        operation: None,
    }
}

const fn api(
    verb: Verb,
    path: &'static str,
    role: Role,
    handler: Handler,
    operation: Operation,
) -> Route {
    Route {
        verb,
        path,
        needs: Needs::Role(role),
        kind: Kind::Api,
        handler,
        operation: Some(operation),
    }
}

use Verb::{Delete, Get, Patch, Post};

/// All of them.
#[rustfmt::skip]
pub(crate) const ROUTES: &[Route] = &[
    // Without log-in: health, the log-in itself, the files it needs.
    open(Get,  "/healthz",                Kind::Api,  || get(health::healthz)),
    open(Get,  "/readyz",                 Kind::Api,  || get(health::readyz)),
    Route { needs: Needs::RoleOrLoopback(Viewer), ..open(Get, "/metrics", Kind::Api, || get(metrics::get)) },
    open(Get,  "/assets/{version}/{name}", Kind::Api, || get(assets::get)),
    open(Get,  "/login",                  Kind::Page, || get(page::login::show)),
    open(Post, "/login",                  Kind::Page, || post(page::login::log_in)),
    open(Get,  "/first",                  Kind::Page, || get(page::first::show)),
    open(Post, "/first",                  Kind::Page, || post(page::first::make)),
    open(Post, "/preferences",            Kind::Page, || post(page::preferences::choose)),
    Route { needs: Needs::Nothing, ..api(Post, "/api/v1/session", Viewer, || post(session::log_in), session::LOG_IN) },

    // Pages.
    page(Post, "/logout",                        Viewer,   || post(page::login::log_out)),
    page(Get,  "/",                              Viewer,   || get(page::crawls::list)),
    page(Post, "/crawls",                        Operator, || post(page::crawls::start_new)),
    page(Get,  "/crawls/{id}",                   Viewer,   || get(page::live::show)),
    page(Get,  "/crawls/{id}/events",            Viewer,   || get(page::live::events)),
    page(Get,  "/crawls/{id}/queue",             Viewer,   || get(page::queue::show)),
    page(Get,  "/crawls/{id}/sites",             Viewer,   || get(page::sites::show)),
    page(Get,  "/crawls/{id}/log",               Viewer,   || get(page::log::show)),
    page(Get,  "/crawls/{id}/pages",             Viewer,   || get(page::stored::show)),
    page(Get,  "/crawls/{id}/captures",          Viewer,   || get(page::captures::show)),
    page(Get,  "/crawls/{id}/changes",           Viewer,   || get(page::changes::show)),
    page(Get,  "/crawls/{id}/schedule",          Viewer,   || get(page::schedule::show)),
    page(Get,  "/crawls/{id}/report",            Viewer,   || get(page::report::show)),
    page(Get,  "/crawls/{id}/config",            Viewer,   || get(page::config::show)),
    page(Post, "/crawls/{id}/start",             Operator, || post(page::crawl::start)),
    page(Post, "/crawls/{id}/pause",             Operator, || post(page::crawl::pause)),
    page(Post, "/crawls/{id}/resume",            Operator, || post(page::crawl::resume)),
    page(Post, "/crawls/{id}/stop",              Operator, || post(page::crawl::stop)),
    page(Post, "/crawls/{id}/seeds",             Operator, || post(page::queue::add_seeds)),
    page(Post, "/crawls/{id}/exclusions",        Operator, || post(page::queue::exclude)),
    page(Post, "/crawls/{id}/sites",             Operator, || post(page::sites::change)),
    page(Post, "/crawls/{id}/schedule",          Operator, || post(page::schedule::paint)),
    page(Post, "/crawls/{id}/schedule/plan",     Operator, || post(page::schedule::plan)),
    page(Post, "/crawls/{id}/schedule/follow",   Operator, || post(page::schedule::follow)),
    page(Post, "/crawls/{id}/settings",          Operator, || post(page::config::change)),
    page(Get,  "/workers",                       Viewer,   || get(page::workers::show)),
    page(Get,  "/settings",                      Viewer,   || get(page::settings::show)),
    page(Post, "/settings/tokens",               Viewer,   || post(page::settings::add_token)),
    page(Post, "/settings/tokens/{no}/remove",   Viewer,   || post(page::settings::remove_token)),
    page(Post, "/settings/users",                Admin,    || post(page::settings::add_user)),
    page(Post, "/settings/users/{no}/remove",    Admin,    || post(page::settings::remove_user)),

    // The API.
    Route { kind: Kind::Api, ..page(Get, "/openapi.json", Viewer, || get(health::document)) },
    api(Get,    "/api/v1/session",                     Viewer,   || get(session::get),          session::GET),
    api(Delete, "/api/v1/session",                     Viewer,   || delete(session::log_out),   session::LOG_OUT),
    api(Get,    "/api/v1/crawls",                      Viewer,   || get(crawls::list),          crawls::LIST),
    api(Post,   "/api/v1/crawls",                      Operator, || post(steering::start_new),  steering::START_NEW),
    api(Get,    "/api/v1/crawls/{id}",                 Viewer,   || get(crawls::get),           crawls::GET),
    api(Post,   "/api/v1/crawls/{id}/start",           Operator, || post(steering::start),      steering::START),
    api(Post,   "/api/v1/crawls/{id}/pause",           Operator, || post(steering::pause),      steering::PAUSE),
    api(Post,   "/api/v1/crawls/{id}/resume",          Operator, || post(steering::resume),     steering::RESUME),
    api(Post,   "/api/v1/crawls/{id}/stop",            Operator, || post(steering::stop),       steering::STOP),
    api(Post,   "/api/v1/crawls/{id}/seeds",           Operator, || post(steering::add_seeds),  steering::ADD_SEEDS),
    api(Get,    "/api/v1/crawls/{id}/config",          Viewer,   || get(crawls::config),        crawls::CONFIG),
    api(Patch,  "/api/v1/crawls/{id}/config",          Operator, || patch(steering::set),       steering::SET),
    api(Get,    "/api/v1/crawls/{id}/exclusions",      Viewer,   || get(steering::exclusions),  steering::EXCLUSIONS),
    api(Post,   "/api/v1/crawls/{id}/exclusions",      Operator, || post(steering::exclude),    steering::EXCLUDE),
    api(Get,    "/api/v1/crawls/{id}/stats",           Viewer,   || get(crawls::stats),         crawls::STATS),
    api(Get,    "/api/v1/crawls/{id}/report",          Viewer,   || get(report::get),           report::GET),
    api(Get,    "/api/v1/crawls/{id}/changes",         Viewer,   || get(changes::get),          changes::GET),
    api(Get,    "/api/v1/crawls/{id}/freshness",       Viewer,   || get(freshness::get),        freshness::GET),
    api(Get,    "/api/v1/crawls/{id}/schedule",        Viewer,   || get(schedule::get),         schedule::GET),
    api(Patch,  "/api/v1/crawls/{id}/schedule",        Operator, || patch(schedule::paint),     schedule::PAINT),
    api(Post,   "/api/v1/crawls/{id}/schedule",        Operator, || post(schedule::plan),       schedule::PLAN),
    api(Get,    "/api/v1/crawls/{id}/schedule/urls",   Viewer,   || get(schedule::urls),        schedule::URLS_OF),
    api(Post,   "/api/v1/crawls/{id}/schedule/follow", Operator, || post(schedule::follow),     schedule::FOLLOW),
    api(Get,    "/api/v1/crawls/{id}/sites",           Viewer,   || get(sites::list),           sites::LIST),
    api(Get,    "/api/v1/crawls/{id}/queue",           Viewer,   || get(sites::queue),          sites::QUEUE),
    api(Get,    "/api/v1/crawls/{id}/pages",           Viewer,   || get(pages::list),           pages::LIST),
    api(Get,    "/api/v1/crawls/{id}/captures",        Viewer,   || get(captures::list),        captures::LIST),
    api(Get,    "/api/v1/crawls/{id}/captures/text",   Viewer,   || get(captures::text),        captures::TEXT),
    api(Get,    "/api/v1/crawls/{id}/captures/body",   Viewer,   || get(captures::body),        captures::BODY),
    api(Get,    "/api/v1/crawls/{id}/captures/diff",   Viewer,   || get(captures::diff),        captures::DIFF),
    api(Get,    "/api/v1/crawls/{id}/log",             Viewer,   || get(log::list),             log::LIST),
    api(Get,    "/api/v1/crawls/{id}/events",          Viewer,   || get(log::events),           log::EVENTS),
    api(Get,    "/api/v1/crawls/{id}/files",           Viewer,   || get(files::list),           files::LIST),
    api(Get,    "/api/v1/crawls/{id}/files/{*path}",   Viewer,   || get(files::get),            files::GET),
    api(Get,    "/api/v1/workers",                     Viewer,   || get(crawls::workers),       crawls::WORKERS),
    api(Get,    "/api/v1/users",                       Admin,    || get(accounts::list_users),  accounts::LIST_USERS),
    api(Post,   "/api/v1/users",                       Admin,    || post(accounts::add_user),   accounts::ADD_USER),
    api(Patch,  "/api/v1/users/{no}",                  Admin,    || patch(accounts::change_user), accounts::CHANGE_USER),
    api(Delete, "/api/v1/users/{no}",                  Admin,    || delete(accounts::remove_user), accounts::REMOVE_USER),
    api(Get,    "/api/v1/tokens",                      Viewer,   || get(tokens::list_tokens), tokens::LIST_TOKENS),
    api(Post,   "/api/v1/tokens",                      Viewer,   || post(tokens::add_token),  tokens::ADD_TOKEN),
    api(Delete, "/api/v1/tokens/{no}",                 Viewer,   || delete(tokens::remove_token), tokens::REMOVE_TOKEN),
    api(Get,    "/api/v1/audit",                       Admin,    || get(accounts::audit),       accounts::AUDIT),
];

/// The router.
pub(crate) fn router(app: App) -> Router {
    let mut router: Router<App> = Router::new();
    for route in ROUTES {
        let gate = Gate {
            app: app.clone(),
            needs: route.needs,
            kind: route.kind,
        };
        let handler = (route.handler)().route_layer(from_fn_with_state(gate, guard));
        router = router.route(route.path, handler);
    }
    router
        .fallback(nowhere)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn_with_state(app.clone(), host::check))
        .layer(from_fn_with_state(app.clone(), headers::add))
        .with_state(app)
}

/// Nothing is there; told in the form the asker reads.
async fn nowhere(State(app): State<App>, request: Request) -> Response {
    let problem = Problem::not_found(Wrong::NothingHere);
    let (parts, _) = request.into_parts();
    let accepts = parts.headers.get(header::ACCEPT);
    let is_person = accepts.is_some_and(|kinds| kinds.as_bytes().starts_with(b"text/html"));
    if !is_person {
        return problem.into_response();
    }
    let view = View::new(caller(&app, &parts), &parts.headers, &parts.uri);
    page::problem::page(&problem, &view)
}

async fn no_method() -> Problem {
    let said = "this address does not take that method: see Allow";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Wrong::Said(said.to_owned()))
}
