//! The comparison as a page: a table and plots as SVG, in one file.

use geomi_sim::refresh::compare::{Match, Matching, Row, curve};
use geomi_sim::refresh::trial;
use geomi_sim::refresh::web::WorldPage;

use super::chart::{self, Axis, Line, WIDTH, put};
use super::simulate::{Asked, notes};

/// Budgets of the curve, against the one asked for.
const SHARES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Points of a line over time; more cannot be told apart.
const POINTS_MAX: f64 = 400.0;

/// Columns that fit on a telephone in letters of the usual size.
const COLUMNS_FEW: usize = 5;

/// How pages look, in light and in dark.
const STYLE: &str = "\
:root{color-scheme:light dark;--paper:#fff;--ink:#222;--grid:#ddd;--cell:#eee;--hatch:#aaa;\
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#56b4e9;--c5:#e69f00;--c6:#555}\
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#ddd;--grid:#3a3d42;--cell:#2a2d32;--hatch:#666;\
--c0:#4aa3df;--c1:#f0803c;--c2:#2fc79a;--c3:#e29cc3;--c4:#8fd0f5;--c5:#f2bb45;--c6:#aaa}}\
body{font:16px system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;background:var(--paper);color:var(--ink)}\
h1,p{overflow-wrap:anywhere}\
.wide{overflow-x:auto}table{border-collapse:collapse}\
td,th{padding:.2rem .6rem;text-align:right;vertical-align:bottom}td{white-space:nowrap}tr:nth-child(even){background:var(--cell)}\
.left{text-align:left}\
svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--ink)}.grid{stroke:var(--grid)}\
.legend{margin:.2rem 0 1rem;font-size:.9rem}.legend span{margin-right:1rem;white-space:nowrap}\
.legend i{display:inline-block;width:1.4rem;margin-right:.4rem;vertical-align:middle}\
.note{font-size:.9rem}\
@media(max-width:40rem){body{margin:1rem auto;padding:0 .8rem}h1{font-size:1.4rem}h2{font-size:1.15rem}svg text{font-size:14px}\
table{font-size:.75rem}td,th{padding:.2rem;white-space:normal}.dense{font-size:.62rem}.dense td,.dense th{padding:.2rem .1rem}}";

/// The whole page.
pub(super) fn page(asked: &Asked, rows: &[Row]) -> String {
    let title = format!("Refresh policies on {}", escaped(&asked.web));
    let mut body = format!(
        "<h1>{title}</h1><p>{}. {}.</p>",
        asked.extent.in_words(),
        asked.terms_in_words()
    );
    body += &table(&lines_of(asked, rows), &[0]);
    for note in notes(asked, rows) {
        put(&mut body, format_args!("<p class=\"note\">{note}</p>"));
    }
    if asked.matching == Matching::Searched {
        body += "<h2>Requests to match the static cycle</h2>";
        body += &bars(rows);
    }
    let what = if asked.setup.is_weighted {
        "Weighted freshness"
    } else {
        "Freshness"
    };
    put(
        &mut body,
        format_args!("<h2>{what} over time</h2>{}", over_time(asked, what)),
    );
    put(
        &mut body,
        format_args!(
            "<h2>{what} against requests</h2>{}",
            against_budget(asked, what)
        ),
    );
    framed(&title, &body)
}

/// A body as a whole page.
pub(super) fn framed(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style>{body}</html>\n"
    )
}

/// Text that is safe in a page.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

/// Lines of fields as a table, the columns `lefts` set to the left; the first line names
/// the columns.
pub(super) fn table(lines: &[Vec<String>], lefts: &[usize]) -> String {
    // On a telephone a table of many columns needs small letters.
    let is_dense = lines.iter().any(|line| line.len() > COLUMNS_FEW);
    let class = if is_dense { " class=\"dense\"" } else { "" };
    let mut text = format!("<div class=\"wide\"><table{class}>");
    for (at, line) in lines.iter().enumerate() {
        let tag = if at == 0 { "th" } else { "td" };
        text += "<tr>";
        for (column, field) in line.iter().enumerate() {
            let side = if lefts.contains(&column) {
                " class=\"left\""
            } else {
                ""
            };
            put(&mut text, format_args!("<{tag}{side}>{}", escaped(field)));
        }
        text += "</tr>";
    }
    text + "</table></div>"
}

/// The policies as lines of a table.
fn lines_of(asked: &Asked, rows: &[Row]) -> Vec<Vec<String>> {
    let has_match = asked.matching == Matching::Searched;
    let mut head = vec![
        "policy",
        "freshness",
        "weighted",
        "of others",
        "mean age, h",
        "requests a page a day",
    ];
    head.extend(has_match.then_some("match static"));
    let mut lines = vec![head.into_iter().map(str::to_owned).collect()];
    lines.extend(rows.iter().map(|row| {
        let mean = &row.mean;
        let mut line = vec![
            row.policy.name().to_owned(),
            format!("{:.4}", mean.freshness),
            format!("{:.4}", mean.weighted_freshness),
            format!("{:.4}", mean.freshness_of_others),
            format!("{:.2}", mean.mean_age_h),
            format!("{:.4}", mean.requests_per_page_day),
        ];
        line.extend(has_match.then(|| match_in_words(row.match_static)));
        line
    }));
    lines
}

fn match_in_words(found: Option<Match>) -> String {
    let Some(Match { share, error }) = found else {
        return "never".to_owned();
    };
    // It may break before its error, and nowhere else.
    let error = error.map_or(String::new(), |error| {
        format!(" ±\u{a0}{:.1}", error * 100.0)
    });
    format!("{:.1}\u{a0}%{error}", share * 100.0)
}

