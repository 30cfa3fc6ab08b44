//! A sample of each site says how often its pages are visited.
//!
//! A tenth of the pages of each site is visited every cycle; the share of those
//! that had changed, against that of all sites, sets the interval of the rest.
//! It helps where pages of a site change alike, and cannot tell pages of one site
//! apart.

use std::collections::HashMap;

use super::{Pace, Page, PageId, Policy, Sight};

/// Every so many-th page of a site is in its sample.
const ONE_IN: u32 = 10;
/// Weight of old visits when a new one is counted in.
const MEMORY: f32 = 0.95;

/// The sampling-based policy.
#[derive(Debug, Default)]
pub struct Sampling {
    sites: Vec<Site>,
    names: HashMap<u64, u32>,
    /// The site of each page, and whether it is in the sample.
    pages: Vec<(u32, bool)>,
    all: Site,
}

#[derive(Clone, Copy, Debug, Default)]
struct Site {
    pages: u32,
    visits: f32,
    changes: f32,
}

impl Site {
    fn count(&mut self, changed: bool) {
        self.visits = self.visits * MEMORY + 1.0;
        self.changes = self.changes * MEMORY + f32::from(u8::from(changed));
    }

    /// One visit of each kind is assumed before any is made.
    fn share(&self) -> f64 {
        f64::from((self.changes + 1.0) / (self.visits + 2.0))
    }
}

impl Policy for Sampling {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, page: &Page) {
        let next = self.sites.len() as u32;
        let site = *self.names.entry(page.kin.site).or_insert(next);
        if site == next {
            self.sites.push(Site::default());
        }
        let entry = &mut self.sites[site as usize];
        self.pages.push((site, entry.pages.is_multiple_of(ONE_IN)));
        entry.pages += 1;
    }

    fn observe(&mut self, sight: &Sight) {
        let (site, is_sample) = self.pages[sight.page as usize];
        if is_sample {
            self.sites[site as usize].count(sight.changed);
            self.all.count(sight.changed);
        }
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let (site, is_sample) = self.pages[page as usize];
        if is_sample {
            return last + price;
        }
        last + price * self.all.share() / self.sites[site as usize].share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Kin;

    const SITE_PAGES: PageId = 30;

    /// Two sites; every page is visited ten times, and those of which this is true have
    /// changed each time.
    fn visited(changes: impl Fn(PageId) -> bool) -> Sampling {
        let mut policy = Sampling::default();
        for page in 0..2 * SITE_PAGES {
            let kin = Kin {
                site: u64::from(page / SITE_PAGES) + 1,
                ..Kin::default()
            };
            policy.add(&Page { weight: 1.0, kin });
        }
        for day in 0..10 {
            for page in 0..2 * SITE_PAGES {
                let from = f64::from(day);
                policy.observe(&Sight {
                    page,
                    from,
                    to: from + 1.0,
                    changed: changes(page),
                });
            }
        }
        policy
    }

    #[test]
    fn a_site_is_visited_as_often_as_its_sample_changes() {
        let mut policy = visited(|page| page < SITE_PAGES);
        let [busy, quiet] = [1, SITE_PAGES + 1].map(|page| policy.due(page, 5.0, 2.0) - 5.0);
        assert!(busy < 1.2 && quiet > 10.0, "{busy} {quiet}");
        for page in 1..10 {
            assert!((policy.due(page, 5.0, 2.0) - 5.0 - busy).abs() < 1e-9);
        }
    }

    #[test]
    fn a_tenth_of_each_site_is_its_sample_and_visited_every_cycle() {
        let mut policy = visited(|page| page < SITE_PAGES);
        let sample = [0, 10, 20, 30, 40, 50];
        let every_cycle: Vec<PageId> = (0..2 * SITE_PAGES)
            .filter(|page| (policy.due(*page, 5.0, 2.0) - 7.0).abs() < 1e-9)
            .collect();
        assert_eq!(every_cycle, sample);
    }

    #[test]
    fn pages_outside_the_sample_say_nothing() {
        let mut policy = visited(|page| page % 10 != 0);
        let mut still = visited(|_| false);
        for page in 0..2 * SITE_PAGES {
            let (due, expected) = (policy.due(page, 0.0, 2.0), still.due(page, 0.0, 2.0));
            assert!((due - expected).abs() < 1e-9, "{page}: {due} {expected}");
        }
    }
}
