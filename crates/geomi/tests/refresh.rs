//! `geomi refresh simulate` and `geomi papers` as a person would run them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::HashMap;
use std::fmt::Write as _;

use common::Workplace;
use geomi_model::{Timestamp, Visit};
use geomi_store::visits::write_visits;
use geomi_url::CrawlUrl;
use serde_json::Value;

/// Sixty pages of which a third changes every two days, a third every ten, and a
/// third never, over 60 days.
fn history() -> String {
    let mut text = String::from("url,time,weight\n");
    for page in 0..60_u32 {
        let url = format!("https://example.com/{page}");
        let every = match page % 3 {
            0 => 2,
            1 => 10,
            _ => {
                writeln!(text, "{url},,1").unwrap();
                continue;
            }
        };
        for change in 0..(60 / every) {
            let time = 1_700_000_000 + (change * every) * 86_400 + page * 1_000;
            writeln!(text, "{url},{time},1").unwrap();
        }
    }
    text
}

/// The changes of the history as a table of Parquet: the columns of a visit are more
/// than enough.
fn write_table(path: &std::path::Path, csv: &str) {
    let visits: Vec<Visit> = csv
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split(',');
            let url = CrawlUrl::parse(fields.next()?).unwrap();
            let seconds: i64 = fields.next()?.parse().ok()?;
            let mut visit = Visit::unknown(url);
            visit.time = Timestamp::from_micros(seconds * 1_000_000);
            Some(visit)
        })
        .collect();
    write_visits(path, &visits).unwrap();
}

#[test]
fn parquet_and_csv_say_the_same() {
    let place = Workplace::new();
    let csv: String = history()
        .lines()
        .filter(|line| !line.contains(",,"))
        .fold(String::new(), |text, line| text + line + "\n");
    place.write("h.csv", &csv);
    write_table(&place.path("h.parquet"), &csv);
    let simulate = |history: &str| {
        place.geomi(&[
            "refresh",
            "simulate",
            "--history",
            history,
            "--policy",
            "static,clock",
            "--format",
            "json",
        ])
    };
    let (table, text) = (simulate("h.parquet"), simulate("h.csv"));
    assert_eq!(table.code, Some(0), "{table:#?}");
    assert_eq!(table.out.replace("h.parquet", "h.csv"), text.out);
    place.write("no.parquet", "url,time\n");
    let refused = simulate("no.parquet");
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    let millis = "url,time\nhttps://a.test/,1700000000\nhttps://a.test/,1700000000000\n";
    place.write("m.csv", millis);
    write_table(&place.path("m.parquet"), millis);
    let told = "1700000000000 is no time between the years 1970 and 2200: give seconds since 1970";
    simulate("m.csv").fails(2, &["m.csv: line 3", told]);
    simulate("m.parquet").fails(2, &["m.parquet: line 2", told]);
}

fn rows(text: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).unwrap();
    value["rows"].as_array().unwrap().clone()
}

#[test]
fn a_history_is_simulated_and_the_same_seed_gives_the_same_bytes() {
    let place = Workplace::new();
    place.write("h.csv", &history());
    let command = [
        "refresh",
        "simulate",
        "--history",
        "h.csv",
        "--policy",
        "static,optimal,greedy,clock",
        "--budget",
        "0.5",
        "--format",
        "json",
        "--html",
        "out.html",
    ];
    let first = place.geomi(&command);
    assert_eq!(first.code, Some(0), "{first:#?}");
    let second = place.geomi(&command);
    assert_eq!(first.out, second.out);
    let told: Value = serde_json::from_str(&first.out).unwrap();
    let extent = &told["extent"];
    assert_eq!(extent["from"], "2023-11-14T22:13:20Z", "{extent}");
    assert_eq!(
        (&extent["pages"], &extent["changes"]),
        (&60.into(), &720.0.into())
    );
    let rows = rows(&first.out);
    assert_eq!(rows.len(), 4);
    let freshness = |at: usize| rows[at]["freshness"].as_f64().unwrap();
    assert!(freshness(1) > freshness(0), "{rows:#?}");
    assert!(freshness(2) > freshness(0), "{rows:#?}");
    for row in &rows {
        assert_eq!(row["web"], "h.csv");
        let requests = row["requests_per_page_day"].as_f64().unwrap();
        assert!(requests < 0.5 * 1.03, "{row}");
        assert!(row["mean_age_h"].as_f64().unwrap() >= 0.0);
    }
    let page = place.read("out.html");
    assert!(page.matches("<svg").count() == 3 && page.contains("polyline"));
    for words in [
        "60 pages, 720 changes from 2023-11-14",
        "0.5000 visits a page a day, means of 1 trial",
        "<th>match static",
        "match static: requests needed",
        "freshness of others:",
        "which no crawler knows: optimal.",
        "daily means",
    ] {
        assert!(page.contains(words), "no {words}");
    }
    let words = [
        "refresh",
        "simulate",
        "--history",
        "h.csv",
        "--policy",
        "static",
    ];
    let more = ["--no-match", "--weighted", "--html", "few.html"];
    let done = place.geomi(&[&words[..], &more].concat());
    assert!(!done.out.contains("match static"), "{done:#?}");
    let page = place.read("few.html");
    assert!(!page.contains("match static"), "{page}");
    assert!(
        page.contains("<h2>Weighted freshness over time</h2>"),
        "{page}"
    );
}

