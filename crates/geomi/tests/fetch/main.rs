//! `geomi fetch` against servers on loopback: what is shown is what was decided.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod addresses;
#[path = "../common/mod.rs"]
mod common;
mod foreign_text;
mod server;

use std::io::Write as _;

use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use serde_json::{Value, json};
use server::{Server, answer, html, redirect, robots};

/// Runs `geomi fetch` without pauses; its object and its exit code.
#[track_caller]
fn fetch(url: &str, more: &[&str]) -> (Value, i32) {
    let words = ["fetch", url, "--format", "json", "--site-delay", "0s"];
    told(&Workplace::new().geomi(&[&words[..], more].concat()))
}

#[track_caller]
fn told(done: &Done) -> (Value, i32) {
    let object =
        serde_json::from_str(&done.out).unwrap_or_else(|error| panic!("{error}: {done:#?}"));
    (object, done.code.unwrap())
}

fn url(server: &Server, path: &str) -> String {
    format!("http://127.0.0.1:{}{path}", server.port())
}

#[test]
fn a_page_is_told_as_a_crawl_would_store_it() {
    let server =
        ServerThread::start(Web::new(WebSpec::plain(1, 8)), ServerOptions::default()).unwrap();
    let seed = server.seeds()[0].to_string();
    let place = Workplace::new();
    let quick = ["--site-delay", "0s", "--scope", "page"];
    let crawl = place.geomi(&[&["crawl", &seed, "-o", "out", "-q"], &quick[..]].concat());
    assert_eq!(crawl.code, Some(0), "{crawl:#?}");
    let used = place.read("out/geomi.toml");

    let done = place.geomi(&["fetch", &seed, "-o", "out", "--format", "json"]);
    let (all, code) = told(&done);
    assert_eq!(code, 0, "{all:#}");
    let hop = &all["hops"][0];
    assert_eq!(all["outcome"]["result"], "answered");
    assert_eq!(hop["scope"]["rule"], "seed");
    assert_eq!(hop["dns"]["source"], "literal");
    assert_eq!(hop["dns"]["chosen"], "127.0.1.1");
    assert_eq!(hop["robots"]["allowed"], true);
    assert_eq!(
        hop["robots"]["asked"][0]["state"], "code",
        "the web has none"
    );
    assert_eq!(hop["answer"]["state"], "OK");
    assert_eq!(hop["politeness"]["fate"], "saved");
    let links = &hop["page"]["links"];
    assert_eq!(
        links["accepted"], 0,
        "scope page, as the directory says: {links}"
    );
    assert_eq!(links["refused"]["off-scope"], links["total"]);

    // What was shown is what the crawl wrote, but for place and time.
    let index = place.read("out/index/index.cdxj");
    let line = index.lines().find(|line| line.contains("\"200\"")).unwrap();
    let fields = |line: &str| -> Value {
        let json = line.splitn(3, ' ').nth(2).unwrap();
        let mut fields: Value = serde_json::from_str(json).unwrap();
        for name in ["offset", "filename", "length"] {
            fields.as_object_mut().unwrap().remove(name);
        }
        fields
    };
    let shown = hop["store"]["cdxj"].as_str().unwrap();
    assert_eq!(fields(shown), fields(line));
    assert_eq!(shown.split(' ').next(), line.split(' ').next());
    assert_eq!(place.read("out/geomi.toml"), used, "nothing was written");
}

