//! Why a crawl or a site stands as it does, as typed values.
//!
//! A [`Reason`] is why a crawl stands as it does, an [`Advice`] what to do about it, a
//! [`Held`] what a site waits for, a [`RobotsStanding`] what is known of its robots.txt. Each has a code for machines and its parameters.
//! `Display` is English, for the command line and for programs; the console has a
//! sentence for each in every language it supports.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::hold::HoldCode;
use crate::left::{LeftGroup, LeftReason};
use crate::status::{RefreshStatus, plural};

/// Why a crawl stands as it does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Reason {
    /// It is paused.
    Paused,
    /// It is stopping.
    Stopping,
    /// It has not begun.
    NotBegun,
    /// Its process ended without closing it.
    Gone,
    /// URLs are left.
    Incomplete {
        /// How many.
        urls: u64,
        /// Of how many sites, where that is known.
        sites: Option<u64>,
    },
    /// URLs that a run left, for one reason.
    Left(LeftGroup),
    /// No page was saved.
    NothingSaved,
    /// Sites whose last requests all failed, and how many did.
    SitesFailing {
        /// Which.
        sites: Vec<(String, u32)>,
    },
    /// Pages were not requested because their robots.txt was answered with an error.
    RobotsUnreachable {
        /// How many visits.
        visits: u64,
    },
    /// It came to its end.
    Drained,
    /// Every seed failed.
    SeedsFailed,
    /// More pages failed than are allowed.
    TooManyFailures {
        /// Pages that failed.
        failed: u64,
    },
    /// The limit of pages was reached.
    PageLimit {
        /// Pages saved.
        saved: u64,
    },
    /// The limit of bytes was reached.
    ByteLimit {
        /// Bytes over the wire.
        bytes: u64,
    },
    /// The limit of time was reached.
    TimeLimit {
        /// Seconds it took.
        seconds: f64,
    },
    /// The disk was full.
    DiskFull {
        /// Bytes free now.
        free: u64,
        /// Bytes below which it stops.
        min: u64,
    },
    /// Somebody stopped it.
    Stopped,
    /// Its list of seeds has not ended.
    AwaitingSeeds,
    /// It is running.
    Running {
        /// Pages saved a second.
        pages_per_s: f64,
        /// Requests under way.
        requests: u64,
    },
    /// It visits pages again when they are due.
    KeptFresh(RefreshStatus),
    /// The disk is nearly full.
    DiskLow {
        /// Bytes free.
        free: u64,
        /// Bytes below which it stops.
        min: u64,
    },
    /// All sites wait.
    AllWait {
        /// How many.
        sites: u64,
        /// Seconds until the first may be asked.
        seconds: f64,
        /// The same as a moment.
        at: String,
    },
    /// Some sites wait for the same.
    SitesHeld {
        /// How many.
        sites: u64,
        /// Of how many.
        of: u64,
        /// What the example waits for.
        held: Held,
        /// One of them.
        example: String,
    },
    /// Only one site has URLs left.
    OneSite {
        /// Its name.
        site: String,
        /// URLs left.
        urls: u64,
        /// Seconds between two requests.
        rest_s: f64,
        /// Seconds that takes at least.
        least_s: f64,
    },
    /// A site was retired.
    SiteRetired {
        /// Its name.
        site: String,
        /// The kind of reason; older status files do not have it.
        reason: Option<LeftReason>,
        /// Why, in English.
        why: String,
    },
    /// robots.txt refused URLs.
    RobotsRefused {
        /// How many.
        urls: u64,
    },
    /// Rules of scope refused links.
    ScopeRefused {
        /// How many.
        links: u64,
        /// The rule.
        rule: String,
    },
    /// Links led deeper than the limit on depth.
    TooDeep {
        /// How many.
        links: u64,
    },
    /// Rules about addresses refused URLs.
    AddressesRefused {
        /// How many.
        urls: u64,
    },
    /// Names without an address.
    NoAddress {
        /// Visits that ended so.
        visits: u64,
    },
    /// No page could be fetched.
    NothingFetched {
        /// Network states of the visits.
        states: Vec<(String, u64)>,
    },
}

