//! What really happened to the pages of a crawl, where somebody knows it: a test web,
//! or whoever watched the pages far more often than the crawl visits them.

use std::path::Path;

use geomi_refresh::upkeep::instant;
use geomi_report::freshness::{Copies, Held};
use geomi_url::CrawlUrl;

use super::history_file;
use super::view::View;
use crate::args::Global;
use crate::config::Problems;

/// When pages changed, in days since 1970, by page; nothing of those that nobody
/// watched.
pub(super) struct Truth(Vec<Option<Vec<f64>>>);

impl Truth {
    /// Reads a history. What it says of pages that are not in the crawl is passed over.
    pub(super) fn read(path: &Path, view: &View, global: &Global) -> anyhow::Result<Self> {
        let mut pages = vec![None; view.seen.len()];
        let mut is_known = false;
        for (url, changes) in history_file::changes(path, global)? {
            // What is no URL is no page of a crawl.
            let url = CrawlUrl::parse(&url).ok();
            if let Some(page) = url.and_then(|url| view.plan.pages().find(&url)) {
                // A history is in UTC, the plan in the time of its zone.
                let local = |day: f64| view.zone().days(instant(day));
                pages[page as usize] = Some(changes.into_iter().map(local).collect());
                is_known = true;
            }
        }
        if !is_known {
            let what = format!("--truth: {} names no page of this crawl", path.display());
            return Err(Problems::one(what).into());
        }
        Ok(Self(pages))
    }

    /// How right the copies were at a time, over the watched pages of which there was
    /// one. A page that was found gone has lost what its copy shows, whether the history
    /// has that as a change or not.
    pub(super) fn at(&self, copies: &[Option<Held>], at: f64) -> Option<Copies> {
        let pages = self.0.iter().zip(copies);
        let watched = pages.filter_map(|(changes, copy)| Some((changes.as_ref()?, (*copy)?)));
        Copies::mean(watched.map(|(changes, copy)| {
            let age = age(changes, copy.made, at);
            let gone_for = copy.gone.map_or(0.0, |gone| at - gone);
            let is_fresh = age <= 0.0 && copy.gone.is_none();
            (if is_fresh { 1.0 } else { 0.0 }, age.max(gone_for))
        }))
    }
}

/// Days since the first change that a copy lacks; 0 if it lacks none.
fn age(changes: &[f64], copy: f64, at: f64) -> f64 {
    let missed = changes.partition_point(|change| *change <= copy);
    let first = changes.get(missed).filter(|change| **change < at);
    first.map_or(0.0, |change| at - change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_as_old_as_the_first_change_it_lacks() {
        let changes = [1.0, 3.0, 4.0];
        assert!(age(&changes, 1.5, 2.5).abs() < 1e-12);
        assert!((age(&changes, 1.5, 4.5) - 1.5).abs() < 1e-12);
        assert!((age(&changes, 0.0, 4.5) - 3.5).abs() < 1e-12);
        assert!(age(&changes, 4.0, 9.0).abs() < 1e-12);
        assert!(age(&[], 0.0, 9.0).abs() < 1e-12);
    }

    #[test]
    fn only_watched_pages_with_a_copy_count() {
        let truth = Truth(vec![
            Some(vec![2.0]),
            Some(Vec::new()),
            None,
            Some(vec![2.0]),
        ]);
        let copy = |gone: Option<f64>| Some(Held { made: 1.0, gone });
        let copies = truth.at(&[copy(None), copy(None), copy(None), None], 3.0);
        let copies = copies.unwrap();
        assert!((copies.freshness - 0.5).abs() < 1e-12);
        assert!((copies.age_h - 12.0).abs() < 1e-12);
        assert_eq!(truth.at(&[None; 4], 3.0), None);
        // Of the second no change is known, but it is gone for half a day.
        let copies = truth.at(&[copy(None), copy(Some(2.5)), None, None], 3.0);
        let copies = copies.unwrap();
        assert!(copies.freshness.abs() < 1e-12);
        assert!((copies.age_h - 18.0).abs() < 1e-12);
    }
}
