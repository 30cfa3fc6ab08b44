//! The refresh report as a page: plots as SVG, in one file.

use geomi_model::week::DAYS;
use geomi_report::freshness::{Copies, Point};

use super::chart::{self, Axis, Frame, Line, WIDTH, legend, put};
use super::html::{escaped, framed, table};
use super::report::{Report, kind_lines, now_in_words};

/// Width and height of a cell of the heat-map, and where the first one begins.
const CELL: usize = 20;
const FIRST_CELL: (usize, usize) = (36, 20);
/// The least that a change is seen by.
const FAINTEST: f64 = 0.15;
/// Days of which requests are shown.
const DAYS_SHOWN: i64 = 60;

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let title = format!("Freshness of {}", escaped(&report.dir));
    let mut body = format!(
        "<h1>{title}</h1><p>{} pages, {} visits. Freshness: {}. Requests to keep them fresh: {}.</p>",
        report.pages,
        report.tally.visits(),
        now_in_words(report.points.last()),
        report.cost_in_words(),
    );
    body += &over_time(report);
    body += "<h2>Visits by what they found</h2>";
    body += &table(&report.found_lines(), &[0]);
    if report.tally.requests() == 0 {
        body += &budgets(report);
        body += "<p>No page has been visited again: there are no requests and no changes to show. <code>geomi refresh run</code> keeps a crawl fresh.</p>";
        return framed(&title, &body);
    }
    put(
        &mut body,
        format_args!("<p>Next visits: {}.</p>", report.success_in_words()),
    );
    if let Some(words) = report.discovery_in_words() {
        put(&mut body, format_args!("<p>New pages: {words}.</p>"));
    }
    body += "<h2>Requests a day against the budget</h2>";
    body += &requests(report);
    body += &budgets(report);
    if !report.kinships.has_comparisons() {
        body +=
            "<p>No visit could be compared with an earlier copy: there are no changes to show.</p>";
        return framed(&title, &body);
    }
    put(
        &mut body,
        format_args!(
            "<h2>When changes were found, by day and hour ({})</h2>",
            report.zone.name()
        ),
    );
    body += &heat_map(report);
    for kinds in report.kinships.tables() {
        let way = kinds.way;
        put(&mut body, format_args!("<h2>Change by {way}</h2>"));
        body += &table(&kind_lines(way, &kinds.rows), &[0]);
        if let Some(words) = kinds.rest_in_words() {
            put(&mut body, format_args!("<p>{words}.</p>"));
        }
    }
    body += "<p>Rates are changes a day, with the interval that holds them with 90 % probability. Naive is changes found by days watched.</p>";
    body += "<h2>Predicted against seen</h2>";
    body += &table(&report.class_lines(), &[]);
    framed(&title, &body)
}

/// The budgets of sites, groups and hours, where there are any.
fn budgets(report: &Report) -> String {
    let lines = report.budget_lines();
    let mut text = String::new();
    if let Some(words) = report.hours_in_words() {
        put(&mut text, format_args!("<p>Hours: {words}.</p>"));
    }
    if lines.len() > 1 {
        text += &table(&lines, &[0, 1]);
    }
    if text.is_empty() {
        return text;
    }
    format!("<h2>Budgets of sites, groups and hours</h2>{text}")
}

/// Freshness and age, as estimated and, where somebody knows it, as it was.
fn over_time(report: &Report) -> String {
    let points = &report.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "<p>Nothing has been visited: there is no freshness to show.</p>".to_owned();
    };
    let has_truth = points.iter().any(|point| point.truth.is_some());
    let lines = |pick: fn(Copies) -> f64| -> Vec<Line> {
        let line = |name: &str, of: fn(&Point) -> Option<Copies>| {
            let known = points
                .iter()
                .filter_map(|point| Some((point.at, pick(of(point)?))));
            (name.to_owned(), known.collect())
        };
        let mut lines = vec![line("estimated", |point| Some(point.estimated))];
        if has_truth {
            lines.push(line("true", |point| point.truth));
        }
        lines
    };
    let values = |lines: &[Line]| -> Vec<f64> {
        let points = lines.iter().flat_map(|(_, points)| points);
        points.map(|point| point.1).collect()
    };
    let dates = Axis::dates(first.at, last.at, report.zone.name());
    let (fresh, ages) = (lines(|of| of.freshness), lines(|of| of.age_h));
    let share = Axis::shares("freshness", values(&fresh).into_iter());
    let most = values(&ages).into_iter().fold(0.1, f64::max);
    let hours = Axis::numbers("mean age, hours", 0.0, most);
    let of = if has_truth {
        "estimated and true"
    } else {
        "estimated"
    };
    format!(
        "<h2>Freshness over time ({of})</h2>{}<h2>Mean age over time ({of})</h2>{}",
        chart::lines(dates.clone(), share, &fresh),
        chart::lines(dates, hours, &ages)
    )
}

