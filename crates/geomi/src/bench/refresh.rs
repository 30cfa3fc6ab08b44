//! `geomi bench refresh`: what planning costs a decision, and in memory.

use geomi_refresh::policy::Clock;
use geomi_refresh::{Kin, Page, Planner, Terms};
use serde_json::json;

use super::usage::Usage;
use crate::Exit;
use crate::args::{Format, Global};
use crate::session::print;
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
}

/// Plans so many pages, makes so many decisions and prints what they cost.
pub(super) fn run(args: &RefreshBenchArgs, global: &Global) -> anyhow::Result<Exit> {
    let decisions = args.decisions.unwrap_or(args.pages.div_ceil(5)).max(1);
    let terms = Terms {
        requests_per_day: f64::from(args.pages) / 7.0,
        longest_gap: 90.0,
        learning: None,
    };
    let mut planner = Planner::new(Clock::default(), terms, 0.0);
    let before = Usage::now()?;
    for page in 0..args.pages {
        let kin = Kin([0, 0, 0, u64::from(page / 1_000) + 1, 0]);
        planner.add(&Page { weight: 1.0, kin }, 0.0);
    }
    planner.start();
    let planned = Usage::now()?;
    let (mut made, mut now) = (0, 0.0_f64);
    while let Some(wake) = planner.wake().filter(|_| made < decisions) {
        now = wake.max(now);
        let Some(page) = planner.next(now) else {
            continue;
        };
        // Every page has its own rate, from one change in a year to ten a day.
        let chance = u64::from(page).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let part = chance as f64 / f64::from(1 << 24);
        let roll = u64::from(made).wrapping_mul(0xD1B5_4A32_D192_ED03) >> 40;
        planner.observe(page, part > roll as f64 / f64::from(1 << 24), now);
        made += 1;
    }
    let done = Usage::now()?;
    let start_us = planned.since(&before).seconds() * 1e6 / f64::from(args.pages);
    let each_us = done.since(&planned).seconds() * 1e6 / f64::from(made.max(1));
    print(&match global.format {
        Format::Human => format!(
            "{} planned at {start_us:.2} us each, {} made at {each_us:.2} us of processor time each, {} of memory at its peak",
            words::plural(args.pages.into(), "page"),
            words::plural(made.into(), "decision"),
            words::bytes(done.peak_bytes as f64),
        ),
        Format::Json | Format::Jsonl => json!({
            "pages": args.pages,
            "decisions": made,
            "cpu_us_per_page_at_start": start_us,
            "cpu_us_per_decision": each_us,
            "peak_rss_bytes": done.peak_bytes,
            "debug_build": cfg!(debug_assertions),
        })
        .to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}
