//! However an address is spelled, and whatever a name server says later: what
//! the policy refuses is not connected to.

use std::net::IpAddr;

use geomi_fetch::{FetchConfig, FetchRequest, Fetcher, Resolution};
use geomi_model::NetworkState;
use geomi_url::CrawlUrl;

use crate::server::Server;

/// Spellings of addresses inside, most of them of 127.0.0.1.
const INSIDE: [&str; 34] = [
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "2130706433",
    "017700000001",
    "0x7f000001",
    "0X7F.1",
    "0177.0.0.1",
    "0177.0x0.0.01",
    "127.0.0.0x1",
    "%31%32%37.0.0.1",
    "127\u{3002}0\u{3002}0\u{3002}1",
    "127\u{ff0e}0\u{ff0e}0\u{ff0e}1",
    "127\u{ff61}0\u{ff61}0\u{ff61}1",
    "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
    "\u{2460}\u{2461}\u{2466}.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.b.localhost",
    "0",
    "0.0.0.0",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "10.1",
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[fe80::1]",
];

#[tokio::test]
async fn every_spelling_of_an_address_inside_is_refused() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n").await;
    let strict = Fetcher::new(FetchConfig {
        name_servers: Some(Vec::new()),
        ..FetchConfig::default()
    })
    .unwrap();
    for spelling in INSIDE {
        let text = format!("http://{spelling}:{}/", server.addr.port());
        let url = CrawlUrl::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let resolution = strict.resolve(url.host(), url.port()).await;
        let Resolution::Refused { addr, .. } = resolution else {
            // The name servers, of which there are none, were asked for it.
            assert_eq!(spelling, "localhost.", "{resolution:?}");
            continue;
        };
        let outcome = strict.fetch(FetchRequest::new(url, addr)).await;
        assert_eq!(outcome.state, NetworkState::NotTried, "{spelling}");
        assert!(outcome.request.is_empty(), "{spelling}");
    }
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn what_is_no_host_is_no_url() {
    for host in [
        "[fe80::1%25lo]",
        "[fe80::1%lo]",
        "[::1%251]",
        "256.0.0.1",
        "127.0.0.1.1",
        "0x100000000",
        "127.0.0.09",
    ] {
        let text = format!("http://{host}/");
        assert!(CrawlUrl::parse(&text).is_err(), "{text}");
    }
}

#[tokio::test]
async fn an_allowed_range_opens_no_more_than_itself() {
    let fetcher = Fetcher::new(FetchConfig {
        address_policy: geomi_fetch::AddressPolicy {
            allow: vec!["127.1.0.0/16".parse().unwrap()],
            ..geomi_fetch::AddressPolicy::default()
        },
        ..FetchConfig::default()
    })
    .unwrap();
    for (host, is_open) in [
        ("127.1.2.3", true),
        ("127.2.0.1", false),
        ("127.0.255.255", false),
        ("[::ffff:127.1.2.3]", false),
        ("[64:ff9b::7f01:203]", false),
        ("[2002:7f01:203::1]", false),
        ("10.0.0.1", false),
    ] {
        let resolution = fetcher.resolve(host, 80).await;
        let is_given = matches!(resolution, Resolution::Addresses { .. });
        assert_eq!(is_given, is_open, "{host}: {resolution:?}");
    }
}

#[tokio::test]
async fn a_request_goes_to_its_address_and_no_name_is_looked_up_again() {
    // Nobody could resolve this name; the address it once had is all there is.
    let server = Server::answering("HTTP/1.1 204 No\r\n\r\n").await;
    let config = FetchConfig {
        name_servers: Some(Vec::new()),
        ..crate::server::config()
    };
    let fetcher = Fetcher::new(config).unwrap();
    let text = format!("http://rebind.test:{}/", server.addr.port());
    let url = CrawlUrl::parse(&text).unwrap();
    let pinned = FetchRequest::new(url.clone(), server.addr.ip());
    assert_eq!(fetcher.fetch(pinned).await.code, Some(204));
    let inside = FetchRequest::new(url, IpAddr::from([10, 0, 0, 1]));
    assert_eq!(fetcher.fetch(inside).await.state, NetworkState::NotTried);
}
