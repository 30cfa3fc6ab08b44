//! What the visits of one page say about how often it changes.
//!
//! A visit that finds a change after a gap says `1 - e^(-rate gap)` of every
//! rate, one that finds none says `e^(-rate gap)`. Both are exact for gaps of
//! any length, so a page that is looked at too rarely is not taken for a slow
//! one: there is no censoring bias. [`Evidence`] keeps the product of what all
//! visits said, in 72 bytes; [`Posterior`] is that times a prior.
//!
//! What is kept is the evidence and not the posterior, so that a prior that has
//! since been learned better counts for old visits too.

use std::sync::LazyLock;

use crate::rates::{PerRate, RATES, Span, dot, ln, rate, rates};

/// Steps of the stored logarithm a unit.
pub(crate) const SCALE: f32 = 1_024.0;
/// Steps are dropped by this many bits where evidence is read: 1/64 is enough.
pub(crate) const COARSE: u16 = 4;
/// The likelihoods of the steps.
static LIKELIHOODS: LazyLock<Vec<f32>> = LazyLock::new(|| {
    let steps = 0..=u16::MAX >> COARSE;
    steps
        .map(|step| (-f32::from(step << COARSE) / SCALE).exp())
        .collect()
});

/// The likelihoods of stored logarithms without their last bits.
pub(crate) fn likelihoods() -> &'static [f32] {
    &LIKELIHOODS
}

/// How the result of one addition is rounded: the part of a step from which on it is
/// rounded up. A page seen every few minutes has visits that each say less than a step;
/// rounded always alike, a thousand of them would say nothing, or too much. So it differs
/// from visit to visit, and on average nothing is lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rounding(f32);

impl Rounding {
    /// To the nearest step.
    pub(crate) const NEAREST: Self = Self(0.5);

    /// That of a visit at this time: by chance, and the same whenever it is asked for.
    pub(crate) fn of_visit(at: f64) -> Self {
        let mut mixed = at.to_bits();
        for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] {
            mixed = (mixed ^ (mixed >> 31)).wrapping_mul(factor);
        }
        Self((mixed >> 40) as f32 / (1_u32 << 24) as f32)
    }
}

/// Takes likelihoods into stored logarithms, each its distance below the best one. No
/// likelihood counts for less than `floor`.
pub(crate) fn take_in<const N: usize>(
    stored: &mut [u16; N],
    likelihoods: &[f32; N],
    floor: f32,
    memory: f32,
    rounding: Rounding,
) {
    let mut sums = [0.0; N];
    let kept = memory / SCALE;
    for ((sum, old), new) in sums.iter_mut().zip(&*stored).zip(likelihoods) {
        *sum = ln(new.max(floor)) - f32::from(*old) * kept;
    }
    let best = sums.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for (slot, sum) in stored.iter_mut().zip(sums) {
        // Casting from a float stops at the largest value.
        *slot = ((best - sum) * SCALE + rounding.0) as u16;
    }
}

/// No visit alone may rule a rate out for ever: content is not Poisson.
pub(crate) const FLOOR: f32 = 1e-4;

/// The logarithms of the likelihoods of all rates, each as its distance below
/// the best one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evidence([u16; RATES]);

impl Default for Evidence {
    fn default() -> Self {
        Self([0; RATES])
    }
}

impl Evidence {
    /// Takes in a likelihood of every rate. `memory` is the share of the old
    /// evidence that is kept: 1 forgets nothing.
    pub(crate) fn take(&mut self, likelihood: &PerRate, memory: f32, rounding: Rounding) {
        take_in(&mut self.0, likelihood, FLOOR, memory, rounding);
    }

    /// Takes in one visit after a gap in days.
    pub fn visit(&mut self, gap_days: f64, changed: bool, memory: f32) {
        let likelihood = likelihood(gap_days, changed);
        self.take(&likelihood, memory, Rounding::NEAREST);
    }
}

/// What one visit says of every rate.
pub fn likelihood(gap_days: f64, changed: bool) -> PerRate {
    let fresh = Span::of(gap_days).fresh_all();
    if changed {
        fresh.map(|fresh| 1.0 - fresh)
    } else {
        fresh
    }
}

/// A probability for every rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Posterior(pub PerRate);

impl Posterior {
    /// Evidence seen in the light of a prior.
    pub fn new(prior: &PerRate, evidence: &Evidence) -> Self {
        let mut weights: PerRate = [0.0; RATES];
        let mut sum = 0.0;
        let table = likelihoods();
        for ((weight, prior), below) in weights.iter_mut().zip(prior).zip(evidence.0) {
            *weight = prior * table[usize::from(below >> COARSE)];
            sum += *weight;
        }
        if sum > f32::MIN_POSITIVE {
            let scale = 1.0 / sum;
            for weight in &mut weights {
                *weight *= scale;
            }
        } else {
            weights = [1.0 / RATES as f32; RATES];
        }
        Self(weights)
    }

    /// A page whose rate is known.
    pub fn known(rate_per_day: f64) -> Self {
        let mut weights = [0.0; RATES];
        weights[crate::rates::nearest(rate_per_day)] = 1.0;
        Self(weights)
    }

