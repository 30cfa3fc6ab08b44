//! `geomi sim capacity`: what a crawl of some size takes.

use std::time::Duration;

use geomi_sim::capacity::{Cost, Demand, Plan, plan};
use serde_json::{Value, json};

use super::args::{CapacityArgs, Per};
use crate::Exit;
use crate::args::{Format, Global};
use crate::config::{Place, Problems, parse_size};
use crate::terminal::print;
use crate::words;

const DAY: Duration = Duration::from_hours(24);

pub(super) fn run(args: &CapacityArgs, global: &Global) -> anyhow::Result<Exit> {
    let (demand, cost) = read(args)?;
    let plan = plan(&demand, &cost);
    print(&match global.format {
        Format::Human => human(args, &demand, &cost, &plan),
        Format::Json => serde_json::to_string_pretty(&json(&demand, &cost, &plan))?,
        Format::Jsonl => json(&demand, &cost, &plan).to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

fn read(args: &CapacityArgs) -> anyhow::Result<(Demand, Cost)> {
    let mut problems = Problems::default();
    let mut complain = |flag: &str, what: String| {
        problems.add(&Place::Flag(flag.to_owned()), what);
    };
    let page_bytes = match parse_size(&args.page_size) {
        Ok(0) => {
            complain("--page-size", "a page has at least one byte".to_owned());
            1
        }
        Ok(bytes) => bytes,
        Err(what) => {
            complain("--page-size", what);
            1
        }
    };
    let mut positive = |flag: &str, value: f64| {
        if !(value.is_finite() && value > 0.0) {
            complain(flag, "give a number above 0".to_owned());
        }
        value
    };
    let given = |value: Option<f64>, or: f64| value.unwrap_or(or);
    let usual = Cost::default();
    let demand = Demand {
        pages: positive("--pages", args.pages),
        period: match args.per {
            Per::Day => DAY,
            Per::Month => 30 * DAY,
        },
        peak: positive("--peak", args.peak),
        cores: positive("--cores", args.cores),
        load: positive("--load", args.load),
        // A year of twelve months of 30 days, as the period has it.
        keep: DAY.mul_f64(360.0 * positive("--keep", args.keep).clamp(0.0, 1e6)),
    };
    let cost = Cost {
        cpu_s: positive("--cpu", given(args.cpu, usual.cpu_s * 1_000.0)) / 1_000.0,
        // What was given is for pages of this size already.
        cpu_s_per_kb: match args.cpu {
            Some(_) => 0.0,
            None => usual.cpu_s_per_kb,
        },
        page_bytes: page_bytes as f64,
        kept_share: positive("--kept", given(args.kept, usual.kept_share)),
        request_s: positive("--request", given(args.request, usual.request_s)),
        rest_s: positive("--rest", given(args.rest, usual.rest_s)),
        ..usual
    };
    problems.into_result()?;
    Ok((demand, cost))
}

fn human(args: &CapacityArgs, demand: &Demand, cost: &Cost, plan: &Plan) -> String {
    let period = match args.per {
        Per::Day => "day",
        Per::Month => "month",
    };
    let row = |name: &str, value: String| format!("{name:<14}{value}");
    [
        format!(
            "{:e} pages of {} a {period}",
            demand.pages,
            words::bytes(cost.page_bytes)
        ),
        String::new(),
        row(
            "rate",
            format!(
                "{:.0} pages/s, {:.0} at the peak",
                plan.pages_per_s, plan.peak_pages_per_s
            ),
        ),
        row(
            "workers",
            format!(
                "{} of {} cores, {:.0} % used at the peak ({:.1} cores busy; {:.3} s for 1,000 pages)",
                words::count(plan.workers),
                demand.cores,
                demand.load * 100.0,
                plan.cores,
                plan.cores / plan.peak_pages_per_s * 1_000.0
            ),
        ),
        row(
            "connections",
            format!(
                "{} at once ({} s each)",
                words::count(plan.connections),
                cost.request_s
            ),
        ),
        row(
            "sites",
            format!(
                "{} in progress, each resting {} s after an answer",
                words::count(plan.sites),
                cost.rest_s
            ),
        ),
        row(
            "bandwidth",
            format!("{:.2} Gbit/s at the peak", plan.bandwidth_bps / 1e9),
        ),
        row(
            "storage",
            format!(
                "{} received and {} kept a {period}; {} in {} years",
                words::bytes(plan.received_bytes),
                words::bytes(plan.stored_bytes),
                words::bytes(plan.kept_bytes),
                args.keep
            ),
        ),
        row(
            "queues",
            format!("{} on disk after a {period}", words::bytes(plan.queue_bytes)),
        ),
        row(
            "partitions",
            format!(
                "{}, of {:e} URLs each",
                words::count(plan.partitions),
                cost.partition_urls
            ),
        ),
    ]
    .join("\n")
}

fn json(demand: &Demand, cost: &Cost, plan: &Plan) -> Value {
    json!({
        "pages": demand.pages,
        "period_s": demand.period.as_secs(),
        "pages_per_s": plan.pages_per_s,
        "peak_pages_per_s": plan.peak_pages_per_s,
        "cores": plan.cores,
        "workers": plan.workers,
        "connections": plan.connections,
        "sites": plan.sites,
        "bandwidth_bps": plan.bandwidth_bps,
        "received_bytes": plan.received_bytes,
        "stored_bytes": plan.stored_bytes,
        "kept_bytes": plan.kept_bytes,
        "queue_bytes": plan.queue_bytes,
        "partitions": plan.partitions,
        "assumed": {
            "cpu_s_per_1000_pages": cost.cpu_s * 1_000.0,
            "cpu_s_per_1000_pages_and_kb": cost.cpu_s_per_kb * 1_000.0,
            "page_bytes": cost.page_bytes,
            "kept_share": cost.kept_share,
            "request_s": cost.request_s,
            "rest_s": cost.rest_s,
            "new_urls_per_page": cost.new_urls,
            "url_bytes": cost.url_bytes,
            "partition_urls": cost.partition_urls,
            "peak": demand.peak,
            "cores_per_worker": demand.cores,
            "load": demand.load,
            "keep_s": demand.keep.as_secs(),
        },
    })
}
