//! What pages have in common: priors learned from kin.
//!
//! A page that has been visited twice says little; its kin say more. Pages are
//! kin by domain, depth, the type of their links, size, site and URL template, which is
//! where ROBOT's Tables 9 to 13 found differences. Each group has a pooled distribution of
//! rates, the mean of its members' posteriors.
//!
//! The prior of a page begins with that of all pages. Its domain, depth, link type and size
//! cut across each other, and none says what the others do: each moves the prior by how
//! much likelier a rate is in the group than among all pages,
//! `prior * (group / all) ^ (members / (members + SHRINK))`, which is right if they are
//! independent for pages of one rate. Then it is drawn towards its site and its template,
//! which lie one within the other: `(members * group + SHRINK * so far) / (members + SHRINK)`.
//! A group of ten pages thus matters a little, one of a thousand does; and a site or template
//! of a thousand decides. Those of fewer than eight have no distribution ([`families`]): there
//! may be as many of them as pages.
//!
//! The means are learned by expectation and maximisation, spread out: with every
//! visit the owner sweeps a few pages into [`Pool::sweep`], and when all have
//! been seen [`Pool::finish`] makes the sums the new distributions. The posteriors of all
//! pages are never computed at once.
//!
//! A decision asks for several priors, and each kinship that cuts across others costs a
//! product and a division for every rate. But there are some thousand combinations of them
//! for millions of pages, and what a combination makes of the prior stays the same from one
//! `finish` to the next: it is kept. Where there are more than [`KEPT_MAX`] combinations,
//! the others are computed when they are asked for.

mod families;

use std::collections::HashMap;

use self::families::Families;
use crate::posterior::Posterior;
use crate::rates::{PerRate, RATES, rate};

/// How many kinships cut across each other.
const CROSSED: usize = 4;
/// Combinations of them whose part of the prior is kept: 9 MB.
const KEPT_MAX: usize = 1 << 16;
/// No group makes a rate more or less likely than all pages by more than this.
const FACTOR_MAX: f32 = 100.0;

/// How many members weigh as much as everything wider.
const SHRINK: f32 = 20.0;
/// The median of the prior before anything is known: one change in 20 days.
const MEDIAN: f64 = 1.0 / 20.0;
/// Its spread in the logarithm: from months to hours within one deviation.
const SPREAD: f64 = 2.5;
/// Pages that are believed to be like the first prior, whatever was seen.
const FIRST: f32 = 5.0;

/// What makes a page kin of others. Pages are kin by what they have alike: numbers or
/// hashes, of which zero means that it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kin {
    /// The public suffix of its host.
    pub domain: u64,
    /// How many links away from a seed it is.
    pub depth: u64,
    /// What kinds of link are on it.
    pub links: u64,
    /// How large it was at first: in classes, for no two pages have the same size.
    pub size: u64,
    /// Its site.
    pub site: u64,
    /// The form of its URL, on its site.
    pub template: u64,
}

/// Kinds of kinship that cut across each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Crossed {
    Domain,
    Depth,
    Links,
    Size,
}

/// A page's groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Groups {
    /// The combination of those that cut across each other.
    crossing: u32,
    /// Those that lie one within the other.
    site: u32,
    template: u32,
}

const NO_GROUP: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Group {
    /// Whether it cuts across others.
    is_crossed: bool,
    /// What a prior is multiplied with, or drawn towards.
    pooled: PerRate,
    members: f32,
    /// The mean of those that have been swept: an `f32` would lose most of a sum of
    /// millions of small numbers.
    mean: PerRate,
    swept: f32,
}

impl Group {
    fn new(is_crossed: bool) -> Self {
        Self {
            is_crossed,
            pooled: [if is_crossed { 1.0 } else { 0.0 }; RATES],
            members: 0.0,
            mean: [0.0; RATES],
            swept: 0.0,
        }
    }

