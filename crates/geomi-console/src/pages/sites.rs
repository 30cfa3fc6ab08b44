//! Sites: how fast they answer, how long they rest, what each waits for; of one of them
//! also its robots.txt, what its word on changes is worth, and when its pages change.

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use geomi_engine::explain::{SiteReport, SiteRhythm, SiteWord};
use geomi_model::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::{View, alert_of, empty};
use super::{empty_as_none, format};
use crate::accounts::Role;
use crate::actions;
use crate::api::sites::{ORDERS, SiteRow, SiteRows, SitesQuery, explain_site, find};
use crate::app::App;
use crate::http::extract::{Form, Path, Query};
use crate::http::problem::Problem;
use crate::words::{Words, look_up};

/// What the form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    order: String,
    part: String,
    after: String,
    site: String,
}

impl Filter {
    fn link(&self, id: &str, after: &str) -> String {
        format!(
            "/crawls/{id}/sites?order={}&part={}&after={}",
            format::query(&self.order),
            format::query(&self.part),
            format::query(after)
        )
    }
}

/// Shows sites.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(filter): Query<Filter>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let query = SitesQuery {
        order: empty_as_none(&filter.order),
        after: empty_as_none(&filter.after),
        limit: None,
        part: empty_as_none(&filter.part),
    };
    let found = find(&app, &crawl, query).await?;
    let words = view.words;
    let about = match empty_as_none(&filter.site).filter(|_| found.live) {
        Some(site) => Some(explain_site(&crawl, site).await),
        None => None,
    };
    let content = html! {
        (form(&view, &crawl.id, &filter))
        p.muted { (if found.live { words.live_sites } else { words.at_rest_sites }) " " (format::counted(words.in_all, found.total)) }
        @if found.items.is_empty() { (empty(words.nothing_yet, words.queue_lead)) } @else { (table(&found, &view, &crawl.id, app.now())) }
        @match &about {
            Some(Ok(Some(site))) => (about_site(words, site)),
            Some(Err(problem)) => (alert_of(words, problem)),
            _ => {}
        }
        @if found.live && view.may(Role::Operator) { (override_form(&view, &crawl.id, &filter.site)) }
        nav.pager {
            @if !filter.after.is_empty() { a.button href=(filter.link(&crawl.id, "")) { (words.newer) } }
            @if let Some(next) = &found.next { a.button href=(filter.link(&crawl.id, next)) { (words.older) } }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Sites,
        &content,
    )))
}

fn form(view: &View, id: &str, filter: &Filter) -> Markup {
    let words = view.words;
    html! {
        form.filters method="get" action={ "/crawls/" (id) "/sites" } {
            label { span { (words.order_by) } select name="order" {
                @for order in ORDERS { option value=(order) selected[filter.order == *order] { (look_up(words.orders, order)) } }
            } }
            label.grow { span { (words.filter) } input name="part" value=(filter.part) maxlength="200" spellcheck="false"; }
            button type="submit" { (words.show) }
        }
    }
}

fn table(found: &SiteRows, view: &View, id: &str, now: Timestamp) -> Markup {
    let words = view.words;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(words.sites) {
            table.list {
                thead { tr {
                    th scope="col" { (words.site) }
                    @if found.live {
                        th scope="col" { (words.waits_for) }
                        th scope="col" { (words.until) }
                        th.num scope="col" { (words.queued) }
                        th.num scope="col" { (words.in_flight) }
                    } @else {
                        th.num scope="col" { (words.saved) }
                        th.num scope="col" { (words.failed) }
                    }
                    th.num scope="col" { (words.requests) }
                    th.num scope="col" { (words.rtt) }
                    @if found.live {
                        th.num scope="col" { (words.delay) }
                        th.num scope="col" { (words.crawl_delay) }
                        th.num scope="col" { (words.failures) }
                        th scope="col" { (words.address) }
                    }
                } }
                tbody { @for row in &found.items {
                    @let about = found.live.then(|| format!("/crawls/{id}/sites?site={}#about", format::query(&row.site)));
                    (site_row(row, found.live, about.as_deref(), words, now))
                } }
            }
        }
    }
}

