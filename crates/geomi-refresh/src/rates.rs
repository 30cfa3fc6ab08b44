//! The grid of rates every estimate lives on, and quick curves over it.
//!
//! A page changes like a Poisson process whose rate is one of 36, spaced evenly
//! in the logarithm from one change in 2,000 days to 48 a day. Because both the
//! grid and the table of a curve are even in the logarithm, the values of a
//! curve at `rate * time` for all 36 rates are a fixed number of entries apart. A
//! `Curve` keeps entries that far apart side by side, so that all 36 are one
//! piece of memory: no exponential is computed where pages are observed or planned.

use std::sync::LazyLock;

/// How many rates there are.
pub const RATES: usize = 36;

/// Changes a day of the slowest rate.
const SLOWEST: f64 = 1.0 / 2_000.0;
/// Changes a day of the fastest rate.
const FASTEST: f64 = 48.0;

/// Table entries from one rate to the next.
const STRIDE: usize = 16;
/// The logarithm at which the tables begin: below it nothing has happened.
const LOW: f64 = -14.0;
/// The logarithm at which they end: above it everything has.
const HIGH: f64 = 3.5;

/// A number for every rate of the grid.
pub type PerRate = [f32; RATES];

/// Entries before the first and after the last one that are as they: wherever a
/// time lies, there are values for all rates.
const MARGIN: i32 = (RATES * STRIDE) as i32;

/// A curve of `x = rate * time`, tabled in `ln x`.
struct Curve {
    /// Entries `STRIDE` apart follow each other; these rows do so by their first.
    values: Vec<f32>,
    row: usize,
    last: i32,
}

impl Curve {
    fn new(step: f64, curve: impl Fn(f64) -> f64) -> Self {
        let last = ((HIGH - LOW) / step).ceil() as i32;
        let row = (last + 2 * MARGIN) as usize / STRIDE + 1;
        let mut values = vec![0.0; row * STRIDE];
        for (at, value) in values.iter_mut().enumerate() {
            let entry = (at % row * STRIDE + at / row) as i32 - MARGIN;
            let x = (LOW + f64::from(entry.clamp(0, last)) * step).exp();
            *value = curve(x) as f32;
        }
        Self { values, row, last }
    }

    /// The values for all rates at an entry.
    fn at(&self, entry: i32) -> &PerRate {
        let place = (entry.clamp(-MARGIN, self.last) + MARGIN) as usize;
        let begin = place % STRIDE * self.row + place / STRIDE;
        let values = self.values[begin..].first_chunk();
        values.expect("a row ends a margin after the last entry")
    }

    /// The values for all rates at a time.
    fn all(&self, span: Span) -> PerRate {
        let (here, next) = (self.at(span.at), self.at(span.at + 1));
        std::array::from_fn(|rate| here[rate] + span.part * (next[rate] - here[rate]))
    }

    /// That for one rate.
    fn one(&self, span: Span, rate: usize) -> f32 {
        let (here, next) = (self.at(span.at)[rate], self.at(span.at + 1)[rate]);
        here + span.part * (next - here)
    }
}

struct Tables {
    step: f64,
    /// `e^-x`: the copy is still right.
    fresh: Curve,
    /// `1 - (1 + x) e^-x`: what a visit is worth, times the rate.
    gain: Curve,
    rates: PerRate,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let step = spacing() / STRIDE as f64;
    Tables {
        step,
        fresh: Curve::new(step, |x| (-x).exp()),
        gain: Curve::new(step, gain),
        rates: std::array::from_fn(|at| rate(at) as f32),
    }
});

/// `ln` of the factor between neighbouring rates.
fn spacing() -> f64 {
    (FASTEST / SLOWEST).ln() / (RATES - 1) as f64
}

/// The changes a day of one rate of the grid.
pub fn rate(at: usize) -> f64 {
    SLOWEST * (spacing() * at as f64).exp()
}

/// All rates.
pub fn rates() -> &'static PerRate {
    &TABLES.rates
}

/// The place in the grid nearest to a rate.
pub fn nearest(rate: f64) -> usize {
    let at = ((rate / SLOWEST).max(1e-9).ln() / spacing()).round();
    at.clamp(0.0, (RATES - 1) as f64) as usize
}

/// `1 - (1 + x) e^-x` without cancellation where `x` is small.
pub fn gain(x: f64) -> f64 {
    if x < 1e-3 {
        return x * x * (0.5 - x / 3.0);
    }
    1.0 - (1.0 + x) * (-x).exp()
}

/// A time, as a place in the tables: found once, used for all rates.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    at: i32,
    part: f32,
}

