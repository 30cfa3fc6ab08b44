//! How often some pages change, on average, and how far off that may be.

use geomi_refresh::Posterior;

/// Deviations that hold 90 % of a normal distribution, on both sides.
const REACH: f64 = 1.645;

/// The mean of what is believed of the rates of some pages.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct MeanRate {
    pages: u32,
    rates: f64,
    variances: f64,
}

impl MeanRate {
    /// Takes a page in.
    pub(super) fn add(&mut self, posterior: &Posterior) {
        self.pages += 1;
        self.rates += posterior.mean();
        self.variances += posterior.variance();
    }

    /// How many pages.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    /// Changes a day of a page; 0 without pages.
    pub(super) fn mean(&self) -> f64 {
        self.rates / self.count()
    }

    /// The interval that holds the mean with 90 % probability: a sum over many pages is
    /// nearly normal.
    pub(super) fn interval(&self) -> (f64, f64) {
        let reach = REACH * self.variances.sqrt() / self.count();
        ((self.mean() - reach).max(0.0), self.mean() + reach)
    }

    fn count(&self) -> f64 {
        f64::from(self.pages.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_pages_are_known_better_than_one() {
        let rates = geomi_refresh::rates::RATES as f32;
        let unknown = Posterior([1.0 / rates; _]);
        let of = |pages: u32| {
            let mut mean = MeanRate::default();
            (0..pages).for_each(|_| mean.add(&unknown));
            let (low, high) = mean.interval();
            (mean.mean(), high - low)
        };
        let (one, many) = (of(100), of(10_000));
        assert!((one.0 - unknown.mean()).abs() < 1e-6);
        assert!((many.0 - unknown.mean()).abs() < 1e-6);
        assert!((one.1 / many.1 - 10.0).abs() < 1e-3, "{one:?} {many:?}");
    }
}