#[test]
fn redirects_are_followed_hop_by_hop_with_the_rules_of_each_site() {
    let other = Server::start_at(
        "127.0.0.2",
        vec![
            robots("User-agent: *\nDisallow: /shut\n"),
            ("/open", html("<title>There</title>")),
        ],
    );
    let there = |path: &str| format!("http://127.0.0.2:{}{path}", other.port());
    let server = Server::start(vec![
        ("/a", redirect("/b")),
        ("/b", redirect(&there("/open"))),
        ("/c", redirect(&there("/shut"))),
    ]);
    let open = ["--allow-private", "all"];
    let (all, code) = fetch(&url(&server, "/a"), &open);
    assert_eq!(code, 0, "{all:#}");
    let hops = all["hops"].as_array().unwrap();
    let rules: Vec<_> = hops
        .iter()
        .map(|hop| hop["scope"]["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["seed", "seed-redirect", "seed-redirect"]);
    assert_eq!(hops[0]["end"]["result"], "redirected");
    assert_eq!(hops[1]["robots"]["remembered"], true);
    assert_eq!(hops[2]["robots"]["remembered"], false);
    assert_eq!(hops[2]["page"]["title"], "There");
    assert_eq!(all["outcome"]["url"], there("/open"));
    assert_eq!(server.asked(), ["/robots.txt", "/a", "/b"]);

    let (all, code) = fetch(&url(&server, "/c"), &open);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("robots")));
    assert_eq!(all["hops"][1]["robots"]["line"], 2);
    assert!(!other.asked().contains(&"/shut".to_owned()));

    // Without --allow-private the other address stays closed.
    let (all, code) = fetch(&url(&server, "/a"), &[]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("address")));
    assert_eq!(all["hops"][2]["dns"]["addresses"][0]["refused"], "loopback");
}

#[test]
fn redirects_end_at_the_limit_and_in_a_circle() {
    let server = Server::start(vec![
        ("/1", redirect("/2")),
        ("/2", redirect("/3")),
        ("/3", redirect("/1")),
    ]);
    let (all, code) = fetch(&url(&server, "/1"), &["--set", "fetch.redirects=1"]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("redirects")));
    assert_eq!(all["hops"].as_array().unwrap().len(), 2);
    let (all, code) = fetch(&url(&server, "/1"), &[]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("redirects")));
    let reason = all["outcome"]["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("/1, which was asked for already"),
        "{reason}"
    );
    assert_eq!(all["hops"].as_array().unwrap().len(), 3);
}

#[test]
fn robots_txt_refuses_by_group_and_line_unless_it_is_ignored() {
    let text = "# ours\nUser-agent: other\nDisallow:\n\nUser-agent: *\nDisallow: /private/\nAllow: /private/map\nCrawl-delay: 3\nSitemap: http://example.com/map.xml\n";
    let server = Server::start(vec![robots(text), ("/private/x", html("<title>X</title>"))]);
    let (all, code) = fetch(&url(&server, "/private/x"), &[]);
    assert_eq!(code, 3);
    assert_eq!(
        all["outcome"]["reason"],
        "robots.txt line 6: disallow: /private/"
    );
    let robots = &all["hops"][0]["robots"];
    assert_eq!(robots["answer"], "rules");
    assert_eq!(robots["allowed"], false);
    assert_eq!(
        (&robots["group"], &robots["group_lines"]),
        (&json!("*"), &json!([5]))
    );
    assert_eq!(
        (&robots["line"], &robots["rule"]),
        (&json!(6), &json!("disallow: /private/"))
    );
    assert_eq!(robots["crawl_delay_ms"], 3000.0);
    assert_eq!(robots["sitemaps"], json!(["http://example.com/map.xml"]));
    assert_eq!(robots["asked"][0]["code"], 200);
    assert_eq!(
        server.asked(),
        ["/robots.txt"],
        "the page was never asked for"
    );

    let ignore = ["--robots", "ignore", "--i-own-these-hosts"];
    let (all, code) = fetch(&url(&server, "/private/x"), &ignore);
    assert_eq!(code, 0, "{all:#}");
    assert_eq!(all["hops"][0]["robots"]["answer"], "ignored");
    assert_eq!(server.asked(), ["/robots.txt", "/private/x"]);

    let (all, code) = fetch(&url(&server, "/private/x"), &["--user-agent", "other/1.0"]);
    assert_eq!(code, 0, "{all:#}");
    assert_eq!(all["hops"][0]["robots"]["group"], "other");
}

