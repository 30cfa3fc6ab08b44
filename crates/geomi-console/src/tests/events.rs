//! Events without a gap.

use std::fmt::Write as _;
use std::io::Write as _;
use std::pin::Pin;

use http_body::Body as _;

use super::*;

fn lines(numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.fold(String::new(), |mut text, n| {
        writeln!(text, r#"{{"n":{n},"time":"2026-11-15T16:00:00.000Z","url":"http://a.test/{n}","state":"OK"}}"#).unwrap();
        text
    })
}

fn append(console: &Console, numbers: std::ops::RangeInclusive<u64>) {
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(console.dir().log())
        .unwrap();
    file.write_all(lines(numbers).as_bytes()).unwrap();
}

/// One who watches.
struct Watcher {
    body: Body,
    text: String,
}

impl Watcher {
    async fn begin(console: &Console, token: &str, last: Option<u64>) -> Self {
        let path = "/api/v1/crawls/news/events";
        let mut request = request(Method::GET, path, Some(token), ELSEWHERE, Body::empty());
        if let Some(last) = last {
            request
                .headers_mut()
                .insert("last-event-id", last.to_string().parse().unwrap());
        }
        let response = console.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "text/event-stream"
        );
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// Every number told of until `last` was, shown or skipped.
    async fn numbers_to(&mut self, last: u64) -> Vec<u64> {
        loop {
            let told = numbers(&self.text);
            if told.last() == Some(&last) {
                return told;
            }
            let next = std::future::poll_fn(|context| Pin::new(&mut self.body).poll_frame(context));
            let piece = next.await.unwrap().unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }
}

fn numbers(text: &str) -> Vec<u64> {
    let mut told = Vec::new();
    for event in text.split("\n\n") {
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
        match (field("event: "), field("data: ")) {
            (Some("visit"), Some(data)) => {
                let visit: Value = serde_json::from_str(data).unwrap();
                assert_eq!(field("id: ").unwrap(), visit["n"].to_string());
                told.push(visit["n"].as_u64().unwrap());
            }
            (Some("skipped"), Some(data)) => {
                let skipped: Value = serde_json::from_str(data).unwrap();
                told.extend(skipped["first"].as_u64().unwrap()..=skipped["last"].as_u64().unwrap());
            }
            _ => {}
        }
    }
    told
}

#[tokio::test]
async fn who_comes_back_misses_nothing() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    append(&console, 1..=50);
    let mut watcher = Watcher::begin(&console, &token, Some(20)).await;
    assert_eq!(watcher.numbers_to(50).await, (21..=50).collect::<Vec<_>>());
    append(&console, 51..=60);
    assert_eq!(watcher.numbers_to(60).await, (21..=60).collect::<Vec<_>>());
    drop(watcher);
    append(&console, 61..=75);
    let mut back = Watcher::begin(&console, &token, Some(60)).await;
    append(&console, 76..=80);
    assert_eq!(back.numbers_to(80).await, (61..=80).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_flood_is_skipped_and_said_to_be() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    append(&console, 1..=10);
    let mut watcher = Watcher::begin(&console, &token, None).await;
    append(&console, 11..=30_000);
    assert_eq!(
        watcher.numbers_to(30_000).await,
        (11..=30_000).collect::<Vec<_>>()
    );
    assert!(watcher.text.contains("event: skipped"));
    assert!(watcher.text.len() < 1 << 20, "{}", watcher.text.len());
    let mut late = Watcher::begin(&console, &token, Some(5)).await;
    assert_eq!(
        late.numbers_to(30_000).await,
        (6..=30_000).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn watchers_share_one_reader_which_ends_with_them() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    append(&console, 1..=10);
    let mut watchers = Vec::new();
    for _ in 0..50 {
        watchers.push(Watcher::begin(&console, &token, Some(0)).await);
    }
    for watcher in &mut watchers {
        watcher.numbers_to(10).await;
    }
    assert_eq!(console.app.hubs.counts(), (1, 50));
}

/// Reads until the stream ends, which has to be soon.
async fn ends(mut watcher: Watcher) -> bool {
    let read = async {
        loop {
            let next =
                std::future::poll_fn(|context| Pin::new(&mut watcher.body).poll_frame(context));
            if next.await.is_none() {
                return;
            }
        }
    };
    let patience = std::time::Duration::from_secs(10);
    tokio::time::timeout(patience, read).await.is_ok()
}

#[tokio::test]
async fn a_stream_ends_with_the_user_the_token_or_the_session() {
    let console = Console::new();
    console.token(Role::Admin);
    append(&console, 1..=10);
    let accounts = &console.app.accounts;
    let now = console.app.now();

    let token = console.token(Role::Viewer);
    let mut watcher = Watcher::begin(&console, &token, Some(0)).await;
    watcher.numbers_to(10).await;
    accounts.remove_user(2).unwrap().unwrap();
    assert!(ends(watcher).await, "the user was removed");

    let token = console.token(Role::Viewer);
    let watcher = Watcher::begin(&console, &token, Some(0)).await;
    let no = accounts.tokens(Some(3))[0].no;
    accounts.remove_token(no).unwrap().unwrap();
    assert!(ends(watcher).await, "the token was removed");

    let user = accounts.users().pop().unwrap();
    let (secret, _) = accounts.begin_session(&user, now).unwrap();
    let path = "/crawls/news/events";
    let mut request = request(Method::GET, path, None, ELSEWHERE, Body::empty());
    let cookie = format!("geomi_session={secret}").parse().unwrap();
    request.headers_mut().insert(header::COOKIE, cookie);
    let response = console.router.clone().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let watcher = Watcher {
        body: response.into_body(),
        text: String::new(),
    };
    let password = crate::accounts::store::UserChange {
        pw: Some(accounts.hasher.hash("another long password")),
        ..Default::default()
    };
    accounts.change_user(3, password).unwrap().unwrap();
    assert!(ends(watcher).await, "the password was reset");
}
