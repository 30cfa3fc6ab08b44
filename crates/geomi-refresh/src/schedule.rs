//! REFRESH's schedule table: which pages are visited on which day at which hour.
//!
//! A page's group says how often; this says when. The paper leaves conventions
//! unsaid, which are: three visits a week are Monday, Wednesday and Friday; once
//! a week is Saturday; once in two weeks is every second Saturday and once in four every
//! fourth. The paper prints those as the second and the third Saturday of a month, which
//! is once a month for both. Changes mostly from 09 to 18 put the visit at midnight,
//! others at noon; pages once a week are visited at noon.

use std::collections::BTreeMap;

use crate::groups::Group;

/// When the changes of a page mostly fall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mostly {
    /// From 09 to 18.
    ByDay,
    /// From 18 to 09.
    ByNight,
}

impl Mostly {
    /// From a count of changes by the hour of the day; where it is even, by day.
    pub fn of(changes_by_hour: &[u32; 24]) -> Self {
        let by_day: u32 = changes_by_hour[9..18].iter().sum();
        let all: u32 = changes_by_hour.iter().sum();
        if 2 * by_day >= all {
            Self::ByDay
        } else {
            Self::ByNight
        }
    }

    /// From changes that are spread over the hours in which each may have happened. A
    /// change of which nobody knows the hour has 9/24 of it by day: so the share by day
    /// is held against that and not against a half, or all such pages would seem to
    /// change by night. Where it is even, by day.
    pub fn of_spread(changes_by_hour: &[f32; 24]) -> Self {
        let by_day: f32 = changes_by_hour[9..18].iter().sum();
        let all: f32 = changes_by_hour.iter().sum();
        if by_day >= all * (DAY_SHARE - ROUNDING) {
            Self::ByDay
        } else {
            Self::ByNight
        }
    }
}

/// The part of a day from 09 to 18.
const DAY_SHARE: f32 = 9.0 / 24.0;
/// By how much a share may be off for being a sum of many parts.
const ROUNDING: f32 = 1e-3;

/// A line of the table: days are numbered from Sunday, as in the paper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// Once in how many weeks, for pages that are visited less than once a week.
    pub weeks: Option<u8>,
    /// 0 is Sunday, 6 Saturday.
    pub day: u8,
    /// 0 or 12.
    pub hour: u8,
}

impl Slot {
    /// Whether it is for that week; weeks are numbered from any one on. Pages once in two
    /// weeks have the even ones, pages once in four every other odd one.
    pub fn is_in(&self, week: i64) -> bool {
        match self.weeks {
            None | Some(0 | 1) => true,
            Some(2) => week.rem_euclid(2) == 0,
            Some(weeks) => week.rem_euclid(weeks.into()) == 1,
        }
    }
}

/// The table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule(BTreeMap<Slot, Vec<String>>);

impl Schedule {
    /// Puts a page in its places.
    pub fn add(&mut self, page: &str, group: Group, mostly: Mostly) {
        for slot in slots(group, mostly) {
            self.0.entry(slot).or_default().push(page.to_owned());
        }
    }

    /// Lines in the order of the week.
    pub fn lines(&self) -> impl Iterator<Item = (Slot, &[String])> {
        self.0.iter().map(|(slot, pages)| (*slot, pages.as_slice()))
    }

    /// Visits of an ordinary week.
    pub fn visits_a_week(&self) -> usize {
        let weekly = self.0.iter().filter(|(slot, _)| slot.weeks.is_none());
        weekly.map(|(_, pages)| pages.len()).sum()
    }
}

const SATURDAY: u8 = 6;

/// When the pages of a group are visited.
pub fn slots(group: Group, mostly: Mostly) -> Vec<Slot> {
    let hour = match mostly {
        Mostly::ByDay => 0,
        Mostly::ByNight => 12,
    };
    let at = |day| Slot {
        weeks: None,
        day,
        hour,
    };
    match group {
        Group::Weeks(weeks) => vec![Slot {
            weeks: Some(weeks),
            day: SATURDAY,
            hour: 0,
        }],
        Group::AWeek(0 | 1) => vec![Slot {
            hour: 12,
            ..at(SATURDAY)
        }],
        Group::AWeek(2) => vec![at(1), at(4)],
        Group::AWeek(3) => vec![at(1), at(3), at(5)],
        Group::AWeek(visits @ 4..=7) => {
            // The first days of the working week, then its ends.
            let order = [1, 2, 3, 4, 5, 0, 6];
            order[..usize::from(visits)]
                .iter()
                .copied()
                .map(at)
                .collect()
        }
        Group::AWeek(visits) => {
            let other = |day| Slot {
                hour: 12 - hour,
                ..at(day)
            };
            let second = usize::from(visits.min(14)) - 7;
            (0..7)
                .map(at)
                .chain((0..7).take(second).map(other))
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_as_many_slots_as_visits() {
        for visits in 1..=14 {
            let slots = slots(Group::AWeek(visits), Mostly::ByDay);
            assert_eq!(slots.len(), usize::from(visits), "{slots:?}");
        }
        assert_eq!(slots(Group::Weeks(4), Mostly::ByDay).len(), 1);
    }

    #[test]
    fn pages_once_in_some_weeks_come_that_often() {
        for (weeks, visits) in [(2, 26), (4, 13)] {
            let slot = slots(Group::Weeks(weeks), Mostly::ByDay)[0];
            let due: Vec<i64> = (2_900..2_952).filter(|week| slot.is_in(*week)).collect();
            assert_eq!(due.len(), visits, "{weeks}");
            let gaps = due.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.into_iter().all(|gap| gap == i64::from(weeks)));
        }
        assert!(slots(Group::AWeek(1), Mostly::ByDay)[0].is_in(7));
    }

    #[test]
    fn hours_follow_the_changes() {
        let mut hours = [0; 24];
        hours[9] = 5;
        hours[14] = 2;
        hours[20] = 3;
        assert_eq!(Mostly::of(&hours), Mostly::ByDay);
        hours[2] = 9;
        assert_eq!(Mostly::of(&hours), Mostly::ByNight);
    }

    #[test]
    fn changes_of_which_nobody_knows_the_hour_do_not_fall_by_night() {
        let mut hours = [10.0 / 24.0; 24];
        assert_eq!(Mostly::of_spread(&[0.0; 24]), Mostly::ByDay);
        assert_eq!(Mostly::of_spread(&hours), Mostly::ByDay);
        hours[20] += 1.0;
        assert_eq!(Mostly::of_spread(&hours), Mostly::ByNight);
        hours[10] += 1.0;
        assert_eq!(Mostly::of_spread(&hours), Mostly::ByDay);
    }
}
