//! The bytes kept are the bytes sent, and the limits hold.

use std::io::Write;

use geomi_fetch::{FetchConfig, FetchOutcome};
use geomi_model::{NetworkState, Truncation};

use crate::server::{Server, Step, config, fetch_script, fetcher, send};

async fn fetch(answer: impl AsRef<[u8]>) -> FetchOutcome {
    fetch_script(config(), vec![Step::Read, send(answer)]).await
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(plain).unwrap();
    out.finish().unwrap()
}

fn with_header(fields: &str, body: &[u8]) -> Vec<u8> {
    [b"HTTP/1.1 200 OK\r\n", fields.as_bytes(), b"\r\n", body].concat()
}

#[tokio::test]
async fn header_and_body_are_kept_as_sent() {
    let head = "HTTP/1.1 200 Fine\r\nx-ODD:   spaced\t\r\nContent-Length: 5\r\n\r\n";
    let outcome = fetch(format!("{head}hello")).await;
    assert_eq!(outcome.state, NetworkState::Ok);
    assert_eq!(outcome.head, head.as_bytes());
    assert_eq!(outcome.wire_body, &b"hello"[..]);
    assert_eq!(outcome.header("X-Odd").unwrap(), "spaced");
    assert_eq!(outcome.wire_bytes(), head.len() as u64 + 5);
    assert!(!outcome.reused_connection);
}

#[tokio::test]
async fn the_request_is_kept_as_sent() {
    let server = Server::answering("HTTP/1.1 204 No\r\n\r\n").await;
    let outcome = fetcher().fetch(server.request()).await;
    let expected = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nUser-Agent: tester/1\r\n\
         Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n\
         Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n",
        server.addr
    );
    assert_eq!(outcome.request, expected.as_bytes());
}

#[tokio::test]
async fn chunks_are_kept_on_the_wire_and_gone_from_the_payload() {
    let wire = b"5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: t\r\n\r\n";
    let outcome = fetch(with_header("Transfer-Encoding: chunked\r\n", wire)).await;
    assert_eq!(outcome.state, NetworkState::Ok);
    assert_eq!(outcome.wire_body, &wire[..]);
    assert_eq!(outcome.payload, &b"hello world"[..]);
    assert_eq!(&outcome.body[..], b"hello world");
}

#[tokio::test]
async fn codings_are_kept_in_the_payload_and_gone_from_the_body() {
    let page = b"<p>a page</p>".repeat(100);
    let packed = gzip(&page);
    let fields = format!(
        "Content-Encoding: gzip\r\nContent-Length: {}\r\n",
        packed.len()
    );
    let outcome = fetch(with_header(&fields, &packed)).await;
    assert_eq!(outcome.payload, packed);
    assert_eq!(outcome.wire_body, packed);
    assert_eq!(&outcome.body[..], page);
    assert_eq!(outcome.error, None);
    let chunked = [
        format!("{:x}\r\n", packed.len()).as_bytes(),
        &packed,
        b"\r\n0\r\n\r\n",
    ]
    .concat();
    for fields in [
        "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
    ] {
        let outcome = fetch(with_header(fields, &chunked)).await;
        assert_eq!(outcome.payload, packed, "{fields}");
        assert_eq!(&outcome.body[..], page, "{fields}");
    }
}

#[tokio::test]
async fn views_share_memory_where_they_can() {
    let body = b"x".repeat(20_000);
    let outcome = fetch(with_header("Content-Length: 20000\r\n", &body)).await;
    assert_eq!(outcome.wire_body.as_ptr(), outcome.payload.as_ptr());
    assert_eq!(outcome.payload.as_ptr(), outcome.body.bytes.as_ptr());
}

