//! What the worker does for a URL between an engine's job and its arrival, one file each:
//!
//! ```text
//! job ─▶ fetch ─▶ read ─▶ arrival (the engine judges) ─▶ keep
//! ```

pub(crate) mod fetch;
pub(crate) mod keep;
pub(crate) mod likeness;
pub(crate) mod read;
