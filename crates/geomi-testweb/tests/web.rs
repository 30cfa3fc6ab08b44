//! The web as data: purity, reachability, sizes, roles, changes.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test as tests do"
)]

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_testweb::{
    Ask, ChangeMix, ChangeProcess, Encoding, Fault, FixedPage, Latency, Naming, PageBytes, PageId,
    Pages, RateLaw, RedirectTarget, Robots, RobotsFault, Role, SiteBehaviour, SiteCharset, Web,
    WebSpec,
};
use geomi_url::CrawlUrl;

const NOW: Timestamp = Timestamp::from_secs(1_794_735_720);
const DAY: Duration = Duration::from_hours(24);

fn get(web: &Web, url: &CrawlUrl, at: Timestamp) -> geomi_testweb::Answer {
    web.answer(url.authority(), url.path_and_query(), at)
}

/// The targets of all `href`s, as a crawler would resolve them.
fn hrefs(base: &CrawlUrl, body: &[u8]) -> Vec<CrawlUrl> {
    let text = String::from_utf8_lossy(body);
    text.split("<a href=\"")
        .skip(1)
        .map(|rest| base.join(rest.split('"').next().unwrap()).unwrap())
        .collect()
}

/// Every URL reached by following links from the seeds, each asked for once.
fn crawl(web: &Web, mut visit: impl FnMut(&CrawlUrl, &geomi_testweb::Answer)) -> HashSet<CrawlUrl> {
    let mut queue: VecDeque<CrawlUrl> = web.seeds().into();
    let mut seen: HashSet<CrawlUrl> = queue.iter().cloned().collect();
    while let Some(url) = queue.pop_front() {
        let answer = get(web, &url, NOW);
        visit(&url, &answer);
        for link in hrefs(&url, &answer.body) {
            if seen.insert(link.clone()) {
                queue.push_back(link);
            }
        }
    }
    seen
}

#[test]
fn the_same_specification_gives_the_same_bytes() {
    let (one, two) = (
        Web::new(WebSpec::lively(5, 60)),
        Web::new(WebSpec::lively(5, 60)),
    );
    let mut other_seed = WebSpec::lively(5, 60);
    other_seed.seed += 1;
    let other = Web::new(other_seed);
    let mut differing = 0;
    for id in one.all_pages() {
        let url = one.page_url(id.site, id.page);
        let (a, b) = (get(&one, &url, NOW), get(&two, &url, NOW));
        assert_eq!((a.status, &a.headers), (b.status, &b.headers), "{url}");
        assert_eq!((&a.body, a.latency), (&b.body, b.latency), "{url}");
        differing += u32::from(get(&other, &url, NOW).body != a.body);
    }
    assert!(differing > 250, "another seed is another web: {differing}");
}

#[test]
fn every_page_of_a_plain_web_is_reachable_and_no_other() {
    let mut spec = WebSpec::plain(20, 1000);
    spec.page_bytes = PageBytes::of_mean(6_000);
    let web = Web::new(spec);
    let mut seen: HashSet<PageId> = (0..20).map(|site| PageId { site, page: 0 }).collect();
    let mut queue: Vec<PageId> = seen.iter().copied().collect();
    while let Some(PageId { site, page }) = queue.pop() {
        assert_eq!(get(&web, &web.page_url(site, page), NOW).status, 200);
        let links = web.links_of(site, page);
        assert_eq!(links.len(), 50);
        queue.extend(links.into_iter().filter(|to| seen.insert(*to)));
    }
    assert_eq!(seen, web.all_pages().collect());
    assert_eq!(seen.len(), 20_000);
}

#[test]
fn a_crawler_that_follows_links_finds_exactly_the_pages() {
    let web = Web::new(WebSpec::plain(4, 250));
    let mut bodies = HashSet::new();
    let seen = crawl(&web, |url, answer| {
        assert_eq!(answer.status, 200, "{url}");
        bodies.insert(answer.body.clone());
    });
    let pages = web.all_pages().map(|id| web.page_url(id.site, id.page));
    assert_eq!(seen, pages.collect());
    assert_eq!(bodies.len(), 1000, "no two pages are the same");
}

