//! Every request as the server saw it.
//!
//! Tests ask the log, not the crawler, what was requested, when, and how often
//! at once. A record takes about 60 bytes (pages are kept by number), and past
//! [`crate::ServerOptions::log_max`] requests are only counted.
//!
//! A request is in the log before the last byte of its answer leaves, so a
//! client that has its answer finds itself here. Its end is set then, and set
//! again once the kernel has taken that last byte.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use geomi_model::Timestamp;

use crate::{Fault, Web};

/// One request.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When its first byte was read.
    pub arrived: Timestamp,
    /// When the answer began to be handed over, or the fault was over.
    pub ended: Timestamp,
    /// The site asked for; `None` if the host is none of the web's.
    pub site: Option<u32>,
    /// Its host without port, or what stood in `Host`.
    pub host: String,
    /// Path and query.
    pub target: String,
    /// The status of the answer, or that a fault would have had.
    pub status: u16,
    /// The fault that was played instead.
    pub fault: Option<Fault>,
    /// The connection it came on, counted from 0 over the server's life.
    pub connection: u32,
    /// `User-Agent`.
    pub user_agent: Arc<str>,
}

/// The log of a server.
pub struct RequestLog {
    web: Arc<Web>,
    max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    records: Vec<Record>,
    /// Requests that were in the log and have been cleared away: the number of
    /// the first record.
    cleared: usize,
    left_out: u64,
    agents: Vec<Arc<str>>,
}

struct Record {
    arrived: Timestamp,
    ended: Timestamp,
    target: Target,
    connection: u32,
    agent: u32,
    status: u16,
    fault: Option<Fault>,
}

enum Target {
    Page { site: u32, page: u32 },
    Path { site: u32, target: Box<str> },
    Stranger { host: Box<str>, target: Box<str> },
}

/// What the server hands in.
pub(crate) struct NewEntry<'a> {
    pub(crate) arrived: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) host: &'a str,
    pub(crate) target: &'a str,
    pub(crate) status: u16,
    pub(crate) fault: Option<Fault>,
    pub(crate) connection: u32,
    pub(crate) user_agent: &'a str,
}

/// A place in the log.
#[derive(Clone, Copy)]
pub(crate) struct Place(usize);

impl RequestLog {
    pub(crate) fn new(web: Arc<Web>, max: usize) -> Self {
        Self {
            web,
            max,
            inner: Mutex::default(),
        }
    }

    pub(crate) fn record(&self, new: &NewEntry<'_>) -> Option<Place> {
        let target = self.target(new.host, new.target);
        let mut inner = self.lock();
        if inner.records.len() >= self.max {
            inner.left_out += 1;
            return None;
        }
        let agent = inner.agent(new.user_agent);
        inner.records.push(Record {
            arrived: new.arrived,
            ended: new.ended,
            target,
            connection: new.connection,
            agent,
            status: new.status,
            fault: new.fault,
        });
        Some(Place(inner.cleared + inner.records.len() - 1))
    }

    pub(crate) fn set_end(&self, place: Place, ended: Timestamp) {
        let mut inner = self.lock();
        let index = place.0.checked_sub(inner.cleared);
        if let Some(record) = index.and_then(|index| inner.records.get_mut(index)) {
            record.ended = ended;
        }
    }

    /// All requests in the order of their answers.
    pub fn entries(&self) -> Vec<Entry> {
        let inner = self.lock();
        let entry = |record: &Record| {
            let (site, host, target) = self.names(&record.target);
            Entry {
                arrived: record.arrived,
                ended: record.ended,
                site,
                host,
                target,
                status: record.status,
                fault: record.fault,
                connection: record.connection,
                user_agent: inner.agents[record.agent as usize].clone(),
            }
        };
        inner.records.iter().map(entry).collect()
    }

    /// How many requests are in the log.
    pub fn len(&self) -> usize {
        self.lock().records.len()
    }

    /// Whether nobody has asked for anything.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requests that came after the log was full.
    pub fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Forgets what was logged so far.
    pub fn clear(&self) {
        let mut inner = self.lock();
        inner.cleared += inner.records.len();
        inner.records.clear();
        inner.left_out = 0;
    }

    /// How often each URL was asked for.
    pub fn count_by_url(&self) -> BTreeMap<String, u32> {
        let port = self.web.spec().port;
        let mut counts = BTreeMap::new();
        for Entry { host, target, .. } in self.entries() {
            *counts
                .entry(format!("http://{host}:{port}{target}"))
                .or_default() += 1;
        }
        counts
    }

    /// How often each status was answered; faults are left out.
    pub fn count_by_status(&self) -> BTreeMap<u16, u32> {
        let mut counts = BTreeMap::new();
        for record in &self.lock().records {
            if record.fault.is_none() {
                *counts.entry(record.status).or_default() += 1;
            }
        }
        counts
    }

