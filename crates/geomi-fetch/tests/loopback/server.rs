//! A server that plays a script, and a fetcher that trusts it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use geomi_fetch::{AddressPolicy, FetchConfig, FetchOutcome, FetchRequest, Fetcher};
use geomi_url::CrawlUrl;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does on one connection, in order. After the last step it
/// closes.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Reads one request head.
    Read,
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends the bytes again and again, as fast as they are taken, until the
    /// client closes.
    Flood(Vec<u8>),
    /// Sends the bytes one by one and then again, one every few milliseconds,
    /// until the client closes.
    Drip(Vec<u8>),
    /// Waits until the client closes.
    Hold,
    /// Breaks the connection off with a reset.
    Reset,
}

pub(crate) fn send(bytes: impl AsRef<[u8]>) -> Step {
    Step::Send(bytes.as_ref().to_vec())
}

/// Reads a request and sends `answer`, `count` times.
pub(crate) fn answers(count: usize, answer: &str) -> Vec<Step> {
    let one = || [Step::Read, send(answer)];
    std::iter::repeat_with(one).take(count).flatten().collect()
}

/// A server under way.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Server {
    /// Plays one script for each connection, in the order they come. Later
    /// connections are refused.
    pub(crate) async fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        tokio::spawn(async move {
            for script in scripts {
                let (stream, _) = listener.accept().await.unwrap();
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(play_tcp(stream, script));
            }
        });
        Self { addr, accepted }
    }

    /// A server for one connection that reads the request and sends `answer`.
    pub(crate) async fn answering(answer: impl AsRef<[u8]>) -> Self {
        Self::start(vec![vec![Step::Read, send(answer)]]).await
    }

    pub(crate) fn url(&self, path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://{}{path}", self.addr)).unwrap()
    }

    pub(crate) fn request(&self) -> FetchRequest {
        FetchRequest::new(self.url("/"), self.addr.ip())
    }

    /// Connections accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

async fn play_tcp(mut stream: TcpStream, script: Vec<Step>) {
    if play(&mut stream, &script).await {
        stream.set_zero_linger().unwrap();
    }
}

/// Plays a script; whether it ends in a reset.
pub(crate) async fn play(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    script: &[Step],
) -> bool {
    for step in script {
        match step {
            Step::Read => read_head(stream).await,
            // A client that has seen enough may have closed.
            Step::Send(bytes) => drop(stream.write_all(bytes).await),
            Step::Flood(bytes) => while stream.write_all(bytes).await.is_ok() {},
            Step::Drip(bytes) => drip(stream, bytes).await,
            Step::Hold => while stream.read(&mut [0; 1024]).await.is_ok_and(|n| n > 0) {},
            Step::Reset => return true,
        }
    }
    false
}

async fn drip(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) {
    let mut pace = tokio::time::interval(Duration::from_millis(5));
    for byte in bytes.iter().cycle() {
        pace.tick().await;
        let sent = stream.write_all(&[*byte]).await;
        if sent.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

async fn read_head(stream: &mut (impl AsyncRead + Unpin)) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
}

/// Limits for tests that do not wait for them.
pub(crate) fn config() -> FetchConfig {
    FetchConfig {
        user_agent: "tester/1".to_owned(),
        address_policy: AddressPolicy {
            allow: vec!["127.0.0.0/8".parse().unwrap()],
            ..AddressPolicy::default()
        },
        native_roots: false,
        ..FetchConfig::default()
    }
}

/// Limits for tests that do.
pub(crate) fn impatient() -> FetchConfig {
    let short = Duration::from_millis(50);
    FetchConfig {
        connect_timeout: short,
        silence_timeout: short,
        ..config()
    }
}

pub(crate) fn fetcher() -> Fetcher {
    Fetcher::new(config()).unwrap()
}

/// One fetch from a server that plays one script.
pub(crate) async fn fetch_script(config: FetchConfig, script: Vec<Step>) -> FetchOutcome {
    let server = Server::start(vec![script]).await;
    let fetcher = Fetcher::new(config).unwrap();
    fetcher.fetch(server.request()).await
}
