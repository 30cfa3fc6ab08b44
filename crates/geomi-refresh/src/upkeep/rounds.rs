//! Rounds over all pages: periodic operation.
//!
//! A round begins a period after the one before began and takes every page that was not
//! seen since. A period is the time in which the budget pays for all pages: as many as there
//! are, and as much as it is, when a round begins.
//!
//! Nothing is kept of them. Which round is under way is read from the times at which pages
//! were last seen: the oldest copy was made when the last complete round began, or not much
//! later, and copies that are younger by more than half a period are of the round after it.
//! So a run that was killed in the middle of a round goes on with the rest of it, also if
//! pages were found or the budget was changed since.

use crate::PageId;

/// Where a run stands in its rounds. Times are days since 1970.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rounds {
    /// When the round that is under way, or the last one, began.
    began: f64,
    /// Pages that were seen since then are done.
    seen_since: f64,
    /// How many pages were looked at.
    looked_at: usize,
    /// When the next one begins.
    next: f64,
}

impl Rounds {
    /// As pages were last seen, of those that can be had.
    pub(super) fn resume(seen: impl Iterator<Item = f64> + Clone, period: f64, now: f64) -> Self {
        let oldest = seen.clone().reduce(f64::min).unwrap_or(now);
        if oldest + period > now {
            return Self {
                began: oldest,
                seen_since: oldest,
                looked_at: usize::MAX,
                next: oldest + period,
            };
        }
        let seen_since = oldest + period / 2.0;
        let of_this = seen.filter(|at| *at >= seen_since);
        let began = of_this.reduce(f64::min).unwrap_or(now);
        Self {
            began,
            seen_since,
            looked_at: 0,
            next: began + period,
        }
    }

    /// Rounds are longer or shorter from now on.
    pub(super) fn set_period(&mut self, period: f64) {
        self.next = self.began + period;
    }

    /// The next page to look at by now, of `pages` in all; `None` when all were.
    pub(super) fn next(&mut self, now: f64, period: f64, pages: usize) -> Option<PageId> {
        if self.looked_at >= pages && now >= self.next {
            // A round that was missed altogether is not made up for.
            let is_late = now - self.next >= period;
            self.began = if is_late { now } else { self.next };
            self.seen_since = self.began;
            self.next = self.began + period;
            self.looked_at = 0;
        }
        if self.looked_at >= pages {
            return None;
        }
        self.looked_at += 1;
        Some((self.looked_at - 1) as PageId)
    }

    /// Whether a page that was last seen at this time has had its visit.
    pub(super) fn has_taken(&self, seen: f64) -> bool {
        seen >= self.seen_since
    }

    /// When there is a page to look at.
    pub(super) fn wake(&self, pages: usize) -> f64 {
        if self.looked_at < pages {
            self.began
        } else {
            self.next
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows rounds until a day: which pages are visited when, each taking a minute.
    fn follow(rounds: &mut Rounds, seen: &mut [f64], period: f64, to: f64) -> Vec<(PageId, f64)> {
        let mut made = Vec::new();
        let mut now = rounds.wake(seen.len());
        while now < to {
            while let Some(page) = rounds.next(now, period, seen.len()) {
                let last = &mut seen[page as usize];
                if !rounds.has_taken(*last) {
                    *last = now;
                    made.push((page, now));
                    now += 1.0 / 1_440.0;
                }
            }
            now = rounds.wake(seen.len()).max(now);
        }
        made
    }

    fn copies(seen: &[f64], period: f64, now: f64) -> Rounds {
        Rounds::resume(seen.iter().copied(), period, now)
    }

    #[test]
    fn a_round_takes_each_page_once_and_comes_after_a_period() {
        let mut seen = [100.0, 100.001, 100.002];
        let mut rounds = copies(&seen, 2.0, 100.1);
        let made = follow(&mut rounds, &mut seen, 2.0, 105.0);
        let pages: Vec<PageId> = made.iter().map(|(page, _)| *page).collect();
        assert_eq!(pages, [0, 1, 2, 0, 1, 2]);
        assert!((made[0].1 - 102.0).abs() < 1e-9 && (made[3].1 - 104.0).abs() < 1e-9);
    }

    #[test]
    fn a_round_that_was_killed_goes_on_with_the_rest() {
        // Two of three pages have had their second visit.
        let mut seen = [102.0, 102.001, 100.002];
        // Found since: more pages are a longer period where the requests a day are given.
        for period in [2.0, 2.2] {
            let mut rounds = copies(&seen, period, 102.3);
            let made = follow(&mut rounds, &mut seen.clone(), period, 103.0);
            assert_eq!(made.len(), 1, "{made:?}");
            assert_eq!(made[0].0, 2);
            assert!(
                (rounds.wake(3) - 102.0 - period).abs() < 1e-9,
                "from its first visit"
            );
        }
        seen[2] = 102.3;
        let mut rounds = copies(&seen, 2.0, 103.0);
        assert!(follow(&mut rounds, &mut seen, 2.0, 103.9).is_empty());
    }

    #[test]
    fn after_a_long_rest_there_is_one_round() {
        let mut seen = [100.0, 100.5];
        let mut rounds = copies(&seen, 2.0, 150.0);
        let (first, second) = (rounds.next(150.0, 2.0, 2), rounds.next(150.0, 2.0, 2));
        assert_eq!((first, second), (Some(0), Some(1)));
        seen.fill(150.0);
        assert_eq!(rounds.next(150.0, 2.0, 2), None);
        assert!((rounds.wake(2) - 152.0).abs() < 1e-9);
    }

    #[test]
    fn another_budget_moves_the_next_round() {
        let mut rounds = copies(&[100.0], 2.0, 101.0);
        rounds.set_period(1.5);
        assert!((rounds.wake(1) - 101.5).abs() < 1e-9);
    }

    #[test]
    fn without_pages_nothing_is_due() {
        let mut rounds = copies(&[], 2.0, 100.0);
        assert_eq!(rounds.next(100.0, 2.0, 0), None);
        assert_eq!(rounds.next(150.0, 2.0, 0), None);
        assert!(rounds.wake(0) > 150.0);
    }
}