/// Freshness computed again from the files, by other means: page by page, over
/// the pieces between visits and changes.
#[test]
fn freshness_follows_from_the_visits_and_changes_written_out() {
    let place = Workplace::new();
    place.write("h.csv", &history());
    let done = place.geomi(&[
        "refresh",
        "simulate",
        "--history",
        "h.csv",
        "--policy",
        "greedy",
        "--budget",
        "0.3",
        "--format",
        "json",
        "--visits-out",
        "visits.csv",
        "--changes-out",
        "changes.csv",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let times = |name: &str, url_at: usize| {
        let mut pages: HashMap<String, Vec<f64>> = HashMap::new();
        for line in place.read(name).lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let page = pages.entry(fields[url_at].to_owned()).or_default();
            page.extend(fields[url_at + 1].parse::<f64>());
        }
        pages
    };
    let (visits, changes) = (times("visits.csv", 2), times("changes.csv", 1));
    let all = || changes.values().flatten().copied();
    let (begin, end) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
    let counted = begin + (end - begin) / 3.0;
    let mut fresh = 0.0;
    for (url, changes) in &changes {
        let mut cuts: Vec<f64> = visits[url].iter().chain(changes).copied().collect();
        cuts.extend([counted, end]);
        cuts.retain(|cut| (counted..=end).contains(cut));
        cuts.sort_by(f64::total_cmp);
        for piece in cuts.windows(2) {
            let middle = f64::midpoint(piece[0], piece[1]);
            let last = visits[url].iter().copied().filter(|visit| *visit <= middle);
            let last = last.fold(f64::MIN, f64::max);
            let is_stale = changes
                .iter()
                .any(|change| *change > last && *change <= middle);
            fresh += if is_stale { 0.0 } else { piece[1] - piece[0] };
        }
    }
    let fresh = fresh / (end - counted) / changes.len() as f64;
    let told = rows(&done.out)[0]["freshness"].as_f64().unwrap();
    assert!((fresh - told).abs() < 1e-6, "{fresh} {told}");
}

#[test]
fn a_model_web_is_drawn_and_printed_as_a_table() {
    let place = Workplace::new();
    let done = place.geomi(&[
        "refresh", "simulate", "--web", "flat", "--policy", "static", "--budget", "0.2",
        "--trials", "2", "--format", "csv",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.out);
    assert!(lines[0].starts_with("web,budget,policy,freshness"));
    assert!(
        lines[1].starts_with("flat,0.2,static,0.4") || lines[1].starts_with("flat,0.2,static,0.5")
    );
}

#[test]
fn what_is_wrong_is_told_all_at_once() {
    let place = Workplace::new();
    let done = place.geomi(&[
        "refresh", "simulate", "--web", "spider", "--policy", "best", "--budget", "0",
    ]);
    done.fails(
        2,
        &[
            "no model web \"spider\"",
            "no policy \"best\"",
            "visits a page a day",
        ],
    );
    place.write("bad.csv", "url,time\nhttp://a/,yesterday\n");
    let done = place.geomi(&["refresh", "simulate", "--history", "bad.csv"]);
    done.fails(2, &["bad.csv: line 2", "RFC 3339"]);
    place.write(
        "short.csv",
        "url,time\nhttp://a/,1700000000\nhttp://a/,1700003600\n",
    );
    let done = place.geomi(&["refresh", "simulate", "--history", "short.csv"]);
    done.fails(2, &["short.csv", "1.0 hours apart"]);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_the_work() {
    let place = Workplace::new();
    place.write("old.csv", "what was there");
    let simulate = |more: &[&str]| {
        let words = ["refresh", "simulate", "--web", "flat", "--no-match"];
        let words = [&words[..], &["--policy", "static", "--trials", "1"], more].concat();
        place.geomi(&words)
    };
    let done = simulate(&["--visits-out", "old.csv", "--html", "nowhere/out.html"]);
    done.fails(1, &["cannot write nowhere/out.html"]);
    assert!(!done.err.contains("simulating"), "{done:#?}");
    simulate(&["--visits-out", "old.csv", "--html", "old.csv"]).fails(2, &["both name old.csv"]);
    simulate(&["--visits-out", "old.csv", "--budget", "0"]).fails(2, &["--budget 0"]);
    assert_eq!(place.read("old.csv"), "what was there");
    let done = simulate(&["--changes-out", "old.csv"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(place.read("old.csv").starts_with("trial,url,time,weight\n"));
}

#[test]
fn the_papers_figures_are_printed_beside_what_follows() {
    let place = Workplace::new();
    let done = place.geomi(&["papers"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    for words in [
        "0.9638",
        "0.7426",
        "791.6",
        "66.0 %",
        "34.0 %",
        "1424",
        "2nd Sat 00:00  u13",
    ] {
        assert!(done.out.contains(words), "no {words:?} in\n{}", done.out);
    }
    let json = place.geomi(&["papers", "--format", "json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["refresh_table_3_5"].as_array().unwrap().len(), 10);
}

#[test]
fn planning_is_measured() {
    let place = Workplace::new();
    let done = place.geomi(&[
        "bench",
        "refresh",
        "--pages",
        "2000",
        "--decisions",
        "500",
        "--format",
        "json",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let value: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(value["decisions"], 500);
    assert!(value["peak_rss_bytes"].as_u64().unwrap() > 0);
}
