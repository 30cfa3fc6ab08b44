//! What every implementation must do, as suites any of them can run.
//!
//! Implement the suite's small set-up trait and call its `run_all` from a
//! test. A failure is a panic that names the promise that was broken.

pub mod bus;
pub mod mailbox;
pub mod ownership;
