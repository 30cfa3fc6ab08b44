//! The refresh report as a page: plots as SVG, in one file.

use std::fmt::Write as _;

use super::html::{Line, escaped, framed, plot};
use super::report::{Report, now_in_words};
use super::tally::{Copies, Point};
use geomi_store::schedule::DAYS;

/// Width and height of a cell of the heat-map.
const CELL: usize = 26;

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let title = format!("Freshness of {}", escaped(&report.dir));
    let mut body = format!("<h1>{title}</h1>");
    write!(
        body,
        "<p>{} pages, {} visits. Freshness: {}. Requests to keep them fresh: {}.</p>",
        report.pages,
        report.tally.visits(),
        now_in_words(report.points.last()),
        report.cost_in_words(),
    )
    .expect("a string takes everything");
    body += &over_time(report);
    body += "<h2>Requests a day against the budget</h2>";
    body += &requests(report);
    body += "<h2>When changes were found, by day and hour (UTC)</h2>";
    body += &heat_map(report);
    for (name, kinds) in report.kin() {
        write!(
            body,
            "<h2>Change by {name}</h2><table><tr><th>{name}<th>compared<th>changed<th>share</tr>"
        )
        .expect("a string takes everything");
        for (kind, of) in kinds {
            let (kind, share) = (escaped(kind), of.share());
            write!(
                body,
                "<tr><td>{kind}<td>{}<td>{}<td>{share:.3}</tr>",
                of.visits, of.changed
            )
            .expect("a string takes everything");
        }
        body += "</table>";
    }
    body += "<h2>Predicted against seen</h2><table><tr><th>predicted<th>seen<th>visits</tr>";
    for class in report.tally.classes.iter().filter(|class| class.visits > 0) {
        write!(
            body,
            "<tr><td>{:.3}<td>{:.3}<td>{}</tr>",
            class.predicted(),
            class.seen(),
            class.visits
        )
        .expect("a string takes everything");
    }
    framed(&title, &(body + "</table>"))
}

/// Freshness and age, as estimated and, where somebody knows it, as it was.
fn over_time(report: &Report) -> String {
    let points = &report.points;
    let begin = points.first().map_or(0.0, |point| point.at);
    let has_truth = points.iter().any(|point| point.truth.is_some());
    let lines = |pick: fn(Copies) -> f64, scale: f64| -> Vec<Line> {
        let line = |name: &str, of: fn(&Point) -> Option<Copies>| {
            let known = points
                .iter()
                .filter_map(|point| Some((point.at, of(point)?)));
            let known = known.map(|(at, copies)| (at - begin, pick(copies) / scale));
            (name.to_owned(), known.collect())
        };
        let mut lines = vec![line("estimated", |point| Some(point.estimated))];
        if has_truth {
            lines.push(line("true", |point| point.truth));
        }
        lines
    };
    let ages = points
        .iter()
        .flat_map(|point| [Some(point.estimated), point.truth])
        .flatten();
    let most = ages.map(|copies| copies.age_h).fold(1e-9, f64::max);
    let freshness = plot("day", "freshness", &lines(|copies| copies.freshness, 1.0));
    let share = format!("share of {most:.1} h");
    let age = plot("day", &share, &lines(|copies| copies.age_h, most));
    let of = if has_truth {
        "estimated and true"
    } else {
        "estimated"
    };
    format!("<h2>Freshness over time ({of})</h2>{freshness}<h2>Mean age over time ({of})</h2>{age}")
}

/// Bars of the last days, and a line at the budget.
fn requests(report: &Report) -> String {
    const SHOWN: usize = 60;
    let days: Vec<_> = report.tally.by_day.iter().rev().take(SHOWN).collect();
    let most = days.iter().map(|(_, (requests, _))| *requests as f64);
    let most = most.fold(report.budget.max(1.0), f64::max);
    let mut svg = String::from(
        "<svg viewBox=\"0 0 720 220\" role=\"img\" aria-label=\"requests a day\" font-size=\"12\">",
    );
    let y = |requests: f64| 200.0 - requests / most * 180.0;
    for (at, (_, (requests, changed))) in days.iter().rev().enumerate() {
        let x = 10 + at * 11;
        for (count, colour) in [(*requests, "#56b4e9"), (*changed, "#d55e00")] {
            let top = y(count as f64);
            write!(
                svg,
                "<rect x=\"{x}\" y=\"{top:.1}\" width=\"9\" height=\"{:.1}\" fill=\"{colour}\"/>",
                200.0 - top
            )
            .expect("a string takes everything");
        }
    }
    let budget = y(report.budget);
    write!(
        svg,
        "<line x1=\"0\" x2=\"680\" y1=\"{budget:.1}\" y2=\"{budget:.1}\" stroke=\"#444\"/><text x=\"684\" y=\"{budget:.1}\">budget</text><text x=\"10\" y=\"216\">blue: requests, red: of these, changed</text></svg>"
    )
    .expect("a string takes everything");
    svg
}

fn heat_map(report: &Report) -> String {
    let hours = &report.tally.by_hour;
    let share = |(all, changed): &(u64, u64)| *changed as f64 / (*all as f64).max(1.0);
    let (width, height) = (90 + 24 * CELL, 30 + 7 * CELL);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"changes by day and hour\" font-size=\"12\">"
    );
    for hour in (0..24).step_by(3) {
        write!(
            svg,
            "<text x=\"{}\" y=\"14\">{hour:02}</text>",
            90 + hour * CELL
        )
        .expect("a string takes everything");
    }
    for (at, cell) in hours.iter().enumerate() {
        let (day, hour) = (at / 24, at % 24);
        let (x, y) = (90 + hour * CELL, 22 + day * CELL);
        if hour == 0 {
            write!(svg, "<text x=\"0\" y=\"{}\">{}</text>", y + 17, DAYS[day])
                .expect("a string takes everything");
        }
        write!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"#d55e00\" fill-opacity=\"{:.3}\" stroke=\"#eee\"><title>{} {hour:02} h: {} of {} comparisons found a change</title></rect>",
            share(cell), DAYS[day], cell.1, cell.0
        )
        .expect("a string takes everything");
    }
    svg + "</svg>"
}
