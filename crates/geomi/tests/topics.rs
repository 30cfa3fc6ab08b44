//! The topic of a seed, from the list it stands in to everything that comes of
//! it, and into the next crawl.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;

use common::Workplace;
use geomi_store::{CrawlDir, seeds, segment, visits};
use geomi_testweb::{FixedPage, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec};

const TOPIC: &str = "문화 & news";

/// Two sites that link to each other; `/go` of the first leads to its root.
fn serve() -> ServerThread {
    let mut spec = WebSpec::plain(2, 8);
    let fixed = vec![("/go".to_owned(), FixedPage::redirect(301, "/"))];
    spec.site_overrides = vec![(
        0,
        SiteBehaviour {
            fixed: fixed.into_iter().collect(),
            ..SiteBehaviour::default()
        },
    )];
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

/// Topics in the rows of visits/, by how many have each; robots.txt belongs to
/// no seed.
fn topics_of_visits(dir: &CrawlDir) -> BTreeMap<Option<String>, usize> {
    let mut topics = BTreeMap::new();
    for segment in segment::list(dir).unwrap() {
        for visit in visits::read_visits(&segment.table(dir)).unwrap() {
            let visit = visit.unwrap();
            if !visit.is_robots {
                *topics.entry(visit.topic).or_default() += 1;
            }
        }
    }
    topics
}

#[test]
fn a_topic_is_kept_by_all_that_comes_of_its_seed() {
    let (place, server) = (Workplace::new(), serve());
    let seed = server.web().url(0, "/go").to_string();
    let found = server.web().url(1, "/").to_string();
    place.write("seeds.txt", &format!("# topics\n{seed}\t{TOPIC}\n"));
    let crawl = |list: &str, out: &str| {
        let words = ["crawl", "--seeds", list, "-o", out, "--scope", "party"];
        let quick = ["--site-delay", "0s", "--allow-private", "all", "-q"];
        let done = place.geomi(&[&words[..], &quick].concat());
        assert_eq!(done.code, Some(0), "{done:#?}");
    };
    crawl("seeds.txt", "first");
    let dir = CrawlDir::new(place.path("first"));

    // The redirect, sixteen pages of both sites, and nothing without a topic.
    let all = BTreeMap::from([(Some(TOPIC.to_owned()), 17)]);
    assert_eq!(topics_of_visits(&dir), all);
    for line in place.read("first/log.jsonl").lines() {
        let visit: serde_json::Value = serde_json::from_str(line).unwrap();
        let is_robots = visit["url"].as_str().unwrap().ends_with("/robots.txt");
        assert!(is_robots || visit["topic"] == TOPIC, "{line}");
    }
    let rows = seeds::read_seeds(&dir.seeds_table()).unwrap();
    let rows: Vec<_> = rows.map(Result::unwrap).collect();
    let urls: Vec<&str> = rows.iter().map(|row| row.url.as_str()).collect();
    assert_eq!(urls, [&*seed, &*found], "given and found");
    assert!(rows.iter().all(|row| row.topic.as_deref() == Some(TOPIC)));
    let list = place.read("first/seeds-out.txt");
    assert_eq!(list, format!("{seed}\t{TOPIC}\n{found}\t{TOPIC}\n"));

    // The output list is the next input.
    crawl("first/seeds-out.txt", "second");
    assert_eq!(
        topics_of_visits(&CrawlDir::new(place.path("second"))),
        all,
        "also from the list that was written"
    );
    // The sites link to each other, so that a root may be found as well.
    let again = place.read("second/seeds-out.txt");
    assert!(again.starts_with(&list), "{again}");
    assert!(
        again
            .lines()
            .all(|line| line.ends_with(&format!("\t{TOPIC}")))
    );
}

#[test]
fn a_topic_given_to_a_crawl_that_has_begun_is_taken_up() {
    let (place, server) = (Workplace::new(), serve());
    let seed = server.web().url(0, "/").to_string();
    let crawl = |line: &str| {
        place.write("seeds.txt", line);
        let words = ["crawl", "--seeds", "seeds.txt", "-o", "out", "-q"];
        let done = place.geomi(&[&words[..], &["--site-delay", "0s"]].concat());
        assert_eq!(done.code, Some(0), "{done:#?}");
        place.read("out/seeds-out.txt")
    };
    assert_eq!(crawl(&seed), format!("{seed}\n"));
    assert_eq!(crawl(&format!("{seed}\tart")), format!("{seed}\tart\n"));
    assert_eq!(crawl(&seed), format!("{seed}\tart\n"), "and not lost again");
}
