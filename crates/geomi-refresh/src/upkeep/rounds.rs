//! Rounds over all pages: periodic operation.
//!
//! A round begins one period after the previous one and visits every page that was not visited
//! since its begin. A period is the time in which the budget suffices for all pages. It depends
//! on the number of pages and the budget when the round begins.
//!
//! The state of a round is not stored. It is derived from the times of the last visits: the
//! oldest copy was made when the last complete round began, or shortly after, and copies that
//! are more than half a period younger belong to the next round. So a run that was killed in
//! the middle of a round continues it, even if pages were found or the budget changed since.

use crate::PageId;

/// The current round. Times are days since 1970.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rounds {
    /// The begin of the current or last round.
    began: f64,
    /// Pages visited since then are done.
    seen_since: f64,
    /// The number of pages that were considered.
    looked_at: usize,
    /// The begin of the next round.
    next: f64,
}

impl Rounds {
    /// Derives the round from the last visits of all pages that do not fail.
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

    /// Changes the length of rounds.
    pub(super) fn set_period(&mut self, period: f64) {
        self.next = self.began + period;
    }

    /// The next page to consider, out of `pages`; `None` if all were considered.
    pub(super) fn next(&mut self, now: f64, period: f64, pages: usize) -> Option<PageId> {
        if self.looked_at >= pages && now >= self.next {
            // A round that was missed completely is skipped.
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

    /// Whether a page that was last visited at `seen` is done.
    pub(super) fn has_taken(&self, seen: f64) -> bool {
        seen >= self.seen_since
    }

    /// The time of the next page to consider.
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
