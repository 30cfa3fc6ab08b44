//! Visits at set times instead of by price: rounds over all pages, and a schedule
//! table that somebody wrote or edited.
//!
//! Both are *batches*: at a time a list of pages is due, and a page that was seen
//! since that time is done. So a run that was killed in the middle of a batch
//! goes on with the rest of it, and nothing need be kept.

use geomi_refresh::PageId;

/// Hours of a week.
const WEEK_HOURS: i64 = 7 * 24;
/// 1 January 1970 was a Thursday; weeks here begin on Sunday.
const FIRST_HOUR: i64 = 4 * 24;

/// The hour of the week, from Sunday midnight on, of a time in days since 1970.
pub fn hour_of_week(days: f64) -> usize {
    let hours = (days * 24.0).floor() as i64;
    (hours + FIRST_HOUR).rem_euclid(WEEK_HOURS) as usize
}

/// Which pages are due together, and when.
#[derive(Clone, Debug)]
pub(super) enum Batches {
    /// All pages, again after so many days.
    Rounds {
        /// Days from one to the next.
        period: f64,
    },
    /// Some pages at each hour of the week.
    Table(Vec<Vec<PageId>>),
}

/// Where a run stands in its batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    /// Number of the batch, since 1970.
    batch: i64,
    /// Pages of it that were looked at.
    done: usize,
}

impl Batches {
    fn period(&self) -> f64 {
        match self {
            Self::Rounds { period } => *period,
            Self::Table(_) => 1.0 / 24.0,
        }
    }

    /// When a batch is due.
    pub(super) fn time(&self, place: Place) -> f64 {
        place.batch as f64 * self.period()
    }

    /// The batch that is under way.
    pub(super) fn at(&self, now: f64) -> Place {
        Place {
            batch: (now / self.period()).floor() as i64,
            done: 0,
        }
    }

    /// The next page by now, of `pages` in all, and how far that is; `None` when
    /// all are done.
    pub(super) fn next(&self, place: &mut Place, now: f64, pages: usize) -> Option<PageId> {
        let last = self.at(now).batch;
        while place.batch <= last {
            let found = match self {
                Self::Rounds { .. } => (place.done < pages).then_some(place.done as PageId),
                Self::Table(hours) => self.slot(hours, *place).get(place.done).copied(),
            };
            if let Some(page) = found {
                place.done += 1;
                return Some(page);
            }
            *place = Place {
                batch: place.batch + 1,
                done: 0,
            };
        }
        None
    }

    /// When the batch after this place is due that has pages.
    pub(super) fn wake(&self, place: Place, pages: usize) -> Option<f64> {
        (0..=WEEK_HOURS).find_map(|later| {
            let at = Place {
                batch: place.batch + later,
                done: if later == 0 { place.done } else { 0 },
            };
            let count = match self {
                Self::Rounds { .. } => pages,
                Self::Table(hours) => self.slot(hours, at).len(),
            };
            (at.done < count).then(|| self.time(at))
        })
    }

    fn slot<'a>(&self, hours: &'a [Vec<PageId>], place: Place) -> &'a [PageId] {
        // In the middle of the hour: its edge may be rounded to the one before.
        let middle = self.time(place) + 0.5 / 24.0;
        hours.get(hour_of_week(middle)).map_or(&[], Vec::as_slice)
    }
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
    fn a_round_visits_each_page_once() {
        let rounds = Batches::Rounds { period: 2.0 };
        let mut place = rounds.at(5.0);
        let mut found = Vec::new();
        while let Some(page) = rounds.next(&mut place, 5.5, 3) {
            found.push(page);
        }
        assert_eq!(found, [0, 1, 2]);
        assert_eq!(rounds.wake(place, 3), Some(6.0));
        assert_eq!(rounds.next(&mut place, 6.0, 3), Some(0));
    }

    #[test]
    fn a_table_is_followed_by_the_hour() {
        let mut hours = vec![Vec::new(); 168];
        hours[4 * 24 + 1] = vec![7, 9];
        hours[4 * 24 + 5] = vec![7];
        let table = Batches::Table(hours);
        let mut place = table.at(0.0);
        assert_eq!(table.next(&mut place, 0.5 / 24.0, 10), None);
        let wake = table.wake(place, 10).unwrap();
        assert!((wake - 1.0 / 24.0).abs() < 1e-9);
        assert_eq!(table.next(&mut place, wake, 10), Some(7));
        assert_eq!(table.next(&mut place, wake, 10), Some(9));
        assert_eq!(table.next(&mut place, 5.1 / 24.0, 10), Some(7));
        let wake = table.wake(place, 10).unwrap();
        assert!((wake - (7.0 + 1.0 / 24.0)).abs() < 1e-9, "{wake}");
    }
}
