//! What a run tells while it goes on: of itself, of a page, and of what it has seen.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::thread;

use geomi_store::{CrawlDir, segment};

use super::{FLAGS, Workplace, changing_web, first_crawl, json, visits};

#[test]
fn a_run_tells_what_it_does_and_has_seen() {
    let (place, server) = (Workplace::new(), changing_web(5));
    first_crawl(&place, &server, 25);
    let before = segment::list(&CrawlDir::new(place.path("c"))).unwrap();
    let words = ["refresh", "run", "c", "--budget", "4", "--format", "jsonl"];
    let mut run = place
        .command(&[&words[..], &FLAGS].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    // A day and a half: far fewer visits than a table of visits usually has.
    assert_eq!(lines.by_ref().take(150).count(), 150);
    let rest = thread::spawn(move || lines.count());

    let status: serde_json::Value = serde_json::from_str(&place.read("c/status.json")).unwrap();
    let refresh = &status["refresh"];
    assert_eq!(refresh["drive"], "plan", "{status:#}");
    assert_eq!(refresh["policy"], "clock", "{status:#}");
    assert_eq!(refresh["pages"], 25, "{status:#}");
    assert_eq!(refresh["requests_per_day"], 100.0, "{status:#}");
    assert!(refresh["next_due"].is_string(), "{status:#}");
    let after = segment::list(&CrawlDir::new(place.path("c"))).unwrap();
    assert!(after.len() > before.len(), "{before:?} {after:?}");

    let crawl = json(&place, &["explain", "c"]);
    let causes = crawl["crawl"]["causes"].as_array().unwrap().iter();
    assert!(
        causes
            .into_iter()
            .any(|cause| cause["code"] == "kept-fresh"),
        "{crawl:#}"
    );
    let seed = server.seeds()[0].to_string();
    let page = json(&place, &["explain", "c", &seed]);
    let next = &page["url"]["next"];
    let codes = ["planned", "queued", "on-its-way"];
    assert!(codes.map(Into::into).contains(&next["code"]), "{next:#}");
    if next["code"] == "planned" {
        assert!(next["at"].is_string(), "{next:#}");
    }

    // The run knows what its sites' word is worth, and holds the directory.
    let site = seed.trim_start_matches("http://");
    let word = json(&place, &["explain", "c", site])["site"]["word"].clone();
    assert!(word["trust"].is_number(), "{word:#}");
    let refused = place.geomi(&["refresh", "explain", "c", &seed]).out;
    let told = "site's word not known while a run holds the directory";
    assert!(refused.contains(told), "{refused}");
    let refused = json(&place, &["refresh", "explain", "c", &seed]);
    assert!(refused["trust"].is_null(), "{refused:#}");
    assert!(refused["signs_unknown"].is_string(), "{refused:#}");

    assert_eq!(place.geomi(&["stop", "c"]).code, Some(0));
    run.wait().unwrap();
    rest.join().unwrap();
    // Some may have been due.
    let mut rested = visits(&place).into_keys().map(|url| {
        let page = json(&place, &["explain", "c", &url]);
        page["url"]["next"].clone()
    });
    let visited = rested.find(|next| next["code"] == "visited").unwrap();
    let text = visited["text"].as_str().unwrap();
    assert!(text.contains("geomi refresh run"), "{text}");
}
