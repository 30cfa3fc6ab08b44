//! How the freshness of a copy falls through the hours.
//!
//! A page's hours are believed, not known. What they are on average is its
//! *profile*, and freshness is followed with that for every rate the page may
//! have. For a page that changes less than daily that is what following every shape
//! by itself comes to, at a tenth of the cost; one that changes often is soon known
//! by its own visits, and then the average is its shape.

use crate::posterior::Posterior;
use crate::rates::{PerRate, RATES, rates};
use crate::rhythm::PerShape;
use crate::shape::{PARTS, shapes};
use crate::worth::{GAP_PARTS, Worths};

/// What is believed less than this is left out of a decision.
const BELIEF_MIN: f32 = 0.04;

/// A copy on its way from a visit to the next.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// The rate in each part of the day, against the mean.
    profile: [f32; PARTS],
    /// The rates the page may have; as many as `len`.
    rates: PerRate,
    /// The share of all copies that have this rate and are still right.
    right: PerRate,
    /// How many of them are left after a whole part of the day.
    kept: [PerRate; PARTS],
    len: usize,
    /// The freshness below which a visit is better than waiting, by part.
    threshold: [f32; PARTS],
}

impl Course {
    /// The course of a copy that is right.
    pub(crate) fn new(
        posterior: &Posterior,
        belief: &PerShape,
        worths: &mut Worths,
        price: f64,
    ) -> Self {
        let mut course = Self {
            profile: [0.0; PARTS],
            rates: [0.0; RATES],
            right: [0.0; RATES],
            kept: [[0.0; RATES]; PARTS],
            len: 0,
            threshold: [0.0; PARTS],
        };
        for (share, shape) in belief.iter().zip(shapes()) {
            for (part, rate) in course.profile.iter_mut().enumerate() {
                *rate += share * shape.rate(part) as f32;
            }
        }
        let mut cell = worths.at(price);
        let mut sum = 0.0;
        for at in (0..RATES).filter(|at| posterior.0[*at] > BELIEF_MIN) {
            let (rate, share) = (rates()[at], posterior.0[at]);
            (course.rates[course.len], course.right[course.len]) = (rate, share);
            for (kept, hourly) in course.kept.iter_mut().zip(course.profile) {
                kept[course.len] = (-rate * hourly / PARTS as f32).exp();
            }
            course.len += 1;
            for (shape, believed) in belief.iter().enumerate() {
                if *believed > BELIEF_MIN {
                    let share = share * believed;
                    sum += share;
                    course.lift(share, &cell.of(shape, at).threshold);
                }
            }
        }
        let believed: f32 = course.right.iter().sum();
        course.right = course.right.map(|share| share / believed);
        course.threshold = course.threshold.map(|one| one / sum);
        course
    }

    fn lift(&mut self, share: f32, threshold: &[f32; PARTS]) {
        for (sum, one) in self.threshold.iter_mut().zip(threshold) {
            *sum += share * one;
        }
    }

    /// Where the freshness above the threshold sums up to most; `None` if that is
    /// beyond the longest gap looked at.
    ///
    /// Freshness only falls, and the threshold is that of yesterday: a day that adds
    /// nothing is followed by none that does, and the search is over.
    pub(crate) fn best(mut self, last: f64) -> Option<f64> {
        let begin = (last * PARTS as f64).floor();
        let (mut sum, mut most, mut fresh) = (0.0_f32, 0.0_f32, 1.0_f32);
        let (mut at, mut at_step, mut now) = (None, 0, last);
        for step in 0..GAP_PARTS {
            if step > at_step + PARTS {
                return at;
            }
            let end = (begin + 1.0 + step as f64) / PARTS as f64;
            let part = (begin as usize + step) % PARTS;
            let days = (end - now) as f32;
            let later = self.pass(part, days);
            let floor = self.threshold[part];
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

    /// The best time within half a day of the end of a gap.
    pub(crate) fn nearby(mut self, last: f64, gap: f64) -> f64 {
        let begin = ((last + gap - 0.5) * PARTS as f64)
            .ceil()
            .max(last * PARTS as f64);
        let start = begin / PARTS as f64;
        // Whole days are what they are on average; the rest hardly matters here.
        let passed = (start - last) as f32;
        for (right, rate) in self.right[..self.len].iter_mut().zip(self.rates) {
            *right *= (-rate * passed).exp();
        }
        let mut fresh: f32 = self.right[..self.len].iter().sum();
        let (mut sum, mut most, mut at) = (0.0_f32, 0.0_f32, start);
        for step in 0..PARTS {
            let part = (begin as usize + step) % PARTS;
            let later = self.pass(part, 1.0 / PARTS as f32);
            sum += f32::midpoint(fresh, later) - self.threshold[part];
            if sum > most {
                (most, at) = (sum, (begin + 1.0 + step as f64) / PARTS as f64);
            }
            fresh = later;
        }
        at
    }

    /// Lets a part of a day, or the rest of one, pass: the share still right.
    fn pass(&mut self, part: usize, days: f32) -> f32 {
        let right = &mut self.right[..self.len];
        if (days * PARTS as f32 - 1.0).abs() < 1e-4 {
            for (right, kept) in right.iter_mut().zip(&self.kept[part]) {
                *right *= kept;
            }
        } else {
            let own_days = self.profile[part] * days;
            for (right, rate) in right.iter_mut().zip(&self.rates) {
                *right *= (-rate * own_days).exp();
            }
        }
        right.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::greedy_gap;
    use crate::shape::SHAPES;

    fn course(rate: f64, shape: usize, price: f64) -> Course {
        let mut belief = [0.0; SHAPES];
        belief[shape] = 1.0;
        Course::new(
            &Posterior::known(rate),
            &belief,
            &mut Worths::default(),
            price,
        )
    }

    #[test]
    fn a_page_that_changes_by_day_is_visited_when_the_day_is_over() {
        // Busy from 09 to 18, the fourth of the nine-hour shapes.
        let due = course(2.0, 4, 0.3).best(3.0 + 18.0 / 24.0).unwrap();
        let hour = due.fract() * 24.0;
        assert!((hour - 18.0).abs() < 0.1, "{due}");
    }

    #[test]
    fn a_slow_page_is_visited_in_the_evening_as_well() {
        let due = course(0.05, 4, 3.0).nearby(2.3, 20.0);
        assert!((due - 22.3).abs() <= 0.5 + 1.0 / PARTS as f64, "{due}");
        let hour = due.fract() * 24.0;
        assert!((hour - 18.0).abs() < 3.1, "{due}");
    }

    #[test]
    fn without_hours_it_is_greedy() {
        let due = course(1.0, 0, 0.3).best(5.1).unwrap();
        let greedy = greedy_gap(&Posterior::known(1.0), 0.3);
        assert!((due - 5.1 - greedy).abs() < 0.1 * greedy, "{due} {greedy}");
    }
}