#[test]
fn a_robots_txt_that_redirects_or_fails_is_told_request_by_request() {
    let moved = Server::start(vec![
        ("/robots.txt", redirect("/rules")),
        (
            "/rules",
            answer("200 OK", &[], b"user-agent: geomi\nallow: /\n"),
        ),
        ("/", html("")),
    ]);
    let (all, code) = fetch(&url(&moved, "/"), &[]);
    assert_eq!(code, 0, "{all:#}");
    let robots = &all["hops"][0]["robots"];
    let asked: Vec<_> = robots["asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ask| ask["code"].clone())
        .collect();
    assert_eq!(asked, [302, 200]);
    assert_eq!(
        (&robots["group"], &robots["rule"]),
        (&json!("geomi"), &json!("allow: /"))
    );

    let down = Server::start(vec![("/robots.txt", answer("500 Oops", &[], b""))]);
    let (all, code) = fetch(&url(&down, "/"), &[]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("not tried")));
    assert_eq!(all["outcome"]["reason"], "robots.txt answered 500");
    assert_eq!(all["hops"][0]["robots"]["answer"], "unreachable");
    assert_eq!(all["hops"][0]["robots"]["asked"][0]["would_retry"], true);
}

/// A page in EUC-KR that says so inside, compressed.
fn korean() -> (Vec<u8>, Vec<u8>) {
    let page = [
        b"<html><meta charset=ks_c_5601-1987><base href=/dir/><title>".as_slice(),
        b"\xC7\xD1\xB1\xDB</title><meta name=robots content=noindex>",
        b"<link rel=canonical href=/one><p>\xBE\xC8\xB3\xE7<a href=x>1</a><a href=/y rel=nofollow>2</a>",
        b"<iframe src=f.html></iframe><img src=http://far.test/i.png>",
    ]
    .concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&page).unwrap();
    let fields = [
        "Content-Type: text/html",
        "Content-Encoding: gzip",
        "Content-Language: ko",
        "X-Robots-Tag: otherbot: nofollow",
    ];
    (answer("200 OK", &fields, &gzip.finish().unwrap()), page)
}

#[test]
fn a_page_is_read_and_every_reason_shown() {
    let (sent, page) = korean();
    let server = Server::start(vec![("/", sent)]);
    let (all, code) = fetch(&url(&server, "/"), &["--links", "--exclude", "*/f.html"]);
    assert_eq!(code, 0, "{all:#}");
    let hop = &all["hops"][0];
    assert_eq!(hop["answer"]["content_encoding"], "gzip");
    assert_eq!(hop["answer"]["body_bytes"], page.len());
    let read = &hop["page"];
    assert_eq!(
        read["charset"],
        json!({"name": "EUC-KR", "source": "meta", "header": null, "declared": "EUC-KR"})
    );
    assert_eq!(read["title"], "한글");
    assert_eq!(read["language"], "ko");
    assert_eq!(read["robots"]["noindex"], true);
    assert_eq!(
        read["robots"]["nofollow"], false,
        "that is for another robot"
    );
    assert_eq!(
        read["robots"]["x_robots_tag"],
        json!(["otherbot: nofollow"])
    );
    assert_eq!(read["base"], url(&server, "/dir/"));
    assert_eq!(read["canonical"], url(&server, "/one"));
    let links = &read["links"];
    assert_eq!(
        (&links["anchor"], &links["frame"], &links["other"]),
        (&json!(2), &json!(0), &json!(3))
    );
    assert_eq!(links["accepted"], 2, "{links:#}");
    assert_eq!(
        links["refused"],
        json!({"excluded": 1, "nofollow": 1, "off-scope": 1})
    );
    let excluded = links["each"]
        .as_array()
        .unwrap()
        .iter()
        .find(|link| link["kind"] == "embedded" && link["rule"] == "excluded");
    assert_eq!(
        excluded.unwrap()["reason"],
        "exclude pattern 1 (\"*/f.html\") matches it"
    );
    let prints = &hop["fingerprints"];
    assert_eq!(prints["payload"], prints["content"], "it was not chunked");
    assert_eq!(prints["text"].as_str().unwrap().len(), 16);
    let records = hop["store"]["records"].as_array().unwrap();
    assert_eq!(
        (&records[0]["type"], &records[1]["type"]),
        (&json!("response"), &json!("request"))
    );
    assert!(
        records
            .iter()
            .all(|record| record["bytes"].as_u64() > Some(100)),
        "{records:?}"
    );
}

