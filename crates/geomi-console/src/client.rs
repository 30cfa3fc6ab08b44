//! One request to another server and its answer: what `--server` and webhooks
//! need, and no more.
//!
//! One request a connection, HTTP/1.1. Answers are bounded; looking up the name,
//! connecting, every silence and the whole exchange have deadlines. Nothing of the crawler's own fetching is used, which keeps
//! robots.txt and rests. https is checked against the certificates this
//! machine trusts. Blocks.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use geomi_url::CrawlUrl;
use rustls::pki_types::ServerName;
use thiserror::Error;

/// The longest answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How long a silence may last.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long looking up a name, and connecting to all its addresses, may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How long the whole exchange may take.
const ALL_PATIENCE: Duration = Duration::from_mins(5);

/// Why there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server cannot be reached, or went away.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Its certificate is not believed, or its name is none.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// What it said is no answer.
    #[error("{0}")]
    Answer(String),
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// `GET` or `POST`.
    pub method: &'a str,
    /// Path and query; that of the URL if there is none.
    pub path: Option<&'a str>,
    /// An API token.
    pub token: Option<&'a str>,
    /// A body of JSON.
    pub body: Option<&'a str>,
}

/// Sends a request to a server; code and body of the answer.
pub fn send(url: &CrawlUrl, ask: &Ask<'_>) -> Result<(u16, Vec<u8>), ClientError> {
    let host = url.host().trim_matches(['[', ']']);
    let end = now() + ALL_PATIENCE;
    let stream = connect(addresses(host, url.port())?, CONNECT_PATIENCE)?;
    let mut stream = Timed { stream, end };
    if !url.as_str().starts_with("https:") {
        return exchange(&mut stream, url, ask);
    }
    let connection = tls(host)?;
    exchange(&mut rustls::StreamOwned::new(connection, stream), url, ask)
}

#[expect(
    clippy::disallowed_methods,
    reason = "socket code: deadlines of an exchange, which decide nothing else"
)]
fn now() -> Instant {
    Instant::now()
}

/// The addresses of a host. The system's own look-up knows no deadline, so
/// another thread waits for it.
fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let (sender, found) = sync_channel(1);
    let place = (host.to_owned(), port);
    std::thread::Builder::new()
        .name("look-up".to_owned())
        .spawn(move || {
            let found = place.to_socket_addrs().map(Iterator::collect);
            // Nobody waits any more if it took too long.
            let _too_late = sender.send(found);
        })?;
    let found = found.recv_timeout(CONNECT_PATIENCE);
    found.unwrap_or_else(|_| {
        let what = format!("looking up {host} took too long");
        Err(io::Error::new(io::ErrorKind::TimedOut, what))
    })
}

/// Connects to the first address that answers in time.
fn connect(addresses: Vec<SocketAddr>, patience: Duration) -> io::Result<TcpStream> {
    let end = now() + patience;
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        let left = end.saturating_duration_since(now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// A stream whose reads and writes end at the latest at a time.
struct Timed {
    stream: TcpStream,
    end: Instant,
}

impl Timed {
    fn patience(&self) -> io::Result<Duration> {
        let left = self.end.saturating_duration_since(now()).min(PATIENCE);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.patience()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.patience()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn tls(host: &str) -> Result<rustls::ClientConnection, ClientError> {
    let failed = |error: &dyn std::fmt::Display| ClientError::Tls(error.to_string());
    let mut roots = rustls::RootCertStore::empty();
    // Certificates that cannot be read are not trusted; the others are.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(&error))?;
    rustls::ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))
}

fn exchange<S: Read + Write>(
    stream: &mut S,
    url: &CrawlUrl,
    ask: &Ask<'_>,
) -> Result<(u16, Vec<u8>), ClientError> {
    let token = match ask.token {
        Some(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) => {
            format!("Authorization: Bearer {token}\r\n")
        }
        Some(_) => {
            let what = "the token has characters no token has";
            return Err(ClientError::Answer(what.to_owned()));
        }
        None => String::new(),
    };
    let body = ask.body.unwrap_or("");
    let kind = if body.is_empty() {
        ""
    } else {
        "Content-Type: application/json\r\n"
    };
    let path = ask.path.unwrap_or_else(|| path_of(url));
    let request = format!(
        "{} {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nUser-Agent: geomi/{}\r\n{token}{kind}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        ask.method,
        url.authority(),
        env!("CARGO_PKG_VERSION"),
        body.len(),
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    #[expect(clippy::disallowed_methods, reason = "read under a limit")]
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    read_answer(&answer)
}

/// Path and query of a URL.
fn path_of(url: &CrawlUrl) -> &str {
    let text = url.as_str();
    let behind = text.find("://").map_or(0, |at| at + 3);
    let at = text[behind..].find('/').map(|at| behind + at);
    at.map_or("/", |at| &text[at..])
}

/// Code and body of an answer.
fn read_answer(bytes: &[u8]) -> Result<(u16, Vec<u8>), ClientError> {
    let wrong = |what: &str| ClientError::Answer(what.to_owned());
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let begins = match head.parse(bytes) {
        Ok(httparse::Status::Complete(begins)) => begins,
        Ok(httparse::Status::Partial) => return Err(wrong("the answer ended in its header")),
        Err(error) => return Err(ClientError::Answer(format!("this is no HTTP: {error}"))),
    };
    let field = |name: &str| {
        let mut fields = head.headers.iter();
        let found = fields.find(|field| field.name.eq_ignore_ascii_case(name));
        found.and_then(|field| std::str::from_utf8(field.value).ok())
    };
    let body = &bytes[begins..];
    let code = head.code.ok_or_else(|| wrong("the answer has no code"))?;
    match field("content-length").and_then(|len| len.parse::<usize>().ok()) {
        Some(len) if body.len() < len => Err(wrong("the answer was cut off")),
        Some(len) => Ok((code, body[..len].to_vec())),
        // What ends with the connection, or comes in chunks, which nobody here
        // needs to take apart: a console states the length of its answers.
        None => Ok((code, body.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(read_answer(whole).unwrap(), (200, b"{}".to_vec()));
        let empty = b"HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(read_answer(empty).unwrap(), (204, Vec::new()));
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}";
        assert!(read_answer(cut).is_err());
        assert!(read_answer(b"HTTP/1.1 200").is_err());
        assert!(read_answer(b"SSH-2.0-x\r\n\r\n").is_err());
    }

    #[test]
    fn connecting_and_exchanging_have_deadlines() {
        // A listener whose queue is full takes no more connections, as a host
        // behind a firewall that drops packets.
        let full = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = full.local_addr().unwrap();
        let soon = Duration::from_millis(200);
        let mut held = Vec::new();
        let refused = loop {
            match connect(vec![address], soon) {
                Ok(stream) => held.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop((full, held));

        let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = connect(vec![mute.local_addr().unwrap()], soon).unwrap();
        let mut timed = Timed {
            stream,
            end: now() + soon,
        };
        assert!(timed.read(&mut [0]).is_err(), "it says nothing");
        let over = timed.write(&[0]).unwrap_err();
        assert_eq!(over.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_path_keeps_its_query() {
        let path = |text| path_of(&CrawlUrl::parse(text).unwrap()).to_owned();
        assert_eq!(path("http://a.test/hook?x=1"), "/hook?x=1");
        assert_eq!(path("http://a.test"), "/");
    }
}
