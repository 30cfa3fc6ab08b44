//! How the freshness of a copy falls through the hours and days.
//!
//! A page's hours are believed, not known. What they are on average is its
//! *profile*, and freshness is followed with that for every rate the page may
//! have. For a page that changes less than daily that is what following every shape
//! by itself comes to, at a tenth of the cost; one that changes often is soon known
//! by its own visits, and then the average is its shape.

use crate::posterior::Posterior;
use crate::rates::{RATES, gain, rates};
use crate::rhythm::PerShape;
use crate::shape::{self, PARTS, PerPart};
use crate::week::{PerDay, WEEK};
use crate::worth::{GAP_PARTS, Worths};

/// What is believed less than this is left out of a decision.
const BELIEF_MIN: f32 = 0.04;
/// Rates that are followed; there is hardly a page with more of them believed. Always
/// as many, so that a step is a few instructions without a branch.
const FOLLOWED: usize = 16;
/// A number for each of them.
type PerFollowed = [f32; FOLLOWED];
/// Days after which a gap is long against a week.
const LONG_AGAINST_WEEK: f32 = 7.0;

/// The days of the week of a page, seen from its plan.
#[derive(Clone, Copy, Debug)]
struct Days {
    /// The rate on each day, against the mean.
    rate: PerDay,
    /// How far below one the threshold lies on each day, against the mean.
    depth: PerDay,
}

impl Days {
    /// A visit is better than waiting while freshness is below `1 - r L`, where `L` is
    /// what a change costs until it is found. A page that is left alone for weeks loses about
    /// as much whatever the day, so that this goes with the rate. One that is visited
    /// many times a week is visited as its rate of the day would have it: by how
    /// `1 - e^-x` goes with the rate if `1 - (1 + x) e^-x` is the rate times the price.
    fn new(rate: PerDay, threshold: &PerPart, gap: f64) -> Self {
        let fresh = threshold.iter().sum::<f32>() / PARTS as f32;
        let x = f64::from(-fresh.clamp(1e-3, 0.99).ln());
        let quick = (gain(x) / (x * (1.0 - (-x).exp()))) as f32;
        let power = quick + (1.0 - quick) * (gap as f32 / LONG_AGAINST_WEEK).min(1.0);
        let depth = rate.map(|rate| rate.powf(power));
        Self { rate, depth }
    }
}

/// A copy on its way from a visit to the next.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The rate in each part of the day, against the mean.
    profile: PerPart,
    /// The rates the page may have.
    rates: PerFollowed,
    /// The share of all copies that have this rate and are still right.
    right: PerFollowed,
    /// How many of them are left after a whole part of the day.
    kept: [PerFollowed; PARTS],
    /// The freshness below which a visit is better than waiting, by part.
    threshold: PerPart,
    /// How days differ, if they do.
    days: Option<Days>,
    /// The gap without hours.
    steady: f64,
}

impl Course {
    /// The course of a copy that is right.
    pub(crate) fn new(
        posterior: &Posterior,
        belief: &PerShape,
        worths: &mut Worths,
        price: f64,
        days: Option<PerDay>,
        steady: f64,
    ) -> Self {
        let profile = shape::profile(belief);
        let mut cell = worths.at(price);
        let (mut rate, mut right) = ([0.0; FOLLOWED], [0.0; FOLLOWED]);
        let (mut threshold, mut sum) = ([0.0; PARTS], 0.0);
        let followed = (0..RATES).filter(|at| posterior.0[*at] > BELIEF_MIN);
        for (slot, at) in followed.take(FOLLOWED).enumerate() {
            (rate[slot], right[slot]) = (rates()[at], posterior.0[at]);
            for (shape, believed) in belief.iter().enumerate() {
                if *believed > BELIEF_MIN {
                    let share = right[slot] * believed;
                    sum += share;
                    for (sum, floor) in threshold.iter_mut().zip(cell.of(shape, at)) {
                        *sum += share * floor;
                    }
                }
            }
        }
        let believed = total(&right);
        for share in &mut right {
            *share /= believed;
        }
        for floor in &mut threshold {
            *floor /= sum;
        }
        let mut kept = [[0.0; FOLLOWED]; PARTS];
        for (kept, hourly) in kept.iter_mut().zip(profile) {
            for (kept, rate) in kept.iter_mut().zip(rate) {
                *kept = decay(rate * hourly / PARTS as f32);
            }
        }
        Self {
            profile,
            rates: rate,
            right,
            kept,
            threshold,
            days: days.map(|days| Days::new(days, &threshold, steady)),
            steady,
        }
    }