    fn add(&mut self, posterior: &Posterior) {
        self.swept += 1.0;
        let part = 1.0 / self.swept;
        for (mean, p) in self.mean.iter_mut().zip(posterior.0) {
            *mean += part * (p - *mean);
        }
    }

    fn finish(&mut self, everyone: &PerRate) {
        self.members = std::mem::take(&mut self.swept);
        let mean = std::mem::replace(&mut self.mean, [0.0; RATES]);
        self.pooled = if self.is_crossed {
            std::array::from_fn(|at| {
                let factor = (mean[at] / everyone[at]).clamp(1.0 / FACTOR_MAX, FACTOR_MAX);
                factor.powf(self.own())
            })
        } else {
            mean
        };
    }

    /// How much its members count against everything wider.
    fn own(&self) -> f32 {
        self.members / (self.members + SHRINK)
    }

    /// Moves a prior by what is known of this group.
    fn bear_on(&self, prior: &mut PerRate) {
        let terms = prior.iter_mut().zip(&self.pooled);
        if self.is_crossed {
            terms.for_each(|(prior, factor)| *prior *= factor);
            let sum: f32 = prior.iter().sum();
            for p in prior.iter_mut() {
                *p /= sum;
            }
        } else {
            let own = self.own();
            terms.for_each(|(prior, pooled)| *prior += own * (pooled - *prior));
        }
    }
}

/// The distributions of all groups.
#[derive(Clone, Debug)]
pub struct Pool {
    all: Group,
    first: PerRate,
    everyone: PerRate,
    sites: Families,
    templates: Families,
    /// Those that cut across each other.
    groups: Vec<Group>,
    names: HashMap<(Crossed, u64), u32>,
    /// The groups of each combination.
    crossings: Vec<[u32; CROSSED]>,
    crossing_names: HashMap<[u32; CROSSED], u32>,
    /// What the first combinations make of the prior of all pages.
    kept: Vec<PerRate>,
    kept_max: usize,
}

impl Default for Pool {
    fn default() -> Self {
        let mut first: PerRate = std::array::from_fn(|at| {
            let z = (rate(at) / MEDIAN).ln() / SPREAD;
            (-z * z / 2.0).exp() as f32
        });
        let sum: f32 = first.iter().sum();
        for p in &mut first {
            *p /= sum;
        }
        Self {
            all: Group::new(false),
            first,
            everyone: first,
            sites: Families::default(),
            templates: Families::default(),
            groups: Vec::new(),
            names: HashMap::new(),
            crossings: Vec::new(),
            crossing_names: HashMap::new(),
            kept: Vec::new(),
            kept_max: KEPT_MAX,
        }
    }
}

impl Pool {
    /// The groups of a page that is counted in; made where they are new.
    pub(crate) fn groups(&mut self, kin: &Kin) -> Groups {
        let crossed = [
            self.group(Crossed::Domain, kin.domain),
            self.group(Crossed::Depth, kin.depth),
            self.group(Crossed::Links, kin.links),
            self.group(Crossed::Size, kin.size),
        ];
        Groups {
            crossing: self.crossing(crossed),
            site: self.sites.join(kin.site),
            template: self.templates.join(kin.template),
        }
    }

    /// The number of a page's site: 1, 2 and so on for each site of some pages, 0 for all
    /// others.
    pub(crate) fn site(&self, groups: Groups) -> u32 {
        self.sites.group(groups.site).wrapping_add(1)
    }

    fn group(&mut self, kinship: Crossed, key: u64) -> u32 {
        if key == 0 {
            return NO_GROUP;
        }
        let next = self.groups.len() as u32;
        let group = *self.names.entry((kinship, key)).or_insert(next);
        if group == next {
            self.groups.push(Group::new(true));
        }
        group
    }

    fn crossing(&mut self, crossed: [u32; CROSSED]) -> u32 {
        let next = self.crossings.len() as u32;
        let crossing = *self.crossing_names.entry(crossed).or_insert(next);
        if crossing == next {
            self.crossings.push(crossed);
            if self.kept.len() < self.kept_max {
                self.kept.push(self.crossed_prior(crossed));
            }
        }
        crossing
    }

