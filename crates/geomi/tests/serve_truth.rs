//! What the console shows is true: why a crawl rests, what a start did, what changed.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;

use common::Workplace;
use common::console::{Console, bearer, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const KOREAN: &str = "Accept-Language: ko\r\n";

/// Serves one page that says something else at each visit; `None` is "not modified".
fn changing_page(bodies: &'static [Option<&'static str>]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut visits = bodies.iter();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut request = String::new();
            stream.read_line(&mut request).unwrap();
            let mut line = String::new();
            while stream.read_line(&mut line).is_ok_and(|read| read > 2) {
                line.clear();
            }
            let (status, body) = match request.split(' ').nth(1) {
                Some("/") => match visits.next().copied().flatten() {
                    Some(body) => ("200 OK", body),
                    None => ("304 Not Modified", ""),
                },
                _ => ("404 Not Found", ""),
            };
            let length = body.len();
            // Whoever went away need not be answered.
            let _gone = write!(
                stream.get_mut(),
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\nETag: \"{length}\"\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    url
}

#[test]
fn a_price_that_returns_has_changed_and_304_redirects_nowhere() {
    let place = Workplace::new();
    let url = changing_page(&[
        Some("<p>The price of this chair is 10 won today."),
        Some("<p>The price of this chair is 12 won, alas."),
        Some("<p>The price of this chair is 10 won today."),
        None,
    ]);
    for again in [None, Some("--again"), Some("--again"), Some("--again")] {
        let mut words = vec!["crawl", &url, "-o", "root/shop", "--site-delay", "0s"];
        words.extend(again);
        let done = place.geomi(&words);
        assert_eq!(done.code, Some(0), "{done:#?}");
    }
    let console = Console::start(&place, &[]);
    let fields = bearer(&console.admin_token());
    let query = url.replace(':', "%3A").replace('/', "%2F");
    let path = format!("/api/v1/crawls/shop/captures?url={query}");
    let found = console.ask("GET", &path, &fields, "").json(200);
    let rows = found["items"].as_array().unwrap().iter();
    let rows: Vec<_> = rows
        .map(|row| (&row["code"], &row["changed"], &row["mime"]))
        .collect();
    let (ok, html) = (json!(200), json!("text/html"));
    let expected = [
        (&json!(304), &json!(false), &html),
        (&ok, &json!(true), &html),
        (&ok, &json!(true), &html),
        (&ok, &Value::Null, &html),
    ];
    assert_eq!(rows, expected, "{found:#}");
    let page = format!("/crawls/shop/captures?url={query}");
    let page = console.ask("GET", &page, &fields, "").body;
    assert_eq!(
        page.matches("<strong>changed</strong>").count(),
        2,
        "{page}"
    );

    let detail = console
        .ask("GET", "/api/v1/crawls/shop", &fields, "")
        .json(200);
    assert_eq!(detail["classes"]["304"], 1, "{detail}");
    assert_eq!(detail["classes"].get("3xx"), None, "{detail}");
    let live = console.ask("GET", "/crawls/shop", &fields, "").body;
    assert!(
        live.contains("not modified") && !live.contains(">3xx<"),
        "{live}"
    );
}

#[test]
fn a_crawl_at_rest_says_why_in_both_languages() {
    let place = Workplace::new();
    let console = Console::start(&place, &[]);
    let session = console.admin_session();
    let token = console.token(&session, "admin");
    let fields = bearer(&token);
    let settings = ["crawl.retry_wait=1h"];
    let order = json!({ "urls": ["http://127.0.0.1:9/"], "name": "one", "settings": settings });
    let order = order.to_string();
    console
        .ask("POST", "/api/v1/crawls", &fields, &order)
        .json(201);
    let running = console.ask("GET", "/crawls/one", &fields, "").body;
    assert!(!running.contains("Why it is not running"), "{running}");
    assert!(running.contains("class=\"alert connection\""), "{running}");

    let mut events = console.open("GET", "/api/v1/crawls/one/events", &fields, "");
    let stop = console.ask("POST", "/api/v1/crawls/one/stop", &fields, "");
    assert_eq!(stop.code, 204);
    wait_for(&mut events, |_, status| status["state"] == "stopped");
    let why = |fields: &str| console.ask("GET", "/crawls/one", fields, "").body;
    assert!(why(&fields).contains("somebody stopped the crawl"));
    assert!(
        place
            .geomi(&["explain", "root/one"])
            .out
            .contains("somebody stopped the crawl")
    );
    let korean = why(&format!("{fields}{KOREAN}"));
    assert!(korean.contains("사용자가 수집을 멈췄습니다"), "{korean}");
    assert!(
        korean.contains("같은 명령을 다시 실행하면 이어집니다"),
        "{korean}"
    );
    assert!(!korean.contains("somebody stopped"), "{korean}");

    let again = console.ask("POST", "/crawls/one/start", &session, "");
    assert_eq!(again.field("location"), Some("/crawls/one?started=again"));
    let page = console
        .ask("GET", "/crawls/one?started=again", &fields, "")
        .body;
    assert!(page.contains("The crawl was started again."), "{page}");
    // Killed before it wrote a status of its own, it would leave that of the run before.
    wait_for(&mut events, |_, status| status["state"] == "running");
    let crawl = console
        .ask("GET", "/api/v1/crawls/one", &fields, "")
        .json(200);
    let pid = i32::try_from(crawl["pid"].as_u64().unwrap()).unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    wait_for(&mut events, |_, status| status["state"] == "not-closed");
    let gone = "the last one ended without closing it";
    assert!(why(&fields).contains(gone));
    assert!(place.geomi(&["explain", "root/one"]).out.contains(gone));
    // An open page is told too.
    let mut pieces = console
        .open("GET", "/crawls/one/events", &fields, "")
        .lines();
    let told = pieces.find(|line| line.as_ref().unwrap().contains(gone));
    assert!(told.is_some());
    let mut figures = pieces.filter(|line| line.as_ref().unwrap() == "event: figures");
    assert!(
        figures.nth(1).is_some(),
        "a page hears something all the time"
    );
}

#[test]
fn start_again_on_a_finished_crawl_says_what_it_did() {
    let place = Workplace::new();
    let url = changing_page(&[Some("<p>A page that is all there is of this site.")]);
    let words = ["crawl", &url, "-o", "root/one", "--site-delay", "0s"];
    assert_eq!(place.geomi(&words).code, Some(0));
    let console = Console::start(&place, &[]);
    let session = console.admin_session();
    let again = console.ask("POST", "/crawls/one/start", &session, "");
    let to = again.field("location").unwrap();
    let page = console.ask("GET", to, &session, "").body;
    assert!(
        page.contains("has ended already. Pages saved in this run: 0."),
        "{page}"
    );
    assert!(page.contains("Nothing was left to do"), "{page}");
    assert!(page.contains("geomi crawl --again -o "), "{page}");
    let korean = console
        .ask("GET", to, &format!("{session}{KOREAN}"), "")
        .body;
    assert!(korean.contains("남은 작업이 없었습니다"), "{korean}");
    assert!(
        korean.contains("수집이 끝났습니다. 대기 중인 주소가 없습니다."),
        "{korean}"
    );
}
