//! Connections are used again when, and only when, that is safe.

use std::time::Duration;

use geomi_fetch::{FetchConfig, Fetcher};
use geomi_model::NetworkState;

use crate::server::{Server, Step, answers, config, fetcher, send};

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

async fn fetch_ok(fetcher: &Fetcher, server: &Server) -> bool {
    let outcome = fetcher.fetch(server.request()).await;
    assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
    outcome.reused_connection
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::start(vec![answers(10, PAGE)]).await;
    let fetcher = fetcher();
    assert!(!fetch_ok(&fetcher, &server).await);
    for _ in 1..10 {
        let outcome = fetcher.fetch(server.request()).await;
        assert!(outcome.reused_connection);
        assert_eq!(&outcome.body[..], b"hello");
        assert_eq!(outcome.phases.connect, None);
    }
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn chunked_answers_leave_the_connection_usable() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let server = Server::start(vec![answers(3, chunked)]).await;
    let fetcher = fetcher();
    for n in 0..3 {
        assert_eq!(fetch_ok(&fetcher, &server).await, n > 0);
    }
}

#[tokio::test]
async fn a_connection_in_doubt_is_closed() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello",
    ] {
        let hold = vec![Step::Read, send(answer), Step::Hold];
        let server = Server::start(vec![hold.clone(), hold]).await;
        let fetcher = fetcher();
        assert!(!fetch_ok(&fetcher, &server).await);
        assert_eq!(fetcher.idle_connections(), 0, "{answer:?}");
        assert!(!fetch_ok(&fetcher, &server).await);
        assert_eq!(server.accepted(), 2, "{answer:?}");
    }
}

#[tokio::test]
async fn a_connection_known_to_be_closed_is_replaced() {
    let once = [answers(1, PAGE), vec![Step::Reset]].concat();
    let server = Server::start(vec![once, answers(1, PAGE)]).await;
    let fetcher = fetcher();
    assert!(!fetch_ok(&fetcher, &server).await);
    // Whether the reset is seen before the connection is used again is a race;
    // if it is used, that is the answer, and the next attempt is on a new one.
    let second = fetcher.fetch(server.request()).await;
    if second.reused_connection {
        assert!(!second.state.is_answer());
        assert!(!fetch_ok(&fetcher, &server).await);
    }
    assert_eq!(server.accepted(), 2);
}

#[tokio::test]
async fn a_close_instead_of_an_answer_is_the_answer() {
    // The server reads the second request before it closes or resets: asking
    // again at once would be a request nobody's politeness knows of.
    for ending in [vec![], vec![Step::Reset]] {
        let gone = [answers(1, PAGE), vec![Step::Read], ending].concat();
        let server = Server::start(vec![gone, answers(1, PAGE)]).await;
        let fetcher = fetcher();
        assert!(!fetch_ok(&fetcher, &server).await);
        let outcome = fetcher.fetch(server.request()).await;
        assert!(outcome.reused_connection && !outcome.state.is_answer());
        assert_eq!(server.accepted(), 1);
        assert!(!fetch_ok(&fetcher, &server).await);
        assert_eq!(server.accepted(), 2);
    }
}

#[tokio::test]
async fn a_half_answer_is_not_tried_again() {
    let half = [
        answers(1, PAGE),
        vec![Step::Read, send("HTTP/1.1 200 OK\r\n")],
    ]
    .concat();
    let server = Server::start(vec![half, answers(1, PAGE)]).await;
    let fetcher = fetcher();
    assert!(!fetch_ok(&fetcher, &server).await);
    let outcome = fetcher.fetch(server.request()).await;
    assert_eq!(outcome.state, NetworkState::HeaderError);
    assert!(outcome.reused_connection);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn a_new_connection_that_dies_is_the_answer() {
    let server = Server::start(vec![vec![Step::Read], answers(1, PAGE)]).await;
    let outcome = fetcher().fetch(server.request()).await;
    assert_eq!(outcome.state, NetworkState::HeaderShort);
    assert_eq!(server.accepted(), 1);
}

#[tokio::test]
async fn idle_connections_are_bounded_in_number_and_age() {
    let held = [answers(1, PAGE), vec![Step::Hold]].concat();
    let few = Fetcher::new(FetchConfig {
        idle_connections_max: 2,
        ..config()
    })
    .unwrap();
    for _ in 0..4 {
        let server = Server::start(vec![held.clone()]).await;
        fetch_ok(&few, &server).await;
    }
    assert_eq!(few.idle_connections(), 2);
    few.close_idle();
    assert_eq!(few.idle_connections(), 0);

    let young = Fetcher::new(FetchConfig {
        idle_age_max: Duration::ZERO,
        ..config()
    })
    .unwrap();
    let server = Server::start(vec![held.clone(), held]).await;
    assert!(!fetch_ok(&young, &server).await);
    assert!(!fetch_ok(&young, &server).await);
}
