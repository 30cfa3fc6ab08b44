//! Proxies that really pass things on, and some that do not.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_fetch::{FetchConfig, FetchOutcome, FetchRequest, Fetcher, ProxyRotation};
use geomi_model::{NetworkState, Protocol};
use geomi_url::CrawlUrl;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::authority::{Authority, ask, serve_tls};
use crate::server::{Server, Step, config, impatient, play, send};

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
/// `me:secret` in base64.
const CODED: &str = "bWU6c2VjcmV0";

/// What came in, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Serves every connection to a new port by `serve`.
async fn listen<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(tcp));
        }
    });
    addr
}

async fn read_head(tcp: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match tcp.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// An HTTP proxy that wants credentials, and finds every host at `origin`.
async fn http_proxy(seen: Seen, origin: SocketAddr) -> SocketAddr {
    listen(move |mut tcp| {
        let seen = seen.clone();
        async move {
            let head = read_head(&mut tcp).await;
            seen.note(head.clone());
            if !head.contains(CODED) {
                let no = "HTTP/1.1 407 Log in\r\nContent-Length: 0\r\n\r\n";
                tcp.write_all(no.as_bytes()).await.unwrap();
                return;
            }
            let mut onward = TcpStream::connect(origin).await.unwrap();
            if head.starts_with("CONNECT ") {
                tcp.write_all(b"HTTP/1.1 200 Go\r\n\r\n").await.unwrap();
            } else {
                let kept = head.split_inclusive("\r\n");
                let kept: String = kept.filter(|line| !line.starts_with("Proxy-")).collect();
                onward.write_all(kept.as_bytes()).await.unwrap();
            }
            // Either side may leave first.
            drop(copy_bidirectional(&mut tcp, &mut onward).await);
        }
    })
    .await
}

/// A SOCKS5 proxy that answers with `code`, and goes on where that is 0.
async fn socks_proxy(seen: Seen, code: u8) -> SocketAddr {
    listen(move |mut tcp| {
        let seen = seen.clone();
        async move {
            let mut hello = [0; 3];
            tcp.read_exact(&mut hello).await.unwrap();
            tcp.write_all(&[5, hello[2]]).await.unwrap();
            if hello[2] == 2 {
                let mut login = [0; 11];
                tcp.read_exact(&mut login).await.unwrap();
                let is_known = &login == b"\x01\x02me\x06secret";
                tcp.write_all(&[1, u8::from(!is_known)]).await.unwrap();
            }
            let mut ask = [0; 10];
            if tcp.read_exact(&mut ask).await.is_err() {
                return;
            }
            assert_eq!(ask[..4], [5, 1, 0, 1], "an address, not a name");
            let ip = [ask[4], ask[5], ask[6], ask[7]];
            let target = SocketAddr::from((ip, u16::from_be_bytes([ask[8], ask[9]])));
            seen.note(target.to_string());
            tcp.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0])
                .await
                .unwrap();
            if code == 0 {
                let mut onward = TcpStream::connect(target).await.unwrap();
                drop(copy_bidirectional(&mut tcp, &mut onward).await);
            }
        }
    })
    .await
}

fn through(base: FetchConfig, proxies: &[String]) -> Fetcher {
    let proxies = proxies.iter().map(|proxy| proxy.parse().unwrap());
    Fetcher::new(FetchConfig {
        proxies: proxies.collect(),
        ..base
    })
    .unwrap()
}

async fn get(fetcher: &Fetcher, host: &str, addr: SocketAddr) -> FetchOutcome {
    let url = format!("http://{host}:{}/a", addr.port());
    let url = CrawlUrl::parse(&url).unwrap();
    fetcher.fetch(FetchRequest::new(url, addr.ip())).await
}

#[tokio::test]
async fn plain_pages_go_through_an_http_proxy_in_absolute_form() {
    let at_origin = Seen::default();
    let noted = at_origin.clone();
    let origin = listen(move |mut tcp| {
        let noted = noted.clone();
        async move {
            noted.note(read_head(&mut tcp).await);
            play(&mut tcp, &[send(PAGE), Step::Hold]).await;
        }
    })
    .await;
    let seen = Seen::default();
    let proxy = http_proxy(seen.clone(), origin).await;
    let fetcher = through(config(), &[format!("http://me:secret@{proxy}")]);
    let outcome = get(&fetcher, "a.test", origin).await;
    assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
    assert_eq!(&outcome.body[..], b"hello");
    let asked = &seen.all()[0];
    let line = format!("GET http://a.test:{}/a HTTP/1.1\r\n", origin.port());
    assert!(asked.starts_with(&line), "{asked}");
    assert!(asked.contains(CODED));
    // Neither the origin nor the archive learns the credentials.
    let kept = String::from_utf8(outcome.request.to_vec()).unwrap();
    assert!(kept.starts_with("GET /a HTTP/1.1\r\nHost: a.test"));
    for text in [kept, at_origin.all().concat(), format!("{fetcher:?}")] {
        assert!(!text.contains(CODED) && !text.contains("Proxy"), "{text}");
    }
}