#[test]
fn each_site_is_reachable_on_its_own_with_any_number_of_links() {
    for links in [1, 2, 7] {
        let mut spec = WebSpec::plain(2, 300);
        spec.links_per_page = links;
        let web = Web::new(spec);
        let mut seen = HashSet::from([PageId { site: 1, page: 0 }]);
        let mut queue = vec![PageId { site: 1, page: 0 }];
        while let Some(id) = queue.pop() {
            let near = web.links_of(id.site, id.page).into_iter();
            queue.extend(near.filter(|to| to.site == 1 && seen.insert(*to)));
        }
        assert_eq!(seen.len(), 300, "{links} links a page");
    }
}

#[test]
fn links_in_pages_are_those_of_the_graph() {
    let mut spec = WebSpec::plain(4, 150);
    spec.traits.query_urls = 0.5;
    spec.naming = Naming::Hosts { addresses: 1 };
    spec.port = 8080;
    let web = Web::new(spec);
    for id in web.all_pages().step_by(7) {
        let url = web.page_url(id.site, id.page);
        let expected: Vec<_> = web
            .links_of(id.site, id.page)
            .into_iter()
            .map(|to| web.page_url(to.site, to.page))
            .collect();
        assert_eq!(hrefs(&url, &get(&web, &url, NOW).body), expected, "{url}");
    }
}

#[test]
fn page_sizes_have_the_mean_asked_for() {
    for mean in [18_000, 100_000] {
        let mut spec = WebSpec::plain(10, 200);
        spec.page_bytes = PageBytes::of_mean(mean);
        let web = Web::new(spec);
        let sizes: Vec<usize> = web
            .all_pages()
            .map(|id| get(&web, &web.page_url(id.site, id.page), NOW).body.len())
            .collect();
        let seen = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        assert!((seen / f64::from(mean) - 1.0).abs() < 0.05, "{seen}");
        let above = sizes
            .iter()
            .filter(|size| **size > 2 * mean as usize)
            .count();
        assert!(above > 20, "the law has a tail: {above}");
    }
}

#[test]
fn site_sizes_follow_zipf() {
    let mut spec = WebSpec::plain(2000, 1);
    spec.pages_per_site = Pages::Zipf { min: 10, max: 1000 };
    let web = Web::new(spec);
    let sizes: Vec<u32> = (0..2000).map(|site| web.pages_of(site)).collect();
    assert!(sizes.iter().all(|size| (10..=1000).contains(size)));
    let small = sizes.iter().filter(|size| **size < 20).count();
    assert!(
        (900..1100).contains(&small),
        "half are below twice the least"
    );
    assert!(sizes.iter().any(|size| *size > 300));
}

