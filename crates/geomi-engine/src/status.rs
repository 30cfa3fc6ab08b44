//! Counters and state of a crawl: status.json, stats.jsonl, progress.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_frontier::Entry;
use geomi_model::{Fate, NetworkState, UrlRecord, Visit};
use geomi_refresh::upkeep::RefreshDrive;
use serde::{Deserialize, Serialize};

use crate::left::{Left, LeftReason};
use crate::refusal::RefusalRule;

/// What has been counted since the directory was begun. Kept in partition
/// state, in the commit of the visits it counts, so it is exact across crashes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// URLs attempted, robots.txt included.
    pub visits: u64,
    /// Visits stored as a response or revisit record.
    pub captured: u64,
    /// Of these, revisit records.
    pub revisits: u64,
    /// Pages saved: their first visit with 200. A page counts once, however often it
    /// is visited; [`Counters::visits_saved`] counts visits.
    pub saved: u64,
    /// Pages that redirected when they were first visited.
    pub redirected: u64,
    /// Pages given up when they were first visited.
    pub failed: u64,
    /// URLs never requested, by robots.txt or a rule.
    pub refused: u64,
    /// Visits that will be tried again.
    pub retried: u64,
    /// URLs queued.
    pub admitted: u64,
    /// Links found on pages.
    pub links: u64,
    /// Bytes over the wire.
    pub wire_bytes: u64,
    /// Bytes of bodies, decoded.
    pub body_bytes: u64,
    /// Visits by network state.
    pub states: BTreeMap<String, u64>,
    /// Links that were not admitted and queued URLs that were not requested when their
    /// turn came, by rule.
    pub refusals: BTreeMap<String, u64>,
    /// Visits of pages that ended with 200 or found the page unchanged. The counts of
    /// visits stand last: those of earlier versions end before them.
    #[serde(default, deserialize_with = "or_zero")]
    pub visits_saved: u64,
    /// Visits with which a page was given up, for good or until it is due again.
    #[serde(default, deserialize_with = "or_zero")]
    pub visits_failed: u64,
    /// Visits of pages that were not tried again: saved, failed and all others.
    #[serde(default, deserialize_with = "or_zero")]
    pub visits_done: u64,
}

/// Counters of earlier versions end before this one.
#[expect(clippy::unnecessary_wraps, reason = "serde asks for a result")]
fn or_zero<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    Ok(u64::deserialize(from).unwrap_or(0))
}

impl Counters {
    /// Counts what a visit means for its page.
    pub(crate) fn page(&mut self, fate: Fate, known: PageBefore) {
        let is_first = u64::from(!known.had_outcome);
        match fate {
            Fate::Retry => {
                self.retried += 1;
                return;
            }
            Fate::Saved => {
                self.visits_saved += 1;
                self.saved += u64::from(!known.was_saved);
            }
            Fate::Failed => {
                self.visits_failed += 1;
                self.failed += is_first;
            }
            Fate::Redirected => self.redirected += is_first,
            Fate::Answered => {}
        }
        self.visits_done += 1;
    }

    /// Counts one more of a network state.
    pub(crate) fn state(&mut self, state: NetworkState) {
        bump(&mut self.states, state.as_str());
    }

    /// Counts one more link refused.
    pub(crate) fn refusal(&mut self, rule: RefusalRule) {
        bump(&mut self.refusals, rule.as_str());
    }

    /// How many links and URLs a rule refused.
    pub(crate) fn refused_by(&self, rule: RefusalRule) -> u64 {
        self.refusals.get(rule.as_str()).copied().unwrap_or(0)
    }

    /// How many visits ended in a state.
    pub(crate) fn ended_in(&self, state: NetworkState) -> u64 {
        self.states.get(state.as_str()).copied().unwrap_or(0)
    }

    /// Counts several refusals by one rule.
    pub(crate) fn refusals(&mut self, rule: RefusalRule, count: u64) {
        *self.refusals.entry(rule.as_str().to_owned()).or_default() += count;
    }

    /// Adds another partition's counters.
    pub fn add(&mut self, other: &Self) {
        self.visits += other.visits;
        self.captured += other.captured;
        self.revisits += other.revisits;
        self.saved += other.saved;
        self.redirected += other.redirected;
        self.failed += other.failed;
        self.refused += other.refused;
        self.retried += other.retried;
        self.admitted += other.admitted;
        self.links += other.links;
        self.wire_bytes += other.wire_bytes;
        self.body_bytes += other.body_bytes;
        self.visits_saved += other.visits_saved;
        self.visits_failed += other.visits_failed;
        self.visits_done += other.visits_done;
        for (name, count) in &other.states {
            *self.states.entry(name.clone()).or_default() += count;
        }
        for (name, count) in &other.refusals {
            *self.refusals.entry(name.clone()).or_default() += count;
        }
    }
}

