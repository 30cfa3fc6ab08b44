//! Changes: when pages change, how much, and where; how fresh copies are.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};

use super::crawl::{self, Tab};
use super::layout::{View, alert_of, empty};
use super::live::bar;
use super::{format, freshness, reach};
use crate::api::changes::count;
use crate::api::freshness::estimate;
use crate::app::App;
use crate::http::extract::Path;
use crate::http::problem::Problem;
use crate::library::Crawl;
use crate::library::changes::{Changes, Found, PAGES_MAX, SITES_MAX, date};
use crate::words::{Words, fill, look_up};

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
    let reach = reach::find(&app, &crawl).await?;
    let words = view.words;
    let fresh = if counted.all == Found::default() {
        html! {}
    } else {
        fresh(&app, &crawl, words).await?
    };
    let content = html! {
        p.lead { (fill(words.changes_lead, &[("zone", counted.zone.name())])) }
        (reach::note(words, &crawl, reach))
        @if counted.all == Found::default() {
            (empty(words.no_changes, words.no_changes_text))
        } @else {
            (figures(words, counted.all))
            (bounds(words, &counted))
            (week(words, &counted))
            (fresh)
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

/// How fresh copies are, or what keeps that from being told.
async fn fresh(app: &App, crawl: &Arc<Crawl>, words: &Words) -> Result<Markup, Problem> {
    match estimate(app, crawl).await {
        Ok(found) => Ok(freshness::show(words, &found)),
        // What was counted can be shown though the crawl's settings have mistakes.
        Err(problem) if problem.status == StatusCode::CONFLICT => Ok(alert_of(words, &problem)),
        Err(problem) => Err(problem),
    }
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

/// Of what not all was counted.
fn bounds(words: &Words, counted: &Changes) -> Markup {
    html! {
        @if counted.has_more_pages { p.note.small { (format::counted(words.gone_of_first, PAGES_MAX as u64)) } }
        @if counted.has_more_sites { p.note.small { (format::counted(words.sites_of_first, SITES_MAX as u64)) } }
    }
}

/// When pages change, where two visits of one could be compared.
fn week(words: &Words, counted: &Changes) -> Markup {
    let shares = counted.week.iter().flatten();
    let most = shares.filter_map(|found| found.share()).reduce(f64::max);
    html! {
        section.card {
            h2 { (words.change_week) }
            @if let Some(most) = most {
                div.scroll tabindex="0" role="region" aria-label=(words.change_week) { (heat_map(words, counted, most)) }
                (legend(words, most))
            } @else { p.muted { (words.nothing_compared) } }
        }
    }
}

/// A day x hour grid: the darker, the larger the share that had changed.
fn heat_map(words: &Words, counted: &Changes, most: f64) -> Markup {
    let (width, height) = (MARGIN.0 + 24 * HOUR.0, MARGIN.1 + 7 * HOUR.1);
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
    let place = (MARGIN.0 + hour * HOUR.0, MARGIN.1 + day * HOUR.1);
    let name = format!("{} {hour:02}:00", look_up(words.weekdays, WEEK[day]));
    let Some(share) = found.share() else {
        return hour_box(place, None, &format!("{name} · {}", words.not_compared));
    };
    let (changed, compared) = (found.changed, found.changed + found.same);
    let told = format!(
        "{name} · {} · {} / {}",
        format::share(share),
        format::count(changed),
        format::count(compared)
    );
    hour_box(place, Some(strength(share, most)), &told)
}

/// How dark an hour is, from 0 to 1.
fn strength(share: f64, most: f64) -> f64 {
    if most > 0.0 { share / most } else { 0.0 }
}

/// An hour: an empty frame where nothing was compared, else as dark as told.
fn hour_box((x, y): (usize, usize), dark: Option<f64>, told: &str) -> Markup {
    let (width, height) = (HOUR.0 - 2, HOUR.1 - 2);
    html! {
        @if let Some(dark) = dark {
            rect.track x=(x) y=(y) width=(width) height=(height) rx="3" {}
            rect.heat x=(x) y=(y) width=(width) height=(height) rx="3" fill-opacity=(format!("{dark:.3}")) { title { (told) } }
        } @else {
            rect.no-heat x={ (x) ".5" } y={ (y) ".5" } width=(width - 1) height=(height - 1) rx="3" { title { (told) } }
        }
    }
}

/// What light and dark mean.
fn legend(words: &Words, most: f64) -> Markup {
    let most_changed = fill(words.legend_most, &[("share", &format::share(most))]);
    let entries = [
        (None, words.not_compared),
        (Some(0.0), words.legend_none),
        (Some(1.0), &most_changed),
    ];
    html! {
        ul.legend {
            // Where nothing had changed, no hour is dark.
            @for (dark, text) in entries.into_iter().take(if most > 0.0 { 3 } else { 2 }) {
                li {
                    svg viewBox={ "0 0 " (HOUR.0) " " (HOUR.1) } aria-hidden="true" { (hour_box((1, 1), dark, text)) }
                    (text)
                }
            }
        }
    }
}

/// The picture in a sentence: when most changes were found, if any were.
fn summary(words: &Words, counted: &Changes) -> String {
    let hours = counted.week.iter().enumerate();
    let hours = hours.flat_map(|(day, hours)| {
        hours
            .iter()
            .enumerate()
            .map(move |(hour, found)| (day, hour, found))
    });
    let peak = hours
        .filter(|(_, _, found)| found.changed > 0)
        .max_by_key(|(_, _, found)| found.changed);
    peak.map_or_else(
        || words.legend_none.to_owned(),
        |(day, hour, _)| {
            let day = look_up(words.weekdays, WEEK[day]);
            format!("{}: {day} {hour:02}:00", words.most_changes)
        },
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn counted(found: Found) -> Changes {
        let mut counted = Changes::default();
        counted.all = found;
        counted.week[1][9] = found;
        counted
    }

    fn shown(changed: u64, same: u64, gone: u64) -> String {
        let found = Found {
            changed,
            same,
            gone,
        };
        week(Language::English.words(), &counted(found)).into_string()
    }

    #[test]
    fn a_peak_is_told_only_where_pages_changed() {
        assert!(shown(1, 3, 0).contains("Most changes were found: Tue 09:00"));
        let same = shown(0, 3, 0);
        assert!(!same.contains("Most changes"), "{same}");
        let gone = shown(0, 0, 3);
        assert!(!gone.contains("<svg"), "nothing to compare, no picture");
    }

    #[test]
    fn an_hour_in_which_all_was_gone_was_visited() {
        let found = Found {
            changed: 1,
            ..Found::default()
        };
        let mut counted = counted(found);
        counted.week[2][4].gone = 3;
        let page = week(Language::English.words(), &counted).into_string();
        assert!(page.contains("Wed 04:00 · nothing compared"), "{page}");
    }

    #[test]
    fn what_was_not_counted_is_told() {
        let words = Language::English.words();
        let mut counted = Changes::default();
        assert_eq!(bounds(words, &counted).into_string(), "");
        counted.has_more_pages = true;
        let told = bounds(words, &counted).into_string();
        assert!(told.contains("the first 1,000,000 pages"), "{told}");
    }

    #[test]
    fn hours_without_visits_are_not_hours_without_changes() {
        let page = shown(1, 3, 0);
        // Those of the week, and the one of the legend.
        assert_eq!(page.matches("class=\"no-heat\"").count(), 7 * 24);
        assert!(page.contains("25.0 % had changed"), "{page}");
    }
}