#[test]
fn body_and_header_go_to_standard_output_and_words_to_standard_error() {
    let server = Server::start(vec![("/", html("<title>T</title>the body"))]);
    let place = Workplace::new();
    let fetch = |more: &[&str]| {
        let words = ["fetch", &url(&server, "/"), "--site-delay", "0s"];
        place.geomi(&[&words[..], more].concat())
    };
    let done = fetch(&["--body"]);
    assert_eq!(
        (done.code, &*done.out),
        (Some(0), "<title>T</title>the body")
    );
    assert!(done.err.contains("\ntitle       T\n"), "{}", done.err);
    let done = fetch(&["--headers", "--body", "-q"]);
    assert!(done.out.starts_with("HTTP/1.1 200 OK\r\n"), "{}", done.out);
    assert!(
        done.out.ends_with("\r\n\r\n<title>T</title>the body"),
        "{}",
        done.out
    );
    assert!(
        done.err
            .starts_with("fetched: HTTP/1.1 200 OK, 24 B of text/html in "),
        "{}",
        done.err
    );
    fetch(&["--body", "--format", "json"]).fails(2, &["leave one of them out"]);
}

#[test]
fn encryption_is_described_and_distrust_explained() {
    let (server, certificate) =
        Server::start_secure("secure.test", vec![("/", html("<title>S</title>"))]);
    let place = Workplace::new();
    place.write("root.pem", &certificate);
    let url = format!("https://secure.test:{}/", server.port());
    let words = [
        "fetch",
        &url,
        "--resolve",
        "secure.test:127.0.0.1",
        "--format",
        "json",
        "--site-delay",
        "0s",
    ];
    let mut command = place.command(&words);
    let output = command
        .env("SSL_CERT_FILE", place.path("root.pem"))
        .output()
        .unwrap();
    let (all, code) = told(&output.into());
    assert_eq!(code, 0, "{all:#}");
    let hop = &all["hops"][0];
    assert_eq!(hop["dns"]["source"], "override");
    let tls = &hop["connection"]["tls"];
    assert_eq!(tls["version"], "TLS 1.3");
    assert_eq!(tls["certificate"]["names"], json!(["secure.test"]));
    assert_eq!(tls["certificate"]["issuer"], tls["certificate"]["subject"]);
    assert!(
        tls["certificate"]["not_after"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    assert!(hop["answer"]["phases"]["tls_ms"].as_f64() > Some(0.0));

    let (all, code) = told(&place.geomi(&words));
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("cErr")));
    let reason = all["outcome"]["reason"].as_str().unwrap();
    assert!(reason.contains("certificate"), "{reason}");
}

#[test]
fn a_link_is_judged_from_its_seed_and_its_address_is_not_typed() {
    let server = Server::start(vec![("/", html("")), ("/a/b", html(""))]);
    let seed = url(&server, "/");
    let page = url(&server, "/a/b");
    let (all, code) = fetch(&page, &["--seed", &seed]);
    assert_eq!((code, &all["as"]), (0, &json!("link")), "{all:#}");
    let scope = &all["hops"][0]["scope"];
    assert_eq!(
        (&scope["rule"], &scope["depth"]),
        (&json!("host"), &json!(1))
    );

    let far = format!("http://127.0.0.3:{}/", server.port());
    let (all, code) = fetch(&far, &["--seed", &seed]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("scope")));
    assert_eq!(all["hops"][0]["scope"]["rule"], "off-scope");
    assert_eq!(all["hops"][0]["dns"], Value::Null, "nobody looked it up");

    let (all, code) = fetch(&page, &["--seed", &seed, "--exclude", "re:/$"]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("scope")));
    assert_eq!(
        all["outcome"]["reason"],
        "its seed is refused: exclude pattern 1 (\"re:/$\") matches it"
    );

    let (all, code) = fetch(&far, &["--seed", &seed, "--scope", "any"]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("address")));
    assert_eq!(
        all["outcome"]["reason"],
        "127.0.0.3 is loopback; --allow-private opens it"
    );

    // The rule decides before anybody is asked: a public host takes a contact.
    let (all, code) = fetch("http://8.8.8.8/", &["--seed", &seed, "--scope", "any"]);
    assert_eq!(code, 3);
    assert_eq!(
        all["outcome"]["reason"],
        "8.8.8.8 is public, which takes a contact; --contact opens it"
    );
    assert_eq!(server.asked(), ["/robots.txt", "/a/b"]);
}

