//! As greedy, at the hours in which a visit brings most.
//!
//! A page that changes by day is worth a visit in the evening, when the copy will
//! stay right all night, and hardly one at noon. For every rate and shape a page
//! may have, [`worth`](crate::worth) says how fresh a copy must be for waiting to
//! be better than a visit, by the time of day. Averaged over what is believed
//! of the page, that is a threshold; the next visit is where the freshness above
//! it, summed up since the last visit, is greatest. Without hours the threshold is
//! the same all day and the visit is where freshness falls below it.

use std::sync::LazyLock;

use super::{Pace, Page, PageId, Policy, Sight, greedy};
use crate::learner::{Learner, swept_a_visit};
use crate::posterior::Posterior;
use crate::probe;
use crate::rates::{RATES, rates};
use crate::rhythm::{PerShape, Rhythm, ShapeEvidence};
use crate::shape::{PARTS, SHAPES, Shape, shapes};
use crate::worth::{GAP_PARTS, Worths};

/// What is believed less than this is left out of a decision.
const BELIEF_MIN: f32 = 0.02;

/// The clock policy.
#[derive(Debug, Default)]
pub struct Clock {
    learner: Learner,
    rhythm: Rhythm,
    shapes: Vec<ShapeEvidence>,
    cursor: usize,
    worths: Worths,
}

/// One rate and shape a page may have.
#[derive(Clone, Copy)]
struct Case {
    share: f32,
    rate: usize,
    shape: usize,
    /// The share of copies still right at the time that is looked at.
    right: f32,
}

impl Clock {
    /// What is believed of the pages.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// Whether hours have predicted changes better than no hours, and are used.
    pub fn uses_hours(&self) -> bool {
        self.rhythm.is_used()
    }

    /// When a page is due if there is nothing to find out about it, at the best hour.
    /// `steady` is the gap without hours.
    fn timed(
        &mut self,
        page: PageId,
        posterior: &Posterior,
        (last, price): (f64, f64),
        steady: f64,
    ) -> f64 {
        if !self.rhythm.is_used() {
            return last + steady;
        }
        let cases = self.cases(page, posterior);
        let threshold = threshold(&cases, &mut self.worths, price);
        if steady > 14.0 && steady.is_finite() {
            return nearby(cases, &threshold, last, steady);
        }
        best(cases, &threshold, last).unwrap_or(last + steady)
    }

    fn cases(&self, page: PageId, posterior: &Posterior) -> Vec<Case> {
        cases(posterior, &self.rhythm.belief(&self.shapes[page as usize]))
    }

    /// Counts as many pages into the shapes as the learner does into the rates.
    fn sweep(&mut self) {
        for _ in 0..swept_a_visit(self.shapes.len()) {
            let belief = self.rhythm.belief(&self.shapes[self.cursor]);
            self.rhythm.sweep(&belief);
            self.cursor += 1;
            if self.cursor == self.shapes.len() {
                self.cursor = 0;
                self.rhythm.finish();
            }
        }
    }
}

impl Policy for Clock {
    fn pace(&self) -> Pace {
        Pace::WhenDue
    }

    fn add(&mut self, page: &Page) {
        self.learner.add(page);
        self.shapes.push(ShapeEvidence::default());
    }

    fn observe(&mut self, sight: &Sight) {
        let evidence = &mut self.shapes[sight.page as usize];
        let belief = self.rhythm.belief(evidence);
        let posterior = self.learner.posterior(sight.page);
        let said = self.rhythm.hear(sight, &belief, &posterior);
        evidence.take(&said);
        self.learner.take(sight, &said.rates);
        self.sweep();
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let posterior = self.learner.posterior(page);
        let price = price / f64::from(self.learner.weight(page));
        let steady = greedy::gap(&posterior, price);
        if self.learner.is_new(page, last) {
            let gap = probe::gap(&posterior);
            if steady.is_finite() && gap < steady {
                return last + gap;
            }
        }
        self.timed(page, &posterior, (last, price), steady)
    }

    fn settled(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let posterior = self.learner.posterior(page);
        let price = price / f64::from(self.learner.weight(page));
        self.timed(
            page,
            &posterior,
            (last, price),
            greedy::gap(&posterior, price),
        )
    }
}

