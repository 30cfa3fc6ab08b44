//! REFRESH's schedule table for the coming week: how often a page is visited follows
//! from its group, at which hour from the hours in which its changes fell.
//!
//! The groups go by the learned rates. The hour of a change is known only where two
//! visits were close together: it is taken to be in the middle between them. Pages that
//! are visited once in two or four weeks are in the table if the coming week has the
//! Saturday of the month that is theirs.

use std::collections::HashMap;

use geomi_crawler::refresh::{Sighting, hour_of_week, instant};
use geomi_refresh::schedule::{Mostly, slots};
use geomi_refresh::{Grouping, PageId};
use geomi_report::freshness::Moment;

use super::plan::Table;
use super::view::View;

/// Days between two visits, at most, that tell the hour of a change between them.
const GAP_MAX: f64 = 9.0 / 24.0;
const SATURDAY: usize = 6;

/// The grouping that a policy goes by, if it goes by one.
pub(super) fn grouping(policy: &str) -> Option<Grouping> {
    match policy {
        "group16" => Some(Grouping::Sixteen),
        "group6" => Some(Grouping::Six),
        _ => None,
    }
}

/// How many changes of each page fell into which hour of the day.
#[derive(Debug, Default)]
pub(super) struct ChangeHours(HashMap<PageId, [u32; 24]>);

impl ChangeHours {
    /// Takes a visit in.
    pub(super) fn take(&mut self, moment: &Moment<'_>) {
        if moment.sighted.kind == Sighting::Changed {
            self.count(moment.sighted.page, moment.before, moment.sighted.at);
        }
    }

    /// Counts a change between two times.
    fn count(&mut self, page: PageId, from: f64, to: f64) {
        if to - from <= GAP_MAX {
            let hour = hour_of_week(f64::midpoint(from, to)) % 24;
            self.0.entry(page).or_default()[hour] += 1;
        }
    }

    /// When the changes of a page mostly fall; by day where that is not known.
    fn mostly(&self, page: PageId) -> Mostly {
        Mostly::of(self.0.get(&page).unwrap_or(&[0; 24]))
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
    fn a_change_is_in_the_middle_of_a_short_gap() {
        let mut hours = ChangeHours::default();
        let night = at("2026-03-02T22:00:00Z");
        hours.count(1, night, night + 8.0 / 24.0);
        assert_eq!(hours.mostly(1), Mostly::ByNight);
        assert_eq!(hours.0[&1][2], 1);
        hours.count(2, night, night + 10.0 / 24.0);
        assert_eq!(hours.mostly(2), Mostly::ByDay, "nobody knows when");
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
