//! Real sockets, and those at their other end who are slow: the console goes on.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use super::*;
use crate::server::door::Limits;
use crate::server::{Server, start_within};

const LIMITS: Limits = Limits {
    strangers: 40,
    strangers_per_network: 20,
    users: 400,
    per_user: 200,
};
/// Everybody else is answered within this time.
const SOON: Duration = Duration::from_secs(1);

/// A console that listens, and a token for it.
struct Served {
    console: Console,
    server: Server,
    token: String,
}

impl Served {
    fn start() -> Self {
        let console = Console::new();
        let token = console.token(Role::Viewer);
        let server = start_within(console.app.options.clone(), LIMITS).unwrap();
        Self {
            console,
            server,
            token,
        }
    }

    /// Sends text on a new connection.
    fn send(&self, text: &str) -> TcpStream {
        let url = self.server.url();
        let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        stream.set_read_timeout(Some(SOON * 10)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn request(&self, path: &str) -> String {
        let token = &self.token;
        format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
    }

    /// The body of an answer, which has to be 200 and to come soon.
    #[track_caller]
    fn soon(&self, path: &str) -> String {
        let began = now();
        let mut answer = String::new();
        let mut stream = self.send(&self.request(path));
        stream.read_to_string(&mut answer).unwrap();
        assert!(began.elapsed() < SOON, "{path} took {:?}", began.elapsed());
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

#[expect(clippy::disallowed_methods, reason = "it is measured from outside")]
fn now() -> Instant {
    Instant::now()
}

/// Whether the other end has closed a connection on which nothing is sent.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let read = stream.read(&mut [0; 64]);
    !matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn half_sent_requests_hold_nobody_up() {
    let served = Served::start();
    let open = "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer";
    let mut kept = served.send(&served.request("/api/v1/crawls/news/events"));
    kept.read_exact(&mut [0; 12]).unwrap();
    for half in [
        "P",
        open,
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\ni",
        "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\ni\r\n",
    ] {
        let mut held: Vec<TcpStream> = (0..200).map(|_| served.send(half)).collect();
        served.soon("/healthz");
        served.soon("/");
        served.soon("/api/v1/crawls");
        // Those that are too many were closed.
        let began = now();
        while held.len() > LIMITS.strangers_per_network {
            held.retain_mut(|stream| !is_closed(stream));
            assert!(began.elapsed() < SOON * 10, "{half:?}: {}", held.len());
        }
        assert!(!held.is_empty(), "{half:?}: not all of them");
    }
    // A user's own stream was never in the way of anybody.
    kept.set_nonblocking(true).unwrap();
    let mut events = vec![0; 1 << 16];
    assert!(kept.read(&mut events).unwrap() > 0);
    let again = kept.read(&mut events);
    assert!(!matches!(again, Ok(0)), "the stream was closed");
}

#[test]
fn stalled_downloads_hold_nobody_up() {
    let served = Served::start();
    let file = served.console.dir().root().join("warc");
    std::fs::create_dir_all(&file).unwrap();
    let file = std::fs::File::create(file.join("a.warc.gz")).unwrap();
    file.set_len(64 << 20).unwrap();
    let request = served.request("/api/v1/crawls/news/files/warc/a.warc.gz");
    let mut held = Vec::new();
    for _ in 0..100 {
        let mut stream = served.send(&request);
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
        held.push(stream);
    }
    served.soon("/healthz");
    served.soon("/");
    served.soon("/crawls/news/log");
    // And one that reads gets all of it.
    for mut stream in [served.send(&request), held.remove(0)] {
        let copied = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
        assert!(copied > 64 << 20, "{copied}");
    }
}

#[test]
fn stalled_captures_take_a_bounded_part_of_memory() {
    let served = Served::start();
    let long = vec![b'x'; 15 << 20];
    super::captures::store(&served.console.dir(), &[&long, &long]);
    let request = served.request(&super::captures::address("body"));
    let mut held: Vec<TcpStream> = (0..100).map(|_| served.send(&request)).collect();
    let mut answers = Vec::new();
    for stream in &mut held {
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        answers.push(String::from_utf8(start.to_vec()).unwrap());
    }
    let sent = answers.iter().filter(|start| *start == "HTTP/1.1 200");
    assert_eq!(sent.count(), 2, "32 MiB for one user");
    let refused = answers.iter().filter(|start| *start == "HTTP/1.1 503");
    assert_eq!(refused.count(), 98);
    served.soon("/crawls/news/captures");
    // Whoever reads gets all of it, and what was given up is free again.
    let first = answers.iter().position(|start| start == "HTTP/1.1 200");
    let mut first = held.swap_remove(first.unwrap());
    let copied = std::io::copy(&mut first, &mut std::io::sink()).unwrap();
    assert!(copied > 15 << 20, "{copied}");
    drop(held);
    let mut stream = served.send(&request);
    let copied = std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    assert!(copied > 15 << 20, "{copied}");
}

#[test]
fn a_crawl_that_does_not_answer_holds_nobody_up() {
    let served = Served::start();
    let other = CrawlDir::create(served.console.folder.path().join("other")).unwrap();
    std::fs::write(
        other.status(),
        serde_json::to_vec(&Status::default()).unwrap(),
    )
    .unwrap();
    // As that of a suspended process: connections are taken and never answered.
    let socket = UnixListener::bind(served.console.dir().root().join("control.sock")).unwrap();
    let is_silent = || served.soon("/api/v1/crawls/news").contains("\"silent\"");
    let began = now();
    while !is_silent() || !served.soon("/").contains("data-state=\"silent\"") {
        assert!(began.elapsed() < SOON * 10, "nobody notices");
    }
    for _ in 0..3 {
        let list: Value = serde_json::from_str(&served.soon("/api/v1/crawls")).unwrap();
        let state = |name: &str| {
            let mut rows = list["items"].as_array().unwrap().iter();
            let row = rows.find(|row| row["name"] == name).unwrap();
            (
                row["state"].as_str().unwrap().to_owned(),
                row["running"].as_bool().unwrap(),
            )
        };
        assert_eq!(state("news"), ("silent".to_owned(), true));
        assert_eq!(state("other"), ("not-closed".to_owned(), false));
        for path in [
            "/",
            "/healthz",
            "/readyz",
            "/metrics",
            "/crawls/other",
            "/crawls/news",
        ] {
            served.soon(path);
        }
    }
    // Whoever asks something only the crawl knows is told so at once.
    let began = now();
    let mut answer = String::new();
    let mut stream = served.send(&served.request("/api/v1/crawls/news/queue"));
    stream.read_to_string(&mut answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 409") && answer.contains("does not answer"),
        "{answer}"
    );
    assert!(began.elapsed() < SOON);
    // One question is open, however many asked.
    socket.set_nonblocking(true).unwrap();
    let mut questions = Vec::new();
    while let Ok((stream, _)) = socket.accept() {
        questions.push(stream);
    }
    assert_eq!(questions.len(), 1);
    // When it goes on, it is as it was.
    let said = served.console.status_line(4711);
    questions[0].write_all(said.as_bytes()).unwrap();
    drop(questions);
    let answering = std::thread::spawn(move || {
        socket.set_nonblocking(false).unwrap();
        for stream in socket.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut asked = [0; 64];
            assert!(stream.read(&mut asked).unwrap() > 0);
            stream.write_all(said.as_bytes()).unwrap();
        }
    });
    let began = now();
    let running = || {
        let one: Value = serde_json::from_str(&served.soon("/api/v1/crawls/news")).unwrap();
        one["state"] != "silent" && one["pid"] == 4711
    };
    while !running() {
        assert!(began.elapsed() < SOON * 10, "it stays silent");
    }
    // The second question of the thread, if it was not asked yet.
    running();
    drop(answering);
}

#[tokio::test]
async fn a_body_has_to_arrive_in_time() {
    let (sender, body) = crate::live::Frames::new(1);
    let soon = Duration::from_millis(50);
    let slow = crate::http::guard::whole(Body::new(body), 100, soon).await;
    assert_eq!(slow.unwrap_err().status, 408);
    drop(sender);
    let long = crate::http::guard::whole(Body::from("x".repeat(101)), 100, soon).await;
    assert_eq!(long.unwrap_err().status, 413);
    let right = crate::http::guard::whole(Body::from("x".repeat(100)), 100, soon).await;
    assert_eq!(right.unwrap().len(), 100);
}