impl Span {
    /// The place of a time in days.
    pub fn of(days: f64) -> Self {
        // A logarithm of this size is right to a ten-thousandth of an entry as `f32`.
        let logarithm = f64::from(ln((days.max(1e-12) * SLOWEST) as f32));
        let place = (logarithm - LOW) / TABLES.step;
        // Rounding down is a call into a library on older processors.
        let towards_zero = place as i32;
        let at = towards_zero - i32::from(f64::from(towards_zero) > place);
        Self {
            at,
            part: (place - f64::from(at)) as f32,
        }
    }

    /// The place at a table entry, for searches that need no finer answer.
    pub(crate) const fn entry(at: i32) -> Self {
        Self { at, part: 0.0 }
    }

    /// The entry this place lies in.
    pub(crate) const fn floor(self) -> i32 {
        self.at
    }

    /// The days of an entry.
    pub(crate) fn days(entry: f64) -> f64 {
        (LOW + entry * TABLES.step).exp() / SLOWEST
    }

    /// The sum of `1 - (1 + x) e^-x` over all rates, each times its term, at a table
    /// entry.
    pub(crate) fn sum_gain(entry: i32, terms: &PerRate) -> f32 {
        dot(TABLES.gain.at(entry), terms)
    }

    /// The same of `e^-x`.
    pub(crate) fn sum_fresh(entry: i32, terms: &PerRate) -> f32 {
        dot(TABLES.fresh.at(entry), terms)
    }

    /// The probability that a page has not changed in this time, for every rate.
    pub(crate) fn fresh_all(self) -> PerRate {
        TABLES.fresh.all(self)
    }

    /// The probability that a page of this rate has not changed in this time.
    pub fn fresh(self, rate: usize) -> f32 {
        TABLES.fresh.one(self, rate)
    }

    /// `1 - (1 + x) e^-x` at `x = rate * time`.
    pub fn gain(self, rate: usize) -> f32 {
        TABLES.gain.one(self, rate)
    }
}

/// The logarithm of a positive number that is not denormal, right to seven digits or so.
/// A visit asks for some seventy of them: the library's is a call for each, of these
/// several are made at once.
#[inline]
pub(crate) fn ln(x: f32) -> f32 {
    const SQRT_HALF: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    const MANTISSA_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    // `x` is `m` times a power of two, `m` around one: ln m = 2 artanh((m - 1) / (m + 1)).
    let power = x.to_bits().wrapping_sub(SQRT_HALF).cast_signed() >> MANTISSA_BITS;
    let m = f32::from_bits(
        x.to_bits()
            .wrapping_sub((power << MANTISSA_BITS).cast_unsigned()),
    );
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = square * (1.0 / 3.0 + square * (1.0 / 5.0 + square * (1.0 / 7.0)));
    power as f32 * std::f32::consts::LN_2 + 2.0 * (s + s * series)
}

/// Sums that are made side by side, as the processor likes it.
const LANES: usize = 12;

/// The sum of the products of two numbers a rate.
#[inline]
pub(crate) fn dot(left: &PerRate, right: &PerRate) -> f32 {
    let (left, _) = left.as_chunks::<LANES>();
    let (right, _) = right.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_spans_years_to_half_hours() {
        assert!((rate(0) - SLOWEST).abs() < 1e-12);
        assert!((rate(RATES - 1) - FASTEST).abs() < 1e-9);
        assert_eq!(nearest(rate(17)), 17);
        assert_eq!(nearest(0.0), 0);
        assert_eq!(nearest(1e9), RATES - 1);
    }

    #[test]
    fn the_tables_are_the_curves() {
        for days in [1e-4, 0.04, 0.7, 1.0, 9.0, 80.0] {
            for at in [0, 9, 20, 35] {
                let (span, x) = (Span::of(days), rate(at) * days);
                let fresh = f64::from(span.fresh(at));
                assert!((fresh - (-x).exp()).abs() < 2e-4, "{days} {at}: {fresh}");
                let tabled = f64::from(span.gain(at));
                assert!((tabled - gain(x)).abs() < 2e-4, "{days} {at}: {tabled}");
            }
        }
    }

    #[test]
    fn the_logarithm_is_that_of_the_library() {
        for step in 0..20_000 {
            let x = 1e-30_f64 * 1.01_f64.powi(step / 2) * (1.0 + f64::from(step % 7) / 13.0);
            let (found, right) = (f64::from(ln(x as f32)), f64::from(x as f32).ln());
            let error = (found - right).abs() / right.abs().max(1.0);
            assert!(error < 2e-7, "{x}: {found} {right}");
        }
        assert!(ln(1.0).abs() < 1e-9);
    }

    #[test]
    fn a_small_gain_does_not_cancel() {
        assert!((gain(1e-6) - 0.5e-12).abs() < 1e-17);
        assert!((gain(1e-3) - gain(0.999_999e-3)).abs() < 1e-11);
    }
}
