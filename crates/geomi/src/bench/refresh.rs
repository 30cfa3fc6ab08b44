//! `geomi bench refresh`: what planning costs a decision, and in memory.
//!
//! Twice: in the first days of a plan, and with a past from which it has learned at
//! which hours pages change, so that a decision weighs the hours. Pages come as they do in
//! a crawl: each by its first visit, from which the crawler keeps its URL and reads what it
//! is like. So a page has all the kin of a real one, and memory is that of a plan
//! in a crawl.

use anyhow::Context as _;
use geomi_model::{LinkKind, LinkType, NetworkState, Visit};
use geomi_refresh::policy::Clock;
use geomi_refresh::shape::{Shape, shapes};
use geomi_refresh::upkeep::{Pages, facts};
use geomi_refresh::{PageId, Planner, Terms};
use geomi_url::CrawlUrl;
use serde_json::json;

use super::usage::Usage;
use crate::Exit;
use crate::args::{Format, Global};
use crate::terminal::print;
use crate::words;

/// Arguments of `geomi bench refresh`.
#[derive(Debug, clap::Args)]
pub(crate) struct RefreshBenchArgs {
    /// Pages in the plan
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pages: u32,
    /// Decisions to make; a fifth of the pages unless given
    #[arg(long, value_name = "N")]
    decisions: Option<u32>,
    /// Pages of each site: many small sites need more memory than few large ones
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    site_pages: u32,
}

/// Visits of each page in the past of the second plan, and days from one to the next:
/// at another hour each time.
const PAST_VISITS: u32 = 8;
const PAST_GAP: f64 = 0.31;
/// The day those visits end before.
const PAST_DAYS: f64 = 3.5;

/// How many sites are crawled at once: pages that follow upon each other in a plan are of
/// different sites.
const SITES_AT_ONCE: u32 = 256;
const SUFFIXES: [&str; 10] = [
    "com", "net", "org", "co.kr", "kr", "de", "co.uk", "jp", "fr", "io",
];
/// Each is a template on every site.
const SECTIONS: [&str; 5] = ["news", "goods", "board", "people", "help"];
const DEPTHS: usize = 10;
/// From 1 KB on, each twice as large as the one before.
const SIZES: usize = 12;
const LINK_TYPES: [&[LinkKind]; 6] = [
    &[],
    &[LinkKind::Anchor],
    &[LinkKind::Other],
    &[LinkKind::Anchor, LinkKind::Other],
    &[LinkKind::Anchor, LinkKind::Frame],
    &[LinkKind::Anchor, LinkKind::Frame, LinkKind::Other],
];

/// What a plan cost.
struct Cost {
    /// Processor time of the start, for each page; taking pages in is not counted.
    start_us: f64,
    decisions: u32,
    /// Processor time of a decision.
    each_us: f64,
    uses_hours: bool,
}

