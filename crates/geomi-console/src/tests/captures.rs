//! Captures of pages, made without a network.

use geomi_model::{Capture, NetworkState, Timestamp, Visit};
use geomi_store::segment;
use geomi_store::warc::{
    Exchange, GzipLevel, WarcConfig, WarcWriter, encode_exchange, payload_digest,
};
use geomi_url::CrawlUrl;

use super::*;

/// The URL of all captures here.
const PAGE: &str = "http://example.com/";

/// Stores captures of [`PAGE`] with these bodies, a second apart.
pub(super) fn store(dir: &CrawlDir, bodies: &[&[u8]]) {
    let config = WarcConfig::new(dir.warc(), "test", "w0");
    let mut writer = WarcWriter::resume(config, None).unwrap();
    let url = CrawlUrl::parse(PAGE).unwrap();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    let mut rows = Vec::new();
    for (number, body) in (1_u64..).zip(bodies) {
        let time = Timestamp::from_secs(1_794_744_000 + number.cast_signed());
        let digest = payload_digest(head, body);
        let exchange = Exchange {
            url: &url,
            time,
            serial: number,
            ip: None,
            protocol: geomi_model::Protocol::Http1,
            request: b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n",
            head,
            wire_body: body,
            truncated: None,
            payload_digest: digest,
        };
        let encoded = encode_exchange(&exchange, GzipLevel::default());
        let at = writer.append(&encoded.members, time).unwrap();
        let capture = Capture {
            file: at.file,
            offset: at.offset,
            length: encoded.capture_length,
            kind: encoded.kind,
        };
        rows.push(Visit {
            number,
            time,
            state: NetworkState::Ok,
            code: Some(200),
            mime: Some("text/plain".to_owned()),
            digest: Some(digest),
            capture: Some(capture),
            ..Visit::unknown(url.clone())
        });
    }
    writer.sync().unwrap();
    writer.close().unwrap();
    segment::write(dir, None, &rows).unwrap();
    segment::merge_index(dir).unwrap();
}

/// The address of a part of the captures.
pub(super) fn address(part: &str) -> String {
    format!("/api/v1/crawls/news/captures/{part}?url=http%3A%2F%2Fexample.com%2F")
}

#[tokio::test]
async fn a_single_capture_has_nothing_to_compare_with() {
    let page = |bodies: &'static [&'static [u8]]| async move {
        let console = Console::new();
        let token = console.token(Role::Viewer);
        store(&console.dir(), bodies);
        let path = format!("/crawls/news/captures?url={PAGE}");
        console.get(&path, Some(&token)).await.is(200).body
    };
    assert!(!page(&[b"one"]).await.contains("type=\"radio\""));
    assert!(page(&[b"one", b"two"]).await.contains("type=\"radio\""));
}

#[tokio::test]
async fn contents_come_whole_and_compared() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let long = format!("{}\n", "a long line ".repeat(10)).repeat(10_000);
    let changed = format!("{long}another\n");
    store(&console.dir(), &[long.as_bytes(), changed.as_bytes()]);
    for part in ["body", "text"] {
        let found = console.get(&address(part), Some(&token)).await.is(200);
        assert_eq!(found.body, changed, "{part}");
        assert_eq!(
            found.headers[header::CONTENT_LENGTH],
            changed.len().to_string()
        );
        assert_eq!(found.headers["geomi-truncated"], "false");
        let mut again = request(
            Method::GET,
            &address(part),
            Some(&token),
            ELSEWHERE,
            Body::empty(),
        );
        again
            .headers_mut()
            .insert(header::IF_NONE_MATCH, found.headers[header::ETAG].clone());
        assert_eq!(console.ask(again).await.is(304).body, "");
    }
    let compared = console.get(&address("diff"), Some(&token)).await.is(200);
    assert_eq!(compared.json()["new"], 1);
    let page = format!(
        "/crawls/news/captures?url={PAGE}&from={}&to={}",
        compared.json()["from"]["at"],
        compared.json()["to"]["at"]
    );
    let page = console.get(&page, Some(&token)).await.is(200);
    assert!(page.body.contains("<ins>") && page.body.ends_with("</html>"));
}
