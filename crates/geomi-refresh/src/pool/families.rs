//! Groups of which there may be as many as pages: sites, and templates of sites.
//!
//! A page about the company, one of which there is no other like it, has a template to
//! itself; millions of sites have a handful of pages. What so few say of each other is
//! next to nothing, and a distribution for each would take more memory than all
//! the rest of a plan. So a family has no [`Group`] before it has [`PAGES_MIN`] pages, and
//! until then it costs some thirty bytes.

use std::collections::HashMap;

use super::{Group, NO_GROUP};
use crate::posterior::Posterior;
use crate::rates::PerRate;

/// Pages from which on a family has a distribution. Fewer would make up a quarter of a
/// prior at most.
pub(super) const PAGES_MIN: u32 = 8;

/// The families of one kinship.
#[derive(Clone, Debug, Default)]
pub(super) struct Families {
    numbers: HashMap<u64, u32>,
    list: Vec<Family>,
    groups: Vec<Group>,
}

#[derive(Clone, Copy, Debug)]
struct Family {
    pages: u32,
    /// Its place among the groups, once it has one.
    group: u32,
}

impl Families {
    /// Counts one more page of a family; the family's number.
    pub(super) fn join(&mut self, key: u64) -> u32 {
        if key == 0 {
            return NO_GROUP;
        }
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.list.push(Family {
                pages: 0,
                group: NO_GROUP,
            });
        }
        let family = &mut self.list[number as usize];
        family.pages = family.pages.saturating_add(1);
        if family.pages == PAGES_MIN {
            family.group = self.groups.len() as u32;
            self.groups.push(Group::new(false));
        }
        number
    }

    /// The place of a family's group, if it has one.
    pub(super) fn group(&self, family: u32) -> u32 {
        let family = self.list.get(family as usize);
        family.map_or(NO_GROUP, |family| family.group)
    }

    pub(super) fn bear_on(&self, prior: &mut PerRate, family: u32) {
        if let Some(group) = self.groups.get(self.group(family) as usize) {
            group.bear_on(prior);
        }
    }

    pub(super) fn sweep(&mut self, family: u32, posterior: &Posterior) {
        let group = self.group(family);
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.add(posterior);
        }
    }

    pub(super) fn finish(&mut self, everyone: &PerRate) {
        for group in &mut self.groups {
            group.finish(everyone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_a_group_when_it_has_grown() {
        let mut families = Families::default();
        assert_eq!(families.join(0), NO_GROUP);
        let first = families.join(7);
        for _ in 2..PAGES_MIN {
            assert_eq!(families.join(7), first);
            families.join(8);
        }
        assert_eq!(families.group(first), NO_GROUP);
        families.join(7);
        assert_eq!(families.group(first), 0);
        let other = families.join(8);
        assert_eq!(families.group(other), NO_GROUP);
        families.join(8);
        assert_eq!((families.group(other), families.group(first)), (1, 0));
        assert_eq!(families.group(NO_GROUP), NO_GROUP);
    }
}
