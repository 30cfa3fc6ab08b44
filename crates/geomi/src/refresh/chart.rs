//! Plots as SVG: axes with their ticks, lines, and what the colours mean.
//!
//! A plot is narrow, so that its letters can be read on a telephone, and has its
//! legend below, where lines of names can break.

use std::fmt::Write as _;

use geomi_refresh::upkeep::instant;

use super::html::escaped;

/// Width of all plots, in their own units.
pub(super) const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
/// Half of a date stands to the right of the last tick.
const RIGHT: f64 = 44.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 42.0;
/// Steps between the ticks of an axis, about; dates are wider than numbers.
const STEPS: f64 = 5.0;
const DATES: f64 = 4.0;
/// Colours, which the page names for light and dark.
const COLOURS: usize = 7;
/// What lines of one colour are told apart by: in the plot, and in the legend.
const DASHES: [(&str, &str); 2] = [("none", "solid"), ("5 3", "dashed")];
/// Days between ticks that are dates.
const DATE_STEPS: [f64; 13] = [
    1.0 / 24.0,
    3.0 / 24.0,
    6.0 / 24.0,
    12.0 / 24.0,
    1.0,
    2.0,
    3.0,
    7.0,
    14.0,
    28.0,
    91.0,
    182.0,
    364.0,
];

/// A name and its points.
pub(super) type Line = (String, Vec<(f64, f64)>);

/// One axis: what it shows, from where to where.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    name: String,
    range: (f64, f64),
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis of numbers that begins and ends with a tick.
    pub(super) fn numbers(name: &str, low: f64, high: f64) -> Self {
        let step = nice_step((high - low).max(1e-9) / STEPS);
        let first = (low / step + 1e-6).floor();
        let last = (high / step - 1e-6).ceil();
        Self::stepped(name, step, (first, last))
    }

    /// An axis of numbers that ends where they do.
    pub(super) fn up_to(name: &str, high: f64) -> Self {
        let step = nice_step(high.max(1e-9) / STEPS);
        let mut axis = Self::stepped(name, step, (0.0, (high / step + 1e-6).floor()));
        axis.range.1 = high;
        axis
    }

    fn stepped(name: &str, step: f64, (first, last): (f64, f64)) -> Self {
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let ticks = (first as i64..=last as i64).map(|tick| {
            let value = tick as f64 * step;
            (value, format!("{value:.digits$}"))
        });
        Self {
            name: name.to_owned(),
            range: (first * step, last * step),
            ticks: ticks.collect(),
        }
    }

    /// An axis of shares, from a tenth below the least one to 1.
    pub(super) fn shares(name: &str, values: impl Iterator<Item = f64>) -> Self {
        let least = values.fold(0.99, f64::min);
        let low = (least * 10.0).floor() / 10.0;
        Self::numbers(name, low.clamp(0.0, 0.9), 1.0)
    }

    /// An axis of dates, in days since 1970 by the clock of a zone.
    pub(super) fn dates(from: f64, to: f64, zone: &str) -> Self {
        let to = to.max(from + 1.0 / 24.0);
        let fits = |step: &&f64| (to - from) / **step <= DATES;
        let widest = ((to - from) / DATES / 364.0).ceil() * 364.0;
        let step = DATE_STEPS.iter().find(fits).copied().unwrap_or(widest);
        let (first, last) = ((from / step).ceil(), (to / step).floor());
        let ticks = (first as i64..=last as i64).map(|tick| {
            let day = tick as f64 * step;
            (day, date(day, step))
        });
        Self {
            name: format!("time ({zone})"),
            range: (from, to),
            ticks: ticks.collect(),
        }
    }

    /// Where a value lies, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        (value - low) / (high - low).max(1e-9)
    }
}

/// The day, or the day and the hour where ticks are hours apart.
fn date(day: f64, step: f64) -> String {
    // A twenty-fourth of a day is not a whole number of microseconds.
    let text = instant(day + 1e-6).to_rfc3339_secs();
    let part = if step < 1.0 { 5..16 } else { 0..10 };
    text.get(part).unwrap_or(&text).replace('T', " ")
}

/// The next of 1, 2, 5, 10, 20 and so on, upward and downward.
fn nice_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    let fits = |step: &f64| *step >= least * (1.0 - 1e-9);
    steps.into_iter().find(fits).unwrap_or(10.0 * power)
}

/// A plot without anything in it: its axes.
pub(super) struct Frame {
    across: Axis,
    up: Axis,
}

