//! Watching crawls: one reader a crawl, however many watch it.
//!
//! While somebody watches a crawl, a [`Hub`] looks at it twice a second: its
//! status from the socket (or status.json), and what is new in its log. Each
//! look becomes one [`Tick`], made into text once and handed to every watcher.
//! Two hundred watchers cost two hundred writes, not two hundred readers; when
//! the last one goes the reader ends.
//!
//! # No gap
//!
//! Lines of the log are numbered without gaps and the number is the id of the event. A
//! tick covers the numbers from `first` to `last`; where more came than are
//! shown, one event says which were skipped. A watcher who comes back with
//! `Last-Event-ID: n`, or who fell behind, is first given what came after `n`
//! from the log, and then joins the others at the number they are
//! at. So every number is either shown or said to be skipped, once.

mod frames;
mod hub;
mod stream;

pub(crate) use frames::Form;
pub(crate) use hub::Hubs;
pub(crate) use stream::{Frames, watch};
