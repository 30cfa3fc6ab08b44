//! One policy on one web: every visit, and what the copies were worth.
//!
//! Changes happen at any time, visits on the hour: the planner hands out what is due and
//! paid for, no page twice in an hour. All pages are copied at time 0, which costs nothing;
//! from then on it decides, without a longest gap: what a policy gives up stays so.
//! It is told the times of a recorded history by the day of the week and the hour in UTC,
//! as in a crawl. Freshness and age are integrated exactly between visits, from the end of
//! the learning days on.

use geomi_refresh::policy::Policy;
use geomi_refresh::{Kin, Learning, Page, PageId, Planner, Terms};

use super::kind::PolicyKind;
use super::web::{World, WorldPage};

/// What a trial came to.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measures {
    /// The mean share of the time a copy was right.
    pub freshness: f64,
    /// The same by the weight of pages.
    pub weighted_freshness: f64,
    /// The same without pages that look changed at every visit.
    pub freshness_of_others: f64,
    /// Hours since the first change that the copy lacks, 0 while it is right.
    pub mean_age_h: f64,
    /// Visits a page a day.
    pub requests_per_page_day: f64,
}

/// A visit that was made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MadeVisit {
    /// The page, by its place in the web.
    pub page: PageId,
    /// When, in days from the start.
    pub time: f64,
}

/// Times a day at which visits are made.
const HOURS: f64 = 24.0;

/// How a trial is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setup {
    /// Visits a page a day.
    pub budget: f64,
    /// How many times the budget may be spent in the learning days.
    pub learn: f64,
    /// Whether the policy is told what pages weigh.
    pub is_weighted: bool,
}

impl Setup {
    /// As it is for one policy: the static cycle has nothing to learn.
    #[must_use]
    pub fn of(self, policy: PolicyKind) -> Self {
        match policy {
            PolicyKind::Static => Self { learn: 1.0, ..self },
            _ => self,
        }
    }
}

/// Runs a policy; `watch` hears of every visit.
pub fn run(
    world: &World,
    policy: Box<dyn Policy>,
    setup: Setup,
    mut watch: impl FnMut(MadeVisit),
) -> Measures {
    let start = world.start_in_week();
    let terms = Terms {
        requests_per_day: setup.budget * world.pages.len() as f64,
        longest_gap: f64::INFINITY,
        learning: (setup.learn > 1.0).then_some(Learning {
            until: start + world.learning_days,
            factor: setup.learn,
        }),
    };
    let mut planner = Planner::new(policy, terms, start);
    for (page, at) in world.pages.iter().zip(0..) {
        planner.add(&facts(page, setup.is_weighted), start);
        watch(MadeVisit {
            page: at,
            time: 0.0,
        });
    }
    planner.start();
    let mut books = Books::new(world);
    let (mut hour, mut due) = (0.0, Vec::new());
    while let Some(wake) = planner.wake() {
        hour = next_hour(wake - start).max(hour + 1.0);
        let now = hour / HOURS;
        if now >= world.days {
            break;
        }
        due.extend(std::iter::from_fn(|| planner.next(start + now)));
        for page in due.drain(..) {
            let changed = books.visit(page, now);
            watch(MadeVisit { page, time: now });
            planner.observe(page, changed, start + now);
        }
    }
    books.close()
}

/// The first whole hour at this time or after it. Sums of parts of a day err by less than
/// what is taken off.
fn next_hour(days: f64) -> f64 {
    (days * HOURS - 1e-9).ceil()
}

fn facts(page: &WorldPage, is_weighted: bool) -> Page {
    Page {
        weight: if is_weighted { page.weight as f32 } else { 1.0 },
        kin: Kin {
            site: page.site,
            ..Kin::default()
        },
    }
}

/// The copies against the truth.
struct Books<'a> {
    world: &'a World,
    copies: Vec<Copy>,
    visits: u64,
}

#[derive(Clone, Copy, Default)]
struct Copy {
    seen: f64,
    /// The first change after `seen`, by its place.
    next_change: usize,
    fresh_days: f64,
    age_days2: f64,
}

impl<'a> Books<'a> {
    fn new(world: &'a World) -> Self {
        Self {
            world,
            copies: world.pages.iter().map(Copy::first).collect(),
            visits: 0,
        }
    }

