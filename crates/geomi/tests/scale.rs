//! A crawl with hardly any memory, killed in the middle, and the frontier's own
//! benchmark.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Workplace;
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

/// The seen test goes on from disk after 256 URLs, and four sites at a time are
/// at work.
const CRAMPED: [&str; 10] = [
    "--set",
    "crawl.seen_memory=8KiB",
    "--set",
    "crawl.sites_in_memory=4",
    "--site-delay",
    "0s",
    "--site-connections",
    "4",
    "--no-progress",
    "--scope=any",
];

#[test]
fn killed_with_hardly_any_memory_it_goes_on_and_stores_each_page_once() {
    let web = Web::new(WebSpec::plain(20, 40));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let words = ["crawl", "--seeds", "seeds.txt", "-o", "out"];
    // Its first half is told, and then it is killed.
    let words = [&words[..], &CRAMPED, &["--format", "jsonl"]].concat();
    place.kill_after(400, &words);

    let done = place.geomi(&[&["crawl", "-o", "out"], &CRAMPED[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.last_line().starts_with("done: "), "{done:#?}");
    let stored = place.stored("out");
    assert_eq!(stored.len(), 800, "no page is lost");
    assert!(
        stored.values().all(|count| *count == 1),
        "none is kept twice"
    );
    assert_eq!(place.geomi(&["verify", "out"]).code, Some(0));
    let seen = place.path("out/frontier/p0000.seen");
    assert_eq!(std::fs::read_dir(seen).unwrap().count(), 1);
}

#[test]
fn the_benchmark_of_the_frontier_tells_its_curve() {
    let place = Workplace::new();
    let words = ["bench", "frontier", "--urls", "20000", "--sites", "500"];
    let done = place.geomi(&[&words[..], &["--dir", ".", "--format", "json"]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let points = told["points"].as_array().unwrap();
    assert_eq!(points.len(), 1);
    assert!(points[0]["urls"].as_u64().unwrap() >= 20_000);
    assert!(points[0]["visits"].as_u64().unwrap() >= 2_000);
    for figure in ["rss_bytes", "disk_bytes", "commit_p99_s", "reopened_s"] {
        assert!(
            points[0][figure].as_f64().unwrap() > 0.0,
            "{figure}: {told}"
        );
    }
    let wrong = place.geomi(&[&words[..], &["--seen-memory", "much"]].concat());
    wrong.fails(2, &["--seen-memory"]);
}
