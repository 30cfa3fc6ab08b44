//! One request and its answer over one connection.
//!
//! HTTP/1.1 is spoken here, by `httparse` for the header and our own framing
//! for the body, rather than by a client library. An archive needs the bytes as
//! they came, and a library hides them behind a tee that copies every byte a
//! second time and a task of its own for every connection. Read this way, the
//! answer lies once in one buffer, and header, wire body and payload are views
//! of it. The price, strict framing, is in [`body`](crate::body) and
//! [`chunked`](crate::chunked), which do no I/O and are tested to the letter.
//!
//! The buffer is made when the first byte is there and leaves with the answer,
//! so a connection that waits, in use or idle, holds none. (An encrypted one in
//! use does: what the socket shows is not yet the answer.)

use std::io;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use geomi_model::{NetworkState, Truncation};
use tokio::time::{Instant, timeout_at};

use crate::body::{BodyReader, Frame, Step};
use crate::head::{Head, HeadError, STATUS_LINE_BYTES_MIN, find_end};
use crate::request::BodyFilter;
use crate::stream::Stream;

/// Most pages fit into their first read.
const FIRST_READ_BYTES: usize = 32 << 10;

/// The limits of one exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) silence: Duration,
    pub(crate) deadline: Instant,
    pub(crate) body_bytes_max: usize,
    pub(crate) header_bytes_max: usize,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    /// A failure, or `Code` for every complete answer.
    pub(crate) state: NetworkState,
    pub(crate) head: Option<Head>,
    /// The header block, or what there is of it.
    pub(crate) head_bytes: Bytes,
    pub(crate) wire_body: Bytes,
    pub(crate) payload: Bytes,
    pub(crate) truncated: Option<Truncation>,
    /// The body was not wanted.
    pub(crate) is_left: bool,
    pub(crate) error: Option<String>,
    /// The server refused HTTP/2 itself and is to be asked by HTTP/1.1.
    pub(crate) wants_http1: bool,
    /// Whether the connection may serve again.
    pub(crate) keeps_alive: bool,
    pub(crate) sent_at: Option<Instant>,
    pub(crate) first_byte_at: Option<Instant>,
    pub(crate) ended_at: Instant,
}

/// A body that is not wanted is read and thrown away if it is announced to be no longer
/// than this: a new connection costs more. Otherwise the connection is closed.
pub(crate) const DRAINED_BYTES_MAX: u64 = 16 << 10;

/// Sends `request` and reads the answer to its end, or to the end of its header where
/// `filter` does not want the body.
pub(crate) async fn exchange(
    stream: &mut Stream,
    request: &[u8],
    limits: Limits,
    filter: Option<&BodyFilter>,
) -> Answer {
    let mut exchange = Exchange {
        stream,
        filter,
        limits,
        buffer: BytesMut::new(),
        first_byte_at: None,
    };
    let sent_at = match exchange.send(request).await {
        Ok(sent_at) => sent_at,
        Err(failure) => return exchange.without_head(failure, None),
    };
    match exchange.read_head().await {
        Ok((head, head_len)) => exchange.read_body(head, head_len, sent_at).await,
        Err(failure) => exchange.without_head(failure, Some(sent_at)),
    }
}

struct Exchange<'a> {
    stream: &'a mut Stream,
    filter: Option<&'a BodyFilter>,
    limits: Limits,
    /// The answer so far, interim header blocks removed.
    buffer: BytesMut,
    first_byte_at: Option<Instant>,
}

/// Why there is no complete header.
struct Failure {
    state: NetworkState,
    error: String,
}

impl From<HeadError> for Failure {
    fn from(error: HeadError) -> Self {
        match error {
            HeadError::NotHttp(why) => not_http(&why),
            HeadError::TooManyFields => broken(&error.to_string()),
        }
    }
}

/// How a read ended.
enum ReadEnd {
    Bytes,
    Closed {
        /// The peer said goodbye, as TLS demands.
        is_orderly: bool,
    },
    Broken(io::Error),
    TooLate,
}

