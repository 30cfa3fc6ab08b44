//! When a page changes: the truth that refresh policies are measured against.
//!
//! A page never changes, or changes as a Poisson process whose rate follows an
//! hour profile. Time is cut into UTC days since the Unix epoch, and the number
//! of changes in 2^16 days is drawn at once and then split in halves, again and
//! again, down to the single day (a Poisson count split by fair coins is two
//! Poisson counts). So the version at any moment takes sixteen draws, however
//! long the page has lived, and it agrees with the list of changes by
//! construction. Summing day by day from the epoch would take twenty thousand.

use std::time::Duration;

use geomi_model::Timestamp;

use crate::dice::{Dice, Draw};

/// How the pages of a web change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeMix {
    /// Share of pages that never change.
    pub never: f64,
    /// Rates of the others.
    pub rate: RateLaw,
    /// Shares of the flat, the day and the night profile; they add up to 1.
    pub profiles: [f64; 3],
}

/// How change rates are spread over pages.
#[derive(Clone, Debug, PartialEq)]
pub enum RateLaw {
    /// The same for all, changes a day.
    Equal(f64),
    /// Log-normal, clipped.
    LogNormal {
        /// Median, changes a day.
        median_per_day: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Least and greatest rate a day.
        clip: (f64, f64),
    },
    /// Uniform within a band; bands are taken in proportion to their weight.
    Bands(Vec<RateBand>),
}

/// (weight, least, greatest) changes a week.
type RateBand = (f64, f64, f64);

/// The hours in which a page's changes fall (UTC).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HourProfile {
    /// Evenly over the day.
    Flat,
    /// 85 % of changes evenly over 09-18 h, 15 % over the rest.
    Day,
    /// 15 % of changes evenly over 09-18 h, 85 % over the rest.
    Night,
}

/// How one page changes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ChangeProcess {
    /// It stays as it is.
    Never,
    /// Poisson with this mean rate, its hours following the profile.
    Poisson {
        /// Mean changes a day.
        per_day: f64,
        /// In which hours.
        profile: HourProfile,
    },
}

impl ChangeMix {
    /// Nothing ever changes.
    pub const NEVER: Self = Self {
        never: 1.0,
        rate: RateLaw::Equal(0.0),
        profiles: [1.0, 0.0, 0.0],
    };

    /// A shop: six bands of weekly rates, most changes by day.
    pub fn shop() -> Self {
        Self {
            never: 0.0,
            rate: RateLaw::Bands(vec![
                (240.0, 10.5, 28.0),
                (144.0, 4.5, 10.5),
                (216.0, 1.5, 4.5),
                (480.0, 0.5, 1.5),
                (60.0, 0.25, 0.5),
                (60.0, 0.02, 0.25),
            ]),
            profiles: [0.2, 0.6, 0.2],
        }
    }

    /// The web at large: rates over many orders of magnitude, a tenth never.
    pub fn web() -> Self {
        Self {
            never: 0.1,
            rate: RateLaw::LogNormal {
                median_per_day: 1.0 / 15.0,
                sigma: 1.9,
                clip: (1e-4, 48.0),
            },
            profiles: [0.2, 0.6, 0.2],
        }
    }

    pub(crate) fn process(&self, dice: &mut Dice) -> ChangeProcess {
        if dice.chance(self.never) {
            return ChangeProcess::Never;
        }
        let profile = match dice.unit() {
            u if u < self.profiles[0] => HourProfile::Flat,
            u if u < self.profiles[0] + self.profiles[1] => HourProfile::Day,
            _ => HourProfile::Night,
        };
        let per_day = match &self.rate {
            RateLaw::Equal(per_day) => *per_day,
            RateLaw::LogNormal {
                median_per_day,
                sigma,
                clip,
            } => dice
                .log_normal(*median_per_day, *sigma)
                .clamp(clip.0, clip.1),
            RateLaw::Bands(bands) => per_day_of(bands, dice),
        };
        ChangeProcess::Poisson { per_day, profile }
    }
}

fn per_day_of(bands: &[RateBand], dice: &mut Dice) -> f64 {
    let total: f64 = bands.iter().map(|band| band.0).sum();
    let mut left = dice.unit() * total;
    for (weight, low, high) in bands {
        left -= weight;
        if left < 0.0 {
            return dice.within(*low, *high) / 7.0;
        }
    }
    0.0
}

const DAY_US: i64 = 86_400_000_000;
/// The tree covers 2^16 days from the epoch: until the year 2149.
const LEVELS: u32 = 16;

/// The changes of one page: its process and the draws that belong to it.
pub(crate) struct History {
    pub(crate) seed: u64,
    pub(crate) site: u32,
    pub(crate) page: u32,
    pub(crate) process: ChangeProcess,
}

impl History {
    /// How many changes there were up to and including `at`.
    pub(crate) fn version_at(&self, at: Timestamp) -> u64 {
        let ChangeProcess::Poisson { per_day, profile } = self.process else {
            return 0;
        };
        let Some(day) = day_of(at) else { return 0 };
        let (mut before, mut count) = (0, self.total(per_day));
        for level in 0..LEVELS {
            if count == 0 {
                return before;
            }
            let branch = day >> (LEVELS - 1 - level);
            let left = self.left_half(level, branch >> 1, count);
            if branch & 1 == 0 {
                count = left;
            } else {
                before += left;
                count -= left;
            }
        }
        let into_day = at.micros() - i64::from(day) * DAY_US;
        let so_far = self.times_within_day(day, count, profile);
        before + so_far.filter(|&time| time <= into_day).count() as u64
    }

