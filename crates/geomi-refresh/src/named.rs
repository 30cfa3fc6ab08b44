//! The policies a crawler can follow, by name.
//!
//! A crawler knows no true rates, so the rules that need them learn them from
//! their visits; those that make no sense without (`optimal`, `harmonic`) are
//! for the laboratory alone.

use crate::policy::{
    Age, Clock, Greedy, Grouped, Multiplicative, Policy, Proportional, Sampling, Static,
};
use crate::{Grouping, Knowledge};

/// Days of the first interval of the rules that multiply.
const FIRST_INTERVAL: f64 = 1.0;

/// The names.
pub const NAMES: [&str; 11] = [
    "clock",
    "greedy",
    "age",
    "static",
    "proportional",
    "sampling",
    "group16",
    "group6",
    "multiplicative",
    "nutch",
    "stormcrawler",
];

/// The policy of a name, knowing nothing yet.
pub fn policy(name: &str) -> Option<Box<dyn Policy>> {
    Some(match name {
        "clock" => Box::new(Clock::default()),
        "greedy" => Box::new(Greedy::default()),
        "age" => Box::new(Age::default()),
        "static" => Box::new(Static),
        "proportional" => Box::new(Proportional::new(Knowledge::none())),
        "sampling" => Box::new(Sampling::default()),
        "group16" => Box::new(Grouped::new(Grouping::Sixteen, Knowledge::none())),
        "group6" => Box::new(Grouped::new(Grouping::Six, Knowledge::none())),
        "multiplicative" => Box::new(Multiplicative::reference6(FIRST_INTERVAL)),
        "nutch" => Box::new(Multiplicative::nutch(FIRST_INTERVAL)),
        "stormcrawler" => Box::new(Multiplicative::stormcrawler(FIRST_INTERVAL)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_policy() {
        for name in NAMES {
            assert!(policy(name).is_some(), "{name}");
        }
        assert!(policy("optimal").is_none());
    }
}
