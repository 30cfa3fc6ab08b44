//! Seeded draws.

use std::f64::consts::TAU;

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers (`SplitMix64`).
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// The stream for one thing among many: the same numbers whenever it is
    /// asked for.
    pub(crate) fn new<const N: usize>(seed: u64, of: [u64; N]) -> Self {
        let mut state = scramble(seed.wrapping_add(GOLDEN));
        for part in of {
            state = scramble(state ^ part.wrapping_add(1).wrapping_mul(GOLDEN));
        }
        Self(state)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        scramble(self.0)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A whole number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        (self.unit() * end as f64) as u64
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Log-normal with this median; `sigma` is of the logarithm.
    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        median * (sigma * radius * (TAU * self.unit()).cos()).exp()
    }
}

fn scramble(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_the_shape_they_are_named_for() {
        let mut draws = Draws::new(1, [7]);
        let mut rtts: Vec<f64> = (0..20_001).map(|_| draws.log_normal(80.0, 0.8)).collect();
        rtts.sort_by(f64::total_cmp);
        assert!((rtts[10_000] - 80.0).abs() < 3.0, "{}", rtts[10_000]);
        let sixth = rtts[3_173];
        assert!((sixth - 80.0 * (-0.8f64).exp()).abs() < 2.0, "{sixth}");
        assert!((0..1_000).all(|_| draws.below(3) < 3));
        let first = |seed| Draws::new(seed, [1, 2]).bits();
        assert_eq!(first(5), first(5));
        assert_ne!(first(5), first(6));
    }
}
