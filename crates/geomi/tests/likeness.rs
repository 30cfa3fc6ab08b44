//! Mirrors, near-duplicates, soft 404s and spam, as `geomi report` and `geomi
//! explain` tell them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Workplace;
use geomi_testweb::{FixedPage, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec};
use serde_json::{Value, json};

fn prose(seed: usize) -> String {
    let word = |at: usize| format!("word{}x ", (seed * 131 + at * at) * 7_919 % 4_999);
    (0..200).map(word).collect()
}

/// A page whose title, links and text are those of spam.
fn spam() -> String {
    let link = |at| format!("<a href='http://else{at}.test/'>pills</a> ");
    let links: String = (0..60).map(link).collect();
    let title = "<title>pills, cheap pills, buy pills, best pills</title>";
    format!("{title}{}{links}", "cheap pills ".repeat(99))
}

/// Pages with something to tell.
fn pages() -> Vec<(String, String)> {
    let mut pages = vec![
        ("/spam".to_owned(), spam()),
        (
            "/gone".to_owned(),
            "<title>404 Not Found</title>".to_owned(),
        ),
        ("/first".to_owned(), prose(90)),
        ("/second".to_owned(), format!("{} 17", prose(90))),
    ];
    pages.extend((0..8).map(|at| (format!("/p{at}"), prose(at))));
    let link = |(path, _): &(String, String)| format!("<a href={path}>x</a> ");
    pages.push(("/".to_owned(), pages.iter().map(link).collect()));
    pages
}

/// Two sites with the same pages.
fn serve() -> ServerThread {
    let mut spec = WebSpec::plain(2, 1);
    let fixed = pages().into_iter();
    let fixed = fixed.map(|(path, body)| (path, FixedPage::html(body)));
    let site = SiteBehaviour {
        fixed: fixed.collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site.clone()), (1, site)];
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

fn crawl(place: &Workplace, seeds: &[&str], more: &[&str]) {
    let words = ["crawl", "-o", "out", "--no-progress", "--site-delay", "0s"];
    // One at a time: which page of two comes first is what the tests are about.
    let done = place.geomi(&[&words[..], &["-c", "1"], seeds, more].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
}

fn report(place: &Workplace) -> Value {
    let sections = "mirrors,near_duplicates,soft_404s,spam,robots";
    let done = place.geomi(&["report", "out", "--section", sections, "--format", "json"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

fn explain(place: &Workplace, what: &str) -> Value {
    let done = place.geomi(&["explain", "out", what, "--format", "json"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn what_pages_are_like_is_reported_and_explained() {
    let (server, place) = (serve(), Workplace::new());
    let seed = server.seeds()[0].clone();
    crawl(&place, &[seed.as_str()], &[]);
    let at = |path: &str| seed.join(path).unwrap().to_string();

    let report = report(&place);
    assert_eq!(report["mirrors"]["rows"], json!([]));
    let near = &report["near_duplicates"];
    assert_eq!(near["near_duplicates"], 1);
    assert_eq!(near["rows"][0]["url"], at("/second"));
    assert_eq!(near["rows"][0]["near_to"], at("/first"));
    let soft = &report["soft_404s"];
    assert_eq!(soft["soft_404s"], 1);
    let expected = json!([{"url": at("/gone"), "title": "404 Not Found"}]);
    assert_eq!(soft["rows"], expected);
    let spam = &report["spam"];
    assert_eq!(spam["scored"], 13);
    assert_eq!(spam["percent_40_or_more"], 1);
    assert_eq!(spam["rows"][0]["url"], at("/spam"));

    let told = explain(&place, &at("/second"))["url"]["likeness"].clone();
    assert_eq!(told["near_to"], at("/first"));
    assert_eq!(told["soft_404"], false);
    let told = explain(&place, &at("/spam"))["url"]["likeness"].clone();
    let parts = told["spam_parts"].as_object().unwrap();
    let sum: u64 = parts.values().map(|points| points.as_u64().unwrap()).sum();
    assert_eq!(told["spam_percent"], sum, "{told}");
    assert!(parts.contains_key("title_repeats"), "{told}");
    let words = place.geomi(&["explain", "out", &at("/gone")]).out;
    assert!(words.contains("soft 404"), "{words}");
}

#[test]
fn mirrors_are_reported_explained_and_by_rule_refused() {
    let (server, place) = (serve(), Workplace::new());
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    crawl(&place, &seeds, &["--set", "scope.skip_mirrors=true"]);
    let report = report(&place);
    let rows = report["mirrors"]["rows"].as_array().unwrap();
    let [row] = &rows[..] else {
        panic!("{report}");
    };
    assert!(row["pages_agreeing"].as_u64() >= Some(5), "{row}");
    let refusals = report["robots"]["rows"].as_array().unwrap();
    assert!(
        refusals.iter().any(|row| row["refusal"] == "mirror"),
        "{report}"
    );
    let site = row["site"].as_str().unwrap();
    let mirror = explain(&place, site)["site"]["mirror"].clone();
    assert_eq!(mirror["of"], row["mirror_of"]);
    assert_eq!(mirror["pages_agreeing"], row["pages_agreeing"]);
    let words = place.geomi(&["explain", "out", site]).out;
    assert!(words.contains("mirror"), "{words}");
}
