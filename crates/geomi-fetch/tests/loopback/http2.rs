//! HTTP/2 against a real server of it, and against one that writes frames by
//! hand to do what no library would.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use geomi_fetch::{BodyFilter, FetchConfig, FetchOutcome, FetchRequest, Fetcher};
use geomi_model::{NetworkState, Protocol, Truncation};
use geomi_url::CrawlUrl;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use http::{Request, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::authority::{Authority, ask, serve_tls};
use crate::server::{Step, play, send};

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

type Respond = SendResponse<Bytes>;

struct Site {
    authority: Authority,
    addr: SocketAddr,
    connections: Arc<AtomicUsize>,
}

/// A site whose streams are served by `serve`, and whose connections say
/// farewell after `streams_max` of them.
async fn site(
    streams_max: usize,
    serve: impl Fn(Request<RecvStream>, Respond) + Clone + Send + Sync + 'static,
) -> Site {
    let authority = Authority::new();
    let connections = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connections);
    let addr = serve_tls(authority.good(), &["h2", "http/1.1"], move |tls| {
        let serve = serve.clone();
        counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let mut connection = h2::server::handshake(tls).await.unwrap();
            let mut served = 0;
            while let Some(Ok((request, respond))) = connection.accept().await {
                serve(request, respond);
                served += 1;
                if served == streams_max {
                    connection.graceful_shutdown();
                }
            }
        }
    })
    .await;
    Site {
        authority,
        addr,
        connections,
    }
}

fn impatient(authority: &Authority) -> FetchConfig {
    FetchConfig {
        silence_timeout: Duration::from_millis(200),
        total_timeout: Duration::from_millis(600),
        body_bytes_max: 100_000,
        header_bytes_max: 8_000,
        ..authority.trusted()
    }
}

fn answer(fields: &[(&str, &str)]) -> Response<()> {
    let response = fields
        .iter()
        .fold(Response::builder(), |made, (name, value)| {
            made.header(*name, *value)
        });
    response.body(()).unwrap()
}

fn page(mut respond: Respond, body: &'static [u8]) {
    let fields = [("content-type", "text/html"), ("x-odd", "a: b")];
    let mut stream = respond.send_response(answer(&fields), false).unwrap();
    stream.send_data(Bytes::from_static(body), true).unwrap();
}

#[tokio::test]
async fn pages_come_over_one_connection_with_an_http1_view() {
    let site = site(usize::MAX, |request, respond| {
        assert_eq!(request.uri().host(), Some("secure.test"));
        assert_eq!(request.headers()["user-agent"], "tester/1");
        assert!(!request.headers().contains_key("host"));
        page(respond, b"hello");
    })
    .await;
    let fetcher = Fetcher::new(site.authority.trusted()).unwrap();
    let url = format!("https://secure.test:{}/a?b=c", site.addr.port());
    let mut request = FetchRequest::new(CrawlUrl::parse(&url).unwrap(), site.addr.ip());
    request.describe_tls = true;
    for n in 0..5 {
        let outcome = fetcher.fetch(request.clone()).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        assert_eq!(outcome.protocol, Protocol::Http2);
        assert_eq!(outcome.reused_connection, n > 0);
        assert_eq!(
            outcome.head,
            &b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nx-odd: a: b\r\n\r\n"[..]
        );
        assert_eq!(&outcome.wire_body[..], b"hello");
        assert_eq!(&outcome.body[..], b"hello");
        assert_eq!(outcome.header("x-odd").unwrap(), "a: b");
        assert!(
            outcome
                .request
                .starts_with(b"GET /a?b=c HTTP/1.1\r\nHost: ")
        );
        assert_eq!(outcome.tls.unwrap().alpn.as_deref(), Some("h2"));
        assert!(outcome.phases.first_byte.is_some());
    }
    assert_eq!(site.connections.load(Ordering::SeqCst), 1);
    assert_eq!(fetcher.idle_connections(), 1);
}

#[tokio::test]
async fn a_connection_that_said_farewell_is_replaced() {
    let site = site(2, |_, respond| page(respond, b"hello")).await;
    let fetcher = Fetcher::new(site.authority.trusted()).unwrap();
    let mut answers = 0;
    for _ in 0..6 {
        let outcome = ask(&fetcher, "secure.test", site.addr).await;
        // A farewell may cross a request, which then is not answered.
        let is_expected = matches!(
            outcome.state,
            NetworkState::Ok | NetworkState::Connected | NetworkState::HeaderError
        );
        assert!(is_expected, "{:?} {:?}", outcome.state, outcome.error);
        answers += usize::from(outcome.state == NetworkState::Ok);
    }
    assert!(answers >= 4, "{answers}");
    assert!(site.connections.load(Ordering::SeqCst) >= 3);
}

