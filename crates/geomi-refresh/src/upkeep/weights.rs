//! What the freshness of a page weighs.
//!
//! Unless it is said otherwise all pages weigh the same: freshness is then the share
//! of copies that are right, which is what `geomi refresh report` tells and what all
//! figures of the laboratory are about. The importance of a page is an estimate made
//! for another question, what to crawl first; an operator may choose it.

use geomi_model::PRIORITIES;

/// Where weights are from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Weights {
    /// All the same.
    #[default]
    None,
    /// From the priority with which a page was found: links to it, depth, shape and
    /// what else the crawl went by. It is in the row of the page's first visit, so that
    /// a plan that is read anew has the same weights.
    Importance,
}

/// What a seed weighs. The least page weighs as much less than one.
const MOST: f32 = 4.0;

impl Weights {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::None, Self::Importance];
    /// As they are written.
    pub const NAMES: [&'static str; 2] = ["none", "importance"];

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Importance => "importance",
        }
    }

    /// What a page weighs that was found with this priority; 0 is none.
    pub(super) fn of(self, priority: u8) -> f32 {
        if self == Self::None || priority == 0 {
            return 1.0;
        }
        // From 4 for the first priority to 1/4 for the last, each by the same factor.
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