    /// A visit now; whether it looks changed.
    fn visit(&mut self, page: PageId, now: f64) -> bool {
        let truth = &self.world.pages[page as usize];
        let copy = &mut self.copies[page as usize];
        copy.settle(truth, now, self.world.learning_days);
        let before = copy.next_change;
        let later = &truth.changes[before..];
        copy.next_change += later.partition_point(|change| *change <= now);
        copy.seen = now;
        self.visits += u64::from(now >= self.world.learning_days);
        truth.is_noisy || copy.next_change > before
    }

    fn close(mut self) -> Measures {
        let counted = self.world.days - self.world.learning_days;
        let mut sums = Measures::default();
        let (mut weights, mut others) = (0.0, 0.0);
        for (copy, page) in self.copies.iter_mut().zip(&self.world.pages) {
            copy.settle(page, self.world.days, self.world.learning_days);
            let fresh = copy.fresh_days / counted;
            sums.freshness += fresh;
            sums.weighted_freshness += fresh * page.weight;
            weights += page.weight;
            if !page.is_noisy {
                sums.freshness_of_others += fresh;
                others += 1.0;
            }
            sums.mean_age_h += copy.age_days2 / counted * 24.0;
        }
        let pages = self.copies.len() as f64;
        Measures {
            freshness: sums.freshness / pages,
            weighted_freshness: sums.weighted_freshness / weights,
            freshness_of_others: sums.freshness_of_others / others,
            mean_age_h: sums.mean_age_h / pages,
            requests_per_page_day: self.visits as f64 / pages / counted,
        }
    }
}

impl Copy {
    /// The copy made at time 0, with what changed until then.
    fn first(page: &WorldPage) -> Self {
        Self {
            next_change: page.changes.partition_point(|change| *change <= 0.0),
            ..Self::default()
        }
    }

    /// Counts the time from the last visit until now, as far as it is counted.
    fn settle(&mut self, page: &WorldPage, now: f64, from: f64) {
        let begin = self.seen.max(from);
        if now <= begin {
            return;
        }
        let stale_at = page.changes.get(self.next_change).copied();
        let stale_at = stale_at.unwrap_or(f64::INFINITY);
        self.fresh_days += (stale_at.min(now) - begin).max(0.0);
        if stale_at < now {
            let (old, young) = (now - stale_at, (begin - stale_at).max(0.0));
            self.age_days2 += (old * old - young * young) / 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::refresh::web::ModelWeb;

    fn setup(budget: f64) -> Setup {
        Setup {
            budget,
            learn: 1.0,
            is_weighted: false,
        }
    }

    #[test]
    fn visits_are_on_the_hour_and_no_page_is_visited_twice_in_one() {
        let mut world = ModelWeb::Shop.draw(4, 0);
        (world.days, world.learning_days) = (12.0, 4.0);
        for policy in [PolicyKind::Static, PolicyKind::Nutch, PolicyKind::Clock] {
            let mut made = BTreeSet::new();
            run(&world, policy.build(&world), setup(1.0), |visit| {
                let hours = visit.time * HOURS;
                assert!((hours - hours.round()).abs() < 1e-9, "{policy:?} {visit:?}");
                assert!(hours.round() < world.days * HOURS, "{policy:?} {visit:?}");
                assert!(
                    made.insert((hours.round() as u32, visit.page)),
                    "{policy:?} {visit:?}"
                );
            });
            assert!(made.len() > 12 * world.pages.len(), "{policy:?}");
        }
    }

    #[test]
    fn a_policy_that_saves_for_good_hours_spends_what_it_saved() {
        for policy in [PolicyKind::Static, PolicyKind::Clock] {
            let budget = ModelWeb::Web.budget();
            let spent: f64 = (0..4)
                .map(|trial| {
                    let world = ModelWeb::Web.draw(6, trial);
                    let measures = run(&world, policy.build(&world), setup(budget), |_| {});
                    measures.requests_per_page_day / budget / 4.0
                })
                .sum();
            assert!((0.99..1.01).contains(&spent), "{policy:?}: {spent}");
        }
    }
}
