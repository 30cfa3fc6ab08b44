//! Who owns which part of the URL space, mail between the parts, and control
//! messages.
//!
//! The URL space is cut into [`Partitions`] by the hash of the registrable domain. At any
//! time one worker owns a partition ([`Ownership`], with an [`Epoch`] that
//! grows at every change of hands); [`placement`] says which worker it should
//! be. Links that belong to another partition travel as [`Mail`] through a
//! [`Mailbox`]. Events and the operator's wishes travel over the [`Bus`].
//!
//! Each of the three is a small blocking trait with a suite of promises in
//! [`conformance`]. The implementations here, in [`embedded`], serve a crawl
//! on one machine and tests with several workers in one process; a broker is a
//! further implementation and changes nothing above.
//!
//! Nothing here starts a thread or reads a clock. Nothing here decides what a
//! link or a control message means: bodies are bytes.

mod bus;
#[doc(hidden)]
pub mod conformance;
pub mod embedded;
mod error;
mod mailbox;
mod ownership;
mod partition;
pub mod placement;
mod subscription;

pub use bus::{Bus, Entry, Event, Revision, check_subject, subject_matches};
pub use error::ClusterError;
pub use mailbox::{Mail, Mailbox, Published};
pub use ownership::{Claim, Epoch, Holder, Ownership, Standing};
pub use partition::{PartitionId, Partitions};
pub use placement::{Worker, WorkerId};
pub use subscription::{
    EventSender, Subscription, Watch, WatchSender, event_channel, watch_channel,
};

/// The largest body of a mail, an event or a value: what common brokers take
/// without being configured.
pub const BODY_BYTES_MAX: usize = 1 << 20;
