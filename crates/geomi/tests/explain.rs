//! A crawl brought to a halt in every way there is, and explained each time.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use common::Workplace;
use geomi_testweb::{
    Fault, FixedPage, Robots, RobotsFault, ServerOptions, ServerThread, SiteBehaviour, Web, WebSpec,
};
use serde_json::Value;

fn serve(sites: u32, pages: u32) -> ServerThread {
    serve_with(sites, pages, SiteBehaviour::default())
}

/// A web whose first site behaves like this.
fn serve_with(sites: u32, pages: u32, behaviour: SiteBehaviour) -> ServerThread {
    let spec = WebSpec {
        site_overrides: vec![(0, behaviour)],
        ..WebSpec::plain(sites, pages)
    };
    ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap()
}

fn robots(text: &str) -> SiteBehaviour {
    SiteBehaviour {
        robots: Some(Robots::Text(text.to_owned())),
        ..SiteBehaviour::default()
    }
}

fn crawl(place: &Workplace, seeds: &[String], more: &[&str]) -> Option<i32> {
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let words = [&["crawl", "-o", "out", "--no-progress"], &seeds[..], more].concat();
    place.geomi(&words).code
}

fn seeds(server: &ServerThread) -> Vec<String> {
    server.seeds().iter().map(ToString::to_string).collect()
}

