//! Bodies of types that are not wanted.

use geomi_fetch::{BodyFilter, FetchRequest, Fetcher};
use geomi_model::NetworkState;

use crate::server::{Server, Step, answers, config, send};

const FILM: &str = "HTTP/1.1 200 OK\r\nContent-Type: Video/MP4; x=y\r\n";

fn pages_only(request: FetchRequest) -> FetchRequest {
    FetchRequest {
        body_filter: Some(BodyFilter::new(|mime| mime == "text/html")),
        ..request
    }
}

#[tokio::test]
async fn a_long_body_is_not_read_and_its_connection_is_closed() {
    for framing in [
        "Content-Length: 1000000000\r\n",
        "Transfer-Encoding: chunked\r\n",
        "",
    ] {
        let film = vec![
            Step::Read,
            send(format!("{FILM}{framing}\r\n")),
            Step::Flood(vec![b'x'; 1 << 16]),
        ];
        let page = answers(1, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        let server = Server::start(vec![film, page]).await;
        let fetcher = Fetcher::new(config()).unwrap();
        let outcome = fetcher.fetch(pages_only(server.request())).await;
        assert!(outcome.is_left, "{framing}");
        assert_eq!(
            (outcome.state, outcome.code),
            (NetworkState::Code, Some(200))
        );
        assert!(outcome.wire_body.is_empty() && outcome.body.is_empty());
        assert!(outcome.truncated.is_none() && outcome.error.is_some());
        assert_eq!(outcome.header("content-type").unwrap(), "Video/MP4; x=y");
        let outcome = fetcher.fetch(pages_only(server.request())).await;
        assert_eq!(&outcome.body[..], b"ok", "a body without a type is wanted");
        assert_eq!(server.accepted(), 2, "{framing}");
    }
}

#[tokio::test]
async fn a_short_body_is_thrown_away_and_its_connection_serves_again() {
    let film = format!("{FILM}Content-Length: 5\r\n\r\nhello");
    let server = Server::start(vec![answers(2, &film)]).await;
    let fetcher = Fetcher::new(config()).unwrap();
    for _ in 0..2 {
        let outcome = fetcher.fetch(pages_only(server.request())).await;
        assert!(outcome.is_left && outcome.body.is_empty());
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn other_answers_are_read_whatever_their_type() {
    let gone = "HTTP/1.1 404 Not Found\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\ngone";
    let server = Server::answering(gone).await;
    let fetcher = Fetcher::new(config()).unwrap();
    let outcome = fetcher.fetch(pages_only(server.request())).await;
    assert!(!outcome.is_left);
    assert_eq!(&outcome.body[..], b"gone");
}