    /// Where the freshness above the threshold sums up to most; `None` if that is
    /// beyond the longest gap looked at.
    ///
    /// Freshness only falls, and the threshold is that of yesterday, or of a week ago: one
    /// that adds nothing is followed by none that does, and the search is over.
    pub(crate) fn best(mut self, last: f64) -> Option<f64> {
        let skipped = self.skip();
        let begin = (last * PARTS as f64).floor();
        let period = self.period() * PARTS;
        let (mut sum, mut most, mut fresh) = (0.0_f32, 0.0_f32, total(&self.right));
        let (mut at, mut at_step, mut now) = (None, skipped * PARTS, last + skipped as f64);
        for step in skipped * PARTS..GAP_PARTS {
            if step > at_step + period {
                return at;
            }
            let end = (begin + 1.0 + step as f64) / PARTS as f64;
            let (part, day) = place(begin as usize + step);
            let days = (end - now) as f32;
            let later = self.pass(part, day, days);
            let floor = self.floor(part, day);
            // Freshness may fall below the threshold within the part.
            if fresh > floor && later < floor {
                let until = (fresh - floor) / (fresh - later) * days;
                let peak = sum + (fresh - floor) / 2.0 * until;
                if peak > most {
                    (most, at, at_step) = (peak, Some(now + f64::from(until)), step);
                }
            }
            sum += (f32::midpoint(fresh, later) - floor) * days;
            if sum > most {
                (most, at, at_step) = (sum, Some(end), step);
            }
            (fresh, now) = (later, end);
        }
        None
    }

    /// Lets days pass in which a visit would be too early at any hour: how many.
    fn skip(&mut self) -> usize {
        let days = (self.steady / 2.0) as usize;
        if days == 0 || self.days.is_some() {
            return 0;
        }
        let later = self.after(days as f32);
        let floor = self
            .threshold
            .iter()
            .fold(0.0, |most: f32, one| most.max(*one));
        if total(&later) <= floor {
            return 0;
        }
        self.right = later;
        days
    }

    /// The best time within half a day of the end of the gap without hours, or half a
    /// week.
    pub(crate) fn nearby(mut self, last: f64) -> f64 {
        let period = self.period();
        let begin = ((last + self.steady - period as f64 / 2.0) * PARTS as f64)
            .ceil()
            .max(last * PARTS as f64);
        let start = begin / PARTS as f64;
        // Days are what they are on average; the rest hardly matters here.
        let passed = (start - last) as f32;
        self.right = self.after(passed);
        let mut fresh = total(&self.right);
        let (mut sum, mut most, mut at) = (0.0_f32, 0.0_f32, start);
        for step in 0..period * PARTS {
            let (part, day) = place(begin as usize + step);
            let later = self.pass(part, day, 1.0 / PARTS as f32);
            sum += f32::midpoint(fresh, later) - self.floor(part, day);
            if sum > most {
                (most, at) = (sum, (begin + 1.0 + step as f64) / PARTS as f64);
            }
            fresh = later;
        }
        at
    }

    /// Lets a part of a day, or the rest of one, pass: the share still right.
    fn pass(&mut self, part: usize, day: usize, days: f32) -> f32 {
        if self.days.is_none() && (days * PARTS as f32 - 1.0).abs() < 1e-4 {
            for (right, kept) in self.right.iter_mut().zip(&self.kept[part]) {
                *right *= kept;
            }
        } else {
            let of_day = self.days.map_or(1.0, |days| days.rate[day]);
            self.right = self.after(self.profile[part] * of_day * days);
        }
        total(&self.right)
    }

    /// The shares that are still right after so many days of the mean rate.
    fn after(&self, days: f32) -> PerFollowed {
        let mut right = self.right;
        for (right, rate) in right.iter_mut().zip(self.rates) {
            *right *= decay(rate * days);
        }
        right
    }

    /// The freshness below which a visit is better than waiting.
    fn floor(&self, part: usize, day: usize) -> f32 {
        let floor = self.threshold[part];
        self.days
            .map_or(floor, |days| 1.0 - (1.0 - floor) * days.depth[day])
    }

    /// After how many days all is as before.
    fn period(&self) -> usize {
        if self.days.is_some() { WEEK } else { 1 }
    }
}