fn site_row(
    row: &SiteRow,
    live: bool,
    about: Option<&str>,
    words: &Words,
    now: Timestamp,
) -> Markup {
    let seconds = |value: Option<f64>| value.map(|value| format!("{value:.1} s"));
    let counted = |value: Option<u64>| value.map(format::count);
    html! {
        tr {
            th scope="row" { @if let Some(about) = about { a href=(about) { (row.site) } } @else { (row.site) } }
            @if live {
                td { @if let Some(hold) = &row.hold { span.badge data-hold=(hold) title=[row.why.as_deref().map(|why| words.held(row.held.as_ref(), why))] { (look_up(words.holds, hold)) } } }
                td { @if let Some(until) = &row.until { (format::time(until, now)) } }
                td.num { (counted(row.queued).unwrap_or_default()) }
                td.num { (counted(row.in_flight).unwrap_or_default()) }
            } @else {
                td.num { (counted(row.saved).unwrap_or_default()) }
                td.num { (counted(row.failed).unwrap_or_default()) }
            }
            td.num { (format::count(row.requests)) }
            td.num { (row.rtt_ms.map(format::millis).unwrap_or_default()) }
            @if live {
                td.num { (seconds(row.delay_s).unwrap_or_default()) }
                td.num { (seconds(row.crawl_delay_s).unwrap_or_default()) }
                td.num { (row.failures.unwrap_or(0)) }
                td { (row.address.as_deref().unwrap_or_default()) }
            }
        }
    }
}

/// What is known of one site.
fn about_site(words: &Words, site: &SiteReport) -> Markup {
    html! {
        section.card #about {
            h2 { (site.site) }
            dl.facts {
                dt { (words.why) } dd { (words.held(site.held.as_ref(), &site.why)) }
                dt { "robots.txt" } dd { (words.robots(site)) }
                (changes(words, site.word.as_ref(), site.rhythm.as_ref()))
            }
        }
    }
}

/// What is known of its changes, where it is kept fresh.
fn changes(words: &Words, word: Option<&SiteWord>, rhythm: Option<&SiteRhythm>) -> Markup {
    html! {
        @if let Some(word) = word { dt { (words.site_word) } dd { (word.in_words()) } }
        @if let Some(rhythm) = rhythm { dt { (words.rhythm) } dd { (rhythm.in_words()) } }
    }
}

/// What may differ on one site, from now on.
fn override_form(view: &View, id: &str, site: &str) -> Markup {
    let words = view.words;
    html! {
        section.card #override {
            h2 { (words.override_site) }
            p.lead { (words.override_lead) }
            form.grid method="post" action={ "/crawls/" (id) "/sites" } {
                (view.csrf())
                label { span { (words.site) } input name="site" value=(site) maxlength="300" spellcheck="false" required; }
                label { span { (words.delay) } input name="delay" placeholder="5s" maxlength="20" spellcheck="false"; }
                label { span { (words.max_pages) } input name="max_pages" placeholder=(words.no_limit) inputmode="numeric" pattern="[0-9]*" maxlength="15"; }
                label { span { (words.leave_out) } select name="exclude" { option value="" { (words.no) } option value="yes" { (words.yes) } } }
                div.actions.wide { button type="submit" { (words.change) } }
            }
        }
    }
}

/// What the form of one site sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Override {
    site: String,
    delay: String,
    max_pages: String,
    exclude: String,
}

impl Override {
    /// The same as `geomi set` takes it.
    fn settings(&self) -> Vec<String> {
        let site = self.site.trim();
        let own = |name: &str, value: &str| {
            let value = empty_as_none(value)?;
            Some(format!("site.{site}.{name}={value}"))
        };
        let left_out = (self.exclude == "yes").then(|| format!("scope.sites_denied+={site}"));
        let settings = [
            own("site_delay", &self.delay),
            own("max_pages", &self.max_pages),
            left_out,
        ];
        settings.into_iter().flatten().collect()
    }
}

/// Changes what holds for one site.
pub(crate) async fn change(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Form(form): Form<Override>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    actions::set(&app, &view.caller, &crawl, form.settings()).await?;
    let to = format!(
        "/crawls/{}/sites?part={}",
        crawl.id,
        format::query(&form.site)
    );
    Ok(Redirect::to(&to).into_response())
}

#[cfg(test)]
mod tests {
    use geomi_refresh::upkeep::SiteSignals;

    use super::*;
    use crate::words::Language;

    #[test]
    fn a_site_that_is_kept_fresh_shows_its_word_and_its_rhythm() {
        let words = Language::English.words();
        assert_eq!(changes(words, None, None).into_string(), "");
        let word = SiteWord::of(&SiteSignals::default());
        let rhythm = SiteRhythm {
            pages: 3,
            timezone: "UTC".to_owned(),
            hours: vec![1.0, 0.5, 1.5, 1.0],
            days: vec![1.0; 7],
        };
        let shown = changes(words, Some(&word), Some(&rhythm)).into_string();
        for told in ["Its word on changes", "trust 0.50", "most 12 to 18h 1.50"] {
            assert!(shown.contains(told), "{shown}");
        }
    }

    #[test]
    fn a_form_is_what_geomi_set_takes() {
        let form = Override {
            site: " a.example ".into(),
            delay: "5s".into(),
            exclude: "yes".into(),
            ..Override::default()
        };
        let expected = [
            "site.a.example.site_delay=5s",
            "scope.sites_denied+=a.example",
        ];
        assert_eq!(form.settings(), expected);
    }
}
