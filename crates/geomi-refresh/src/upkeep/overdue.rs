//! Pages that a schedule table leaves out.
//!
//! A table is written for one week. An operator may remove pages from it, and new pages are
//! found later. To abandon no page, one whose last visit is a longest gap ago is visited even
//! if the table does not name it.

use std::collections::VecDeque;

use super::plan::{Drive, RefreshPlan};
use crate::{Asked, PageId};

/// Pages whose last visit is at least the longest gap ago.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    pages: VecDeque<PageId>,
    /// When to search for more: when the next page becomes overdue.
    pub(super) looks_at: f64,
}

impl RefreshPlan {
    /// Whether there may be pages that the table leaves out.
    pub(super) fn looks_for_overdue(&self) -> bool {
        matches!(self.config.drive, Drive::Table { .. }) && !self.pages.is_empty()
    }

    /// The next overdue page, if there is one.
    pub(super) fn next_overdue(&mut self, now: f64) -> Option<PageId> {
        if !self.looks_for_overdue() {
            return None;
        }
        if now >= self.overdue.looks_at {
            self.look_for_overdue(now);
        }
        while let Some(page) = self.overdue.pages.pop_front() {
            if self.planner.ask(page, now) == Asked::Out {
                return Some(page);
            }
        }
        None
    }

    /// Searches for overdue pages, oldest first. The number is limited by the budget until
    /// the next search: after a long pause all pages may be overdue.
    fn look_for_overdue(&mut self, now: f64) {
        /// Minimum days between two searches.
        const LOOK_MIN: f64 = 1.0 / 24.0;
        let terms = self.planner.terms();
        let due_of = |page: &PageId| {
            let trouble = self.troubles.get(page);
            let rested = self.planner.last(*page) + terms.longest_gap;
            trouble.map_or(rested, |trouble| trouble.retry)
        };
        let mut due: Vec<(f64, PageId)> = Vec::new();
        let mut next = now + terms.longest_gap;
        for page in (0..self.pages.len() as PageId).filter(|page| !self.planner.is_out(*page)) {
            match due_of(&page) {
                at if at <= now => due.push((at, page)),
                at => next = next.min(at),
            }
        }
        due.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let affordable = (terms.requests_per_day * LOOK_MIN).ceil() as usize;
        if due.len() > affordable {
            due.truncate(affordable);
            next = now;
        }
        self.overdue = Overdue {
            pages: due.into_iter().map(|(_, page)| page).collect(),
            looks_at: next.max(now + LOOK_MIN),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_url::CrawlUrl;

    use super::super::plan::RefreshConfig;
    use super::super::plan::tests::{TRIES, visit};
    use super::*;

    #[test]
    fn a_page_that_a_table_leaves_out_is_visited_after_the_longest_gap() {
        let url = CrawlUrl::parse("http://a.test/0").unwrap();
        let mut plan = RefreshPlan::new(&RefreshConfig {
            drive: Drive::Table {
                file: "schedule.csv".into(),
                rows: vec![(0, url)],
            },
            longest_gap: Duration::from_hours(30 * 24),
            ..RefreshConfig::default()
        });
        for page in 0..3 {
            plan.take(&visit(page, 100.0, 200, None), TRIES);
        }
        plan.start(101.0, 1.0);
        let mut visits = [const { Vec::new() }; 3];
        while let Some(wake) = plan.wake().filter(|wake| *wake < 170.0) {
            while let Some(page) = plan.next(wake) {
                visits[page as usize].push(wake);
                plan.take(&visit(page, wake, 200, Some(false)), TRIES);
            }
        }
        assert!((9..=10).contains(&visits[0].len()), "{visits:?}");
        for left_out in &visits[1..] {
            let days = left_out.iter().map(|at| at - 100.0);
            let gaps = days.zip([30.0, 60.0]).map(|(at, due)| at - due);
            assert_eq!(left_out.len(), 2, "{visits:?}");
            assert!(gaps.into_iter().all(|late| (0.0..0.2).contains(&late)));
        }
    }
}
