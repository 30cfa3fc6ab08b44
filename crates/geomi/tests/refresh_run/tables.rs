//! Visits at times that somebody set: a schedule that is edited while a run follows it, and
//! a learning period.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use geomi_testweb::{FixedPage, ServerThread, SiteBehaviour};

use crate::common::Workplace;
use crate::signals::site;
use crate::{first_crawl, visits};

/// A table that has these pages at every hour.
pub(crate) fn every_hour(urls: &[&str]) -> String {
    let mut table = String::from("day,hour,url\n");
    for day in ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] {
        for hour in 0..24 {
            for url in urls {
                writeln!(table, "{day},{hour},{url}").unwrap();
            }
        }
    }
    table
}

/// A site of three pages that never change, and a crawl of them.
fn three_pages() -> (Workplace, ServerThread) {
    let page = |text: &str| FixedPage::html(text.to_owned());
    let behaviour = SiteBehaviour {
        fixed: vec![
            (
                "/".into(),
                page("<a href=/one>one</a> <a href=/two>two</a>"),
            ),
            ("/one".into(), page("<p>The first.")),
            ("/two".into(), page("<p>The second, which is another one.")),
        ],
        ..SiteBehaviour::default()
    };
    let server = site(behaviour);
    let place = Workplace::new();
    first_crawl(&place, &server, 3);
    (place, server)
}

#[test]
fn a_learning_period_asks_for_every_page_as_often_as_it_says() {
    let (place, server) = three_pages();
    let words = ["refresh", "run", "c", "--learn", "20m", "--max-time", "8h"];
    // Twenty minutes in a sixth of a second.
    let flags = [
        "--time-scale",
        "7200",
        "--site-delay",
        "10s",
        "--no-progress",
    ];
    let done = place.geomi(&[&words[..], &flags].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
    let warning = "warning: --learn asks for every page 72 times a day, 504 times what one visit a week costs: about 216 requests a day for its 3 pages";
    assert!(done.err.contains(warning), "{}", done.err);
    let seed = server.seeds()[0].to_string();
    let found = visits(&place);
    for path in ["", "one", "two"] {
        // Three an hour and the first, or fewer on a machine that has other things to do.
        let visits = found[&format!("{seed}{path}")];
        assert!((17..=26).contains(&visits), "{visits} of /{path}");
    }
}

#[test]
fn a_schedule_that_is_edited_is_followed_by_the_run_under_way() {
    let (place, server) = three_pages();
    let seed = server.seeds()[0].to_string();
    let [one, two] = ["one", "two"].map(|path| format!("{seed}{path}"));

    place.write("week.csv", &every_hour(&[&one]));
    let words = ["refresh", "run", "c", "--schedule", "week.csv"];
    let flags = ["--time-scale", "28800", "--site-delay", "10s"];
    let told = ["--no-progress", "--format", "jsonl"];
    let mut run = place
        .command(&[&words[..], &flags, &told].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut visited = lines.map_while(|line| {
        let visit: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        visit["url"].as_str().map(str::to_owned)
    });
    let mut next_of = |page: &String| {
        let mut visited = visited.by_ref().take(500);
        assert!(visited.any(|url| url == *page), "no visit of {page}");
    };
    next_of(&one);
    // A wrong line: it goes on by what it had, for some seconds in which it reads the file.
    place.write("week.csv", "Someday,9,http://a.test/\n");
    for _ in 0..20 {
        next_of(&one);
    }
    place.write("week.csv", &every_hour(&[&two]));
    next_of(&two);
    let later: Vec<String> = visited.by_ref().take(8).collect();
    let others = later.iter().filter(|url| **url != two).count();
    // The other page may have been queued for that hour.
    assert!(later.len() == 8 && others <= 1, "{later:?}");

    assert_eq!(place.geomi(&["stop", "c"]).code, Some(0));
    visited.for_each(drop);
    let done = run.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    let words = "cannot be followed, so the last one is: ";
    assert_eq!(said.matches(words).count(), 1, "{said}");
    assert!(said.contains("line 1: \"Someday\" is no day"), "{said}");
    let words = "3 pages are kept fresh by a schedule with 24.0 requests a day";
    assert!(said.contains(words), "{said}");
}
