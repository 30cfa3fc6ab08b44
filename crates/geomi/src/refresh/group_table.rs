//! REFRESH's schedule table for the coming week: how often a page is visited follows
//! from its group, at which hour from the hours in which its changes fell.
//!
//! The groups go by the learned rates. A change is spread over the hours since the page
//! was seen before ([`change_hours`](super::change_hours)): where visits are close
//! together they tell its hour, and where they are days apart they tell nothing and say
//! so. Pages that are visited once in two or four weeks are in the table if the coming week has the
//! Saturday of the month that is theirs.

use std::collections::HashMap;

use geomi_crawler::refresh::{Sighting, hour_of_week, instant};
use geomi_refresh::schedule::{Mostly, slots};
use geomi_refresh::{Grouping, PageId};
use geomi_report::freshness::Moment;

use super::change_hours::spread;
use super::plan::Table;
use super::view::View;

const SATURDAY: usize = 6;

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
    let week = week_of_month(view.now);
    for page in view.pages() {
        let group = grouping.of(view.posterior(page).mean() * 7.0);
        visits_a_week += group.visits_a_week();
        let slots = slots(group, hours.mostly(page)).into_iter();
        for slot in slots.filter(|slot| slot.week.is_none_or(|own| own == week)) {
            table[usize::from(slot.day) * 24 + usize::from(slot.hour)].push(page);
        }
    }
    (table, visits_a_week)
}

/// Which Saturday of its month is the next one: the first is 1.
fn week_of_month(now: f64) -> u8 {
    let days = (0..7).map(|later| now.ceil() + f64::from(later));
    let mut saturdays = days.filter(|day| hour_of_week(*day) / 24 == SATURDAY);
    let next = saturdays.next().expect("a week has a Saturday");
    let date = instant(next).to_rfc3339_secs();
    let day_of_month = date.get(8..10).and_then(|digits| digits.parse::<u8>().ok());
    (day_of_month.expect("a date has a day") - 1) / 7 + 1
}

#[cfg(test)]
mod tests {
    use geomi_crawler::refresh::days;
    use geomi_model::Timestamp;

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

    #[test]
    fn saturdays_are_counted_by_the_month() {
        let check = |now: &str, week: u8| assert_eq!(week_of_month(at(now)), week, "{now}");
        // The Saturdays of November 2026 are the 7th, 14th, 21st and 28th.
        check("2026-11-07T00:00:00Z", 1);
        check("2026-11-07T00:00:01Z", 2);
        check("2026-11-14T00:00:00Z", 2);
        check("2026-11-16T12:00:00Z", 3);
        check("2026-11-29T12:00:00Z", 1);
    }
}
