//! Whole crawls of the test web over real sockets, in one process.

mod house;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use geomi_crawler::CrawlConfig;
use geomi_engine::{Ending, SeedInput};
use geomi_frontier::Delay;
use geomi_model::{CaptureKind, NetworkState, Truncation};
use geomi_scope::ScopeKind;
use geomi_testweb::{Fault, FixedPage, Robots, RobotsFault, SiteBehaviour, WebSpec};

use house::House;

/// A web of one page a site, with what a test wants at fixed paths.
fn scenario(sites: Vec<SiteBehaviour>) -> House {
    let mut spec = WebSpec::plain(sites.len() as u32, 1);
    spec.site_overrides = (0u32..).zip(sites).collect();
    House::new(spec)
}

fn html(body: &str) -> FixedPage {
    FixedPage::html(format!("<title>t</title>{body}"))
}

fn pages(pages: Vec<(&str, FixedPage)>) -> SiteBehaviour {
    SiteBehaviour {
        fixed: pages
            .into_iter()
            .map(|(path, page)| (path.to_owned(), page))
            .collect(),
        ..SiteBehaviour::default()
    }
}

/// Seeds at these paths of site 0.
fn seeded(house: &House, paths: &[&str]) -> CrawlConfig {
    let mut config = house.config();
    let web = house.server.web();
    config.seeds = paths
        .iter()
        .map(|path| SeedInput {
            url: web.url(0, path),
            topic: None,
        })
        .collect();
    config
}

fn requested(house: &House) -> Vec<String> {
    let entries = house.server.log().entries();
    entries
        .into_iter()
        .map(|entry| entry.target.clone())
        .filter(|target| target != "/robots.txt")
        .collect()
}

#[test]
fn every_page_is_fetched_exactly_once() {
    let house = House::new(WebSpec::plain(5, 40));
    let status = house.crawl(&house.config());
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(status.counters.saved, 200);
    let counts: BTreeMap<String, u32> = house.server.log().count_by_url();
    let once: Vec<_> = counts
        .iter()
        .filter(|(url, _)| !url.ends_with("/robots.txt"))
        .collect();
    assert_eq!(once.len(), 200);
    assert!(once.iter().all(|(_, count)| **count == 1), "{once:?}");
    assert_eq!(
        status.counters.captured,
        house
            .visits()
            .iter()
            .filter(|visit| visit.capture.is_some())
            .count() as u64
    );
    house.verify();
}

#[test]
fn a_finished_crawl_run_again_asks_for_nothing() {
    let house = House::new(WebSpec::plain(2, 10));
    house.crawl(&house.config());
    let before = house.server.log().len();
    let status = house.crawl(&house.config());
    assert_eq!(status.counters.saved, 20);
    assert_eq!(house.server.log().len(), before);
    house.verify();
}

#[test]
fn several_partitions_find_the_same_pages() {
    let house = House::new(WebSpec::plain(8, 25));
    let mut config = house.config();
    config.partitions = 4;
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 200);
    assert_eq!(status.counters.admitted, 200);
    house.verify();
    config.partitions = 2;
    let error = house
        .try_crawl(&config, &mut geomi_crawler::NoFaults)
        .unwrap_err();
    assert!(error.to_string().contains("4 partitions"), "{error}");
}

/// Sites that have a front page, a page of their own, and a page that all of them have.
fn alike(sites: usize) -> House {
    scenario(
        (0..sites)
            .map(|site| {
                pages(vec![
                    (
                        "/",
                        html(&format!(
                            "Site {site}: <a href=/own>own</a> <a href=/same>same</a>"
                        )),
                    ),
                    ("/own", html(&format!("<p>Only site {site} says this."))),
                    ("/same", html("<p>All sites say this.")),
                ])
            })
            .collect(),
    )
}

