//! The row of a visit: what is durable of it, and all that a plan hears.

use geomi_model::Timestamp;
use geomi_testweb::Content;
use geomi_url::CrawlUrl;

/// One attempt at a page, as it is written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    /// Its number, in the order of visits.
    pub(super) number: u64,
    pub(super) url: CrawlUrl,
    /// When it started, by the clock of the process.
    pub(super) at: Timestamp,
    pub(super) seen: Seen,
}

/// What an attempt brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Seen {
    /// A first copy.
    First,
    /// A copy that differs from the one before.
    Changed,
    /// The same copy, sent again or known to be unchanged.
    Same,
    /// It is not there any more.
    Gone,
    /// Neither: no answer after the last try, an error, a redirect.
    Failed,
    /// Nothing yet: it is tried again.
    Retry,
}

impl Seen {
    /// Whether there is a copy of that time.
    pub(super) const fn is_copy(self) -> bool {
        matches!(self, Self::First | Self::Changed | Self::Same)
    }
}

/// What is remembered of a URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// Tries since it was last queued: a queue entry with a lower number has been
    /// dealt with.
    pub(super) attempts: u8,
    /// Whether it was refused when its turn came, and not put back since.
    pub(super) is_refused: bool,
    /// How often it was put back into its queue.
    pub(super) round: u32,
    /// The copy that is stored.
    pub(super) copy: Option<Content>,
    /// Whether that came with validators.
    pub(super) has_tag: bool,
}
