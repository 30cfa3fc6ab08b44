//! Figures for Prometheus: sums over all crawls, never a label for a crawl, a
//! site or a URL, so that the number of series is fixed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::extract::State;
use axum::response::Response;

use crate::api::crawls::{CrawlRow, STATES};
use crate::app::App;
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;

/// Kinds of a metric.
#[derive(Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

/// Text in Prometheus' form.
#[derive(Default)]
struct Page(String);

impl Page {
    /// A metric with a value for each label, or one without.
    fn add(&mut self, kind: Kind, name: &str, help: &str, values: &[(Option<(&str, &str)>, f64)]) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let mut put = |line: std::fmt::Arguments<'_>| {
            self.0.write_fmt(line).expect("a string takes everything");
        };
        put(format_args!(
            "# HELP geomi_{name} {help}\n# TYPE geomi_{name} {kind}\n"
        ));
        for (label, value) in values {
            match label {
                None => put(format_args!("geomi_{name} {value}\n")),
                // Labels are words of ours, without quotes.
                Some((key, word)) => {
                    put(format_args!("geomi_{name}{{{key}=\"{word}\"}} {value}\n"));
                }
            }
        }
    }

    fn one(&mut self, kind: Kind, name: &str, help: &str, value: f64) {
        self.add(kind, name, help, &[(None, value)]);
    }
}

/// Sums over crawls.
#[derive(Default)]
struct Sums {
    by_state: BTreeMap<&'static str, u64>,
    visits: BTreeMap<String, u64>,
    saved: u64,
    visits_saved: u64,
    failed: u64,
    redirected: u64,
    refused: u64,
    wire_bytes: u64,
    queued: u64,
    in_flight: u64,
    sites: [u64; 3],
}

impl Sums {
    fn add(&mut self, crawl: &Crawl) {
        *self.by_state.entry(crawl.state()).or_default() += 1;
        let row = CrawlRow::new(crawl);
        self.saved += row.saved;
        self.visits_saved += row.visits_saved;
        self.failed += row.failed;
        self.redirected += row.redirected;
        self.refused += row.refused;
        self.wire_bytes += row.wire_bytes;
        let Some(status) = &crawl.status else { return };
        for (state, count) in &status.counters.states {
            *self.visits.entry(state.clone()).or_default() += count;
        }
        if crawl.is_running() {
            self.queued += row.queued;
            self.in_flight += row.in_flight;
            self.sites[0] += status.sites_ready;
            self.sites[1] += status.sites_waiting;
            self.sites[2] += status.sites_backing_off;
        }
    }
}

/// Gives the figures.
pub(crate) async fn get(State(app): State<App>) -> Result<Response, Problem> {
    let crawls = app.library.list(app.now()).await?;
    let mut sums = Sums::default();
    for crawl in crawls.iter() {
        sums.add(crawl);
    }
    let text = page(&sums, app.hubs.counts());
    Ok(respond::with_type(
        "text/plain; version=0.0.4; charset=utf-8",
        text.into(),
    ))
}

fn page(sums: &Sums, (watched, watchers): (usize, usize)) -> String {
    use Kind::Gauge;
    let mut page = Page::default();
    let version = Some(("version", env!("CARGO_PKG_VERSION")));
    let help = "Version of the program; always 1.";
    page.add(Gauge, "build_info", help, &[(version, 1.0)]);
    by_state(&mut page, sums);
    counts(&mut page, sums);
    let help = "Crawls somebody watches.";
    page.one(Gauge, "console_watched_crawls", help, watched as f64);
    let help = "Streams of events that are open.";
    page.one(Gauge, "console_watchers", help, watchers as f64);
    page.0
}

/// What is counted for each state there is, those nobody is in included.
fn by_state(page: &mut Page, sums: &Sums) {
    fn each<'a>(
        states: &[&'a str],
        count: impl Fn(&str) -> u64,
    ) -> Vec<(Option<(&'static str, &'a str)>, f64)> {
        let labelled = states
            .iter()
            .map(|state| (Some(("state", *state)), count(state) as f64));
        labelled.collect()
    }
    let crawls = each(STATES, |state| {
        sums.by_state.get(state).copied().unwrap_or(0)
    });
    page.add(Kind::Gauge, "crawls", "Crawls by how they stand.", &crawls);
    let visits = each(crate::api::log::STATES, |state| {
        sums.visits.get(state).copied().unwrap_or(0)
    });
    page.add(
        Kind::Counter,
        "visits_total",
        "Visits by network state.",
        &visits,
    );
    let holds = ["ready", "waiting", "backing_off"];
    let holds = holds.iter().zip(sums.sites);
    let sites: Vec<_> = holds
        .map(|(hold, count)| (Some(("state", *hold)), count as f64))
        .collect();
    let help = "Sites of running crawls by what they do.";
    page.add(Kind::Gauge, "sites", help, &sites);
}

/// What is counted over all crawls.
fn counts(page: &mut Page, sums: &Sums) {
    use Kind::{Counter, Gauge};
    let refused = "URLs never requested, by robots.txt or a rule.";
    let waiting = "URLs waiting in running crawls.";
    let redirected = "Pages that redirect.";
    for (kind, name, help, number) in [
        (
            Counter,
            "pages_saved_total",
            "Pages saved, each once.",
            sums.saved,
        ),
        (
            Counter,
            "visits_saved_total",
            "Visits that saved a page or found it unchanged.",
            sums.visits_saved,
        ),
        (
            Counter,
            "pages_failed_total",
            "Pages given up.",
            sums.failed,
        ),
        (
            Counter,
            "pages_redirected_total",
            redirected,
            sums.redirected,
        ),
        (Counter, "urls_refused_total", refused, sums.refused),
        (
            Counter,
            "received_bytes_total",
            "Bytes over the wire.",
            sums.wire_bytes,
        ),
        (Gauge, "queued_urls", waiting, sums.queued),
        (
            Gauge,
            "requests_in_flight",
            "Requests under way.",
            sums.in_flight,
        ),
    ] {
        page.one(kind, name, help, number as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_help_and_type_and_a_plain_name() {
        let text = page(&Sums::default(), (0, 0));
        let mut known = String::new();
        let mut series = 0;
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                let (name, help) = help.split_once(' ').unwrap();
                assert!(name.starts_with("geomi_") && help.ends_with('.'), "{line}");
                known = name.to_owned();
            } else if let Some(kind) = line.strip_prefix("# TYPE ") {
                let (name, kind) = kind.split_once(' ').unwrap();
                assert_eq!(name, known);
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            } else {
                let name = line.split(['{', ' ']).next().unwrap();
                assert_eq!(name, known);
                series += 1;
            }
        }
        assert!((20..500).contains(&series), "{series}");
    }
}