#[test]
fn the_number_of_partitions_changes_nothing_that_can_be_seen() {
    const SITES: usize = 12;
    const DELAY: Duration = Duration::from_millis(30);
    for partitions in [1, 8, 64] {
        let house = alike(SITES);
        let mut config = house.config();
        let web = house.server.web();
        let seeds = (0..SITES as u32).map(|site| SeedInput {
            url: web.url(site, "/"),
            topic: None,
        });
        config.seeds = seeds.collect();
        config.partitions = partitions;
        config.engine.frontier.politeness.delay = Delay::Fixed(DELAY);
        config.engine.frontier.politeness.site_connections = 1;
        let status = house.crawl(&config);
        assert_eq!(status.reason, Some(Ending::Finished), "{partitions}");
        let counts = house.server.log().count_by_url();
        let pages = counts
            .iter()
            .filter(|(url, _)| !url.ends_with("robots.txt"));
        let pages: Vec<u32> = pages.map(|(_, count)| *count).collect();
        assert_eq!(pages, [1; 3 * SITES], "{partitions}: each page once");
        assert_eq!(status.counters.saved, 3 * SITES as u64, "{partitions}");
        let copies = house.visits().into_iter().filter_map(|visit| visit.capture);
        let copies = copies.filter(|capture| capture.kind == CaptureKind::Revisit);
        assert_eq!(
            copies.count(),
            SITES - 1,
            "{partitions}: each copy is found"
        );
        let gap = house.server.log().shortest_gap().unwrap();
        assert!(gap >= DELAY, "{partitions}: {gap:?} between two requests");
        house.verify();
    }
}

#[test]
fn scopes_hold() {
    let site = || {
        pages(vec![
            ("/", html("<a href=/docs/a>1</a> <a href=/other>2</a>")),
            ("/docs/a", html("")),
            ("/docs/", html("<a href=a>1</a><a href=/other>2</a>")),
            ("/other", html("")),
        ])
    };
    let counts = |kind, seed: &str| {
        let house = scenario(vec![site()]);
        let mut config = seeded(&house, &[seed]);
        config.engine.scope.kind = kind;
        house.crawl(&config);
        requested(&house).into_iter().collect::<BTreeSet<_>>()
    };
    assert_eq!(counts(ScopeKind::Page, "/").len(), 1);
    assert_eq!(
        counts(ScopeKind::Path, "/docs/"),
        BTreeSet::from(["/docs/".into(), "/docs/a".into()])
    );
    assert_eq!(counts(ScopeKind::Host, "/").len(), 3);
}

#[test]
fn a_party_crawl_turns_external_links_into_seeds() {
    let mut spec = WebSpec::plain(6, 10);
    spec.links_per_page = 30;
    let house = House::new(spec);
    let mut config = house.config();
    config.seeds.truncate(1);
    config.engine.scope.kind = ScopeKind::Party;
    let status = house.crawl(&config);
    assert_eq!(status.seeds, 6, "every other site is linked to");
    assert_eq!(status.counters.saved, 60);
    let list = std::fs::read_to_string(house.dir.seeds_out()).unwrap();
    assert_eq!(list.lines().count(), 6);
    assert!(list.starts_with(config.seeds[0].url.as_str()));
    house.verify();
}

#[test]
fn robots_txt_is_asked_first_and_obeyed() {
    let robots = "User-agent: *\nDisallow: /private\nAllow: /private/open\n";
    let site = SiteBehaviour {
        robots: Some(Robots::Text(robots.to_owned())),
        ..pages(vec![
            (
                "/",
                html("<a href=/private/x>1</a><a href=/private/open>2</a><a href=/free>3</a>"),
            ),
            ("/private/x", html("")),
            ("/private/open", html("")),
            ("/free", html("")),
        ])
    };
    let house = scenario(vec![site]);
    let status = house.crawl(&seeded(&house, &["/"]));
    assert_eq!(
        house.server.log().entries()[0].target.clone(),
        "/robots.txt"
    );
    assert_eq!(
        requested(&house).into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from(["/".into(), "/private/open".into(), "/free".into()])
    );
    assert_eq!((status.counters.saved, status.counters.refused), (3, 1));
    house.verify();
}

#[test]
fn an_unreachable_robots_txt_forbids_and_a_missing_one_allows() {
    for (robots, saved, failed) in [
        (RobotsFault::Status(404), 1, 0),
        (RobotsFault::Status(403), 1, 0),
        (RobotsFault::Status(500), 0, 1),
        (RobotsFault::Redirects(3), 1, 0),
        (RobotsFault::Redirects(9), 1, 0),
    ] {
        let site = SiteBehaviour {
            robots: Some(Robots::Fault(robots)),
            ..pages(vec![("/", html(""))])
        };
        let house = scenario(vec![site]);
        let status = house.crawl(&seeded(&house, &["/"]));
        assert_eq!(
            (status.counters.saved, status.counters.failed),
            (saved, failed),
            "{robots:?}"
        );
        assert_eq!(status.counters.refused, 0, "{robots:?}");
        let ending = if failed > 0 {
            Ending::SeedsFailed
        } else {
            Ending::Finished
        };
        assert_eq!(status.reason, Some(ending), "{robots:?}");
        house.verify();
    }
}

