//! A crawl explained: what it is doing, or why nothing moves.
//!
//! The causes come in the order in which they matter: what the operator wanted
//! (stopped, paused, a limit), what the machine lacks, what the sites do, and
//! what became of URLs that are no longer queued. The first one is the answer.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_frontier::SiteView;
use geomi_model::{NetworkState, Timestamp};
use geomi_scope::Refusal;
use serde::{Deserialize, Serialize};

use super::Knowledge;
use super::hold::HoldCode;
use super::reason::{Held, Reason};
use crate::refusal::RefusalRule;
use crate::status::{Counters, Ending, Phase, Status};

/// The crawl as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CrawlView {
    /// Whether a process is at work on it.
    pub running: bool,
    /// What it is doing, or was doing at its last report.
    pub state: Phase,
    /// Why it ended, or is ending.
    pub reason: Option<Ending>,
    /// Why it stands as it does, the most important first.
    pub causes: Vec<Cause>,
    /// URLs waiting.
    pub queued: u64,
    /// URLs being visited.
    pub in_flight: u64,
    /// Sites with something to do, by what they wait for.
    pub sites: Vec<SiteGroup>,
    /// The soonest moment a waiting site may be asked.
    pub next_request: Option<String>,
    /// Room on its disk.
    pub free_bytes: u64,
    /// Room below which it stops.
    pub min_free_bytes: u64,
    /// Everything counted.
    pub counters: Counters,
}

/// One reason why a crawl stands as it does.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// For machines.
    pub code: String,
    /// For people, in English.
    pub text: String,
    /// What to do about it, where something can be done; in English.
    pub advice: Option<String>,
    /// The reason itself, for other languages. `None` from a process of an older
    /// version.
    #[serde(default)]
    pub reason: Option<Reason>,
}

/// Sites that wait for the same.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteGroup {
    /// What they wait for: see [`SiteReport::hold`](super::SiteReport::hold).
    pub hold: String,
    /// How many.
    pub sites: u64,
    /// URLs queued for them.
    pub urls: u64,
    /// When the first of them may be asked.
    pub until: Option<String>,
    /// One of them.
    pub example: String,
    /// Why that one waits, in English.
    pub why: String,
    /// The same, for other languages. `None` from a process of an older version.
    #[serde(default)]
    pub held: Option<Held>,
}

impl From<Reason> for Cause {
    fn from(reason: Reason) -> Self {
        let advice = match &reason {
            Reason::Left(group) => Some(group.advice().to_owned()),
            reason => reason.advice().map(|advice| advice.to_string()),
        };
        Self {
            code: reason.code().to_owned(),
            text: reason.to_string(),
            advice,
            reason: Some(reason),
        }
    }
}

/// Why a crawl at rest stands as it does, the most important first: what its last
/// status tells, without opening its queues. `None` is the status of a crawl that has
/// not begun.
pub fn causes_at_rest(status: Option<&Status>, disk: Disk) -> Vec<Cause> {
    let blank = Status::default();
    let status = status.unwrap_or(&blank);
    let standing = Standing {
        status,
        is_running: false,
        waiting: status.queued,
        disk,
    };
    let mut reasons: Vec<Reason> = standing.wanted().into_iter().collect();
    reasons.extend(standing.disk_low());
    reasons.extend(standing.left());
    if standing.waiting > 0 {
        reasons.extend(standing.retired());
    }
    reasons.extend(standing.failing());
    standing.drained(&mut reasons);
    reasons.into_iter().map(Cause::from).collect()
}

/// Room on the disk of a crawl.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Disk {
    /// Bytes free.
    pub free: u64,
    /// Bytes below which the crawl stops.
    pub min: u64,
}

/// What is known of a crawl without its queues.
struct Standing<'a> {
    status: &'a Status,
    is_running: bool,
    waiting: u64,
    disk: Disk,
}

/// Names of sites that a run retired.
const RETIRED_TOLD: usize = 10;

/// The sites with something to do.
struct Busy {
    groups: Vec<SiteGroup>,
    next: Option<Timestamp>,
    sites: u64,
    /// The only one, if there is only one.
    only: Option<(String, u64, Duration)>,
}