#[test]
fn pages_are_what_their_roles_say() {
    let mut spec = WebSpec::plain(4, 2000);
    let traits = &mut spec.traits;
    traits.missing = 0.05;
    traits.failing = 0.05;
    traits.busy = 0.05;
    traits.redirects = 0.05;
    traits.duplicates = 0.05;
    traits.faults = 0.05;
    traits.disallowed = 0.05;
    spec.page_bytes = PageBytes::of_mean(5_000);
    let web = Web::new(spec);
    let mut others = 0;
    for PageId { site, page } in web.all_pages() {
        let url = web.page_url(site, page);
        let answer = get(&web, &url, NOW);
        let role = web.role(site, page);
        others += u32::from(role != Role::Page);
        match role {
            Role::Page => assert_eq!(answer.status, 200),
            Role::Missing(status) => assert_eq!(answer.status, status),
            Role::Failing => assert_eq!(answer.status, 500),
            Role::Busy => {
                let later = get(&web, &url, NOW + Duration::from_secs(4));
                let (now, then) = (answer.status, later.status);
                assert!((now, then) == (200, 503) || (now, then) == (503, 200));
                assert_eq!(now == 503, answer.header("Retry-After").is_some());
            }
            Role::Redirect(status, to) => {
                assert_eq!(answer.status, status);
                let target = url.join(answer.header("Location").unwrap()).unwrap();
                let next = get(&web, &target, NOW);
                match to {
                    RedirectTarget::Page(to) => {
                        assert_eq!(target, web.page_url(to.site, to.page));
                        assert_eq!(next.status, 200);
                    }
                    RedirectTarget::Loop => {
                        assert_eq!(next.header("Location"), Some(target.path()));
                    }
                }
            }
            Role::DuplicateOf(original) => {
                let original = web.page_url(site, original);
                assert_ne!(url, original);
                assert_eq!(answer.body, get(&web, &original, NOW).body);
            }
            Role::Faulty(fault) => assert_eq!(answer.fault, Some(fault)),
            Role::Disallowed => {
                assert!(url.path().starts_with("/private/"));
                let robots = web.answer(url.host(), "/robots.txt", NOW);
                assert!(robots.body.ends_with(b"Disallow: /private/\n"));
            }
        }
    }
    let share = f64::from(others) / 8000.0;
    assert!((share - 0.35).abs() < 0.03, "{share}");
}

#[test]
fn misbehaving_pages_do_not_cut_others_off() {
    let mut spec = WebSpec::lively(6, 400);
    spec.traits.charsets = 0.0;
    let web = Web::new(spec);
    let mut unknown = Vec::new();
    let seen = crawl(&web, |url, answer| {
        let site = web.site_of(url.host()).unwrap();
        if web.page_at(site, url.path_and_query()).is_none() {
            unknown.push((url.clone(), answer.status));
        }
    });
    assert!(unknown.is_empty(), "links to nowhere: {unknown:?}");
    assert_eq!(seen.len(), 2400);
}

#[test]
fn a_new_version_changes_part_of_a_page() {
    let mut spec = WebSpec::plain(1, 40);
    spec.traits.changes = ChangeMix {
        never: 0.0,
        rate: RateLaw::Equal(1.0),
        profiles: [1.0, 0.0, 0.0],
    };
    let web = Web::new(spec);
    for page in 0..40 {
        let url = web.page_url(0, page);
        let changes = web.changes_between(0, page, NOW, NOW + DAY * 30);
        let before = get(&web, &url, changes[0] - Duration::from_micros(1)).body;
        let after = get(&web, &url, changes[0]).body;
        assert_eq!(
            get(&web, &url, changes[1] - Duration::from_micros(1)).body,
            after
        );
        assert_ne!(before, after);
        assert_eq!(hrefs(&url, &before), hrefs(&url, &after));
        let paragraphs = |body: &[u8]| -> Vec<String> {
            let text = String::from_utf8_lossy(body).into_owned();
            text.split("<p>").map(str::to_owned).collect()
        };
        let (old, new) = (paragraphs(&before), paragraphs(&after));
        let kept = old.iter().filter(|part| new.contains(part)).count();
        assert!(kept * 2 > old.len(), "page {page}: {kept} of {}", old.len());
    }
}

#[test]
fn truth_about_changes_holds_over_a_whole_web() {
    let mut spec = WebSpec::plain(10, 120);
    spec.traits.changes = ChangeMix::web();
    let web = Web::new(spec);
    let mut never = 0;
    for PageId { site, page } in web.all_pages() {
        let mut last = web.version_at(site, page, NOW);
        never += u32::from(web.change_process(site, page) == ChangeProcess::Never);
        for day in 1..20 {
            let (from, to) = (NOW + DAY * (day - 1), NOW + DAY * day);
            let version = web.version_at(site, page, to);
            let changes = web.changes_between(site, page, from, to);
            assert_eq!(version, last + changes.len() as u64);
            assert!(changes.is_sorted());
            last = version;
        }
    }
    assert!((80..160).contains(&never), "a tenth never changes: {never}");
}

