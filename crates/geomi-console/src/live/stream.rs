//! One watcher: what was missed, then what happens.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use geomi_crawler::log_reader;
use geomi_store::StoreError;
use http_body::Frame as BodyFrame;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use super::frames::{self, Form, Frame, PULSE};
use super::hub::{Seat, Visits};
use crate::accounts::Principal;
use crate::app::App;
use crate::library::Crawl;
use crate::why;

/// Pieces that wait for a slow reader before the sender waits too.
const PIECES_MAX: usize = 4;
/// Visits given one by one to a watcher who comes back; those before are said
/// to be skipped.
const MISSED_MAX: u64 = 5_000;
/// Visits in one piece of what was missed.
const PIECE_VISITS: u64 = 500;
/// How long nothing is said before a pulse.
const SILENCE: Duration = Duration::from_secs(15);

/// The body of an answer that comes in pieces. The sender stops when the
/// reader goes away, because the channel is closed.
#[derive(Debug)]
pub(crate) struct Frames(mpsc::Receiver<Bytes>);

impl Frames {
    /// A body, and where its pieces are put in; so many wait for the reader.
    pub(crate) fn new(pieces_max: usize) -> (mpsc::Sender<Bytes>, Self) {
        let (sender, receiver) = mpsc::channel(pieces_max);
        (sender, Self(receiver))
    }
}

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<BodyFrame<Bytes>, Self::Error>>> {
        let piece = self.0.poll_recv(context);
        piece.map(|piece| piece.map(|piece| Ok(BodyFrame::data(piece))))
    }
}

/// Streams a crawl's events, from behind visit `since` if it is given, for as
/// long as the watcher's log-in or token is valid.
pub(crate) async fn watch(
    app: &App,
    known: &Principal,
    crawl: Arc<Crawl>,
    since: Option<u64>,
    form: Form,
) -> Result<Frames, StoreError> {
    let dir = crawl.dir.clone();
    let last = app.read(move |_| log_reader::last(&dir)).await?;
    let seat = app.hubs.sit(app, &crawl, last.unwrap_or(0));
    let (sender, body) = Frames::new(PIECES_MAX);
    let watcher = Watcher {
        app: app.clone(),
        known: known.clone(),
        told: since.unwrap_or(seat.position),
        crawl,
        form,
        sender,
    };
    tokio::spawn(watcher.run(seat));
    Ok(body)
}

struct Watcher {
    app: App,
    /// Who watches.
    known: Principal,
    crawl: Arc<Crawl>,
    form: Form,
    /// Number of the last visit this watcher was told of.
    told: u64,
    sender: mpsc::Sender<Bytes>,
}

impl Watcher {
    async fn run(mut self, mut seat: Seat) {
        let of = Arc::clone(&self.crawl);
        let causes = self.app.read(move |app| why::causes(app, &of)).await;
        let status = frames::status(&self.crawl, &causes, self.form);
        let mut is_here = self.send(Bytes::from(status)).await;
        is_here = is_here && self.catch_up(seat.position).await;
        while is_here {
            is_here = match tokio::time::timeout(SILENCE, seat.ticks.recv()).await {
                Err(_) => self.send(Bytes::from_static(PULSE)).await,
                Ok(Ok(tick)) => {
                    let is_ahead = tick.after > self.told;
                    if tick.last < self.told && tick.last > 0 && tick.after == 0 {
                        // The log was begun anew.
                        self.told = 0;
                    }
                    (!is_ahead || self.catch_up(tick.after).await) && {
                        self.told = self.told.max(tick.last);
                        self.send(tick.frame(self.form)).await
                    }
                }
                // Too slow: what fell out is in the log.
                Ok(Err(RecvError::Lagged(_))) => {
                    let (ticks, position) = seat.hub.seat();
                    seat.ticks = ticks;
                    self.catch_up(position).await
                }
                Ok(Err(RecvError::Closed)) => false,
            };
        }
    }

    /// Tells what came up to `position`, from the log. Whether the reader is
    /// still there.
    async fn catch_up(&mut self, position: u64) -> bool {
        // Who claims to know more than there is begins where the others are.
        self.told = self.told.min(position);
        while self.told < position {
            let until = self.next_piece(position);
            let (dir, told) = (self.crawl.dir.clone(), self.told);
            let shown = PIECE_VISITS;
            let read = move |_: &App| Visits::read(&dir, told, until, shown);
            let Ok(visits) = self.app.read(read).await else {
                return false;
            };
            self.told = until;
            if !self
                .send(Bytes::from(frames::visits(
                    &visits,
                    self.form,
                    self.app.now(),
                )))
                .await
            {
                return false;
            }
        }
        true
    }

    /// Where the next piece of what was missed ends: at once where most of it
    /// is to be skipped, in steps where it is shown.
    fn next_piece(&self, position: u64) -> u64 {
        let missed = position - self.told;
        if missed > MISSED_MAX {
            position - MISSED_MAX + PIECE_VISITS
        } else {
            position.min(self.told + PIECE_VISITS)
        }
    }

    /// Whether the piece was sent: the watcher is there, and still may watch.
    async fn send(&self, frame: Frame) -> bool {
        let accounts = &self.app.accounts;
        accounts.is_still_known(&self.known, self.app.now())
            && self.sender.send(frame).await.is_ok()
    }
}
