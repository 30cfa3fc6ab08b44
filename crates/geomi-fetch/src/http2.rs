//! HTTP/2 (RFC 9113) over one connection, one stream at a time.
//!
//! The frames are the library's business; ours are the limits and the words.
//! There is no task behind a connection: whoever waits for an answer drives the
//! connection too, so that one at rest costs nothing and cannot be made to work.
//!
//! What an archive keeps of such an answer is an HTTP/1.1 view: a status line
//! with the usual words, the fields in the order the library keeps them, and
//! the content of the DATA frames. Frames, padding, interim answers and
//! trailers are not kept. The view says nothing the server did not say.
//!
//! Nothing here is unbounded. Each exchange may read so many bytes of whatever
//! frames, so a flood of SETTINGS, PING, empty DATA or CONTINUATION ends it;
//! windows bound what the library buffers; header lists have the limit of other
//! headers; pushes are declined; and the deadlines are those of HTTP/1.1, except
//! that the header must come whole before the silence is too long.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::{BufMut as _, Bytes, BytesMut};
use geomi_model::{NetworkState, Truncation};
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

use crate::body::Frame;
use crate::exchange::{Answer, DRAINED_BYTES_MAX, Limits};
use crate::head::{Head, HeadError};
use crate::{BodyFilter, TlsDescription};

/// What a server may send before we have read it, on a stream and in all.
const WINDOW_BYTES: u32 = 1 << 20;

/// Frame headers, padding and control frames an exchange may bring beside a
/// body: as much as half of it and this.
const OVERHEAD_BYTES: usize = 256 << 10;

/// What a connection at rest may have sent: settings, pings, farewells.
const REST_BYTES: usize = 16 << 10;

/// An open connection on which HTTP/2 was agreed.
#[derive(Debug)]
pub(crate) struct Http2 {
    sender: SendRequest<Bytes>,
    connection: Connection<Metered<TlsStream<TcpStream>>, Bytes>,
    budget: Arc<AtomicUsize>,
    /// The connection has ended and must not be driven any more.
    is_over: bool,
    /// Made at the start: the library keeps the connection to itself.
    pub(crate) tls: TlsDescription,
}

/// Why there is no answer.
struct Failure {
    state: NetworkState,
    error: String,
    wants_http1: bool,
}

/// A body and how it ended.
#[derive(Default)]
struct Content {
    bytes: BytesMut,
    state: NetworkState,
    truncated: Option<Truncation>,
    error: Option<String>,
    is_whole: bool,
    wants_http1: bool,
    /// It was not wanted.
    is_left: bool,
}

impl Http2 {
    /// Greets the server. Nothing is awaited from it.
    pub(crate) async fn start(
        tls: TlsStream<TcpStream>,
        header_bytes_max: usize,
    ) -> io::Result<Self> {
        let description = TlsDescription::of(tls.get_ref().1);
        let budget = Arc::new(AtomicUsize::new(REST_BYTES));
        let metered = Metered {
            inner: tls,
            budget: Arc::clone(&budget),
        };
        let (sender, connection) = Builder::new()
            .enable_push(false)
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(u32::try_from(header_bytes_max).unwrap_or(u32::MAX))
            .max_send_buffer_size(64 << 10)
            .handshake(metered)
            .await
            .map_err(io::Error::other)?;
        Ok(Self {
            sender,
            connection,
            budget,
            is_over: false,
            tls: description,
        })
    }

    /// Whether the connection at rest can take a request. Nothing waits here.
    pub(crate) async fn is_idle(&mut self) -> bool {
        self.budget.store(REST_BYTES, Ordering::Relaxed);
        let settled = poll_fn(|context| {
            self.drive(context);
            Poll::Ready(match self.sender.poll_ready(context) {
                Poll::Ready(ready) => ready.is_ok(),
                Poll::Pending => false,
            })
        });
        settled.await && !self.is_over
    }

