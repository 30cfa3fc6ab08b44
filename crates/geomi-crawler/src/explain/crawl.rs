//! A crawl explained: what it is doing, or why nothing moves.
//!
//! The causes come in the order in which they matter: what somebody wanted
//! (stopped, paused, a limit), what the machine lacks, what the sites do, and
//! what became of URLs that are no longer there. The first one is the answer.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_frontier::SiteView;
use geomi_model::{NetworkState, Timestamp};
use geomi_scope::Refusal;
use serde::{Deserialize, Serialize};

use super::Knowledge;
use super::hold::HoldCode;
use crate::status::{Counters, Ending, Phase, plural};

/// The crawl as a whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CrawlView {
    /// Whether a process is at work on it.
    pub running: bool,
    /// What it is doing, or was doing when last heard of.
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
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Cause {
    /// For machines.
    pub code: String,
    /// For people.
    pub text: String,
    /// What to do about it, where something can be done.
    pub advice: Option<String>,
}

/// Sites that wait for the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// Why that one waits.
    pub why: String,
}

impl Cause {
    fn new(code: &str, text: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            text: text.into(),
            advice: None,
        }
    }

    fn advise(mut self, advice: &str) -> Self {
        self.advice = Some(advice.to_owned());
        self
    }
}

/// The sites with something to do.
struct Busy {
    groups: Vec<(HoldCode, SiteGroup)>,
    next: Option<Timestamp>,
    sites: u64,
    /// The only one, if there is only one.
    only: Option<(String, u64, Duration)>,
}

