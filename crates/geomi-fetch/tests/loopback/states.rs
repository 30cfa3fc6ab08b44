//! Every network state, produced by a server that earns it.

use std::time::Duration;

use geomi_fetch::{FetchConfig, FetchRequest, Fetcher};
use geomi_model::{NetworkState, Truncation};
use geomi_url::CrawlUrl;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::server::{Server, Step, config, fetch_script, fetcher, impatient, send};

async fn check(script: Vec<Step>, expected: NetworkState) -> geomi_fetch::FetchOutcome {
    let described = format!("{script:?}");
    // Patience decides only where a timeout is what is expected.
    let patience = match expected {
        NetworkState::HeaderTimeout | NetworkState::DownloadTimeout => impatient(),
        _ => config(),
    };
    let outcome = fetch_script(patience, script).await;
    assert_eq!(outcome.state, expected, "{described}: {:?}", outcome.error);
    assert_eq!(
        outcome.error.is_some(),
        !expected.is_answer(),
        "{described}: {:?}",
        outcome.error
    );
    outcome
}

#[tokio::test]
async fn not_tried_where_the_address_is_refused() {
    let server = Server::answering("HTTP/1.1 200 OK\r\n\r\n").await;
    let strict = Fetcher::new(FetchConfig::default()).unwrap();
    let outcome = strict.fetch(server.request()).await;
    assert_eq!(outcome.state, NetworkState::NotTried);
    assert_eq!(
        outcome.error.unwrap(),
        "address 127.0.0.1 refused: loopback"
    );
    assert!(outcome.request.is_empty());
    assert_eq!(server.accepted(), 0);
}

#[tokio::test]
async fn connect_error_where_nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let url = CrawlUrl::parse(&format!("http://{addr}/")).unwrap();
    let outcome = fetcher().fetch(FetchRequest::new(url, addr.ip())).await;
    assert_eq!(outcome.state, NetworkState::ConnectError);
    assert_eq!(outcome.phases.connect, None);
    assert!(outcome.request.is_empty());
}

#[tokio::test]
async fn connect_timeout_where_nobody_accepts() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let addr = listener.local_addr().unwrap();
    // Once its queue is full the system leaves further callers unanswered.
    let mut fillers = Vec::new();
    while let Ok(filler) = timeout(Duration::from_millis(50), TcpStream::connect(addr)).await {
        fillers.push(filler.unwrap());
        assert!(fillers.len() < 100, "the queue never fills");
    }
    let url = CrawlUrl::parse(&format!("http://{addr}/")).unwrap();
    let impatient = Fetcher::new(impatient()).unwrap();
    let outcome = impatient.fetch(FetchRequest::new(url, addr.ip())).await;
    assert_eq!(outcome.state, NetworkState::ConnectTimeout);
}

#[tokio::test]
async fn connected_where_the_request_cannot_be_sent() {
    // The listener accepts for the system's sake, but nobody ever reads.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let url = CrawlUrl::parse(&format!("http://{addr}/")).unwrap();
    let mut request = FetchRequest::new(url, addr.ip());
    request.if_none_match = Some("x".repeat(32 << 20));
    let outcome = Fetcher::new(impatient()).unwrap().fetch(request).await;
    assert_eq!(outcome.state, NetworkState::Connected);
    assert!(outcome.phases.connect.is_some());
}

#[tokio::test]
async fn header_error_where_the_connection_breaks() {
    check(vec![Step::Read, Step::Reset], NetworkState::HeaderError).await;
    let partial = "HTTP/1.1 200 OK\r\nContent-";
    let outcome = check(vec![Step::Read, send(partial)], NetworkState::HeaderError).await;
    assert_eq!(outcome.head, partial.as_bytes(), "what came is kept");
    assert_eq!(outcome.code, None);
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    check(vec![Step::Read, send(long)], NetworkState::HeaderError).await;
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".repeat(4000);
    check(vec![Step::Read, send(endless)], NetworkState::HeaderError).await;
}