impl Exchange<'_> {
    async fn send(&mut self, request: &[u8]) -> Result<Instant, Failure> {
        let failed = |error: String| Failure {
            state: NetworkState::Connected,
            error: format!("the request could not be sent: {error}"),
        };
        match timeout_at(self.next_deadline(), self.stream.send(request)).await {
            Ok(Ok(())) => Ok(Instant::now()),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed("too slow".to_owned())),
        }
    }

    /// The final header and its length; interim ones are dropped on the way.
    async fn read_head(&mut self) -> Result<(Head, usize), Failure> {
        let mut looked = 0;
        let mut left = self.limits.header_bytes_max;
        loop {
            if self.buffer.len() >= STATUS_LINE_BYTES_MIN {
                if !self.buffer.starts_with(b"HTTP/") {
                    return Err(not_http("the answer does not begin like HTTP"));
                }
                let end = find_end(&self.buffer, looked);
                looked = self.buffer.len();
                if end.unwrap_or(looked) > left {
                    return Err(broken("the header is too long"));
                }
                if let Some(end) = end {
                    let head = Head::parse(&self.buffer[..end]).map_err(Failure::from)?;
                    match head.code {
                        101 => return Err(not_http("the server changed protocol unasked")),
                        100..=199 => {
                            self.buffer.advance(end);
                            left -= end;
                            looked = 0;
                            continue;
                        }
                        _ => return Ok((head, end)),
                    }
                }
            }
            match self.read(usize::MAX, FIRST_READ_BYTES / 4).await {
                ReadEnd::Bytes => {}
                end => return Err(self.head_failure(&end)),
            }
        }
    }

    fn head_failure(&self, end: &ReadEnd) -> Failure {
        let (state, error) = match end {
            ReadEnd::Closed { .. } if self.buffer.len() < STATUS_LINE_BYTES_MIN => {
                (NetworkState::HeaderShort, "closed before a header".into())
            }
            ReadEnd::Broken(error) => (NetworkState::HeaderError, error.to_string()),
            ReadEnd::TooLate => (NetworkState::HeaderTimeout, "no header in time".into()),
            _ => (NetworkState::HeaderError, "closed inside the header".into()),
        };
        Failure { state, error }
    }

    async fn read_body(mut self, head: Head, head_len: usize, sent_at: Instant) -> Answer {
        let frame = match Frame::of(&head, &self.buffer[..head_len]) {
            Ok(frame) => frame,
            Err(error) => {
                let mut answer = self.without_head(not_http(error), Some(sent_at));
                answer.head = Some(head);
                return answer;
            }
        };
        let limits = self.limits;
        let mut body = BodyReader::new(
            frame.framing,
            limits.body_bytes_max,
            limits.header_bytes_max,
        );
        let block = &self.buffer[..head_len];
        let is_left = self
            .filter
            .is_some_and(|filter| !filter.wants(&head, block));
        let mut ending = if is_left && !frame.framing.is_short(DRAINED_BYTES_MAX) {
            Ending::left()
        } else {
            self.read_to_end(&mut body, head_len).await
        };
        let ended_at = self.end_time(sent_at);
        let has_excess = self.buffer.len() > head_len + ending.body_len;
        let body_len = if is_left { 0 } else { ending.body_len };
        let wire = into_bytes(self.buffer, head_len + body_len);
        let wire_body = wire.slice(head_len..);
        Answer {
            state: ending.state,
            head: Some(head),
            head_bytes: wire.slice(..head_len),
            payload: if is_left {
                Bytes::new()
            } else {
                body.into_payload(&wire_body)
            },
            wire_body,
            truncated: ending.truncated.filter(|_| !is_left),
            is_left,
            error: ending.error.take(),
            wants_http1: false,
            keeps_alive: frame.keeps_alive && ending.is_whole && !has_excess,
            sent_at: Some(sent_at),
            first_byte_at: self.first_byte_at,
            ended_at,
        }
    }

    async fn read_to_end(&mut self, body: &mut BodyReader, head_len: usize) -> Ending {
        loop {
            let here = self.buffer.len() - head_len;
            let (most, room) = match body.advance(&self.buffer[head_len..]) {
                Ok(Step::Done(len)) => return Ending::whole(len),
                Ok(Step::Cut) => return Ending::cut(here),
                Ok(Step::Want { most, room }) => (most, room),
                Err(error) => {
                    let error = format!("the body's framing is broken: {error}");
                    return Ending::broken(here, error);
                }
            };
            match self.read(most, room).await {
                ReadEnd::Bytes => {}
                ReadEnd::Closed { is_orderly } if body.ends_at_close() => {
                    // RFC 9112 §9.8 calls this incomplete, but so many servers
                    // end like this that the note must do.
                    let note = "the connection was closed without the farewell of TLS";
                    return Ending {
                        error: (!is_orderly).then(|| note.to_owned()),
                        ..Ending::whole(here)
                    };
                }
                ReadEnd::Closed { .. } => {
                    return Ending::broken(here, "closed inside the body".to_owned());
                }
                ReadEnd::Broken(error) => return Ending::broken(here, error.to_string()),
                ReadEnd::TooLate => return Ending::late(here),
            }
        }
    }

    /// Reads at most `most` bytes, with room for at least `room` of them.
    async fn read(&mut self, most: usize, room: usize) -> ReadEnd {
        let deadline = self.next_deadline();
        let (stream, buffer) = (&mut *self.stream, &mut self.buffer);
        let reading = async {
            if buffer.capacity() == 0 {
                stream.readable().await?;
                buffer.reserve(FIRST_READ_BYTES);
            }
            buffer.reserve(room);
            stream.read(buffer, most).await
        };
        match timeout_at(deadline, reading).await {
            Ok(Ok(0)) => ReadEnd::Closed { is_orderly: true },
            Ok(Ok(_)) => {
                if self.first_byte_at.is_none() {
                    self.first_byte_at = Some(Instant::now());
                }
                ReadEnd::Bytes
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                ReadEnd::Closed { is_orderly: false }
            }
            Ok(Err(error)) => ReadEnd::Broken(error),
            Err(_) => ReadEnd::TooLate,
        }
    }

    fn next_deadline(&self) -> Instant {
        (Instant::now() + self.limits.silence).min(self.limits.deadline)
    }

    fn end_time(&self, sent_at: Instant) -> Instant {
        Instant::now().max(self.first_byte_at.unwrap_or(sent_at))
    }

    fn without_head(self, failure: Failure, sent_at: Option<Instant>) -> Answer {
        let len = self.buffer.len();
        Answer {
            state: failure.state,
            head: None,
            head_bytes: into_bytes(self.buffer, len),
            wire_body: Bytes::new(),
            payload: Bytes::new(),
            truncated: None,
            is_left: false,
            error: Some(failure.error),
            wants_http1: false,
            keeps_alive: false,
            sent_at,
            first_byte_at: self.first_byte_at,
            ended_at: Instant::now(),
        }
    }
}