#[track_caller]
fn explain(place: &Workplace, what: &[&str]) -> Value {
    let done = place.geomi(&[&["explain", "out"], what, &["--format", "json"]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

/// The codes of the causes, in order.
#[track_caller]
fn causes(place: &Workplace) -> Vec<String> {
    let explained = explain(place, &[]);
    let causes = explained["crawl"]["causes"].as_array().unwrap();
    causes
        .iter()
        .map(|cause| cause["code"].as_str().unwrap().to_owned())
        .collect()
}

/// A crawl that stays under way until it is dropped.
struct Running(Child);

impl Running {
    /// Starts a crawl and waits for its first visit.
    fn start(place: &Workplace, words: &[&str]) -> Self {
        let mut child = place
            .command(&[&["crawl", "-o", "out", "--format", "jsonl", "-q"], words].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        Self(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn robots_txt_that_forbids_everything() {
    let place = Workplace::new();
    let server = serve_with(1, 5, robots("User-agent: *\nDisallow: /\n"));
    assert_eq!(crawl(&place, &seeds(&server), &[]), Some(3));
    assert_eq!(causes(&place), ["nothing-saved", "robots"]);
    let url = explain(&place, &[&seeds(&server)[0]]);
    assert_eq!(url["url"]["next"]["code"], "refused");
    let reason = url["url"]["next"]["text"].as_str().unwrap();
    assert!(
        reason.contains("robots.txt line 2: disallow: /"),
        "{reason}"
    );
}

#[test]
fn a_crawl_delay_over_the_cap() {
    let place = Workplace::new();
    let server = serve_with(1, 5, robots("User-agent: *\nCrawl-delay: 600\n"));
    assert_eq!(
        crawl(&place, &seeds(&server), &[]),
        Some(3),
        "nothing was saved"
    );
    let explained = explain(&place, &[]);
    let causes = &explained["crawl"]["causes"];
    assert_eq!(causes[0]["code"], "incomplete", "{explained:#}");
    assert_eq!(causes[1]["code"], "long-delay", "{explained:#}");
    let all = explained["crawl"]["causes"].to_string();
    assert!(
        all.contains("Crawl-delay") && all.contains("max_wait (300 s)"),
        "{all}"
    );
    let url = explain(&place, &[&seeds(&server)[0]]);
    assert_eq!(url["url"]["next"]["code"], "queued", "{url:#}");
    assert_eq!(url["url"]["queue"]["ahead"], 0);
    assert_eq!(url["site"]["crawl_delay_s"], 600.0);
}

#[test]
fn all_sites_failing() {
    let place = Workplace::new();
    // Nobody listens on port 9 of loopback.
    let dead = ["http://127.0.0.1:9/".to_owned()];
    let more = [
        "--set",
        "crawl.tries=1",
        "--set",
        "politeness.backoff_first=1ms",
    ];
    assert_eq!(crawl(&place, &dead, &more), Some(3));
    let causes = causes(&place);
    assert_eq!(causes[0], "seeds-failed");
    assert!(causes.contains(&"failing".to_owned()), "{causes:?}");

    // While it runs: the site is left alone after its failure.
    let place = Workplace::new();
    let more = [
        "--set",
        "politeness.backoff_first=2m",
        "--set",
        "crawl.tries=3",
    ];
    let _running = Running::start(&place, &[&[&*dead[0]], &more[..]].concat());
    let site = explain(&place, &["127.0.0.1:9"]);
    assert_eq!(site["site"]["hold"], "back-off", "{site:#}");
    assert!(has_cause(&site["crawl"]["causes"], "failing"));
}

fn has_cause(causes: &Value, code: &str) -> bool {
    let causes = causes.as_array().unwrap();
    causes.iter().any(|cause| cause["code"] == code)
}

#[test]
fn a_disk_that_is_nearly_full() {
    let (place, server) = (Workplace::new(), serve(1, 5));
    let more = ["--set", "output.min_free=1000000TiB", "--site-delay", "0s"];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(5));
    assert_eq!(causes(&place)[0], "disk-full");
    let url = explain(&place, &[&seeds(&server)[0]]);
    let next = url["url"]["next"]["text"].as_str().unwrap();
    assert!(next.contains("output.min_free"), "{next}");
}

#[test]
fn an_exclusion_of_everything() {
    let (place, server) = (Workplace::new(), serve(1, 5));
    crawl(&place, &seeds(&server), &["--exclude", "*"]);
    assert!(causes(&place).contains(&"excluded".to_owned()));
    let url = explain(&place, &[&seeds(&server)[0]]);
    assert_eq!(url["url"]["next"]["code"], "out-of-scope");
    assert!(
        url["url"]["scope"].as_str().unwrap().contains("\"*\""),
        "{url:#}"
    );
}

#[test]
fn a_limit_that_was_reached() {
    let (place, server) = (Workplace::new(), serve(1, 20));
    let more = ["-n", "4", "--site-delay", "0s"];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(4));
    assert_eq!(causes(&place)[0], "page-limit");
    assert!(explain(&place, &[])["crawl"]["queued"].as_u64().unwrap() > 0);
}

#[test]
fn a_pause() {
    let (place, server) = (Workplace::new(), serve(1, 20));
    let seed = &seeds(&server)[0];
    let _running = Running::start(&place, &[seed, "--site-delay", "1s"]);
    place.geomi(&["pause", "out"]);
    assert_eq!(causes(&place)[0], "paused");
}

#[test]
fn name_servers_that_do_not_answer() {
    let place = Workplace::new();
    let words = [
        "http://board.internal/",
        "--set",
        "fetch.name_servers=[\"127.0.0.1:9\"]",
        "--set",
        "politeness.backoff_first=1ms",
        "--set",
        "crawl.tries=1",
        "--contact",
        "https://example.org/bot",
    ];
    let code = place
        .geomi(&[&["crawl", "-o", "out", "--no-progress"], &words[..]].concat())
        .code;
    assert_eq!(code, Some(3));
    let causes = causes(&place);
    assert_eq!(causes[0], "seeds-failed");
    assert!(causes.contains(&"dns".to_owned()), "{causes:?}");
}

#[test]
fn one_site_that_is_left() {
    let (place, server) = (Workplace::new(), serve(1, 30));
    let seed = &seeds(&server)[0];
    let _running = Running::start(&place, &[seed, "--site-delay", "5s"]);
    // The first visit is robots.txt: its page, or more, are left.
    let explained = explain(&place, &[]);
    assert!(
        has_cause(&explained["crawl"]["causes"], "waiting"),
        "{explained:#}"
    );
    assert!(
        has_cause(&explained["crawl"]["causes"], "one-site"),
        "{explained:#}"
    );
    let site = explain(&place, &[seed])["site"].clone();
    assert_eq!(site["hold"], "delay", "{site:#}");
    assert!(site["until"].is_string());
}

#[test]
fn a_queue_that_is_drained() {
    let (place, server) = (Workplace::new(), serve(1, 6));
    let seed = seeds(&server)[0].clone();
    assert_eq!(
        crawl(&place, std::slice::from_ref(&seed), &["--site-delay", "0s"]),
        Some(0)
    );
    assert_eq!(causes(&place), ["drained"]);
    let url = explain(&place, &[&seed]);
    assert_eq!(url["url"]["next"]["code"], "visited");
    assert_eq!(url["url"]["recent"].as_array().unwrap().len(), 1);
    assert_eq!(url["url"]["recent"][0]["state"], "OK");
    let other = explain(&place, &["http://elsewhere.test/"]);
    assert_eq!(other["url"]["next"]["code"], "out-of-scope");
    let unknown = explain(&place, &[&format!("{seed}no-such-page")]);
    let next = &unknown["url"]["next"];
    assert_eq!(next["code"], "not-queued");
    let text = next["text"].as_str().unwrap();
    assert!(text.contains("this crawl has refused none"), "{text}");
    let words = place.geomi(&["explain", "out", &seed]);
    assert!(words.out.contains("it was visited"), "{words:#?}");
}

/// Whether a page links to a URL is not known unless the link was followed.
#[test]
fn a_url_whose_links_were_refused() {
    let chain = |path: &str, to: &str| {
        let body = format!("<title>{path}</title><a href={to}>on</a>");
        (path.to_owned(), FixedPage::html(body))
    };
    let behaviour = SiteBehaviour {
        fixed: vec![
            chain("/", "/one"),
            chain("/one", "/two"),
            chain("/two", "/three"),
        ],
        ..SiteBehaviour::default()
    };
    let (place, server) = (Workplace::new(), serve_with(1, 1, behaviour));
    let seed = seeds(&server)[0].clone();
    let at = |path: &str| format!("{}{path}", seed.trim_end_matches('/'));
    let limits = ["--site-delay", "0s", "-d", "1", "--exclude", "*/excluded"];
    assert_eq!(crawl(&place, std::slice::from_ref(&seed), &limits), Some(0));
    // One link too deep: the page that links to it is known.
    let two = explain(&place, &[&at("/two")]);
    assert_eq!(two["url"]["next"]["code"], "too-deep", "{two:#}");
    let text = two["url"]["next"]["text"].as_str().unwrap();
    assert!(text.contains("/one"), "{text}");
    assert!(causes(&place).contains(&"too-deep".to_owned()));
    // Behind a page that was not visited: nothing is known of it.
    let three = explain(&place, &[&at("/three")]);
    let next = &three["url"]["next"];
    assert_eq!(next["code"], "not-queued", "{three:#}");
    let text = next["text"].as_str().unwrap();
    assert!(text.contains("1 too-deep"), "{text}");
    assert!(!text.contains("no page visited"), "{text}");
    let scope = three["url"]["scope"].as_str().unwrap();
    assert!(scope.contains("its depth is not known"), "{scope}");
}

#[test]
fn a_crawl_that_was_killed_and_one_that_is_asked_to_wait() {
    let busy = SiteBehaviour {
        fixed: vec![("/".to_owned(), FixedPage::busy(120))],
        ..SiteBehaviour::default()
    };
    let (place, server) = (Workplace::new(), serve_with(1, 5, busy));
    let seed = seeds(&server)[0].clone();
    let running = Running::start(&place, &[&seed, "--site-delay", "10ms"]);
    // The second visit is answered with 503 and Retry-After.
    while explain(&place, &[&seed])["site"]["hold"] != "throttled" {
        std::thread::yield_now();
    }
    assert!(has_cause(
        &explain(&place, &[])["crawl"]["causes"],
        "throttled"
    ));
    drop(running);
    assert_eq!(causes(&place)[0], "gone");
    let verified = place.geomi(&["verify", "out"]);
    assert_eq!(verified.code, Some(6), "{verified:#?}");
    let verdict = verified.out.lines().last().unwrap_or_default();
    assert!(
        verdict.starts_with("interrupted: run the crawl again"),
        "{verified:#?}"
    );
}

#[test]
fn a_broken_status_is_not_blamed_on_the_queue() {
    let (place, server) = (Workplace::new(), serve(1, 3));
    crawl(&place, &seeds(&server), &["--site-delay", "0s"]);
    place.write("out/status.json", "rubbish");
    let told = place.geomi(&["explain", "out"]);
    told.fails(1, &["status.json", "writes it anew"]);
    assert!(!told.err.contains("delete frontier/"), "{told:#?}");
}

#[test]
fn an_incomplete_crawl_says_how_much_is_left_why_and_until_when() {
    let place = Workplace::new();
    let busy = SiteBehaviour {
        fixed: (1..20)
            .map(|n| (format!("/{n}"), FixedPage::busy(3_600)))
            .chain([("/".to_owned(), FixedPage::html(links(1..20)))])
            .collect(),
        ..SiteBehaviour::default()
    };
    let server = serve_with(1, 1, busy);
    let more = ["--site-delay", "0s"];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(4));
    let status: Value = serde_json::from_str(&place.read("out/status.json")).unwrap();
    assert_eq!(status["reason"], "incomplete");
    assert_eq!(status["left"]["groups"][0]["reason"], "long-wait");
    let left = status["left"]["urls"].as_u64().unwrap();
    assert!(left >= 16, "{status:#}");

    let explained = explain(&place, &[]);
    let causes = &explained["crawl"]["causes"];
    assert_eq!(causes[0]["code"], "incomplete");
    let told = causes[1]["text"].as_str().unwrap();
    assert!(
        told.starts_with(&format!("{left} URLs of 1 site")),
        "{told}"
    );
    assert!(told.contains("until 20"), "{told}");
    let codes = self::causes(&place);
    assert_eq!(codes, ["incomplete", "long-wait", "retired"]);
    let advice = causes[0]["advice"].as_str().unwrap();
    assert!(!advice.contains("goes on"), "{advice}");
    let site = seeds(&server)[0].replace("http://", "");
    let site = explain(&place, &[site.trim_end_matches('/')]);
    assert_eq!(site["site"]["hold"], "retired", "{site:#}");
    assert!(site["site"]["until"].is_string(), "{site:#}");

    let listed = place.geomi(&["ls", "out"]);
    let words = format!("incomplete: {left} URLs of 1 site wait");
    assert!(listed.out.contains(&words), "{listed:#?}");
}

fn links(numbers: std::ops::Range<u32>) -> String {
    let links: Vec<String> = numbers.map(|n| format!("<a href=/{n}>{n}</a>")).collect();
    links.concat()
}

#[test]
fn a_server_error_is_not_told_as_a_refusal() {
    let place = Workplace::new();
    let broken = SiteBehaviour {
        robots: Some(Robots::Fault(RobotsFault::Status(500))),
        ..SiteBehaviour::default()
    };
    let server = serve_with(1, 5, broken);
    let more = ["--set", "politeness.backoff_first=1ms"];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(3));
    let codes = ["seeds-failed", "failing", "robots-unreachable"];
    assert_eq!(causes(&place), codes);
    let explained = explain(&place, &[]);
    let failing = explained["crawl"]["causes"][1]["text"].as_str().unwrap();
    let site = server.seeds()[0].site().to_string();
    assert!(failing.contains(&format!("{site} (3)")), "{failing}");
}

#[test]
fn an_address_that_is_refused() {
    let place = Workplace::new();
    let link = FixedPage::html("<a href=http://127.0.0.77:9/x>x</a>");
    let behaviour = SiteBehaviour {
        fixed: vec![("/".to_owned(), link)],
        ..SiteBehaviour::default()
    };
    let server = serve_with(1, 1, behaviour);
    let more = ["--site-delay", "0s", "--scope", "any"];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(0));
    let url = explain(&place, &["http://127.0.0.77:9/x"]);
    assert_eq!(url["url"]["next"]["code"], "refused", "{url:#}");
    let next = url["url"]["next"]["text"].as_str().unwrap();
    assert!(next.contains("by the rule address: 127.0.0.77"), "{next}");
}

#[test]
fn seeds_that_all_hang_are_named() {
    let place = Workplace::new();
    let hangs = SiteBehaviour {
        robots: Some(Robots::Fault(RobotsFault::Socket(
            Fault::SilentBeforeHeader,
        ))),
        ..SiteBehaviour::default()
    };
    let server = serve_with(1, 1, hangs);
    let more = [
        "--set",
        "crawl.tries=1",
        "--set",
        "fetch.silence_timeout=200ms",
    ];
    assert_eq!(crawl(&place, &seeds(&server), &more), Some(3));
    let explained = explain(&place, &[]);
    let causes = &explained["crawl"]["causes"];
    assert_eq!(causes[0]["code"], "seeds-failed", "{causes:#}");
    let site = server.seeds()[0].site().to_string();
    assert!(
        causes[1]["text"].as_str().unwrap().contains(&site),
        "{causes:#}"
    );
}