/// The sum, made side by side as the processor likes it.
fn total(numbers: &PerFollowed) -> f32 {
    let (four, _) = numbers.as_chunks::<4>();
    let sums: [f32; 4] = std::array::from_fn(|at| four.iter().map(|four| four[at]).sum());
    sums.iter().sum()
}

/// The part of the day and the day of the week of a part, counted from day 0.
const fn place(parts: usize) -> (usize, usize) {
    (parts % PARTS, parts / PARTS % WEEK)
}

/// `e^-x` to three digits where it matters, for many numbers at once: a fraction that is
/// close for an eighth of `x`, eight times.
fn decay(x: f32) -> f32 {
    let part = x / 8.0;
    let (odd, even) = (part / 2.0, 1.0 + part * part / 12.0);
    let fraction = (even - odd) / (even + odd);
    fraction.powi(8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::greedy_gap;
    use crate::shape::SHAPES;

    fn gap_of(rate: f64, price: f64) -> f64 {
        greedy_gap(&Posterior::known(rate), price)
    }

    /// That of a page without days, with this gap without hours.
    fn course(rate: f64, shape: usize, price: f64, steady: f64) -> Course {
        with_days(rate, shape, price, (None, steady))
    }

    fn with_days(rate: f64, shape: usize, price: f64, days: (Option<PerDay>, f64)) -> Course {
        let mut belief = [0.0; SHAPES];
        belief[shape] = 1.0;
        let known = Posterior::known(rate);
        let (days, steady) = days;
        Course::new(&known, &belief, &mut Worths::default(), price, days, steady)
    }

    #[test]
    fn a_page_that_changes_by_day_is_visited_when_the_day_is_over() {
        // Busy from 09 to 18, the fourth of the nine-hour shapes.
        let due = course(2.0, 4, 0.3, 1.0).best(3.0 + 18.0 / 24.0).unwrap();
        let hour = due.fract() * 24.0;
        assert!((hour - 18.0).abs() < 0.1, "{due}");
    }

    #[test]
    fn a_slow_page_is_visited_in_the_evening_as_well() {
        let due = course(0.05, 4, 3.0, 20.0).nearby(2.3);
        assert!((due - 22.3).abs() <= 0.5 + 1.0 / PARTS as f64, "{due}");
        let hour = due.fract() * 24.0;
        assert!((hour - 18.0).abs() < 3.1, "{due}");
    }

    #[test]
    fn without_hours_it_is_greedy() {
        let gap = gap_of(1.0, 0.3);
        let due = course(1.0, 0, 0.3, gap).best(5.1).unwrap();
        assert!((due - 5.1 - gap).abs() < 0.1 * gap, "{due} {gap}");
    }

    const OFFICE: PerDay = [1.36, 1.36, 1.36, 1.36, 1.36, 0.1, 0.1];

    #[test]
    fn a_page_that_rests_at_the_weekend_is_left_alone_then() {
        let (rate, price) = (1.0, 0.3);
        let gap = gap_of(rate, price);
        let due = |last| {
            let days = (Some(OFFICE), gap);
            with_days(rate, 0, price, days).best(last).unwrap()
        };
        // Seen when the weekend begins, and on a Tuesday.
        assert!(due(5.0) > 7.3, "{}", due(5.0));
        assert!(due(1.0) < 1.0 + 1.1 * gap, "{} {gap}", due(1.0));
    }

    #[test]
    fn a_slow_page_is_visited_when_the_weekend_begins() {
        let due = with_days(0.05, 0, 3.0, (Some(OFFICE), 20.0)).nearby(2.3);
        assert!((due.rem_euclid(7.0) - 5.0).abs() < 0.3, "{due}");
    }

    #[test]
    fn decay_is_that_of_the_exponential() {
        for x in [0.0, 1e-4, 0.01, 0.3, 1.0, 2.0, 5.0, 8.0_f32] {
            assert!((decay(x) - (-x).exp()).abs() < 1e-4, "{x}: {}", decay(x));
        }
        assert!(decay(60.0) < 1e-3);
    }

    #[test]
    fn days_that_are_skipped_change_nothing() {
        for shape in [0, 4, 12] {
            for rate in [0.05, 0.2, 0.6] {
                let quick = course(rate, shape, 0.8, gap_of(rate, 0.8)).best(3.4);
                let slow = course(rate, shape, 0.8, 0.0).best(3.4);
                let (quick, slow) = (quick.unwrap(), slow.unwrap());
                assert!(
                    (quick - slow).abs() < 1e-3,
                    "{shape} {rate}: {quick} {slow}"
                );
            }
        }
    }
}