impl Reason {
    /// For machines. Several reasons may have the same code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Stopping => "stopping",
            Self::NotBegun => "not-begun",
            Self::Gone => "gone",
            Self::SiteRetired { .. } => "retired",
            Self::Incomplete { .. } => "incomplete",
            Self::Left(group) => group.code(),
            Self::NothingSaved => "nothing-saved",
            Self::RobotsUnreachable { .. } => "robots-unreachable",
            Self::Drained => "drained",
            Self::SeedsFailed => "seeds-failed",
            Self::TooManyFailures { .. } => "too-many-failures",
            Self::PageLimit { .. } => "page-limit",
            Self::ByteLimit { .. } => "byte-limit",
            Self::TimeLimit { .. } => "time-limit",
            Self::DiskFull { .. } => "disk-full",
            Self::Stopped => "stopped",
            Self::AwaitingSeeds => "awaiting-seeds",
            Self::Running { .. } => "running",
            Self::KeptFresh(_) => "kept-fresh",
            Self::DiskLow { .. } => "disk-low",
            Self::AllWait { .. } => "waiting",
            Self::SitesHeld { held, .. } => held.crawl_code(),
            Self::OneSite { .. } => "one-site",
            Self::RobotsRefused { .. } => "robots",
            Self::ScopeRefused { .. } => "excluded",
            Self::TooDeep { .. } => "too-deep",
            Self::AddressesRefused { .. } => "address-refused",
            Self::NoAddress { .. } => "dns",
            Self::SitesFailing { .. } | Self::NothingFetched { .. } => "failing",
        }
    }

    /// What to do about it, where something can be done.
    pub fn advice(&self) -> Option<Advice> {
        Some(match self {
            Self::Paused => Advice::Resume,
            Self::NotBegun => Advice::GiveSeeds,
            Self::Gone => Advice::RunAgainSafely,
            Self::Incomplete { .. } => Advice::SeeReasons,
            Self::Left(group) => Advice::about(group.reason),
            Self::RobotsUnreachable { .. } => Advice::RunAgainLater,
            Self::SeedsFailed | Self::NothingSaved => Advice::LookAtSeeds,
            Self::PageLimit { .. } => Advice::RaisePages,
            Self::ByteLimit { .. } => Advice::RaiseBytes,
            Self::TimeLimit { .. } => Advice::RaiseTime,
            Self::DiskFull { .. } => Advice::MakeRoomAndRun,
            Self::Stopped => Advice::RunAgain,
            Self::AwaitingSeeds => Advice::ClosePipe,
            Self::DiskLow { .. } => Advice::MakeRoom,
            Self::ScopeRefused { .. } => Advice::LookAtScope,
            Self::TooDeep { .. } => Advice::RaiseDepth,
            Self::NoAddress { .. } => Advice::LookAtNameServer,
            Self::SitesHeld { held, .. } => match held {
                Held::LookupFailed { .. } | Held::NoAddress { .. } => Advice::LookAtNameServer,
                Held::Retired { reason, .. } => Advice::about(*reason),
                Held::AddressRefused { .. } => Advice::AllowPrivate,
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused => f.write_str("the crawl is paused"),
            Self::Stopping => f.write_str(
                "the crawl is stopping: what is under way is finished, nothing new begun",
            ),
            Self::NotBegun => f.write_str("the crawl has not begun"),
            Self::Gone => f.write_str(
                "no process is at work on this crawl: the last one ended without closing it",
            ),
            Self::Incomplete { urls, sites } => {
                let urls = plural(*urls, "URL");
                match sites {
                    Some(sites) => {
                        let sites = plural(*sites, "site");
                        write!(f, "the crawl is incomplete: {urls} of {sites} wait")
                    }
                    None => write!(f, "the crawl is incomplete: {urls} left"),
                }
            }
            Self::Left(group) => f.write_str(&group.in_words()),
            Self::NothingSaved => f.write_str("no page was saved"),
            Self::SitesFailing { sites } => {
                let sites = sites.iter();
                let sites = sites.map(|(site, failures)| format!("{site} ({failures})"));
                let sites: Vec<String> = sites.collect();
                let sites = sites.join(", ");
                write!(
                    f,
                    "sites whose last requests all failed, and how many did: {sites}"
                )
            }
            Self::RobotsUnreachable { visits } => write!(
                f,
                "{} failed without a request: their robots.txt was answered with an error (429 or 5xx)",
                plural(*visits, "page visit")
            ),
            Self::Drained => f.write_str("the crawl came to its end: nothing is queued"),
            Self::SeedsFailed => f.write_str("every seed failed"),
            Self::TooManyFailures { failed } => write!(
                f,
                "{failed} pages failed, more than crawl.max_failures allows"
            ),
            Self::PageLimit { saved } => {
                write!(f, "crawl.max_pages was reached: {saved} pages are saved")
            }
            Self::ByteLimit { bytes } => write!(
                f,
                "crawl.max_bytes was reached: {bytes} bytes came over the wire"
            ),
            Self::TimeLimit { seconds } => {
                write!(f, "crawl.max_time was reached after {seconds:.0} s")
            }
            Self::DiskFull { free, min } => write!(
                f,
                "the disk has {free} bytes left, and the crawl stops below {min} (output.min_free)"
            ),
            Self::Stopped => f.write_str("somebody stopped the crawl"),
            Self::AwaitingSeeds => {
                f.write_str("seeds are still being read: the list has not ended")
            }
            Self::Running {
                pages_per_s,
                requests,
            } => {
                let requests = plural(*requests, "request");
                write!(
                    f,
                    "it is running: {pages_per_s:.1} pages a second, {requests} under way"
                )
            }
            Self::KeptFresh(refresh) => f.write_str(&refresh.in_words()),
            Self::DiskLow { free, min } => write!(
                f,
                "the disk has {free} bytes left, less than the {min} of output.min_free"
            ),
            Self::AllWait { sites, seconds, at } => write!(
                f,
                "all {sites} sites in memory wait; the first may be asked in {seconds:.1} s, at {at}"
            ),
            Self::SitesHeld {
                sites,
                of,
                held,
                example,
            } => write!(f, "{sites} of {of} sites in memory: {held} ({example})"),
            Self::OneSite {
                site,
                urls,
                rest_s,
                least_s,
            } => {
                let urls = plural(*urls, "URL");
                write!(
                    f,
                    "one site is left, {site}, with {urls}; it rests {rest_s:.1} s after each answer, so its queue takes at least {least_s:.0} s"
                )
            }
            Self::SiteRetired { site, why, .. } => write!(f, "{site} was left alone: {why}"),
            Self::RobotsRefused { urls } => {
                write!(f, "robots.txt refused {}", plural(*urls, "URL"))
            }
            Self::ScopeRefused { links, rule } => {
                let links = plural(*links, "link");
                write!(f, "the rules of scope refused {links} ({rule})")
            }
            Self::TooDeep { links } => {
                let links = plural(*links, "link");
                write!(f, "{links} led deeper than scope.depth allows")
            }
            Self::AddressesRefused { urls } => {
                write!(f, "rules about addresses refused {}", plural(*urls, "URL"))
            }
            Self::NoAddress { visits } => {
                let visits = plural(*visits, "visit");
                write!(f, "{visits} ended because a name has no address (noIP)")
            }
            Self::NothingFetched { states } => {
                let states = states
                    .iter()
                    .map(|(state, count)| format!("{count} {state}"));
                let states: Vec<String> = states.collect();
                write!(f, "no page could be fetched: {}", states.join(", "))
            }
        }
    }
}

/// What to do about a reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Advice {
    /// Resume it.
    Resume,
    /// Give it a seed.
    GiveSeeds,
    /// Run it again; nothing is lost.
    RunAgainSafely,
    /// Run it again.
    RunAgain,
    /// Wait, or allow longer waits.
    RaiseMaxWait,
    /// Look at the seeds.
    LookAtSeeds,
    /// Raise the limit of pages.
    RaisePages,
    /// Raise the limit of bytes.
    RaiseBytes,
    /// Raise the limit of time.
    RaiseTime,
    /// Make room on the disk, and run it again.
    MakeRoomAndRun,
    /// Make room on the disk.
    MakeRoom,
    /// End the list of seeds.
    ClosePipe,
    /// Look at the rules of scope.
    LookAtScope,
    /// See the reasons that follow.
    SeeReasons,
    /// Turn the trap guard off.
    TurnTrapGuardOff,
    /// Allow more pages of the site.
    RaiseSitePages,
    /// Run it again later.
    RunAgainLater,
    /// Allow more depth.
    RaiseDepth,
    /// Look at the name server.
    LookAtNameServer,
    /// Open the range of addresses.
    AllowPrivate,
}

