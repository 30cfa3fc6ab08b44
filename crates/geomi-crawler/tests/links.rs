//! Links in a crawl: those of headers, style sheets and scripts, those that a rule
//! leaves alone, and what pages need from other hosts.

mod house;

use geomi_crawler::CrawlConfig;
use geomi_engine::SeedInput;
use geomi_model::LinkType;
use geomi_scope::{Requisites, ScopeKind};
use geomi_testweb::{FixedPage, Robots, SiteBehaviour, WebSpec};

use house::House;

fn page(body: &str) -> FixedPage {
    FixedPage::html(body.to_owned())
}

fn file(mime: &str, body: &str) -> FixedPage {
    FixedPage::new(200, body.to_owned()).header("Content-Type", mime)
}

/// One site with these pages, crawled from its front page within its host.
fn site(robots: &str, pages: Vec<(&str, FixedPage)>) -> (House, CrawlConfig) {
    let mut spec = WebSpec::plain(1, 1);
    let behaviour = SiteBehaviour {
        robots: Some(Robots::Text(robots.to_owned())),
        fixed: pages
            .into_iter()
            .map(|(path, page)| (path.to_owned(), page))
            .collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, behaviour)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    let url = house.server.web().url(0, "/");
    config.seeds = vec![SeedInput { url, topic: None }];
    (house, config)
}

/// What was asked for, in order, robots.txt left out.
fn asked(house: &House) -> Vec<String> {
    let entries = house.server.log().entries();
    let targets = entries.iter().map(|entry| entry.target.clone());
    targets.filter(|target| target != "/robots.txt").collect()
}

fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

#[test]
fn headers_lead_somewhere() {
    let front = page("x")
        .header("Link", "</style.css>; rel=preload, </next>; rel=next")
        .header("Link", "<//elsewhere.invalid>; rel=preconnect")
        .header("Refresh", "5; url=/later");
    let created = FixedPage::new(201, "x").header("Content-Location", "/made");
    let (house, config) = site(
        "",
        vec![
            ("/", front),
            ("/next", page("2")),
            ("/later", created),
            ("/made", page("3")),
            (
                "/style.css",
                file("text/css", "@import 'more.css'; a{background:url(i.png)}"),
            ),
            (
                "/more.css",
                file("text/css", "@font-face{src:url(f.woff2)}"),
            ),
            ("/i.png", file("image/png", "x")),
            ("/f.woff2", file("font/woff2", "x")),
        ],
    );
    house.crawl(&config);
    let expected = [
        "/",
        "/f.woff2",
        "/i.png",
        "/later",
        "/made",
        "/more.css",
        "/next",
        "/style.css",
    ];
    assert_eq!(sorted(asked(&house)), expected);
    house.verify();
}

#[test]
fn a_redirect_without_a_target_leads_where_its_body_says() {
    let moved =
        |to: &str| FixedPage::new(302, "<a href=/there>moved here</a>").header("Location", to);
    let html = |page: FixedPage| page.header("Content-Type", "text/html");
    let (house, config) = site(
        "",
        vec![
            (
                "/",
                page("<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>"),
            ),
            (
                "/a",
                html(FixedPage::new(302, "<a href=/from-a>moved here</a>")),
            ),
            ("/b", html(moved("http://[bad/"))),
            ("/c", html(moved("/target"))),
            ("/from-a", page("a")),
            ("/there", page("b")),
            ("/target", page("c")),
        ],
    );
    house.crawl(&config);
    let expected = ["/", "/a", "/b", "/c", "/from-a", "/target", "/there"];
    assert_eq!(sorted(asked(&house)), expected);
    house.verify();
}

#[test]
fn a_form_that_posts_is_never_asked() {
    let front = "<form action=/post><button formmethod=post>x</button></form>\
                 <form method=post action=/post><button>x</button></form>\
                 <form id=f action=/post></form><button form=f formmethod=post>x</button>\
                 <form id=g action=/get></form><input form=g type=hidden name=a value=1>";
    let (house, config) = site("", vec![("/", page(front)), ("/get?a=1", page("a"))]);
    house.crawl(&config);
    assert_eq!(sorted(asked(&house)), ["/", "/get?a=1"]);
}

#[test]
fn links_not_to_be_followed_are_counted() {
    let front = "<a rel=nofollow href=/a>a</a><a rel=ugc href=/b>b</a><a href=/c>c</a>";
    let closed = "<meta name=robots content=nofollow><a href=/d>d</a>";
    let (house, config) = site("", vec![("/", page(front)), ("/c", page(closed))]);
    let status = house.crawl(&config);
    assert_eq!(sorted(asked(&house)), ["/", "/c"]);
    assert_eq!(status.counters.refusals.get("nofollow"), Some(&3));
}

#[test]
fn links_beyond_the_limit_are_counted() {
    let anchors: Vec<String> = (0..5).map(|n| format!("<a href=/{n}>x</a>")).collect();
    let (house, mut config) = site("", vec![("/", page(&anchors.concat()))]);
    config.read.links_max = 2;
    let status = house.crawl(&config);
    assert_eq!(sorted(asked(&house)), ["/", "/0", "/1"]);
    assert_eq!(status.counters.refusals.get("too-many-links"), Some(&3));
}

