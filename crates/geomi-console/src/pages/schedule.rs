//! Schedule: the hours of a week, what is visited in each, and which are left
//! free.
//!
//! The grid is a table of checkboxes, so that it can be painted with a mouse, a
//! keyboard, a screen reader and without scripts; below it whole runs of hours
//! are painted at once. A number opens what is behind its hour. The shade of an
//! hour is the share of visits that found a change in it.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use geomi_model::week::HOURS;
use geomi_store::schedule::FreeHours;
use maud::{Markup, html};
use serde::Deserialize;

use super::changes::WEEK;
use super::crawl::{self, Tab};
use super::format;
use super::layout::{View, alert, alert_of, empty};
use crate::accounts::Role;
use crate::api::changes::count;
use crate::app::App;
use crate::http::extract::{Form, Path, Query};
use crate::http::problem::Problem;
use crate::library::Crawl;
use crate::library::changes::Changes;
use crate::schedule::{self, Urls, Week};
use crate::words::{Words, fill, look_up};
use crate::wrong::Wrong;

/// URLs shown of an hour.
const URLS: usize = 50;
/// Shades of an hour, from none to the most changes.
const SHADES: f64 = 5.0;

/// The hour of the table at a day, Monday first, and an hour of the grid.
const fn at(day: usize, hour: usize) -> usize {
    (day + 1) % 7 * 24 + hour
}

/// The day in the grid, Monday first, of an hour of the table.
const fn day(at: usize) -> usize {
    (at / 24 + 6) % 7
}

fn name(words: &Words, at: usize) -> String {
    format!(
        "{} {:02}:00",
        look_up(words.weekdays, WEEK[day(at)]),
        at % 24
    )
}

/// Which hour is looked into, and from where on.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Looked {
    hour: Option<usize>,
    after: Option<u64>,
}

/// Shows the week.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(looked): Query<Looked>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    Ok(super::html(page(&app, &view, &crawl, &looked, None).await?))
}

async fn page(
    app: &App,
    view: &View,
    crawl: &Crawl,
    looked: &Looked,
    problem: Option<&Problem>,
) -> Result<Markup, Problem> {
    let words = view.words;
    let week = schedule::week(app, crawl).await?;
    let changes = count(app, crawl).await?;
    let hour = looked.hour.filter(|hour| *hour < HOURS);
    let behind = match (&week, hour) {
        (Some(_), Some(hour)) => {
            let after = looked.after.unwrap_or(0);
            let urls = schedule::urls(app, crawl, hour, after, URLS).await?;
            Some((hour, urls))
        }
        _ => None,
    };
    let planner = app.planner.as_ref();
    let is_planning = planner.is_some_and(|planner| planner.is_busy(&crawl.dir));
    let content = html! {
        @if let Some(problem) = problem { (alert_of(words, problem)) }
        @if is_planning { p.note role="status" { (words.plan_under_way) } }
        p.lead { (fill(words.schedule_lead, &[("zone", changes.zone.name())])) }
        @match &week {
            None => {
                (empty(words.no_plan, words.no_plan_text))
                @if view.may(Role::Operator) && planner.is_some() { (plan_button(view, crawl, words.make_plan, "primary")) }
            }
            Some(week) => {
                @if !week.faults.is_empty() { (alert(words.plan_faults, &week.faults)) }
                (figures(words, week))
                (grid(view, crawl, week, &changes))
                @if let Some((hour, urls)) = &behind { (behind_hour(words, crawl, &changes, *hour, urls)) }
                @if view.may(Role::Operator) { (carry_out(app, view, crawl)) }
            }
        }
    };
    Ok(crawl::page(view, crawl, Tab::Schedule, &content))
}

fn figures(words: &Words, week: &Week) -> Markup {
    let figure = |name: &str, value: String| {
        html! { div.figure { dt { (name) } dd { (value) } } }
    };
    let busiest = week.busiest().map(|at| name(words, at));
    html! {
        dl.figures {
            (figure(words.visits_a_week, format::count(week.visits)))
            (figure(words.free_hours, format::count(week.free.iter().count() as u64)))
            (figure(words.busiest_hour, busiest.unwrap_or_else(|| "–".to_owned())))
        }
    }
}

