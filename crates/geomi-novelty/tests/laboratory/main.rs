//! The laboratory: good sites of many shapes and traps of many kinds through the
//! real rule, without network. Each test prints a table; run it with
//! `cargo test -p geomi-novelty --test laboratory -- --nocapture`.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod engine;
mod good;
mod traps;

use std::collections::HashSet;

use engine::{ORDERS, counts, crawl};
use geomi_novelty::NoveltyConfig;
use traps::Beside;

/// The budget of a site here: smaller than by default, to save time.
const SITE_PAGES: u32 = 1_000;

#[test]
fn good_sites_are_fetched_whole_and_once() {
    let mut failures = Vec::new();
    for good in good::all() {
        for order in ORDERS {
            let asked = crawl(&good.web, &good.seeds, order, NoveltyConfig::default());
            let counts = counts(&asked);
            let twice = counts.values().filter(|count| **count > 1).count();
            let line = format!(
                "{:<40} {order:<12?} pages {:>6} missed {:>6} twice {twice}",
                good.name,
                good.pages,
                good.pages as i64 - counts.len() as i64
            );
            println!("{line}");
            if counts.len() != good.pages || twice > 0 {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn traps_cost_little_and_hide_nothing() {
    let mut failures = Vec::new();
    for trap in traps::all() {
        for (beside, order) in Beside::ALL.iter().flat_map(|b| ORDERS.map(|o| (*b, o))) {
            let asked = crawl(
                &trap.web(beside),
                &["http://e.com/".to_owned()],
                order,
                NoveltyConfig {
                    site_pages: SITE_PAGES,
                    ..NoveltyConfig::default()
                },
            );
            let is_good = |url: &&String| url.contains("/good/") && url.contains(".html");
            let good: HashSet<&String> = asked.iter().filter(is_good).collect();
            let cost = asked.len() - good.len();
            let line = format!(
                "{:<30} {beside:<10?} {order:<10?} cost {cost:>5} missed {:>4}",
                trap.name,
                beside.count() - good.len()
            );
            println!("{line}");
            if cost > trap.says.cost_max() || good.len() != beside.count() {
                failures.push(line);
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
