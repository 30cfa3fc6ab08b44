//! A zoo of answers that RFC 9112 forbids, and of servers that never stop.
//!
//! One row, one misbehaviour. Whatever it is, the attempt ends within its
//! deadline and byte limit, in the state its row names, and the connection is
//! not used again.

use std::time::Duration;

use geomi_fetch::{FetchConfig, FetchOutcome, Fetcher};
use geomi_model::NetworkState::{
    self, Code, DownloadError, DownloadTimeout, HeaderError, HeaderNotHttp, HeaderShort,
    HeaderTimeout, Ok as Complete,
};
use tokio::time::{Instant, timeout};

use crate::server::{Server, Step, config, send};

const BODY_BYTES_MAX: usize = 100_000;
const HEADER_BYTES_MAX: usize = 8_000;

/// Limits that a test can wait for.
fn strict() -> FetchConfig {
    FetchConfig {
        connect_timeout: Duration::from_secs(5),
        silence_timeout: Duration::from_millis(150),
        total_timeout: Duration::from_millis(400),
        body_bytes_max: BODY_BYTES_MAX,
        header_bytes_max: HEADER_BYTES_MAX,
        ..config()
    }
}

async fn check(name: &str, steps: Vec<Step>, expected: NetworkState) -> FetchOutcome {
    let script = [vec![Step::Read], steps].concat();
    let server = Server::start(vec![script]).await;
    let fetcher = Fetcher::new(strict()).unwrap();
    let started = Instant::now();
    let outcome = timeout(Duration::from_secs(20), fetcher.fetch(server.request()));
    let outcome = outcome.await.unwrap_or_else(|_| panic!("{name}: stalled"));
    assert_eq!(outcome.state, expected, "{name}: {:?}", outcome.error);
    assert_eq!(fetcher.idle_connections(), 0, "{name}: kept in doubt");
    let wire_max = BODY_BYTES_MAX * 3 / 2 + 16 * 1024 + HEADER_BYTES_MAX + 64 * 1024;
    assert!(
        outcome.wire_bytes() as usize <= wire_max,
        "{name}: too long"
    );
    assert!(outcome.body.len() <= BODY_BYTES_MAX, "{name}: too long");
    // The machine may be busy, but not twenty times as slow as the deadline.
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{name}: too late"
    );
    outcome
}

/// Answers of one piece after which the server holds the connection open.
async fn check_held(rows: &[(&str, &str, NetworkState)]) {
    for (name, answer, expected) in rows {
        check(name, vec![send(answer), Step::Hold], *expected).await;
    }
}

