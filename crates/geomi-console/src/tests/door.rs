//! What a stranger can do: host names, origins, forged addresses.

use super::*;

fn with(path: &str, from: &str, fields: &[(&'static str, &str)]) -> Request<Body> {
    let mut request = request(Method::GET, path, None, from, Body::empty());
    for (name, value) in fields {
        request.headers_mut().append(*name, value.parse().unwrap());
    }
    request
}

#[tokio::test]
async fn only_our_own_hosts_are_answered() {
    let console = Console::by(|options| {
        options.listen = "192.0.2.10:8600".parse().unwrap();
        options.hosts = vec!["Crawler.example.org".to_owned()];
    });
    for host in [
        "localhost",
        "localhost:9000",
        "news.localhost",
        "127.0.0.1:8600",
        "127.8.8.8",
        "[::1]:8600",
        "192.0.2.10",
        "crawler.example.org:443",
        "CRAWLER.example.org.",
    ] {
        let asked = with("/healthz", ELSEWHERE, &[("host", host)]);
        assert_eq!(console.ask(asked).await.status, 200, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "crawler.example.org.evil.example",
        "192.0.2.11",
        "xn--localhost",
    ] {
        for path in ["/healthz", "/login", "/metrics", "/nowhere"] {
            let asked = with(path, HERE, &[("host", host)]);
            console.ask(asked).await.is(421);
        }
    }
    let two = [("host", "localhost"), ("host", "evil.example")];
    console.ask(with("/healthz", HERE, &two)).await.is(400);
    let whole = with(
        "http://evil.example/healthz",
        HERE,
        &[("host", "localhost")],
    );
    console.ask(whole).await.is(421);
    // The address a client connected to, where all are listened on.
    let mut local = with("/healthz", ELSEWHERE, &[("host", "198.51.100.3:8600")]);
    let ours = crate::http::guard::Local("198.51.100.3".parse().unwrap());
    local.extensions_mut().insert(ours);
    console.ask(local).await.is(200);
}

/// A log-in that would fail: 401 if it is looked at.
fn log_in(fields: &[(&'static str, &str)], from: &str) -> Request<Body> {
    let mut request = with("/login", from, fields);
    *request.method_mut() = Method::POST;
    *request.body_mut() = Body::from("id=nobody&password=guess");
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    request
}

#[tokio::test]
async fn a_form_of_another_site_logs_nobody_in() {
    let console = Console::new();
    let host = ("host", "localhost:8600");
    for (origin, status) in [
        ("http://localhost:8600", 401),
        ("http://LOCALHOST:8600", 401),
        ("http://evil.example", 403),
        // Another program on the same machine is another origin.
        ("http://localhost:3000", 403),
        ("http://localhost", 403),
        ("null", 403),
        ("file://", 403),
    ] {
        let sent = log_in(&[host, ("origin", origin)], ELSEWHERE);
        let answer = console.ask(sent).await;
        assert_eq!(answer.status.as_u16(), status, "{origin}: {answer:?}");
    }
    let both = [
        host,
        ("origin", "http://localhost:8600"),
        ("origin", "http://evil.example"),
    ];
    console.ask(log_in(&both, ELSEWHERE)).await.is(403);
    let behind = Console::by(|options| {
        options.proxies = vec!["127.0.0.1".parse().unwrap()];
        options.hosts = vec!["crawler.example.org".to_owned()];
    });
    let origin = ("origin", "https://crawler.example.org");
    behind.ask(log_in(&[host, origin], HERE)).await.is(401);
    behind.ask(log_in(&[host, origin], ELSEWHERE)).await.is(403);
}

#[tokio::test]
async fn an_address_is_believed_from_the_right_only() {
    let behind = Console::with(vec![
        "127.0.0.1".parse().unwrap(),
        "10.0.0.1".parse().unwrap(),
    ]);
    let forwarded = |lines: &[&str]| {
        let fields: Vec<_> = lines
            .iter()
            .map(|line| ("x-forwarded-for", *line))
            .collect();
        behind.ask(with("/metrics", HERE, &fields))
    };
    // Open on this machine only: 401 for whoever is somewhere else.
    let elsewhere: [&[&str]; 6] = [
        &["127.0.0.1", "203.0.113.7"],
        &["127.0.0.1, 203.0.113.7"],
        &["127.0.0.1", "203.0.113.7", "10.0.0.1"],
        &["127.0.0.1", "203.0.113.7:4711, 10.0.0.1"],
        &["127.0.0.1", "[2001:db8::1]:4711"],
        &["127.0.0.1", "unknown"],
    ];
    for lines in elsewhere {
        assert_eq!(forwarded(lines).await.status, 401, "{lines:?}");
    }
    assert_eq!(forwarded(&["203.0.113.7", "127.0.0.1, "]).await.status, 401);
    assert_eq!(forwarded(&["::1"]).await.status, 200);
    // Without a forwarded address the visitor is unknown, not local.
    assert_eq!(forwarded(&[]).await.status, 401);
    assert_eq!(forwarded(&[""]).await.status, 401);
}
