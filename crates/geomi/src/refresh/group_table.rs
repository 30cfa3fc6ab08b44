//! REFRESH's schedule table for the coming week: how often a page is visited follows
//! from its group, at which hour from the hours in which its changes fell.
//!
//! The groups go by the learned rates. A change is spread over the hours since the page
//! was seen before ([`change_hours`](super::change_hours)): where visits are close
//! together they tell its hour, and where they are days apart they tell nothing and say
//! so. Pages that are visited once in two or four weeks are in the table of every second or
//! fourth week.

use std::collections::HashMap;

use geomi_refresh::schedule::{Mostly, slots};
use geomi_refresh::upkeep::Sighting;
use geomi_refresh::{Grouping, PageId};
use geomi_report::freshness::Moment;

use super::change_hours::spread;
use super::plan::Table;
use super::view::View;

/// The grouping that a policy goes by, if it goes by one.
pub(super) fn grouping(policy: &str) -> Option<Grouping> {
    match policy {
        "group16" => Some(Grouping::Sixteen),
        "group6" => Some(Grouping::Six),
        _ => None,
    }
}

/// How much of the changes of each page fell into which hour of the day.
#[derive(Debug, Default)]
pub(super) struct ChangeHours(HashMap<PageId, [f32; 24]>);

impl ChangeHours {
    /// Takes a visit in.
    pub(super) fn take(&mut self, moment: &Moment<'_>) {
        if moment.sighted.kind == Sighting::Changed {
            self.count(moment.sighted.page, moment.before, moment.sighted.at);
        }
    }

    /// Counts a change between two times.
    fn count(&mut self, page: PageId, from: f64, to: f64) {
        let hours = self.0.entry(page).or_default();
        spread(from, to, |hour, part| hours[hour % 24] += part as f32);
    }

    /// When the changes of a page mostly fall; by day where that is not known.
    fn mostly(&self, page: PageId) -> Mostly {
        Mostly::of_spread(self.0.get(&page).unwrap_or(&[0.0; 24]))
    }
}

/// The table of the coming week, and the visits that an ordinary week needs.
pub(super) fn table(view: &View, grouping: Grouping, hours: &ChangeHours) -> (Table, f64) {
    let mut table = vec![Vec::new(); 7 * 24];
    let mut visits_a_week = 0.0;
    let week = week_of(view.now);
    for page in view.pages() {
        let group = grouping.of(view.posterior(page).mean() * 7.0);
        visits_a_week += group.visits_a_week();
        let slots = slots(group, hours.mostly(page)).into_iter();
        for slot in slots.filter(|slot| slot.is_in(week)) {
            table[usize::from(slot.day) * 24 + usize::from(slot.hour)].push(page);
        }
    }
    (table, visits_a_week)
}

/// The day of the first Saturday since 1970.
const FIRST_SATURDAY: f64 = 2.0;

/// The number of the week, since 1970, that has the next Saturday in it.
fn week_of(now: f64) -> i64 {
    ((now.ceil() - FIRST_SATURDAY) / 7.0).ceil() as i64
}

#[cfg(test)]
mod tests {
    use geomi_model::Timestamp;
    use geomi_refresh::Group;
    use geomi_refresh::upkeep::days;

    use super::*;

    fn at(text: &str) -> f64 {
        days(Timestamp::parse_rfc3339(text).unwrap())
    }

    #[test]
    fn changes_fall_by_day_or_night_as_far_as_gaps_tell() {
        let check = |gaps: &[(&str, f64)], mostly: Mostly| {
            let mut hours = ChangeHours::default();
            for (from, gap_h) in gaps {
                hours.count(1, at(from), at(from) + gap_h / 24.0);
            }
            assert_eq!(hours.mostly(1), mostly, "{gaps:?}");
        };
        check(&[], Mostly::ByDay);
        check(&[("2026-03-02T22:00:00Z", 8.0)], Mostly::ByNight);
        check(&[("2026-03-02T22:00:00Z", 10.0)], Mostly::ByNight);
        check(&[("2026-03-02T08:00:00Z", 11.0)], Mostly::ByDay);
        // A day, or some: nobody knows when.
        let a_day = ("2026-03-02T22:00:00Z", 24.0);
        check(&[a_day], Mostly::ByDay);
        check(&[("2026-03-02T22:00:00Z", 72.0)], Mostly::ByDay);
        // What a day and a half has twice tells, and what says nothing does not count.
        check(&[("2026-03-02T18:00:00Z", 36.0)], Mostly::ByNight);
        let night = ("2026-03-02T20:00:00Z", 1.0);
        check(&[a_day, a_day, a_day, night], Mostly::ByNight);
    }

    /// 2G1 is visited every two weeks, also over the ends of months and years.
    #[test]
    fn every_second_week_is_every_fourteen_days() {
        let start = at("2026-11-18T12:00:00Z");
        let slot = slots(Group::Weeks(2), Mostly::ByDay)[0];
        // A table is made on every Wednesday.
        let weeks = (0..30).map(|week| week_of(start + f64::from(week) * 7.0));
        let is_in: Vec<bool> = weeks.map(|week| slot.is_in(week)).collect();
        assert!(is_in.windows(2).all(|pair| pair[0] != pair[1]), "{is_in:?}");
        // The next Saturday is the same one from the Sunday before it on.
        let days = (0..7).map(|day| week_of(at("2026-11-15T00:00:00Z") + f64::from(day)));
        let days: Vec<i64> = days.collect();
        assert!(days.iter().all(|week| *week == days[0]), "{days:?}");
        assert_eq!(week_of(at("2026-11-21T00:00:01Z")), days[0] + 1);
    }
}
