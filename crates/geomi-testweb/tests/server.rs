//! The web over real sockets: keep-alive, framing, the log, faults.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test as tests do"
)]

use std::time::Duration;

use geomi_model::Timestamp;
use geomi_testweb::{
    ChangeMix, Fault, FixedPage, Naming, RateLaw, Server, ServerOptions, ServerThread,
    SiteBehaviour, Web, WebSpec, WebTime,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No test waits so long: a silence that does not end fails it.
const PATIENCE: Duration = Duration::from_secs(10);
const START: Timestamp = Timestamp::from_secs(1_794_735_720);

fn still() -> ServerOptions {
    ServerOptions {
        time: WebTime::From {
            start: START,
            speed: 0.0,
        },
        ..ServerOptions::default()
    }
}

async fn start(spec: WebSpec) -> Server {
    Server::start(Web::new(spec), still()).await.unwrap()
}

async fn connect(server: &Server, site: u32) -> TcpStream {
    let address = (server.web().address_of(site), server.port());
    TcpStream::connect(address).await.unwrap()
}

/// A request on a connection that stays open.
async fn ask(stream: &mut TcpStream, host: &str, target: &str, fields: &str) {
    let head =
        format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: probe\r\n{fields}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
}

/// Reads a head and as much body as `Content-Length` says.
async fn read_answer(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "header");
    };
    let body = bytes.split_off(head_end);
    let head = String::from_utf8(bytes).unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |digits| digits.parse().unwrap());
    let mut body = body;
    while body.len() < length {
        assert!(stream.read_buf(&mut body).await.unwrap() > 0, "body");
    }
    (head, body)
}

/// Everything until the server closes, or the error that ended it, which is
/// `None` too if nothing ends it within `limit`.
async fn read_all(stream: &mut TcpStream, limit: usize) -> (Vec<u8>, Option<std::io::ErrorKind>) {
    let mut bytes = Vec::new();
    loop {
        match stream.read_buf(&mut bytes).await {
            Ok(0) => return (bytes, None),
            Ok(_) if bytes.len() >= limit => return (bytes, None),
            Ok(_) => {}
            Err(error) => return (bytes, Some(error.kind())),
        }
    }
}