#[test]
fn each_network_state_is_recorded_by_its_name() {
    let expected = [
        ("reset-before-header", NetworkState::HeaderError),
        ("close-without-byte", NetworkState::HeaderShort),
        ("short-header", NetworkState::HeaderShort),
        ("not-http", NetworkState::HeaderNotHttp),
        ("silent-before-header", NetworkState::HeaderTimeout),
        ("silent-in-header", NetworkState::HeaderTimeout),
        ("reset-in-body", NetworkState::DownloadError),
        ("short-body", NetworkState::DownloadError),
        ("silent-in-body", NetworkState::DownloadTimeout),
        ("broken-chunks", NetworkState::DownloadError),
    ];
    let house = scenario(vec![SiteBehaviour::default()]);
    let known: BTreeMap<&str, Fault> = Fault::ALL
        .iter()
        .map(|fault| (fault.name(), *fault))
        .collect();
    let paths: Vec<String> = expected
        .iter()
        .map(|(name, _)| {
            known
                .get(name)
                .unwrap_or_else(|| panic!("{name} of {:?}", known.keys()))
                .path()
        })
        .collect();
    let mut config = seeded(
        &house,
        &paths.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    config.engine.tries = 1;
    house.crawl(&config);
    let seen: BTreeMap<String, NetworkState> = house
        .visits()
        .into_iter()
        .map(|visit| (visit.url.path().to_owned(), visit.state))
        .collect();
    for ((name, state), path) in expected.iter().zip(&paths) {
        assert_eq!(seen[path], *state, "{name}");
    }
    house.verify();
}

#[test]
fn dead_hosts_and_dead_names_fail_with_their_states() {
    let house = scenario(vec![SiteBehaviour::default()]);
    let mut config = house.config();
    let seed = |text: &str| SeedInput {
        url: geomi_url::CrawlUrl::parse(text).unwrap(),
        topic: None,
    };
    config.seeds = vec![
        seed("http://127.0.0.1:1/x"),
        seed("http://no-such-host.invalid/y"),
    ];
    config.fetch.name_servers = Some(vec![]);
    let status = house.crawl(&config);
    let states: BTreeMap<String, NetworkState> = house
        .visits()
        .into_iter()
        .filter(|visit| !visit.is_robots)
        .map(|visit| (visit.url.path().to_owned(), visit.state))
        .collect();
    assert_eq!(states["/x"], NetworkState::ConnectError);
    assert_eq!(states["/y"], NetworkState::NoIp);
    assert_eq!(status.reason, Some(Ending::SeedsFailed));
    assert_eq!(status.counters.failed, 2);
    house.verify();
}

#[test]
fn failures_that_may_pass_are_tried_again() {
    let house = scenario(vec![pages(vec![
        ("/", html("<a href=/broken>2</a><a href=/gone>3</a>")),
        ("/broken", FixedPage::new(500, "no")),
        ("/gone", FixedPage::new(410, "gone")),
    ])]);
    let status = house.crawl(&seeded(&house, &["/"]));
    let counts = house.server.log().count_by_url();
    let of = |path: &str| {
        counts
            .iter()
            .find(|(url, _)| url.ends_with(path))
            .map(|(_, count)| *count)
    };
    assert_eq!(of("/broken"), Some(3));
    assert_eq!(of("/gone"), Some(1));
    assert_eq!(status.counters.failed, 2);
    house.verify();
}

#[test]
fn bodies_cut_at_a_limit_are_marked() {
    let long = "x".repeat(5_000);
    let house = scenario(vec![pages(vec![
        ("/", html("<a href=/long>1</a><a href=/short>2</a>")),
        ("/long", html(&long)),
        ("/short", html("short")),
    ])]);
    let mut config = seeded(&house, &["/"]);
    config.fetch.body_bytes_max = 2_000;
    house.crawl(&config);
    let visits = house.visits();
    let truncated = |path: &str| {
        let mut found = visits.iter().filter(|visit| visit.url.path() == path);
        found.next().expect("it was visited").truncated
    };
    assert_eq!(truncated("/long"), Some(Truncation::Length));
    assert_eq!(truncated("/short"), None);
    house.verify();
}

#[test]
fn redirects_are_new_urls_and_loops_end() {
    let house = scenario(vec![pages(vec![
        ("/", FixedPage::redirect(301, "/home")),
        ("/home", html("<a href=/redirect/loop>x</a>")),
    ])]);
    let mut config = seeded(&house, &["/"]);
    config.engine.scope.kind = ScopeKind::Host;
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 1);
    assert!(status.counters.redirected >= 2);
    assert!(requested(&house).len() < 10);
    house.verify();
}