#[tokio::test]
async fn http2_is_not_offered_where_it_is_switched_off_or_was_refused() {
    let authority = Authority::new();
    let addr = serve_tls(authority.good(), &["h2", "http/1.1"], async |mut tls| {
        if tls.get_ref().1.alpn_protocol() == Some(b"h2") {
            let mut connection = h2::server::handshake(tls).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                respond.send_reset(Reason::HTTP_1_1_REQUIRED);
            }
        } else {
            play(&mut tls, &[Step::Read, send(PAGE), Step::Hold]).await;
        }
    })
    .await;
    let without = FetchConfig {
        http2: false,
        ..authority.trusted()
    };
    let outcome = ask(&Fetcher::new(without).unwrap(), "secure.test", addr).await;
    assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
    assert_eq!(outcome.protocol, Protocol::Http1);

    let fetcher = Fetcher::new(authority.trusted()).unwrap();
    let refused = ask(&fetcher, "secure.test", addr).await;
    assert_eq!(refused.state, NetworkState::HeaderError);
    assert!(refused.error.unwrap().contains("HTTP/1.1"));
    let outcome = ask(&fetcher, "secure.test", addr).await;
    assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
    assert_eq!(outcome.protocol, Protocol::Http1);
}

/// One fetch of a site that serves its one stream by `serve`; the connection
/// must not be kept.
async fn misbehave(
    serve: impl Fn(Request<RecvStream>, Respond) + Clone + Send + Sync + 'static,
) -> FetchOutcome {
    let site = site(usize::MAX, serve).await;
    let fetcher = Fetcher::new(impatient(&site.authority)).unwrap();
    let outcome = ask(&fetcher, "secure.test", site.addr).await;
    assert_eq!(outcome.protocol, Protocol::Http2);
    assert_eq!(fetcher.idle_connections(), 0, "{outcome:?}");
    outcome
}

#[tokio::test]
async fn streams_that_break_end_in_their_states() {
    let reset = misbehave(|_, mut respond| respond.send_reset(Reason::INTERNAL_ERROR)).await;
    assert_eq!(reset.state, NetworkState::HeaderError);

    let silent = misbehave(|_, respond| hold(respond)).await;
    assert_eq!(silent.state, NetworkState::HeaderTimeout);

    let broken = misbehave(|_, mut respond| {
        let mut stream = respond.send_response(answer(&[]), false).unwrap();
        stream.send_data(Bytes::from_static(b"hel"), false).unwrap();
        stream.send_reset(Reason::CANCEL);
    })
    .await;
    assert!(
        matches!(
            broken.state,
            NetworkState::DownloadError | NetworkState::HeaderError
        ),
        "{broken:?}"
    );

    let stuck = misbehave(|_, mut respond| {
        let mut stream = respond.send_response(answer(&[]), false).unwrap();
        stream.send_data(Bytes::from_static(b"hel"), false).unwrap();
        hold(stream);
    })
    .await;
    assert_eq!(stuck.state, NetworkState::DownloadTimeout);
    assert_eq!(&stuck.body[..], b"hel");
    assert_eq!(stuck.truncated, Some(Truncation::Time));

    let short = misbehave(|_, mut respond| {
        let fields = [("content-length", "10")];
        let mut stream = respond.send_response(answer(&fields), false).unwrap();
        stream.send_data(Bytes::from_static(b"hel"), true).unwrap();
    })
    .await;
    assert_eq!(short.state, NetworkState::DownloadError);
}

/// Keeps a stream open for as long as the test lasts.
fn hold(stream: impl Send + 'static) {
    tokio::spawn(async move {
        let _stream = stream;
        std::future::pending::<()>().await;
    });
}

#[tokio::test]
async fn limits_hold_for_header_and_body() {
    let long = misbehave(|_, mut respond| {
        let mut stream = respond.send_response(answer(&[]), false).unwrap();
        let body = Bytes::from(vec![b'y'; 4 << 20]);
        stream.send_data(body, true).unwrap();
    })
    .await;
    assert_eq!(long.state, NetworkState::Ok, "{:?}", long.error);
    assert_eq!(long.truncated, Some(Truncation::Length));
    assert_eq!((long.body.len(), long.body.truncated), (100_000, true));
    assert!(long.wire_body.len() < 200_000);

    let wordy = misbehave(|_, mut respond| {
        let value = "x".repeat(9_000);
        let response = answer(&[("x-long", &value)]);
        // The client leaves while the header is still being written.
        drop(respond.send_response(response, true));
    })
    .await;
    assert_eq!(wordy.state, NetworkState::HeaderError, "{:?}", wordy.error);
}

/// A frame as the wire has it.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![len[1], len[2], len[3], kind, flags, 0, 0, 0, stream];
    frame.extend(payload);
    frame
}

