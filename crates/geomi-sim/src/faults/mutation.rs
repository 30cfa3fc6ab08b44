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
    /// The plan may spend three times the budget.
    BudgetIgnored,
    /// Pages may be left alone ten times as long.
    LongestGapIgnored,
    /// A plan that is made anew misses the last visit.
    HistoryDropped,
    /// A plan that is made anew hears the last visit twice.
    VisitCountedTwice,
    /// A plan that runs hears each visit twice.
    VisitHeardTwice,
    /// Now and then the plan does not hear of a visit.
    VisitUntold,
    /// The plan does not hear of a page that robots.txt refused.
    RefusalUntold,
    /// A visit that failed is written down as one that found no change.
    FailureAsUnchanged,
    /// A robots.txt is believed for two months.
    RobotsNotAskedAgain,
    /// A page that is due is queued though it waits already.
    PutBackTwice,
    /// What a page is compared with is stored before the copy itself is.
    ValidatorTooEarly,
    /// Sites are left alone for the rest of a run that has no end.
    SitesGivenUp,
    /// Sites that wait for their turn are never opened.
    TurnsNotTaken,
}

impl Mutation {
    /// Every mutation.
    pub const ALL: [Self; 30] = [
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
        Self::BudgetIgnored,
        Self::LongestGapIgnored,
        Self::HistoryDropped,
        Self::VisitCountedTwice,
        Self::VisitHeardTwice,
        Self::VisitUntold,
        Self::RefusalUntold,
        Self::FailureAsUnchanged,
        Self::RobotsNotAskedAgain,
        Self::PutBackTwice,
        Self::ValidatorTooEarly,
        Self::SitesGivenUp,
        Self::TurnsNotTaken,
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
            Self::BudgetIgnored => "budget-ignored",
            Self::LongestGapIgnored => "longest-gap-ignored",
            Self::HistoryDropped => "history-dropped",
            Self::VisitCountedTwice => "visit-counted-twice",
            Self::VisitHeardTwice => "visit-heard-twice",
            Self::VisitUntold => "visit-untold",
            Self::RefusalUntold => "refusal-untold",
            Self::FailureAsUnchanged => "failure-as-unchanged",
            Self::RobotsNotAskedAgain => "robots-not-asked-again",
            Self::PutBackTwice => "put-back-twice",
            Self::ValidatorTooEarly => "validator-too-early",
            Self::SitesGivenUp => "sites-given-up",
            Self::TurnsNotTaken => "turns-not-taken",
        }
    }

    /// Reads a name written by [`Mutation::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|mutation| mutation.as_str() == name)
    }
}