    /// Sends the request whose HTTP/1.1 view is `sent` and reads the answer.
    pub(crate) async fn exchange(
        &mut self,
        sent: &[u8],
        limits: Limits,
        filter: Option<&BodyFilter>,
    ) -> Answer {
        let frames = limits.body_bytes_max + limits.body_bytes_max / 2 + OVERHEAD_BYTES;
        let budget = frames + 2 * limits.header_bytes_max;
        self.budget.store(budget, Ordering::Relaxed);
        let asking = match self.send(sent, limits).await {
            Ok(asking) => asking,
            Err(failure) => return failure.into_answer(None),
        };
        let sent_at = Instant::now();
        match self.read_head(asking, limits).await {
            Ok((head, block, body)) => {
                let first_byte_at = Instant::now();
                let is_left = filter.is_some_and(|filter| !filter.wants(&head, &block));
                let content = if is_left {
                    self.leave_body(&head, &block, body, limits).await
                } else {
                    self.read_body(&head, body, limits).await
                };
                content.into_answer(head, block, (sent_at, first_byte_at), !self.is_over)
            }
            Err(failure) => failure.into_answer(Some(sent_at)),
        }
    }

    async fn send(&mut self, sent: &[u8], limits: Limits) -> Result<ResponseFuture, Failure> {
        let failed = |error: String| {
            let error = format!("the request could not be sent: {error}");
            Failure::new(NetworkState::Connected, error)
        };
        let request = parse_request(sent).map_err(|error| failed(error.to_string()))?;
        let ready = poll_fn(|context| {
            self.drive(context);
            self.sender.poll_ready(context)
        });
        match timeout_at(next_deadline(limits), ready).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Err(_) => return Err(failed("too slow".to_owned())),
        }
        match self.sender.send_request(request, true) {
            Ok((response, _nothing_more_to_send)) => Ok(response),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    async fn read_head(
        &mut self,
        mut asking: ResponseFuture,
        limits: Limits,
    ) -> Result<(Head, Bytes, RecvStream), Failure> {
        let answered = poll_fn(|context| {
            self.drive(context);
            // Interim answers are read, so that they do not pile up, and dropped.
            while let Poll::Ready(Some(Ok(_))) = asking.poll_informational(context) {}
            let answer = Pin::new(&mut asking).poll(context);
            self.unless_over(answer)
        });
        let response = match timeout_at(next_deadline(limits), answered).await {
            Ok(Some(Ok(response))) => response,
            Ok(Some(Err(error))) => return Err(head_failure(&error)),
            Ok(None) => return Err(header_error("closed before a header".to_owned())),
            Err(_) => {
                let error = "no header in time".to_owned();
                return Err(Failure::new(NetworkState::HeaderTimeout, error));
            }
        };
        let (parts, body) = response.into_parts();
        let block = http1_view(parts.status, &parts.headers);
        match Head::parse(&block) {
            Ok(head) => Ok((head, block, body)),
            Err(HeadError::TooManyFields) => {
                Err(header_error(HeadError::TooManyFields.to_string()))
            }
            Err(HeadError::NotHttp(error)) => Err(Failure::new(NetworkState::HeaderNotHttp, error)),
        }
    }

    /// A body that is not wanted: a short one is read to its end, so that the
    /// connection serves again. Otherwise the stream is dropped, which resets it, and
    /// the connection is given up: what is on its way would count against the next
    /// answer.
    async fn leave_body(
        &mut self,
        head: &Head,
        block: &[u8],
        body: RecvStream,
        limits: Limits,
    ) -> Content {
        let mut content = Content {
            state: NetworkState::Code,
            is_left: true,
            ..Content::default()
        };
        let frame = Frame::of(head, block);
        if frame.is_ok_and(|frame| frame.framing.is_short(DRAINED_BYTES_MAX)) {
            content.is_whole = self.read_body(head, body, limits).await.is_whole;
        }
        content
    }

    async fn read_body(&mut self, head: &Head, mut body: RecvStream, limits: Limits) -> Content {
        let mut content = Content {
            state: NetworkState::Code,
            ..Content::default()
        };
        if matches!(head.code, 204 | 304) {
            // These have no body; a stream that goes on is in doubt.
            content.is_whole = body.is_end_stream();
            return content;
        }
        loop {
            let deadline = next_deadline(limits);
            if Instant::now() >= limits.deadline {
                return content.late();
            }
            let came = poll_fn(|context| {
                self.drive(context);
                let data = body.poll_data(context);
                self.unless_over(data)
            });
            match timeout_at(deadline, came).await {
                Ok(Some(Some(Ok(data)))) => {
                    content.bytes.put_slice(&data);
                    if content.bytes.len() > limits.body_bytes_max {
                        content.truncated = Some(Truncation::Length);
                        return content;
                    }
                    let released = body.flow_control().release_capacity(data.len());
                    if let Err(error) = released {
                        return content.broken_by(&error);
                    }
                }
                Ok(Some(None)) => {
                    content.is_whole = true;
                    return content;
                }
                Ok(Some(Some(Err(error)))) => return content.broken_by(&error),
                Ok(None) => return content.broken("closed inside the body".to_owned()),
                Err(_) => return content.late(),
            }
        }
    }

    /// Lets the connection read and write what it can.
    fn drive(&mut self, context: &mut Context<'_>) {
        if !self.is_over {
            // How it ended reaches the stream as that one's error.
            self.is_over = Pin::new(&mut self.connection).poll(context).is_ready();
        }
    }

    /// What a stream says; nothing will come where the connection has ended.
    fn unless_over<T>(&self, polled: Poll<T>) -> Poll<Option<T>> {
        match polled {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending if self.is_over => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Failure {
    fn new(state: NetworkState, error: String) -> Self {
        Self {
            state,
            error,
            wants_http1: false,
        }
    }

    fn into_answer(self, sent_at: Option<Instant>) -> Answer {
        Answer {
            state: self.state,
            head: None,
            head_bytes: Bytes::new(),
            wire_body: Bytes::new(),
            payload: Bytes::new(),
            truncated: None,
            is_left: false,
            error: Some(self.error),
            wants_http1: self.wants_http1,
            keeps_alive: false,
            sent_at,
            first_byte_at: None,
            ended_at: Instant::now(),
        }
    }
}

impl Content {
    fn broken(mut self, error: String) -> Self {
        self.state = NetworkState::DownloadError;
        self.truncated = Some(Truncation::Disconnect);
        self.error = Some(error);
        self
    }

    fn broken_by(mut self, error: &h2::Error) -> Self {
        self.wants_http1 = wants_http1(error);
        self.broken(in_words(error))
    }

    fn late(mut self) -> Self {
        self.state = NetworkState::DownloadTimeout;
        self.truncated = Some(Truncation::Time);
        self.error = Some("the body did not end in time".to_owned());
        self
    }

    fn into_answer(
        self,
        head: Head,
        head_bytes: Bytes,
        (sent_at, first_byte_at): (Instant, Instant),
        is_open: bool,
    ) -> Answer {
        let body = self.bytes.freeze();
        Answer {
            state: self.state,
            head: Some(head),
            head_bytes,
            wire_body: body.clone(),
            payload: body,
            truncated: self.truncated,
            is_left: self.is_left,
            error: self.error,
            wants_http1: self.wants_http1,
            keeps_alive: self.is_whole && is_open,
            sent_at: Some(sent_at),
            first_byte_at: Some(first_byte_at),
            ended_at: Instant::now(),
        }
    }
}

fn next_deadline(limits: Limits) -> Instant {
    (Instant::now() + limits.silence).min(limits.deadline)
}

fn header_error(error: String) -> Failure {
    Failure::new(NetworkState::HeaderError, error)
}

/// A peer that agreed on HTTP/2 and speaks something else makes the library
/// close the connection; everything else is a connection that broke.
fn head_failure(error: &h2::Error) -> Failure {
    let state = if error.is_go_away() && error.is_library() {
        NetworkState::HeaderNotHttp
    } else {
        NetworkState::HeaderError
    };
    Failure {
        state,
        error: in_words(error),
        wants_http1: wants_http1(error),
    }
}

/// Whether the server refuses HTTP/2 itself (RFC 9113 §7).
fn wants_http1(error: &h2::Error) -> bool {
    error.reason() == Some(Reason::HTTP_1_1_REQUIRED)
}

fn in_words(error: &h2::Error) -> String {
    match error.get_io() {
        _ if wants_http1(error) => "the server wants HTTP/1.1 instead of HTTP/2".to_owned(),
        Some(io) => io.to_string(),
        None => format!("HTTP/2: {error}"),
    }
}

/// Reads the HTTP/1.1 view of a request, which we wrote ourselves.
fn parse_request(sent: &[u8]) -> Result<Request<()>, http::Error> {
    let text = String::from_utf8_lossy(sent);
    let mut lines = text.split("\r\n");
    let target = lines.next().and_then(|line| line.split(' ').nth(1));
    let mut authority = "";
    let mut fields = Vec::new();
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if name == "Host" {
            authority = value;
        } else {
            fields.push((name, value));
        }
    }
    let uri = http::Uri::builder()
        .scheme("https")
        .authority(authority)
        .path_and_query(target.unwrap_or("/"))
        .build()?;
    let mut request = Request::builder().method("GET").uri(uri);
    for (name, value) in fields {
        request = request.header(name, value);
    }
    request.body(())
}

/// The header as HTTP/1.1 would have written it.
fn http1_view(status: StatusCode, fields: &HeaderMap) -> Bytes {
    let mut block = BytesMut::with_capacity(512);
    let reason = status.canonical_reason().unwrap_or("");
    block.put_slice(format!("HTTP/1.1 {} {reason}\r\n", status.as_str()).as_bytes());
    for (name, value) in fields {
        block.put_slice(name.as_str().as_bytes());
        block.put_slice(b": ");
        block.put_slice(value.as_bytes());
        block.put_slice(b"\r\n");
    }
    block.put_slice(b"\r\n");
    block.freeze()
}

/// A connection that may be read up to a number of bytes.
#[derive(Debug)]
struct Metered<S> {
    inner: S,
    budget: Arc<AtomicUsize>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = self.budget.load(Ordering::Relaxed);
        if left == 0 {
            let error = "more frames than an answer is worth";
            return Poll::Ready(Err(io::Error::other(error)));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        let came = buffer.filled().len() - before;
        let left = left.saturating_sub(came);
        self.budget.store(left, Ordering::Relaxed);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn that_http2_is_refused_is_known_by_its_code_whatever_the_words() {
        let refused = h2::Error::from(Reason::HTTP_1_1_REQUIRED);
        let answer = head_failure(&refused).into_answer(None);
        assert!(answer.wants_http1);
        assert!(Content::default().broken_by(&refused).wants_http1);
        // The same words in another place mean nothing.
        let words = answer.error.unwrap();
        assert!(!header_error(words.clone()).into_answer(None).wants_http1);
        assert!(!Content::default().broken(words).wants_http1);
        let reset = h2::Error::from(Reason::CANCEL);
        assert!(!head_failure(&reset).into_answer(None).wants_http1);
    }

    #[test]
    fn the_view_of_a_request_becomes_its_fields() {
        let sent = "GET /a?b=c HTTP/1.1\r\nHost: example.com:8443\r\nUser-Agent: t: x\r\n\r\n";
        let request = parse_request(sent.as_bytes()).unwrap();
        assert_eq!(request.uri(), "https://example.com:8443/a?b=c");
        assert_eq!(request.headers().len(), 1, "the host is no field");
        assert_eq!(request.headers()["user-agent"], "t: x");
    }

    #[test]
    fn an_answer_is_written_as_http1_would() {
        let mut fields = HeaderMap::new();
        fields.insert("content-type", "text/html".parse().unwrap());
        fields.append("set-cookie", "a=1".parse().unwrap());
        fields.append("set-cookie", "b=2".parse().unwrap());
        let view = http1_view(StatusCode::OK, &fields);
        assert!(view.starts_with(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"));
        let head = Head::parse(&view).unwrap();
        assert!(!head.is_malformed);
        assert_eq!(head.values(&view, "set-cookie").count(), 2);
        let odd = http1_view(StatusCode::from_u16(299).unwrap(), &HeaderMap::new());
        assert_eq!(Head::parse(&odd).unwrap().code, 299);
    }
}