/// A server that greets, waits for a request, begins, and then writes the same
/// frames for as long as somebody reads them.
async fn flood(begin: Vec<u8>, again: Vec<u8>) -> FetchOutcome {
    let authority = Authority::new();
    let addr = serve_tls(authority.good(), &["h2"], move |mut tls| {
        let (begin, again) = (begin.clone(), again.repeat(100));
        async move {
            assert!(tls.read(&mut [0; 4096]).await.is_ok());
            let mut sent = tls.write_all(&begin).await;
            while sent.is_ok() && !again.is_empty() {
                sent = tls.write_all(&again).await;
            }
            play(&mut tls, &[Step::Hold]).await;
        }
    })
    .await;
    let fetcher = Fetcher::new(impatient(&authority)).unwrap();
    let asking = ask(&fetcher, "secure.test", addr);
    let outcome = timeout(Duration::from_secs(20), asking).await.unwrap();
    assert_eq!(fetcher.idle_connections(), 0, "{outcome:?}");
    outcome
}

#[tokio::test]
async fn floods_of_frames_come_to_an_end() {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;
    const CONTINUATION: u8 = 9;
    const END_HEADERS: u8 = 4;
    /// `:status: 200` of the static table.
    const STATUS_200: &[u8] = &[0x88];
    /// `:status: 103`, literal.
    const STATUS_103: &[u8] = &[0x08, 0x03, b'1', b'0', b'3'];
    let hello = frame(SETTINGS, 0, 0, &[]);
    let begun = [hello.clone(), frame(HEADERS, END_HEADERS, 1, STATUS_200)].concat();
    for (name, begin, again) in [
        ("settings", hello.clone(), frame(SETTINGS, 0, 0, &[])),
        ("pings", hello.clone(), frame(PING, 0, 0, &[7; 8])),
        (
            "windows",
            hello.clone(),
            frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
        ),
        ("unknown frames", hello.clone(), frame(0xee, 0, 0, &[0; 64])),
        (
            "continuations",
            [hello.clone(), frame(HEADERS, 0, 1, STATUS_200)].concat(),
            frame(CONTINUATION, 0, 1, &[]),
        ),
        (
            "interim answers",
            hello.clone(),
            frame(HEADERS, END_HEADERS, 1, STATUS_103),
        ),
        ("empty data", begun.clone(), frame(DATA, 0, 1, &[])),
        (
            "pings in the body",
            begun.clone(),
            frame(PING, 0, 0, &[7; 8]),
        ),
        (
            "padding",
            begun,
            frame(DATA, 8, 1, &[&[200][..], &[0; 200]].concat()),
        ),
    ] {
        let outcome = flood(begin, again).await;
        let is_failure = !outcome.state.is_answer();
        assert!(is_failure, "{name}: {:?}", outcome.state);
        assert!(outcome.error.is_some(), "{name}");
    }
}

#[tokio::test]
async fn what_is_no_http2_is_said_to_be_none() {
    let outcome = flood(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".to_vec(),
        vec![],
    )
    .await;
    assert_eq!(
        outcome.state,
        NetworkState::HeaderNotHttp,
        "{:?}",
        outcome.error
    );
    let silent = flood(Vec::new(), Vec::new()).await;
    assert_eq!(silent.state, NetworkState::HeaderTimeout);
}

#[tokio::test]
async fn bodies_that_are_not_wanted_are_left() {
    let site = site(usize::MAX, |request, mut respond| {
        let is_short = request.uri().path() == "/short";
        let length = if is_short { "5" } else { "90000" };
        let fields = [("content-type", "image/png"), ("content-length", length)];
        let mut stream = respond.send_response(answer(&fields), false).unwrap();
        if is_short {
            stream
                .send_data(Bytes::from_static(b"hello"), true)
                .unwrap();
        } else {
            // The rest never comes: whoever waits for it waits in vain.
            let first = Bytes::from_static(&[0; 10_000]);
            stream.send_data(first, false).unwrap();
            tokio::spawn(async move { stream.reserve_capacity(1 << 30) });
        }
    })
    .await;
    let fetcher = Fetcher::new(impatient(&site.authority)).unwrap();
    let ask = async |path: &str| {
        let url = format!("https://secure.test:{}{path}", site.addr.port());
        let mut request = FetchRequest::new(CrawlUrl::parse(&url).unwrap(), site.addr.ip());
        request.body_filter = Some(BodyFilter::new(|mime| mime == "text/html"));
        fetcher.fetch(request).await
    };
    for (path, connections) in [("/short", 1), ("/short", 1), ("/long", 1), ("/short", 2)] {
        let outcome = ask(path).await;
        assert!(outcome.is_left, "{path}: {:?}", outcome.error);
        assert_eq!(
            (outcome.state, outcome.code),
            (NetworkState::Code, Some(200))
        );
        assert!(
            outcome.wire_body.is_empty() && outcome.body.is_empty(),
            "{path}"
        );
        assert_eq!(
            site.connections.load(Ordering::SeqCst),
            connections,
            "{path}"
        );
    }
}
