//! The rule of every crawler that adapts: after a change the interval times one
//! factor, without a change times another.
//!
//! It drives each page towards the gap at which a visit finds a change with one
//! certain probability, the same for all, which is again proportional to the
//! rate. What saves it is that it asks for more than the budget: overdue pages
//! wait in line, and a line is a static cycle.
//!
//! | rule | after a change | without | shortest and longest interval |
//! |---|---|---|---|
//! | [`reference6`](Multiplicative::reference6) | x0.5 | x1.2 | an hour, 90 days |
//! | [`nutch`](Multiplicative::nutch) | x0.8 | x1.4 | a minute, 365 days |
//! | [`stormcrawler`](Multiplicative::stormcrawler) | x0.5 of what it has above the shortest | x1.5 | an hour, 14 days |
//!
//! Of Nutch this is the plain rule, which is what others have compared with. Left out is
//! that it tries to meet the changes (`sync_delta`, on by default): after a visit that found
//! nothing new its interval is no shorter than the time since the last change it saw, and
//! the next visit comes three tenths of that time before the interval is over. Under a
//! budget that hurts: pages that wait in line are taken for ever slower ones. Left out are
//! also its first interval of 30 days and pages with intervals of their own; that a page is
//! fetched after 90 days whatever its interval is the planner's longest gap. Of
//! StormCrawler it is left out that intervals are whole minutes.

use super::{Pace, Page, PageId, Policy, Sight};

/// Days of a minute and of an hour.
const MINUTE: f64 = 1.0 / 1_440.0;
const HOUR: f64 = 1.0 / 24.0;

/// A policy of two factors.
#[derive(Clone, Debug)]
pub struct Multiplicative {
    rule: Rule,
    first: f32,
    intervals: Vec<f32>,
}

/// How an interval follows what visits find.
#[derive(Clone, Copy, Debug)]
struct Rule {
    after_change: f32,
    shortening: Shortening,
    without_change: f32,
    /// Days of the shortest and of the longest interval.
    min: f32,
    max: f32,
}

/// What the factor after a change is applied to.
#[derive(Clone, Copy, Debug)]
enum Shortening {
    /// All of the interval.
    Whole,
    /// What it has above the shortest one, which it thus nears ever more slowly.
    AboveMin,
}

impl Rule {
    /// The interval after a visit.
    fn next(&self, interval: f32, changed: bool) -> f32 {
        let next = match self.shortening {
            _ if !changed => interval * self.without_change,
            Shortening::Whole => interval * self.after_change,
            Shortening::AboveMin => self.min + (interval - self.min) * self.after_change,
        };
        next.clamp(self.min, self.max)
    }
}

impl Multiplicative {
    fn new(first: f64, rule: Rule) -> Self {
        Self {
            rule,
            first: first as f32,
            intervals: Vec::new(),
        }
    }

    /// REFRESH's reference 6: times 0.5, or times 1.2. The first interval is in
    /// days.
    pub fn reference6(first: f64) -> Self {
        let rule = Rule {
            after_change: 0.5,
            shortening: Shortening::Whole,
            without_change: 1.2,
            min: HOUR as f32,
            max: 90.0,
        };
        Self::new(first, rule)
    }

    /// Nutch's `AdaptiveFetchSchedule` with the factors and bounds it is delivered with: a
    /// fifth shorter after a change, two fifths longer without one.
    pub fn nutch(first: f64) -> Self {
        let rule = Rule {
            after_change: 0.8,
            shortening: Shortening::Whole,
            without_change: 1.4,
            min: MINUTE as f32,
            max: 365.0,
        };
        Self::new(first, rule)
    }

    /// StormCrawler's `AdaptiveScheduler` with its defaults: half way to the shortest
    /// interval, or half longer.
    pub fn stormcrawler(first: f64) -> Self {
        let rule = Rule {
            after_change: 0.5,
            shortening: Shortening::AboveMin,
            without_change: 1.5,
            min: HOUR as f32,
            max: 14.0,
        };
        Self::new(first, rule)
    }
}

impl Policy for Multiplicative {
    fn pace(&self) -> Pace {
        Pace::Even
    }

    fn add(&mut self, _page: &Page) {
        self.intervals.push(self.first);
    }

    fn observe(&mut self, sight: &Sight) {
        let interval = &mut self.intervals[sight.page as usize];
        *interval = self.rule.next(*interval, sight.changed);
    }

    fn due(&mut self, page: PageId, last: f64, _price: f64) -> f64 {
        last + f64::from(self.intervals[page as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits of a page find what `found` says, `+` for a change; its intervals are these,
    /// in hours.
    fn check(mut policy: Multiplicative, found: &str, hours: &[f64]) {
        policy.add(&Page::default());
        policy.add(&Page::default());
        let mut last = 0.0;
        for (sign, expected) in found.chars().zip(hours) {
            let to = policy.due(1, last, 1.0);
            policy.observe(&Sight {
                page: 1,
                from: last,
                to,
                changed: sign == '+',
            });
            last = to;
            let interval = (policy.due(1, last, 1.0) - last) * 24.0;
            assert!(
                (interval / expected - 1.0).abs() < 1e-5,
                "{interval} instead of {expected} in {found}"
            );
        }
        assert_eq!(found.len(), hours.len());
        let other = policy.due(0, 0.0, 1.0);
        assert!((other - 1.0).abs() < 1e-9, "pages go each their own way");
    }

    #[test]
    fn intervals_are_those_of_each_rule() {
        let reference6 = || Multiplicative::reference6(1.0);
        check(reference6(), "++-+", &[12.0, 6.0, 7.2, 3.6]);
        check(reference6(), "+++++-", &[12.0, 6.0, 3.0, 1.5, 1.0, 1.2]);
        let nutch = || Multiplicative::nutch(1.0);
        check(nutch(), "+-+-", &[19.2, 26.88, 21.504, 30.1056]);
        let storm = || Multiplicative::stormcrawler(1.0);
        // In minutes 1440, 750, 405, 232.5, and half longer.
        check(storm(), "+++-", &[12.5, 6.75, 3.875, 5.8125]);
        check(storm(), "--", &[36.0, 54.0]);
    }

    #[test]
    fn each_rule_has_a_shortest_and_a_longest_interval() {
        let ends = |mut policy: Multiplicative| {
            policy.add(&Page::default());
            [true, false].map(|changed| {
                for _ in 0..60 {
                    let (page, from, to) = (0, 0.0, 1.0);
                    policy.observe(&Sight {
                        page,
                        from,
                        to,
                        changed,
                    });
                }
                policy.due(0, 0.0, 1.0)
            })
        };
        let cases = [
            (ends(Multiplicative::reference6(1.0)), [HOUR, 90.0]),
            (ends(Multiplicative::nutch(1.0)), [MINUTE, 365.0]),
            (ends(Multiplicative::stormcrawler(1.0)), [HOUR, 14.0]),
        ];
        for (found, expected) in cases {
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-5, "{found} {expected}");
            }
        }
    }
}
