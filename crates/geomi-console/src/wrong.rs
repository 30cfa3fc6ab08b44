//! What can be wrong with what somebody asks for.
//!
//! Each is a kind, with what belongs into its sentence. Every language has a
//! sentence for every kind ([`Words::tell`](crate::words::Words::tell)): one
//! that is missing does not compile. Programs are told the English one.

use std::path::PathBuf;

use crate::accounts::Role;
use crate::app::Forbidden;

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// In the words of others: a library, the machine, a crawl. Also what only
    /// programs meet, of which no page is made.
    Said(String),
    /// The machine failed, and how.
    Ours(String),

    /// Nobody we know.
    Nobody,
    /// The log-in does not fit.
    LogIn,
    /// It failed too often.
    TooManyLogIns { minutes: u64 },
    /// Somebody known may not.
    Role { needed: Role, yours: Role },
    /// Sent to a host that is not ours.
    OtherHost { host: String },
    /// Part of an order that is for admins only.
    ForAdmins(Forbidden),
    /// Sent by a page of another site.
    OtherSite,
    /// Sent by a form that is not of this session.
    OldForm,
    /// The body is longer than this many KiB, or is incomplete.
    LongBody { max_kib: usize },
    /// The body did not arrive in time.
    SlowBody,
    /// Too many captures are being sent at this moment.
    TooManyContents,

    /// There is no such page of the console.
    NothingHere,
    /// There is no such crawl.
    NoCrawl,
    /// There is no such section of a report.
    NoSection,
    /// There is no such user or token.
    NoAccount,
    /// There is no such file.
    NoFile,
    /// There is no such capture.
    NoCapture,
    /// What is no URL was never captured.
    NeverCaptured { url: String, why: String },
    /// What is no time has no capture.
    NoTime(u64),
    /// A capture, of this type if one was stated, that has no text.
    NoText(Option<String>),
    /// There is no plan of the week.
    NoPlan,

    /// A number beyond its bounds.
    Between {
        name: &'static str,
        min: u64,
        max: u64,
    },
    /// A word that is none of those known.
    OneOf {
        name: &'static str,
        known: &'static [&'static str],
    },
    /// A text that is too long.
    TooLong { name: &'static str, max: usize },
    /// A URL that is empty or too long.
    UrlLength { max: usize },
    /// A time that is not written as times of captures are.
    Digits { name: &'static str },
    /// A place in a list that no page of it named.
    Place { name: &'static str },
    /// Hours of a day beyond a day.
    Hours,

    /// The crawl has to run for it.
    NotRunning,
    /// The crawl runs.
    Running,
    /// The crawl runs, and cannot be started in another way.
    RunningOtherwise,
    /// The process of the crawl does not answer.
    Silent,
    /// The crawl did not take it.
    Refused,
    /// The crawl answered something else.
    OtherAnswer,
    /// The crawl ended at once.
    NotStarted,
    /// The crawl cannot be started with what was given.
    CannotStart,
    /// This console starts no crawls.
    StartsNone,
    /// The table that the crawl followed is gone.
    NoTable(PathBuf),
    /// None of the seeds was added.
    NothingAdded,
    /// None of the settings was changed.
    NothingChanged,
    /// The patterns are none.
    Patterns,
    /// The configuration of the crawl cannot be read.
    Toml,
    /// The plan was not made.
    NotPlanned,
    /// This console makes no plans.
    PlansNothing,
    /// Nothing would ever be visited.
    WholeWeekFree,

    /// The user cannot be made of what was given.
    CannotMakeUser,
    /// The id is somebody else's.
    Taken,
    /// There would be no admin.
    LastAdmin,
    /// The first link works once.
    LinkUsed,
    /// Somebody would take their own role away.
    OwnRole,
    /// Somebody would remove themselves.
    OwnUser,
    /// The token would be stronger than its user.
    StrongToken,
    /// A token would make another, which could outlive it.
    TokenByToken,
    /// The user has this many tokens, and may have no more.
    TooManyTokens { max: usize },
    /// Somebody would remove the token they use.
    OwnToken,

    /// A crawl has to begin somewhere, and not everywhere.
    SeedCount,
    /// So many URLs are not added at once.
    UrlCount,
    /// So many settings are not changed at once.
    SettingCount,
    /// So many patterns are not given at once.
    PatternCount,
    /// A pattern that would keep out everything, or nothing.
    EmptyPattern,
    /// Something that is no setting.
    NoSetting(String),
    /// Something that cannot be the name of a crawl.
    CrawlName,
    /// The name is that of another crawl.
    CrawlThere(String),
    /// Something that cannot be the id of a user.
    UserId { max: usize },
    /// Something that cannot be a name.
    Name { max: usize },
    /// A password that is easily guessed.
    ShortPassword,
    /// A password that takes long to check.
    LongPassword,
}
