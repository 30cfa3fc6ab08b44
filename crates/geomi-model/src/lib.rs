//! The nouns that travel between the parts of geomi.
//!
//! Plain data with names and no behaviour beyond reading and writing
//! themselves: a [`Timestamp`], the [`NetworkState`] a visit ends in, a
//! [`Visit`], what a page said ([`Document`], [`Link`]), and what is remembered
//! of a URL between visits ([`UrlRecord`]). Nothing here decides anything.

mod document;
mod fate;
mod network;
mod record;
mod time;
mod visit;
pub mod week;
mod zone;

pub use document::{
    ChangeFrequency, ChangeSignal, Charset, CharsetSource, Document, DocumentKind, Fingerprint,
    ImageFormat, ImageSize, Link, LinkClass, LinkKind, LinkType, RobotsMeta, Validity,
};
pub use fate::{Attempt, Fate, GUESSED_SITEMAP, is_guess};
pub use network::{NetworkState, Phases, Protocol, Truncation};
pub use record::UrlRecord;
pub use time::Timestamp;
pub use visit::{
    Capture, CaptureKind, Change, Digest, NearDuplicate, PRIORITIES, PageFacts, Visit,
};
pub use zone::Zone;
