//! Credentials as servers see them: proved to their site, shown to nobody else.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod heads;

use geomi_crawler::CrawlConfig;
use geomi_engine::{Credentials, SiteOverride};
use heads::{Head, HeadServer, Place};

/// A crawl of `shop.test` that has these credentials for it.
fn config(port: u16, credentials: &str) -> CrawlConfig {
    let mut config = Place::config(&[format!("http://shop.test:{port}/")]);
    config.engine.sites = vec![SiteOverride {
        names: vec![format!("shop.test:{port}")],
        credentials: Some(Credentials::parse(credentials).unwrap()),
        credentials_over_http: true,
        ..SiteOverride::default()
    }];
    config.engine.retry_wait = std::time::Duration::from_millis(10);
    config
}

/// Links and redirects to wherever a secret could leak.
fn tempting(head: &Head, other_port: u16) -> String {
    let (_, port) = head.host.split_once(':').unwrap();
    match &*head.path {
        "/" => format!(
            "200\r\n\r\n<a href=/in>1</a><a href=/away>2</a><a href=http://www.shop.test:{port}/sub>3</a>\
             <a href=http://shop.test:{other_port}/port>4</a><a href=http://test:{port}/up>5</a>"
        ),
        "/away" => format!("302\r\nLocation: http://bank.test:{port}/landed\r\n\r\n"),
        _ => "200\r\n\r\nfine".to_owned(),
    }
}

#[test]
fn basic_and_bearer_go_to_their_site_and_not_into_the_archive() {
    for (credentials, sent) in [
        ("basic:me:hunter2", "Basic bWU6aHVudGVyMg=="),
        ("bearer:T0ken-hunter2", "Bearer T0ken-hunter2"),
    ] {
        let other = HeadServer::start(|_| "200\r\n\r\nother".to_owned());
        let port = other.port;
        let server = HeadServer::start(move |head| tempting(head, port));
        let place = Place::new();
        place.crawl(&config(server.port, credentials));
        for path in ["/", "/in", "/away"] {
            let head = server.only("shop.test", path);
            assert_eq!(head.field("authorization"), Some(sent), "{path}");
        }
        for (host, path) in [
            ("www.shop.test", "/sub"),
            ("bank.test", "/landed"),
            ("test", "/up"),
        ] {
            assert_eq!(
                server.only(host, path).field("authorization"),
                None,
                "{host}"
            );
        }
        assert_eq!(
            other.only("shop.test", "/port").field("authorization"),
            None
        );
        let archive = place.archive();
        assert!(archive.contains("Authorization: (removed)\r\n"));
        assert!(!archive.contains(sent), "the archive keeps no secret");
    }
}

#[test]
fn without_leave_nothing_travels_unencrypted() {
    let server = HeadServer::start(|_| "200\r\n\r\nfine".to_owned());
    let mut config = config(server.port, "basic:me:hunter2");
    config.engine.sites[0].credentials_over_http = false;
    Place::new().crawl(&config);
    assert_eq!(server.only("shop.test", "/").field("authorization"), None);
}

/// A site that wants Digest and knows one password.
fn digest_site(answer: &'static str) -> HeadServer {
    HeadServer::start(move |head| {
        match head.field("authorization") {
        Some(sent) if sent.contains(answer) => match &*head.path {
            "/" => "200\r\n\r\n<a href=/next>1</a>".to_owned(),
            _ => "200\r\n\r\nfine".to_owned(),
        },
        _ => "401\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, qop=\"auth\"\r\n\r\nno".to_owned(),
    }
    })
}

#[test]
fn digest_answers_the_challenge_and_remembers_it() {
    let server = digest_site("username=\"me\", realm=\"r\", nonce=\"n\"");
    let place = Place::new();
    let status = place.crawl(&config(server.port, "digest:me:hunter2"));
    assert_eq!((status.counters.saved, status.counters.failed), (2, 0));
    let heads = server.pages();
    let paths: Vec<&str> = heads.iter().map(|head| &*head.path).collect();
    assert_eq!(paths, ["/", "/", "/next"], "one challenge is enough");
    assert_eq!(heads[0].field("authorization"), None);
    let last = heads[2].field("authorization").unwrap();
    assert!(
        last.contains("uri=\"/next\"") && last.contains("nc=00000002"),
        "{last}"
    );
    assert!(!place.archive().contains("username="), "nor the proof");
}

#[test]
fn a_wrong_password_is_not_tried_for_ever() {
    let server = digest_site("nobody can know");
    let status = Place::new().crawl(&config(server.port, "digest:me:hunter2"));
    assert_eq!((status.counters.saved, status.counters.failed), (0, 1));
    assert_eq!(server.pages().len(), 2);
}
