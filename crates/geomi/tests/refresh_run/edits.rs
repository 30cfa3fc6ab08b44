//! A site whose pages are all given the same words at once, and what comes of it.

use std::fmt::Write as _;

use geomi_testweb::{FixedPage, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec};

use crate::common::Workplace;
use crate::{FLAGS, first_crawl, json};

/// Pages beside the front page that never change of their own.
const PAGES: usize = 30;
const BANNER: &str = "<div>Good news: we deliver on Sundays <a href=/>to your door</a></div>";

/// The text of a page: every second one is too short for a simhash.
fn text(page: usize) -> String {
    let words = "dog stood and found under sand old gold mud road blind hid reed doubled";
    let words: Vec<&str> = words.split(' ').collect();
    let length = if page.is_multiple_of(2) { 120 } else { 8 };
    let mut text = format!("<p>Page number {page}:");
    for place in 1..=length {
        let word = words[(page * page + place * place * (page + 1)) % words.len()];
        write!(text, " {word}").unwrap();
    }
    text
}

/// A site whose pages have a banner from the third time on that they are asked for,
/// and a page with news, which has another text each time.
fn edited_site() -> ServerThread {
    let mut front = String::from("<p>Welcome to all. <a href=/news>News</a>");
    for page in 0..PAGES {
        write!(front, " <a href=/p{page}>{page}</a>").unwrap();
    }
    let pages = (0..PAGES).map(|page| (format!("/p{page}"), text(page)));
    let edited = std::iter::once(("/".to_owned(), front)).chain(pages);
    let edited = edited.flat_map(|(path, text)| {
        let before = FixedPage::html(text.clone()).first_only(2);
        let after = FixedPage::html(format!("{BANNER}{text}"));
        [(path.clone(), before), (path, after)]
    });
    let news = (1..=9).map(|number: u32| {
        let told = "<p>It has happened. ".repeat(number.pow(2) as usize);
        let page = FixedPage::html(told).first_only(number);
        ("/news".to_owned(), page)
    });
    let behaviour = SiteBehaviour {
        fixed: edited.chain(news).collect(),
        ..SiteBehaviour::default()
    };
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides.push((0, behaviour));
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

#[test]
fn a_banner_on_all_pages_teaches_nothing_of_most_of_them() {
    let (place, server) = (Workplace::new(), edited_site());
    first_crawl(&place, &server, PAGES + 2);
    let words = ["refresh", "run", "c", "--mode", "periodic", "--budget", "1"];
    let done = place.geomi(&[&words[..], &["--max-time", "60h"], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");

    let report = json(&place, &["refresh", "report", "c"]);
    let edited = report["visits"]["edited"].as_u64().unwrap() as usize;
    // The first three pages are not known to be part of anything, and the news may
    // have come between them.
    assert!((PAGES - 5..=PAGES - 2).contains(&edited), "{report:#}");
    let seed = server.seeds()[0].to_string();
    let last = format!("{seed}p{}", PAGES - 1);
    let told = json(&place, &["refresh", "explain", "c", &last]);
    assert_eq!(told["changed"], 0, "{told:#}");
    let visits = told["visits"].as_array().unwrap().iter();
    let found: Vec<_> = visits
        .map(|visit| visit["found"].as_str().unwrap())
        .collect();
    assert_eq!(found[..3], ["first", "same", "edited"], "{told:#}");
    let news = json(&place, &["refresh", "explain", "c", &format!("{seed}news")]);
    assert!(news["changed"].as_u64().unwrap() >= 2, "{news:#}");
}
