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
