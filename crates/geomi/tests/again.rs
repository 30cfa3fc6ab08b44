//! `geomi crawl --again`: a directory crawled a second time, seen from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Workplace;
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

/// Lines of the index, and how many of them are revisits.
fn index(place: &Workplace) -> (usize, usize) {
    let index = place.read("c/index/index.cdxj");
    let revisits = index
        .lines()
        .filter(|line| line.contains("\"warc/revisit\""));
    (index.lines().count(), revisits.count())
}

#[test]
fn the_second_crawl_of_an_unchanged_site_stores_revisits() {
    let mut spec = WebSpec::plain(2, 15);
    spec.traits.validators = 1.0;
    let server = ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let first = [
        "crawl",
        "--seeds",
        "seeds.txt",
        "-o",
        "c",
        "--site-delay",
        "0s",
        "--no-progress",
    ];
    let done = place.geomi(&first);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.last_line().contains("30 saved"), "{done:#?}");
    let (lines, revisits) = index(&place);
    assert_eq!((lines, revisits), (32, 0), "pages and two robots.txt");

    let done = place.geomi(&[
        "crawl",
        "-o",
        "c",
        "--again",
        "--no-progress",
        "--format",
        "json",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let status: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let counters = &status["counters"];
    assert_eq!(counters["revisits"], 30, "{counters:#}");
    assert_eq!(counters["captured"], 62, "{counters:#}");
    assert_eq!(index(&place), (62, 30));
    let log = server.log().entries();
    let not_modified = log.iter().filter(|entry| entry.status == 304).count();
    assert_eq!(not_modified, 30, "the server was asked conditionally");
    let verify = place.geomi(&["verify", "c"]);
    assert_eq!(verify.code, Some(0), "{verify:#?}");

    let done = place.geomi(&["crawl", "-o", "c", "--no-progress"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert_eq!(server.log().len(), log.len(), "without the flag it rests");
}

#[test]
fn again_in_a_new_directory_is_a_first_crawl() {
    let server = ServerThread::start(Web::new(WebSpec::plain(1, 3)), ServerOptions::default());
    let server = server.unwrap();
    let place = Workplace::new();
    let seed = server.seeds()[0].to_string();
    let done = place.geomi(&[
        "crawl",
        &seed,
        "-o",
        "c",
        "--again",
        "--site-delay",
        "0s",
        "--no-progress",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.last_line().contains("3 saved"), "{done:#?}");
}