/// Bars of the last days, and a line at the budget.
fn requests(report: &Report) -> String {
    let by_day = &report.tally.by_day;
    let (first, last) = match (by_day.keys().next(), by_day.keys().next_back()) {
        (Some(first), Some(last)) => ((*first).max(last - DAYS_SHOWN + 1), *last),
        _ => return String::new(),
    };
    let days = || by_day.range(first..=last);
    let most = days().map(|(_, (requests, _))| *requests as f64);
    let most = most.fold(report.budget.max(1.0), f64::max);
    let dates = Axis::dates(first as f64, (last + 1) as f64, report.zone.name());
    let frame = Frame::new(dates, Axis::numbers("requests", 0.0, most));
    let mut drawn = String::new();
    for (day, (requests, changed)) in days() {
        let begin = frame.x(*day as f64);
        let width = (frame.x((*day + 1) as f64) - begin) * 0.85;
        for (count, colour) in [(*requests, "var(--c4)"), (*changed, "var(--c1)")] {
            let top = frame.y(count as f64);
            put(
                &mut drawn,
                format_args!(
                    "<rect x=\"{begin:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
                    Frame::FLOOR - top
                ),
            );
        }
    }
    let budget = frame.y(report.budget);
    put(
        &mut drawn,
        format_args!(
            "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{budget:.1}\" y2=\"{budget:.1}\" stroke=\"var(--ink)\" stroke-width=\"1.5\" stroke-dasharray=\"6 3\"/>",
            frame.x(first as f64),
            Frame::END
        ),
    );
    let style = |colour: &str| format!("height:.8rem;background:{colour}");
    let entries = [
        (style("var(--c4)"), "requests".to_owned()),
        (style("var(--c1)"), "of these, changed".to_owned()),
        (
            "border-top:2px dashed var(--ink)".to_owned(),
            format!("budget: {:.1} a day", report.budget),
        ),
    ];
    frame.around(&drawn) + &legend(&entries)
}

/// How often changes were found at each hour. An hour without a visit is hatched: nobody
/// knows whether anything changes then.
fn heat_map(report: &Report) -> String {
    let hours = &report.tally.by_hour;
    let share = |(all, changed): &(u64, u64)| *changed as f64 / (*all as f64).max(1.0);
    let most = hours.iter().map(share).fold(0.0, f64::max);
    let strength = |of: f64| FAINTEST + (1.0 - FAINTEST) * of / most.max(1e-9);
    let height = FIRST_CELL.1 + 7 * CELL + 2;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"changes by day and hour\"><defs><pattern id=\"none\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><path d=\"M0 5L5 0\" stroke=\"var(--hatch)\"/></pattern></defs>"
    );
    for hour in (0..24).step_by(3) {
        let x = FIRST_CELL.0 + hour * CELL;
        put(
            &mut svg,
            format_args!("<text x=\"{x}\" y=\"14\">{hour:02}</text>"),
        );
    }
    for (at, cell) in hours.iter().enumerate() {
        let (day, hour) = (at / 24, at % 24);
        let (x, y) = (FIRST_CELL.0 + hour * CELL, FIRST_CELL.1 + day * CELL);
        if hour == 0 {
            let name = &DAYS[day][..3];
            put(
                &mut svg,
                format_args!("<text x=\"0\" y=\"{}\">{name}</text>", y + 14),
            );
        }
        let fill = match cell {
            (0, _) => "url(#none)\"".to_owned(),
            (_, 0) => "var(--cell)\"".to_owned(),
            _ => format!("var(--c1)\" fill-opacity=\"{:.3}\"", strength(share(cell))),
        };
        put(
            &mut svg,
            format_args!(
                "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{fill} stroke=\"var(--grid)\"><title>{} {hour:02} h: {} of {} comparisons found a change</title></rect>",
                DAYS[day], cell.1, cell.0
            ),
        );
    }
    svg + "</svg>" + &heat_legend(most, strength)
}

/// From no visit and no change to the hour with the largest share of changes.
fn heat_legend(most: f64, strength: impl Fn(f64) -> f64) -> String {
    let box_of = |style: &str| format!("height:1rem;outline:1px solid var(--grid);{style}");
    let hatch =
        "background:repeating-linear-gradient(135deg,transparent 0 3px,var(--hatch) 3px 4px)";
    let mut entries = vec![
        (box_of(hatch), "no visit".to_owned()),
        (
            box_of("background:var(--cell)"),
            "no change found".to_owned(),
        ),
    ];
    if most > 0.0 {
        entries.extend([0.25, 0.5, 0.75, 1.0].map(|part| {
            let share = part * most;
            let style = format!("background:var(--c1);opacity:{:.3}", strength(share));
            (box_of(&style), format!("{:.1} %", share * 100.0))
        }));
        entries.push((
            String::from("width:0;margin:0"),
            "of visits found a change".to_owned(),
        ));
    }
    legend(&entries)
}
