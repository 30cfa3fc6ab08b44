//! By turns: whoever was served longest ago.

use super::{Load, Order, View};

pub(crate) struct RoundRobin;

impl Order for RoundRobin {
    fn key(&self, view: &View, _: &Load) -> i64 {
        view.last_served as i64
    }
}