    /// The changes after `from`, up to and including `to`.
    pub(crate) fn changes_between(&self, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
        let mut found = Vec::new();
        if let ChangeProcess::Poisson { per_day, profile } = self.process {
            let span = (from.micros(), to.micros());
            self.collect((0, 0, self.total(per_day)), span, profile, &mut found);
            found.sort_unstable();
        }
        found
    }

    /// The last change up to and including `at`. Looks back a day, then eight
    /// days and so on: most pages are asked for soon after they changed, and
    /// parts of the tree without changes cost nothing.
    pub(crate) fn last_change(&self, at: Timestamp) -> Option<Timestamp> {
        let mut span = Duration::from_hours(24);
        while self.version_at(at) > 0 {
            if let Some(last) = self.changes_between(at - span, at).last() {
                return Some(*last);
            }
            span *= 8;
        }
        None
    }

    /// Walks the subtree `(level, index, count)` where it has changes and
    /// touches the span.
    fn collect(
        &self,
        (level, index, count): (u32, u32, u64),
        span: (i64, i64),
        profile: HourProfile,
        found: &mut Vec<Timestamp>,
    ) {
        let days = 1i64 << (LEVELS - level);
        let start = i64::from(index) * days * DAY_US;
        if count == 0 || start > span.1 || start + days * DAY_US <= span.0 {
            return;
        }
        if level == LEVELS {
            let times = self.times_within_day(index, count, profile);
            found.extend(
                times
                    .map(|time| start + time)
                    .filter(|time| *time > span.0 && *time <= span.1)
                    .map(Timestamp::from_micros),
            );
            return;
        }
        let left = self.left_half(level, index, count);
        self.collect((level + 1, index * 2, left), span, profile, found);
        self.collect(
            (level + 1, index * 2 + 1, count - left),
            span,
            profile,
            found,
        );
    }

    fn total(&self, per_day: f64) -> u64 {
        self.dice(Draw::ChangeCount, 0, 0)
            .poisson(per_day * f64::from(1u32 << LEVELS))
    }

    fn left_half(&self, level: u32, index: u32, count: u64) -> u64 {
        self.dice(Draw::ChangeSplit, level, index).heads_of(count)
    }

    fn times_within_day(
        &self,
        day: u32,
        count: u64,
        profile: HourProfile,
    ) -> impl Iterator<Item = i64> {
        let mut dice = self.dice(Draw::ChangeHour, 0, day);
        (0..count).map(move |_| (profile.hour_at(dice.unit()) / 24.0 * DAY_US as f64) as i64)
    }

    fn dice(&self, draw: Draw, level: u32, index: u32) -> Dice {
        let of = [self.site, self.page, level, index].map(u64::from);
        Dice::new(self.seed, draw, of)
    }
}

impl HourProfile {
    /// The hour (0..24) at which a share `u` of a day's changes has happened.
    fn hour_at(self, u: f64) -> f64 {
        let office = match self {
            Self::Flat => return u * 24.0,
            Self::Day => 0.85,
            Self::Night => 0.15,
        };
        if u < office {
            return 9.0 + u / office * 9.0;
        }
        // The other fifteen hours run from 18 h round midnight to 9 h.
        (18.0 + (u - office) / (1.0 - office) * 15.0) % 24.0
    }
}

fn day_of(at: Timestamp) -> Option<u32> {
    let day = u32::try_from(at.micros().div_euclid(DAY_US)).ok()?;
    Some(day.min((1 << LEVELS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(page: u32, per_day: f64, profile: HourProfile) -> History {
        History {
            seed: 11,
            site: 3,
            page,
            process: ChangeProcess::Poisson { per_day, profile },
        }
    }

    const START: Timestamp = Timestamp::from_secs(1_790_000_000);
    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn versions_rise_and_agree_with_the_list_of_changes() {
        for (page, per_day) in [(1, 0.01), (2, 0.3), (3, 2.0), (4, 40.0)] {
            let pages = history(page, per_day, HourProfile::Day);
            let end = START + DAY * 84;
            let changes = pages.changes_between(START, end);
            let first = pages.version_at(START);
            assert_eq!(pages.version_at(end) - first, changes.len() as u64);
            for (i, change) in changes.iter().enumerate() {
                let version = first + i as u64 + 1;
                assert_eq!(pages.version_at(*change), version, "at the change");
                let just_before = *change - Duration::from_micros(1);
                assert_eq!(pages.version_at(just_before), version - 1, "before it");
            }
        }
    }

    #[test]
    fn rates_are_kept() {
        let days = 400;
        for per_day in [0.02, 0.5, 5.0] {
            let changes: usize = (0..200)
                .map(|page| {
                    history(page, per_day, HourProfile::Flat)
                        .changes_between(START, START + DAY * days)
                        .len()
                })
                .sum();
            let mean = changes as f64 / 200.0 / f64::from(days);
            assert!((mean / per_day - 1.0).abs() < 0.1, "{mean} for {per_day}");
        }
    }

    #[test]
    fn day_pages_change_by_day() {
        let changes = history(1, 10.0, HourProfile::Day).changes_between(START, START + DAY * 365);
        let by_day = changes
            .iter()
            .filter(|at| (9..18).contains(&(at.micros() % DAY_US / 3_600_000_000)))
            .count();
        let share = by_day as f64 / changes.len() as f64;
        assert!((share - 0.85).abs() < 0.03, "{share}");
    }

    #[test]
    fn before_the_epoch_and_for_still_pages_the_version_is_zero() {
        let pages = history(1, 10.0, HourProfile::Flat);
        assert_eq!(pages.version_at(Timestamp::from_secs(-5)), 0);
        let still = History {
            process: ChangeProcess::Never,
            ..pages
        };
        assert_eq!(still.version_at(START), 0);
        assert!(still.changes_between(Timestamp::EPOCH, START).is_empty());
    }
}