#[tokio::test]
async fn bodies_arrive_whole_at_every_size() {
    for len in [0, 1, 1000, 32_000, 33_000, 300_000, 2_000_000] {
        let body: Vec<u8> = (0..len).map(|n: u32| (n % 251) as u8).collect();
        let outcome = fetch(with_header(&format!("Content-Length: {len}\r\n"), &body)).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{len}");
        assert!(outcome.body[..] == body, "{len} by length");
        let outcome = fetch(with_header("", &body)).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{len}");
        assert!(outcome.body[..] == body, "{len} until the close");
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let answer = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n\
                  HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let outcome = fetch(answer).await;
    assert_eq!(outcome.code, Some(200));
    assert!(outcome.head.starts_with(b"HTTP/1.1 200 OK"));
    assert_eq!(outcome.header("link"), None);
    assert_eq!(&outcome.body[..], b"ok");
}

#[tokio::test]
async fn a_body_past_the_limit_is_cut_and_kept() {
    let small = || FetchConfig {
        body_bytes_max: 1000,
        ..config()
    };
    let body = b"y".repeat(100_000);
    let chunked = [b"186a0\r\n", &body[..], b"\r\n0\r\n\r\n"].concat();
    for (fields, wire) in [
        ("Content-Length: 100000\r\n", &body),
        ("", &body),
        ("Transfer-Encoding: chunked\r\n", &chunked),
    ] {
        let answer = with_header(fields, wire);
        let outcome = fetch_script(small(), vec![Step::Read, send(&answer)]).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{fields}");
        assert_eq!(outcome.truncated, Some(Truncation::Length), "{fields}");
        assert_eq!(outcome.body.len(), 1000, "{fields}");
        assert!(outcome.body.truncated);
        assert!(wire.starts_with(&outcome.wire_body), "{fields}");
        assert!(outcome.wire_body.len() >= 1000, "{fields}");
    }
}

#[tokio::test]
async fn one_request_may_have_its_own_limit() {
    let server = Server::answering(with_header("Content-Length: 5\r\n", b"hello")).await;
    let mut request = server.request();
    request.body_bytes_max = Some(3);
    let outcome = fetcher().fetch(request).await;
    assert_eq!(&outcome.body[..], b"hel");
}

#[tokio::test]
async fn a_bomb_ends_at_the_limit_with_its_wire_bytes_whole() {
    let bomb = gzip(&vec![0; 4 << 20]);
    let fields = format!(
        "Content-Encoding: gzip\r\nContent-Length: {}\r\n",
        bomb.len()
    );
    let small = FetchConfig {
        body_bytes_max: 100_000,
        ..config()
    };
    let script = vec![Step::Read, send(with_header(&fields, &bomb))];
    let outcome = fetch_script(small, script).await;
    assert_eq!(outcome.state, NetworkState::Ok);
    assert_eq!(outcome.wire_body, bomb);
    assert_eq!(outcome.truncated, None, "the wire is whole");
    assert_eq!(
        (outcome.body.len(), outcome.body.truncated),
        (100_000, true)
    );
}

#[tokio::test]
async fn a_coding_that_does_not_decode_is_noted_and_harms_nothing() {
    let outcome = fetch(with_header("Content-Encoding: gzip\r\n", b"not gzip")).await;
    assert_eq!(outcome.state, NetworkState::Ok);
    assert_eq!(outcome.payload, &b"not gzip"[..]);
    assert!(outcome.body.is_empty());
    assert!(outcome.error.unwrap().contains("Gzip"));
    let outcome = fetch(with_header("Content-Encoding: rot13\r\n", b"uryyb")).await;
    assert_eq!(outcome.state, NetworkState::Ok);
    assert_eq!(&outcome.body[..], b"uryyb");
    assert!(outcome.error.unwrap().contains("rot13"));
}

#[tokio::test]
async fn a_large_packed_body_is_decoded_too() {
    // Noise does not pack, so that the payload is long as well.
    let mut noise = 1_u32;
    let page: Vec<u8> = std::iter::repeat_with(|| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 24) as u8
    })
    .take(1 << 20)
    .collect();
    let outcome = fetch(with_header("Content-Encoding: gzip\r\n", &gzip(&page))).await;
    assert!(outcome.payload.len() > 512 << 10);
    assert!(outcome.body[..] == page);
}
