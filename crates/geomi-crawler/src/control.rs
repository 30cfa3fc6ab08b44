//! What a person, or the console, can do to a running crawl.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::status::Status;

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

    /// What the crawl shall be doing.
    pub fn desired(&self) -> Desired {
        self.lock().desired
    }

    /// What it was doing at its last report, at most half a second ago.
    pub fn status(&self) -> Status {
        self.lock().status.clone()
    }

    pub(crate) fn publish(&self, status: &Status) {
        self.lock().status.clone_from(status);
    }

    /// Rings when [`Control::set`] was called.
    pub(crate) fn bell(&self) -> &Receiver<()> {
        &self.rung
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        // Nothing can panic while the lock is held, and plain values have no
        // half-written state: a poisoned lock is as good as another.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
