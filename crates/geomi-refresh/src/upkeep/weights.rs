//! The weight of a page in the freshness that the plan maximizes.
//!
//! By default all pages have the same weight. Freshness is then the share of copies that are up
//! to date, which `geomi refresh report` prints and which all figures of the laboratory use.
//! The importance of a page was estimated for the order of the first crawl. An operator may use
//! it as a weight.

use geomi_model::PRIORITIES;

/// The source of weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Weights {
    /// All pages have the same weight.
    #[default]
    None,
    /// By the priority of the first visit: links to the page, depth, URL shape and the other
    /// inputs of the prioritizer. It is part of the row of the visit, so a rebuilt plan has
    /// the same weights.
    Importance,
}

/// The weight of a seed. The lowest weight is the reciprocal.
const MOST: f32 = 4.0;

impl Weights {
    /// All values.
    pub const ALL: [Self; 2] = [Self::None, Self::Importance];
    /// The names in the configuration.
    pub const NAMES: [&'static str; 2] = ["none", "importance"];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Importance => "importance",
        }
    }

    /// The weight of a page with this priority; 0 means that it has none.
    pub(super) fn of(self, priority: u8) -> f32 {
        if self == Self::None || priority == 0 {
            return 1.0;
        }
        // From 4 for the highest priority to 1/4 for the lowest, by equal factors.
        let last = f32::from(PRIORITIES - 1);
        let place = f32::from(priority.min(PRIORITIES) - 1) / last;
        MOST.powf(1.0 - 2.0 * place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_priority_weighs_most() {
        let weights: Vec<f32> = (1..=PRIORITIES)
            .map(|priority| Weights::Importance.of(priority))
            .collect();
        assert!(weights.is_sorted_by(|one, next| one > next), "{weights:?}");
        assert!((weights[0] - 4.0).abs() < 1e-6 && (weights[7] - 0.25).abs() < 1e-6);
        assert!((Weights::Importance.of(0) - 1.0).abs() < 1e-6);
        assert!((Weights::None.of(1) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn names_are_those_of_the_list() {
        for (weights, name) in Weights::ALL.into_iter().zip(Weights::NAMES) {
            assert_eq!(weights.as_str(), name);
        }
    }
}
