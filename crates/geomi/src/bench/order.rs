//! `geomi bench order`: the host orders on real sockets.
//!
//! What `geomi sim order` compares in virtual time is crawled here: a test web
//! on loopback whose sites answer after latencies of their own, with far fewer
//! connections than sites. It is small, and what else the machine does shows in
//! it; the laboratory is where orders are judged.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use geomi_crawler::{Control, CrawlConfig, NoFaults, Surroundings, SystemClock};
use geomi_engine::{Ending, Observer, SeedInput, Status};
use geomi_frontier::HostOrder;
use geomi_model::{Timestamp, Visit};
use geomi_store::CrawlDir;
use geomi_testweb::{Latency, PageBytes, ServerOptions, ServerThread, Web, WebSpec};
use geomi_url::CrawlUrl;
use serde_json::{Value, json};

use super::Scratch;
use crate::Exit;
use crate::args::{BenchOrderArgs, Format, Global};
use crate::config::{self, Place, Problems, Raw, Setting};
use crate::signals::Listener;
use crate::terminal::print;

/// Latencies of the sites: the laboratory's `mixed`.
const LATENCY: Latency = Latency::LogNormal {
    median: Duration::from_millis(80),
    sigma: 0.8,
};

/// What an order brought.
#[derive(Debug)]
struct Row {
    order: HostOrder,
    pages: usize,
    t50_s: f64,
    t90_s: f64,
    end_s: f64,
}

/// Runs the command.
pub(super) fn run(args: &BenchOrderArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut spec = WebSpec::plain(args.sites, args.pages);
    spec.page_bytes = PageBytes::of_mean(4_000);
    spec.traits.latency = LATENCY;
    let options = ServerOptions {
        log_max: 0,
        ..ServerOptions::default()
    };
    let server = ServerThread::start(Web::new(spec.clone()), options)?;
    spec.port = server.port();
    let seeds = Web::new(spec).seeds();
    let folder = Scratch::in_folder(None)?;
    let mut rows = Vec::new();
    for order in HostOrder::ALL {
        let config = configure(order, args.connections, &seeds)?;
        let dir = CrawlDir::create(folder.path.join(order.as_str()))?;
        rows.push(crawl(order, &config, &dir)?);
    }
    server.stop();
    print(&match global.format {
        Format::Human => human(args, &rows),
        Format::Json => serde_json::to_string_pretty(&json!({ "rows": json_rows(&rows) }))?,
        Format::Jsonl => json!({ "rows": json_rows(&rows) }).to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

fn configure(
    order: HostOrder,
    connections: u32,
    seeds: &[CrawlUrl],
) -> anyhow::Result<CrawlConfig> {
    let connections = connections.to_string();
    let settings = [
        ("crawl.name", "bench-order"),
        ("crawl.order", order.as_str()),
        ("crawl.connections", &connections),
        ("politeness.site_delay", "100ms"),
        ("fetch.allow_private", "all"),
        ("scope.sitemaps", "robots"),
    ]
    .map(|(path, value)| Setting {
        path: path.to_owned(),
        raw: Raw::Typed(value.to_owned()),
        place: Place::Flag("geomi bench order".to_owned()),
    });
    let mut problems = Problems::default();
    let written = config::load_alone(&settings, &mut problems);
    let seeds = seeds.iter().cloned();
    let seeds = seeds.map(|url| SeedInput { url, topic: None }).collect();
    let config = config::resolve(&written, seeds, &mut problems);
    problems.into_result()?;
    Ok(config)
}

/// Crawls the web in one order.
fn crawl(order: HostOrder, config: &CrawlConfig, dir: &CrawlDir) -> anyhow::Result<Row> {
    let control = Control::default();
    let _signals = Listener::start(control.clone())?;
    let mut times = Times::default();
    let surroundings = Surroundings {
        clock: Arc::new(SystemClock::default()),
        control,
        observer: &mut times,
        steps: &mut NoFaults,
    };
    let status = geomi_crawler::run(config, dir, surroundings)?;
    if status.reason != Some(Ending::Finished) {
        bail!("the crawl did not come to its end, so there is nothing to tell");
    }
    times.row(order).context("the crawl brought no page")
}

/// When each page was there.
#[derive(Debug, Default)]
struct Times {
    first: Option<Timestamp>,
    ended: Vec<Timestamp>,
}

impl Observer for Times {
    fn visited(&mut self, visit: &Visit) {
        self.first = Some(self.first.map_or(visit.time, |first| first.min(visit.time)));
        if !visit.is_robots {
            self.ended.push(visit.time + visit.phases.total);
        }
    }

    fn status(&mut self, _: &Status) {}
}

impl Times {
    fn row(mut self, order: HostOrder) -> Option<Row> {
        self.ended.sort_unstable();
        let (first, pages) = (self.first?, self.ended.len());
        let until = |tenths: usize| {
            let at = (pages * tenths).div_ceil(10).max(1) - 1;
            Some(self.ended.get(at)?.since(first).as_secs_f64())
        };
        Some(Row {
            order,
            pages,
            t50_s: until(5)?,
            t90_s: until(9)?,
            end_s: until(10)?,
        })
    }
}

fn human(args: &BenchOrderArgs, rows: &[Row]) -> String {
    let mut lines = vec![
        format!(
            "{} sites of {} pages, {} connections, site delay 100 ms, latencies around 80 ms; seconds",
            args.sites, args.pages, args.connections
        ),
        format!(
            "{:<14}{:>9}{:>9}{:>9}{:>9}",
            "order", "pages/s", "t50", "t90", "end"
        ),
    ];
    lines.extend(rows.iter().map(|row| {
        format!(
            "{:<14}{:>9.1}{:>9.2}{:>9.2}{:>9.2}",
            row.order.as_str(),
            pages_per_s(row),
            row.t50_s,
            row.t90_s,
            row.end_s
        )
    }));
    lines.join("\n")
}

/// The rate until nine tenths were there, as in the laboratory.
fn pages_per_s(row: &Row) -> f64 {
    0.9 * row.pages as f64 / row.t90_s
}

fn json_rows(rows: &[Row]) -> Vec<Value> {
    let row = |row: &Row| {
        json!({
            "policy": row.order.as_str(),
            "pages": row.pages,
            "pages_per_s": pages_per_s(row),
            "t50_s": row.t50_s,
            "t90_s": row.t90_s,
            "end_s": row.end_s,
        })
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_pages_are_told_in_order_of_time() {
        let second = Timestamp::from_secs;
        let times = Times {
            first: Some(second(100)),
            ended: (101..=110).rev().map(second).collect(),
        };
        let row = times.row(HostOrder::Rtt).unwrap();
        assert_eq!(
            [row.t50_s, row.t90_s, row.end_s].map(|s| s as u32),
            [5, 9, 10]
        );
        assert!((pages_per_s(&row) - 1.0).abs() < 1e-9);
        assert!(Times::default().row(HostOrder::Rtt).is_none());
    }
}