impl Advice {
    /// How to get URLs fetched that are left for this reason.
    const fn about(reason: LeftReason) -> Self {
        match reason {
            LeftReason::TrapGuard => Self::TurnTrapGuardOff,
            LeftReason::LongWait | LeftReason::LongDelay => Self::RaiseMaxWait,
            LeftReason::SitePageLimit => Self::RaiseSitePages,
            LeftReason::SiteFailing | LeftReason::RobotsElsewhere | LeftReason::Queued => {
                Self::RunAgainLater
            }
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resume => "geomi resume DIR",
            Self::GiveSeeds => "geomi crawl -o DIR with at least one seed",
            Self::RunAgainSafely => "run the same command again: it resumes, and nothing is lost",
            Self::RunAgain => "run the same command again to go on",
            Self::RaiseMaxWait => "run it again later, or raise politeness.max_wait",
            Self::LookAtSeeds => {
                "look at the seeds with `geomi explain DIR URL`, mend what is wrong, run it again"
            }
            Self::RaisePages => "raise it (-n) and run the crawl again",
            Self::RaiseBytes => "raise it (--max-bytes) and run the crawl again",
            Self::RaiseTime => "raise it (--max-time) and run the crawl again",
            Self::MakeRoomAndRun => "make room and run the same command again: nothing is lost",
            Self::MakeRoom => "make room: the crawl stops in good order otherwise",
            Self::ClosePipe => "close the pipe they come from, or `geomi stop DIR`",
            Self::LookAtScope => "look at the section [scope]",
            Self::SeeReasons => "see the reasons below, each with what helps",
            Self::TurnTrapGuardOff => "run `geomi crawl -o DIR --trap-guard off` to fetch them",
            Self::RaiseSitePages => "raise max_pages in the [[site]] table",
            Self::RunAgainLater => "run the crawl again later",
            Self::RaiseDepth => "raise it (-d) and run the crawl again",
            Self::LookAtNameServer => "look at the name server (fetch.name_servers)",
            Self::AllowPrivate => "open the range with --allow-private if it is yours",
        })
    }
}