#[tokio::test]
async fn one_connection_serves_many_pages_as_the_web_has_them() {
    let server = start(WebSpec::plain(3, 40)).await;
    let mut stream = connect(&server, 1).await;
    let web = server.web();
    for page in 0..40 {
        let url = web.page_url(1, page);
        ask(&mut stream, url.authority(), url.path_and_query(), "").await;
        let (head, body) = read_answer(&mut stream).await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 09:42:00 GMT\r\n"));
        assert_eq!(
            body,
            web.answer(url.host(), url.path_and_query(), START).body
        );
    }
    let entries = server.log().entries();
    assert_eq!(entries.len(), 40);
    assert_eq!(server.connections(), 1);
    assert!(entries.iter().all(|entry| {
        entry.site == Some(1)
            && entry.status == 200
            && entry.connection == 0
            && &*entry.user_agent == "probe"
            && entry.ended >= entry.arrived
    }));
    assert!(server.log().overlaps().is_empty());
    assert_eq!(server.log().gaps()[&1].len(), 39);
    let counts = server.log().count_by_url();
    assert_eq!(counts.len(), 40);
    assert_eq!(counts[web.page_url(1, 7).as_str()], 1);
    server.stop().await;
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_in_order() {
    let server = start(WebSpec::plain(1, 3)).await;
    let mut stream = connect(&server, 0).await;
    let two = "GET /status/201 HTTP/1.1\r\nHost: 127.0.1.1\r\n\r\n\
        GET /status/203 HTTP/1.1\r\nHost: 127.0.1.1\r\nConnection: close\r\n\r\n";
    stream.write_all(two.as_bytes()).await.unwrap();
    let (bytes, error) = read_all(&mut stream, usize::MAX).await;
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(error, None);
    assert!(
        text.find("HTTP/1.1 201") < text.find("HTTP/1.1 203"),
        "{text}"
    );
    assert_eq!(server.log().count_by_status().len(), 2);
}

#[tokio::test]
async fn head_post_and_nonsense() {
    let server = start(WebSpec::plain(1, 3)).await;
    let exchange = async |request: &'static [u8]| {
        let mut stream = connect(&server, 0).await;
        stream.write_all(request).await.unwrap();
        let (bytes, _) = read_all(&mut stream, usize::MAX).await;
        String::from_utf8(bytes).unwrap()
    };
    let head = exchange(b"HEAD / HTTP/1.1\r\nHost: 127.0.1.1\r\nConnection: close\r\n\r\n").await;
    assert!(head.contains("Content-Length: ") && head.ends_with("\r\n\r\n"));
    let post = exchange(b"POST / HTTP/1.1\r\nHost: 127.0.1.1\r\nContent-Length: 1\r\n\r\n").await;
    assert!(post.starts_with("HTTP/1.1 405"));
    assert!(exchange(b"what?\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    let nameless = exchange(b"GET / HTTP/1.0\r\n\r\n").await;
    assert!(
        nameless.starts_with("HTTP/1.1 200"),
        "the address names the site"
    );
}

#[tokio::test]
async fn chunks_gzip_and_not_modified() {
    let mut spec = WebSpec::plain(1, 3);
    spec.traits.chunked = 1.0;
    spec.traits.gzip = 1.0;
    spec.traits.validators = 1.0;
    let server = start(spec).await;
    let plain = server.web().answer("127.0.1.1", "/", START);
    let mut stream = connect(&server, 0).await;
    ask(
        &mut stream,
        "127.0.1.1",
        "/",
        "Accept-Encoding: gzip\r\nConnection: close\r\n",
    )
    .await;
    let (bytes, _) = read_all(&mut stream, usize::MAX).await;
    let head_end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap()
        + 4;
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    assert!(head.contains("Transfer-Encoding: chunked") && head.contains("Content-Encoding: gzip"));
    let zipped = dechunk(&bytes[head_end..]);
    let mut unzipped = vec![0; plain.body.len()];
    libdeflater::Decompressor::new()
        .gzip_decompress(&zipped, &mut unzipped)
        .unwrap();
    assert_eq!(unzipped, plain.body);

    let tag = format!("If-None-Match: {}\r\n", plain.header("ETag").unwrap());
    let mut stream = connect(&server, 0).await;
    ask(&mut stream, "127.0.1.1", "/", &tag).await;
    let (head, body) = read_answer(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 304 ") && body.is_empty());
}

fn dechunk(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let line = bytes.windows(2).position(|two| two == b"\r\n").unwrap();
        let digits = std::str::from_utf8(&bytes[..line]).unwrap();
        let size = usize::from_str_radix(digits, 16).unwrap();
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&bytes[line + 2..line + 2 + size]);
        bytes = &bytes[line + 2 + size + 2..];
    }
}

/// What a client sees of a fault: the bytes, and the error at the end if any.
async fn meet(fault: Fault) -> (Vec<u8>, Option<std::io::ErrorKind>) {
    let options = ServerOptions {
        silence_max: Duration::from_millis(250),
        ..still()
    };
    let server = Server::start(Web::new(WebSpec::plain(1, 1)), options)
        .await
        .unwrap();
    let mut stream = connect(&server, 0).await;
    ask(&mut stream, "127.0.1.1", &fault.path(), "").await;
    let seen = tokio::time::timeout(PATIENCE, read_all(&mut stream, usize::MAX))
        .await
        .unwrap_or_else(|_| panic!("{fault} does not end"));
    assert_eq!(server.log().entries()[0].fault, Some(fault));
    seen
}

#[tokio::test]
async fn faults_before_the_header() {
    use std::io::ErrorKind::ConnectionReset;
    assert_eq!(
        meet(Fault::ResetBeforeHeader).await,
        (vec![], Some(ConnectionReset))
    );
    assert_eq!(meet(Fault::CloseWithoutByte).await, (vec![], None));
    assert_eq!(meet(Fault::SilentBeforeHeader).await, (vec![], None));
    let (bytes, error) = meet(Fault::ShortHeader).await;
    assert!(bytes.len() < 12 && error.is_none());
    assert!(!meet(Fault::NotHttp).await.0.starts_with(b"HTTP"));
    let (bytes, _) = meet(Fault::SilentInHeader).await;
    assert!(bytes.starts_with(b"HTTP/1.1 200 OK\r\n"));
    assert!(!bytes.windows(4).any(|four| four == b"\r\n\r\n"));
}

#[tokio::test]
async fn faults_inside_the_body() {
    use std::io::ErrorKind::ConnectionReset;
    let (bytes, error) = meet(Fault::ResetInBody).await;
    assert_eq!(error, Some(ConnectionReset));
    assert!(bytes.windows(4).any(|four| four == b"\r\n\r\n"));
    for fault in [Fault::ShortBody, Fault::SilentInBody, Fault::DrippingBody] {
        let (bytes, error) = meet(fault).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let length = head.split_once("Content-Length: ").unwrap().1;
        let length: usize = length.lines().next().unwrap().parse().unwrap();
        assert!(body.len() < length && error.is_none(), "{fault}");
    }
    let (bytes, _) = meet(Fault::BrokenChunks).await;
    assert!(
        String::from_utf8(bytes)
            .unwrap()
            .contains("\r\nnonsense\r\n")
    );
}

#[tokio::test]
async fn faults_of_size() {
    let (bytes, _) = meet(Fault::HeaderFlood).await;
    assert!(bytes.len() > 500_000 && bytes.len() < 2_000_000);
    for fault in [Fault::EndlessBody, Fault::OversizedBody] {
        let (bytes, _) = meet(fault).await;
        assert!(bytes.len() >= 64 << 20 && bytes.len() < 65 << 20, "{fault}");
    }
    let (bytes, _) = meet(Fault::GzipBomb).await;
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let zipped = bytes.windows(2).position(|two| two == b"\x1f\x8b").unwrap();
    let mut out = vec![0; 64 << 20];
    let inflated = libdeflater::Decompressor::new().gzip_decompress(&bytes[zipped..], &mut out);
    assert_eq!(inflated.unwrap(), 64 << 20);
    let (bytes, _) = meet(Fault::TruncatedGzip).await;
    let zipped = bytes.windows(2).position(|two| two == b"\x1f\x8b").unwrap();
    let inflated = libdeflater::Decompressor::new().gzip_decompress(&bytes[zipped..], &mut out);
    assert!(inflated.is_err());
}

#[tokio::test]
async fn a_silence_ends_when_the_client_leaves() {
    let server = start(WebSpec::plain(1, 1)).await;
    for fault in [Fault::SilentBeforeHeader, Fault::DrippingBody] {
        let mut stream = connect(&server, 0).await;
        ask(&mut stream, "127.0.1.1", &fault.path(), "").await;
        stream.shutdown().await.unwrap();
        let closed = tokio::time::timeout(PATIENCE, read_all(&mut stream, usize::MAX));
        assert!(closed.await.is_ok(), "{fault} outlives its client");
    }
}

#[tokio::test]
async fn named_hosts_share_an_address_and_latency_is_kept() {
    let mut spec = WebSpec::plain(3, 5);
    spec.naming = Naming::Hosts { addresses: 1 };
    let latency = Duration::from_millis(30);
    spec.site_overrides.push((
        1,
        SiteBehaviour {
            latency: Some(latency),
            fixed: vec![("/once".into(), FixedPage::busy(1).first_only(1))],
            ..SiteBehaviour::default()
        },
    ));
    let server = start(spec).await;
    let host = server.web().host_of(1);
    assert_eq!(server.web().resolve_rules()[1], format!("{host}:127.0.1.1"));
    let mut stream = connect(&server, 0).await;
    for expected in ["503", "404"] {
        ask(&mut stream, &host, "/once", "").await;
        let (head, _) = read_answer(&mut stream).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {expected}")), "{head}");
    }
    ask(&mut stream, "stranger.test", "/", "").await;
    assert!(read_answer(&mut stream).await.0.starts_with("HTTP/1.1 421"));
    let entries = server.log().entries();
    assert!(entries[0].ended.since(entries[0].arrived) >= latency);
    assert_eq!((entries[1].site, entries[2].site), (Some(1), None));
}

#[tokio::test]
async fn the_webs_time_moves_when_told() {
    let mut spec = WebSpec::plain(1, 1);
    spec.traits.changes = ChangeMix {
        never: 0.0,
        rate: RateLaw::Equal(2.0),
        profiles: [1.0, 0.0, 0.0],
    };
    let server = start(spec).await;
    let mut stream = connect(&server, 0).await;
    let mut bodies = Vec::new();
    for _ in 0..2 {
        ask(&mut stream, "127.0.1.1", "/", "").await;
        bodies.push(read_answer(&mut stream).await.1);
    }
    let day = Duration::from_hours(24);
    server.advance(day * 7);
    assert_eq!(server.web_time(), START + day * 7);
    ask(&mut stream, "127.0.1.1", "/", "").await;
    bodies.push(read_answer(&mut stream).await.1);
    assert_eq!(bodies[0], bodies[1]);
    assert_ne!(bodies[1], bodies[2]);
}

#[tokio::test]
async fn a_taken_port_is_the_operators_failure() {
    let first = start(WebSpec::plain(2, 1)).await;
    let mut spec = WebSpec::plain(2, 1);
    spec.port = first.port();
    let second = Server::start(Web::new(spec.clone()), still()).await;
    let message = second.err().expect("the port is taken").to_string();
    assert!(message.starts_with(&format!("cannot listen on 127.0.1.1:{}", spec.port)));
    first.stop().await;
    Server::start(Web::new(spec), still()).await.unwrap();
}

#[test]
fn a_server_thread_needs_no_runtime_and_frees_its_port() {
    use std::io::{Read as _, Write as _};
    let server = ServerThread::start(Web::new(WebSpec::plain(300, 2)), still()).unwrap();
    let last = server.seeds().pop().unwrap();
    assert_eq!(last.host(), "127.0.2.50");
    let mut stream = std::net::TcpStream::connect((last.host(), server.port())).unwrap();
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        last.host()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200 OK"));
    assert_eq!(server.log().len(), 1);
    let port = server.port();
    server.stop();
    assert!(std::net::TcpStream::connect((last.host(), port)).is_err());
}