/// How a body ended.
struct Ending {
    state: NetworkState,
    /// Wire bytes that belong to it.
    body_len: usize,
    is_whole: bool,
    truncated: Option<Truncation>,
    error: Option<String>,
}

impl Ending {
    fn whole(body_len: usize) -> Self {
        Self {
            state: NetworkState::Code,
            body_len,
            is_whole: true,
            truncated: None,
            error: None,
        }
    }

    /// Not begun.
    fn left() -> Self {
        Self {
            is_whole: false,
            ..Self::whole(0)
        }
    }

    fn cut(body_len: usize) -> Self {
        Self {
            is_whole: false,
            truncated: Some(Truncation::Length),
            ..Self::whole(body_len)
        }
    }

    fn broken(body_len: usize, error: String) -> Self {
        Self {
            state: NetworkState::DownloadError,
            is_whole: false,
            truncated: Some(Truncation::Disconnect),
            error: Some(error),
            body_len,
        }
    }

    fn late(body_len: usize) -> Self {
        Self {
            state: NetworkState::DownloadTimeout,
            is_whole: false,
            truncated: Some(Truncation::Time),
            error: Some("the body did not end in time".to_owned()),
            body_len,
        }
    }
}

fn not_http(error: &str) -> Failure {
    Failure {
        state: NetworkState::HeaderNotHttp,
        error: error.to_owned(),
    }
}

fn broken(error: &str) -> Failure {
    Failure {
        state: NetworkState::HeaderError,
        error: error.to_owned(),
    }
}

/// The first `len` bytes for good. A small answer does not keep a large buffer.
fn into_bytes(mut buffer: BytesMut, len: usize) -> Bytes {
    if buffer.capacity() > 2 * len {
        return Bytes::copy_from_slice(&buffer[..len]);
    }
    buffer.truncate(len);
    buffer.freeze()
}