#[test]
fn failures_of_the_network_are_told_by_their_state() {
    let (all, code) = fetch("http://127.0.0.1:1/", &[]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("cErr")));
    assert_eq!(all["hops"][0]["robots"]["answer"], "no answer");

    let server = Server::start(vec![("/", b"SSH-2.0-OpenSSH_9.6\r\n and so on".to_vec())]);
    let (all, code) = fetch(&url(&server, "/"), &[]);
    assert_eq!((code, &all["outcome"]["by"]), (3, &json!("hNpr")));
    let hop = &all["hops"][0];
    assert_eq!(hop["store"]["captured"], false);
    assert_eq!(hop["politeness"]["fate"], "retry");
    assert!(
        hop["request"]
            .as_str()
            .unwrap()
            .starts_with("GET / HTTP/1.1\r\nHost: 127.0.0.1")
    );

    let server = Server::start(vec![("/", answer("503 Busy", &["Retry-After: 120"], b""))]);
    let (all, code) = fetch(&url(&server, "/"), &[]);
    assert_eq!(
        (code, &all["outcome"]["code"]),
        (0, &json!(503)),
        "it is an answer"
    );
    let politeness = &all["hops"][0]["politeness"];
    assert!(
        politeness["throttled_ms"].as_f64() >= Some(120_000.0),
        "{politeness}"
    );
}

#[test]
fn a_site_rests_between_robots_txt_and_the_page() {
    let server = Server::start(vec![
        robots("user-agent: *\ncrawl-delay: 0.2\nallow: /\n"),
        ("/", html("")),
    ]);
    let (all, code) = fetch(&url(&server, "/"), &[]);
    assert_eq!(code, 0, "{all:#}");
    let hop = &all["hops"][0];
    assert!(hop["waited_ms"].as_f64() >= Some(190.0), "{hop:#}");
    assert_eq!(hop["politeness"]["rest_ms"], 200.0);

    let slow = Server::start(vec![
        robots("user-agent: *\ncrawl-delay: 900\nallow: /\n"),
        ("/", html("")),
    ]);
    let (all, code) = fetch(&url(&slow, "/"), &[]);
    assert_eq!(
        (code, &all["outcome"]["by"]),
        (3, &json!("politeness")),
        "nobody waits that long"
    );
    assert_eq!(slow.asked(), ["/robots.txt"]);
}

#[test]
fn the_sheet_tells_how_the_url_was_read_and_ends_in_one_line() {
    let server = Server::start(vec![("/", html("<title>Hi\u{1b}[2J</title>"))]);
    let place = Workplace::new();
    let typed = format!("LOCALHOST:{}/a/..#top", server.port());
    let done = place.geomi(&["fetch", &typed, "--site-delay", "0s"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(
        done.out
            .contains("scheme added, host in lower case, fragment dropped, dot segments resolved"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("title       Hi\\u001b[2J\n"),
        "{}",
        done.out
    );
    assert!(!done.out.contains('\u{1b}'), "no colours in a pipe");
    assert!(
        done.last_line().starts_with("fetched: HTTP/1.1 200 OK, "),
        "{}",
        done.last_line()
    );
    assert!(!place.exists("geomi-localhost"), "nothing is written");
}

#[test]
fn what_cannot_be_asked_is_said_at_once() {
    let place = Workplace::new();
    place
        .geomi(&["fetch", "ftp://x/"])
        .fails(2, &["scheme \"ftp\""]);
    place
        .geomi(&[
            "fetch",
            "example.com",
            "-o",
            "nowhere",
            "--seed",
            "mailto:me",
        ])
        .fails(2, &["nowhere is no directory", "--seed"]);
    place
        .geomi(&["fetch", "example.com"])
        .fails(2, &["--contact"]);
}