/// What a page may be, the unlikely left out.
fn cases(posterior: &Posterior, belief: &PerShape) -> Vec<Case> {
    let mut cases = Vec::with_capacity(64);
    let mut sum = 0.0;
    for shape in (0..SHAPES).filter(|shape| belief[*shape] > BELIEF_MIN) {
        for at in (0..RATES).filter(|at| posterior.0[*at] > BELIEF_MIN) {
            let share = belief[shape] * posterior.0[at];
            sum += share;
            cases.push(Case {
                share,
                rate: at,
                shape,
                right: 1.0,
            });
        }
    }
    for case in &mut cases {
        case.share /= sum;
    }
    cases
}

/// The freshness below which a visit is better than waiting, by the part of the
/// day.
fn threshold(cases: &[Case], worths: &mut Worths, price: f64) -> [f32; PARTS] {
    let mut cell = worths.at(price);
    let mut threshold = [0.0; PARTS];
    for case in cases {
        let worth = cell.of(case.shape, case.rate);
        for (sum, one) in threshold.iter_mut().zip(worth.threshold) {
            *sum += case.share * one;
        }
    }
    threshold
}

/// Where the freshness above the threshold sums up to most; `None` if that is
/// beyond the longest gap looked at.
///
/// Freshness only falls, and the threshold is that of yesterday: a day that adds
/// nothing is followed by none that does, and the search is over.
fn best(mut cases: Vec<Case>, threshold: &[f32; PARTS], last: f64) -> Option<f64> {
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
        let later = pass(&mut cases, part, days);
        let floor = threshold[part];
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
fn nearby(mut cases: Vec<Case>, threshold: &[f32; PARTS], last: f64, gap: f64) -> f64 {
    let begin = ((last + gap - 0.5) * PARTS as f64)
        .ceil()
        .max(last * PARTS as f64);
    let start = begin / PARTS as f64;
    for case in &mut cases {
        let own_days = shapes()[case.shape].exposure(last, start);
        case.right = (-f64::from(rates()[case.rate]) * own_days).exp() as f32;
    }
    let mut fresh: f32 = cases.iter().map(|case| case.share * case.right).sum();
    let (mut sum, mut most, mut at) = (0.0_f32, 0.0_f32, start);
    for step in 0..PARTS {
        let part = (begin as usize + step) % PARTS;
        let later = pass(&mut cases, part, 1.0 / PARTS as f32);
        sum += f32::midpoint(fresh, later) - threshold[part];
        if sum > most {
            (most, at) = (sum, (begin + 1.0 + step as f64) / PARTS as f64);
        }
        fresh = later;
    }
    at
}

/// Lets a part of a day, or the rest of one, pass: the share still right.
fn pass(cases: &mut [Case], part: usize, days: f32) -> f32 {
    let is_whole = (days * PARTS as f32 - 1.0).abs() < 1e-4;
    let mut right = 0.0;
    for case in cases {
        case.right *= if is_whole {
            KEPT[case.shape][case.rate][part]
        } else {
            let rate = rates()[case.rate] * shapes()[case.shape].rate(part) as f32;
            (-rate * days).exp()
        };
        right += case.share * case.right;
    }
    right
}

/// The share of copies still right after a part of the day, by shape and rate.
static KEPT: LazyLock<Vec<[[f32; PARTS]; RATES]>> = LazyLock::new(|| {
    let kept =
        |shape: &Shape, rate: f32, part| (-rate * shape.rate(part) as f32 / PARTS as f32).exp();
    let of =
        |shape: &Shape| rates().map(|rate| std::array::from_fn(|part| kept(shape, rate, part)));
    shapes().iter().map(of).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn sure(rate: usize, shape: usize) -> Vec<Case> {
        vec![Case {
            share: 1.0,
            rate,
            shape,
            right: 1.0,
        }]
    }

    #[test]
    fn a_page_that_changes_by_day_is_visited_when_the_day_is_over() {
        let rate = crate::rates::nearest(2.0);
        // Busy from 09 to 18, the fourth of the nine-hour shapes.
        let cases = sure(rate, 4);
        let threshold = threshold(&cases, &mut Worths::default(), 0.3);
        let due = best(cases, &threshold, 3.0 + 18.0 / 24.0).unwrap();
        let hour = due.fract() * 24.0;
        assert!((hour - 18.0).abs() < 0.1, "{due}");
    }

    #[test]
    fn without_hours_it_is_greedy() {
        let rate = crate::rates::nearest(1.0);
        let cases = sure(rate, 0);
        let threshold = threshold(&cases, &mut Worths::default(), 0.3);
        let due = best(cases, &threshold, 5.1).unwrap();
        let greedy = greedy::gap(&Posterior::known(1.0), 0.3);
        assert!((due - 5.1 - greedy).abs() < 0.1 * greedy, "{due} {greedy}");
    }
}
