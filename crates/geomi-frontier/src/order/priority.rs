//! Highest priority first; among equals, whoever is ready longest.

use super::{Load, Order, View};

/// 2^44 microseconds are 200 days: far more than a site is ever ready.
const READY_BITS: u32 = 44;

pub(crate) struct Priority;

impl Order for Priority {
    fn key(&self, view: &View, _: &Load) -> i64 {
        let ready = view.ready_at.micros() & ((1 << READY_BITS) - 1);
        (i64::from(view.priority) << READY_BITS) + ready
    }
}