    /// The expected number of changes a day.
    pub fn mean(&self) -> f64 {
        let terms = self.0.iter().zip(rates());
        terms.map(|(p, r)| f64::from(p * r)).sum()
    }

    /// The mean of the squares by which the rate may be off that.
    pub fn variance(&self) -> f64 {
        let mean = self.mean();
        let terms = self.0.iter().zip(rates());
        let term = |(p, r): (&f32, &f32)| f64::from(*p) * (f64::from(*r) - mean).powi(2);
        terms.map(term).sum()
    }

    /// The rate with half of the probability below it.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The interval that holds this share of the probability, the rest in equal
    /// parts on both sides.
    pub fn interval(&self, share: f64) -> (f64, f64) {
        let rest = (1.0 - share) / 2.0;
        (self.quantile(rest), self.quantile(1.0 - rest))
    }

    /// Between two rates of the grid the logarithm is interpolated.
    fn quantile(&self, share: f64) -> f64 {
        let mut below = 0.0;
        for (at, p) in self.0.iter().map(|p| f64::from(*p)).enumerate() {
            if below + p >= share && p > 0.0 {
                let part = (share - below) / p - 0.5;
                return rate(at) * (rate(1) / rate(0)).powf(part);
            }
            below += p;
        }
        rate(RATES - 1)
    }

    /// The probability that the copy is right after this time.
    pub fn fresh(&self, days: f64) -> f64 {
        f64::from(dot(&self.0, &Span::of(days).fresh_all()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAT: PerRate = [1.0; RATES];

    fn after(visits: &[(f64, bool)]) -> Posterior {
        let mut evidence = Evidence::default();
        for (gap, changed) in visits {
            evidence.visit(*gap, *changed, 1.0);
        }
        Posterior::new(&FLAT, &evidence)
    }

    #[test]
    fn many_visits_find_the_rate_even_when_gaps_are_long() {
        // A rate of 0.7 a day seen every 2 days: a visit finds a change with
        // probability 1 - e^-1.4 = 0.753, so 75 of 100 times.
        let visits: Vec<_> = (0..100).map(|at| (2.0, at % 4 != 0)).collect();
        let posterior = after(&visits);
        assert!((posterior.median() - 0.69).abs() < 0.08, "{posterior:?}");
        let (low, high) = posterior.interval(0.9);
        assert!(low < 0.69 && 0.69 < high && high < 1.0, "{low} {high}");
    }

    #[test]
    fn tiny_evidence_adds_up() {
        // 300 quiet days rule out one change in 20 days, though a single day
        // says next to nothing.
        let posterior = after(&[(1.0, false); 300]);
        let (_, high) = posterior.interval(0.98);
        assert!(high < 0.05, "{high}");
    }

    /// Visits at even times for so many days that find no change.
    fn watched(days: f64, gap: f64, memory: f32) -> Evidence {
        let mut evidence = Evidence::default();
        let said = likelihood(gap, false);
        for visit in 1..=(days / gap) as u32 {
            let rounding = Rounding::of_visit(f64::from(visit) * gap);
            evidence.take(&said, memory, rounding);
        }
        evidence
    }

    #[test]
    fn evidence_is_the_same_in_small_pieces() {
        let pieces = watched(28.0, 1.0 / 72.0, 1.0);
        for (at, below) in pieces.0.into_iter().enumerate() {
            // From one rate to the next, further up, a visit is capped by the floor.
            let exact = 28.0 * (rate(at) - rate(0));
            let below = f64::from(below) / f64::from(SCALE);
            if exact < 10.0 {
                assert!(
                    (below - exact).abs() < 0.06 + 0.01 * exact,
                    "{below} {exact}"
                );
            }
        }
    }

    #[test]
    fn what_is_old_fades_at_any_pace() {
        let far = rate(20) - rate(0);
        for gap in [1.0 / 24.0, 0.25, 1.0] {
            let mut evidence = Evidence::default();
            evidence.visit(4.0 / far, false, 1.0);
            let memory = (-gap / 365.0_f64).exp2() as f32;
            for visit in 1..=(365.0 / gap) as u32 {
                let rounding = Rounding::of_visit(f64::from(visit) * gap);
                evidence.take(&[1.0; RATES], memory, rounding);
            }
            let left = f64::from(evidence.0[20]) / f64::from(SCALE);
            assert!((left - 2.0).abs() < 0.1, "{left} with gaps of {gap}");
        }
    }

    #[test]
    fn what_is_old_fades() {
        let mut evidence = Evidence::default();
        for _ in 0..50 {
            evidence.visit(1.0, false, 0.9);
        }
        for _ in 0..10 {
            evidence.visit(1.0, true, 0.9);
        }
        let faded = Posterior::new(&FLAT, &evidence).median();
        let firm = after(&[[(1.0, false); 50].as_slice(), &[(1.0, true); 10]].concat()).median();
        assert!(faded > 2.0 * firm, "{faded} {firm}");
    }

    #[test]
    fn evidence_is_small() {
        assert_eq!(size_of::<Evidence>(), 72);
    }
}
