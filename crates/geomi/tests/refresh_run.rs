//! `geomi refresh run` through the whole crawler: real sockets, pages that change
//! by processes that are known, and days that pass in seconds.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::HashMap;
use std::time::Duration;

use common::Workplace;
use geomi_model::Timestamp;
use geomi_testweb::{ChangeMix, RateLaw, ServerOptions, ServerThread, Web, WebSpec, WebTime};

/// Seconds of the web a second: a day in three.
const SPEED: u32 = 28_800;
/// Where the web's time begins: a midnight.
const START: Timestamp = Timestamp::from_secs(20_500 * 86_400);
const DAY: Duration = Duration::from_hours(24);
/// What both runs are told, beside their directory.
const FLAGS: [&str; 6] = [
    "--site-delay",
    "10s",
    "--time-scale",
    "28800",
    "--no-progress",
    "--quiet",
];

/// A web of five sites whose pages change a hundred times a month, or once.
fn changing_web(pages: u32) -> ServerThread {
    let mut spec = WebSpec::plain(5, pages);
    spec.traits.validators = 0.6;
    spec.traits.changes = ChangeMix {
        never: 0.1,
        rate: RateLaw::Bands(vec![(2.0, 14.0, 28.0), (3.0, 3.0, 10.0), (4.0, 0.3, 2.0)]),
        profiles: [1.0, 0.0, 0.0],
    };
    let options = ServerOptions {
        time: WebTime::From {
            start: START,
            speed: f64::from(SPEED),
        },
        ..ServerOptions::default()
    };
    ServerThread::start(Web::new(spec), options).unwrap()
}

fn first_crawl(place: &Workplace, server: &ServerThread, pages: usize) {
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let words = ["crawl", "--seeds", "seeds.txt", "-o", "c"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let saved = format!("done: {pages} saved, 0 failed");
    assert!(done.last_line().starts_with(&saved), "{done:#?}");
}

/// When each page was answered with its content, or that it has not changed, in
/// days of the web, by URL.
fn copies(server: &ServerThread) -> HashMap<String, Vec<f64>> {
    let mut copies: HashMap<String, Vec<f64>> = HashMap::new();
    for entry in server.log().entries() {
        if matches!(entry.status, 200 | 304) && entry.target != "/robots.txt" {
            let url = format!("http://{}:{}{}", entry.host, server.port(), entry.target);
            let at = days(server.web_time_at(entry.arrived));
            copies.entry(url).or_default().push(at);
        }
    }
    copies
}

fn days(at: Timestamp) -> f64 {
    at.since(START).as_secs_f64() / DAY.as_secs_f64()
}

/// The days in a span in which a copy was right.
fn fresh_days(changes: &[f64], copies: &[f64], (from, to): (f64, f64)) -> f64 {
    let mut fresh = 0.0;
    for (at, copy) in copies.iter().enumerate() {
        let next_copy = copies.get(at + 1).copied().unwrap_or(f64::INFINITY);
        let stale = changes.iter().copied().find(|change| change > copy);
        let until = next_copy.min(stale.unwrap_or(f64::INFINITY)).min(to);
        fresh += (until - copy.max(from)).max(0.0);
    }
    fresh
}

#[test]
fn live_freshness_is_what_the_laboratory_predicts() {
    const PAGES: u32 = 24;
    let (place, server) = (Workplace::new(), changing_web(PAGES));
    let count = 5 * PAGES as usize;
    first_crawl(&place, &server, count);
    let begun = days(server.web_time());
    let words = [
        "refresh",
        "run",
        "c",
        "--budget",
        "0.8",
        "--max-time",
        "14d",
    ];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
    let ended = days(server.web_time()).min(begun + 14.0);

    // The truth, and what the laboratory makes of it.
    let copies = copies(&server);
    let counted = (begun + (ended - begun) / 3.0, ended);
    let (mut fresh, mut visits, mut rows) = (0.0, 0, String::from("url,time\n"));
    for page in server.web().all_pages() {
        let url = server.web().page_url(page.site, page.page).to_string();
        let (from, to) = (START, START + DAY * 60);
        let changes = server.web().changes_between(page.site, page.page, from, to);
        let changes: Vec<f64> = changes.into_iter().map(days).collect();
        fresh += fresh_days(&changes, &copies[&url], counted);
        visits += copies[&url].iter().filter(|at| **at > counted.0).count();
        let mut seen = changes.iter().filter(|at| (begun..ended).contains(*at));
        let first = seen.next();
        rows += &format!("{url},{}\n", first.map_or(String::new(), seconds));
        seen.for_each(|at| rows += &format!("{url},{}\n", seconds(at)));
    }
    let span = counted.1 - counted.0;
    let measured = fresh / span / count as f64;
    let spent = visits as f64 / span / count as f64;
    place.write("changes.csv", &rows);
    let words = ["refresh", "simulate", "--history", "changes.csv"];
    let more = ["--budget", "0.8", "--policy", "clock", "--format", "json"];
    let done = place.geomi(&[&words[..], &more].concat());
    let predicted: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let predicted = predicted["rows"][0]["freshness"].as_f64().unwrap();
    eprintln!("measured {measured:.4}, predicted {predicted:.4}, spent {spent:.3}");
    assert!(
        (measured - predicted).abs() < 0.02,
        "{measured} {predicted}"
    );
    assert!((spent / 0.8 - 1.0).abs() < 0.08, "{spent}");
    assert_eq!(place.geomi(&["verify", "c"]).code, Some(0));
}

fn seconds(at: &f64) -> String {
    format!("{:.3}", at * 86_400.0)
}
