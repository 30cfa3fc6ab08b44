//! What really happened to the pages of a crawl, where somebody knows it: a test web,
//! or whoever watched the pages far more often than the crawl visits them.

use std::path::Path;

use geomi_url::CrawlUrl;

use super::history_file;
use super::tally::Copies;
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
            if let Some(page) = url.and_then(|url| view.book.pages().find(&url)) {
                pages[page as usize] = Some(changes);
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
    /// one; `last` says when each page was last seen.
    pub(super) fn at(&self, last: &[Option<f64>], at: f64) -> Option<Copies> {
        let pages = self.0.iter().zip(last);
        let watched = pages.filter_map(|(changes, last)| Some((changes.as_ref()?, (*last)?)));
        Copies::mean(watched.map(|(changes, last)| {
            let age = age(changes, last, at);
            (if age > 0.0 { 0.0 } else { 1.0 }, age)
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
        let copies = truth.at(&[Some(1.0), Some(1.0), Some(1.0), None], 3.0);
        let copies = copies.unwrap();
        assert!((copies.freshness - 0.5).abs() < 1e-12);
        assert!((copies.age_h - 12.0).abs() < 1e-12);
        assert_eq!(truth.at(&[None; 4], 3.0), None);
    }
}
