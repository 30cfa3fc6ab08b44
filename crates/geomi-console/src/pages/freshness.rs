//! How fresh copies are: curves over time, and how right predictions were.
//!
//! A curve is a picture with its sense in a sentence; its numbers are in a table below it,
//! which opens with mouse or keyboard.

use geomi_refresh::upkeep::instant;
use geomi_report::freshness::{Class, Point};
use maud::{Markup, html};

use super::format;
use super::live::bar;
use crate::library::freshness::Freshness;
use crate::words::{Words, fill};

/// Width and height of a curve, and the room for its labels left and below.
const SIZE: (f64, f64) = (400.0, 170.0);
const MARGIN: (f64, f64) = (54.0, 24.0);
/// Room above the highest line.
const TOP: f64 = 10.0;

/// One of the two curves.
struct Curve<'a> {
    title: &'a str,
    value: fn(&Point) -> f64,
    told: fn(f64) -> String,
    /// From the lowest to the highest line.
    range: (f64, f64),
}

/// The cards, if there is anything to show.
pub(crate) fn show(words: &Words, found: &Freshness) -> Markup {
    if found.points.len() < 2 {
        return html! {};
    }
    let shares = found.points.iter().map(|point| point.estimated.freshness);
    let ages = found.points.iter().map(|point| point.estimated.age_h);
    let fresh = Curve {
        title: words.freshness,
        value: |point| point.estimated.freshness,
        told: format::share,
        range: (lowest_share(shares.fold(1.0, f64::min)), 1.0),
    };
    let age = Curve {
        title: words.mean_age,
        value: |point| point.estimated.age_h,
        told: format::rate,
        range: (0.0, highest(ages.fold(0.0, f64::max))),
    };
    html! {
        div.two { (card(words, &fresh, found)) (card(words, &age, found)) }
        div.two { (predicted(words, &found.classes)) (numbers(words, &found.points)) }
    }
}

/// The tenth at or below a share: a curve that moves between two of them is seen to move.
fn lowest_share(least: f64) -> f64 {
    ((least * 10.0).floor() / 10.0).clamp(0.0, 0.9)
}

/// A round number at or above the largest value.
fn highest(most: f64) -> f64 {
    let power = 10_f64.powf(most.max(0.1).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= most).unwrap_or(most)
}

fn card(words: &Words, curve: &Curve<'_>, found: &Freshness) -> Markup {
    html! {
        section.card {
            h2 { (curve.title) }
            div.scroll tabindex="0" role="region" aria-label=(curve.title) { (picture(words, curve, &found.points)) }
            @if found.is_sample() { p.muted { (format::counted(words.estimated_of, found.one_in)) } }
        }
    }
}

/// Places of the picture: from the first time to the last, from the lowest value up.
struct Places {
    times: (f64, f64),
    values: (f64, f64),
}

impl Places {
    fn x(&self, time: f64) -> f64 {
        let (first, last) = self.times;
        MARGIN.0 + (SIZE.0 - MARGIN.0) * (time - first) / (last - first).max(1e-9)
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let floor = SIZE.1 - MARGIN.1;
        floor - (floor - TOP) * (value - low) / (high - low).max(1e-9)
    }
}

fn picture(words: &Words, curve: &Curve<'_>, points: &[Point]) -> Markup {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return html! {};
    };
    let places = Places {
        times: (first.at, last.at),
        values: curve.range,
    };
    let line: Vec<String> = points
        .iter()
        .map(|point| {
            format!(
                "{:.1},{:.1}",
                places.x(point.at),
                places.y((curve.value)(point))
            )
        })
        .collect();
    let (low, high) = curve.range;
    html! {
        svg.curve viewBox={ "0 0 " (SIZE.0) " " (SIZE.1) } role="img" aria-label=(summary(words, curve, points)) {
            @for value in [low, f64::midpoint(low, high), high] {
                @let y = format!("{:.1}", places.y(value));
                line.grid x1=(MARGIN.0) x2=(SIZE.0) y1=(y) y2=(y) {}
                text x=(MARGIN.0 - 6.0) y=(y) dy="4" text-anchor="end" { ((curve.told)(value)) }
            }
            text x=(MARGIN.0) y=(SIZE.1 - 6.0) { (moment(first.at)) }
            text x=(SIZE.0) y=(SIZE.1 - 6.0) text-anchor="end" { (moment(last.at)) }
            polyline points=(line.join(" ")) {}
        }
    }
}