    /// For each site: how many requests arrived while an earlier one was still
    /// being answered. Sites without any are left out.
    pub fn overlaps(&self) -> BTreeMap<u32, u32> {
        let mut overlaps = BTreeMap::new();
        for (site, spans) in self.spans() {
            let mut busy_until = None;
            for (arrived, ended) in spans {
                if busy_until.is_some_and(|until| arrived < until) {
                    *overlaps.entry(site).or_default() += 1;
                }
                busy_until = busy_until.max(Some(ended));
            }
        }
        overlaps
    }

    /// For each site: from the end of an answer to the arrival of the next
    /// request, in order; zero where they overlap.
    pub fn gaps(&self) -> BTreeMap<u32, Vec<Duration>> {
        let mut gaps = BTreeMap::new();
        for (site, spans) in self.spans() {
            let pairs = spans.windows(2);
            gaps.insert(site, pairs.map(|two| two[1].0.since(two[0].1)).collect());
        }
        gaps
    }

    /// The shortest gap of any site.
    pub fn shortest_gap(&self) -> Option<Duration> {
        self.gaps().into_values().flatten().min()
    }

    /// Arrival and end of each site's requests by arrival.
    fn spans(&self) -> BTreeMap<u32, Vec<(Timestamp, Timestamp)>> {
        let mut spans: BTreeMap<u32, Vec<_>> = BTreeMap::new();
        for record in &self.lock().records {
            if let Target::Page { site, .. } | Target::Path { site, .. } = record.target {
                let span = (record.arrived, record.ended);
                spans.entry(site).or_default().push(span);
            }
        }
        for spans in spans.values_mut() {
            spans.sort_unstable();
        }
        spans
    }

    fn target(&self, host: &str, target: &str) -> Target {
        let Some(site) = self.web.site_of(host) else {
            return Target::Stranger {
                host: host.into(),
                target: target.into(),
            };
        };
        match self.web.page_at(site, target) {
            Some(page) => Target::Page { site, page },
            None => Target::Path {
                site,
                target: target.into(),
            },
        }
    }

    fn names(&self, target: &Target) -> (Option<u32>, String, String) {
        let web = &self.web;
        match target {
            Target::Page { site, page } => {
                (Some(*site), web.host_of(*site), web.page_path(*site, *page))
            }
            Target::Path { site, target } => (Some(*site), web.host_of(*site), target.to_string()),
            Target::Stranger { host, target } => (None, host.to_string(), target.to_string()),
        }
    }

    /// A panic elsewhere leaves at worst one record without its end.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Agents are few; the last one seen is nearly always the one.
    fn agent(&mut self, name: &str) -> u32 {
        let known = self.agents.iter().rposition(|agent| **agent == *name);
        known.unwrap_or_else(|| {
            self.agents.push(name.into());
            self.agents.len() - 1
        }) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebSpec;

    fn log(max: usize) -> RequestLog {
        RequestLog::new(Arc::new(Web::new(WebSpec::plain(2, 9))), max)
    }

    fn ask(log: &RequestLog, host: &str, target: &str, span_ms: (i64, i64)) -> Option<Place> {
        log.record(&NewEntry {
            arrived: Timestamp::from_micros(span_ms.0 * 1000),
            ended: Timestamp::from_micros(span_ms.1 * 1000),
            host,
            target,
            status: 200,
            fault: None,
            connection: 0,
            user_agent: "test",
        })
    }

    #[test]
    fn overlaps_and_gaps_are_counted_by_site() {
        let log = log(10);
        ask(&log, "127.0.1.1", "/", (0, 10));
        ask(&log, "127.0.1.1", "/people/1.html", (25, 40));
        ask(&log, "127.0.1.2", "/", (0, 100));
        ask(&log, "127.0.1.2", "/x", (50, 60));
        ask(&log, "127.0.1.2", "/", (70, 80));
        assert_eq!(log.overlaps(), BTreeMap::from([(1, 2)]));
        assert_eq!(log.gaps()[&0], [Duration::from_millis(15)]);
        assert_eq!(log.shortest_gap(), Some(Duration::ZERO));
        assert_eq!(log.count_by_url()["http://127.0.1.2:0/"], 2);
        assert_eq!(log.entries()[1].target, "/people/1.html");
    }

    #[test]
    fn a_full_log_counts_on_and_a_cleared_one_starts_anew() {
        let log = log(1);
        let first = ask(&log, "127.0.1.1", "/", (0, 1)).unwrap();
        assert!(ask(&log, "stranger.test", "/", (1, 2)).is_none());
        assert_eq!((log.len(), log.left_out()), (1, 1));
        log.clear();
        ask(&log, "stranger.test", "/y", (5, 6));
        log.set_end(first, Timestamp::from_secs(9));
        let entries = log.entries();
        assert_eq!(entries[0].ended, Timestamp::from_micros(6000));
        assert_eq!(
            (entries[0].site, &*entries[0].host),
            (None, "stranger.test")
        );
    }
}