#[test]
fn noise_differs_at_every_fetch_without_a_change() {
    let mut spec = WebSpec::plain(1, 10);
    spec.traits.noise = 1.0;
    spec.traits.validators = 1.0;
    let web = Web::new(spec);
    let url = web.page_url(0, 3);
    let (now, then) = (NOW, NOW + Duration::from_secs(1));
    assert_ne!(get(&web, &url, now).body, get(&web, &url, then).body);
    assert_eq!(web.version_at(0, 3, now), web.version_at(0, 3, then));
    assert_eq!(get(&web, &url, now).header("ETag"), None);
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let mut spec = WebSpec::plain(1, 10);
    spec.traits.validators = 1.0;
    spec.traits.changes = ChangeMix {
        never: 0.0,
        rate: RateLaw::Equal(0.5),
        profiles: [1.0, 0.0, 0.0],
    };
    let web = Web::new(spec);
    let target = web.page_path(0, 1);
    let ask = Ask {
        host: "127.0.1.1",
        target: &target,
        ..Ask::default()
    };
    let first = web.answer_to(&ask, NOW);
    let by_tag = Ask {
        if_none_match: first.header("ETag"),
        ..ask
    };
    let by_date = Ask {
        if_modified_since: first.header("Last-Modified"),
        ..ask
    };
    for conditional in [by_tag, by_date] {
        let again = web.answer_to(&conditional, NOW);
        assert_eq!((again.status, again.body.len()), (304, 0));
        assert_eq!(again.header("ETag"), first.header("ETag"));
        let change = web.changes_between(0, 1, NOW, NOW + DAY * 365)[0];
        let later = web.answer_to(&conditional, change + Duration::from_secs(1));
        assert_eq!(later.status, 200);
    }
}

#[test]
fn charsets_are_what_the_site_really_uses() {
    let overrides = SiteCharset::KOREAN_MIX.into_iter().enumerate();
    let mut spec = WebSpec::plain(8, 5);
    spec.traits.korean = 1.0;
    spec.site_overrides = overrides
        .map(|(site, charset)| {
            let behaviour = SiteBehaviour {
                charset: Some(charset),
                ..SiteBehaviour::default()
            };
            (site as u32, behaviour)
        })
        .collect();
    let web = Web::new(spec);
    for (site, charset) in SiteCharset::KOREAN_MIX.into_iter().enumerate() {
        let answer = get(&web, &web.page_url(site as u32, 2), NOW);
        let label = answer.header("Content-Type").unwrap();
        assert_eq!(
            label.split_once("charset=").map(|(_, l)| l),
            charset.header_label
        );
        let decoder = match charset.encoding {
            Encoding::Utf8 => encoding_rs::UTF_8,
            Encoding::EucKr | Encoding::Cp949 => encoding_rs::EUC_KR,
            Encoding::Iso2022Kr => {
                assert!(answer.body.starts_with(b"\x1b$)C") && answer.body.is_ascii());
                continue;
            }
        };
        let (text, _, wrong) = decoder.decode(&answer.body);
        assert!(!wrong && text.contains("다"), "{charset:?}");
        let meta = charset
            .meta_label
            .map(|label| format!("<meta charset=\"{label}\">"));
        assert!(meta.is_none_or(|meta| text.contains(&meta)));
    }
}

