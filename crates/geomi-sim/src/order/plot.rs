//! The comparison as one HTML page: for each web a table and two plots, all
//! inline, so that the file can be sent around.

use std::fmt::Write as _;

use super::measure::{DECILES, POINTS};
use super::{CONNECTIONS, Experiment, LARGEST, Row, SMALLEST};

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 260.0;
/// Room for the axes: left and below.
const LEFT: f64 = 52.0;
const BELOW: f64 = 36.0;
const TOP: f64 = 12.0;
/// Colours that are told apart by the colour-blind too (Okabe and Ito), and the
/// dashes that tell them apart in print.
const STYLES: [(&str, &str); 4] = [
    ("#0072b2", ""),
    ("#d55e00", "7 3"),
    ("#009e73", "2 3"),
    ("#cc79a7", "9 3 2 3"),
];

/// The page.
pub fn page(experiment: &Experiment, rows: &[Row]) -> String {
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>Host orders</title>\n<style>{STYLE}</style></head><body>\n<h1>Host orders, side by side</h1>\n\
         <p>{CONNECTIONS} connections, a rest of max(1 s, 5 x the last request); sites of {SMALLEST} to {LARGEST} pages \
         (Zipf); seed {}, {} trials. Plots show the first trial, tables the mean and the standard deviation.</p>\n",
        experiment.seed, experiment.trials
    );
    for group in rows.chunk_by(|a, b| (a.web, a.regime) == (b.web, b.regime)) {
        let heading = format!("{}, {}", group[0].web, group[0].regime);
        write!(
            html,
            "<section><h2>{heading}</h2>\n{}<div class=\"plots\">{}{}</div></section>\n",
            table(group),
            pages_over_time(group),
            waits_by_decile(group)
        )
        .expect("a string takes everything");
    }
    html.push_str("</body></html>\n");
    html
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}\
th:first-child,td:first-child{text-align:left}.plots{display:flex;flex-wrap:wrap;gap:1rem}\
svg{max-width:100%;color:inherit}svg text{font-size:11px;fill:currentColor}small{opacity:.7}\
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}";

fn table(rows: &[Row]) -> String {
    let mut html = String::from(
        "<table><tr><th>order</th><th>pages/s</th><th>t50 s</th><th>t90 s</th><th>t99 s</th><th>end s</th>\
         <th>slowest tenth waits s</th><th>longest wait s</th><th>to round-robin</th><th>idle</th></tr>\n",
    );
    for Row {
        policy,
        mean,
        spread,
        ..
    } in rows
    {
        let cells = [
            (mean.pages_per_s, spread.pages_per_s),
            (mean.t50_s, spread.t50_s),
            (mean.t90_s, spread.t90_s),
            (mean.t99_s, spread.t99_s),
            (mean.end_s, spread.end_s),
            (mean.slowest_decile_wait_s, spread.slowest_decile_wait_s),
            (mean.longest_wait_s, spread.longest_wait_s),
        ];
        let cell = |(mean, spread)| format!("<td>{mean:.1} <small>± {spread:.1}</small></td>");
        let cells = cells.map(cell).concat();
        let ratio = match mean.wait_to_round_robin {
            unknown if unknown.is_nan() => String::new(),
            ratio => format!("{ratio:.2} x"),
        };
        writeln!(
            html,
            "<tr><td>{policy}</td>{cells}<td>{ratio}</td><td>{:.1} %</td></tr>",
            mean.idle_share * 100.0
        )
        .expect("a string takes everything");
    }
    html.push_str("</table>\n");
    html
}

fn pages_over_time(rows: &[Row]) -> String {
    // The last hundredth is the largest site alone: it would press all the
    // rest against the axis.
    let last = POINTS * 99 / 100 - 1;
    let ends = rows.iter().map(|row| row.shape.curve_s[last]);
    let end_s = ends.fold(0.0, f64::max);
    let lines = rows.iter().map(|row| {
        let times = row.shape.curve_s.iter().take(last + 1);
        let shares = (1..=POINTS).map(|point| point as f64 / POINTS as f64);
        let points = times.zip(shares).map(|(time, share)| (time / end_s, share));
        points.collect()
    });
    plot(
        "share of pages over time",
        ("0", &format!("{end_s:.0} s")),
        "100 %",
        rows,
        lines.collect(),
    )
}

fn waits_by_decile(rows: &[Row]) -> String {
    let waits = rows.iter().flat_map(|row| row.shape.waits_s);
    let longest = waits.fold(0.0, f64::max).max(1e-6);
    let lines = rows.iter().map(|row| {
        let waits = row.shape.waits_s.iter().enumerate();
        let place = |decile: usize| decile as f64 / (DECILES - 1) as f64;
        let points = waits.map(|(decile, wait)| (place(decile), wait / longest));
        points.collect()
    });
    plot(
        "mean wait by round-trip time of the site",
        ("quickest tenth", "slowest"),
        &format!("{longest:.1} s"),
        rows,
        lines.collect(),
    )
}

/// A plot of lines in the unit square, with the ends of the axes named.
fn plot(
    title: &str,
    (x_from, x_to): (&str, &str),
    y_to: &str,
    rows: &[Row],
    lines: Vec<Vec<(f64, f64)>>,
) -> String {
    let (right, bottom) = (WIDTH - 8.0, HEIGHT - BELOW);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"{title}\">\n\
         <path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"currentColor\"/>\n\
         <text x=\"{LEFT}\" y=\"{0}\">{x_from}</text>\
         <text x=\"{right}\" y=\"{0}\" text-anchor=\"end\">{x_to}</text>\
         <text x=\"{1}\" y=\"{0}\" text-anchor=\"middle\">{title}</text>\
         <text x=\"{2}\" y=\"{3}\" text-anchor=\"end\">{y_to}</text>\
         <text x=\"{2}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\n",
        HEIGHT - 18.0,
        f64::midpoint(LEFT, right),
        LEFT - 6.0,
        TOP + 8.0,
    );
    for (number, (row, line)) in rows.iter().zip(lines).enumerate() {
        let (colour, dashes) = STYLES[number % STYLES.len()];
        let points: Vec<String> = line
            .iter()
            .map(|(x, y)| {
                let x = LEFT + x * (right - LEFT);
                format!("{x:.1},{:.1}", bottom - y * (bottom - TOP))
            })
            .collect();
        let (name_x, name_y) = (LEFT + 10.0, TOP + 12.0 + 14.0 * number as f64);
        writeln!(
            svg,
            "<polyline points=\"{0}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dashes}\"/>\
             <path d=\"M{name_x} {1}h22\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/>\
             <text x=\"{2}\" y=\"{name_y}\">{3}</text>",
            points.join(" "),
            name_y - 4.0,
            name_x + 28.0,
            row.policy,
        )
        .expect("a string takes everything");
    }
    svg.push_str("</svg>\n");
    svg
}
