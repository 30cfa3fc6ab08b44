//! What sites say of pages they do not have.
//!
//! A site that answers 404 shows what its "not found" looks like; a page of it
//! that comes with 200 and says the same is a soft 404. No request is made to
//! find that out: sites without any dead link are not judged by it.
//!
//! Memory is bounded: the last [`SHAPES_MAX`] such answers of a site, and of
//! sites the last [`SITES_MAX`], in about 12 MiB once full. It is not kept from
//! one run to the next: the next 404 of a site teaches it again.

use std::collections::{HashMap, VecDeque};

use geomi_url::SiteHash;

use crate::DISTANCE_MAX;

/// Answers remembered of a site.
pub(crate) const SHAPES_MAX: usize = 4;
/// Sites remembered.
pub(crate) const SITES_MAX: usize = 1 << 16;

/// What a text is recognised by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Hash over its words.
    pub wording: u64,
    /// Its simhash, if it is long enough for one.
    pub simhash: Option<u64>,
}

impl Shape {
    /// Whether two texts say the same, or nearly.
    pub fn is_like(self, other: Self) -> bool {
        let is_near = |one: u64, two: u64| (one ^ two).count_ones() <= DISTANCE_MAX;
        self.wording == other.wording
            || (self.simhash.zip(other.simhash)).is_some_and(|(one, two)| is_near(one, two))
    }
}

/// The answers of sites for pages they do not have.
#[derive(Clone, Debug, Default)]
pub struct Missing {
    sites: HashMap<SiteHash, VecDeque<Shape>>,
    /// Sites in the order in which their first answer came.
    order: VecDeque<SiteHash>,
}

impl Missing {
    /// A site answered so for a page it does not have.
    pub fn learn(&mut self, site: SiteHash, shape: Shape) {
        let shapes = self.sites.entry(site).or_default();
        if shapes.iter().any(|known| known.is_like(shape)) {
            return;
        }
        if shapes.is_empty() {
            self.order.push_back(site);
        }
        shapes.push_back(shape);
        if shapes.len() > SHAPES_MAX {
            shapes.pop_front();
        }
        if self.order.len() > SITES_MAX
            && let Some(first) = self.order.pop_front()
        {
            self.sites.remove(&first);
        }
    }

    /// Whether a page of a site says what the site says of pages it does not
    /// have.
    pub fn is_like_one(&self, site: SiteHash, shape: Shape) -> bool {
        let shapes = self.sites.get(&site);
        shapes.is_some_and(|shapes| shapes.iter().any(|known| known.is_like(shape)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(wording: u64, simhash: Option<u64>) -> Shape {
        Shape { wording, simhash }
    }

    #[test]
    fn the_same_words_or_nearly_the_same_are_recognised_on_their_site_only() {
        let mut missing = Missing::default();
        missing.learn(SiteHash(1), shape(10, Some(0b1111_0000)));
        let is_like = |site, shape| missing.is_like_one(SiteHash(site), shape);
        assert!(is_like(1, shape(10, None)));
        assert!(is_like(1, shape(11, Some(0b1111_0111))), "three bits");
        assert!(!is_like(1, shape(11, Some(0b1111_1111))), "four bits");
        assert!(!is_like(1, shape(11, None)));
        assert!(!is_like(2, shape(10, None)));
    }

    #[test]
    fn memory_is_bounded() {
        let mut missing = Missing::default();
        for site in 0..=SITES_MAX as u64 {
            missing.learn(SiteHash(site), shape(site, None));
        }
        assert_eq!(missing.sites.len(), SITES_MAX);
        assert!(!missing.is_like_one(SiteHash(0), shape(0, None)));
        for number in 1..=SHAPES_MAX as u64 {
            missing.learn(SiteHash(9), shape(1 << 40 | number, None));
        }
        assert!(!missing.is_like_one(SiteHash(9), shape(9, None)));
        assert_eq!(missing.sites[&SiteHash(9)].len(), SHAPES_MAX);
    }
}