/// A time to the minute.
fn moment(at: f64) -> String {
    let text = format::moment(&instant(at).to_rfc3339_secs());
    text.get(..16).unwrap_or(&text).to_owned()
}

/// The picture in a sentence.
fn summary(words: &Words, curve: &Curve<'_>, points: &[Point]) -> String {
    let values = || points.iter().map(curve.value);
    let told = |value: Option<f64>| value.map_or(String::new(), curve.told);
    let begin = points
        .first()
        .map_or(String::new(), |point| moment(point.at));
    fill(
        words.curve_summary,
        &[
            ("name", curve.title),
            ("last", &told(values().next_back())),
            ("least", &told(values().reduce(f64::min))),
            ("most", &told(values().reduce(f64::max))),
            ("begin", &begin),
        ],
    )
}

/// What the curves are drawn from.
fn numbers(words: &Words, points: &[Point]) -> Markup {
    html! {
        section.card {
            p.muted { (words.freshness_lead) }
            details {
                summary { (words.in_numbers) }
                div.scroll.log tabindex="0" role="region" aria-label=(words.in_numbers) {
                    table.list {
                        thead { tr {
                            th scope="col" { (words.time) }
                            th.num scope="col" { (words.freshness) }
                            th.num scope="col" { (words.mean_age) }
                        } }
                        tbody { @for point in points.iter().rev() {
                            tr {
                                th scope="row" { (moment(point.at)) }
                                td.num { (format::share(point.estimated.freshness)) }
                                td.num { (format::rate(point.estimated.age_h)) }
                            }
                        } }
                    }
                }
            }
        }
    }
}

/// How likely changes were thought to be, and how common they were.
fn predicted(words: &Words, classes: &[Class]) -> Markup {
    html! {
        section.card {
            h2 { (words.predicted_title) }
            p.muted { (words.predicted_lead) }
            @if classes.is_empty() { p.muted { (words.nothing_yet) } } @else {
                div.scroll tabindex="0" role="region" aria-label=(words.predicted_title) {
                    table.list {
                        thead { tr {
                            th.num scope="col" { (words.predicted) }
                            th.num scope="col" { (words.seen) }
                            th.num scope="col" { (words.visits) }
                            th scope="col" { (words.change_share) }
                        } }
                        tbody { @for class in classes {
                            tr {
                                th.num scope="row" { (format::share(class.predicted())) }
                                td.num { (format::share(class.seen())) }
                                td.num { (format::count(class.visits)) }
                                td.bars { (bar(class.changed, class.visits, true)) }
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
    use geomi_report::freshness::Copies;

    use super::*;
    use crate::words::Language;

    fn points(values: &[(f64, f64)]) -> Vec<Point> {
        let point = |(at, (freshness, age_h)): (usize, &(f64, f64))| Point {
            at: 20_000.0 + at as f64,
            estimated: Copies {
                freshness: *freshness,
                age_h: *age_h,
            },
            truth: None,
        };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn a_curve_is_told_in_a_sentence_and_stays_in_its_frame() {
        let words = Language::English.words();
        let curve = Curve {
            title: words.freshness,
            value: |point| point.estimated.freshness,
            told: format::share,
            range: (0.8, 1.0),
        };
        let points = points(&[(0.95, 1.0), (0.81, 9.0), (0.9, 4.0)]);
        let shown = picture(words, &curve, &points).into_string();
        let told = "90.0 % at the end, between 81.0 % and 95.0 % since 2024-10-04 00:00";
        assert!(shown.contains(told), "{shown}");
        assert!(shown.contains("points=\"54.0,"), "{shown}");
        assert!(shown.contains(" 400.0,"), "{shown}");
        assert_eq!(shown.matches("<line").count(), 3);
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (most, round) in [
            (0.0, 0.1),
            (0.7, 1.0),
            (1.3, 2.0),
            (41.0, 50.0),
            (100.0, 100.0),
        ] {
            assert!(
                (highest(most) - round).abs() < 1e-9,
                "{most}: {}",
                highest(most)
            );
        }
        assert!((lowest_share(0.83) - 0.8).abs() < 1e-9);
        assert!((lowest_share(1.0) - 0.9).abs() < 1e-9);
    }
}