#[test]
fn a_redirect_leads_to_no_address_that_was_not_allowed() {
    let house = scenario(vec![SiteBehaviour::default()]);
    let port = house.server.port();
    drop(house);
    let targets = [
        format!("http://127.0.0.1:{port}/a"),
        format!("http://2130706433:{port}/b"),
        format!("http://0177.1:{port}/c"),
        format!("http://0x7f000001:{port}/d"),
        format!("http://[::ffff:127.0.0.1]:{port}/e"),
        format!("http://127\u{3002}0\u{3002}0\u{3002}1:{port}/f"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        format!("http://localhost:{port}/g"),
    ];
    let paths: Vec<String> = (0..targets.len()).map(|n| format!("/r{n}")).collect();
    let links: Vec<String> = paths.iter().map(|p| format!("<a href={p}>x</a>")).collect();
    let links = links.concat();
    let mut fixed = vec![("/", html(&links))];
    for (path, target) in paths.iter().zip(&targets) {
        fixed.push((path, FixedPage::redirect(302, target)));
    }
    let house = scenario(vec![pages(fixed)]);
    let mut config = seeded(&house, &["/"]);
    config.engine.scope.kind = ScopeKind::Any;
    config.fetch.address_policy.allow_all = false;
    let site = house.server.web().url(0, "/");
    let named = &config.fetch.address_policy.named_hosts;
    named.insert(geomi_fetch::NamedHost::of(&site));
    let status = house.crawl(&config);
    assert_eq!(status.counters.redirected, targets.len() as u64);
    let inside = house
        .visits()
        .into_iter()
        .filter(|visit| visit.url.host() != site.host() && visit.state != NetworkState::NotTried);
    assert_eq!(inside.map(|visit| visit.url).collect::<Vec<_>>(), []);
    assert_eq!(requested(&house).len(), 1 + targets.len());
    house.verify();
}

#[test]
fn the_same_content_is_stored_once() {
    let twin = || html(&"the same long text ".repeat(50));
    let house = scenario(vec![pages(vec![
        ("/", html("<a href=/a>a</a><a href=/b>b</a>")),
        ("/a", twin()),
        ("/b", twin()),
    ])]);
    let status = house.crawl(&seeded(&house, &["/"]));
    assert_eq!((status.counters.saved, status.counters.revisits), (3, 1));
    let kinds: Vec<CaptureKind> = house
        .visits()
        .into_iter()
        .filter(|visit| !visit.is_robots)
        .filter_map(|visit| Some(visit.capture?.kind))
        .collect();
    assert_eq!(
        kinds
            .iter()
            .filter(|kind| **kind == CaptureKind::Revisit)
            .count(),
        1
    );
    house.verify();
}

#[test]
fn a_page_limit_is_exact_and_the_rest_is_kept_for_later() {
    let house = House::new(WebSpec::plain(3, 20));
    let mut config = house.config();
    config.limits.pages_max = Some(17);
    let status = house.crawl(&config);
    assert_eq!(
        (status.reason, status.counters.saved),
        (Some(Ending::PageLimit), 17)
    );
    house.verify();
    config.limits.pages_max = None;
    let status = house.crawl(&config);
    assert_eq!(
        (status.reason, status.counters.saved),
        (Some(Ending::Finished), 60)
    );
    let pages: Vec<String> = requested(&house);
    assert_eq!(pages.len(), 60, "nothing is fetched twice");
    house.verify();
}

#[test]
fn the_server_sees_the_delay_held() {
    let house = House::new(WebSpec::plain(4, 6));
    let mut config = house.config();
    let delay = Duration::from_millis(60);
    config.engine.frontier.politeness.delay = Delay::Fixed(delay);
    config.engine.frontier.politeness.site_connections = 1;
    house.crawl(&config);
    for (site, gaps) in house.server.log().gaps() {
        assert!(gaps.iter().all(|gap| *gap >= delay), "{site}: {gaps:?}");
    }
    assert!(
        house
            .server
            .log()
            .overlaps()
            .values()
            .all(|overlap| *overlap <= 1)
    );
    house.verify();
}

#[test]
fn crawl_delay_and_retry_after_are_held() {
    let delay = Duration::from_secs(1);
    let polite = SiteBehaviour {
        robots: Some(Robots::Text("User-agent: *\nCrawl-delay: 1\n".to_owned())),
        ..pages(vec![("/", html("<a href=/a>a</a>")), ("/a", html(""))])
    };
    let house = scenario(vec![polite]);
    house.crawl(&seeded(&house, &["/"]));
    for gaps in house.server.log().gaps().values() {
        assert!(gaps.iter().all(|gap| *gap >= delay), "{gaps:?}");
    }
    let busy = pages(vec![("/", FixedPage::busy(1).first_only(1))]);
    let house = scenario(vec![busy]);
    house.crawl(&seeded(&house, &["/"]));
    let entries = house.server.log().entries();
    let busy = entries
        .iter()
        .position(|entry| entry.status == 503)
        .expect("it was busy once");
    assert!(entries[busy + 1].arrived.since(entries[busy].ended) >= delay);
}

#[test]
fn a_site_that_wants_to_be_waited_for_too_long_is_left_alone() {
    let slow = SiteBehaviour {
        robots: Some(Robots::Text(
            "User-agent: *\nCrawl-delay: 1000\n".to_owned(),
        )),
        ..pages(vec![("/", html(""))])
    };
    let house = scenario(vec![slow]);
    let status = house.crawl(&seeded(&house, &["/"]));
    assert_eq!(status.sites_retired.len(), 1);
    assert!(
        status.sites_retired[0].1.contains("max_wait"),
        "{:?}",
        status.sites_retired
    );
    assert_eq!((status.queued, status.counters.saved), (1, 0));
    let again = house.crawl(&seeded(&house, &["/"]));
    assert_eq!(again.sites_retired.len(), 1, "and so in the next run");
}

#[test]
fn many_names_on_one_address_share_its_limit() {
    let mut spec = WebSpec::plain(12, 5);
    spec.naming = geomi_testweb::Naming::Hosts { addresses: 1 };
    spec.traits.latency = geomi_testweb::Latency::Equal(Duration::from_millis(15));
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.frontier.politeness.site_connections = 1;
    config.fetch.overrides = house
        .server
        .web()
        .resolve_rules()
        .iter()
        .map(|rule| geomi_fetch::parse_override(rule).unwrap())
        .collect();
    let status = house.crawl(&config);
    assert_eq!(status.counters.saved, 60);
    let entries = house.server.log().entries();
    for entry in &entries {
        let open = entries
            .iter()
            .filter(|other| other.arrived <= entry.arrived && entry.arrived < other.ended)
            .count();
        assert!(open <= 4, "{open} at once");
    }
}

#[test]
fn preferred_urls_come_first() {
    let path = |n: u32| {
        format!(
            "/{}/{n}",
            if n.is_multiple_of(25) {
                "urgent"
            } else {
                "other"
            }
        )
    };
    let links: Vec<String> = (0..100)
        .map(|n| format!("<a href={}>x</a>", path(n)))
        .collect();
    let mut fixed = vec![("/".to_owned(), html(&links.concat()))];
    fixed.extend((0..100).map(|n| (path(n), html(""))));
    let house = scenario(vec![SiteBehaviour {
        fixed,
        ..SiteBehaviour::default()
    }]);
    let mut config = seeded(&house, &["/"]);
    config.engine.prefer = vec!["*/urgent/*".to_owned()];
    config.engine.frontier.politeness.site_connections = 1;
    house.crawl(&config);
    let order = requested(&house);
    assert_eq!(order.len(), 101);
    assert!(
        order[1..5].iter().all(|path| path.starts_with("/urgent/")),
        "{:?}",
        &order[..8]
    );
}

#[test]
fn a_seed_that_could_not_be_reached_is_tried_again_by_the_next_run() {
    let house = scenario(vec![SiteBehaviour::default()]);
    let mut config = house.config();
    let url = format!("http://late.test:{}/", house.server.port());
    let url = geomi_url::CrawlUrl::parse(&url).unwrap();
    config.seeds = vec![SeedInput { url, topic: None }];
    let at = |addr: &str| vec![geomi_fetch::parse_override(&format!("late.test:{addr}")).unwrap()];
    config.fetch.overrides = at("127.99.99.99");
    let status = house.crawl(&config);
    assert_eq!(status.reason, Some(Ending::SeedsFailed));
    assert_eq!(house.server.log().len(), 0);
    config.fetch.overrides = at("127.0.1.1");
    house.crawl(&config);
    let last = house.visits().pop().expect("there were visits");
    assert!(last.state.is_answer(), "{last:?}");
    assert!(!house.server.log().is_empty());
    house.verify();
}