/// What a site waits for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Held {
    /// No URL of it was ever queued.
    Unknown,
    /// It may not be asked at its address.
    AddressRefused {
        /// Why, in English.
        why: String,
    },
    /// It has no address.
    NoAddress {
        /// Why, in English.
        why: String,
    },
    /// Nothing: it is asked next.
    Ready,
    /// Nothing is queued for it.
    Drained,
    /// Its requests under way.
    Busy,
    /// The look-up of its name.
    Lookup,
    /// Another try of a look-up that failed.
    LookupFailed {
        /// How often it failed in a row.
        times: u32,
    },
    /// Its robots.txt.
    Robots,
    /// A free connection to its server.
    AddressLimit {
        /// Address of the server.
        address: String,
    },
    /// The end of its delay.
    Delay {
        /// The delay.
        seconds: f64,
    },
    /// The end of the Crawl-delay of its robots.txt.
    CrawlDelay {
        /// The delay.
        seconds: f64,
    },
    /// The end of a wait that it requested.
    Throttled,
    /// The end of a wait after failures.
    BackOff {
        /// Failures in a row.
        failures: u32,
    },
    /// The time of second tries.
    Retry,
    /// A place in memory.
    Turn,
    /// The next run.
    Retired {
        /// The kind of reason.
        reason: LeftReason,
        /// Why, in English.
        why: String,
    },
}

