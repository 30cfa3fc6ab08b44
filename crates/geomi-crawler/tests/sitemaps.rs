//! Sitemaps and feeds as sources of pages: found in robots.txt, visited like any
//! page, their words about pages kept.

mod house;

use std::collections::BTreeMap;

use geomi_crawler::CrawlConfig;
use geomi_crawler::inspect;
use geomi_engine::explain::Topic;
use geomi_engine::{SeedInput, SitemapMode};
use geomi_model::Timestamp;
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, Robots, SiteBehaviour, WebSpec};

use house::House;

fn file(mime: &str, body: impl Into<bytes::Bytes>) -> FixedPage {
    let mut page = FixedPage::html("");
    page.headers = vec![("Content-Type".to_owned(), mime.to_owned())];
    page.body = body.into();
    page
}

fn site(robots: &str, pages: Vec<(&str, FixedPage)>) -> SiteBehaviour {
    let named = |(path, page): (&str, FixedPage)| (path.to_owned(), page);
    SiteBehaviour {
        robots: Some(Robots::Text(robots.to_owned())),
        fixed: pages.into_iter().map(named).collect(),
        ..SiteBehaviour::default()
    }
}

/// One site, crawled from its front page within its host.
fn house(behaviour: SiteBehaviour) -> (House, CrawlConfig) {
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides = vec![(0, behaviour)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    let url = house.server.web().url(0, "/");
    config.seeds = vec![SeedInput { url, topic: None }];
    (house, config)
}

fn requested(house: &House) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in house.server.log().entries() {
        *counts.entry(entry.target.clone()).or_default() += 1;
    }
    counts
}

const EVERYTHING: &str = "Sitemap: /index.xml\nUser-agent: *\nDisallow: /private\n";

fn listed() -> SiteBehaviour {
    let index = "<sitemapindex><sitemap><loc>/map.xml</loc></sitemap>\
                 <sitemap><loc>/list.txt</loc></sitemap></sitemapindex>";
    let map = "<urlset><url><loc>/hidden</loc><lastmod>2026-11-01</lastmod></url>\
               <url><loc>/private/x</loc></url>\
               <url><loc>http://elsewhere.invalid/</loc></url></urlset>";
    let feed = "<rss><channel><item><link>/fresh</link></item></channel></rss>";
    site(
        EVERYTHING,
        vec![
            ("/", FixedPage::html("<title>front</title>")),
            ("/index.xml", file("text/xml", index)),
            ("/map.xml", file("application/xml", map)),
            ("/hidden", FixedPage::html("<a href=/feed>feed</a>")),
            ("/feed", file("application/rss+xml", feed)),
            ("/fresh", FixedPage::html("fresh")),
        ],
    )
}

#[test]
fn pages_only_a_sitemap_knows_are_found_within_scope_and_robots() {
    let (house, config) = house(listed());
    let status = house.crawl(&config);
    let requested = requested(&house);
    for path in [
        "/",
        "/index.xml",
        "/map.xml",
        "/list.txt",
        "/hidden",
        "/feed",
        "/fresh",
    ] {
        assert_eq!(requested.get(path), Some(&1), "{path} in {requested:?}");
    }
    assert!(!requested.keys().any(|path| path.starts_with("/private")));
    assert_eq!(status.counters.refusals.get("robots"), Some(&1));
    let visits = house.visits();
    let map = visits.iter().find(|visit| visit.url.path() == "/map.xml");
    assert_eq!(map.expect("it was visited").depth, 0);
    let hidden = visits.iter().find(|visit| visit.url.path() == "/hidden");
    assert_eq!(hidden.expect("it was visited").depth, 1);
    house.verify();
}

#[test]
fn sitemaps_are_asked_for_as_the_mode_says() {
    let asked = |behaviour: SiteBehaviour, mode: SitemapMode| {
        let (house, mut config) = house(behaviour);
        config.engine.sitemaps = mode;
        house.crawl(&config);
        let mut paths: Vec<String> = requested(&house).into_keys().collect();
        paths.retain(|path| path != "/" && path != "/robots.txt");
        paths
    };
    let plain = || site("", vec![("/", FixedPage::html("x"))]);
    assert!(asked(listed(), SitemapMode::None).is_empty());
    assert!(asked(plain(), SitemapMode::Robots).is_empty());
    assert_eq!(asked(plain(), SitemapMode::default()), ["/sitemap.xml"]);
    assert!(!asked(listed(), SitemapMode::Guess).contains(&"/sitemap.xml".to_owned()));
}

#[test]
fn indexes_within_indexes_come_to_an_end() {
    let index = |number: u32| format!("<sitemapindex><sitemap><loc>/i{number}.xml</loc></sitemap>");
    let pages: Vec<(String, FixedPage)> = (0..20)
        .map(|number| {
            (
                format!("/i{number}.xml"),
                file("text/xml", index(number + 1)),
            )
        })
        .collect();
    let mut behaviour = site("Sitemap: /i0.xml", vec![("/", FixedPage::html("x"))]);
    behaviour.fixed.extend(pages);
    let (house, config) = house(behaviour);
    let status = house.crawl(&config);
    let asked = requested(&house)
        .into_keys()
        .filter(|path| path.starts_with("/i"));
    assert_eq!(asked.count(), 3);
    assert_eq!(status.counters.refusals.get("sitemaps-too-deep"), Some(&1));
}

#[test]
fn a_sitemap_may_be_a_seed() {
    let (house, mut config) = house(listed());
    config.engine.sitemaps = SitemapMode::None;
    config.seeds[0].url = house.server.web().url(0, "/map.xml");
    house.crawl(&config);
    assert!(requested(&house).contains_key("/hidden"));
}

#[test]
fn what_a_sitemap_says_of_a_page_survives_the_crawl_and_is_explained() {
    let (house, config) = house(listed());
    house.crawl(&config);
    let modified = |path: &str| {
        let topic = Topic::Url(house.server.web().url(0, path));
        let told = inspect(&config, &house.dir, &topic, Timestamp::EPOCH);
        let told = told.expect("the crawl is at rest").url;
        told.expect("a URL was asked about").listed_modified
    };
    let stored = Some("2026-11-01T00:00:00Z".to_owned());
    assert_eq!(modified("/hidden"), stored);
    assert_eq!(modified("/"), None, "nobody said anything of it");
    house.crawl(&config);
    assert_eq!(modified("/hidden"), stored, "opened and closed once more");
}

#[test]
fn a_guessed_sitemap_is_read_where_there_is_one_and_no_failure_where_not() {
    let map = "<urlset><url><loc>/hidden</loc></url></urlset>";
    let front = || ("/", FixedPage::html("<title>front</title>"));
    let (with_map, mut config) = house(site(
        "",
        vec![
            front(),
            ("/sitemap.xml", file("application/xml", map)),
            ("/hidden", FixedPage::html("only a sitemap leads here")),
        ],
    ));
    config.engine.sitemaps = SitemapMode::default();
    with_map.crawl(&config);
    assert_eq!(requested(&with_map).get("/hidden"), Some(&1));

    let (without, mut config) = house(site("", vec![front()]));
    config.engine.sitemaps = SitemapMode::default();
    let status = without.crawl(&config);
    assert_eq!(requested(&without).get("/sitemap.xml"), Some(&1));
    assert_eq!((status.counters.saved, status.counters.failed), (1, 0));
    without.verify();
}