fn bars(rows: &[Row]) -> String {
    const LEFT: f64 = 100.0;
    let height = 24.0 * rows.len() as f64 + 10.0;
    let most = rows
        .iter()
        .filter_map(|row| Some(row.match_static?.share))
        .fold(1.0, f64::max);
    let scale = (WIDTH - LEFT - 70.0) / most;
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"requests to match the static cycle\">"
    );
    for (at, row) in rows.iter().enumerate() {
        let y = 24.0 * at as f64 + 5.0;
        let (share, words) = match row.match_static {
            Some(found) => (found.share, format!("{:.1} %", found.share * 100.0)),
            None => (0.0, "never".to_owned()),
        };
        let colour = usize::from(share > 1.0);
        put(
            &mut svg,
            format_args!(
                "<text x=\"0\" y=\"{:.0}\">{}</text><rect x=\"{LEFT}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"18\" fill=\"var(--c{colour})\"/><text x=\"{:.1}\" y=\"{:.0}\">{words}</text>",
                y + 14.0,
                row.policy.name(),
                share * scale,
                LEFT + 6.0 + share * scale,
                y + 14.0
            ),
        );
    }
    svg + "</svg>"
}

/// The mean freshness of each day, in the first trial. A day, and not a moment of it:
/// what changes and is visited at the same hours looks like a saw at any moment.
fn over_time(asked: &Asked, what: &str) -> String {
    let world = &asked.worlds[0];
    let step = (world.days / POINTS_MAX).ceil().max(1.0);
    let lines: Vec<Line> = asked
        .policies
        .iter()
        .map(|policy| {
            let mut visits: Vec<Vec<f64>> = vec![Vec::new(); world.pages.len()];
            let setup = asked.setup.of(*policy);
            trial::run(world, policy.build(world), setup, |visit| {
                visits[visit.page as usize].push(visit.time);
            });
            let mut means = Means::new(world.days, step);
            for (page, visits) in world.pages.iter().zip(&visits) {
                let weight = if setup.is_weighted { page.weight } else { 1.0 };
                means.take(page, visits, weight);
            }
            (policy.name().to_owned(), means.points())
        })
        .collect();
    let values = lines.iter().flat_map(|(_, points)| points);
    let up = Axis::shares(&what.to_lowercase(), values.map(|point| point.1));
    let across = Axis::up_to("day", world.days);
    let every = if step > 1.0 {
        format!("means of {step:.0} days")
    } else {
        "daily means".to_owned()
    };
    let note = format!(
        "<p class=\"note\">The first trial, {every}; the first {:.1} days are not counted above.</p>",
        world.learning_days
    );
    chart::lines(across, up, &lines) + &note
}

/// Mean freshness of equal pieces of time.
struct Means {
    days: f64,
    step: f64,
    fresh: Vec<f64>,
    weights: f64,
}

impl Means {
    fn new(days: f64, step: f64) -> Self {
        Self {
            days,
            step,
            fresh: vec![0.0; (days / step).ceil() as usize],
            weights: 0.0,
        }
    }

    /// Takes a page in, with the times of its visits.
    fn take(&mut self, page: &WorldPage, visits: &[f64], weight: f64) {
        self.weights += weight;
        for (at, copied) in visits.iter().enumerate() {
            let next = visits.get(at + 1).copied().unwrap_or(self.days);
            let seen = page.changes.partition_point(|change| *change <= *copied);
            let stale = page.changes.get(seen).copied().unwrap_or(f64::INFINITY);
            self.add(*copied, stale.min(next), weight);
        }
    }

    /// A copy was right from one time to another.
    fn add(&mut self, from: f64, to: f64, weight: f64) {
        let mut begin = from;
        while begin < to {
            let piece = (begin / self.step) as usize;
            let end = ((piece + 1) as f64 * self.step).min(to);
            if let Some(fresh) = self.fresh.get_mut(piece) {
                *fresh += (end - begin) * weight;
            }
            begin = end;
        }
    }

    /// The middle of each piece, and its mean.
    fn points(&self) -> Vec<(f64, f64)> {
        let pieces = self.fresh.iter().enumerate();
        let point = |(at, fresh): (usize, &f64)| {
            let begin = at as f64 * self.step;
            let length = (self.days - begin).min(self.step);
            (
                begin + length / 2.0,
                fresh / (length * self.weights).max(1e-9),
            )
        };
        pieces.map(point).collect()
    }
}

fn against_budget(asked: &Asked, what: &str) -> String {
    let lines: Vec<Line> = asked
        .policies
        .iter()
        .map(|policy| {
            let points = curve(&asked.worlds[..1], *policy, asked.setup, &SHARES);
            (policy.name().to_owned(), points)
        })
        .collect();
    let points = || lines.iter().flat_map(|(_, points)| points);
    let most = points().map(|point| point.0).fold(1e-6, f64::max);
    let across = Axis::up_to("requests a page a day", most);
    let up = Axis::shares(&what.to_lowercase(), points().map(|point| point.1));
    let note = "<p class=\"note\">The first trial, at a quarter to four times the budget.</p>";
    chart::lines(across, up, &lines) + note
}

#[cfg(test)]
mod tests {
    use geomi_sim::refresh::web::ModelWeb;

    use super::*;

    #[test]
    fn a_day_is_as_fresh_as_the_copies_were_in_it() {
        let mut page = ModelWeb::Flat.draw(1, 0).pages.swap_remove(0);
        page.changes = vec![0.5, 2.25];
        let mut means = Means::new(2.5, 1.0);
        means.take(&page, &[0.0, 1.0], 3.0);
        assert_eq!(means.points(), [(0.5, 0.5), (1.5, 1.0), (2.25, 0.5)]);
        page.changes.clear();
        means.take(&page, &[0.0], 1.0);
        assert_eq!(means.points()[0], (0.5, 0.625));
    }
}
