//! What is left when a crawl ends by itself: URLs that were not visited, and why.
//!
//! A crawl is *finished* only if nothing is left. Otherwise it is *incomplete*, and
//! [`Left`] says how many URLs of how many sites wait, for which reasons and until when.
//! It is made once, at the end: every site with URLs in its queue is read from disk, so
//! that the numbers are right whether or not the sites are in memory.
//!
//! To add a reason: a variant of [`LeftReason`], its name and its sentence, and where its
//! URLs are counted ([`Engine::add_left`](crate::engine::Engine::add_left)).

use std::collections::BTreeMap;

use geomi_frontier::{RetireReason, SiteState};
use geomi_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::engine::Engine;
use crate::status::plural;

/// Why URLs are left, in the order in which reports name the reasons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeftReason {
    /// The trap guard deferred them.
    TrapGuard,
    /// Their site asked for a longer wait than `politeness.max_wait` (429 or 503).
    LongWait,
    /// The delay between two requests to their site is longer than that.
    LongDelay,
    /// Their site failed so often that it was given up for this run.
    SiteFailing,
    /// The robots.txt of their site is at a site that could not be asked.
    RobotsElsewhere,
    /// As many pages of their site are saved as its `max_pages` allows.
    SitePageLimit,
    /// They wait in their queue for another reason.
    Queued,
}

impl LeftReason {
    /// The name for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TrapGuard => "trap-guard",
            Self::LongWait => "long-wait",
            Self::LongDelay => "long-delay",
            Self::SiteFailing => "site-failing",
            Self::RobotsElsewhere => "robots-elsewhere",
            Self::SitePageLimit => "site-page-limit",
            Self::Queued => "queued",
        }
    }

    /// The reason, in a clause.
    pub const fn why(self) -> &'static str {
        match self {
            Self::TrapGuard => "the trap guard deferred them",
            Self::LongWait => {
                "their site asks for a longer wait (429 or 503) than politeness.max_wait"
            }
            Self::LongDelay => {
                "the delay between two requests to their site is longer than politeness.max_wait"
            }
            Self::SiteFailing => "their site failed too often in a row",
            Self::RobotsElsewhere => "their robots.txt redirects to a site that could not be asked",
            Self::SitePageLimit => "the max_pages of their [[site]] table is reached",
            Self::Queued => "they wait in their queue",
        }
    }

    /// What brings them.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::TrapGuard => "run `geomi crawl -o DIR --trap-guard off` to fetch them",
            Self::LongWait | Self::LongDelay => {
                "run the crawl again later, or raise politeness.max_wait"
            }
            Self::SiteFailing | Self::RobotsElsewhere | Self::Queued => "run the crawl again later",
            Self::SitePageLimit => "raise max_pages in the [[site]] table",
        }
    }

    /// That of a retired site.
    pub const fn of(retired: RetireReason) -> Self {
        match retired {
            RetireReason::LongWait => Self::LongWait,
            RetireReason::LongDelay => Self::LongDelay,
            RetireReason::Failing => Self::SiteFailing,
            RetireReason::RobotsElsewhere => Self::RobotsElsewhere,
            RetireReason::PagesSaved => Self::SitePageLimit,
        }
    }
}

/// URLs that are left for one reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftGroup {
    /// The reason.
    pub reason: LeftReason,
    /// How many URLs.
    pub urls: u64,
    /// Of how many sites.
    pub sites: u64,
    /// One of the sites.
    pub example: Option<String>,
    /// When the first of the sites may be asked again, where that is known; RFC 3339.
    pub first: Option<String>,
    /// When the last of them may be.
    pub until: Option<String>,
    /// First requests a day for new pages, where these URLs wait for that budget
    /// (`refresh.discovery_per_day`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_pages_per_day: Option<u64>,
}