#[tokio::test]
async fn lengths_that_lie() {
    check_held(&[
        ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", HeaderNotHttp),
        ("two lengths in a list", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello!", HeaderNotHttp),
        ("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", HeaderNotHttp),
        ("a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", HeaderNotHttp),
        ("a hexadecimal length", "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\nhello", HeaderNotHttp),
        ("an empty length", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\nhello", HeaderNotHttp),
        ("a folded length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\nhello", HeaderNotHttp),
        ("a length past 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551621\r\n\r\nhello", HeaderNotHttp),
        ("a length nobody sends", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhello", DownloadTimeout),
        ("a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Complete),
        ("a wrong length and chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Complete),
        ("a 204 with a body", "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello", Code),
        ("a 304 with a body", "HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\nhello", Code),
        ("a 204 whose body may still come", "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n", Code),
        ("more than the length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", Complete),
        ("two answers at once", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", Complete),
        ("no end of the body", "HTTP/1.1 200 OK\r\n\r\nhello", DownloadTimeout),
    ])
    .await;
}

#[tokio::test]
async fn chunks_that_lie() {
    for (name, body, expected) in [
        (
            "a size that overflows",
            "10000000000000005\r\nhello",
            DownloadError,
        ),
        (
            "a size of many zeros",
            "00000000000000000000005\r\nhello\r\n0\r\n\r\n",
            DownloadError,
        ),
        ("a signed size", "+5\r\nhello\r\n0\r\n\r\n", DownloadError),
        ("a negative size", "-1\r\nhello\r\n0\r\n\r\n", DownloadError),
        ("a size with 0x", "0x5\r\nhello\r\n0\r\n\r\n", DownloadError),
        (
            "a size with an underscore",
            "1_0\r\nhello\r\n0\r\n\r\n",
            DownloadError,
        ),
        ("no size", "\r\nhello\r\n0\r\n\r\n", DownloadError),
        (
            "a bare line feed behind the size",
            "5\nhello\r\n0\r\n\r\n",
            DownloadError,
        ),
        (
            "a bare line feed in the extension",
            "5;a\nb\r\nhello\r\n0\r\n\r\n",
            DownloadError,
        ),
        (
            "data longer than its size",
            "5\r\nhello!\r\n0\r\n\r\n",
            DownloadError,
        ),
        (
            "data shorter than its size",
            "9\r\nhello\r\n0\r\n\r\n",
            DownloadError,
        ),
        (
            "a size nobody sends",
            "fffffffffffffff\r\nhello",
            DownloadTimeout,
        ),
        ("no last chunk", "5\r\nhello\r\n", DownloadTimeout),
        (
            "no empty line at the end",
            "5\r\nhello\r\n0\r\n",
            DownloadTimeout,
        ),
        (
            "data behind the end",
            "5\r\nhello\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            Complete,
        ),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        check(name, vec![send(&answer), Step::Hold], expected).await;
        if expected == DownloadTimeout {
            check(name, vec![send(&answer)], DownloadError).await;
            check(name, vec![send(&answer), Step::Reset], DownloadError).await;
        }
    }
    check_held(&[
        ("chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Complete),
        ("chunked of HTTP/1.0", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Complete),
        ("an unknown transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello", DownloadTimeout),
        ("identity and a length", "HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello", Complete),
        ("a transfer coding behind a control byte", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n\r\nhello", HeaderNotHttp),
    ])
    .await;
}

#[tokio::test]
async fn headers_that_lie() {
    check_held(&[
        ("not HTTP", "SSH-2.0-OpenSSH_9.9\r\n\r\n", HeaderNotHttp),
        ("HTTP/0.9", "<html><title>a page</title>", HeaderNotHttp),
        (
            "HTTP/2 in plain text",
            "HTTP/2.0 200 OK\r\n\r\n",
            HeaderNotHttp,
        ),
        ("too few bytes to tell", "220 hi\r\n", HeaderTimeout),
        (
            "a code of two digits",
            "HTTP/1.1 20 OK\r\n\r\n",
            HeaderNotHttp,
        ),
        ("a code below 100", "HTTP/1.1 099 OK\r\n\r\n", HeaderNotHttp),
        (
            "another protocol unasked",
            "HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n",
            HeaderNotHttp,
        ),
        (
            "a body behind an interim answer",
            "HTTP/1.1 103 Hints\r\nContent-Length: 14\r\n\r\nsome body here",
            HeaderNotHttp,
        ),
        (
            "a NUL byte",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 5\r\n\r\nhello",
            HeaderNotHttp,
        ),
        (
            "a bare carriage return",
            "HTTP/1.1 200 OK\r\nX: a\rY: b\r\nContent-Length: 5\r\n\r\nhello",
            HeaderNotHttp,
        ),
        (
            "bare line feeds",
            "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
            Complete,
        ),
        (
            "a folded line",
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nhello",
            Complete,
        ),
        (
            "a space before the colon",
            "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
            Complete,
        ),
        (
            "a space before the first field",
            "HTTP/1.1 200 OK\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello",
            Complete,
        ),
        (
            "a line that is no field",
            "HTTP/1.1 200 OK\r\nnonsense\r\nContent-Length: 5\r\n\r\nhello",
            Complete,
        ),
        (
            "HTTP/1.0 without keep-alive",
            "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            Complete,
        ),
        (
            "the end of a connection",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: foo, CLOSE\r\n\r\nhello",
            Complete,
        ),
        (
            "half a header",
            "HTTP/1.1 200 OK\r\nContent-Le",
            HeaderTimeout,
        ),
        ("nothing", "", HeaderTimeout),
    ])
    .await;
    check("a close at once", vec![], HeaderShort).await;
    check("a reset at once", vec![Step::Reset], HeaderError).await;
    let half = "HTTP/1.1 200 OK\r\nContent-Le";
    check("a close in the header", vec![send(half)], HeaderError).await;
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(600));
    check("too many fields", vec![send(many)], HeaderError).await;
}

#[tokio::test]
async fn servers_that_never_stop() {
    let flood = |bytes: &str| Step::Flood(bytes.repeat(200).into_bytes());
    let drip = |bytes: &str| Step::Drip(bytes.as_bytes().to_vec());
    let chunked = || send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let head = || send("HTTP/1.1 200 OK\r\n");
    for (name, steps, expected) in [
        (
            "a flood of nonsense",
            vec![flood("nonsense ")],
            HeaderNotHttp,
        ),
        (
            "an endless status line",
            vec![send("HTTP/1.1 200 "), flood("OK")],
            HeaderError,
        ),
        (
            "an endless field",
            vec![head(), send("X: "), flood("yes")],
            HeaderError,
        ),
        (
            "endless fields",
            vec![head(), flood("A: b\r\n")],
            HeaderError,
        ),
        (
            "endless interim answers",
            vec![flood("HTTP/1.1 100 Continue\r\n\r\n")],
            HeaderError,
        ),
        (
            "an endless body",
            vec![head(), send("\r\n"), flood("body")],
            Complete,
        ),
        (
            "an endless chunk",
            vec![chunked(), send("fffffff\r\n"), flood("body")],
            Complete,
        ),
        (
            "endless small chunks",
            vec![chunked(), flood("1\r\nx\r\n")],
            Complete,
        ),
        (
            "an endless extension",
            vec![chunked(), send("5;"), flood("x")],
            DownloadError,
        ),
        (
            "endless trailers",
            vec![chunked(), send("0\r\n"), flood("A: b\r\n")],
            DownloadError,
        ),
        (
            "a dripping status line",
            vec![drip("HTTP/1.1 200 OK ")],
            HeaderTimeout,
        ),
        (
            "dripping fields",
            vec![head(), drip("A: b\r\n")],
            HeaderTimeout,
        ),
        (
            "dripping interim answers",
            vec![drip("HTTP/1.1 100 Go\r\n\r\n")],
            HeaderTimeout,
        ),
        (
            "a dripping body",
            vec![head(), send("\r\n"), drip("body")],
            DownloadTimeout,
        ),
        (
            "dripping chunks",
            vec![chunked(), drip("1\r\nx\r\n")],
            DownloadTimeout,
        ),
        (
            "dripping trailers",
            vec![chunked(), send("0\r\n"), drip("A: b\r\n")],
            DownloadTimeout,
        ),
    ] {
        check(name, steps, expected).await;
    }
}

#[tokio::test]
async fn a_late_answer_is_not_taken_for_the_next_one() {
    // What follows the first answer arrives while the connection rests.
    let poison = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood";
    let first = vec![Step::Read, send(good), send(poison), Step::Hold];
    let server = Server::start(vec![first, vec![Step::Read, send(good)]]).await;
    let fetcher = Fetcher::new(config()).unwrap();
    for _ in 0..2 {
        let outcome = fetcher.fetch(server.request()).await;
        assert_eq!(&outcome.body[..], b"good");
        assert!(!outcome.reused_connection);
    }
    assert_eq!(server.accepted(), 2);
}
