//! Budgets of sites and groups through the whole crawler: real sockets, and days that
//! pass in seconds.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use common::{START, Workplace, serve_fast};
use geomi_model::Timestamp;
use geomi_testweb::{ChangeMix, PageBytes, RateLaw, ServerThread, WebSpec};

/// Seconds of the web a second: a day in six.
const SPEED: u32 = 14_400;
const SITES: u32 = 4;
const PAGES: u32 = 12;
const FLAGS: [&str; 8] = [
    "--config",
    "limits.toml",
    "--site-delay",
    "10s",
    "--time-scale",
    "14400",
    "--no-progress",
    "--quiet",
];

fn changing_web() -> ServerThread {
    let mut spec = WebSpec::plain(SITES, PAGES);
    spec.page_bytes = PageBytes::of_mean(2_000);
    spec.links_per_page = 12;
    spec.traits.changes = ChangeMix {
        never: 0.0,
        rate: RateLaw::Bands(vec![(1.0, 14.0, 60.0)]),
        profiles: [1.0, 0.0, 0.0],
    };
    serve_fast(spec, SPEED)
}

/// The sites as they are named in a configuration.
fn names(server: &ServerThread) -> Vec<String> {
    let seeds = server.seeds();
    let name = |seed: &geomi_url::CrawlUrl| seed.site().to_string();
    seeds.iter().map(name).collect()
}

/// When the pages of a site were asked for, in days of the web.
fn times(server: &ServerThread, site: usize, from: f64) -> Vec<f64> {
    let host = server.seeds()[site].host().to_owned();
    let entries = server.log().entries();
    let pages = entries
        .iter()
        .filter(|entry| entry.host == host && entry.target != "/robots.txt");
    let time = |at: Timestamp| at.since(START).as_secs_f64() / 86_400.0;
    let mut times: Vec<f64> = pages
        .map(|entry| time(server.web_time_at(entry.arrived)))
        .filter(|time| *time > from)
        .collect();
    times.sort_by(f64::total_cmp);
    times
}

fn most_in_a_day(times: &[f64]) -> usize {
    let within = |from: f64| {
        let in_day = times
            .iter()
            .filter(|time| (from..from + 1.0).contains(*time));
        in_day.count()
    };
    times.iter().map(|from| within(*from)).max().unwrap_or(0)
}

