//! Small servers on loopback that answer each path with fixed bytes, plain or
//! encrypted. They end with the test's process.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::common::identity;

/// Longer requests are not ours.
const REQUEST_BYTES_MAX: usize = 16 << 10;

/// A server and what it was asked.
pub(crate) struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

type Pages = Vec<(&'static str, Vec<u8>)>;

/// An answer with this status, these header lines and this body.
pub(crate) fn answer(status: &str, fields: &[&str], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for field in fields {
        head.push_str(field);
        head.push_str("\r\n");
    }
    [head.as_bytes(), b"Connection: close\r\n\r\n", body].concat()
}

/// A page of HTML.
pub(crate) fn html(body: &str) -> Vec<u8> {
    answer("200 OK", &["Content-Type: text/html"], body.as_bytes())
}

/// A robots.txt.
pub(crate) fn robots(text: &str) -> (&'static str, Vec<u8>) {
    (
        "/robots.txt",
        answer("200 OK", &["Content-Type: text/plain"], text.as_bytes()),
    )
}

/// A redirect to there.
pub(crate) fn redirect(target: &str) -> Vec<u8> {
    answer("302 Found", &[&format!("Location: {target}")], b"")
}

impl Server {
    /// Serves these paths; every other is not found.
    pub(crate) fn start(pages: Pages) -> Self {
        Self::listen("127.0.0.1", pages, None)
    }

    /// The same on another address of loopback.
    pub(crate) fn start_at(address: &str, pages: Pages) -> Self {
        Self::listen(address, pages, None)
    }

    /// The same behind TLS, with a certificate for this name; returns it as PEM.
    pub(crate) fn start_secure(name: &str, pages: Pages) -> (Self, String) {
        let (config, pem) = identity(&[name]);
        (Self::listen("127.0.0.1", pages, Some(config)), pem)
    }

    fn listen(address: &str, pages: Pages, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                match &tls {
                    None => serve(tcp, &pages, &heard),
                    Some(config) => {
                        let tls = ServerConnection::new(Arc::clone(config)).unwrap();
                        serve_encrypted(StreamOwned::new(tls, tcp), &pages, &heard);
                    }
                }
            }
        });
        Self { port, asked }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Paths asked for so far, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve_encrypted(
    mut stream: StreamOwned<ServerConnection, TcpStream>,
    pages: &Pages,
    asked: &Mutex<Vec<String>>,
) {
    serve(&mut stream, pages, asked);
    stream.conn.send_close_notify();
    // A client that has left needs no farewell.
    drop(stream.flush());
}

fn serve(mut stream: impl Read + Write, pages: &Pages, asked: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(len) => request.extend_from_slice(&piece[..len]),
        }
        if request.len() > REQUEST_BYTES_MAX {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let page = pages.iter().find(|(known, _)| *known == path);
    asked.lock().unwrap().push(path.clone());
    let missing = answer("404 Not Found", &[], b"");
    // A client that has left needs no answer.
    drop(stream.write_all(page.map_or(&missing, |(_, bytes)| bytes)));
    drop(stream.flush());
}
