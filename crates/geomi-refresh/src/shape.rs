//! Hours of the day in which changes fall.
//!
//! A [`Shape`] says how the rate of a page differs by the hour, with a mean of
//! one. A page's own shape is not estimated freely, for which a page has too few
//! visits, but chosen among 17: flat, and for each eighth of a day at which a
//! busy time may begin, one of 9 hours and one of 15 hours that hold 85 % of the
//! changes, which is how REFRESH divides the day.

use std::sync::LazyLock;

/// Parts of a day that are told apart: three hours each.
pub const PARTS: usize = 8;
/// How many shapes there are; the first is flat.
pub const SHAPES: usize = 1 + 2 * PARTS;

/// Share of the changes in the busy hours.
const BUSY_SHARE: f64 = 0.85;
/// How long busy times are, in parts.
const BUSY_PARTS: [usize; 2] = [3, 5];

/// A number for every part of the day.
pub(crate) type PerPart = [f32; PARTS];

/// The rate by the part of the day, against the mean.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shape {
    rate: [f64; PARTS],
    /// The same, to look at them quickly.
    rates: PerPart,
    /// Days of mean rate from midnight until each part begins.
    until: [f64; PARTS + 1],
}

static ALL: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let mut all = vec![Shape::new([1.0; PARTS])];
    for length in BUSY_PARTS {
        all.extend((0..PARTS).map(|begin| Shape::busy(begin, length)));
    }
    all
});

/// All shapes, flat first.
pub fn shapes() -> &'static [Shape] {
    &ALL
}

/// The rate by the part of the day, on average over what is believed of shapes.
pub(crate) fn profile(belief: &[f32; SHAPES]) -> PerPart {
    let mut profile = [0.0; PARTS];
    for (share, shape) in belief.iter().zip(shapes()) {
        for (sum, rate) in profile.iter_mut().zip(shape.rates) {
            *sum += share * rate;
        }
    }
    profile
}

impl Shape {
    fn new(rate: [f64; PARTS]) -> Self {
        let mut until = [0.0; PARTS + 1];
        for at in 0..PARTS {
            until[at + 1] = until[at] + rate[at] / PARTS as f64;
        }
        Self {
            rate,
            rates: rate.map(|rate| rate as f32),
            until,
        }
    }

    fn busy(begin: usize, length: usize) -> Self {
        let mut rate = [(1.0 - BUSY_SHARE) / (PARTS - length) as f64 * PARTS as f64; PARTS];
        for at in begin..begin + length {
            rate[at % PARTS] = BUSY_SHARE / length as f64 * PARTS as f64;
        }
        Self::new(rate)
    }

    /// The rate in a part of the day, against the mean.
    pub fn rate(&self, part: usize) -> f64 {
        self.rate[part]
    }

    /// Days of mean rate between two times.
    pub fn exposure(&self, from: f64, to: f64) -> f64 {
        self.between(&Moment::of(from), &Moment::of(to))
    }

    /// The same where the times are asked about for many shapes.
    pub(crate) fn between(&self, from: &Moment, to: &Moment) -> f64 {
        to.day - from.day + self.at(to) - self.at(from)
    }

    fn at(&self, moment: &Moment) -> f64 {
        self.until[moment.part] + moment.within * self.rate[moment.part]
    }
}

/// A time as a place in its day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    day: f64,
    part: usize,
    /// Days since the part began.
    within: f64,
}

impl Moment {
    pub(crate) fn of(time: f64) -> Self {
        let day = time.floor();
        let place = (time - day) * PARTS as f64;
        let part = (place as usize).min(PARTS - 1);
        let within = (place - part as f64) / PARTS as f64;
        Self { day, part, within }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_day_in_every_shape() {
        assert_eq!(shapes().len(), SHAPES);
        for shape in shapes() {
            assert!((shape.exposure(3.3, 4.3) - 1.0).abs() < 1e-9, "{shape:?}");
        }
    }

    #[test]
    fn refreshs_working_day_is_among_them() {
        let (from, to) = (9.0 / 24.0, 18.0 / 24.0);
        let share = |shape: &Shape| shape.exposure(from, to);
        let day = shapes()
            .iter()
            .filter(|shape| (share(shape) - 0.85).abs() < 1e-9);
        assert_eq!(day.count(), 1);
        let night = shapes()
            .iter()
            .filter(|shape| (share(shape) - 0.15).abs() < 1e-9);
        assert!(night.count() >= 1);
        assert!((share(&shapes()[0]) - 0.375).abs() < 1e-9);
    }
}
