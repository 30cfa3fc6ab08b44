//! The Web Platform Tests' URL cases, which lie beside the project where it is
//! developed and are not part of it.
//!
//! A `CrawlUrl` keeps less than a URL has: no fragment, no credentials, `http` and
//! `https` only, one spelling of escapes. So a case holds if what we make of its
//! input is what we make of its expected `href`, and if we refuse what must be
//! refused. What differs is listed below, one by one.

#[path = "../../../tests/conformance_data.rs"]
mod conformance_data;

use std::process::Command;

use conformance_data::conformance_data;
use geomi_url::{CrawlUrl, UrlError};
use serde_json::Value;
use url::Url;

/// Cases that differ from the standard: input, base, reason.
const DIFFERENT: [(&str, Option<&str>, &str); 3] = [
    (
        "http://foo.09..",
        None,
        "trailing dots are dropped, and what is left ends in a number that is none",
    ),
    (
        "http://./",
        None,
        "trailing dots are dropped, and no host is left to ask",
    ),
    (
        "http://../",
        None,
        "trailing dots are dropped, and no host is left to ask",
    ),
];

#[test]
fn web_platform_url_tests() {
    let Some(file) = conformance_data("web_platform_url_tests", "url/urltestdata.json") else {
        return;
    };
    let json = std::fs::read_to_string(&file).expect("the tests can be read");
    let cases: Vec<Value> = serde_json::from_str(&json).expect("the tests are JSON");
    let mut failed = Vec::new();
    let mut different = 0;
    let mut passed = 0;
    for case in cases.iter().filter(|case| case.is_object()) {
        let input = case["input"].as_str().expect("a case has an input");
        let base = case["base"].as_str();
        let outcome = check(case, input, base);
        let is_listed = DIFFERENT.iter().any(|(i, b, _)| (*i, *b) == (input, base));
        match (outcome, is_listed) {
            (Ok(()), false) => passed += 1,
            (Err(_), true) => different += 1,
            (Ok(()), true) => failed.push(format!("{input:?} on {base:?} holds but is listed")),
            (Err(difference), false) => {
                failed.push(format!("{input:?} on {base:?}: {difference}"));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert_eq!(different, DIFFERENT.len());
    assert!(passed > 700, "only {passed} cases ran");
}

#[test]
fn without_its_data_a_test_is_skipped_and_says_so() {
    let run = |data: &str| {
        let tests = std::env::current_exe().expect("this program has a path");
        let mut command = Command::new(tests);
        command.args(["--exact", "web_platform_url_tests"]);
        let done = command.env("GEOMI_CONFORMANCE", data).output();
        String::from_utf8(done.expect("it can be run").stderr).expect("it is text")
    };
    assert_eq!(
        run("/nowhere"),
        "\nskipped: web_platform_url_tests: no data at /nowhere/url/urltestdata.json\n"
    );
}

/// What a reader of pages does with a reference: joined to the page's address
/// where that is one of ours, parsed with the base otherwise.
fn resolve(input: &str, base: Option<&str>) -> Result<CrawlUrl, UrlError> {
    match base {
        None => CrawlUrl::parse(input),
        Some(base) => match CrawlUrl::parse(base) {
            // The rules we add to the standard must not change what is joined.
            Ok(page) if !base.contains(['#', '@', '?']) => page.join(input),
            _ => CrawlUrl::from_url(&Url::parse(base)?.join(input)?),
        },
    }
}

fn check(case: &Value, input: &str, base: Option<&str>) -> Result<(), String> {
    let found = resolve(input, base);
    let Some(href) = case["href"].as_str() else {
        return match found {
            Ok(url) => Err(format!("found {url}, expected a failure")),
            Err(_) => Ok(()),
        };
    };
    let is_ours = href.starts_with("http://") || href.starts_with("https://");
    match (found, is_ours) {
        (Err(UrlError::Scheme(_)), false) => Ok(()),
        (Err(error), false) => Err(format!("{error}, expected a scheme that is not ours")),
        (Ok(url), false) => Err(format!("found {url}, expected {href}")),
        (Err(error), true) => Err(format!("{error}, expected {href}")),
        (Ok(url), true) => same(&url, href, case),
    }
}

/// Spelled like the expected address, on its host and port.
fn same(url: &CrawlUrl, href: &str, case: &Value) -> Result<(), String> {
    let host = case["hostname"].as_str().unwrap_or_default();
    let port = match case["port"].as_str() {
        None | Some("") => None,
        Some(port) => port.parse::<u16>().ok(),
    };
    let default_port = if href.starts_with("https") { 443 } else { 80 };
    let expected = CrawlUrl::parse(href).map_err(|error| format!("{href}: {error}"))?;
    let host = host.trim_end_matches('.');
    if *url == expected && url.host() == host && url.port() == port.unwrap_or(default_port) {
        Ok(())
    } else {
        Err(format!("found {url}, expected {href}"))
    }
}