impl Knowledge<'_> {
    pub(super) fn crawl(&self) -> CrawlView {
        let busy = self.busy_sites();
        let status = self.status;
        let standing = self.standing();
        let mut reasons = Vec::new();
        reasons.extend(standing.wanted());
        reasons.extend(standing.disk_low());
        reasons.extend(self.moving());
        reasons.extend(self.kept_fresh());
        reasons.extend(self.awaits_seeds.then_some(Reason::AwaitingSeeds));
        reasons.extend(standing.left());
        if self.waiting > 0 {
            self.site_reasons(&busy, &mut reasons);
        }
        reasons.extend(standing.failing());
        standing.drained(&mut reasons);
        CrawlView {
            running: self.is_running,
            state: status.state,
            reason: status.reason,
            causes: reasons.into_iter().map(Cause::from).collect(),
            queued: self.waiting,
            in_flight: self.leased(),
            sites: busy.groups,
            next_request: busy.next.map(Timestamp::to_rfc3339_millis),
            free_bytes: self.disk.free,
            min_free_bytes: self.disk.min,
            counters: status.counters.clone(),
        }
    }

    /// Why no URL of the crawl is requested, whatever its site does.
    pub(super) fn crawl_holds(&self) -> Option<Reason> {
        self.standing().wanted()
    }

    fn standing(&self) -> Standing<'_> {
        Standing {
            status: self.status,
            is_running: self.is_running,
            waiting: self.waiting,
            disk: self.disk,
        }
    }

    /// It is at work, and all is well.
    fn moving(&self) -> Option<Reason> {
        let leased = self.leased();
        let runs = self.is_running && matches!(self.status.state, Phase::Running | Phase::Starting);
        (runs && (leased > 0 || self.status.pages_per_s > 0.0)).then_some(Reason::Running {
            pages_per_s: self.status.pages_per_s,
            requests: leased,
        })
    }

    /// It visits pages again when they are due.
    fn kept_fresh(&self) -> Option<Reason> {
        let refresh = self.status.refresh.as_ref().filter(|_| self.is_running)?;
        Some(Reason::KeptFresh(refresh.clone()))
    }

    fn busy_sites(&self) -> Busy {
        let mut groups: BTreeMap<HoldCode, SiteGroup> = BTreeMap::new();
        let mut busy = Busy {
            groups: Vec::new(),
            next: None,
            sites: 0,
            only: None,
        };
        let mut soonest: BTreeMap<HoldCode, Timestamp> = BTreeMap::new();
        for (place, view) in self.views() {
            let urls: u64 = view.queued.iter().sum();
            if urls == 0 && view.leased == 0 {
                continue;
            }
            busy.sites += 1;
            busy.only = Some((view.key.to_string(), urls, view.rest));
            let held = place.held(&view, true);
            let hold = held.code();
            if let Some(until) = view.hold.until() {
                let soonest = soonest.entry(hold).or_insert(until);
                *soonest = until.min(*soonest);
                busy.next = Some(busy.next.map_or(until, |next| next.min(until)));
            }
            add_to_group(&mut groups, held, urls, &view);
        }
        busy.only = busy.only.filter(|_| busy.sites == 1);
        for (hold, mut group) in groups {
            group.until = soonest.get(&hold).map(|until| until.to_rfc3339_millis());
            busy.groups.push(group);
        }
        busy.groups
            .sort_by_key(|group| std::cmp::Reverse(group.sites));
        busy
    }

    /// What the sites do that keeps the crawl from moving.
    fn site_reasons(&self, busy: &Busy, reasons: &mut Vec<Reason>) {
        let held = |group: &SiteGroup| group.held.clone();
        let mut all = busy.groups.iter().filter_map(held);
        let stands = !all.any(|held| held.code().is_moving());
        if stands
            && self.is_running
            && let Some(next) = busy.next
        {
            reasons.push(Reason::AllWait {
                sites: busy.sites,
                seconds: next.since(self.now).as_secs_f64(),
                at: next.to_rfc3339_millis(),
            });
        }
        // A directory at rest names the sites that its last run retired one by one.
        let names_retired = !self.is_running && !self.status.sites_retired.is_empty();
        for group in busy.groups.iter().filter(|_| stands) {
            let held = held(group).filter(Held::is_told);
            if let Some(held) =
                held.filter(|held| !(names_retired && matches!(held, Held::Retired { .. })))
            {
                reasons.push(Reason::SitesHeld {
                    sites: group.sites,
                    of: busy.sites,
                    held,
                    example: group.example.clone(),
                });
            }
        }
        let has_end = self.status.refresh.is_none();
        // Sites that are not in memory may have URLs, too.
        let only = busy.only.as_ref();
        // How long a queue takes that is not asked for in this run says nothing.
        let is_retired = |site: &str| {
            let retired = &self.status.sites_retired;
            retired.iter().any(|(retired, _)| retired == site)
        };
        if let Some((site, urls, rest)) =
            only.filter(|(site, urls, _)| has_end && *urls == self.waiting && !is_retired(site))
        {
            let connections = self.config.frontier.politeness.site_connections.max(1);
            reasons.push(Reason::OneSite {
                site: site.clone(),
                urls: *urls,
                rest_s: rest.as_secs_f64(),
                least_s: rest.as_secs_f64() * *urls as f64 / connections as f64,
            });
        }
        if !self.is_running {
            reasons.extend(self.standing().retired());
        }
    }
}

