//! The moments between two durable steps, named so that a test can crash the
//! crawl at each of them.

/// A durable step that has just been completed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DurableStep {
    /// Records were written to the WARC file but not synced.
    WarcWritten,
    /// The WARC file was synced.
    WarcSynced,
    /// One partition's batch was committed.
    PartitionCommitted,
    /// Mail to other partitions was handed to the mailbox.
    MailPublished,
    /// Lines were added to the log.
    LogWritten,
    /// A segment was written; its rows are still in the state too.
    SegmentWritten,
    /// A segment's rows were deleted from the state.
    SegmentForgotten,
    /// A full WARC file was closed and a new one begun.
    WarcRolled,
}

impl DurableStep {
    /// Every step.
    pub const ALL: [Self; 8] = [
        Self::WarcWritten,
        Self::WarcSynced,
        Self::PartitionCommitted,
        Self::MailPublished,
        Self::LogWritten,
        Self::SegmentWritten,
        Self::SegmentForgotten,
        Self::WarcRolled,
    ];
}

/// Hears of each durable step; says whether to go on.
///
/// A `false` ends the crawl on the spot, without closing or flushing anything,
/// as a crash would.
pub trait Steps: Send {
    /// A step was completed.
    fn passed(&mut self, step: DurableStep) -> bool;
}

/// No crash is asked for.
#[derive(Debug)]
pub struct NoFaults;

impl Steps for NoFaults {
    fn passed(&mut self, _: DurableStep) -> bool {
        true
    }
}