/// The grid, and for operators the form around it.
fn grid(view: &View, crawl: &Crawl, week: &Week, changes: &Changes) -> Markup {
    let words = view.words;
    let may_paint = view.may(Role::Operator);
    let shades = Shades::of(changes);
    let table = html! {
        div.scroll tabindex="0" role="region" aria-label=(words.hours_of_week) {
            table.week data-paint[may_paint] {
                thead { tr { td {} @for hour in 0..24 { th scope="col" { (format!("{hour:02}")) } } } }
                tbody { @for day in 0..7 { tr {
                    th scope="row" { (look_up(words.weekdays, WEEK[day])) }
                    @for hour in 0..24 { (cell(words, week, at(day, hour), shades.shade(day, hour), may_paint)) }
                } } }
            }
        }
        p.muted.small { (words.schedule_legend) @if may_paint { " " (words.schedule_paint) } }
    };
    html! {
        section.card {
            h2 { (words.hours_of_week) }
            @if may_paint {
                form.stack method="post" action={ "/crawls/" (crawl.id) "/schedule" } {
                    (view.csrf())
                    (table)
                    div.actions { button.primary type="submit" name="act" value="save" { (words.save_hours) } }
                    (runs(words))
                }
            } @else { (table) }
        }
    }
}

fn cell(words: &Words, week: &Week, at: usize, shade: usize, may_paint: bool) -> Markup {
    let (name, hour) = (name(words, at), week.hours[at]);
    let is_free = week.free.contains(at);
    html! {
        td class={ "shade-" (shade) } data-free[is_free && !may_paint] {
            @if may_paint {
                input type="checkbox" name={ "h" (at) } value="free" checked[is_free] aria-label={ (name) ": " (words.leave_free) };
            }
            @if hour.visits > 0 {
                a href={ "?hour=" (at) "#behind" } aria-label={ (name) ": " (format::counted(words.planned_visits, hour.visits)) } { (short(hour.visits)) }
            } @else if is_free && !may_paint { span.hidden { (words.leave_free) } }
        }
    }
}

/// A count that fits into an hour: `9,999` and `12k`.
fn short(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..10_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// How dark an hour is, by the share of visits that found a change.
struct Shades<'a> {
    changes: &'a Changes,
    most: f64,
}

impl<'a> Shades<'a> {
    fn of(changes: &'a Changes) -> Self {
        let shares = changes.week.iter().flatten();
        let most = shares.filter_map(|found| found.share()).fold(0.0, f64::max);
        Self { changes, most }
    }

    fn shade(&self, day: usize, hour: usize) -> usize {
        let share = self.changes.week[day][hour].share().unwrap_or(0.0);
        if self.most > 0.0 {
            (share / self.most * SHADES).ceil() as usize
        } else {
            0
        }
    }
}

/// Runs of hours, painted at once: days, from, to.
fn runs(words: &Words) -> Markup {
    let hours = |name: &str, label: &str, chosen: usize| {
        html! {
            label { span { (label) } select name=(name) {
                @for hour in 0..24 { option value=(hour) selected[hour == chosen] { (format!("{hour:02}:00")) } }
            } }
        }
    };
    html! {
        fieldset {
            legend { (words.paint_run) }
            div.filters {
                div.days role="group" aria-label=(words.days_label) {
                    @for day in 0..7 {
                        label.check { input type="checkbox" name={ "d" (day) } value="on" checked[day < 5]; (look_up(words.weekdays, WEEK[day])) }
                    }
                }
                (hours("from", words.from_hour, 9))
                (hours("to", words.to_hour, 18))
                button type="submit" name="act" value="close" { (words.close_hours) }
                button type="submit" name="act" value="open" { (words.open_hours) }
            }
        }
    }
}

fn behind_hour(
    words: &Words,
    crawl: &Crawl,
    changes: &Changes,
    hour: usize,
    urls: &Urls,
) -> Markup {
    let found = changes.week[day(hour)][hour % 24];
    html! {
        section.card #behind {
            h2 { (name(words, hour)) }
            @if let Some(share) = found.share() {
                p.muted { (words.change_share) ": " (format::share(share)) " · " (format::count(found.changed)) " / " (format::count(found.changed + found.same)) }
            }
            @if urls.urls.is_empty() { p.muted { (words.no_visits_hour) } } @else {
                ul.urls { @for url in &urls.urls {
                    li { a href={ "/crawls/" (crawl.id) "/captures?url=" (format::query(url)) } { (url) } }
                } }
            }
            @if let Some(next) = urls.next {
                nav.pager { a.button href={ "?hour=" (hour) "&after=" (next) "#behind" } { (words.more) } }
            }
        }
    }
}

fn plan_button(view: &View, crawl: &Crawl, text: &str, class: &str) -> Markup {
    html! {
        form.actions.centred method="post" action={ "/crawls/" (crawl.id) "/schedule/plan" } {
            (view.csrf())
            button class=(class) type="submit" { (text) }
        }
    }
}