impl Standing<'_> {
    /// What the operator wanted: the crawl was stopped, paused, or given a limit.
    fn wanted(&self) -> Option<Reason> {
        if self.is_running {
            return match (self.status.state, self.status.reason) {
                (Phase::Paused, _) => Some(Reason::Paused),
                (Phase::Stopping, Some(reason)) => Some(self.ending(reason)),
                (Phase::Stopping, None) => Some(Reason::Stopping),
                _ => None,
            };
        }
        Some(match self.status.reason {
            Some(reason) => self.ending(reason),
            None if self.status.state == Phase::Starting => Reason::NotBegun,
            None => Reason::Gone,
        })
    }

    fn ending(&self, reason: Ending) -> Reason {
        let counters = &self.status.counters;
        match reason {
            Ending::Finished if self.waiting + self.postponed() == 0 => Reason::Drained,
            // Earlier versions called a run finished that had postponed new pages.
            Ending::Finished => Reason::Incomplete {
                urls: self.waiting + self.postponed(),
                sites: None,
            },
            Ending::Incomplete => {
                let left = self.status.left.as_ref();
                Reason::Incomplete {
                    urls: left.map_or(self.waiting, |left| left.urls),
                    sites: left.map(|left| left.sites),
                }
            }
            Ending::SeedsFailed => Reason::SeedsFailed,
            Ending::NothingSaved => Reason::NothingSaved,
            Ending::TooManyFailures => Reason::TooManyFailures {
                failed: counters.failed,
            },
            Ending::PageLimit => Reason::PageLimit {
                saved: counters.saved,
            },
            Ending::ByteLimit => Reason::ByteLimit {
                bytes: counters.wire_bytes,
            },
            Ending::TimeLimit => Reason::TimeLimit {
                seconds: self.status.elapsed_s,
            },
            Ending::DiskFull => Reason::DiskFull {
                free: self.disk.free,
                min: self.disk.min,
            },
            Ending::Stopped => Reason::Stopped,
        }
    }

    /// New pages that wait for their budget.
    fn postponed(&self) -> u64 {
        let refresh = self.status.refresh.as_ref();
        refresh.map_or(0, |refresh| refresh.postponed)
    }

    fn disk_low(&self) -> Option<Reason> {
        let Disk { free, min } = self.disk;
        let is_low = free < min && self.status.reason != Some(Ending::DiskFull);
        is_low.then_some(Reason::DiskLow { free, min })
    }

    /// What a run left when it ended by itself, by reason.
    fn left(&self) -> impl Iterator<Item = Reason> {
        let left = self.status.left.as_ref().filter(|_| !self.is_running);
        let groups = left.into_iter().flat_map(|left| &left.groups);
        groups.cloned().map(Reason::Left)
    }

    /// Sites that the last run retired.
    fn retired(&self) -> impl Iterator<Item = Reason> {
        let sites = self.status.sites_retired.iter().take(RETIRED_TOLD).cloned();
        let reasons = &self.status.sites_retired_reasons;
        sites
            .enumerate()
            .map(|(at, (site, why))| Reason::SiteRetired {
                site,
                reason: reasons.get(at).copied(),
                why,
            })
    }

    /// Sites whose last requests all failed.
    fn failing(&self) -> Option<Reason> {
        let sites = self.status.sites_failing.clone();
        (!sites.is_empty()).then_some(Reason::SitesFailing { sites })
    }

    /// What became of URLs that are not queued.
    fn drained(&self, reasons: &mut Vec<Reason>) {
        let counters = &self.status.counters;
        let not_asked = counters.ended_in(NetworkState::NotTried);
        if not_asked > 0 && self.waiting == 0 {
            reasons.push(Reason::RobotsUnreachable { visits: not_asked });
        }
        if self.waiting > 0 || (self.is_running && counters.saved > 0) {
            return;
        }
        let refused = |rule| Some(counters.refused_by(rule)).filter(|count| *count > 0);
        if let Some(urls) = refused(RefusalRule::Robots) {
            reasons.push(Reason::RobotsRefused { urls });
        }
        let by_scope = [
            Refusal::Excluded { pattern: 0 },
            Refusal::SiteDenied,
            Refusal::NotIncluded,
            Refusal::Extension,
        ];
        for refusal in by_scope {
            if let Some(links) = refused(RefusalRule::Scope(refusal)) {
                let rule = refusal.as_str().to_owned();
                reasons.push(Reason::ScopeRefused { links, rule });
            }
        }
        let too_deep = Refusal::TooDeep {
            depth: 0,
            depth_max: 0,
        };
        if let Some(links) = refused(RefusalRule::Scope(too_deep)) {
            reasons.push(Reason::TooDeep { links });
        }
        if let Some(urls) = refused(RefusalRule::Address) {
            reasons.push(Reason::AddressesRefused { urls });
        }
        let visits = counters.ended_in(NetworkState::NoIp);
        if visits > 0 {
            reasons.push(Reason::NoAddress { visits });
        }
        let told_above = [
            NetworkState::Ok,
            NetworkState::Code,
            NetworkState::NoIp,
            NetworkState::NotTried,
        ]
        .map(NetworkState::as_str);
        let failed = counters.states.iter();
        let failed = failed.filter(|(state, _)| !told_above.contains(&&***state));
        let states: Vec<(String, u64)> = failed.map(|(state, n)| (state.clone(), *n)).collect();
        if !states.is_empty() && counters.saved == 0 {
            reasons.push(Reason::NothingFetched { states });
        }
    }
}

