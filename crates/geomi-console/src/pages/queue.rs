//! The queue: what waits, for what, and what to do about it.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use geomi_engine::explain::{Cause, CrawlView, Explanation};
use geomi_model::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::{View, alert_of, empty};
use super::{empty_as_none, format, lines};
use crate::accounts::Role;
use crate::actions::{self, SeedsTaken};
use crate::api::sites::{QueueQuery, explain};
use crate::app::App;
use crate::http::extract::{Form, Path, Query};
use crate::http::problem::Problem;
use crate::library::Crawl;
use crate::preview::{self, Preview};
use crate::words::{Words, fill, look_up};

/// A question about a URL.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    url: String,
}

/// Shows the queue.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(super::html(
        page(&app, &view, &crawl, &asked.url, Tried::default()).await?,
    ))
}

/// Exclusions or seeds that were tried, and what came of them.
#[derive(Default)]
struct Tried {
    /// Seeds as they were typed.
    urls: String,
    seeds: Option<SeedsTaken>,
    patterns: String,
    preview: Option<Preview>,
    problem: Option<Problem>,
}

async fn page(
    app: &App,
    view: &View,
    crawl: &Crawl,
    url: &str,
    tried: Tried,
) -> Result<Markup, Problem> {
    let words = view.words;
    if !crawl.is_running() {
        let content = empty(words.not_running, words.queue_lead);
        return Ok(crawl::page(view, crawl, Tab::Queue, &content));
    }
    let question = QueueQuery {
        url: empty_as_none(url),
    };
    let explained = explain(crawl, question).await;
    let content = html! {
        @if let Some(problem) = &tried.problem { (alert_of(words, problem)) }
        @match &explained {
            Ok(explanation) => (waiting(view, &explanation.crawl, app.now())),
            Err(problem) => (alert_of(words, problem)),
        }
        section.card {
            h2 { (words.ask_url) }
            form.filters method="get" action={ "/crawls/" (crawl.id) "/queue" } {
                label.grow { span { (words.url) } input name="url" type="text" value=(url) maxlength="2048" spellcheck="false" required; small { (words.ask_url_help) } }
                button type="submit" { (words.ask) }
            }
            @if let Ok(explanation) = &explained { (answer(view, explanation)) }
        }
        @if view.may(Role::Operator) { div.two { (seeds(view, crawl, &tried)) (exclusions(view, crawl, &tried)) } }
    };
    Ok(crawl::page(view, crawl, Tab::Queue, &content))
}

/// Reasons, the most important first, with what to do about each.
pub(crate) fn causes(words: &Words, causes: &[Cause]) -> Markup {
    html! {
        ul.causes { @for (reason, advice) in causes.iter().map(|cause| words.cause(cause)) {
            li { (reason) @if let Some(advice) = advice { small { (advice) } } }
        } }
    }
}

