//! `geomi refresh run` through the whole crawler: real sockets, pages that change
//! by processes that are known, and days that pass in seconds.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "../common/mod.rs"]
mod common;
mod edits;
mod live;
mod made;
mod never_fetched;
mod signals;
mod tables;
mod told;
mod truth;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use common::{START, Workplace, serve_fast};
use geomi_model::Timestamp;
use geomi_refresh::{Group, Grouping};
use geomi_store::visits::read_visits;
use geomi_store::{CrawlDir, segment};
use geomi_testweb::{ChangeMix, PageBytes, PageId, RateLaw, ServerThread, WebSpec};
use tables::every_hour;

/// Seconds of the web a second: a day in three.
const SPEED: u32 = 28_800;
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
    spec.page_bytes = PageBytes::of_mean(4_000);
    spec.links_per_page = 12;
    spec.traits.validators = 0.6;
    spec.traits.changes = ChangeMix {
        never: 0.1,
        rate: RateLaw::Bands(vec![(2.0, 14.0, 28.0), (3.0, 3.0, 10.0), (4.0, 0.3, 2.0)]),
        profiles: [1.0, 0.0, 0.0],
    };
    serve_fast(spec, SPEED)
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

fn json(place: &Workplace, words: &[&str]) -> serde_json::Value {
    let done = place.geomi(&[words, &["--format", "json"]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

/// Requests for pages that were answered.
fn answered(server: &ServerThread) -> u64 {
    copies(server)
        .values()
        .map(|times| times.len() as u64)
        .sum()
}

/// The visits of each page, by URL, as the plan reads them.
fn visits(place: &Workplace) -> HashMap<String, u64> {
    let estimate = json(place, &["refresh", "estimate", "c", "--top", "0"]);
    let rows = estimate["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let name = row["name"].as_str().unwrap().to_owned();
        (name, row["visits"].as_u64().unwrap())
    })
    .collect()
}

#[test]
fn a_run_that_is_killed_loses_no_history_and_goes_on() {
    let (place, server) = (Workplace::new(), changing_web(5));
    first_crawl(&place, &server, 25);
    let words = ["refresh", "run", "c", "--budget", "4", "--format", "jsonl"];
    let mut run = place
        .command(&[&words[..], &FLAGS].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut told: HashMap<String, u64> = HashMap::new();
    for line in lines.take(150) {
        let visit: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let url = visit["url"].as_str().unwrap();
        if !url.ends_with("/robots.txt") {
            *told.entry(url.to_owned()).or_default() += 1;
        }
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let asked = answered(&server);

    // By the same fast clock: by another one the sites were asked days from now.
    let done = place.geomi(&[&["refresh", "run", "c", "--once"], &FLAGS[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let read = visits(&place);
    for (url, count) in &told {
        assert!(
            read[url] > *count,
            "{url}: {} of {count} and the first",
            read[url]
        );
    }
    let kept: u64 = read.values().sum();
    let (least, most) = (asked.min(answered(&server)) - 10, answered(&server));
    assert!((least..=most).contains(&kept), "{least} {kept} {most}");
    assert_eq!(place.geomi(&["verify", "c"]).code, Some(0));
}

#[test]
fn the_plan_is_told_and_an_edited_one_is_followed() {
    let (place, server) = (Workplace::new(), changing_web(4));
    first_crawl(&place, &server, 20);
    let once = json(&place, &["refresh", "report", "c", "--html", "once.html"]);
    assert!(once["load_ratio"].is_null(), "{once:#}");
    let page = place.read("once.html");
    assert!(page.contains("No page has been visited again"), "{page}");
    assert_eq!(page.matches("<svg").count(), 2);
    let run = |more: &[&str]| {
        let words = ["refresh", "run", "c", "--max-time", "6d"];
        let done = place.geomi(&[&words[..], more, &FLAGS].concat());
        assert_eq!(done.code, Some(4), "{done:#?}");
        done.err
    };
    run(&["--budget", "2", "--policy", "greedy"]);

    let report = json(
        &place,
        &[
            "refresh", "report", "c", "--budget", "2", "--html", "r.html",
        ],
    );
    assert_eq!(report["pages"], 20);
    let fresh = report["freshness"].as_f64().unwrap();
    assert!((0.05..=1.0).contains(&fresh), "{report:#}");
    assert!(
        report["visits"]["changed"].as_u64().unwrap() > 10,
        "{report:#}"
    );
    assert!(
        report["visits"]["unchanged"].as_u64().unwrap() > 5,
        "{report:#}"
    );
    the_page_of_the_report_is_whole(&place.read("r.html"));
    requests_are_revisits(&report, 20);
    kinds_have_rates(&report);

    let url = server.seeds()[1].to_string();
    let told = json(&place, &["refresh", "explain", "c", &url, "--budget", "2"]);
    assert!(told["due"].as_str() > told["last"].as_str(), "{told:#}");
    assert!(told["low"].as_f64() < told["high"].as_f64(), "{told:#}");
    assert!(told["trust"].is_number(), "{told:#}");
    assert!(told["visits"].as_array().unwrap().len() > 2, "{told:#}");
    let sites = json(&place, &["refresh", "estimate", "c", "--by", "site"]);
    assert_eq!(sites["rows"].as_array().unwrap().len(), 5);
    rates_beside_rules_of_thumb(&place, &url);
    // What the crawl saw is a history that policies can be tried on.
    let simulate = ["refresh", "simulate", "--history", "c"];
    let tried = json(&place, &[&simulate[..], &["--policy", "static"]].concat());
    let fresh = tried["rows"][0]["freshness"].as_f64().unwrap();
    assert!(fresh > 0.0 && fresh < 1.0, "{tried:#}");

    let plan = ["refresh", "plan", "c", "--budget", "2", "-o", "week.csv"];
    assert_eq!(place.geomi(&plan).code, Some(0));
    let table = place.read("week.csv");
    let week = table.lines().count() - 1;
    assert!((140..=420).contains(&week), "{week} visits of 280");

    groups_have_their_own_table(&place);

    an_edited_table_is_followed(&place, &url, &run);
}

fn the_page_of_the_report_is_whole(page: &str) {
    assert_eq!(page.matches("<svg").count(), 4);
    for heading in [
        "Freshness over time (estimated)",
        "Mean age over time (estimated)",
        "Visits by what they found",
        "Requests a day against the budget",
        "When changes were found, by day and hour (UTC)",
        "Change by domain",
        "Change by depth",
        "Change by link type",
        "Predicted against seen",
    ] {
        let heading = format!("<h2>{heading}</h2>");
        assert!(page.contains(&heading), "no {heading}");
    }
    for words in [
        "mean age, hours",
        "no visit",
        "budget: 40.0 a day",
        "success after success (SS) ",
        "<th>naive",
        "prefers-color-scheme",
    ] {
        assert!(page.contains(words), "no {words}");
    }
}

/// Edited: one page every hour, and nothing else.
fn an_edited_table_is_followed(place: &Workplace, url: &str, run: &dyn Fn(&[&str]) -> String) {
    // As a spreadsheet writes it, with a page that the crawl does not have.
    let mut edited = String::from("\u{feff}Day,Hour,URL\r\nMon,9,http://a.test/new\r\n");
    edited += &every_hour(&[url]);
    place.write("edited.csv", &edited);
    let before = visits(place);
    let told = run(&["--schedule", "edited.csv"]);
    let words = "warning: edited.csv names 1 URL of which the crawl has no copy";
    assert!(told.contains(words), "{told}");
    // Who starts it again need not be in this folder.
    let status: serde_json::Value = serde_json::from_str(&place.read("c/status.json")).unwrap();
    let table = place.path("edited.csv").display().to_string();
    assert_eq!(status["refresh"]["table"], table, "{status:#}");
    for (page, count) in visits(place) {
        let more = count - before[&page];
        // One may have been waiting when the run before it ended.
        let wanted = if page == url { 100..=146 } else { 0..=1 };
        assert!(wanted.contains(&more), "{page}: {more}");
    }
}

/// REFRESH's table: as many visits as the group of each page says, at its hours.
fn groups_have_their_own_table(place: &Workplace) {
    let plan = ["refresh", "plan", "c", "--policy", "group6"];
    let told = json(place, &plan);
    let mut visits: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
    for slot in told["slots"].as_array().unwrap() {
        let (day, hour) = (
            slot["day"].as_str().unwrap(),
            slot["hour"].as_u64().unwrap(),
        );
        for url in slot["urls"].as_array().unwrap() {
            visits
                .entry(url.as_str().unwrap())
                .or_default()
                .push((day, hour));
        }
    }
    let rates = json(place, &["refresh", "estimate", "c", "--top", "0"]);
    let mut needs = 0.0;
    for row in rates["rows"].as_array().unwrap() {
        let group = Grouping::Six.of(row["rate"].as_f64().unwrap() * 7.0);
        needs += group.visits_a_week() / 7.0;
        let found = visits.get(row["name"].as_str().unwrap());
        let found = found.map_or(&[][..], Vec::as_slice);
        let days: Vec<&str> = found.iter().map(|(day, _)| *day).collect();
        match group {
            Group::AWeek(1) => assert_eq!(found, [("Saturday", 12)]),
            Group::AWeek(3) => assert_eq!(days, ["Monday", "Wednesday", "Friday"]),
            Group::AWeek(count) => assert_eq!(found.len(), usize::from(count), "{row}"),
            Group::Weeks(_) => assert!(found.is_empty() || found == [("Saturday", 0)]),
        }
        assert!(
            found.iter().all(|(_, hour)| [0, 12].contains(hour)),
            "{row}"
        );
    }
    let told_needs = told["groups_need_per_day"].as_f64().unwrap();
    assert!((told_needs - needs).abs() < 1e-6, "{told_needs} {needs}");
    let human = place.geomi(&plan).out;
    assert!(human.contains("visits in an ordinary week"), "{human}");
    let done = place.geomi(&[&plan[..], &["-o", "groups.csv"]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let others = 20 - visits.len();
    let note = format!("{others} of 20 pages have no row in groups.csv");
    assert_eq!(done.err.contains(&note), others > 0, "{done:#?}");
}

/// What is told of one page, and that the rules of thumb follow from its visits.
fn rates_beside_rules_of_thumb(place: &Workplace, url: &str) {
    let told = json(place, &["refresh", "estimate", "c", url]);
    let visits = json(place, &["refresh", "explain", "c", url])["visits"].clone();
    let visits = visits.as_array().unwrap().iter();
    let compared: Vec<(f64, bool)> = visits
        .filter_map(|visit| match visit["found"].as_str()? {
            "changed" => Some((visit["gap_days"].as_f64()?, true)),
            "same" | "unchanged" => Some((visit["gap_days"].as_f64()?, false)),
            _ => None,
        })
        .collect();
    let n = compared.len() as f64;
    let x = compared.iter().filter(|visit| visit.1).count() as f64;
    let days: f64 = compared.iter().map(|visit| visit.0).sum();
    let number = |name: &str| told[name].as_f64().unwrap();
    let is_close = |name: &str, expected: f64| {
        let found = number(name);
        assert!((found - expected).abs() < 1e-6, "{expected} {told:#}");
    };
    is_close("compared", n);
    is_close("changed", x);
    is_close("naive", x / days);
    is_close("reduced_bias", -((n - x + 0.5) / (n + 0.5)).ln() * n / days);
    assert!((number("low")..=number("high")).contains(&number("rate")));
    if let Some(rate) = told["most_likely"].as_f64().filter(|rate| *rate > 0.0) {
        // At the most likely rate, changes and time without them balance.
        let pull = |(gap, changed): &(f64, bool)| match changed {
            true => gap / (rate * gap).exp_m1(),
            false => -gap,
        };
        let balance: f64 = compared.iter().map(pull).sum();
        assert!(balance.abs() < 1e-6 * days, "{balance} {told:#}");
    }
    let human = place.geomi(&["refresh", "estimate", "c", url]).out;
    for words in [
        "rate ",
        "evidence ",
        "naive ",
        "reduced bias ",
        "most likely ",
    ] {
        assert!(human.contains(words), "{human}");
    }
    let csv = place.geomi(&["refresh", "estimate", "c", url, "--format", "csv"]);
    assert_eq!(csv.out.lines().count(), 2, "{csv:#?}");
    let table = place
        .geomi(&["refresh", "estimate", "c", "--format", "csv"])
        .out;
    assert!(
        table
            .lines()
            .next()
            .unwrap()
            .ends_with(",high,naive,reduced_bias,most_likely")
    );
    let pages = json(place, &["refresh", "estimate", "c", "--top", "0"]);
    let mut rows = pages["rows"].as_array().unwrap().iter();
    let own = rows.find(|row| row["name"] == url).unwrap();
    assert_eq!(own["most_likely"], told["most_likely"], "{own:#}");
    let sites = json(place, &["refresh", "estimate", "c", "--by", "site"]);
    let likely = sites["rows"][0]["most_likely"].as_f64().unwrap();
    assert!(
        likely > sites["rows"][0]["naive"].as_f64().unwrap(),
        "what is found after a gap is one change at least: {sites:#}"
    );
    assert!(
        sites["rows"][0]["naive"].as_f64().unwrap() > 0.0,
        "{sites:#}"
    );
}

/// Every page is of one depth, and every revisit is the second of a pair.
fn kinds_have_rates(report: &serde_json::Value) {
    let mut pages = 0;
    for row in report["by_depth"].as_array().unwrap() {
        let number = |name: &str| row[name].as_f64().unwrap();
        pages += row["pages"].as_u64().unwrap();
        assert!(number("low") < number("rate"), "{row:#}");
        assert!(number("rate") < number("high"), "{row:#}");
    }
    assert_eq!(pages, 20, "{report:#}");
    assert_eq!(report["domains"], 1, "{report:#}");
    let revisits = report["requests"].as_u64().unwrap();
    let pairs = ["pairs_after_success", "pairs_after_failure"];
    let pairs = pairs.map(|name| report[name].as_u64().unwrap());
    assert_eq!(pairs[0] + pairs[1], revisits, "{report:#}");
    assert!(report["success_after_success"].as_f64().unwrap() > 0.9);
}

/// The first crawl is no refresh, and what failed was not compared.
fn requests_are_revisits(report: &serde_json::Value, pages: u64) {
    let visits = |kind: &str| report["visits"][kind].as_u64().unwrap();
    let kinds = report["visits"].as_object().unwrap().values();
    let all: u64 = kinds.map(|count| count.as_u64().unwrap()).sum();
    let requests = report["requests"].as_u64().unwrap();
    assert_eq!((visits("first"), requests), (pages, all - pages));
    let days = report["by_day"].as_array().unwrap().iter();
    let by_day: u64 = days.map(|day| day["requests"].as_u64().unwrap()).sum();
    assert_eq!(by_day, requests, "{report:#}");
    let hours = report["comparisons_by_hour"].as_array().unwrap().iter();
    let by_hour = hours.flat_map(|day| day.as_array().unwrap());
    let compared: u64 = by_hour.map(|hour| hour.as_u64().unwrap()).sum();
    let expected = visits("changed") + visits("unchanged") + visits("same");
    assert_eq!(compared, expected, "{report:#}");
    let rate = requests as f64 / report["days"].as_f64().unwrap();
    assert!((report["requests_a_day"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9);
    let share = rate / report["budget_a_day"].as_f64().unwrap();
    assert!((0.5..1.2).contains(&share), "{report:#}");
}

#[test]
fn rounds_take_every_page_and_once_ends() {
    let (place, server) = (Workplace::new(), changing_web(3));
    first_crawl(&place, &server, 15);
    let words = ["refresh", "run", "c", "--mode", "periodic", "--budget", "1"];
    let done = place.geomi(&[&words[..], &["--max-time", "60h"], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
    for (url, count) in visits(&place) {
        assert!((3..=4).contains(&count), "{url}: {count}");
    }
    let asked = answered(&server);
    let done = place.geomi(&[
        "refresh",
        "run",
        "c",
        "--once",
        "--requests-per-day",
        "1",
        "--no-progress",
    ]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(answered(&server) - asked <= 2, "there is hardly a budget");
    the_plan_is_recorded(&place);
}

/// Of a crawl with 15 pages whose last run was told `--requests-per-day 1`.
fn the_plan_is_recorded(place: &Workplace) {
    let budget = |more: &[&str]| {
        let report = json(place, &[&["refresh", "report", "c"], more].concat());
        report["budget_a_day"].as_f64().unwrap()
    };
    assert!((budget(&[]) - 1.0).abs() < 1e-9, "that of the last run");
    assert!((budget(&["--budget", "2"]) - 30.0).abs() < 1e-6);
    assert!(
        (budget(&[]) - 1.0).abs() < 1e-9,
        "who looks records nothing"
    );
    let run = ["refresh", "run", "c", "--once", "--no-progress"];
    let plan = [
        "--budget",
        "0.5",
        "--policy",
        "static",
        "--longest-gap",
        "30d",
    ];
    let done = place.geomi(&[&run[..], &plan].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!((budget(&[]) - 7.5).abs() < 1e-6, "the flag wins");
    let kept = place.read("c/geomi.toml");
    for line in [
        "every = \"2d\"",
        "requests_per_day = \"none\"",
        "policy = \"static\"",
        "longest_gap = \"30d\"",
    ] {
        assert!(kept.contains(line), "no {line} in\n{kept}");
    }
}

#[test]
fn what_cannot_be_meant_is_said() {
    let place = Workplace::new();
    place
        .geomi(&["refresh", "run", "none"])
        .fails(2, &["no crawl in none", "geomi crawl"]);
    place
        .geomi(&["refresh", "estimate", "none"])
        .fails(2, &["no crawl in none"]);
    let server = changing_web(1);
    first_crawl(&place, &server, 5);
    let words = [
        "refresh",
        "run",
        "c",
        "--policy",
        "optimal",
        "--budget",
        "0",
        "--longest-gap",
        "5",
    ];
    place.geomi(&words).fails(
        2,
        &["cannot follow \"optimal\"", "--budget 0", "--longest-gap"],
    );
    let words = ["refresh", "run", "c", "--budget", "-1"];
    place
        .geomi(&words)
        .fails(2, &["--budget -1: give visits a page a day"]);
    for (requests, told) in [
        ("-1", "--requests-per-day -1:"),
        ("0", "--requests-per-day 0:"),
        ("1.5", "a whole number"),
    ] {
        let words = ["refresh", "plan", "c", "--requests-per-day", requests];
        place.geomi(&words).fails(2, &[told, "thousand million"]);
    }
    place.write("bad.csv", "day,hour,url\nSomeday,1,http://a.test/\n");
    let words = ["refresh", "run", "c", "--schedule", "bad.csv"];
    place
        .geomi(&words)
        .fails(2, &["bad.csv: line 2", "Someday"]);
    let words = ["refresh", "plan", "c", "--set", "refresh.longest_gap=1s"];
    place
        .geomi(&words)
        .fails(2, &["1s is too short: give at least 1m"]);
    let words = ["refresh", "explain", "c", "http://127.0.1.1/not-there"];
    place.geomi(&words).fails(2, &["there is no copy"]);
    let words = ["refresh", "estimate", "c", "http://127.0.1.1/not-there"];
    place.geomi(&words).fails(2, &["there is no copy"]);
    let words = [
        "refresh",
        "run",
        "c",
        "--once",
        "--learn",
        "20m",
        "--no-progress",
    ];
    let done = place.geomi(&words);
    for told in [
        "72 times a day",
        "about 360 requests a day for its 5 pages",
        "until it is stopped or --max-time ends it",
    ] {
        assert!(done.err.contains(told), "{done:#?}");
    }
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let place = Workplace::new();
    let check = |words: &[&str]| {
        let done = place.geomi(words);
        done.fails(2, &["cannot be used with"]);
    };
    let learn = ["refresh", "run", "c", "--learn", "20m"];
    for more in [
        ["--policy", "static"],
        ["--mode", "periodic"],
        ["--schedule", "week.csv"],
        ["--budget", "1"],
    ] {
        check(&[&learn[..], &more].concat());
    }
    let schedule = ["refresh", "run", "c", "--schedule", "week.csv"];
    check(&[&schedule[..], &["--mode", "periodic"]].concat());
    let simulate = ["refresh", "simulate", "--history", "h.csv"];
    check(&[&simulate[..], &["--web", "shop"]].concat());
    // A number below nothing is a number.
    place
        .geomi(&["refresh", "simulate", "--budget", "-1"])
        .fails(2, &["--budget -1: give visits a page a day"]);
}