    /// What to believe of a page before looking at it.
    pub(crate) fn prior(&self, groups: Groups) -> PerRate {
        let crossing = groups.crossing as usize;
        let mut prior = match self.kept.get(crossing) {
            Some(kept) => *kept,
            None => self.crossed_prior(self.crossings[crossing]),
        };
        self.sites.bear_on(&mut prior, groups.site);
        self.templates.bear_on(&mut prior, groups.template);
        prior
    }

    /// What a combination makes of the prior of all pages.
    fn crossed_prior(&self, crossed: [u32; CROSSED]) -> PerRate {
        let mut prior = self.everyone;
        for group in crossed.into_iter().filter(|group| *group != NO_GROUP) {
            self.groups[group as usize].bear_on(&mut prior);
        }
        prior
    }

    /// Counts what is believed of a page.
    pub(crate) fn sweep(&mut self, groups: Groups, posterior: &Posterior) {
        self.all.add(posterior);
        let crossed = self.crossings[groups.crossing as usize];
        for group in crossed.into_iter().filter(|group| *group != NO_GROUP) {
            self.groups[group as usize].add(posterior);
        }
        self.sites.sweep(groups.site, posterior);
        self.templates.sweep(groups.template, posterior);
    }

    /// All pages have been counted.
    pub(crate) fn finish(&mut self) {
        let pages = self.all.swept;
        self.everyone = std::array::from_fn(|at| {
            (pages * self.all.mean[at] + FIRST * self.first[at]) / (pages + FIRST)
        });
        self.all.finish(&self.everyone);
        for group in &mut self.groups {
            group.finish(&self.everyone);
        }
        self.sites.finish(&self.everyone);
        self.templates.finish(&self.everyone);
        for crossing in 0..self.kept.len() {
            self.kept[crossing] = self.crossed_prior(self.crossings[crossing]);
        }
    }