/// Plans so many pages, makes so many decisions and prints what they cost.
pub(super) fn run(args: &RefreshBenchArgs, global: &Global) -> anyhow::Result<Exit> {
    let decisions = args.decisions.unwrap_or(args.pages.div_ceil(5)).max(1);
    let first = measure(args, decisions, 0)?;
    let peak_bytes = Usage::now()?.peak_bytes;
    let later = measure(args, decisions, PAST_VISITS)?;
    print(&match global.format {
        Format::Human => format!(
            "{} of sites of {} planned at {:.2} us each, {} made at {:.2} us of processor time each, {} of memory at its peak, URLs included\n\
             with a past of {PAST_VISITS} visits a page, hours {}: {} made at {:.2} us each",
            words::plural(args.pages.into(), "page"),
            words::count(args.site_pages.into()),
            first.start_us,
            words::plural(first.decisions.into(), "decision"),
            first.each_us,
            words::bytes(peak_bytes as f64),
            if later.uses_hours {
                "in use"
            } else {
                "not in use"
            },
            words::plural(later.decisions.into(), "decision"),
            later.each_us,
        ),
        Format::Json | Format::Jsonl => json!({
            "pages": args.pages,
            "site_pages": args.site_pages,
            "decisions": first.decisions,
            "cpu_us_per_page_at_start": first.start_us,
            "cpu_us_per_decision": first.each_us,
            "peak_rss_bytes": peak_bytes,
            "with_hours": {
                "hours_in_use": later.uses_hours,
                "decisions": later.decisions,
                "cpu_us_per_page_at_start": later.start_us,
                "cpu_us_per_decision": later.each_us,
            },
            "debug_build": cfg!(debug_assertions),
        })
        .to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

/// A plan with so many visits of each page in its past.
fn measure(args: &RefreshBenchArgs, decisions: u32, past: u32) -> anyhow::Result<Cost> {
    let pages = args.pages;
    let terms = Terms {
        requests_per_day: f64::from(pages) / 7.0,
        longest_gap: 90.0,
        learning: None,
    };
    let mut planner = Planner::new(Clock::default(), terms, 0.0);
    let mut book = Pages::default();
    let mut dice = Dice(1);
    for page in 0..pages {
        let visit = first_visit(page, args.site_pages)?;
        book.take(&visit, 1, 0.0)
            .context("a first visit is a page")?;
        planner.add(&facts(&visit), 0.0);
    }
    for visit in 1..=past {
        for page in 0..pages {
            // Pages are seen at all hours, each at others.
            let at = f64::from(visit) * PAST_GAP + f64::from(page % 24) / 24.0;
            let changed = dice.changed(page, planner.last(page), at);
            planner.recall(page, changed, at);
        }
    }
    let begin = if past == 0 { 0.0 } else { PAST_DAYS };
    let taken_in = Usage::now()?;
    planner.start_at(begin, begin);
    let planned = Usage::now()?;
    let (mut made, mut now) = (0, begin);
    while let Some(wake) = planner.wake().filter(|_| made < decisions) {
        now = wake.max(now);
        let Some(page) = planner.next(now) else {
            continue;
        };
        let changed = dice.changed(page, planner.last(page), now);
        planner.observe(page, changed, now);
        made += 1;
    }
    let done = Usage::now()?;
    Ok(Cost {
        start_us: planned.since(&taken_in).seconds() * 1e6 / f64::from(pages),
        decisions: made,
        each_us: done.since(&planned).seconds() * 1e6 / f64::from(made.max(1)),
        uses_hours: planner.policy().uses_hours(),
    })
}

/// The first visit of a page, with all that a plan reads of it.
fn first_visit(page: PageId, site_pages: u32) -> anyhow::Result<Visit> {
    let site = page / (SITES_AT_ONCE * site_pages) * SITES_AT_ONCE + page % SITES_AT_ONCE;
    let suffix = SUFFIXES[site as usize % SUFFIXES.len()];
    let mut kind = scattered(page);
    let mut one_of = |count: usize| {
        let found = kind % count as u64;
        kind /= count as u64;
        found as usize
    };
    let section = SECTIONS[one_of(SECTIONS.len())];
    let url = format!("https://www.site{site:05}.{suffix}/{section}/view?id={page}&from=list");
    let mut visit = Visit::unknown(CrawlUrl::parse(&url)?);
    let links = LINK_TYPES[one_of(LINK_TYPES.len())].iter();
    visit.link_type = Some(links.fold(LinkType::default(), |all, kind| all.with(*kind)));
    visit.depth = one_of(DEPTHS) as u16;
    visit.body_bytes = 1_024 << one_of(SIZES);
    (visit.state, visit.code, visit.attempt) = (NetworkState::Ok, Some(200), 1);
    Ok(visit)
}

/// A number of a page that has nothing to do with its own.
fn scattered(page: PageId) -> u64 {
    u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24
}

/// Chance, the same in every run.
struct Dice(u64);

impl Dice {
    /// Whether a page has changed from one time to another. Every page has its own
    /// rate, from one change in a year to ten a day, and one of two busy times.
    fn changed(&mut self, page: PageId, from: f64, to: f64) -> bool {
        let part = (u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64;
        let rate = (1.0 / 365.0) * 3_650.0_f64.powf(part / f64::from(1 << 24));
        let chance = -(-rate * busy(page).exposure(from, to)).exp_m1();
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64) < chance * (1_u64 << 53) as f64
    }
}

/// The hours in which a page changes: by day, or in the evening.
fn busy(page: PageId) -> &'static Shape {
    &shapes()[if page.is_multiple_of(3) { 6 } else { 4 }]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use geomi_refresh::Kin;

    use super::*;

    #[test]
    fn pages_have_all_the_kin_of_real_ones() {
        let pages = 0..20_000;
        let kin: Vec<Kin> = pages
            .map(|page| facts(&first_visit(page, 1_000).unwrap()).kin)
            .collect();
        let kinds = |of: fn(&Kin) -> u64| kin.iter().map(of).collect::<HashSet<u64>>().len();
        assert_eq!(kinds(|kin| kin.domain), SUFFIXES.len());
        assert_eq!(kinds(|kin| kin.depth), DEPTHS);
        assert_eq!(kinds(|kin| kin.links), LINK_TYPES.len());
        assert_eq!(kinds(|kin| kin.size), SIZES);
        let sites = SITES_AT_ONCE as usize;
        assert_eq!(kinds(|kin| kin.site), sites);
        assert_eq!(kinds(|kin| kin.template), sites * SECTIONS.len());
    }
}
