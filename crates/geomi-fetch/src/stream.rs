//! One connection, plain or encrypted.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut, BytesMut};
use rustls::ClientConnection;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// A connection to one origin.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    /// Boxed: it is twenty times the size of the other.
    Tls(Box<TlsStream<TcpStream>>),
}

/// Opens a TCP connection. Requests are written whole, so waiting to fill a
/// segment (Nagle) would only delay them.
pub(crate) async fn connect_tcp(addr: SocketAddr) -> io::Result<TcpStream> {
    let tcp = TcpStream::connect(addr).await?;
    tcp.set_nodelay(true)?;
    Ok(tcp)
}

impl Stream {
    /// Sends all of `bytes`.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.write_all(bytes).await,
            Self::Tls(tls) => {
                tls.write_all(bytes).await?;
                tls.flush().await
            }
        }
    }

    /// The encryption, where there is one.
    pub(crate) fn tls(&self) -> Option<&ClientConnection> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(tls) => Some(tls.get_ref().1),
        }
    }

    /// Waits until there may be something to read, so that a connection that
    /// waits for its server holds no buffer. Encrypted connections do not wait
    /// here: they may hold bytes the socket no longer shows.
    pub(crate) async fn readable(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(tcp) => tcp.readable().await,
            Self::Tls(_) => Ok(()),
        }
    }

    /// Reads at most `bytes_max` bytes behind what `buffer` holds; 0 is the end.
    pub(crate) async fn read(
        &mut self,
        buffer: &mut BytesMut,
        bytes_max: usize,
    ) -> io::Result<usize> {
        let mut space = buffer.limit(bytes_max);
        match self {
            Self::Plain(tcp) => tcp.read_buf(&mut space).await,
            Self::Tls(tls) => tls.read_buf(&mut space).await,
        }
    }

    /// Whether an idle connection can take a request: it is open and silent.
    /// Bytes nobody asked for are as bad a sign as a close. Nothing waits here.
    pub(crate) async fn is_idle(&mut self) -> bool {
        poll_fn(|context| Poll::Ready(self.poll_silent(context))).await
    }

    fn poll_silent(&mut self, context: &mut Context<'_>) -> bool {
        let mut byte = [0; 1];
        let mut probe = ReadBuf::new(&mut byte);
        let polled = match self {
            Self::Plain(tcp) => Pin::new(tcp).poll_read(context, &mut probe),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_read(context, &mut probe),
        };
        polled.is_pending()
    }
}