/// What became of a page before a visit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PageBefore {
    /// It was saved once.
    pub(crate) was_saved: bool,
    /// It was saved, given up or anything else, with the visits before it was last
    /// queued.
    pub(crate) had_outcome: bool,
}

impl PageBefore {
    /// By what is remembered of the page of a queue entry.
    pub(crate) fn of(before: Option<&UrlRecord>, entry: &Entry) -> Self {
        let visits = before.map_or(0, |before| before.visits);
        // A seed that another run could not reach no longer counts as failed.
        let is_retried_seed = entry.is_seed && !entry.is_revisit;
        Self {
            was_saved: before.is_some_and(|before| before.digest.is_some()),
            had_outcome: visits > u32::from(entry.attempts) && !is_retried_seed,
        }
    }
}

/// Kinds of content counted by name; the web may send any number of them.
const TYPES_MAX: usize = 50;
/// The kinds beyond those.
const OTHER: &str = "other";
/// The longest name of a kind.
const TYPE_CHARS_MAX: usize = 80;

/// Visits by kind of answer, since the directory was begun. Stored like [`Counters`],
/// in a separate record, which older crawls do not have.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// Visits by status code. Its digits, because numbers as keys cannot be
    /// read back out of a tagged message.
    pub codes: BTreeMap<String, u64>,
    /// Visits that were not answered.
    pub none: u64,
    /// Answers by content type: the first fifty kinds by name, the rest as
    /// `other`.
    pub types: BTreeMap<String, u64>,
}

impl Answers {
    /// Counts one more visit.
    pub(crate) fn count(&mut self, code: Option<u16>, mime: Option<&str>) {
        let Some(code) = code else {
            self.none += 1;
            return;
        };
        bump(&mut self.codes, &code.to_string());
        if let Some(mime) = mime {
            let name: String = mime.chars().take(TYPE_CHARS_MAX).collect();
            self.add_type(&name.to_ascii_lowercase(), 1);
        }
    }

    /// Adds another partition's counts.
    pub fn add(&mut self, other: &Self) {
        self.none += other.none;
        for (code, count) in &other.codes {
            *self.codes.entry(code.clone()).or_default() += count;
        }
        for (name, count) in &other.types {
            self.add_type(name, *count);
        }
    }

    fn add_type(&mut self, name: &str, count: u64) {
        let is_known = self.types.contains_key(name) || self.types.len() < TYPES_MAX;
        let name = if is_known { name } else { OTHER };
        *self.types.entry(name.to_owned()).or_default() += count;
    }

    /// Visits by the first digit of their code: `2xx` and so on.
    pub fn classes(&self) -> BTreeMap<String, u64> {
        let mut classes = BTreeMap::new();
        for (code, count) in &self.codes {
            let class: String = code.chars().take(1).chain("xx".chars()).collect();
            *classes.entry(class).or_default() += count;
        }
        classes
    }
}

fn bump(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

/// What a crawl is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Opening the directory.
    #[default]
    Starting,
    /// Crawling.
    Running,
    /// Starting no new request.
    Paused,
    /// Finishing what is under way.
    Stopping,
    /// At its end.
    Done,
}

/// Why a crawl ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Nothing is left to visit.
    Finished,
    /// URLs are left that this run does not visit: [`Status::left`] says why.
    Incomplete,
    /// Every seed failed.
    SeedsFailed,
    /// No page was saved, though not every seed failed.
    NothingSaved,
    /// More pages failed than `max_failures` allows.
    TooManyFailures,
    /// `--max-pages` was reached.
    PageLimit,
    /// `--max-bytes` was reached.
    ByteLimit,
    /// `--max-time` was reached.
    TimeLimit,
    /// The disk is full, or nearly so.
    DiskFull,
    /// Somebody asked it to stop.
    Stopped,
}

impl Ending {
    /// Whether the crawl came to its end by itself: deferred URLs may still be
    /// fetched.
    pub const fn is_natural(self) -> bool {
        matches!(
            self,
            Self::Finished | Self::Incomplete | Self::SeedsFailed | Self::NothingSaved
        )
    }

    /// In words, as in the last line of a crawl.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Incomplete => "incomplete",
            Self::NothingSaved => "nothing was saved",
            Self::SeedsFailed => "every seed failed",
            Self::TooManyFailures => "max-failures passed",
            Self::PageLimit => "max-pages reached",
            Self::ByteLimit => "max-bytes reached",
            Self::TimeLimit => "max-time reached",
            Self::DiskFull => "disk full",
            Self::Stopped => "stopped",
        }
    }
}

