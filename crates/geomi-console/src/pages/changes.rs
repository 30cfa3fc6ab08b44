//! Changes: when pages change, how much, and where.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::crawl::{self, Tab};
use super::format;
use super::layout::{View, empty};
use super::live::bar;
use crate::api::changes::count;
use crate::app::App;
use crate::http::extract::Path;
use crate::http::problem::Problem;
use crate::library::changes::{Changes, Found, date};
use crate::words::{Words, look_up};

/// Days shown, the latest ones.
const DAYS: usize = 30;
/// Sites shown.
const SITES: usize = 20;
/// Days of the week by code, Monday first.
pub(crate) const WEEK: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Width and height of an hour in the picture, and the room for its labels.
const HOUR: (usize, usize) = (30, 24);
const MARGIN: (usize, usize) = (44, 20);

/// Shows changes.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let counted = count(&app, &crawl).await?;
    let words = view.words;
    let content = html! {
        p.lead { (words.changes_lead) }
        @if counted.all == Found::default() {
            (empty(words.no_changes, words.no_changes_text))
        } @else {
            (figures(words, counted.all))
            section.card {
                h2 { (words.change_week) }
                div.scroll tabindex="0" role="region" aria-label=(words.change_week) { (heat_map(words, &counted)) }
            }
            div.two { (days(words, &counted)) (sites(words, &counted)) }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Changes,
        &content,
    )))
}

fn figures(words: &Words, all: Found) -> Markup {
    let figure = |name: &str, value: String| {
        html! { div.figure { dt { (name) } dd { (value) } } }
    };
    html! {
        dl.figures {
            (figure(words.changed, format::count(all.changed)))
            (figure(words.unchanged, format::count(all.same)))
            (figure(words.gone, format::count(all.gone)))
            (figure(words.change_share, all.share().map(format::share).unwrap_or_default()))
        }
    }
}

/// A day x hour grid: the darker, the larger the share that had changed.
fn heat_map(words: &Words, counted: &Changes) -> Markup {
    let (width, height) = (MARGIN.0 + 24 * HOUR.0, MARGIN.1 + 7 * HOUR.1);
    let shares = counted
        .week
        .iter()
        .flatten()
        .filter_map(|found| found.share());
    let most = shares.fold(0.0_f64, f64::max).max(f64::MIN_POSITIVE);
    html! {
        svg.heat-map viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(summary(words, counted)) {
            @for hour in (0..24).step_by(3) {
                text x=(MARGIN.0 + hour * HOUR.0 + 2) y="14" { (format!("{hour:02}")) }
            }
            @for (day, hours) in counted.week.iter().enumerate() {
                text x="0" y=(MARGIN.1 + day * HOUR.1 + 16) { (look_up(words.weekdays, WEEK[day])) }
                @for (hour, found) in hours.iter().enumerate() {
                    (cell(words, (day, hour), *found, most))
                }
            }
        }
    }
}

fn cell(words: &Words, (day, hour): (usize, usize), found: Found, most: f64) -> Markup {
    let (x, y) = (MARGIN.0 + hour * HOUR.0, MARGIN.1 + day * HOUR.1);
    let (width, height) = (HOUR.0 - 2, HOUR.1 - 2);
    html! {
        rect.track x=(x) y=(y) width=(width) height=(height) rx="3" {}
        @if let Some(share) = found.share() {
            rect.heat x=(x) y=(y) width=(width) height=(height) rx="3" fill-opacity=(format!("{:.3}", share / most)) {
                title { (look_up(words.weekdays, WEEK[day])) " " (format!("{hour:02}:00")) " · " (format::share(share)) " · " (format::count(found.changed)) " / " (format::count(found.changed + found.same)) }
            }
        }
    }
}

/// The picture in a sentence: when most changes were found.
fn summary(words: &Words, counted: &Changes) -> String {
    let hours = counted.week.iter().enumerate();
    let hours = hours.flat_map(|(day, hours)| {
        hours
            .iter()
            .enumerate()
            .map(move |(hour, found)| (day, hour, found))
    });
    let peak = hours.max_by_key(|(_, _, found)| found.changed);
    let peak = peak.map_or(String::new(), |(day, hour, _)| {
        format!("{} {hour:02}:00", look_up(words.weekdays, WEEK[day]))
    });
    format!("{}: {peak}", words.most_changes)
}

fn days(words: &Words, counted: &Changes) -> Markup {
    let rows = counted.days.iter().rev().take(DAYS);
    let rows = rows.map(|(day, found)| (date(*day), *found)).collect();
    table(words, words.change_days, words.time, rows)
}

fn sites(words: &Words, counted: &Changes) -> Markup {
    let rows = counted.liveliest(SITES).into_iter();
    let rows = rows.map(|(site, found)| (site.to_owned(), found)).collect();
    table(words, words.change_sites, words.site, rows)
}

fn table(words: &Words, title: &str, what: &str, rows: Vec<(String, Found)>) -> Markup {
    html! {
        section.card {
            h2 { (title) }
            @if rows.is_empty() { p.muted { (words.nothing_yet) } } @else {
                div.scroll tabindex="0" role="region" aria-label=(title) {
                    table.list {
                        thead { tr {
                            th scope="col" { (what) }
                            th.num scope="col" { (words.changed) }
                            th.num scope="col" { (words.unchanged) }
                            th.num scope="col" { (words.gone) }
                            th scope="col" { (words.change_share) }
                        } }
                        tbody { @for (name, found) in rows {
                            tr {
                                th scope="row" { (name) }
                                td.num { (format::count(found.changed)) }
                                td.num { (format::count(found.same)) }
                                td.num { (format::count(found.gone)) }
                                td.bars { (bar(found.changed, found.changed + found.same, true)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}