impl Frame {
    /// The lower end of the plot.
    pub(super) const FLOOR: f64 = HEIGHT - BOTTOM;
    /// The right end of the plot.
    pub(super) const END: f64 = WIDTH - RIGHT;

    pub(super) fn new(across: Axis, up: Axis) -> Self {
        Self { across, up }
    }

    /// Where a value is drawn, from the left.
    pub(super) fn x(&self, value: f64) -> f64 {
        LEFT + self.across.part(value) * (WIDTH - LEFT - RIGHT)
    }

    /// Where a value is drawn, from above.
    pub(super) fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.up.part(value) * (HEIGHT - BOTTOM - TOP)
    }

    /// The whole plot with what is drawn in it.
    pub(super) fn around(&self, drawn: &str) -> String {
        let (across, up) = (escaped(&self.across.name), escaped(&self.up.name));
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{up} against {across}\"><text x=\"0\" y=\"12\">{up}</text>"
        );
        for (value, words) in &self.up.ticks {
            let y = self.y(*value);
            put(
                &mut svg,
                format_args!(
                    "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{words}</text>",
                    Self::END,
                    LEFT - 6.0,
                    y + 4.0
                ),
            );
        }
        for (value, words) in &self.across.ticks {
            let (x, floor) = (self.x(*value), Self::FLOOR);
            put(
                &mut svg,
                format_args!(
                    "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{floor:.1}\" y2=\"{:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{words}</text>",
                    floor + 4.0,
                    floor + 18.0
                ),
            );
        }
        put(
            &mut svg,
            format_args!(
                "{drawn}<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{across}</text></svg>",
                Self::END,
                HEIGHT - 4.0
            ),
        );
        svg
    }
}

/// Lines over one pair of axes, and their names.
pub(super) fn lines(across: Axis, up: Axis, lines: &[Line]) -> String {
    let frame = Frame::new(across, up);
    let (mut drawn, mut names) = (String::new(), Vec::new());
    for (at, (name, points)) in lines.iter().enumerate() {
        let colour = format!("var(--c{})", at % COLOURS);
        // Colours run out before lines do.
        let (dash, border) = DASHES[at / COLOURS % DASHES.len()];
        let path: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{:.1},{:.1}", frame.x(*x), frame.y(*y)))
            .collect();
        put(
            &mut drawn,
            format_args!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-dasharray=\"{dash}\" stroke-linecap=\"round\"/>",
                path.join(" ")
            ),
        );
        let style = format!("border-top:3px {border} {colour}");
        names.push((style, name.clone()));
    }
    frame.around(&drawn) + &legend(&names)
}

/// What is drawn how: the style of a sample, and words.
pub(super) fn legend(entries: &[(String, String)]) -> String {
    let mut text = String::from("<p class=\"legend\">");
    for (style, words) in entries {
        let words = escaped(words);
        put(
            &mut text,
            format_args!("<span><i style=\"{style}\"></i>{words}</span> "),
        );
    }
    text + "</p>"
}

/// Adds to a text.
pub(super) fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(axis: &Axis) -> Vec<&str> {
        let ticks = axis.ticks.iter();
        ticks.map(|(_, words)| words.as_str()).collect()
    }

    #[test]
    fn numbers_are_round_and_reach_the_end() {
        let check = |low: f64, high: f64, expected: &[&str]| {
            assert_eq!(words(&Axis::numbers("n", low, high)), expected);
        };
        check(0.0, 1.0, &["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check(0.9, 1.0, &["0.90", "0.92", "0.94", "0.96", "0.98", "1.00"]);
        check(0.0, 43.0, &["0", "10", "20", "30", "40", "50"]);
        check(0.3, 1.0, &["0.2", "0.4", "0.6", "0.8", "1.0"]);
        let days = Axis::up_to("day", 84.0);
        assert_eq!(words(&days), ["0", "20", "40", "60", "80"]);
        assert!((days.part(84.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn dates_are_days_or_hours() {
        let from = 20_773.0;
        let check = |days: f64, first: &str, count: usize| {
            let axis = Axis::dates(from, from + days, "UTC");
            assert_eq!((words(&axis)[0], words(&axis).len()), (first, count));
        };
        check(3.0, "2026-11-16", 4);
        check(60.0, "2026-11-19", 3);
        check(0.4, "11-16 00:00", 4);
        check(4_000.0, "2029-10-18", 3);
    }
}