impl Held {
    /// For machines.
    pub(super) const fn code(&self) -> HoldCode {
        match self {
            Self::Unknown => HoldCode::Unknown,
            Self::AddressRefused { .. } => HoldCode::AddressRefused,
            Self::NoAddress { .. } => HoldCode::NoAddress,
            Self::Ready => HoldCode::Ready,
            Self::Drained => HoldCode::Drained,
            Self::Busy => HoldCode::Busy,
            Self::Lookup => HoldCode::Lookup,
            Self::LookupFailed { .. } => HoldCode::LookupFailed,
            Self::Robots => HoldCode::Robots,
            Self::AddressLimit { .. } => HoldCode::AddressLimit,
            Self::Delay { .. } => HoldCode::Delay,
            Self::CrawlDelay { .. } => HoldCode::CrawlDelay,
            Self::Throttled => HoldCode::Throttled,
            Self::BackOff { .. } => HoldCode::BackOff,
            Self::Retry => HoldCode::Retry,
            Self::Turn => HoldCode::Turn,
            Self::Retired { .. } => HoldCode::Retired,
        }
    }

    /// Whether it is a reason for a crawl to stand still that is worth telling.
    pub(super) const fn is_told(&self) -> bool {
        matches!(
            self,
            Self::LookupFailed { .. }
                | Self::NoAddress { .. }
                | Self::BackOff { .. }
                | Self::Throttled
                | Self::CrawlDelay { .. }
                | Self::Retired { .. }
                | Self::AddressRefused { .. }
        )
    }

    /// The code of a crawl that stands still because of it.
    const fn crawl_code(&self) -> &'static str {
        match self {
            Self::LookupFailed { .. } | Self::NoAddress { .. } => "dns",
            Self::BackOff { .. } => "failing",
            other => other.code().as_str(),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("no URL of this site was ever queued"),
            Self::AddressRefused { why } | Self::NoAddress { why } => f.write_str(why),
            Self::Ready => f.write_str("it is asked as soon as a connection of the crawl is free"),
            Self::Drained => f.write_str("nothing is queued for it"),
            Self::Busy => f.write_str("it waits for requests under way: they take all the connections it is allowed, or its next pages are deeper (crawl.page_order)"),
            Self::Lookup => f.write_str("its name is being looked up"),
            Self::LookupFailed { times } => {
                write!(f, "its name could not be looked up, {times} times in a row")
            }
            Self::Robots => f.write_str("its robots.txt is on its way"),
            Self::AddressLimit { address } => write!(
                f,
                "the server at {address} carries as many connections as one may"
            ),
            Self::Delay { seconds } => write!(f, "it rests {seconds:.1} s after each answer"),
            Self::CrawlDelay { seconds } => {
                write!(f, "its robots.txt asks for a Crawl-delay of {seconds} s")
            }
            Self::Throttled => f.write_str("it asked to be left alone (429 or 503)"),
            Self::BackOff { failures } => {
                write!(f, "it failed {failures} times in a row")
            }
            Self::Retry => {
                f.write_str("its next pages are retries whose time has not come")
            }
            Self::Turn => f.write_str(
                "as many sites as crawl.sites_in_memory allows are at work; its turn comes",
            ),
            Self::Retired { why, .. } => write!(f, "left alone for this run: {why}"),
        }
    }
}

/// What is known of the robots.txt of a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum RobotsStanding {
    /// It is ignored.
    Ignored,
    /// It has not been requested.
    NotAsked,
    /// There was no answer.
    NoAnswer {
        /// Network state of the request.
        state: String,
        /// Why, in English.
        why: String,
    },
    /// It was answered with an error.
    Unreachable {
        /// Which, in English.
        why: String,
    },
    /// The site has no robots.txt: it was answered with a code that says so.
    Missing {
        /// The code.
        code: u16,
    },
    /// It was read.
    Read {
        /// Whether the start page may be requested.
        is_start_allowed: bool,
    },
}

impl fmt::Display for RobotsStanding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ignored => f.write_str("robots.txt is ignored (fetch.robots)"),
            Self::NotAsked => f.write_str("robots.txt has not been asked for yet"),
            Self::NoAnswer { state, why } => write!(
                f,
                "robots.txt gave no answer ({state}: {why}), so no page is asked for"
            ),
            Self::Unreachable { why } => write!(
                f,
                "robots.txt is unreachable, so no page is asked for: {why}"
            ),
            Self::Missing { code } => write!(
                f,
                "there is no robots.txt (answered {code}), so every page may be asked for"
            ),
            Self::Read { is_start_allowed } => {
                let may = if *is_start_allowed { "may" } else { "may not" };
                write!(f, "robots.txt was read; the start page {may} be asked for")
            }
        }
    }
}