impl LeftGroup {
    /// In a sentence.
    pub fn in_words(&self) -> String {
        let such_as = match &self.example {
            Some(site) if self.sites == 1 => format!(" ({site})"),
            Some(site) => format!(" (such as {site})"),
            None => String::new(),
        };
        let until = match (&self.first, &self.until) {
            (Some(first), Some(until)) if first == until => format!(", until {until}"),
            (Some(first), Some(until)) => format!(", the first until {first}, all until {until}"),
            _ => String::new(),
        };
        let why = match self.new_pages_per_day {
            Some(per_day) => format!(
                "they are new pages and wait for their budget (refresh.discovery_per_day, {per_day} a day)"
            ),
            None => self.reason.why().to_owned(),
        };
        format!(
            "{} of {}{such_as}: {why}{until}",
            plural(self.urls, "URL"),
            plural(self.sites, "site"),
        )
    }

    /// The name of the reason for machines: `postponed` for new pages that wait for
    /// their budget.
    pub const fn code(&self) -> &'static str {
        match self.new_pages_per_day {
            Some(_) => "postponed",
            None => self.reason.as_str(),
        }
    }

    /// How to get them fetched.
    pub const fn advice(&self) -> &'static str {
        match self.new_pages_per_day {
            Some(_) => {
                "run `geomi refresh run` again on a later day, or raise refresh.discovery_per_day; \
                 `geomi crawl -o DIR` fetches all of them"
            }
            None => self.reason.advice(),
        }
    }
}

/// What is left, by reason.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Left {
    /// How many URLs in all.
    pub urls: u64,
    /// Sites they are on. A site counts once for each reason.
    pub sites: u64,
    /// By reason.
    pub groups: Vec<LeftGroup>,
}

impl Left {
    /// In a clause: how many of how many sites.
    pub fn in_words(&self) -> String {
        let (urls, sites) = (plural(self.urls, "URL"), plural(self.sites, "site"));
        let wait = if self.urls == 1 { "waits" } else { "wait" };
        format!("{urls} of {sites} {wait}")
    }
}

/// Adds up what is left: by reason, and new pages that wait for their budget apart.
#[derive(Debug, Default)]
pub struct LeftSums(BTreeMap<(LeftReason, Option<u64>), Sum>);

/// URLs that wait outside the queues: how many, of how many sites, and one of the sites.
pub(crate) type Waiting = (u64, u64, Option<String>);

#[derive(Debug, Default)]
struct Sum {
    urls: u64,
    sites: u64,
    example: Option<String>,
    until: Option<(Timestamp, Timestamp)>,
}

impl LeftSums {
    fn add_site(&mut self, state: &SiteState) {
        let retired = state.retired.as_ref();
        let reason = retired.map_or(LeftReason::Queued, |retired| LeftReason::of(retired.reason));
        let sum = self.0.entry((reason, None)).or_default();
        sum.urls += state.pending();
        sum.sites += 1;
        sum.example.get_or_insert_with(|| state.key.to_string());
        if let Some(until) = retired.and_then(|retired| retired.until) {
            let (first, last) = sum.until.unwrap_or((until, until));
            sum.until = Some((first.min(until), last.max(until)));
        }
    }

    fn add_deferred(&mut self, deferred: Waiting) {
        self.add((LeftReason::TrapGuard, None), deferred);
    }

    fn add_postponed(&mut self, postponed: Waiting, per_day: f64) {
        self.add((LeftReason::Queued, Some(per_day as u64)), postponed);
    }

    fn add(&mut self, key: (LeftReason, Option<u64>), (urls, sites, example): Waiting) {
        if urls > 0 {
            let sum = self.0.entry(key).or_default();
            sum.urls += urls;
            sum.sites += sites;
            sum.example = sum.example.take().or(example);
        }
    }

