//! The comparison as a page: a table and plots as SVG, in one file.

use std::fmt::Write as _;

use geomi_sim::refresh::compare::{Match, Matching, Row, curve};
use geomi_sim::refresh::trial;

use super::simulate::Asked;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 60.0;
const BOTTOM: f64 = 40.0;
/// Colours that can be told apart, in turn.
const COLOURS: [&str; 7] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#444444",
];
/// What lines of one colour are told apart by.
const DASHES: [&str; 2] = ["none", "5 3"];
/// Budgets of the curve, against the one asked for.
const SHARES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];

/// A name and its points.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// The whole page.
pub(super) fn page(asked: &Asked, rows: &[Row]) -> String {
    let mut body = String::new();
    let title = format!("Refresh policies on {}", escaped(&asked.web));
    body.extend([format!(
        "<h1>{title}</h1><p>{}.</p>",
        asked.extent.in_words()
    )]);
    body += &table(rows, asked.matching);
    if asked.matching == Matching::Searched {
        body += "<h2>Requests to match the static cycle</h2>";
        body += &bars(rows);
    }
    body += "<h2>Freshness over time</h2>";
    body += &plot("day", "freshness", &over_time(asked));
    body += "<h2>Freshness against requests a page a day</h2>";
    body += &plot("requests a page a day", "freshness", &against_budget(asked));
    framed(&title, &body)
}

/// A body as a whole page.
pub(super) fn framed(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><style>body{{font:16px system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}}td,th{{padding:.2rem .6rem;text-align:right}}td:first-child,th:first-child{{text-align:left}}svg{{width:100%;height:auto}}</style>{body}</html>\n"
    )
}

/// Text that is safe in a page.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn table(rows: &[Row], matching: Matching) -> String {
    let mut text = String::from(
        "<table><tr><th>policy<th>freshness<th>weighted<th>mean age, h<th>requests a page a day<th>match static</tr>",
    );
    for row in rows {
        let share = match row.match_static {
            None if matching == Matching::Skipped => String::new(),
            None => "never".to_owned(),
            Some(Match { share, error: None }) => format!("{:.1} %", share * 100.0),
            Some(Match {
                share,
                error: Some(error),
            }) => {
                format!("{:.1} ± {:.1} %", share * 100.0, error * 100.0)
            }
        };
        text.extend([format!(
            "<tr><td>{}<td>{:.4}<td>{:.4}<td>{:.2}<td>{:.4}<td>{share}</tr>",
            row.policy.name(),
            row.mean.freshness,
            row.mean.weighted_freshness,
            row.mean.mean_age_h,
            row.mean.requests_per_page_day,
        )]);
    }
    text + "</table>"
}

fn bars(rows: &[Row]) -> String {
    let height = 24.0 * rows.len() as f64 + 10.0;
    let most = rows
        .iter()
        .filter_map(|row| Some(row.match_static?.share))
        .fold(1.0, f64::max);
    let scale = (WIDTH - 240.0) / most;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"requests to match the static cycle\">"
    );
    for (at, row) in rows.iter().enumerate() {
        let y = 24.0 * at as f64 + 5.0;
        let (share, words) = match row.match_static {
            Some(found) => (found.share, format!("{:.1} %", found.share * 100.0)),
            None => (0.0, "never".to_owned()),
        };
        let colour = if share <= 1.0 { COLOURS[0] } else { COLOURS[1] };
        write!(
            svg,
            "<text x=\"0\" y=\"{:.0}\" font-size=\"14\">{}</text><rect x=\"130\" y=\"{y:.0}\" width=\"{:.1}\" height=\"18\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{:.0}\" font-size=\"14\">{words}</text>",
            y + 14.0, row.policy.name(), share * scale, 136.0 + share * scale, y + 14.0
        )
        .expect("a string takes everything");
    }
    svg + "</svg>"
}

/// The share of pages that are fresh at noon and midnight, in the first trial.
fn over_time(asked: &Asked) -> Vec<Line> {
    let world = &asked.worlds[0];
    let lines = asked.policies.iter().map(|policy| {
        let mut visits: Vec<Vec<f64>> = vec![Vec::new(); world.pages.len()];
        let setup = asked.setup.of(*policy);
        trial::run(world, policy.build(world), setup, |visit| {
            visits[visit.page as usize].push(visit.time);
        });
        let fresh_at = |time: f64| {
            let pages = world.pages.iter().zip(&visits);
            let fresh = pages.filter(|(page, visits)| {
                let last = visits[..visits.partition_point(|visit| *visit <= time)].last();
                let last = last.copied().unwrap_or(0.0);
                let before = |until: f64| page.changes.partition_point(|change| *change <= until);
                before(last) == before(time)
            });
            fresh.count() as f64 / world.pages.len() as f64
        };
        let steps = 0..(world.days * 2.0) as u32;
        let points = steps.map(|step| {
            let time = f64::from(step) / 2.0;
            (time, fresh_at(time))
        });
        (policy.name().to_owned(), points.collect())
    });
    lines.collect()
}

fn against_budget(asked: &Asked) -> Vec<Line> {
    let lines = asked.policies.iter().map(|policy| {
        let points = curve(&asked.worlds[..1], *policy, asked.setup, &SHARES);
        (policy.name().to_owned(), points)
    });
    lines.collect()
}

/// Lines over one pair of axes.
pub(super) fn plot(across: &str, up: &str, lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|(_, points)| points);
    let x_max = points().map(|point| point.0).fold(1e-9, f64::max);
    let y_min = points().map(|point| point.1).fold(1.0, f64::min);
    let y_min = (y_min * 10.0).floor() / 10.0;
    let x = |value: f64| LEFT + value / x_max * (WIDTH - LEFT - 120.0);
    let y = |value: f64| 10.0 + (1.0 - value) / (1.0 - y_min).max(1e-9) * (HEIGHT - BOTTOM - 10.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{up} against {across}\" font-size=\"12\">"
    );
    for step in 0..=4 {
        let part = f64::from(step) / 4.0;
        let (value, time) = (y_min + part * (1.0 - y_min), part * x_max);
        write!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ddd\"/><text x=\"20\" y=\"{:.1}\">{value:.2}</text><text x=\"{:.1}\" y=\"{:.0}\">{time:.4}</text>",
            x(x_max), y(value), y(value), y(value) + 4.0, x(time), HEIGHT - 22.0
        )
        .expect("a string takes everything");
    }
    for (at, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        // Colours run out before lines do.
        let dash = DASHES[at / COLOURS.len() % DASHES.len()];
        let path: Vec<String> = points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1)))
            .collect();
        let y = 16.0 + 18.0 * at as f64;
        write!(
            svg,
            "<g stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dash}\"><polyline points=\"{}\" fill=\"none\"/><line x1=\"{:.0}\" x2=\"{:.0}\" y1=\"{y:.0}\" y2=\"{y:.0}\"/></g><text x=\"{:.0}\" y=\"{:.0}\">{name}</text>",
            path.join(" "), WIDTH - 116.0, WIDTH - 92.0, WIDTH - 86.0, y + 4.0
        )
        .expect("a string takes everything");
    }
    write!(
        svg,
        "<text x=\"{:.0}\" y=\"{:.0}\">{across}</text></svg>",
        WIDTH / 2.0 - 60.0,
        HEIGHT - 4.0
    )
    .expect("a string takes everything");
    svg
}
