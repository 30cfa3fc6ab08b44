//! What sites say of themselves, in 304, sitemaps and new links, and what comes of it.

use std::time::Duration;

use geomi_crawler::{Clock as _, SystemClock};
use geomi_testweb::{FixedPage, Robots, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec};

use crate::common::Workplace;
use crate::tables::every_hour;
use crate::{FLAGS, first_crawl, json, visits};

/// A web of one site that behaves like this.
pub(crate) fn site(behaviour: SiteBehaviour) -> ServerThread {
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides.push((0, behaviour));
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

/// Keeps the crawl fresh for three days, by a table that has these pages at every hour.
fn visit_every_hour(place: &Workplace, urls: &[&str]) {
    place.write("hourly.csv", &every_hour(urls));
    let words = ["refresh", "run", "c", "--schedule", "hourly.csv"];
    let until = ["--max-time", "3d"];
    let done = place.geomi(&[&words[..], &until, &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
}

/// A sitemap of these entries.
fn sitemap(entries: &str) -> FixedPage {
    let text =
        format!("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{entries}</urlset>");
    FixedPage::new(200, text).header("Content-Type", "application/xml")
}

/// What a page says first, and from then on.
const LIAR_FIRST: &str = "<p>The price is one hundred.";
const LIAR_LATER: &str = "<p>A very different text about bicycles and rain.";

/// A site with a page that lies about having changed, a page that never does, and
/// a sitemap that says from its second answer on when that one did.
fn telling_site(modified: &str) -> ServerThread {
    let first = |page: FixedPage| FixedPage {
        first_only: Some(1),
        ..page
    };
    let tagged = |text: &str| FixedPage::html(text.to_owned()).header("ETag", "\"always\"");
    let sitemap = |lastmod: &str| sitemap(&format!("<url><loc>/told</loc>{lastmod}</url>"));
    let lastmod = format!("<lastmod>{modified}</lastmod>");
    let behaviour = SiteBehaviour {
        robots: Some(Robots::Text("Sitemap: /map.xml\n".to_owned())),
        fixed: vec![
            (
                "/".into(),
                FixedPage::html("<p>Welcome to all. <a href=/told>told</a> <a href=/liar>liar</a>"),
            ),
            (
                "/told".into(),
                FixedPage::html("<p>Nothing is ever new on this page."),
            ),
            ("/liar".into(), first(tagged(LIAR_FIRST))),
            ("/liar".into(), tagged(LIAR_LATER)),
            ("/map.xml".into(), first(sitemap(""))),
            ("/map.xml".into(), sitemap(&lastmod)),
        ],
        ..SiteBehaviour::default()
    };
    site(behaviour)
}

#[test]
fn what_a_site_says_of_itself_is_followed_and_checked() {
    let modified = SystemClock::default().now() + Duration::from_hours(36);
    let server = telling_site(&modified.to_rfc3339_secs());
    let place = Workplace::new();
    first_crawl(&place, &server, 4);
    let seed = server.seeds()[0].to_string();
    let (told, liar) = (format!("{seed}told"), format!("{seed}liar"));
    visit_every_hour(&place, &[&liar, &format!("{seed}map.xml")]);

    let visits = visits(&place);
    assert_eq!(visits[&told], 2, "once for the crawl, once for the sitemap");
    assert_eq!(visits[&seed], 1, "nobody said anything of it");
    let told = json(&place, &["refresh", "explain", "c", &liar]);
    assert_eq!(told["audits_wrong"], 1, "{told:#}");
    assert!(told["not_modified"].as_u64().unwrap() >= 7, "{told:#}");
    assert!(told["audits"].as_u64().unwrap() > 3, "{told:#}");
    let reliability = told["sitemap_reliability"].as_f64().unwrap();
    assert!(
        (reliability - 1.0 / 3.0).abs() < 1e-6,
        "one signal, and it was wrong"
    );
    assert_eq!(told["feed_reliability"], 0.5, "there is none");
    let found = told["visits"].as_array().unwrap().iter();
    let changed: Vec<_> = found.filter(|visit| visit["found"] == "changed").collect();
    assert_eq!(changed.len(), 1, "{told:#}");
    let size = LIAR_LATER.len() - LIAR_FIRST.len();
    assert_eq!(changed[0]["change_size"], size, "{told:#}");
    // One change, over the hours since the visit before.
    let hours: Vec<f64> = told["changes_by_hour"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|day| day["hours"].as_array().unwrap())
        .map(|part| part.as_f64().unwrap())
        .collect();
    assert_eq!(hours.len(), 7 * 24);
    assert!((hours.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{told:#}");
    let site = seed.trim_start_matches("http://");
    let explained = json(&place, &["explain", "c", site]);
    let word = &explained["site"]["word"];
    for name in [
        "trust",
        "audits",
        "audits_wrong",
        "not_modified",
        "reliability",
    ] {
        assert_eq!(word[name], told[name], "{name}: {word:#}");
    }
    let words = place.geomi(&["explain", "c", site]).out;
    assert!(words.contains("its word     304: trust 0."), "{words}");
}

/// Pages that the sitemap below lies about.
const STILL: usize = 6;

/// A site with a sitemap that says from its second answer on that pages changed which
/// never do, and a feed that says so of a page which has.
fn site_with_a_feed(modified: &str) -> ServerThread {
    let still = |lastmod: &str| {
        let entry = |page| format!("<url><loc>/still{page}</loc>{lastmod}</url>");
        sitemap(&(0..STILL).map(entry).collect::<String>())
    };
    let lastmod = format!("<lastmod>{modified}</lastmod>");
    let feed = |updated: &str| {
        let entry = format!("<entry><title>News</title><link href='/news'/>{updated}</entry>");
        let text = format!("<feed xmlns='http://www.w3.org/2005/Atom'>{entry}</feed>");
        FixedPage::new(200, text).header("Content-Type", "application/atom+xml")
    };
    let updated = format!("<updated>{modified}</updated>");
    let front = "<link rel=alternate type=application/atom+xml href=/feed.xml><p>Welcome to all.";
    let mut fixed = vec![
        ("/".to_owned(), FixedPage::html(front)),
        ("/map.xml".to_owned(), still("").first_only(1)),
        ("/map.xml".to_owned(), still(&lastmod)),
        ("/feed.xml".to_owned(), feed("").first_only(1)),
        ("/feed.xml".to_owned(), feed(&updated)),
    ];
    let news = ["<p>There is nothing new.", "<p>It rains, and all is well."];
    let [before, after] = news.map(FixedPage::html);
    fixed.push(("/news".to_owned(), before.first_only(1)));
    fixed.push(("/news".to_owned(), after));
    fixed.extend((0..STILL).map(|page| {
        let text = format!("<p>Nothing is ever new on page {page}.");
        (format!("/still{page}"), FixedPage::html(text))
    }));
    site(SiteBehaviour {
        robots: Some(Robots::Text("Sitemap: /map.xml\n".to_owned())),
        fixed,
        ..SiteBehaviour::default()
    })
}

#[test]
fn a_feed_is_followed_whatever_the_sitemap_is_worth() {
    let modified = SystemClock::default().now() + Duration::from_hours(36);
    let server = site_with_a_feed(&modified.to_rfc3339_secs());
    let place = Workplace::new();
    first_crawl(&place, &server, STILL + 4);
    let seed = server.seeds()[0].to_string();
    let news = format!("{seed}news");
    visit_every_hour(
        &place,
        &[&format!("{seed}map.xml"), &format!("{seed}feed.xml")],
    );

    let visits = visits(&place);
    assert_eq!(visits[&news], 2, "once for the crawl, once for the feed");
    let told = json(&place, &["refresh", "explain", "c", &news]);
    assert_eq!(told["visits"][1]["found"], "changed", "{told:#}");
    let reliability = |name: &str| told[name].as_f64().unwrap();
    let is_close = |one: f64, other: f64| (one - other).abs() < 1e-6;
    assert!(
        is_close(reliability("feed_reliability"), 2.0 / 3.0),
        "{told:#}"
    );
    assert!(reliability("sitemap_reliability") < 0.25, "{told:#}");
    let words = place.geomi(&["refresh", "explain", "c", &news]).out;
    assert!(
        words.contains("feeds: reliability 0.67 (1 of 1 true)"),
        "{words}"
    );
}

#[test]
fn a_page_that_is_linked_later_is_found_and_kept_fresh() {
    let front = |body: &str| ("/".to_owned(), FixedPage::html(body.to_owned()));
    let (path, before) = front("<p>Nothing new here.");
    let behaviour = SiteBehaviour {
        fixed: vec![
            (path, before.first_only(1)),
            front("<p>There is <a href=/news>something new</a>."),
            ("/news".to_owned(), FixedPage::html("<p>It is news.")),
        ],
        ..SiteBehaviour::default()
    };
    let server = site(behaviour);
    let place = Workplace::new();
    first_crawl(&place, &server, 1);
    let words = ["refresh", "run", "c", "--budget", "2", "--max-time", "6d"];
    let done = place.geomi(&[&words[..], &FLAGS].concat());
    assert_eq!(done.code, Some(4), "{done:#?}");
    let visits = visits(&place);
    let news = format!("{}news", server.seeds()[0]);
    assert!(visits[&news] > 2, "{visits:?}");
    let told = json(&place, &["refresh", "explain", "c", &news]);
    assert!(told["success"].as_f64().unwrap() > 0.7, "{told:#}");
    assert_eq!(place.geomi(&["verify", "c"]).code, Some(0));
}

#[test]
fn a_site_that_denies_every_change_is_asked_for_the_content() {
    // Another text and another entity tag with every request, and 304 to whoever has
    // any of them.
    let news = (1..=120).map(|number| {
        let text = format!("<p>The news is all about bike{number}s.");
        let page = FixedPage::html(text).header("ETag", &format!("\"{number}\""));
        ("/".to_owned(), page.first_only(number))
    });
    let behaviour = SiteBehaviour {
        fixed: news.collect(),
        denies_change: true,
        ..SiteBehaviour::default()
    };
    let server = site(behaviour);
    let place = Workplace::new();
    first_crawl(&place, &server, 1);
    let seed = server.seeds()[0].to_string();
    visit_every_hour(&place, &[&seed]);
    let told = json(&place, &["refresh", "explain", "c", &seed]);
    assert_eq!(told["is_distrusted"], true, "{told:#}");
    assert_eq!(told["changes_admitted"], 0, "{told:#}");
    assert_eq!(told["audits"], 0, "no tag came twice: {told:#}");
    let visits = told["visits"].as_array().unwrap().iter();
    let changed = visits.filter(|visit| visit["found"] == "changed").count();
    assert!(changed > 20, "{told:#}");
}
