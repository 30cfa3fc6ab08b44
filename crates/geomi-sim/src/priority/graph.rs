//! A model web whose page rank is known.
//!
//! Sites follow Zipf's law in size. A page links to its site's front page and to
//! ten more, seven on its own site. Three of four targets are copied from links of
//! other pages (Kleinberg and others 1999), which makes in-links follow a power law
//! as those of the web do; the others are drawn evenly.

use std::ops::Range;

use crate::draws::Draws;

/// Links of a page beside the one to its site's front page.
const LINKS: usize = 10;
/// Of these, on the page's own site.
const LINKS_AT_HOME: usize = 7;
/// One target in so many is any page, the others are copied.
const ANY_ONCE_IN: u64 = 4;
/// page rank as usual.
const DAMPING: f64 = 0.85;
const ITERATIONS: usize = 50;

/// A web as data: pages by number, the pages of a site in a row.
#[derive(Debug)]
pub(super) struct Graph {
    /// Links of each page.
    pub(super) links: Vec<Vec<u32>>,
    /// The site of each page.
    pub(super) site: Vec<u32>,
    /// The front page of each site.
    pub(super) front: Vec<u32>,
    /// Share of all page rank.
    pub(super) rank: Vec<f64>,
}

impl Graph {
    pub(super) fn new(seed: u64, pages: u32, sites: u32) -> Self {
        let (front, site) = divide(pages, sites);
        let mut draws = Draws::new(seed, [0]);
        let mut links: Vec<Vec<u32>> = vec![Vec::new(); pages as usize];
        // What was linked to so far, on each site and from other sites.
        let mut at_home: Vec<Vec<u32>> = vec![Vec::new(); sites as usize];
        let mut abroad = Vec::new();
        for page in shuffled(pages, &mut draws) {
            let home = site[page as usize];
            let begin = front[home as usize];
            let end = front.get(home as usize + 1).map_or(pages, |next| *next);
            let mut own = vec![begin];
            for number in 0..LINKS {
                own.push(if number < LINKS_AT_HOME {
                    target(&mut at_home[home as usize], &mut draws, begin..end)
                } else {
                    target(&mut abroad, &mut draws, 0..pages)
                });
            }
            own.sort_unstable();
            own.dedup();
            own.retain(|other| *other != page);
            links[page as usize] = own;
        }
        let rank = page_rank(&links);
        Self {
            links,
            site,
            front,
            rank,
        }
    }
}

/// Sites of a size that falls with their rank, each of one page at least.
fn divide(pages: u32, sites: u32) -> (Vec<u32>, Vec<u32>) {
    let harmonic: f64 = (1..=sites).map(|rank| 1.0 / f64::from(rank)).sum();
    let (mut front, mut site) = (Vec::new(), Vec::new());
    for rank in 1..=sites {
        front.push(site.len() as u32);
        let left = pages - site.len() as u32 - (sites - rank);
        let share = f64::from(pages) / harmonic / f64::from(rank);
        let len = if rank == sites {
            left
        } else {
            (share as u32).clamp(1, left)
        };
        site.resize(site.len() + len as usize, rank - 1);
    }
    (front, site)
}

/// Sites grow side by side, so pages are written in no order.
fn shuffled(pages: u32, draws: &mut Draws) -> Vec<u32> {
    let mut order: Vec<u32> = (0..pages).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, draws.below(last as u64 + 1) as usize);
    }
    order
}

/// A page that others have linked to, as often as they have; or any.
fn target(known: &mut Vec<u32>, draws: &mut Draws, pages: Range<u32>) -> u32 {
    let page = if known.is_empty() || draws.once_in(ANY_ONCE_IN) {
        pages.start + draws.below(u64::from(pages.end - pages.start)) as u32
    } else {
        known[draws.below(known.len() as u64) as usize]
    };
    known.push(page);
    page
}

fn page_rank(links: &[Vec<u32>]) -> Vec<f64> {
    let even = 1.0 / links.len() as f64;
    let mut rank = vec![even; links.len()];
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; links.len()];
        let mut kept = 0.0;
        for (own, targets) in rank.iter().zip(links) {
            for target in targets {
                next[*target as usize] += DAMPING * own / targets.len() as f64;
            }
            if !targets.is_empty() {
                kept += DAMPING * own;
            }
        }
        // What has no links to go along goes everywhere.
        let rest = (1.0 - kept) * even;
        for value in &mut next {
            *value += rest;
        }
        rank = next;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_adds_up_and_is_unequal_as_on_the_web() {
        let graph = Graph::new(1, 5_000, 50);
        assert_eq!((graph.site.len(), graph.front.len()), (5_000, 50));
        assert!((graph.rank.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let mut rank = graph.rank.clone();
        rank.sort_by(|a, b| b.total_cmp(a));
        let top: f64 = rank[..500].iter().sum();
        assert!(top > 0.35, "the first tenth has {top:.2}");
    }
}