impl Knowledge<'_> {
    pub(super) fn crawl(&self) -> CrawlView {
        let busy = self.busy_sites();
        let counts = self.frontier.counts();
        let status = self.status;
        let mut causes = Vec::new();
        causes.extend(self.wanted());
        causes.extend(self.disk());
        causes.extend(self.moving());
        causes.extend(self.kept_fresh());
        causes.extend(self.awaited_seeds());
        if self.waiting > 0 {
            self.sites_causes(&busy, &mut causes);
        }
        self.drained_causes(&mut causes);
        CrawlView {
            running: self.is_running,
            state: status.state,
            reason: status.reason,
            causes,
            queued: self.waiting,
            in_flight: counts.leased,
            sites: busy.groups.into_iter().map(|(_, group)| group).collect(),
            next_request: busy.next.map(Timestamp::to_rfc3339_millis),
            free_bytes: self.free_bytes,
            min_free_bytes: self.config.limits.disk_free_min,
            counters: status.counters.clone(),
        }
    }

    /// Why no URL of the crawl is asked for, whatever its site does.
    pub(super) fn crawl_holds(&self) -> Option<String> {
        self.wanted().map(|cause| cause.text)
    }

    /// What somebody wanted: it was stopped, paused, or given a limit.
    fn wanted(&self) -> Option<Cause> {
        if self.is_running {
            return match (self.status.state, self.status.reason) {
                (Phase::Paused, _) => {
                    Some(Cause::new("paused", "the crawl is paused").advise("geomi resume DIR"))
                }
                (Phase::Stopping, Some(reason)) => Some(self.ending(reason)),
                (Phase::Stopping, None) => Some(Cause::new(
                    "stopping",
                    "the crawl is stopping: what is under way is finished, nothing new begun",
                )),
                _ => None,
            };
        }
        match self.status.reason {
            Some(reason) => Some(self.ending(reason)),
            None if self.status.state == Phase::Starting => Some(
                Cause::new("not-begun", "the crawl has not begun")
                    .advise("geomi crawl -o DIR with at least one seed"),
            ),
            None => Some(
                Cause::new(
                    "gone",
                    "no process is at work on this crawl: the last one ended without closing it",
                )
                .advise("run the same command again: it resumes, and nothing is lost"),
            ),
        }
    }

    fn ending(&self, reason: Ending) -> Cause {
        let limits = &self.config.limits;
        let counters = &self.status.counters;
        match reason {
            Ending::Finished if self.waiting > 0 => Cause::new(
                "retired",
                format!(
                    "the crawl ended with {} left, all on sites that were left alone",
                    plural(self.waiting, "URL")
                ),
            )
            .advise("run it again later, or raise politeness.max_wait"),
            Ending::Finished => {
                Cause::new("drained", "the crawl came to its end: nothing is queued")
            }
            Ending::SeedsFailed => Cause::new("seeds-failed", "every seed failed").advise(
                "look at the seeds with `geomi explain DIR URL`, mend what is wrong, run it again",
            ),
            Ending::TooManyFailures => Cause::new(
                "too-many-failures",
                format!(
                    "{} pages failed, more than crawl.max_failures allows",
                    counters.failed
                ),
            ),
            Ending::PageLimit => Cause::new(
                "page-limit",
                format!(
                    "crawl.max_pages was reached: {} pages are saved",
                    counters.saved
                ),
            )
            .advise("raise it (-n) and run the crawl again"),
            Ending::ByteLimit => Cause::new(
                "byte-limit",
                format!(
                    "crawl.max_bytes was reached: {} bytes came over the wire",
                    counters.wire_bytes
                ),
            )
            .advise("raise it (--max-bytes) and run the crawl again"),
            Ending::TimeLimit => Cause::new(
                "time-limit",
                format!(
                    "crawl.max_time was reached after {:.0} s",
                    self.status.elapsed_s
                ),
            )
            .advise("raise it (--max-time) and run the crawl again"),
            Ending::DiskFull => Cause::new(
                "disk-full",
                format!(
                    "the disk has {} bytes left, and the crawl stops below {} (output.min_free)",
                    self.free_bytes, limits.disk_free_min
                ),
            )
            .advise("make room and run the same command again: nothing is lost"),
            Ending::Stopped => Cause::new("stopped", "somebody stopped the crawl")
                .advise("run the same command again to go on"),
        }
    }

    /// It does not end before its list of seeds has.
    fn awaited_seeds(&self) -> Option<Cause> {
        self.awaits_seeds.then(|| {
            let text = "seeds are still being read: the list has not ended";
            Cause::new("awaiting-seeds", text)
                .advise("close the pipe they come from, or `geomi stop DIR`")
        })
    }

    /// It is at work, and all is well.
    fn moving(&self) -> Option<Cause> {
        let leased = self.frontier.counts().leased;
        let runs = self.is_running && matches!(self.status.state, Phase::Running | Phase::Starting);
        (runs && (leased > 0 || self.status.pages_per_s > 0.0)).then(|| {
            let text = format!(
                "it is running: {:.1} pages a second, {} under way",
                self.status.pages_per_s,
                plural(leased, "request")
            );
            Cause::new("running", text)
        })
    }

    /// It visits pages again when they are due.
    fn kept_fresh(&self) -> Option<Cause> {
        let refresh = self.status.refresh.as_ref().filter(|_| self.is_running)?;
        Some(Cause::new("kept-fresh", refresh.in_words()))
    }

    fn disk(&self) -> Option<Cause> {
        let min = self.config.limits.disk_free_min;
        let is_low = self.free_bytes < min && self.status.reason != Some(Ending::DiskFull);
        is_low.then(|| {
            Cause::new(
                "disk-low",
                format!(
                    "the disk has {} bytes left, less than the {min} of output.min_free",
                    self.free_bytes
                ),
            )
            .advise("make room: the crawl stops in good order otherwise")
        })
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
        for view in self.frontier.views(self.now) {
            let urls: u64 = view.queued.iter().sum();
            if urls == 0 && view.leased == 0 {
                continue;
            }
            busy.sites += 1;
            busy.only = Some((view.key.to_string(), urls, view.rest));
            let (hold, why) = self.words(&view, true);
            if let Some(until) = view.hold.until() {
                let soonest = soonest.entry(hold).or_insert(until);
                *soonest = until.min(*soonest);
                busy.next = Some(busy.next.map_or(until, |next| next.min(until)));
            }
            add_to_group(&mut groups, hold, why, urls, &view);
        }
        busy.only = busy.only.filter(|_| busy.sites == 1);
        for (hold, mut group) in groups {
            group.until = soonest.get(&hold).map(|until| until.to_rfc3339_millis());
            busy.groups.push((hold, group));
        }
        busy.groups
            .sort_by_key(|(_, group)| std::cmp::Reverse(group.sites));
        busy
    }

    /// What the sites do that keeps the crawl from moving.
    fn sites_causes(&self, busy: &Busy, causes: &mut Vec<Cause>) {
        let stands = !busy.groups.iter().any(|(hold, _)| hold.is_moving());
        if stands
            && self.is_running
            && let Some(next) = busy.next
        {
            let at = next.to_rfc3339_millis();
            let seconds = next.since(self.now).as_secs_f64();
            causes.push(Cause::new(
                "waiting",
                format!(
                    "all {} sites wait; the first may be asked in {seconds:.1} s, at {at}",
                    busy.sites
                ),
            ));
        }
        for (hold, group) in busy.groups.iter().filter(|_| stands) {
            let text = format!(
                "{} of {} sites: {} ({})",
                group.sites, busy.sites, group.why, group.example
            );
            match hold {
                HoldCode::LookupFailed | HoldCode::NoAddress => {
                    let cause = Cause::new("dns", text);
                    causes.push(cause.advise("look at the name server (fetch.name_servers)"));
                }
                HoldCode::BackOff => causes.push(Cause::new("failing", text)),
                HoldCode::Throttled => causes.push(Cause::new("throttled", text)),
                HoldCode::CrawlDelay => causes.push(Cause::new("crawl-delay", text)),
                HoldCode::Retired => {
                    let cause = Cause::new("retired", text);
                    causes.push(cause.advise("raise politeness.max_wait, or run it again later"));
                }
                HoldCode::AddressRefused => {
                    let cause = Cause::new("address-refused", text);
                    causes.push(cause.advise("open the range with --allow-private if it is yours"));
                }
                _ => {}
            }
        }
        let has_end = self.status.refresh.is_none();
        if let Some((site, urls, rest)) = busy.only.as_ref().filter(|_| has_end) {
            let least = rest.as_secs_f64() * *urls as f64;
            causes.push(Cause::new(
                "one-site",
                format!(
                    "one site is left, {site}, with {}; it rests {:.1} s after each answer, so that this takes {least:.0} s at least",
                    plural(*urls, "URL"),
                    rest.as_secs_f64()
                ),
            ));
        }
        if !self.is_running {
            for (site, reason) in &self.status.sites_retired {
                causes.push(Cause::new(
                    "retired",
                    format!("{site} was left alone: {reason}"),
                ));
            }
        }
    }

    /// What became of URLs that are not queued.
    fn drained_causes(&self, causes: &mut Vec<Cause>) {
        let counters = &self.status.counters;
        if self.waiting > 0 || (self.is_running && counters.saved > 0) {
            return;
        }
        let refused = |name: &str| counters.refusals.get(name).copied().unwrap_or(0);
        if refused("robots") > 0 {
            let text = format!("robots.txt refused {}", plural(refused("robots"), "URL"));
            causes.push(Cause::new("robots", text));
        }
        let by_scope = [
            Refusal::Excluded { pattern: 0 },
            Refusal::SiteDenied,
            Refusal::NotIncluded,
            Refusal::Extension,
        ];
        for name in by_scope.map(Refusal::as_str) {
            if refused(name) > 0 {
                let text = format!(
                    "the rules of scope refused {} ({name})",
                    plural(refused(name), "link")
                );
                causes.push(Cause::new("excluded", text).advise("look at the section [scope]"));
            }
        }
        if refused("address") > 0 {
            let text = format!(
                "rules about addresses refused {}",
                plural(refused("address"), "URL")
            );
            causes.push(Cause::new("address-refused", text));
        }
        let no_ip = NetworkState::NoIp.as_str();
        let no_ip = counters.states.get(no_ip).copied().unwrap_or(0);
        if no_ip > 0 {
            let text = format!(
                "{} ended because a name has no address (noIP)",
                plural(no_ip, "visit")
            );
            causes.push(
                Cause::new("dns", text).advise("look at the name server (fetch.name_servers)"),
            );
        }
        let failures: Vec<String> = counters
            .states
            .iter()
            .filter(|(state, _)| !matches!(&***state, "OK" | "code" | "noIP"))
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        if !failures.is_empty() && counters.saved == 0 {
            let text = format!("no page could be fetched: {}", failures.join(", "));
            causes.push(Cause::new("failing", text));
        }
    }
}

fn add_to_group(
    groups: &mut BTreeMap<HoldCode, SiteGroup>,
    hold: HoldCode,
    why: String,
    urls: u64,
    view: &SiteView,
) {
    let group = groups.entry(hold).or_insert_with(|| SiteGroup {
        hold: hold.as_str().to_owned(),
        sites: 0,
        urls: 0,
        until: None,
        example: view.key.to_string(),
        why,
    });
    group.sites += 1;
    group.urls += urls;
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn one_is_not_many() {
        assert_eq!(plural(1, "URL"), "1 URL");
        assert_eq!(plural(0, "request"), "0 requests");
    }
}