#[tokio::test]
async fn encrypted_pages_go_through_a_tunnel_to_the_address_we_resolved() {
    let authority = Authority::new();
    let at_origin = Seen::default();
    let noted = at_origin.clone();
    let origin = serve_tls(authority.good(), &["http/1.1"], move |mut tls| {
        let noted = noted.clone();
        async move {
            let mut head = [0; 2000];
            let len = tls.read(&mut head).await.unwrap();
            noted.note(String::from_utf8_lossy(&head[..len]).into_owned());
            play(&mut tls, &[send(PAGE), Step::Hold]).await;
        }
    })
    .await;
    let (http, socks) = (Seen::default(), Seen::default());
    let http_addr = http_proxy(http.clone(), origin).await;
    let socks_addr = socks_proxy(socks.clone(), 0).await;
    for proxy in [
        format!("http://me:secret@{http_addr}"),
        format!("socks5://me:secret@{socks_addr}"),
        format!("socks5://{socks_addr}"),
    ] {
        let fetcher = through(authority.trusted(), &[proxy]);
        let outcome = ask(&fetcher, "secure.test", origin).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        assert_eq!(outcome.protocol, Protocol::Http1);
        assert_eq!(fetcher.idle_connections(), 1, "a tunnel serves again");
    }
    assert!(http.all()[0].starts_with(&format!("CONNECT {origin} HTTP/1.1\r\n")));
    assert!(http.all()[0].contains(CODED));
    assert_eq!(socks.all(), [origin.to_string(), origin.to_string()]);
    let heard = at_origin.all().concat();
    assert!(heard.contains("Host: secure.test") && !heard.contains(CODED));
}

#[tokio::test]
async fn a_proxy_that_fails_is_named_as_the_reason() {
    let origin = Server::answering(PAGE).await.addr;
    let http = http_proxy(Seen::default(), origin).await;
    let refusing = socks_proxy(Seen::default(), 2).await;
    let silent = listen(async |mut tcp| {
        play(&mut tcp, &[Step::Hold]).await;
    })
    .await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = closed.local_addr().unwrap();
    drop(closed);
    let base = FetchConfig {
        connect_timeout: Duration::from_millis(300),
        ..impatient()
    };
    for (proxy, state, why) in [
        (
            format!("http://me:wrong@{http}"),
            NetworkState::ConnectError,
            "407",
        ),
        (
            format!("socks5://me:wrongs@{refusing}"),
            NetworkState::ConnectError,
            "credentials",
        ),
        (
            format!("socks5://{refusing}"),
            NetworkState::ConnectError,
            "rules forbid",
        ),
        (
            format!("socks5://{nobody}"),
            NetworkState::ConnectError,
            "refused",
        ),
        (
            format!("http://{nobody}"),
            NetworkState::ConnectError,
            "refused",
        ),
        (
            format!("socks5://{silent}"),
            NetworkState::ConnectTimeout,
            "in time",
        ),
    ] {
        let outcome = get(
            &through(base.clone(), std::slice::from_ref(&proxy)),
            "127.0.0.1",
            origin,
        )
        .await;
        let error = outcome.error.unwrap_or_default();
        assert_eq!(outcome.state, state, "{proxy}: {error}");
        assert!(
            error.starts_with("proxy ") && error.contains(why),
            "{proxy}: {error}"
        );
        assert!(!error.contains("wrong"), "{error}");
    }
    let tunnel = through(base, &[format!("http://me:wrong@{http}")]);
    let outcome = ask(&tunnel, "127.0.0.1", origin).await;
    assert_eq!(outcome.state, NetworkState::ConnectError);
    assert!(outcome.error.unwrap().contains("CONNECT with 407"));
}

#[tokio::test]
async fn the_address_rules_hold_behind_a_proxy() {
    let seen = Seen::default();
    let proxy = socks_proxy(seen.clone(), 0).await;
    let fetcher = through(FetchConfig::default(), &[format!("socks5://{proxy}")]);
    let origin = Server::answering(PAGE).await.addr;
    let outcome = get(&fetcher, "127.0.0.1", origin).await;
    assert_eq!(outcome.state, NetworkState::NotTried);
    assert!(seen.all().is_empty());
}

#[tokio::test]
async fn proxies_take_turns_by_request_or_stay_with_a_host() {
    let origin = listen(async |mut tcp| {
        play(&mut tcp, &[Step::Read, send(PAGE)]).await;
    })
    .await;
    for rotation in [ProxyRotation::Site, ProxyRotation::Request] {
        let (first, second) = (Seen::default(), Seen::default());
        let proxies = [
            format!("socks5://{}", socks_proxy(first.clone(), 0).await),
            format!("socks5://{}", socks_proxy(second.clone(), 0).await),
        ];
        let base = FetchConfig {
            proxy_rotation: rotation,
            ..config()
        };
        let fetcher = through(base, &proxies);
        for _ in 0..4 {
            let outcome = get(&fetcher, "a.test", origin).await;
            assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
            fetcher.close_idle();
        }
        let mut counts = [first.all().len(), second.all().len()];
        counts.sort_unstable();
        match rotation {
            ProxyRotation::Site => assert_eq!(counts, [0, 4]),
            ProxyRotation::Request => assert_eq!(counts, [2, 2]),
        }
    }
}
