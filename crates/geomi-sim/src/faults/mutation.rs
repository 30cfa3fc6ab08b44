//! Deliberate errors of the driver, each of which an invariant must catch.

/// One way in which the driver can be broken on purpose. The crates below are
/// never touched: what is wrong is what is done with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Sites are given no rest.
    NoDelay,
    /// A Crawl-delay is read and not passed on.
    CrawlDelayForgotten,
    /// A Retry-After is read and not passed on.
    RetryAfterIgnored,
    /// More connections to one address than it may carry.
    AddressLimitIgnored,
    /// Pages are asked for whatever robots.txt says.
    RobotsIgnored,
    /// One lease is carried out twice at once.
    DoubleLease,
    /// Now and then a lease is never settled.
    SettleDropped,
    /// An answer after failures does not end them.
    BackoffNotReset,
    /// After a crash sites are asked at once.
    NoRestAfterCrash,
    /// The archive is not synced before the commit that points into it.
    SyncSkipped,
    /// A commit does not record what was visited.
    VisitsNotRecorded,
    /// A lane's watermark is stored one entry too far.
    WatermarkTooFar,
    /// One chunk more than is settled is deleted.
    FreedTooEarly,
    /// URLs are queued without asking whether they were seen.
    SeenSkipped,
    /// Links to other partitions are not part of the commit.
    OutboxForgotten,
    /// Mail counts as delivered before the other side has it.
    MailNotRetried,
    /// A mailbox is emptied before what was in it is durable.
    TrimmedEarly,
}

impl Mutation {
    /// Every mutation.
    pub const ALL: [Self; 17] = [
        Self::NoDelay,
        Self::CrawlDelayForgotten,
        Self::RetryAfterIgnored,
        Self::AddressLimitIgnored,
        Self::RobotsIgnored,
        Self::DoubleLease,
        Self::SettleDropped,
        Self::BackoffNotReset,
        Self::NoRestAfterCrash,
        Self::SyncSkipped,
        Self::VisitsNotRecorded,
        Self::WatermarkTooFar,
        Self::FreedTooEarly,
        Self::SeenSkipped,
        Self::OutboxForgotten,
        Self::MailNotRetried,
        Self::TrimmedEarly,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoDelay => "no-delay",
            Self::CrawlDelayForgotten => "crawl-delay-forgotten",
            Self::RetryAfterIgnored => "retry-after-ignored",
            Self::AddressLimitIgnored => "address-limit-ignored",
            Self::RobotsIgnored => "robots-ignored",
            Self::DoubleLease => "double-lease",
            Self::SettleDropped => "settle-dropped",
            Self::BackoffNotReset => "backoff-not-reset",
            Self::NoRestAfterCrash => "no-rest-after-crash",
            Self::SyncSkipped => "sync-skipped",
            Self::VisitsNotRecorded => "visits-not-recorded",
            Self::WatermarkTooFar => "watermark-too-far",
            Self::FreedTooEarly => "freed-too-early",
            Self::SeenSkipped => "seen-skipped",
            Self::OutboxForgotten => "outbox-forgotten",
            Self::MailNotRetried => "mail-not-retried",
            Self::TrimmedEarly => "trimmed-early",
        }
    }

    /// Reads a name written by [`Mutation::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|mutation| mutation.as_str() == name)
    }
}
