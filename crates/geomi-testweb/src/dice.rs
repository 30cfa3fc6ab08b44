//! Seeded draws.
//!
//! Everything random in the web is a draw from a [`Dice`] that was made from
//! the seed, what the draw is for ([`Draw`]) and whom it is for. No state is
//! kept between draws for different things, which is what makes the web a pure
//! function: a page's size does not depend on which page was asked for before.

use std::f64::consts::TAU;

/// What a draw decides; it keeps the draws for different things apart.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Draw {
    Pool = 1,
    SitePages,
    Language,
    Charset,
    Latency,
    SiteTrait,
    PageBytes,
    Links,
    Text,
    FreshText,
    Noise,
    Role,
    ChangeProcess,
    ChangeCount,
    ChangeSplit,
    ChangeHour,
}

/// A short stream of random numbers (`SplitMix64`).
#[derive(Clone)]
pub(crate) struct Dice(u64);

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl Dice {
    /// The dice for one thing (`draw`) of one owner (`of`, e.g. site and page).
    pub(crate) fn new<const N: usize>(seed: u64, draw: Draw, of: [u64; N]) -> Self {
        let mut state = scramble(seed.wrapping_add(GOLDEN.wrapping_mul(draw as u64)));
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
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [low, high).
    pub(crate) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0..n; 0 if n is 0.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// Whether an event of probability `p` happens.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }

    /// Log-normal with the given median.
    pub(crate) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// Poisson; by the normal law above a mean of 64, where the two are alike.
    pub(crate) fn poisson(&mut self, mean: f64) -> u64 {
        if mean > 64.0 {
            return (mean + mean.sqrt() * self.normal()).round().max(0.0) as u64;
        }
        let floor = (-mean).exp();
        let mut product = self.unit();
        let mut count = 0;
        while product > floor {
            product *= self.unit();
            count += 1;
        }
        count
    }

    /// How many of `n` fair coins fall heads: exact up to 1,024 coins, by the
    /// normal law beyond.
    pub(crate) fn heads_of(&mut self, n: u64) -> u64 {
        if n > 1024 {
            let mean = n as f64 / 2.0;
            let drawn = mean + (n as f64).sqrt() / 2.0 * self.normal();
            return (drawn.round().max(0.0) as u64).min(n);
        }
        let mut heads = 0;
        let mut left = n;
        while left >= 64 {
            heads += u64::from(self.bits().count_ones());
            left -= 64;
        }
        let mask = (1u64 << left) - 1;
        heads + u64::from((self.bits() & mask).count_ones())
    }
}

/// A number drawn by another.
pub(crate) fn hash64(of: u64) -> u64 {
    scramble(of.wrapping_add(GOLDEN))
}

fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(n: u64, mut draw: impl FnMut(&mut Dice) -> f64) -> f64 {
        (0..n)
            .map(|i| draw(&mut Dice::new(7, Draw::Text, [i])))
            .sum::<f64>()
            / n as f64
    }

    #[test]
    fn means_are_right() {
        assert!((mean(20_000, Dice::unit) - 0.5).abs() < 0.01);
        assert!(mean(20_000, Dice::normal).abs() < 0.03);
        assert!((mean(20_000, |d| d.poisson(3.0) as f64) - 3.0).abs() < 0.05);
        assert!((mean(20_000, |d| d.poisson(400.0) as f64) - 400.0).abs() < 1.0);
        assert!((mean(20_000, |d| d.heads_of(9) as f64) - 4.5).abs() < 0.05);
        assert!((mean(20_000, |d| d.heads_of(200) as f64) - 100.0).abs() < 0.3);
        assert!((mean(20_000, |d| d.heads_of(5000) as f64) - 2500.0).abs() < 2.0);
        assert!((mean(20_000, |d| f64::from(d.below(10))) - 4.5).abs() < 0.1);
    }

    #[test]
    fn owners_and_purposes_are_kept_apart() {
        let first = Dice::new(1, Draw::Text, [1, 2]).bits();
        assert_eq!(first, Dice::new(1, Draw::Text, [1, 2]).bits());
        assert_ne!(first, Dice::new(1, Draw::Text, [2, 1]).bits());
        assert_ne!(first, Dice::new(1, Draw::Links, [1, 2]).bits());
        assert_ne!(first, Dice::new(2, Draw::Text, [1, 2]).bits());
    }
}
