//! The frame of a crawl's pages: its name, how it stands, what can be done,
//! and the tabs.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};

use super::crawls::badge;
use super::layout::{self, View};
use crate::accounts::Role;
use crate::actions::{self, Steer};
use crate::app::App;
use crate::http::extract::Path;
use crate::http::problem::Problem;
use crate::library::Crawl;

/// The pages of a crawl.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tab {
    Live,
    Queue,
    Sites,
    Log,
    Pages,
    Changes,
    Schedule,
    Report,
    Config,
}

impl Tab {
    const ALL: [Self; 9] = [
        Self::Live,
        Self::Queue,
        Self::Sites,
        Self::Log,
        Self::Pages,
        Self::Changes,
        Self::Schedule,
        Self::Report,
        Self::Config,
    ];

    const fn path(self) -> &'static str {
        match self {
            Self::Live => "",
            Self::Queue => "/queue",
            Self::Sites => "/sites",
            Self::Log => "/log",
            Self::Pages => "/pages",
            Self::Changes => "/changes",
            Self::Schedule => "/schedule",
            Self::Report => "/report",
            Self::Config => "/config",
        }
    }

    fn name(self, view: &View) -> &'static str {
        let words = view.words;
        match self {
            Self::Live => words.live,
            Self::Queue => words.queue,
            Self::Sites => words.sites,
            Self::Log => words.log,
            Self::Pages => words.pages,
            Self::Changes => words.changes,
            Self::Schedule => words.schedule,
            Self::Report => words.report,
            Self::Config => words.config,
        }
    }
}

/// A page of a crawl.
pub(crate) fn page(view: &View, crawl: &Crawl, tab: Tab, content: &Markup) -> Markup {
    let title = format!("{} · {}", crawl.name, tab.name(view));
    layout::page(view, &title, &frame(view, crawl, tab, content))
}

/// The page that follows a stream of events.
pub(crate) fn live_page(view: &View, crawl: &Crawl, stream: &str, content: &Markup) -> Markup {
    let connected = html! {
        div.alert.connection role="alert" hidden {
            p { strong { (view.words.connection_lost) } " " (view.words.last_update) " " time {} " " (view.words.may_be_old) }
        }
        div hx-ext="sse" sse-connect=(stream) { (frame(view, crawl, Tab::Live, content)) }
    };
    layout::page_with_curves(view, &crawl.name, &connected)
}

/// Head, tabs and content.
fn frame(view: &View, crawl: &Crawl, tab: Tab, content: &Markup) -> Markup {
    html! {
        div.page-head {
            div {
                p.eyebrow { a href="/" { (view.words.crawls) } }
                h1.crawl-name { (crawl.name) }
            }
            (steering(view, crawl))
        }
        nav.tabs aria-label=(crawl.name) {
            @for one in Tab::ALL {
                a href={ "/crawls/" (crawl.id) (one.path()) } aria-current=[(one == tab).then_some("page")] { (one.name(view)) }
            }
        }
        (content)
    }
}

/// How it stands and the buttons that fit; the style sheet shows those that do
/// as the badge is swapped.
fn steering(view: &View, crawl: &Crawl) -> Markup {
    let words = view.words;
    let button = |name: &str, text: &str, class: &str| {
        html! {
            form class={ "when-" (name) } method="post" action={ "/crawls/" (crawl.id) "/" (name) } {
                (view.csrf())
                button class=(class) type="submit" data-confirm=[(name == "stop").then_some(words.confirm_stop)] { (text) }
            }
        }
    };
    html! {
        div.steering {
            span.state-slot sse-swap="state" aria-live="polite" { (badge(crawl.state(), words)) }
            @if view.may(Role::Operator) {
                (button("pause", words.pause, ""))
                (button("resume", words.resume, "primary"))
                (button("stop", words.stop, "danger"))
                (button("start", words.start_again, "primary"))
            }
        }
    }
}

/// Carries an order out and shows the crawl.
async fn steer(app: App, view: View, id: String, how: Steer) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::steer(&app, &view.caller, &crawl, how).await?;
    Ok(back(&crawl.id))
}

fn back(id: &str) -> Response {
    Redirect::to(&format!("/crawls/{id}")).into_response()
}

/// Pauses.
pub(crate) async fn pause(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, view, id, Steer::Pause).await
}

/// Goes on.
pub(crate) async fn resume(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, view, id, Steer::Resume).await
}

/// Stops.
pub(crate) async fn stop(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    steer(app, view, id, Steer::Stop).await
}

/// Starts a crawl at rest again.
pub(crate) async fn start(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::start_again(&app, &view.caller, &crawl).await?;
    let to = format!("/crawls/{}?started=again", crawl.id);
    Ok(Redirect::to(&to).into_response())
}
