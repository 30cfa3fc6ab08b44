//! The stages that a URL passes in an engine, one file each, in this order:
//!
//! ```text
//! start (a seed) or links (a link) ─▶ admit ─▶ its queue
//! lease ─▶ address, robots (once per site) ─▶ the worker fetches and reads ─▶ arrival
//!       ─▶ judge ─▶ likeness ─▶ row (the visit) ─▶ settle ─▶ links
//! ```

pub(crate) mod address;
pub(crate) mod admit;
pub(crate) mod arrival;
pub(crate) mod judge;
pub(crate) mod lease;
pub(crate) mod likeness;
pub(crate) mod links;
pub(crate) mod robots;
pub(crate) mod row;
pub(crate) mod settle;
pub(crate) mod start;
