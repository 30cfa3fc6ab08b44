//! The three traits within one process.
//!
//! Each implementation is a table shared by handles: one handle for a crawl on
//! one machine, several for a test in which workers compete. What is in the
//! tables ends with the process; the contracts of the traits say why nothing
//! is lost by that.

mod bus;
mod mailbox;
mod ownership;

pub use bus::EmbeddedBus;
pub use mailbox::{EmbeddedMailbox, PostOffice};
pub use ownership::{EmbeddedOwnership, OwnershipTable};
