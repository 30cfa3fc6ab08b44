//! One connection: read a request, answer it, and again.

use std::io::{self, IoSlice, Write as _};
use std::sync::Arc;
use std::time::Duration;

use geomi_model::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::request::{Parsed, Request, parse};
use super::{Shared, faults};
use crate::log::NewEntry;
use crate::{Answer, Ask, http_date};

const HEAD_MAX: usize = 64 * 1024;
const CHUNK_BYTES: usize = 4096;

/// Serves a connection to its end. An I/O error means that the client has left,
/// which clients may do at any time.
pub(crate) async fn serve(stream: TcpStream, number: u32, shared: Arc<Shared>) {
    let connection = Connection {
        stream,
        number,
        shared,
        head: Vec::with_capacity(512),
    };
    // Nobody is left to tell, and the log has what was asked.
    connection.run().await.unwrap_or(());
}

struct Connection {
    stream: TcpStream,
    number: u32,
    shared: Arc<Shared>,
    /// The head of the answer, kept for its memory.
    head: Vec<u8>,
}

/// Whether the connection goes on after an answer.
#[derive(PartialEq)]
enum Next {
    Request,
    Close,
}

impl Connection {
    async fn run(mut self) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        let mut unread = Vec::with_capacity(2048);
        // When the first byte of the request at hand was read.
        let mut arrived = None;
        loop {
            let (next, used) = match parse(&unread) {
                Parsed::Complete(request, used) => {
                    // Requests sent ahead arrive, for us, when their turn comes.
                    let arrived = arrived.take().unwrap_or_else(|| self.shared.clock.now());
                    (self.respond(&request, arrived).await?, used)
                }
                Parsed::Bad => (self.refuse(400).await?, 0),
                Parsed::Incomplete if unread.len() > HEAD_MAX => (self.refuse(431).await?, 0),
                Parsed::Incomplete => {
                    let more = self.read_more(&mut unread).await?;
                    arrived = arrived.or_else(|| Some(self.shared.clock.now()));
                    (more, 0)
                }
            };
            unread.drain(..used);
            if next == Next::Close {
                return Ok(());
            }
        }
    }

    /// Waits for bytes; closing or staying idle ends the connection.
    async fn read_more(&mut self, unread: &mut Vec<u8>) -> io::Result<Next> {
        let idle_max = self.shared.options.idle_max;
        match timeout(idle_max, self.stream.read_buf(unread)).await {
            Ok(read) => Ok(if read? == 0 {
                Next::Close
            } else {
                Next::Request
            }),
            Err(_) => Ok(Next::Close),
        }
    }

    async fn respond(&mut self, request: &Request<'_>, arrived: Timestamp) -> io::Result<Next> {
        let address = match request.host {
            Some(_) => String::new(),
            None => self.stream.local_addr()?.ip().to_string(),
        };
        let host = request.host.unwrap_or(&address);
        let answer = match request.method {
            "GET" | "HEAD" => self.shared.answer(Ask {
                host,
                target: request.target,
                accepts_gzip: request.accepts_gzip,
                if_none_match: request.if_none_match,
                if_modified_since: request.if_modified_since,
                asked_before: 0,
            }),
            _ => Answer::text(405, "only GET and HEAD\n").with("Allow", "GET, HEAD"),
        };
        if !answer.latency.is_zero() {
            pass(answer.latency).await;
        }
        let place = self.shared.log.record(&NewEntry {
            arrived,
            ended: self.shared.clock.now(),
            host,
            target: request.target,
            status: answer.status,
            fault: answer.fault,
            connection: self.number,
            user_agent: request.user_agent,
        });
        let sent = self.send(&answer, request).await;
        // On a busy machine a client may have read an answer long before we are back
        // here: its end is when it was handed over.
        if let Some(place) = place.filter(|_| answer.fault.is_some()) {
            self.shared.log.set_end(place, self.shared.clock.now());
        }
        sent
    }

    async fn send(&mut self, answer: &Answer, request: &Request<'_>) -> io::Result<Next> {
        if let Some(fault) = answer.fault {
            let silence_max = self.shared.options.silence_max;
            faults::play(fault, &mut self.stream, silence_max).await?;
            return Ok(Next::Close);
        }
        let keep_alive = request.keep_alive && !request.has_body;
        self.write_head(answer, keep_alive)?;
        if request.method == "HEAD" {
            self.stream.write_all(&self.head).await?;
        } else if answer.chunked {
            for chunk in answer.body.chunks(CHUNK_BYTES) {
                write!(self.head, "{:x}\r\n", chunk.len())?;
                self.head.extend_from_slice(chunk);
                self.head.extend_from_slice(b"\r\n");
            }
            self.head.extend_from_slice(b"0\r\n\r\n");
            self.stream.write_all(&self.head).await?;
        } else {
            write_both(&mut self.stream, &self.head, &answer.body).await?;
        }
        Ok(if keep_alive {
            Next::Request
        } else {
            Next::Close
        })
    }

    fn write_head(&mut self, answer: &Answer, keep_alive: bool) -> io::Result<()> {
        let head = &mut self.head;
        head.clear();
        let date = http_date::format(self.shared.clock.web_now());
        write!(
            head,
            "HTTP/1.1 {} {}\r\nDate: {date}\r\n",
            answer.status,
            reason(answer.status)
        )?;
        for (name, value) in &answer.headers {
            write!(head, "{name}: {value}\r\n")?;
        }
        if answer.chunked {
            head.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        } else if answer.status != 304 && answer.status != 204 {
            write!(head, "Content-Length: {}\r\n", answer.body.len())?;
        }
        if !keep_alive {
            head.extend_from_slice(b"Connection: close\r\n");
        }
        head.extend_from_slice(b"\r\n");
        Ok(())
    }

    /// Answers what is no request; it is not logged, as it names nothing.
    async fn refuse(&mut self, status: u16) -> io::Result<Next> {
        self.write_head(&Answer::text(status, ""), false)?;
        self.stream.write_all(&self.head).await?;
        Ok(Next::Close)
    }
}

/// Lets time pass. A client that leaves meanwhile is noticed when writing.
pub(crate) async fn pass(time: Duration) {
    // That it takes too long is the point.
    timeout(time, std::future::pending::<()>())
        .await
        .unwrap_or(());
}

/// Head and body in one system call where the socket takes them.
async fn write_both(stream: &mut TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let slices = [IoSlice::new(head), IoSlice::new(body)];
    let written = stream.write_vectored(&slices).await?;
    stream.write_all(&head[written.min(head.len())..]).await?;
    let of_body = written.saturating_sub(head.len());
    stream.write_all(&body[of_body..]).await
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        410 => "Gone",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Other",
    }
}