    /// All of it; `None` if nothing is left.
    pub fn into_left(self) -> Option<Left> {
        let groups = self.0.into_iter();
        let groups = groups.map(|((reason, new_pages_per_day), sum)| LeftGroup {
            reason,
            new_pages_per_day,
            urls: sum.urls,
            sites: sum.sites,
            example: sum.example,
            first: sum.until.map(|(first, _)| first.to_rfc3339_secs()),
            until: sum.until.map(|(_, last)| last.to_rfc3339_secs()),
        });
        let groups: Vec<LeftGroup> = groups.collect();
        let left = Left {
            urls: groups.iter().map(|group| group.urls).sum(),
            sites: groups.iter().map(|group| group.sites).sum(),
            groups,
        };
        (left.urls > 0).then_some(left)
    }
}

impl Engine {
    /// Adds up what is left in this partition, as committed.
    pub fn add_left(&self, sums: &mut LeftSums) -> Result<(), EngineError> {
        if self.waiting() > 0 {
            self.store
                .each_pending(&mut |state| sums.add_site(&state))?;
        }
        sums.add_deferred(self.store.held_counts()?);
        let per_day = self.discovery_per_day().unwrap_or_default();
        sums.add_postponed(self.store.postponed_counts()?, per_day);
        Ok(())
    }

    /// How many new URLs of the partition wait for their budget.
    pub fn count_postponed(&mut self) -> Result<(), EngineError> {
        let (urls, ..) = self.store.postponed_counts()?;
        self.recount_postponed(urls);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use geomi_frontier::{LaneState, Retirement};
    use geomi_url::CrawlUrl;

    use super::*;

    fn site(number: u32, urls: u64, retired: Option<(RetireReason, Option<u32>)>) -> SiteState {
        let url = CrawlUrl::parse(&format!("http://s{number}.test/")).unwrap();
        let mut state = SiteState::new(url.site());
        state.lanes[0] = LaneState {
            len: urls,
            ..LaneState::default()
        };
        state.retired = retired.map(|(reason, until)| Retirement {
            run: Timestamp::EPOCH,
            reason,
            until: until.map(|until| Timestamp::from_secs(until.into())),
            why: String::new(),
        });
        state
    }

    #[test]
    fn what_is_left_is_summed_by_reason_with_the_times() {
        let mut sums = LeftSums::default();
        let long = |until| Some((RetireReason::LongWait, Some(until)));
        sums.add_site(&site(1, 160, long(7_200)));
        sums.add_site(&site(2, 2, long(3_600)));
        sums.add_site(&site(3, 5, Some((RetireReason::Failing, None))));
        sums.add_deferred((0, 0, None));
        sums.add_deferred((7, 1, None));
        sums.add_postponed((0, 0, None), 24.0);
        sums.add_postponed((900, 1, None), 24.0);
        let left = sums.into_left().unwrap();
        assert_eq!((left.urls, left.sites), (1_074, 5));
        let reasons: Vec<&str> = left.groups.iter().map(LeftGroup::code).collect();
        assert_eq!(
            reasons,
            ["trap-guard", "long-wait", "site-failing", "postponed"]
        );
        assert_eq!(left.in_words(), "1074 URLs of 5 sites wait");
        let words = left.groups[3].in_words();
        assert!(
            words.contains("refresh.discovery_per_day, 24 a day"),
            "{words}"
        );
        let words = left.groups[1].in_words();
        assert!(
            words.starts_with("162 URLs of 2 sites (such as s1.test): their site asks for"),
            "{words}"
        );
        assert!(
            words.ends_with("the first until 1970-01-01T01:00:00Z, all until 1970-01-01T02:00:00Z"),
            "{words}"
        );
        assert_eq!(left.groups[2].until, None);
    }

    #[test]
    fn reasons_have_the_names_that_status_json_has() {
        for reason in [
            LeftReason::TrapGuard,
            LeftReason::LongWait,
            LeftReason::LongDelay,
            LeftReason::SiteFailing,
            LeftReason::RobotsElsewhere,
            LeftReason::SitePageLimit,
            LeftReason::Queued,
        ] {
            let written = serde_json::to_value(reason).unwrap();
            assert_eq!(written, reason.as_str());
            assert!(!reason.why().is_empty() && !reason.advice().is_empty());
        }
    }
}
