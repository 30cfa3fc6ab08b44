//! The refresh laboratory: policies side by side on webs whose every change is
//! known.
//!
//! A [`web`] is drawn from a seed or read from a recorded [`history`]; a [`trial`]
//! runs one policy on it in virtual time, with the planner the crawler uses; and
//! [`compare`] puts policies beside each other. A learned policy sees only what its own
//! visits find. Nothing here reads a clock: one seed, one outcome, to the byte.

pub mod compare;
pub mod dice;
pub mod history;
pub mod kind;
pub mod trial;
pub mod web;
