//! Sites that have the same pages: recognised, told, and by rule left alone.

mod house;

use geomi_crawler::inspect;
use geomi_crawler::{Clock as _, CrawlConfig, SystemClock};
use geomi_engine::explain::{Explanation, Topic};
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, SiteBehaviour, WebSpec};
use geomi_url::CrawlUrl;

use house::House;

/// Pages of each site beside its front page.
const PAGES: usize = 30;

fn prose(seed: usize) -> String {
    let word = |at: usize| format!("word{}x ", (seed * 131 + at * at) * 7_919 % 4_999);
    (0..80).map(word).collect()
}

/// A site that calls itself by its own name in a link, which nobody reads.
fn site(name: &str, seed: usize) -> SiteBehaviour {
    let link = |at| format!("<a href=/p{at}>p</a> ");
    let links: String = (0..PAGES).map(link).collect();
    let front = format!("<link rel=me href='http://{name}/'>{links}{}", prose(seed));
    let page = |at: usize| {
        format!(
            "<link rel=me href='http://{name}/'>{}",
            prose(seed + 1 + at)
        )
    };
    let pages = (0..PAGES).map(|at| (format!("/p{at}"), FixedPage::html(page(at))));
    let fixed = std::iter::once(("/".to_owned(), FixedPage::html(front)));
    SiteBehaviour {
        fixed: fixed.chain(pages).collect(),
        ..SiteBehaviour::default()
    }
}

/// Two sites with the same pages, and one of its own.
fn house() -> (House, CrawlConfig) {
    let mut spec = WebSpec::plain(3, 1);
    spec.site_overrides = vec![
        (0, site("one.test", 1)),
        (1, site("two.test", 1)),
        (2, site("three.test", 500)),
    ];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    config.connections = 1;
    (house, config)
}

fn explain(house: &House, config: &CrawlConfig, topic: &Topic) -> Explanation {
    let now = SystemClock::default().now();
    inspect(config, &house.dir, topic, now).expect("the directory can be looked at")
}

/// The sites of the web that are explained as mirrors, each with its original.
fn mirrors(house: &House, config: &CrawlConfig) -> Vec<(CrawlUrl, String)> {
    let seeds = house.server.seeds().into_iter();
    let told = seeds.filter_map(|seed| {
        let site = explain(house, config, &Topic::Site(seed.clone())).site?;
        let mirror = site.mirror?;
        assert!(mirror.pages_agreeing >= 5, "{mirror:?}");
        Some((seed, mirror.of))
    });
    told.collect()
}

#[test]
fn a_mirror_is_told_and_fetched_all_the_same() {
    let (house, config) = house();
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 3 * (PAGES as u64 + 1));
    let [(mirror, of)] = &mirrors(&house, &config)[..] else {
        panic!("one of the two is a mirror");
    };
    let seeds = house.server.seeds();
    assert!(seeds[..2].contains(mirror));
    let original = seeds[..2].iter().find(|seed| *seed != mirror);
    assert_eq!(
        Some(of.clone()),
        original.map(|seed| seed.site().to_string())
    );
    assert!(!status.counters.refusals.contains_key("mirror"));
    house.verify();
}

#[test]
fn by_rule_the_rest_of_a_mirror_is_refused_and_explained() {
    let (house, mut config) = house();
    config.engine.likeness.skip_mirrors = true;
    let status = house.crawl(&config);
    let refused = status.counters.refusals.get("mirror").copied();
    let refused = refused.expect("some URLs of the mirror were refused");
    assert_eq!(status.counters.saved + refused, 3 * (PAGES as u64 + 1));
    assert!(refused >= 20, "{refused} refused, as soon as it was known");
    let [(mirror, of)] = &mirrors(&house, &config)[..] else {
        panic!("one of the two is a mirror");
    };
    let last = mirror.join(&format!("/p{}", PAGES - 1)).expect("a URL");
    let told = explain(&house, &config, &Topic::Url(last)).url;
    let told = told.expect("a URL was asked about");
    let (next, why) = (told.next, told.not_worth.expect("it is of a mirror"));
    assert_eq!(next.code, geomi_engine::explain::NextKind::Refused);
    assert!(
        next.text.contains("mirror") && why.contains(of),
        "{next:?} {why}"
    );
    house.verify();
}

#[test]
fn evidence_of_an_earlier_run_counts() {
    let (house, mut config) = house();
    config.engine.likeness.skip_mirrors = true;
    // Each of the three has its front page and about two more by then.
    config.limits.pages_max = Some(10);
    house.crawl(&config);
    assert_eq!(mirrors(&house, &config), []);
    config.limits.pages_max = None;
    let status = house.crawl(&config);
    let refused = status.counters.refusals.get("mirror").copied();
    assert!(
        refused >= Some(24),
        "{refused:?} refused, nearly all the rest"
    );
    assert_eq!(mirrors(&house, &config).len(), 1);
    // And a third run still knows.
    let status = house.crawl(&config);
    assert_eq!(status.counters.refusals.get("mirror").copied(), refused);
    house.verify();
}