/// status.json: rewritten every second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Status {
    /// What the crawl is doing.
    pub state: Phase,
    /// Why it ended, once it has.
    pub reason: Option<Ending>,
    /// When this was written.
    pub time: String,
    /// When this run began.
    pub started: String,
    /// Seconds since then.
    pub elapsed_s: f64,
    /// Everything counted since the directory was begun.
    pub counters: Counters,
    /// What was answered since then.
    #[serde(default)]
    pub answers: Answers,
    /// Pages this run saved for the first time.
    pub saved_this_run: u64,
    /// Visits of this run that ended with 200 or found a page unchanged.
    #[serde(default)]
    pub visits_saved_this_run: u64,
    /// What is left and why, once a crawl has ended by itself; `None` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Left>,
    /// URLs waiting.
    pub queued: u64,
    /// URLs being visited.
    pub in_flight: u64,
    /// Pages visited and saved, or found unchanged, a second, over the last ten seconds.
    pub pages_per_s: f64,
    /// Bytes a second over the wire, over the last ten seconds.
    pub bytes_per_s: f64,
    /// Sites that may be asked now.
    pub sites_ready: u64,
    /// Sites resting between requests.
    pub sites_waiting: u64,
    /// Sites that wait longer after failures.
    pub sites_backing_off: u64,
    /// Sites retired for this run, and why: at most 100.
    pub sites_retired: Vec<(String, String)>,
    /// The kinds of these reasons, in the same order.
    #[serde(default)]
    pub sites_retired_reasons: Vec<LeftReason>,
    /// Number of sites retired for this run.
    #[serde(default)]
    pub sites_retired_count: u64,
    /// Sites whose last requests all failed, and how many did: the ten worst. Three
    /// failures at least, or one while nothing has been saved.
    #[serde(default)]
    pub sites_failing: Vec<(String, u32)>,
    /// The site with the longest round-trip time, in milliseconds.
    pub slowest_site: Option<(String, f64)>,
    /// Seeds known.
    pub seeds: u64,
    /// How it is kept fresh; `None` for a crawl that visits every URL once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<RefreshStatus>,
}

/// The status of a crawl that is kept fresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RefreshStatus {
    /// What decides when a page is due.
    pub drive: RefreshDrive,
    /// The table it goes by, from the crawl directory on unless it lies
    /// elsewhere; `None` without one, or if the run was of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The policy of a plan.
    pub policy: String,
    /// Whether the run ends with what was due when it began.
    pub once: bool,
    /// Pages that are kept fresh.
    pub pages: u64,
    /// Requests a day that may be made for it.
    pub requests_per_day: f64,
    /// First requests a day that may be made for new pages, beside those.
    #[serde(default)]
    pub discovery_per_day: Option<f64>,
    /// New pages that were requested since the crawl is kept fresh.
    #[serde(default)]
    pub discovered: u64,
    /// New pages that wait for that budget.
    #[serde(default)]
    pub postponed: u64,
    /// The zone whose clock its hours and days go by.
    #[serde(default = "utc")]
    pub timezone: String,
    /// When a page is due next; not known before the past has been read.
    pub next_due: Option<String>,
}

/// The zone of runs of earlier versions.
fn utc() -> String {
    "UTC".to_owned()
}

impl RefreshStatus {
    /// What it does, in a clause.
    pub fn in_words(&self) -> String {
        let by = match self.drive {
            RefreshDrive::Plan => format!("by the policy {}", self.policy),
            RefreshDrive::Rounds => "in rounds".to_owned(),
            RefreshDrive::Table => "by a schedule".to_owned(),
        };
        let next = match &self.next_due {
            Some(next) => format!(", the next due at {next}"),
            None => String::new(),
        };
        let (pages, are) = (plural(self.pages, "page"), is_or_are(self.pages));
        let requests = self.requests_per_day;
        format!("{pages} {are} kept fresh {by} with {requests:.1} requests a day{next}")
    }
}

