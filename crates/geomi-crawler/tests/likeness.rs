//! Pages that say nearly the same, that look like spam, or that say they are not
//! there: told in their visits, and by rule not followed.

mod house;

use geomi_crawler::CrawlConfig;
use geomi_model::Visit;
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, SiteBehaviour, WebSpec};

use house::House;

fn prose(seed: usize) -> String {
    let word = |at: usize| format!("word{} ", (seed * 131 + at * at) * 7_919 % 4_999);
    (0..600).map(word).collect()
}

fn spam() -> String {
    let link = |at| format!("<a href='http://else{at}.test/'>cheap pills</a> ");
    let links: String = (0..60).map(link).collect();
    let hidden = format!("<div hidden>{}</div>", prose(9));
    let title = "<title>pills, cheap pills, buy pills, best pills</title>";
    format!(
        "{title}<a href=/behind-spam>x</a>{}{hidden}{links}",
        "cheap pills ".repeat(99)
    )
}

fn house() -> (House, CrawlConfig) {
    let nav = "<nav><a href=/>home</a> about us and where we are</nav>";
    let article = prose(1);
    let pages = [
        (
            "/",
            "<a href=/a>a</a> <a href=/b>b</a> <a href=/spam>s</a> <a href=/gone>g</a>".to_owned(),
        ),
        ("/a", format!("{nav}<p>{article}")),
        ("/b", format!("<p>{article} edited <a href=/behind-b>b</a>")),
        ("/spam", spam()),
        ("/gone", "<title>404 Not Found</title>Sorry.".to_owned()),
        ("/behind-b", prose(2)),
        ("/behind-spam", prose(3)),
    ];
    let fixed = pages.map(|(path, body)| (path.to_owned(), FixedPage::html(body)));
    let mut spec = WebSpec::plain(1, 1);
    let site = SiteBehaviour {
        fixed: fixed.into_iter().collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    (house, config)
}

fn visit<'a>(visits: &'a [Visit], path: &str) -> Option<&'a Visit> {
    visits.iter().find(|visit| visit.url.path() == path)
}

#[test]
fn what_pages_are_like_is_in_their_visits_and_nothing_is_refused() {
    let (house, config) = house();
    let status = house.crawl(&config);
    let visits = house.visits();
    let facts = |path: &str| {
        visit(&visits, path)
            .unwrap_or_else(|| panic!("{path}"))
            .facts
    };
    let (a, b) = (facts("/a"), facts("/b"));
    let near = [("/a", a, "/b"), ("/b", b, "/a")]
        .into_iter()
        .filter_map(|(path, facts, other)| Some((path, facts.near_duplicate?, other)))
        .collect::<Vec<_>>();
    let [(_, near, other)] = near[..] else {
        panic!("whichever came second is near to the first: {near:?}");
    };
    let other = visit(&visits, other).expect("it was visited");
    assert_eq!(near.url, other.url.hash64().0);
    assert!(near.distance <= 3);
    let text = visit(&visits, "/a").and_then(|visit| visit.text_bytes);
    assert!(a.main_text_bytes < text, "{a:?} without its navigation");
    assert!(
        facts("/spam").spam_percent > Some(60),
        "{:?}",
        facts("/spam")
    );
    assert_eq!(a.spam_percent, Some(0));
    assert_eq!(facts("/gone").soft_404, Some(true));
    assert_eq!(a.soft_404, Some(false));
    assert!(visit(&visits, "/behind-b").is_some() && visit(&visits, "/behind-spam").is_some());
    assert!(!status.counters.refusals.contains_key("spam"));
    house.verify();
}

#[test]
fn by_rule_their_links_are_left_alone_and_counted() {
    let (house, mut config) = house();
    config.engine.likeness.skip_near_duplicates = true;
    config.engine.likeness.spam_percent_max = Some(60);
    // One at a time, so that /b comes after /a.
    config.connections = 1;
    let status = house.crawl(&config);
    let visits = house.visits();
    assert!(visit(&visits, "/b").is_some() && visit(&visits, "/spam").is_some());
    assert!(visit(&visits, "/behind-b").is_none());
    assert!(visit(&visits, "/behind-spam").is_none());
    assert_eq!(status.counters.refusals.get("near-duplicate"), Some(&1));
    assert_eq!(status.counters.refusals.get("spam"), Some(&61));
    house.verify();
}

#[test]
fn what_a_site_says_with_404_is_recognised_when_it_comes_with_200() {
    let lost = |request: u32| format!("<h1>Hmm</h1> Nothing here, request {request}.");
    let links = "<a href=/dead>d</a> <a href=/soft>s</a> <a href=/real>r</a>";
    let dead = FixedPage {
        status: 404,
        ..FixedPage::html(lost(17))
    };
    let mut spec = WebSpec::plain(1, 1);
    let site = SiteBehaviour {
        fixed: vec![
            ("/".to_owned(), FixedPage::html(links)),
            ("/dead".to_owned(), dead),
            ("/soft".to_owned(), FixedPage::html(lost(92_834))),
            ("/real".to_owned(), FixedPage::html(prose(6))),
        ],
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    config.connections = 1;
    house.crawl(&config);
    let visits = house.visits();
    let soft_404 = |path| visit(&visits, path).and_then(|visit| visit.facts.soft_404);
    assert_eq!(soft_404("/soft"), Some(true));
    assert_eq!(soft_404("/real"), Some(false));
    let dead = visit(&visits, "/dead").expect("it was visited");
    assert_eq!(dead.code, Some(404));
    assert_eq!(dead.fingerprint, None, "only its likeness is kept");
    house.verify();
}

#[test]
fn pages_of_an_earlier_run_are_remembered() {
    let article = prose(1);
    let pages = [
        ("/", "<a href=/a>a</a> <a href=/b>b</a>".to_owned()),
        ("/a", article.clone()),
        ("/b", format!("{article} edited")),
    ];
    let fixed = pages.map(|(path, body)| (path.to_owned(), FixedPage::html(body)));
    let mut spec = WebSpec::plain(1, 1);
    let site = SiteBehaviour {
        fixed: fixed.into_iter().collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    config.connections = 1;
    config.limits.pages_max = Some(2);
    house.crawl(&config);
    assert!(visit(&house.visits(), "/b").is_none());
    config.limits.pages_max = None;
    house.crawl(&config);
    let visits = house.visits();
    let near = visit(&visits, "/b").and_then(|visit| visit.facts.near_duplicate);
    let first = visit(&visits, "/a").expect("it was visited in the first run");
    assert_eq!(near.map(|near| near.url), Some(first.url.hash64().0));
}