#[test]
fn latencies_are_drawn_once_a_site() {
    let mut spec = WebSpec::plain(400, 1);
    spec.traits.latency = Latency::LogNormal {
        median: Duration::from_millis(80),
        sigma: 0.8,
    };
    spec.traits.slow_sites = 0.1;
    spec.traits.slow = Latency::Equal(Duration::from_secs(5));
    let web = Web::new(spec);
    let mut latencies: Vec<Duration> = (0..400).map(|site| web.latency_of(site)).collect();
    assert_eq!(web.answer("127.0.1.8", "/", NOW).latency, latencies[7]);
    latencies.sort_unstable();
    let median = latencies[190].as_secs_f64();
    assert!((0.06..0.11).contains(&median), "{median}");
    let slow = latencies.iter().filter(|l| **l == Duration::from_secs(5));
    assert!((20..60).contains(&slow.count()));
}

#[test]
fn special_paths_answer_on_every_site() {
    let web = Web::new(WebSpec::plain(2, 2));
    let status = |path: &str| web.answer("127.0.1.2", path, NOW).status;
    assert_eq!(status("/status/418"), 418);
    assert_eq!(status("/status/99"), 404);
    assert_eq!(status("/nowhere"), 404);
    assert_eq!(status("/robots.txt"), 404);
    assert_eq!(status("/static/site.css"), 404);
    assert_eq!(web.answer("127.0.1.3", "/", NOW).status, 421);
    let mut hop = "/redirect/chain/3".to_owned();
    let mut hops = 0;
    while hop != "/" {
        let answer = web.answer("127.0.1.1", &hop, NOW);
        hop = answer.header("Location").unwrap().to_owned();
        hops += 1;
    }
    assert_eq!(hops, 3);
    let index = web.answer("127.0.1.1", "/fault/", NOW);
    let links = hrefs(&web.url(0, "/fault/"), &index.body);
    for (fault, link) in Fault::ALL.into_iter().zip(links) {
        assert_eq!(get(&web, &link, NOW).fault, Some(fault));
    }
}

#[test]
fn overrides_write_small_scenarios() {
    let robots = |robots| SiteBehaviour {
        robots: Some(robots),
        ..SiteBehaviour::default()
    };
    let mut spec = WebSpec::plain(6, 3);
    spec.site_overrides = vec![
        (0, robots(Robots::Fault(RobotsFault::Status(500)))),
        (1, robots(Robots::Fault(RobotsFault::Redirects(2)))),
        (2, robots(Robots::Fault(RobotsFault::Huge))),
        (
            3,
            robots(Robots::Fault(RobotsFault::Socket(
                Fault::SilentBeforeHeader,
            ))),
        ),
        (4, robots(Robots::Fault(RobotsFault::Busy(9)))),
        (
            5,
            SiteBehaviour {
                crawl_delay: Some(Duration::from_millis(1500)),
                latency: Some(Duration::from_millis(7)),
                fixed: vec![("/x".into(), FixedPage::busy(3).first_only(2))],
                pages: Some(90),
                ..SiteBehaviour::default()
            },
        ),
    ];
    let web = Web::new(spec);
    let robots = |site| web.answer(&web.host_of(site), "/robots.txt", NOW);
    assert_eq!(robots(0).status, 500);
    assert_eq!(robots(1).header("Location"), Some("/robots-hop/1"));
    assert_eq!(web.answer("127.0.1.2", "/robots-hop/2", NOW).status, 200);
    assert!(robots(2).body.len() > 2 << 20);
    assert_eq!(robots(3).fault, Some(Fault::SilentBeforeHeader));
    assert_eq!(robots(4).header("Retry-After"), Some("9"));
    assert!(robots(5).body.ends_with(b"Crawl-delay: 1.5\n"));
    assert_eq!(robots(5).latency, Duration::from_millis(7));
    assert_eq!(web.pages_of(5), 90);
    let asked = |asked_before| {
        let ask = Ask {
            host: "127.0.1.6",
            target: "/x",
            asked_before,
            ..Ask::default()
        };
        web.answer_to(&ask, NOW).status
    };
    assert_eq!([0, 1, 2].map(asked), [503, 503, 404]);
}
