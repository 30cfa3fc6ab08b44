//! A stream whose writes have a deadline: a client that stops reading is
//! disconnected instead of holding its answer for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// A stream that fails when no byte could be written for `patience`.
#[derive(Debug)]
pub(super) struct Progress<S> {
    stream: S,
    patience: Duration,
    /// When the write that waits fails.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Progress<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            deadline: None,
        }
    }

    /// Passes on what became of a write, or fails it when it waited too long.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let patience = self.patience;
        let deadline = self
            .deadline
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + patience)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Progress<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Progress<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.judge(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_reader_that_stops_is_given_up_and_a_slow_one_is_not() {
        let patience = Duration::from_millis(100);
        let (far, near) = tokio::io::duplex(4);
        let mut near = Progress::new(near, patience);
        let failed = near.write_all(b"more than fits").await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        drop(far);

        let (mut far, near) = tokio::io::duplex(4);
        let mut near = Progress::new(near, patience);
        let reading = tokio::spawn(async move {
            let mut all = [0; 14];
            far.read_exact(&mut all).await.map(|_| all)
        });
        near.write_all(b"more than fits").await.unwrap();
        assert_eq!(&reading.await.unwrap().unwrap(), b"more than fits");
    }
}