#[test]
fn addresses_in_scripts_come_last_and_cost_little() {
    // Strings that look like addresses of one template, and lead nowhere.
    let strings: Vec<String> = (0..40).map(|n| format!("x('/api/{n}/get');")).collect();
    let strings = strings.concat();
    let front =
        format!("<script>{strings} location = '/found'</script><a href=/a>a</a><a href=/b>b</a>");
    let (house, mut config) = site(
        "",
        vec![
            ("/", page(&front)),
            ("/a", page("a page of its own")),
            ("/b", page("another page")),
            ("/found", page("only a script leads here")),
        ],
    );
    config.connections = 1;
    config.engine.frontier.politeness.site_connections = 1;
    let status = house.crawl(&config);
    let asked = asked(&house);
    assert_eq!(
        sorted(asked[..3].to_vec()),
        ["/", "/a", "/b"],
        "people first"
    );
    assert!(asked.contains(&"/found".to_owned()), "{asked:?}");
    let wasted = asked.iter().filter(|path| path.starts_with("/api/"));
    assert_eq!(wasted.count(), 3, "then the template is given up");
    assert_eq!(status.counters.refusals.get("script-link"), Some(&37));
    let visits = house.visits();
    let front = visits.iter().find(|visit| visit.url.path() == "/");
    let kinds = front.and_then(|visit| visit.link_type);
    assert_eq!(kinds.map(LinkType::as_str), Some("ha0"));
    house.verify();
}

#[test]
fn advertisements_and_forms_are_followed_by_rule() {
    let pages = || {
        let front = "<div class=ad><a href=/ad>buy</a></div><a href=/a>a</a>\
                     <form action=/form><input type=hidden name=x value=1><button>Go</button></form>";
        vec![
            ("/", page(front)),
            ("/a", page("a")),
            ("/ad", page("ad")),
            ("/form?x=1", page("form")),
        ]
    };
    let (house, config) = site("", pages());
    house.crawl(&config);
    assert_eq!(sorted(asked(&house)), ["/", "/a", "/ad", "/form?x=1"]);

    let (house, mut config) = site("", pages());
    config.engine.follow.adverts = false;
    config.engine.follow.forms = false;
    let status = house.crawl(&config);
    assert_eq!(sorted(asked(&house)), ["/", "/a"]);
    let refusals = &status.counters.refusals;
    assert_eq!(
        (refusals.get("advert"), refusals.get("form")),
        (Some(&1), Some(&1))
    );
}

/// A page whose pictures, styles and frames are on another host.
fn with_cdn() -> (House, House, CrawlConfig) {
    let (cdn, _) = site(
        "User-agent: *\nDisallow: /private",
        vec![
            (
                "/s.css",
                file("text/css", "@import '/t.css'; a{background:url(/bg.png)}"),
            ),
            ("/t.css", file("text/css", "@font-face{src:url(/f.woff2)}")),
            (
                "/moved.png",
                FixedPage::new(302, "").header("Location", "/there.png"),
            ),
            ("/there.png", file("image/png", "there")),
            ("/bg.png", file("image/png", "bg")),
            ("/f.woff2", file("font/woff2", "font")),
            ("/private.png", file("image/png", "private")),
            (
                "/frame",
                page("<a href=/page>page</a><img src=/in-frame.png>"),
            ),
            ("/in-frame.png", file("image/png", "in frame")),
            ("/page", page("a page of another site")),
        ],
    );
    let base = cdn.server.web().url(0, "/");
    let front = format!(
        "<base href='{base}'><link rel=stylesheet href=s.css><img src=moved.png>\
         <img src=private.png><iframe src=frame></iframe><a href=page>page</a>"
    );
    let (house, config) = site("", vec![("/", page(&front))]);
    (house, cdn, config)
}

#[test]
fn what_a_page_needs_is_taken_from_other_hosts_if_asked_for() {
    let (_house, cdn, config) = {
        let (house, cdn, config) = with_cdn();
        house.crawl(&config);
        (house, cdn, config)
    };
    assert_eq!(config.engine.scope.requisites, Requisites::Scope);
    assert_eq!(asked(&cdn), Vec::<String>::new(), "not by default");

    for kind in [ScopeKind::Host, ScopeKind::Page] {
        let (house, cdn, mut config) = with_cdn();
        config.engine.scope.kind = kind;
        config.engine.scope.requisites = Requisites::Any;
        config.engine.scope.depth_max = Some(0);
        house.crawl(&config);
        let expected = [
            "/bg.png",
            "/f.woff2",
            "/frame",
            "/in-frame.png",
            "/moved.png",
            "/s.css",
            "/t.css",
            "/there.png",
        ];
        assert_eq!(sorted(asked(&cdn)), expected, "{kind}");
        let log = cdn.server.log().entries();
        assert_eq!(
            log[0].target, "/robots.txt",
            "robots.txt is asked for first"
        );
        house.verify();
    }
}

#[test]
fn a_chain_of_style_sheets_comes_to_an_end() {
    let sheets: Vec<(String, FixedPage)> = (0..20)
        .map(|n| {
            let next = format!("@import '/{}.css';", n + 1);
            (format!("/{n}.css"), file("text/css", &next))
        })
        .collect();
    let sheets = sheets.iter().map(|(path, page)| (&**path, page.clone()));
    let (cdn, _) = site("", sheets.collect());
    let first = cdn.server.web().url(0, "/0.css");
    let front = format!("<link rel=stylesheet href='{first}'>");
    let (house, mut config) = site("", vec![("/", page(&front))]);
    config.engine.scope.requisites = Requisites::Any;
    let status = house.crawl(&config);
    assert_eq!(asked(&cdn).len(), usize::from(config.engine.redirects_max));
    let refusals = &status.counters.refusals;
    assert_eq!(refusals.get("requisites-too-deep"), Some(&1));
}
