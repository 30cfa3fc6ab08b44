//! What a person, or the console, can do to a running crawl.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::orders::{Order, Reply};
use geomi_engine::{Phase, Status};

/// What the crawl shall be doing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Desired {
    /// Crawl.
    #[default]
    Run,
    /// Start no new request; those under way are finished.
    Pause,
    /// Finish what is under way, close all files, end.
    Stop,
    /// Give up what is under way, close all files, end.
    StopNow,
}

/// A handle on a running crawl, to be cloned freely.
#[derive(Clone, Debug)]
pub struct Control {
    shared: Arc<Mutex<Shared>>,
    bell: Sender<()>,
    rung: Receiver<()>,
}

#[derive(Debug, Default)]
struct Shared {
    desired: Desired,
    status: Status,
    /// What was ordered and not carried out yet, and who waits for an answer.
    orders: Vec<(Order, Sender<Reply>)>,
    /// The crawl is over and takes no more orders.
    is_over: bool,
}

impl Default for Control {
    fn default() -> Self {
        let (bell, rung) = bounded(1);
        Self {
            shared: Arc::default(),
            bell,
            rung,
        }
    }
}

impl Control {
    /// Says what the crawl shall do from now on. A stop cannot be taken back.
    pub fn set(&self, desired: Desired) {
        let mut shared = self.lock();
        if shared.desired < Desired::Stop || desired == Desired::StopNow {
            shared.desired = desired;
        }
        drop(shared);
        // A full bell has been rung already: the owner will look.
        let _already_rung = self.bell.try_send(());
    }

    /// Gives an order and waits for the answer, which comes between two rounds
    /// of the crawl. `None` if the crawl ends before it is carried out.
    pub fn order(&self, order: Order) -> Option<Reply> {
        let (answer, answered) = bounded(1);
        let mut shared = self.lock();
        if shared.is_over {
            return None;
        }
        shared.orders.push((order, answer));
        drop(shared);
        let _already_rung = self.bell.try_send(());
        // The crawl drops the other end when it is over.
        answered.recv().ok()
    }

    pub(crate) fn take_orders(&self) -> Vec<(Order, Sender<Reply>)> {
        std::mem::take(&mut self.lock().orders)
    }

    /// Takes no more orders: callers that wait for an answer get an error.
    pub(crate) fn close(&self) {
        let mut shared = self.lock();
        shared.is_over = true;
        shared.orders.clear();
    }

    /// What the crawl shall be doing.
    pub fn desired(&self) -> Desired {
        self.lock().desired
    }

    /// What it was doing at its last report, at most half a second ago. A pause or a
    /// resumption since then shows already.
    pub fn status(&self) -> Status {
        let shared = self.lock();
        let mut status = shared.status.clone();
        status.state = match (shared.desired, status.state) {
            (Desired::Pause, Phase::Running) => Phase::Paused,
            (Desired::Run, Phase::Paused) => Phase::Running,
            (_, state) => state,
        };
        status
    }

    pub(crate) fn publish(&self, status: &Status) {
        self.lock().status.clone_from(status);
    }

    /// Rings when there is something to look at.
    pub(crate) fn bell(&self) -> &Receiver<()> {
        &self.rung
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        // Nothing can panic while the lock is held, and plain values have no
        // half-written state: a poisoned lock is as good as another.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_shows_before_the_next_report() {
        let control = Control::default();
        control.publish(&Status {
            state: Phase::Running,
            ..Status::default()
        });
        control.set(Desired::Pause);
        assert_eq!(control.status().state, Phase::Paused);
        control.publish(&Status {
            state: Phase::Paused,
            ..Status::default()
        });
        control.set(Desired::Run);
        assert_eq!(control.status().state, Phase::Running);
    }
}
