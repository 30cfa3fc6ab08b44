//! The stages of the journey, one file each. A URL meets them in this order:
//!
//! ```text
//! start (a seed) or links (a link) ─▶ admit ─▶ its queue
//! lease ─▶ address, robots (once per site) ─▶ fetch ─▶ read
//!       ─▶ judge ─▶ likeness ─▶ keep (row: the visit) ─▶ settle ─▶ links
//! ```

pub(crate) mod address;
pub(crate) mod admit;
pub(crate) mod arrival;
pub(crate) mod fetch;
pub(crate) mod judge;
pub(crate) mod keep;
pub(crate) mod lease;
pub(crate) mod likeness;
pub(crate) mod links;
pub(crate) mod read;
pub(crate) mod robots;
pub(crate) mod row;
pub(crate) mod settle;
pub(crate) mod start;