    /// The distribution of the rates of all pages.
    pub fn everyone(&self) -> &PerRate {
        &self.everyone
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::Evidence;

    fn of_site(site: u64) -> Kin {
        Kin {
            site,
            ..Kin::default()
        }
    }

    #[test]
    fn a_new_page_starts_from_its_kin() {
        let mut pool = Pool::default();
        let pages: Vec<Groups> = (0..200)
            .map(|page| pool.groups(&of_site(7 + page % 2)))
            .collect();
        let [busy, quiet] = [pages[0], pages[1]];
        for _ in 0..4 {
            for (page, group) in pages.iter().copied().enumerate() {
                let mut evidence = Evidence::default();
                for _ in 0..6 {
                    evidence.visit(1.0, page % 2 == 0, 1.0);
                }
                let posterior = Posterior::new(&pool.prior(group), &evidence);
                pool.sweep(group, &posterior);
            }
            pool.finish();
        }
        let new = |groups| Posterior::new(&pool.prior(groups), &Evidence::default()).median();
        assert!(new(busy) > 1.0, "{}", new(busy));
        assert!(new(quiet) < 0.1, "{}", new(quiet));
        let stranger = pool.groups(&of_site(9));
        let prior = pool.prior(stranger);
        assert!((prior.iter().sum::<f32>() - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_new_page_starts_from_those_of_its_size() {
        let mut pool = Pool::default();
        let of_size = |size: u64| Kin {
            size,
            ..Kin::default()
        };
        for _ in 0..2 {
            for page in 0..400 {
                let (size, rate) = if page % 2 == 0 { (12, 2.0) } else { (16, 0.02) };
                let groups = pool.groups(&of_size(size));
                pool.sweep(groups, &Posterior::known(rate));
            }
            pool.finish();
        }
        let mut new = |size| {
            let groups = pool.groups(&of_size(size));
            Posterior(pool.prior(groups)).median()
        };
        assert!(new(12) > 1.0, "{}", new(12));
        assert!(new(16) < 0.04, "{}", new(16));
        assert!(
            (new(14) - new(0)).abs() < 1e-6,
            "a size of which nothing is known"
        );
    }

    #[test]
    fn a_combination_that_is_not_kept_has_the_same_prior() {
        let kin = |page: u64| Kin {
            domain: page % 3 + 1,
            depth: page % 4 + 1,
            links: page % 5 + 1,
            size: page % 2 + 1,
            site: page % 7 + 1,
            template: page % 14 + 1,
        };
        let few = Pool {
            kept_max: 2,
            ..Pool::default()
        };
        let [all, few] = [Pool::default(), few].map(|mut pool| {
            for page in 0..2_000 {
                let groups = pool.groups(&kin(page));
                let rate = 0.01 * (page % 60 + 1) as f64;
                pool.sweep(groups, &Posterior::known(rate));
                if page % 500 == 499 {
                    pool.finish();
                }
            }
            pool
        });
        assert_eq!((all.kept.len(), few.kept.len()), (60, 2));
        let priors = |mut pool: Pool| -> Vec<PerRate> {
            let pages = 0..60;
            pages
                .map(|page| {
                    let groups = pool.groups(&kin(page));
                    pool.prior(groups)
                })
                .collect()
        };
        let (all, few) = (priors(all), priors(few));
        assert_eq!(all, few);
        let differ = |(one, other): (&f32, &f32)| (one - other).abs() > 1e-3;
        assert!(all[0].iter().zip(&all[1]).any(differ));
    }

    #[test]
    fn a_template_of_few_pages_says_nothing_and_one_of_some_a_little() {
        let mut pool = Pool::default();
        let others = pool.groups(&Kin::default());
        let mut beside_others = |template, pages| {
            let kin = Kin {
                template,
                ..Kin::default()
            };
            let groups: Vec<Groups> = (0..pages).map(|_| pool.groups(&kin)).collect();
            (0..1_000).for_each(|_| pool.sweep(others, &Posterior::known(0.05)));
            for page in &groups {
                pool.sweep(*page, &Posterior::known(10.0));
            }
            pool.finish();
            let mean = |groups| Posterior(pool.prior(groups)).mean();
            mean(groups[0]) / mean(others)
        };
        assert!((beside_others(3, 7) - 1.0).abs() < 1e-3);
        let some = beside_others(4, 8);
        assert!((10.0..60.0).contains(&some), "{some}");
    }

    #[test]
    fn kinships_that_cut_across_each_other_all_count() {
        // Pages of the first domain change ten times as often as those of the second, and
        // so do front pages against deep ones; their link types say nothing.
        let mut pool = Pool::default();
        let kin = |domain: u64, depth: u64| Kin {
            domain,
            depth,
            links: 5,
            ..Kin::default()
        };
        let rate = |domain: u64, depth: u64| 3.0 / 10_f64.powi((domain + depth - 2) as i32);
        for _ in 0..3 {
            for page in 0..4_000 {
                let (domain, depth) = (page % 2 + 1, page / 2 % 2 + 1);
                let groups = pool.groups(&kin(domain, depth));
                pool.sweep(groups, &Posterior::known(rate(domain, depth)));
            }
            pool.finish();
        }
        let mut prior = |domain, depth| {
            let groups = pool.groups(&kin(domain, depth));
            Posterior(pool.prior(groups)).median()
        };
        let [[front, deep], [other_front, other_deep]] =
            [1, 2].map(|domain| [1, 2].map(|depth| prior(domain, depth)));
        assert!(front > 2.0, "{front}");
        assert!((0.1..1.0).contains(&deep), "{deep}");
        assert!((0.1..1.0).contains(&other_front), "{other_front}");
        assert!(other_deep < 0.06, "{other_deep}");
    }
}
