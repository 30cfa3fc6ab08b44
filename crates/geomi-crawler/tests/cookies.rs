//! Cookies as servers see them: sent back where they belong, and nowhere else.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod heads;

use heads::{HeadServer, Place};

/// One page of `www.shop.test` sets cookies; it links everywhere a cookie could
/// leak to, and redirects lead there too.
fn shop(other_port: u16) -> HeadServer {
    HeadServer::start(move |head| {
        let (host, port) = head.host.split_once(':').unwrap();
        match (host, &*head.path) {
            ("www.shop.test", "/") => format!(
                "200\r\nSet-Cookie: own=1\r\nSet-Cookie: all=2; Domain=shop.test\r\n\
                 Set-Cookie: suffix=3; Domain=test\r\nSet-Cookie: other=4; Domain=bank.test\r\n\
                 Set-Cookie: safe=5; Secure\r\nSet-Cookie: deep=6; Path=/deep\r\n\
                 Set-Cookie: __Host-x=7; Path=/\r\n\r\n\
                 <a href=/same>1</a><a href=/deep/page>2</a><a href=/away>3</a><a href=/within>4</a>\
                 <a href=http://shop.test:{port}/parent>5</a><a href=http://api.shop.test:{port}/sister>6</a>\
                 <a href=http://bank.test:{port}/bank>7</a><a href=http://www.shop.test:{other_port}/port>8</a>"
            ),
            (_, "/away") => format!(
                "302\r\nLocation: http://bank.test:{port}/landed\r\nSet-Cookie: late=8\r\n\r\n"
            ),
            (_, "/within") => "302\r\nLocation: /landed\r\n\r\n".to_owned(),
            _ => "200\r\n\r\nfine".to_owned(),
        }
    })
}

#[test]
fn cookies_go_back_to_their_site_and_nowhere_else() {
    let other = HeadServer::start(|_| "200\r\n\r\nother".to_owned());
    let server = shop(other.port);
    let place = Place::new();
    let seed = format!("http://www.shop.test:{}/", server.port);
    place.crawl(&Place::config(&[seed]));
    let sent = |host: &str, path: &str| {
        let head = server.only(host, path);
        head.field("cookie").unwrap_or_default().to_owned()
    };
    assert_eq!(sent("www.shop.test", "/"), "");
    assert_eq!(
        sent("www.shop.test", "/deep/page").split("; ").next(),
        Some("deep=6")
    );
    for path in ["/same", "/within", "/away"] {
        let cookie = sent("www.shop.test", path);
        assert!(cookie.starts_with("own=1; all=2"), "{path}: {cookie}");
        for foreign in ["suffix", "other", "safe", "deep", "__Host", "robots"] {
            assert!(!cookie.contains(foreign), "{path}: {cookie}");
        }
    }
    assert!(sent("www.shop.test", "/landed").starts_with("own=1; all=2"));
    assert_eq!(sent("shop.test", "/parent"), "all=2");
    assert_eq!(sent("api.shop.test", "/sister"), "all=2");
    assert_eq!(sent("bank.test", "/bank"), "");
    assert_eq!(sent("bank.test", "/landed"), "", "not across a redirect");
    let port = other.only("www.shop.test", "/port");
    assert_eq!(port.field("cookie"), None, "another port is another site");
    for head in server
        .all()
        .iter()
        .filter(|head| head.path == "/robots.txt")
    {
        assert_eq!(head.field("cookie"), None);
    }
}

#[test]
fn cookies_can_be_left_out() {
    let server = HeadServer::start(|_| "200\r\nSet-Cookie: a=1\r\n\r\n<a href=/x>1</a>".to_owned());
    let place = Place::new();
    let mut config = Place::config(&[format!("http://a.test:{}/", server.port)]);
    config.engine.cookies = false;
    place.crawl(&config);
    assert_eq!(server.only("a.test", "/x").field("cookie"), None);
}
