//! A schedule table, followed hour by hour.
//!
//! Each hour of the week has a list of pages that are due. A page that was visited since the
//! hour began is done, so a run that was killed in the middle of an hour continues with the
//! rest. No state needs to be stored.

use geomi_url::CrawlUrl;

use crate::PageId;

/// The visits of a week: the hour of the week, from Sunday 00:00, and the URL.
pub type TableRows = Vec<(usize, CrawlUrl)>;

/// Hours per week.
const WEEK_HOURS: i64 = 7 * 24;
/// The hour of the week at 1970-01-01 00:00, a Thursday. Weeks begin on Sunday.
const FIRST_HOUR: i64 = 4 * 24;

/// The hour of the week, from Sunday 00:00, of a time in days since 1970.
pub fn hour_of_week(days: f64) -> usize {
    let hours = (days * 24.0).floor() as i64;
    (hours + FIRST_HOUR).rem_euclid(WEEK_HOURS) as usize
}

/// A schedule table and the current position.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The pages of each hour of the week.
    hours: Vec<Vec<PageId>>,
    /// The current hour, counted from 1970.
    hour: i64,
    /// The number of its pages that were considered.
    looked_at: usize,
}

impl Table {
    /// Starts at time `now`.
    pub(super) fn at(hours: Vec<Vec<PageId>>, now: f64) -> Self {
        Self {
            hours,
            hour: hour_at(now),
            looked_at: 0,
        }
    }

    /// Replaces the table. The current hour starts again; pages visited in it are done.
    pub(super) fn replace(&mut self, hours: Vec<Vec<PageId>>, now: f64) {
        self.hours = hours;
        self.hour = self.hour.min(hour_at(now));
        self.looked_at = 0;
    }

    /// The next page to consider; `None` if all were considered.
    pub(super) fn next(&mut self, now: f64) -> Option<PageId> {
        let last = hour_at(now);
        while self.hour <= last {
            if let Some(page) = self.slot(self.hour).get(self.looked_at).copied() {
                self.looked_at += 1;
                return Some(page);
            }
            self.hour += 1;
            self.looked_at = 0;
        }
        None
    }

    /// Whether a page that was last visited at `seen` is done in this hour.
    pub(super) fn has_taken(&self, seen: f64) -> bool {
        seen >= begin_of(self.hour)
    }

    /// The begin of the next hour with pages, which may be the current one.
    pub(super) fn wake(&self) -> Option<f64> {
        let is_left = |later: &i64| {
            let looked_at = if *later == 0 { self.looked_at } else { 0 };
            looked_at < self.slot(self.hour + later).len()
        };
        let later = (0..=WEEK_HOURS).find(is_left)?;
        Some(begin_of(self.hour + later))
    }

    /// Visits per week.
    pub(super) fn visits_a_week(&self) -> usize {
        self.hours.iter().map(Vec::len).sum()
    }

    fn slot(&self, hour: i64) -> &[PageId] {
        let of_week = (hour + FIRST_HOUR).rem_euclid(WEEK_HOURS) as usize;
        self.hours.get(of_week).map_or(&[], Vec::as_slice)
    }
}

/// The hour of a time, counted from 1970.
fn hour_at(days: f64) -> i64 {
    // The begin of an hour in days may be rounded down to the hour before.
    (days * 24.0 + 1e-6).floor() as i64
}

fn begin_of(hour: i64) -> f64 {
    hour as f64 / 24.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_sunday() {
        assert_eq!(hour_of_week(0.0), 4 * 24, "a Thursday");
        assert_eq!(hour_of_week(3.0 + 1.5 / 24.0), 1, "Sunday, one o'clock");
    }

    #[test]
    fn a_table_is_followed_by_the_hour() {
        let mut hours = vec![Vec::new(); 168];
        hours[4 * 24 + 1] = vec![7, 9];
        hours[4 * 24 + 5] = vec![7];
        let mut table = Table::at(hours, 0.0);
        assert_eq!(table.next(0.5 / 24.0), None);
        let wake = table.wake().unwrap();
        assert!((wake - 1.0 / 24.0).abs() < 1e-9);
        assert_eq!(table.next(wake), Some(7));
        assert_eq!(table.next(wake), Some(9));
        assert!(table.has_taken(wake) && !table.has_taken(wake - 0.01));
        assert_eq!(table.next(5.1 / 24.0), Some(7));
        let wake = table.wake().unwrap();
        assert!((wake - (7.0 + 1.0 / 24.0)).abs() < 1e-9, "{wake}");
    }

    #[test]
    fn another_table_begins_with_the_hour_under_way() {
        let of_hour = |hour: usize, page| {
            let mut hours = vec![Vec::new(); 168];
            hours[4 * 24 + hour] = vec![page];
            hours
        };
        let at = |hour: f64| hour / 24.0;
        let mut table = Table::at(of_hour(1, 7), 0.0);
        assert_eq!(table.next(at(1.2)), Some(7));
        assert_eq!(table.next(at(1.2)), None, "the hour is done");
        table.replace(of_hour(1, 9), at(1.5));
        assert_eq!(table.next(at(1.5)), Some(9));
        assert!(table.has_taken(at(1.2)), "visited in this hour");
        // One that is behind does not leave out what it has not looked at.
        table.replace(of_hour(3, 5), at(4.5));
        assert_eq!(table.next(at(4.5)), Some(5));
    }
}
