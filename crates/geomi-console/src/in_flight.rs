//! Memory for large contents on their way to clients.
//!
//! A capture or a comparison is up to 16 MiB and stays in memory until its
//! client has taken it, which a client can delay. So a request reserves memory
//! before it reads: at most 64 MiB in total and 32 MiB for each user. A request
//! that finds no memory waits for a few seconds and is then answered with 503
//! and `Retry-After`.
//!
//! The content is copied to the client in small pieces. What a connection
//! holds beside the reservation is a few pieces. A client has 5 minutes to take
//! all of it; then the content is dropped, whatever the connection does.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use tokio::sync::{Notify, mpsc};

use crate::accounts::{Principal, hold};
use crate::app::App;
use crate::http::problem::Problem;
use crate::live::Frames;
use crate::wrong::Wrong;

/// Bytes reserved at once, over all users.
const TOTAL_BYTES_MAX: usize = 64 << 20;
/// Bytes reserved at once for one user.
const USER_BYTES_MAX: usize = 32 << 20;
/// How long a request waits for memory.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// How long a client may take to receive a content.
const SEND_TIME_MAX: Duration = Duration::from_mins(5);
/// What a refused client is told to wait.
const RETRY_AFTER_SECS: u64 = 10;
/// Bytes handed to a connection at once.
const PIECE_BYTES: usize = 32 << 10;

#[derive(Debug, Default)]
struct Used {
    total: usize,
    by_user: HashMap<u32, usize>,
}

#[derive(Debug, Default)]
struct Shared {
    used: Mutex<Used>,
    freed: Notify,
}

/// The memory that is reserved.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Arc<Shared>);

/// A reservation; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    shared: Arc<Shared>,
    user: u32,
    bytes: usize,
}

impl InFlight {
    /// Reserves memory for a content of a user; waits for it if there is none.
    pub(crate) async fn reserve(&self, user: u32, bytes: usize) -> Result<Reserved, Problem> {
        let reserved = tokio::time::timeout(WAIT_MAX, self.wait_for(user, bytes)).await;
        reserved.map_err(|_| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, Wrong::TooManyContents)
                .with(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECS))
        })
    }

    async fn wait_for(&self, user: u32, bytes: usize) -> Reserved {
        loop {
            let mut freed = pin!(self.0.freed.notified());
            // Registered before the check, so that no release is missed.
            freed.as_mut().enable();
            if let Some(reserved) = self.try_reserve(user, bytes) {
                return reserved;
            }
            freed.await;
        }
    }

    fn try_reserve(&self, user: u32, bytes: usize) -> Option<Reserved> {
        let mut used = hold(&self.0.used);
        let of_user = used.by_user.get(&user).copied().unwrap_or(0);
        if used.total + bytes > TOTAL_BYTES_MAX || of_user + bytes > USER_BYTES_MAX {
            return None;
        }
        used.total += bytes;
        *used.by_user.entry(user).or_default() += bytes;
        Some(Reserved {
            shared: Arc::clone(&self.0),
            user,
            bytes,
        })
    }
}

impl Reserved {
    /// Gives back what is not needed.
    fn shrink(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        let mut used = hold(&self.shared.used);
        used.total -= less;
        if let Some(of_user) = used.by_user.get_mut(&self.user) {
            *of_user -= less;
            if *of_user == 0 {
                used.by_user.remove(&self.user);
            }
        }
        self.bytes -= less;
        drop(used);
        self.shared.freed.notify_waiters();
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

/// Sends a finished answer in pieces. The reservation shrinks to the length of
/// its body and ends when the body is sent or given up.
pub(crate) async fn send(
    app: &App,
    known: &Principal,
    answer: Response,
    mut reserved: Reserved,
) -> Result<Response, Problem> {
    let (mut parts, body) = answer.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await;
    let bytes = bytes.map_err(|error| Problem::internal(&error))?;
    if bytes.is_empty() {
        return Ok(Response::from_parts(parts, Body::empty()));
    }
    reserved.shrink(bytes.len());
    parts
        .headers
        .insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let (sender, frames) = Frames::new(1);
    let (app, known) = (app.clone(), known.clone());
    tokio::spawn(async move {
        let sending = copy(&app, &known, &bytes, &sender);
        if tokio::time::timeout(SEND_TIME_MAX, sending).await.is_err() {
            tracing::debug!("a client took too long to receive a content");
        }
        // The memory is free before others are told so.
        drop(bytes);
        drop(reserved);
    });
    Ok(Response::from_parts(parts, Body::new(frames)))
}

/// Copies a content to its client, until the client goes away or is no longer
/// authenticated. Pieces are copies: a slice would keep the whole buffer alive
/// for as long as the connection holds it.
async fn copy(app: &App, known: &Principal, bytes: &[u8], sender: &mpsc::Sender<Bytes>) {
    for piece in bytes.chunks(PIECE_BYTES) {
        if !app.accounts.is_still_known(known, app.now()) {
            return;
        }
        if sender.send(Bytes::copy_from_slice(piece)).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_per_user_and_in_total() {
        let budget = InFlight::default();
        let reserve = |user: u32, bytes: usize| budget.try_reserve(user, bytes);
        let one = reserve(1, 16 << 20).unwrap();
        let two = reserve(1, 16 << 20).unwrap();
        assert!(reserve(1, 1).is_none(), "one user has half of it");
        let others = [2, 3].map(|user| reserve(user, 16 << 20).unwrap());
        assert!(reserve(4, 1).is_none(), "the total is used");
        drop(two);
        let again = reserve(4, 16 << 20).unwrap();
        drop((one, others, again));
        let used = hold(&budget.0.used);
        assert_eq!((used.total, used.by_user.len()), (0, 0));
    }

    #[tokio::test]
    async fn a_request_waits_until_memory_is_given_back() {
        let budget = Arc::new(InFlight::default());
        let mut first = budget.reserve(1, USER_BYTES_MAX).await.unwrap();
        let waiting = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { budget.reserve(1, 1 << 20).await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.shrink(USER_BYTES_MAX - (1 << 20));
        assert!(waiting.await.unwrap());
    }
}