/// What can be done with the plan: follow it, or make another.
fn carry_out(app: &App, view: &View, crawl: &Crawl) -> Markup {
    let words = view.words;
    html! {
        section.card {
            h2 { (words.follow_title) }
            p.lead { (words.follow_lead) }
            pre.command { (schedule::run(crawl).command()) }
            div.actions {
                @if app.launcher.is_some() && !crawl.is_running() {
                    form method="post" action={ "/crawls/" (crawl.id) "/schedule/follow" } {
                        (view.csrf())
                        button.primary type="submit" { (words.follow_plan) }
                    }
                }
                @if app.planner.is_some() { (plan_button(view, crawl, words.make_plan_again, "")) }
            }
        }
    }
}

/// What was painted: boxes by name, and which button was pressed.
type Painted = BTreeMap<String, String>;

fn painted(form: &Painted) -> Result<FreeHours, Problem> {
    let mut free = FreeHours::default();
    for hour in (0..HOURS).filter(|hour| form.contains_key(&format!("h{hour}"))) {
        free.set(hour, true);
    }
    let act = form.get("act").map_or("save", |act| &**act);
    if act == "save" {
        return Ok(free);
    }
    let hour = |name: &str| {
        let hour = form.get(name).and_then(|hour| hour.parse::<usize>().ok());
        let hour = hour.filter(|hour| *hour < 24);
        hour.ok_or_else(|| Problem::bad_request(Wrong::Hours))
    };
    let (from, to) = (hour("from")?, hour("to")?);
    // Up to the hour named last, over midnight where that is the earlier one.
    let hours = if from < to { to - from } else { 24 + to - from };
    for day in (0..7).filter(|day| form.contains_key(&format!("d{day}"))) {
        for later in 0..hours {
            free.set(at(day, from) + later, act == "close");
        }
    }
    Ok(free)
}

/// Paints.
pub(crate) async fn paint(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Form(form): Form<Painted>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let free = painted(&form)?;
    match schedule::paint(&app, &view.caller, &crawl, free).await {
        Ok(()) => Ok(back(&crawl)),
        Err(problem) => told(&app, &view, &crawl, &problem).await,
    }
}

/// Plans.
pub(crate) async fn plan(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    match schedule::plan(&app, &view.caller, &crawl).await {
        Ok(_) => Ok(back(&crawl)),
        Err(problem) => told(&app, &view, &crawl, &problem).await,
    }
}

/// Follows, and shows the crawl.
pub(crate) async fn follow(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    match schedule::follow(&app, &view.caller, &crawl).await {
        Ok(_) => Ok(Redirect::to(&format!("/crawls/{}", crawl.id)).into_response()),
        Err(problem) => told(&app, &view, &crawl, &problem).await,
    }
}

fn back(crawl: &Crawl) -> Response {
    Redirect::to(&format!("/crawls/{}/schedule", crawl.id)).into_response()
}

async fn told(
    app: &App,
    view: &View,
    crawl: &Crawl,
    problem: &Problem,
) -> Result<Response, Problem> {
    let page = page(app, view, crawl, &Looked::default(), Some(problem)).await?;
    let mut response = super::html(page);
    *response.status_mut() = problem.status;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Painted {
        let fields = fields.iter();
        fields
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn boxes_and_runs_are_painted_over_each_other() {
        let boxes = [("h33", "free"), ("h167", "free")];
        let free = painted(&form(&boxes)).unwrap();
        assert_eq!(free.iter().collect::<Vec<_>>(), [33, 167]);
        // Monday from 8 to 10, which is the grid's first row and the table's second day.
        let run = [("act", "close"), ("d0", "on"), ("from", "8"), ("to", "10")];
        let free = painted(&form(&[&boxes[..], &run].concat())).unwrap();
        assert_eq!(free.iter().collect::<Vec<_>>(), [32, 33, 167]);
        // Over Saturday's midnight, which is the end of the table.
        let run = [("act", "open"), ("d5", "on"), ("from", "23"), ("to", "1")];
        let free = painted(&form(&[&boxes[..], &run].concat())).unwrap();
        assert_eq!(free.iter().collect::<Vec<_>>(), [33]);
        let wrong = [("act", "close"), ("from", "24"), ("to", "1")];
        assert!(painted(&form(&wrong)).is_err());
    }

    #[test]
    fn the_grid_and_the_table_name_the_same_hours() {
        for day_of_grid in 0..7 {
            assert_eq!(day(at(day_of_grid, 5)), day_of_grid);
        }
        assert_eq!(at(0, 9), 33, "Monday is the second day of the table");
        assert_eq!(
            (short(9_999), short(12_345)),
            ("9999".to_owned(), "12k".to_owned())
        );
    }
}
