//! Breadth-first over sites: whoever was opened first. A site that came late
//! waits until there are connections to spare.

use super::{Load, Order, View};

pub(crate) struct Fifo;

impl Order for Fifo {
    fn key(&self, view: &View, _: &Load) -> i64 {
        view.opened as i64
    }
}
