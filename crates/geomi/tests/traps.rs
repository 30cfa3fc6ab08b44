//! Sites without an end, crawled by the program as it is installed: each trap
//! costs little, and every good page beside it is found. Finite sites and more
//! traps are in the acceptance tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::collections::BTreeMap;

use common::Workplace;
use geomi_testweb::{PageBytes, ServerOptions, ServerThread, SiteBehaviour, Trap, Web, WebSpec};

/// One site for each trap.
fn serve(traps: &[Trap]) -> ServerThread {
    let mut spec = WebSpec::plain(traps.len() as u32, 1);
    let overrides = traps.iter().enumerate().map(|(site, trap)| {
        let own = SiteBehaviour {
            trap: Some(*trap),
            ..SiteBehaviour::default()
        };
        (site as u32, own)
    });
    spec.site_overrides = overrides.collect();
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

/// Crawls a web of traps, everything in scope; more arguments may follow.
fn crawl(place: &Workplace, server: &ServerThread, more: &[&str]) {
    let seeds: Vec<String> = server.seeds().iter().map(ToString::to_string).collect();
    place.write("seeds.txt", &seeds.join("\n"));
    let wild = seeds.last().unwrap();
    let address = wild
        .trim_start_matches("http://")
        .split(':')
        .next()
        .unwrap();
    let wild = format!("*:{address}");
    let common = [
        "crawl",
        "--seeds",
        "seeds.txt",
        "-o",
        "out",
        "--scope=any",
        "--site-delay",
        "0s",
        "--allow-private",
        "127.0.0.0/8",
        "--no-progress",
        "--resolve",
        &wild,
    ];
    let done = place.geomi(&[&common[..], more].concat());
    // It ends with 4 at a limit, or when URLs are held back.
    assert!([0, 4].contains(&done.code.unwrap()), "{done:#?}");
}

/// Requests of one site that were not for a good page, its robots.txt and front
/// page included, and which good pages were never asked for.
fn cost(server: &ServerThread, trap: Trap, seed: &str) -> (u32, Vec<String>) {
    let is_own =
        |url: &str| url.starts_with(seed) || (trap == Trap::Hosts && url.contains(Trap::WILD));
    let counts = server.log().count_by_url();
    let own: Vec<_> = counts.iter().filter(|(url, _)| is_own(url)).collect();
    let missing = trap
        .good_words()
        .filter(|word| !own.iter().any(|(url, _)| url.contains(&**word)));
    let missing: Vec<String> = missing.collect();
    let found = trap.good_words().count() - missing.len();
    let all: u32 = own.iter().map(|(_, count)| *count).sum();
    (all - found as u32, missing)
}

/// Pages of a site that lead on without an end in sight, in these tests.
const SITE_PAGES: &str = "scope.site_pages=500";

/// Requests a trap may cost. Endless new text is bounded by other budgets.
fn cost_max(trap: Trap) -> u32 {
    match trap {
        // Each page leads to several others.
        Trap::Maze | Trap::LinkFarm => 480,
        // Each page leads to one more.
        Trap::Numbered => 560,
        _ => 150,
    }
}

#[test]
fn each_trap_costs_little_and_all_good_pages_are_found() {
    let (place, server) = (Workplace::new(), serve(&Trap::ALL));
    crawl(&place, &server, &["--set", SITE_PAGES]);
    for (trap, seed) in Trap::ALL.iter().zip(server.seeds()) {
        let (requests, missing) = cost(&server, *trap, seed.as_str());
        assert!(missing.is_empty(), "{trap:?} hid {missing:?}");
        assert!(
            requests <= cost_max(*trap),
            "{trap:?} cost {requests} requests"
        );
        assert!(requests > 2, "{trap:?} was not even entered");
    }
    let status: serde_json::Value = serde_json::from_str(&place.read("out/status.json")).unwrap();
    let refusals = &status["counters"]["refusals"];
    for name in ["endless", "parameter-ignored", "domain-hosts"] {
        assert!(refusals[name].as_u64() > Some(0), "{name}: {refusals}");
    }
}

#[test]
fn the_evidence_is_explained() {
    let traps = [Trap::Pagination, Trap::SessionInQuery, Trap::Hosts];
    let (place, server) = (Workplace::new(), serve(&traps));
    crawl(&place, &server, &[]);
    let seeds = server.seeds();
    let list = seeds[0].join("/list?page=7777").unwrap().to_string();
    let done = place.geomi(&["explain", "out", &list, "--format", "json"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let url = &told["url"];
    assert_eq!(url["novelty"]["template"], "/list?page");
    let requests = url["novelty"]["account"]["requests"].as_u64();
    assert!(Some(10) < requests && requests < Some(100), "{requests:?}");
    assert_eq!(url["next"]["code"], "refused");
    let why = url["not_worth"].as_str().unwrap();
    assert!(why.starts_with("endless"), "{why}");
    let done = place.geomi(&["explain", "out", &list]);
    assert!(done.out.contains("no end"), "{}", done.out);

    let session = seeds[1].join("/view?page=good1x&visit=1&gclid=2").unwrap();
    let done = place.geomi(&["explain", "out", session.as_str(), "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let short = seeds[1].join("/view?page=good1x&visit=1").unwrap();
    assert_eq!(told["url"]["shortened"], short.as_str());
    let ignored = &told["site"]["novelty"]["ignored"];
    assert_eq!(*ignored, serde_json::json!([["/view?page&visit", "visit"]]));
}

#[test]
fn a_run_that_resumes_remembers_what_it_learned() {
    let traps = [Trap::Calendar, Trap::Facets, Trap::Hosts];
    let (place, server) = (Workplace::new(), serve(&traps));
    crawl(&place, &server, &["-n", "60"]);
    crawl(&place, &server, &["-n", "100000"]);
    for (trap, seed) in traps.into_iter().zip(server.seeds()) {
        let (requests, missing) = cost(&server, trap, seed.as_str());
        assert!(missing.is_empty(), "{trap:?} hid {missing:?}");
        assert!(requests <= 160, "{trap:?} cost {requests} requests");
    }
}

#[test]
fn it_can_be_turned_off() {
    let (place, server) = (Workplace::new(), serve(&[Trap::Maze]));
    crawl(&place, &server, &["--trap-guard", "off", "-n", "400"]);
    let (requests, _) = cost(&server, Trap::Maze, server.seeds()[0].as_str());
    assert!(requests > 370, "{requests}");
}

/// Crawls a plain web; gives how often each of its pages was asked for.
fn crawl_plain(spec: WebSpec) -> Vec<u32> {
    let spec = WebSpec {
        page_bytes: PageBytes::of_mean(2_000),
        ..spec
    };
    let server = ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    crawl(&place, &server, &[]);
    // Whether a site has an end is asked by URLs that it does not have.
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for entry in server.log().entries() {
        if entry.status == 200 && entry.target != "/robots.txt" {
            *counts
                .entry(format!("{}{}", entry.host, entry.target))
                .or_default() += 1;
        }
    }
    counts.into_values().collect()
}

fn assert_each_once(sites: u32, pages: u32, links: u32) {
    let mut spec = WebSpec::plain(sites, pages);
    spec.links_per_page = links;
    let counts = crawl_plain(spec);
    let all = (sites * pages) as usize;
    assert_eq!(counts.len(), all, "{sites} x {pages} by {links} links");
    assert!(counts.iter().all(|count| *count == 1));
}

#[test]
fn large_sites_of_one_template_are_not_cut() {
    // Eight of them make a tree, eight lead anywhere.
    assert_each_once(1, 2_000, 16);
}

#[test]
fn trees_are_not_cut_however_wide() {
    // All links of an inner page lead to its children, which nobody else names.
    assert_each_once(1, 2_000, 10);
    assert_each_once(1, 1_200, 2);
    assert_each_once(1, 1_200, 3);
}

#[test]
fn graphs_over_many_sites_are_not_cut() {
    assert_each_once(8, 250, 50);
    assert_each_once(8, 250, 12);
}
