//! As greedy, at the hours in which a visit brings most.
//!
//! A page that changes by day is worth a visit in the evening, when the copy will
//! stay right all night, and hardly one at noon. For every rate and shape a page
//! may have, [`worth`](crate::worth) says how fresh a copy must be for waiting to
//! be better than a visit, by the time of day. Averaged over what is believed
//! of the page, that is a threshold; the next visit is where the freshness above
//! it, summed up since the last visit, is greatest. Without hours the threshold is
//! the same all day and the visit is where freshness falls below it.

use super::{Pace, Page, PageId, Policy, Sight, greedy};
use crate::learner::Learner;
use crate::posterior::Posterior;
use crate::rates::{RATES, rates};
use crate::rhythm::{PerShape, Rhythm, ShapeEvidence};
use crate::shape::{PARTS, SHAPES, shapes};
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
    rate: f32,
    shape: usize,
    /// The share of copies still right at the time that is looked at.
    right: f32,
}

impl Clock {
    /// What is believed of the pages.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// Counts as many pages into the shapes as the learner does into the rates.
    fn sweep(&mut self) {
        for _ in 0..4 {
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
        if !self.rhythm.is_used() || steady > 14.0 && steady.is_finite() {
            return last + steady;
        }
        let belief = self.rhythm.belief(&self.shapes[page as usize]);
        let cases = cases(&posterior, &belief);
        let threshold = threshold(&cases, &mut self.worths, price);
        best(cases, &threshold, last).unwrap_or(last + steady)
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
                rate: at as f32,
                shape,
                right: 1.0,
            });
        }
    }
    cases.iter_mut().for_each(|case| case.share /= sum);
    cases
}

/// The freshness below which a visit is better than waiting, by the part of the
/// day.
fn threshold(cases: &[Case], worths: &mut Worths, price: f64) -> [f32; PARTS] {
    let mut cell = worths.at(price);
    let mut threshold = [0.0; PARTS];
    for case in cases {
        let worth = cell.of(case.shape, case.rate as usize);
        for (sum, one) in threshold.iter_mut().zip(worth.threshold) {
            *sum += case.share * one;
        }
    }
    threshold
}

/// Where the freshness above the threshold sums up to most; `None` if that is
/// beyond the longest gap looked at.
fn best(mut cases: Vec<Case>, threshold: &[f32; PARTS], last: f64) -> Option<f64> {
    for case in &mut cases {
        case.rate = rates()[case.rate as usize];
    }
    let begin = (last * PARTS as f64).floor();
    let (mut sum, mut most, mut at, mut fresh) = (0.0_f32, 0.0_f32, None, 1.0_f32);
    let mut now = last;
    for step in 0..GAP_PARTS {
        let end = (begin + 1.0 + step as f64) / PARTS as f64;
        let part = (begin as usize + step) % PARTS;
        let days = (end - now) as f32;
        let mut later = 0.0;
        for case in &mut cases {
            let rate = case.rate * shapes()[case.shape].rate(part) as f32;
            case.right *= (-rate * days).exp();
            later += case.share * case.right;
        }
        let gained = ((fresh + later) / 2.0 - threshold[part]) * days;
        // Freshness may fall below the threshold within the part.
        if fresh > threshold[part] && later < threshold[part] {
            let until = (fresh - threshold[part]) / (fresh - later);
            let peak = sum + (fresh - threshold[part]) / 2.0 * until * days;
            if peak > most {
                (most, at) = (peak, Some(now + f64::from(until * days)));
            }
        }
        sum += gained;
        if sum > most {
            (most, at) = (sum, Some(end));
        }
        (fresh, now) = (later, end);
    }
    at.filter(|at| *at < now)
}
