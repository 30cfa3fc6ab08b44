//! Whole crawls of a web on loopback, by the program as it is installed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

fn serve(sites: u32, pages: u32) -> ServerThread {
    ServerThread::start(
        Web::new(WebSpec::plain(sites, pages)),
        ServerOptions::default(),
    )
    .unwrap()
}

fn seeds_file(place: &Workplace, server: &ServerThread) {
    let lines: Vec<String> = server
        .seeds()
        .iter()
        .map(|url| format!("{url}\ttopic"))
        .collect();
    place.write("seeds.txt", &lines.join("\n"));
}

const QUICK: [&str; 6] = [
    "--site-delay",
    "0s",
    "--site-connections",
    "4",
    "--no-progress",
    "--scope=any",
];

/// Requests by URL, robots.txt left out.
fn asked(server: &ServerThread) -> Vec<(String, u32)> {
    let counts = server.log().count_by_url();
    counts
        .into_iter()
        .filter(|(url, _)| !url.ends_with("/robots.txt"))
        .collect()
}

#[track_caller]
fn assert_each_once(server: &ServerThread, pages: usize) {
    let asked = asked(server);
    assert_eq!(asked.len(), pages);
    let twice: Vec<_> = asked.iter().filter(|(_, count)| *count != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn a_crawl_from_seeds_to_a_verified_directory() {
    let (place, server) = (Workplace::new(), serve(3, 20));
    seeds_file(&place, &server);
    let done = place.geomi(&[&["crawl", "--seeds", "seeds.txt", "-o", "out"], &QUICK[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let last = done.last_line();
    assert!(last.starts_with("done: 60 saved, 0 failed in "), "{last}");
    assert!(last.ends_with("s (finished) -> out"), "{last}");
    assert_each_once(&server, 60);
    for name in [
        "geomi.toml",
        "status.json",
        "stats.jsonl",
        "log.jsonl",
        "index/index.cdxj",
        "seeds-out.txt",
        "seeds.parquet",
    ] {
        assert!(place.exists(&format!("out/{name}")), "{name}");
    }
    let used = place.read("out/geomi.toml");
    assert!(
        used.contains("site_delay = \"0s\"\n") && used.contains("kind = \"any\"\n"),
        "{used}"
    );

    let done = place.geomi(&["verify", "out"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert_eq!(done.last_line(), "sound: everything agrees");
    let done = place.geomi(&["verify", "out", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(
        report["counts"]["captured"],
        report["counts"]["index_lines"]
    );
}

#[test]
fn jsonl_is_one_object_a_visit_and_nothing_else() {
    let (place, server) = (Workplace::new(), serve(1, 8));
    let seed = server.seeds()[0].to_string();
    let done = place.geomi(&[&["crawl", &seed, "--format", "jsonl"], &QUICK[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let visits: Vec<serde_json::Value> = done
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(visits.len(), 9, "eight pages and robots.txt");
    assert!(visits.iter().all(|visit| visit["url"].is_string()));
    let last = done.err.lines().last().unwrap();
    let port = server.port();
    assert!(
        last.ends_with(&format!("-> geomi-127.0.1.1-{port}")),
        "{last}"
    );
}

#[test]
fn a_limit_stops_with_its_own_code_and_the_directory_resumes_by_name_alone() {
    let (place, server) = (Workplace::new(), serve(2, 30));
    seeds_file(&place, &server);
    let first = place
        .command(&[&["crawl", "--seeds", "seeds.txt", "-o", "out"], &QUICK[..]].concat())
        .env("GEOMI_MAX_PAGES", "10")
        .output()
        .unwrap();
    let first = Done::from(first);
    assert_eq!(first.code, Some(4), "{first:#?}");
    assert!(first.last_line().contains("(max-pages reached)"));
    let second = place.geomi(&["crawl", "-o", "out", "--set", "crawl.max_pages=none", "-q"]);
    assert_eq!(second.code, Some(0), "{second:#?}");
    assert!(
        second.out.starts_with("done: 60 saved, 0 failed in "),
        "quiet is one line: {second:#?}"
    );
    assert_each_once(&server, 60);
    let verified = place.geomi(&["verify", "out"]);
    assert_eq!(verified.code, Some(0), "{verified:#?}");
}

#[test]
fn every_seed_failed_is_three_and_no_room_is_five() {
    let (place, server) = (Workplace::new(), serve(1, 3));
    let done = place.geomi(&[
        "crawl",
        "http://127.0.0.1:1/",
        "-o",
        "a",
        "--set",
        "crawl.tries=1",
    ]);
    assert_eq!(done.code, Some(3), "{done:#?}");
    assert!(done.last_line().contains("0 saved, 1 failed"), "{done:#?}");

    let seed = server.seeds()[0].to_string();
    let crawl = |min_free: &str| {
        let set = format!("output.min_free={min_free}");
        place.geomi(&[&["crawl", &seed, "-o", "b", "--set", &set], &QUICK[..]].concat())
    };
    let done = crawl("1000000TiB");
    assert_eq!(done.code, Some(5), "{done:#?}");
    assert!(
        done.err
            .contains("free some space and run the same command again")
    );
    assert!(done.last_line().contains("(disk full) -> b"), "{done:#?}");
    let done = crawl("0B");
    assert_eq!(done.code, Some(0), "there is room again: {done:#?}");
}

#[test]
fn an_interrupt_stops_cleanly_and_the_crawl_goes_on_later() {
    let (place, server) = (Workplace::new(), serve(2, 12));
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    let words = [
        "crawl",
        &seeds[0],
        &seeds[1],
        "-o",
        "out",
        "--scope",
        "any",
        "--no-progress",
    ];
    let mut crawl = place
        .command(&[&words[..], &["--site-delay", "1s", "--format", "jsonl"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first_visit = String::new();
    let out = crawl.stdout.as_mut().unwrap();
    BufReader::new(out).read_line(&mut first_visit).unwrap();
    assert!(first_visit.starts_with('{'), "{first_visit}");
    let id = crawl.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let done = Done::from(crawl.wait_with_output().unwrap());
    assert_eq!(done.code, Some(130), "{done:#?}");
    assert!(done.err.contains("(stopped) -> out"), "{done:#?}");
    assert_eq!(place.geomi(&["verify", "out"]).code, Some(0));

    let done = place.geomi(&["crawl", "-o", "out", "--site-delay", "0s", "--no-progress"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.last_line().starts_with("done: 24 saved"), "{done:#?}");
    assert_each_once(&server, 24);
}

#[test]
fn a_reader_that_leaves_stops_the_crawl() {
    let (place, server) = (Workplace::new(), serve(1, 40));
    let seed = server.seeds()[0].to_string();
    let mut crawl = place
        .command(&[
            "crawl",
            &seed,
            "-o",
            "out",
            "--site-delay",
            "100ms",
            "--format",
            "jsonl",
            "-q",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(crawl.stdout.take());
    let done = Done::from(crawl.wait_with_output().unwrap());
    done.fails(1, &["standard output was closed", "(stopped) -> out"]);
    assert!(asked(&server).len() < 40);
}

#[test]
fn partitions_stay_as_they_were_and_the_configuration_too() {
    let (place, server) = (Workplace::new(), serve(3, 6));
    seeds_file(&place, &server);
    let words = ["crawl", "--seeds", "seeds.txt", "-o", "out"];
    let crawl = |partitions: &str| {
        let set = format!("cluster.partitions={partitions}");
        place.geomi(&[&words[..], &["--set", &set], &QUICK].concat())
    };
    let done = crawl("4");
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert_each_once(&server, 18);
    crawl("2").fails(2, &["started with 4 partitions", "cluster.partitions = 4"]);
    assert!(place.read("out/geomi.toml").contains("partitions = 4\n"));
    assert_eq!(place.geomi(&["crawl", "-o", "out"]).code, Some(0));
}
