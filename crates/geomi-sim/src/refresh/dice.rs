//! Seeded chance: the same numbers on every machine, for ever.
//!
//! The generator is xoshiro256++, seeded by splitmix64. It is written out here
//! because a library may change its numbers between versions, and the bytes of a
//! laboratory must not.

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Dice {
    state: [u64; 4],
}

impl Dice {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        let mut word = seed;
        Self {
            state: std::array::from_fn(|_| {
                word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
                let mut mixed = word;
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
                mixed ^ (mixed >> 31)
            }),
        }
    }

    fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Evenly in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Evenly in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// The waiting time of a Poisson process of rate 1.
    pub fn wait(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Normal with mean 0 and deviation 1.
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.wait()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Brings items into any order alike.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.between(0.0, last as f64 + 1.0) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_one_sequence() {
        let numbers = |seed| {
            let mut dice = Dice::new(seed);
            [dice.next(), dice.next(), dice.next()]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
    }

    #[test]
    fn moments_are_right() {
        let mut dice = Dice::new(1);
        let n = 100_000;
        let normals: Vec<f64> = (0..n).map(|_| dice.normal()).collect();
        let mean = normals.iter().sum::<f64>() / f64::from(n);
        let square = normals.iter().map(|z| z * z).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.02 && (square - 1.0).abs() < 0.02);
        let waits = (0..n).map(|_| dice.wait()).sum::<f64>() / f64::from(n);
        assert!((waits - 1.0).abs() < 0.02);
    }

    #[test]
    fn shuffling_brings_every_item_to_every_place_alike() {
        let mut dice = Dice::new(1);
        let mut seen = [[0; 4]; 4];
        for _ in 0..40_000 {
            let mut items = [0, 1, 2, 3];
            dice.shuffle(&mut items);
            for (place, item) in items.into_iter().enumerate() {
                seen[place][item] += 1;
            }
        }
        for count in seen.into_iter().flatten() {
            assert!((9_500..10_500).contains(&count), "{seen:?}");
        }
    }
}