#[tokio::test]
async fn header_timeout_where_the_server_is_silent() {
    check(vec![Step::Read, Step::Hold], NetworkState::HeaderTimeout).await;
    let partial = send("HTTP/1.1 200 OK\r\nX: y\r\n");
    check(
        vec![Step::Read, partial, Step::Hold],
        NetworkState::HeaderTimeout,
    )
    .await;
}

#[tokio::test]
async fn header_short_where_the_server_closes_at_once() {
    check(vec![Step::Read], NetworkState::HeaderShort).await;
    check(
        vec![Step::Read, send("HTTP/1.1 20")],
        NetworkState::HeaderShort,
    )
    .await;
}

#[tokio::test]
async fn header_not_http_where_something_else_answers() {
    for answer in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "220 mail.example.com ESMTP\r\n",
        "<html><body>HTTP/0.9</body></html>",
        "HTTP/1.1 banana\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    ] {
        let script = vec![Step::Read, send(answer), Step::Hold];
        let outcome = check(script, NetworkState::HeaderNotHttp).await;
        assert_eq!(outcome.head, answer.as_bytes());
    }
}

#[tokio::test]
async fn code_for_complete_answers_other_than_200() {
    let answer = "HTTP/1.1 301 Moved\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n";
    let outcome = check(vec![Step::Read, send(answer)], NetworkState::Code).await;
    assert_eq!(outcome.code, Some(301));
    assert_eq!(outcome.header("location").unwrap(), "/new");
    let unasked = "HTTP/1.1 304 Not Modified\r\n\r\n";
    let outcome = check(vec![Step::Read, send(unasked)], NetworkState::Code).await;
    assert_eq!(outcome.code, Some(304));
}

#[tokio::test]
async fn download_error_where_the_body_breaks() {
    let begun = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
    let outcome = check(vec![Step::Read, send(begun)], NetworkState::DownloadError).await;
    assert_eq!(&outcome.body[..], b"hello");
    assert_eq!(outcome.wire_body, &b"hello"[..]);
    assert_eq!(outcome.truncated, Some(Truncation::Disconnect));
    assert_eq!(outcome.code, Some(200));
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello world";
    let outcome = check(
        vec![Step::Read, send(chunk), Step::Hold],
        NetworkState::DownloadError,
    )
    .await;
    assert_eq!(&outcome.body[..], b"hello");
    assert_eq!(outcome.wire_body, &b"5\r\nhello world"[..]);
}

#[tokio::test]
async fn download_timeout_where_the_body_falls_silent() {
    let begun = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
    let silent = vec![Step::Read, send(begun), Step::Hold];
    let outcome = check(silent.clone(), NetworkState::DownloadTimeout).await;
    assert_eq!(outcome.truncated, Some(Truncation::Time));
    assert_eq!(&outcome.body[..], b"hello");
    let short_in_all = FetchConfig {
        total_timeout: Duration::from_millis(50),
        ..config()
    };
    let outcome = fetch_script(short_in_all, silent).await;
    assert_eq!(outcome.state, NetworkState::DownloadTimeout);
}

#[tokio::test]
async fn ok_for_200_and_for_304_to_a_condition() {
    let page = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let outcome = check(vec![Step::Read, send(page)], NetworkState::Ok).await;
    assert_eq!(&outcome.body[..], b"hello");
    assert_eq!(outcome.truncated, None);
    assert!(outcome.phases.connect.is_some() && outcome.phases.tls.is_none());
    assert!(outcome.phases.first_byte.is_some() && outcome.phases.download.is_some());
    assert!(outcome.phases.total >= outcome.phases.first_byte.unwrap());

    let server = Server::answering("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n").await;
    let mut request = server.request();
    request.if_none_match = Some("\"x\"".to_owned());
    let outcome = fetcher().fetch(request).await;
    assert_eq!((outcome.state, outcome.code), (NetworkState::Ok, Some(304)));
    let sent = String::from_utf8(outcome.request.to_vec()).unwrap();
    assert!(sent.contains("If-None-Match: \"x\"\r\n"));
}