/// `1 URL`, `2 URLs`.
pub fn plural(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

const fn is_or_are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

impl Status {
    /// Why the crawl ended, as in its last line. Where nothing was saved because rules
    /// refused URLs, the rules are named.
    pub fn reason_in_words(&self) -> Option<String> {
        let reason = self.reason?;
        let refusals = &self.counters.refusals;
        if reason != Ending::NothingSaved || refusals.is_empty() {
            return Some(reason.as_str().to_owned());
        }
        let refusals = refusals.iter();
        let refusals = refusals.map(|(rule, count)| format!("{rule} {count}"));
        let refusals: Vec<String> = refusals.collect();
        Some(format!(
            "{}; refused: {}",
            reason.as_str(),
            refusals.join(", ")
        ))
    }

    /// Share of the known work that is done, and the time the rest will take
    /// at the present rate; `None` if that is not known, or the work has no end.
    pub fn expectation(&self) -> Option<(f64, Duration)> {
        if self.refresh.as_ref().is_some_and(|refresh| !refresh.once) {
            return None;
        }
        let done = self.counters.visits_done + self.counters.refused;
        let left = self.queued + self.in_flight;
        if self.pages_per_s <= 0.0 || done + left == 0 {
            return None;
        }
        let share = done as f64 / (done + left) as f64;
        Some((
            share,
            Duration::from_secs_f64(left as f64 / self.pages_per_s),
        ))
    }
}

/// Hears what happens, on the crawl's own thread.
pub trait Observer: Send {
    /// A visit has ended and is durable.
    fn visited(&mut self, _: &Visit) {}
    /// Half a second has passed.
    fn status(&mut self, _: &Status) {}
}

/// Hears nothing.
#[derive(Debug)]
pub struct Silent;

impl Observer for Silent {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_partitions_add_up() {
        let mut one = Counters {
            saved: 1,
            ..Counters::default()
        };
        one.state(NetworkState::Ok);
        let mut two = one.clone();
        two.refusal(RefusalRule::Scope(geomi_scope::Refusal::OffScope));
        one.add(&two);
        assert_eq!(one.saved, 2);
        assert_eq!(one.states["OK"], 2);
        assert_eq!(one.refusals["off-scope"], 1);
    }

    #[test]
    fn a_page_counts_once_and_each_of_its_visits_counts() {
        let mut counters = Counters::default();
        let digest = Some(geomi_model::Digest([0; 20]));
        let entry = Entry {
            url: "http://a.test/".parse().unwrap(),
            seed: 0,
            via: None,
            kind: geomi_model::LinkKind::Anchor,
            depth: 0,
            priority: 1,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before: None,
        };
        let saved = |visits| UrlRecord {
            visits,
            digest,
            ..UrlRecord::default()
        };
        let mut count = |fate, before: Option<UrlRecord>, attempts| {
            let known = PageBefore::of(
                before.as_ref(),
                &Entry {
                    attempts,
                    ..entry.clone()
                },
            );
            counters.page(fate, known);
        };
        count(Fate::Saved, None, 0);
        count(Fate::Saved, Some(saved(1)), 0);
        count(Fate::Failed, Some(saved(2)), 0);
        // Another page: two tries fail, then it is given up; later it is saved.
        let tried = |visits| UrlRecord {
            visits,
            ..UrlRecord::default()
        };
        count(Fate::Retry, None, 0);
        count(Fate::Failed, Some(tried(1)), 1);
        count(Fate::Failed, Some(tried(2)), 0);
        count(Fate::Saved, Some(tried(3)), 0);
        assert_eq!((counters.saved, counters.visits_saved), (2, 3));
        assert_eq!((counters.failed, counters.visits_failed), (1, 3));
        assert_eq!((counters.retried, counters.visits_done), (1, 6));
    }

    #[test]
    fn a_status_that_names_no_table_is_read() {
        let written = r#"{"drive":"table","policy":"clock","once":true,"pages":7,
            "requests_per_day":1.0,"next_due":null}"#;
        let read: RefreshStatus = serde_json::from_str(written).unwrap();
        assert_eq!((read.drive, read.table), (RefreshDrive::Table, None));
    }

    /// Numbers as keys could not be read back out of this.
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "is")]
    enum Tagged {
        Status(Status),
    }

    #[test]
    fn kinds_of_content_are_bounded_and_none_is_lost() {
        let mut answers = Answers::default();
        for n in 0..200 {
            answers.count(Some(200), Some(&format!("text/x-{n}")));
        }
        answers.count(Some(404), None);
        answers.count(None, None);
        let mut sum = answers.clone();
        sum.add(&answers);
        assert_eq!(sum.types.len(), TYPES_MAX + 1);
        assert_eq!(sum.types.values().sum::<u64>(), 400);
        assert_eq!(
            sum.classes(),
            BTreeMap::from([("2xx".to_owned(), 400), ("4xx".to_owned(), 2)])
        );
        assert_eq!(sum.none, 2);
        // As other programs read it.
        let status = Status {
            answers: sum,
            ..Status::default()
        };
        let text = serde_json::to_string(&Tagged::Status(status.clone())).unwrap();
        let Tagged::Status(read) = serde_json::from_str(&text).unwrap();
        assert_eq!(read, status);
    }
}