fn json(place: &Workplace, words: &[&str]) -> serde_json::Value {
    let more = ["--config", "limits.toml", "--format", "json"];
    let done = place.geomi(&[words, &more].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn sites_and_groups_keep_their_budgets_and_others_get_the_rest() {
    let (place, server) = (Workplace::new(), changing_web());
    let names = names(&server);
    let limits = format!(
        "[[site]]\nmatch = \"{}\"\nrefresh_per_day = 8\n\n\
         [[site]]\nmatch = [\"{}\", \"{}\"]\nrefresh_group_per_day = 24\n",
        names[0], names[1], names[2]
    );
    place.write("limits.toml", &limits);
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let words = ["crawl", "--seeds", "seeds.txt", "-o", "c"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let begun = server.web_time().since(START).as_secs_f64() / 86_400.0;
    let words = ["refresh", "run", "c", "--requests-per-day", "96"];
    let done = place.geomi(&[&words[..], &["--max-time", "5d"], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");

    let of = |site| times(&server, site, begun);
    let mut group = of(1);
    group.extend(of(2));
    group.sort_by(f64::total_cmp);
    // A request reaches the server some minutes of its time after it was planned.
    let (most, all) = (most_in_a_day(&of(0)), of(0).len());
    assert!(most <= 9 && (32..=40).contains(&all), "{most} {all}");
    let (most, all) = (most_in_a_day(&group), group.len());
    assert!(most <= 26 && (100..=120).contains(&all), "{most} {all}");
    // Without budgets it would have had a quarter: 24 a day.
    assert!(of(3).len() >= 5 * 48, "{}", of(3).len());

    let budget = ["--requests-per-day", "96"];
    let url = &seeds[0];
    let told = json(
        &place,
        &[&["refresh", "explain", "c", url][..], &budget].concat(),
    );
    assert_eq!(told["held_by"]["name"], names[0].as_str(), "{told:#}");
    assert_eq!(told["held_by"]["requests_per_day"], 8.0, "{told:#}");
    assert!(told["why"].as_str().unwrap().contains("budget of site"));
    let free = json(
        &place,
        &[&["refresh", "explain", "c", &seeds[3]][..], &budget].concat(),
    );
    assert!(free["held_by"].is_null(), "{free:#}");
    let report = json(&place, &[&["refresh", "report", "c"][..], &budget].concat());
    let rows = report["budgets"].as_array().unwrap();
    let row = |kind: &str| rows.iter().find(|row| row["kind"] == kind).unwrap();
    assert_eq!(rows.len(), 2, "{report:#}");
    assert_eq!(row("site")["spent"], of(0).len(), "{report:#}");
    assert_eq!(row("group")["spent"], group.len(), "{report:#}");
    let plan = json(&place, &[&["refresh", "plan", "c"][..], &budget].concat());
    let mut rows = plan["budgets"].as_array().unwrap().iter();
    let row = rows.find(|row| row["kind"] == "site").unwrap();
    let planned = row["planned"].as_u64().unwrap();
    assert!((30..=56).contains(&planned), "{planned} of 56");
    let hourly = ["--set", "refresh.requests_per_hour=5"];
    let words = [&["refresh", "plan", "c"][..], &budget, &hourly].concat();
    let plan = json(&place, &words);
    let slots = plan["slots"].as_array().unwrap().iter();
    let most = slots.map(|slot| slot["urls"].as_array().unwrap().len());
    // An hour of the table may begin within an hour of the budget.
    assert!((3..=10).contains(&most.max().unwrap()), "{plan:#}");
}

#[test]
fn budgets_change_while_a_plan_runs() {
    let (place, server) = (Workplace::new(), changing_web());
    place.write("limits.toml", "[refresh]\nrequests_per_hour = 500\n");
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let words = ["crawl", "--seeds", "seeds.txt", "-o", "c"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let words = ["refresh", "run", "c", "--budget", "8", "--format", "jsonl"];
    let mut run = place
        .command(&[&words[..], &FLAGS].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().take(20).all(|line| line.is_ok()));

    let name = &names(&server)[0];
    let own = format!("site.{name}.refresh_per_day=3");
    let set = [
        "set",
        "c",
        &own,
        "refresh.requests_per_day=40",
        "refresh.longest_gap=30d",
    ];
    let done = place.geomi(&set);
    assert_eq!(done.code, Some(0), "{done:#?}");
    place
        .geomi(&["set", "c", "refresh.policy=greedy"])
        .fails(2, &["refresh.policy cannot change while"]);
    let changed = server.web_time().since(START).as_secs_f64() / 86_400.0;
    assert!(lines.by_ref().take(120).all(|line| line.is_ok()));
    let ended = server.web_time().since(START).as_secs_f64() / 86_400.0;
    assert_eq!(place.geomi(&["stop", "c"]).code, Some(0));
    // Whatever is still said is read, so that the run can end.
    assert!(lines.all(|line| line.is_ok()));
    run.wait().unwrap();

    assert!(
        ended - changed > 2.0,
        "120 visits take three days: {changed} {ended}"
    );
    // Those that had been queued before come on top.
    let after = times(&server, 0, changed + 0.2);
    assert!(most_in_a_day(&after) <= 4, "{after:?}");
    let kept = place.read("c/geomi.toml");
    assert!(kept.contains("refresh_per_day = 3"), "{kept}");
    assert!(kept.contains("requests_per_day = 40"), "{kept}");
}