fn waiting(view: &View, crawl: &CrawlView, now: Timestamp) -> Markup {
    let words = view.words;
    html! {
        section.card {
            h2 { (words.queue) }
            p.lead { (words.queue_lead) }
            (causes(words, &crawl.causes))
            @if let Some(next) = &crawl.next_request { p.muted { (words.next_request) " " (format::time(next, now)) } }
            @if crawl.sites.is_empty() { p.muted { (words.nothing_yet) } } @else {
                div.scroll tabindex="0" role="region" aria-label=(words.queue) {
                    table.list {
                        thead { tr {
                            th scope="col" { (words.waits_for) }
                            th.num scope="col" { (words.sites_count) }
                            th.num scope="col" { (words.urls_count) }
                            th scope="col" { (words.until) }
                            th scope="col" { (words.example) }
                            th scope="col" { (words.why) }
                        } }
                        tbody { @for group in &crawl.sites {
                            tr {
                                th scope="row" { span.badge data-hold=(group.hold) { (look_up(words.holds, &group.hold)) } }
                                td.num { (format::count(group.sites)) }
                                td.num { (format::count(group.urls)) }
                                td { @if let Some(until) = &group.until { (format::time(until, now)) } }
                                td.url { (group.example) }
                                td { (words.held(group.held.as_ref(), &group.why)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

fn answer(view: &View, explanation: &Explanation) -> Markup {
    let words = view.words;
    html! {
        @if let Some(url) = &explanation.url {
            dl.facts {
                dt { (words.url) } dd.url { (url.url) }
                dt { (words.why) } dd { (words.next(&url.next)) }
                dt { (words.scope) } dd { (url.scope) }
                dt { "robots.txt" } dd { (url.robots) }
                @if let Some(site) = &explanation.site { dt { (words.site) } dd { (site.site) " · " (words.held(site.held.as_ref(), &site.why)) } }
            }
        }
    }
}

fn seeds(view: &View, crawl: &Crawl, tried: &Tried) -> Markup {
    let words = view.words;
    html! {
        section.card #seeds {
            h2 { (words.add_seeds) }
            @if let Some(taken) = &tried.seeds { (seeds_taken(words, taken)) }
            form.stack method="post" action={ "/crawls/" (crawl.id) "/seeds" } {
                (view.csrf())
                label { span { (words.url) } textarea name="urls" rows="3" required spellcheck="false" { (tried.urls) } small { (words.add_seeds_help) } }
                div.actions { button type="submit" { (words.add) } }
            }
        }
    }
}

/// What became of added seeds.
fn seeds_taken(words: &Words, taken: &SeedsTaken) -> Markup {
    let counts = [
        ("added", format::count(taken.added)),
        ("known", format::count(taken.known)),
        ("refused", format::count(taken.refused.len() as u64)),
    ];
    let counts = counts.each_ref().map(|(name, count)| (*name, &**count));
    html! {
        div.note role="status" {
            p { (fill(words.seeds_taken, &counts)) }
            @if !taken.refused.is_empty() {
                ul.urls { @for seed in &taken.refused { li { (seed.url) small { (seed.reason) } } } }
            }
        }
    }
}

fn exclusions(view: &View, crawl: &Crawl, tried: &Tried) -> Markup {
    let words = view.words;
    html! {
        section.card #exclude {
            h2 { (words.exclude) }
            form.stack method="post" action={ "/crawls/" (crawl.id) "/exclusions" } {
                (view.csrf())
                label { span { (words.exclude) } textarea name="patterns" rows="3" required spellcheck="false" { (tried.patterns) } small { (words.exclude_help) } }
                @if let Some(preview) = &tried.preview {
                    div.note {
                        p { strong { (format::count(preview.matches)) " / " (format::count(preview.looked_at)) } " " (words.preview_result) }
                        ul.urls { @for example in &preview.examples { li { (example) } } }
                        p { strong { (format::count(preview.queued_matches)) " / " (format::count(preview.queued_looked_at)) } " " (words.preview_queued) " " span.muted { (format::counted(words.in_all, preview.queued_total)) } }
                        ul.urls { @for example in &preview.queued_examples { li { (example) } } }
                    }
                }
                div.actions {
                    button.primary type="submit" name="act" value="preview" { (words.preview) }
                    button.danger type="submit" name="act" value="exclude" { (words.exclude_now) }
                }
            }
        }
    }
}

/// Seeds from the form.
#[derive(Debug, Deserialize)]
pub(crate) struct SeedsForm {
    urls: String,
}

/// Adds seeds and shows what became of them.
pub(crate) async fn add_seeds(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Form(form): Form<SeedsForm>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let mut tried = Tried::default();
    match actions::add_seeds(&app, &view.caller, &crawl, &lines(&form.urls)).await {
        Ok(taken) => tried.seeds = Some(taken),
        Err(problem) => {
            tried.urls = form.urls;
            tried.problem = Some(problem);
        }
    }
    shown(&app, &view, &crawl, tried).await
}

/// Patterns from the form.
#[derive(Debug, Deserialize)]
pub(crate) struct ExcludeForm {
    patterns: String,
    #[serde(default)]
    act: String,
}

/// Shows what patterns would keep out, or keeps it out.
pub(crate) async fn exclude(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Form(form): Form<ExcludeForm>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let patterns = lines(&form.patterns);
    let mut tried = Tried {
        patterns: form.patterns,
        ..Tried::default()
    };
    if form.act == "exclude" {
        match actions::exclude(&app, &view.caller, &crawl, &patterns).await {
            Ok(()) => {
                return Ok(Redirect::to(&format!("/crawls/{}/config", crawl.id)).into_response());
            }
            Err(problem) => tried.problem = Some(problem),
        }
    } else {
        match preview::preview(&app, crawl.clone(), &patterns).await {
            Ok(preview) => tried.preview = Some(preview),
            Err(problem) => tried.problem = Some(problem),
        }
    }
    shown(&app, &view, &crawl, tried).await
}

/// The page after something was tried.
async fn shown(app: &App, view: &View, crawl: &Crawl, tried: Tried) -> Result<Response, Problem> {
    let status = tried.problem.as_ref().map(|problem| problem.status);
    let mut response = super::html(page(app, view, crawl, "", tried).await?);
    if let Some(status) = status {
        *response.status_mut() = status;
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::RefusedSeed;
    use crate::words::Language;

    #[test]
    fn what_became_of_seeds_is_told_with_reasons() {
        let taken = SeedsTaken {
            added: 1_200,
            known: 2,
            refused: vec![RefusedSeed {
                url: "http://a.test/<b>".to_owned(),
                reason: "excluded by *b*".to_owned(),
            }],
        };
        for (language, sentence) in [
            (
                Language::English,
                "1,200 added, 2 known already, 1 refused.",
            ),
            (Language::Korean, "추가 1,200개, 이미 등록됨 2개, 거절 1개."),
        ] {
            let page = seeds_taken(language.words(), &taken).0;
            assert!(page.contains(sentence), "{page}");
            let refused = "http://a.test/&lt;b&gt;<small>excluded by *b*</small>";
            assert!(page.contains(refused), "{page}");
        }
    }
}