fn add_to_group(
    groups: &mut BTreeMap<HoldCode, SiteGroup>,
    held: Held,
    urls: u64,
    view: &SiteView,
) {
    let group = groups.entry(held.code()).or_insert_with(|| SiteGroup {
        hold: held.code().as_str().to_owned(),
        sites: 0,
        urls: 0,
        until: None,
        example: view.key.to_string(),
        why: held.to_string(),
        held: Some(held),
    });
    group.sites += 1;
    group.urls += urls;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::plural;

    #[test]
    fn one_is_not_many() {
        assert_eq!(plural(1, "URL"), "1 URL");
        assert_eq!(plural(0, "request"), "0 requests");
    }

    fn first(state: Phase, reason: Option<Ending>, queued: u64) -> Cause {
        let status = Status {
            state,
            reason,
            queued,
            ..Status::default()
        };
        causes_at_rest(Some(&status), Disk::default()).remove(0)
    }

    #[test]
    fn a_crawl_at_rest_says_why_it_rests() {
        let gone = first(Phase::Running, None, 7);
        assert_eq!(gone.reason, Some(Reason::Gone));
        assert!(gone.text.contains("ended without closing it"), "{gone:?}");
        assert!(gone.advice.is_some(), "{gone:?}");
        let stopped = first(Phase::Done, Some(Ending::Stopped), 7);
        assert_eq!(stopped.code, "stopped");
        let finished = first(Phase::Done, Some(Ending::Finished), 0);
        assert_eq!(finished.code, "drained");
        let queued = first(Phase::Done, Some(Ending::Finished), 7);
        assert_eq!(queued.code, "incomplete", "something is queued");
        let left = first(Phase::Done, Some(Ending::Incomplete), 7);
        let (urls, sites) = (7, None);
        assert_eq!(left.reason, Some(Reason::Incomplete { urls, sites }));
        let blank = causes_at_rest(None, Disk::default());
        assert_eq!(blank[0].reason, Some(Reason::NotBegun));
    }

    #[test]
    fn causes_of_older_versions_are_read() {
        let old = r#"{"code":"paused","text":"the crawl is paused","advice":null}"#;
        let cause: Cause = serde_json::from_str(old).unwrap();
        assert_eq!(cause.reason, None);
        let new = serde_json::to_string(&Cause::from(Reason::PageLimit { saved: 3 })).unwrap();
        let read: Cause = serde_json::from_str(&new).unwrap();
        assert_eq!(read.reason, Some(Reason::PageLimit { saved: 3 }));
    }
}
