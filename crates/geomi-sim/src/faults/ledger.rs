//! The book-keeper: it hears what servers really answered and which visits are durable,
//! and knows nothing of the engine but what it promises.

use std::collections::{BTreeMap, BTreeSet};

use geomi_model::{Fate, Timestamp, Visit};
use geomi_testweb::Content;
use geomi_url::CrawlUrl;

use super::archive::Archive;

/// An answer that was handed to an engine.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    /// The content, if the answer tells.
    pub(super) holds: Option<Content>,
    /// Where it leads.
    pub(super) leads: Vec<CrawlUrl>,
    /// Whether it was a complete answer, which is archived.
    pub(super) is_complete: bool,
}

/// What is known of a page by its durable visits.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// The content of the copy that is stored.
    pub(super) copy: Option<Content>,
    /// The fate of the last visit, and when it was.
    pub(super) last: Option<(Fate, Timestamp)>,
}

impl Page {
    /// Whether it is not tried again of itself.
    pub(super) fn is_finished(&self) -> bool {
        self.last.is_some_and(|(fate, _)| fate != Fate::Retry)
    }
}

/// What durable visits of one partition come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sums {
    pub(super) visits: u64,
    pub(super) captured: u64,
    pub(super) saved: u64,
    pub(super) visits_saved: u64,
    pub(super) retried: u64,
}

/// The book-keeper.
#[derive(Debug)]
pub(super) struct Ledger {
    tries: u8,
    /// Answers by URL and time, as visits have them.
    handed: BTreeMap<(CrawlUrl, Timestamp), Handed>,
    pub(super) pages: BTreeMap<CrawlUrl, Page>,
    /// The last durable visit of each partition, and what all come to.
    pub(super) last: Vec<u64>,
    pub(super) sums: Vec<Sums>,
    /// URLs that must not be lost: seeds, and where durable visits lead.
    pub(super) owed: BTreeSet<CrawlUrl>,
    /// Since when each of them is owed, by true time.
    pub(super) owed_since: BTreeMap<CrawlUrl, Timestamp>,
    /// Records that durable visits name.
    captures: BTreeSet<(String, u64)>,
}

impl Ledger {
    pub(super) fn new(partitions: u16, tries: u8) -> Self {
        Self {
            tries,
            handed: BTreeMap::new(),
            pages: BTreeMap::new(),
            last: vec![0; partitions.into()],
            sums: vec![Sums::default(); partitions.into()],
            owed: BTreeSet::new(),
            owed_since: BTreeMap::new(),
            captures: BTreeSet::new(),
        }
    }

    /// A URL must not be lost.
    pub(super) fn owe(&mut self, url: CrawlUrl, now: Timestamp) {
        if self.owed.insert(url.clone()) {
            self.owed_since.insert(url, now);
        }
    }

    /// An answer is handed to an engine.
    pub(super) fn hands(&mut self, url: &CrawlUrl, started: Timestamp, handed: Handed) {
        self.handed.insert((url.clone(), started), handed);
    }

    /// Whether this is the last visit of a page for now.
    pub(super) fn fate(&self, visit: &Visit) -> Fate {
        Fate::of(visit, self.tries)
    }

    /// A visit is durable.
    pub(super) fn durable(
        &mut self,
        partition: u16,
        visit: &Visit,
        archive: &Archive,
        now: Timestamp,
    ) -> Result<(), String> {
        let at = usize::from(partition);
        let url = &visit.url;
        if visit.number != self.last[at] + 1 {
            return Err(format!(
                "visits are numbered without gaps: {url} is {}, after {}",
                visit.number, self.last[at]
            ));
        }
        self.last[at] = visit.number;
        let fate = self.fate(visit);
        let was_given_up = visit.phases.total.is_zero();
        let handed = self.handed.get(&(url.clone(), visit.time));
        let handed = handed.filter(|_| !was_given_up).cloned();
        if handed.is_none() && !was_given_up {
            return Err(format!("a visit is one that was made: {url}"));
        }
        self.check_capture(visit, handed.as_ref(), archive)?;
        let sums = &mut self.sums[at];
        sums.visits += 1;
        sums.captured += u64::from(visit.capture.is_some());
        if visit.is_robots {
            return Ok(());
        }
        let page = self.pages.entry(url.clone()).or_default();
        let holds = handed.as_ref().and_then(|handed| handed.holds);
        let truth = match (page.copy, holds) {
            (Some(before), Some(now)) => Some(before != now),
            _ => None,
        };
        let told = visit.changed.map(|change| change.changed);
        if truth != told {
            return Err(format!(
                "a change is seen if there is one and only then: {url} is {truth:?}, not {told:?}"
            ));
        }
        sums.retried += u64::from(fate == Fate::Retry);
        sums.visits_saved += u64::from(fate == Fate::Saved);
        if let Some(holds) = holds {
            sums.saved += u64::from(page.copy.is_none());
            page.copy = Some(holds);
        }
        page.last = Some((fate, visit.time));
        if fate != Fate::Retry {
            for link in handed.into_iter().flat_map(|handed| handed.leads) {
                self.owe(link, now);
            }
        }
        Ok(())
    }

    fn check_capture(
        &mut self,
        visit: &Visit,
        handed: Option<&Handed>,
        archive: &Archive,
    ) -> Result<(), String> {
        let url = &visit.url;
        let is_complete = handed.is_some_and(|handed| handed.is_complete);
        if is_complete != visit.capture.is_some() {
            return Err(format!("a complete answer is archived: {url} is not"));
        }
        let Some(capture) = &visit.capture else {
            return Ok(());
        };
        let record = archive.durable(capture);
        if record.is_none_or(|record| record.url != *url || record.time != visit.time) {
            return Err(format!(
                "the archive has the record of every durable visit: {url} has {record:?}"
            ));
        }
        if !self.captures.insert((capture.file.clone(), capture.offset)) {
            return Err(format!("a record belongs to one visit: {url}"));
        }
        Ok(())
    }

    /// How many records durable visits name.
    pub(super) fn records(&self) -> usize {
        self.captures.len()
    }

    /// Whether a record of this file is named by a durable visit.
    pub(super) fn names(&self, file: &str, offset: u64) -> bool {
        self.captures.contains(&(file.to_owned(), offset))
    }

    /// Whether a page needs no visit.
    pub(super) fn is_finished(&self, url: &CrawlUrl) -> bool {
        self.pages.get(url).is_some_and(Page::is_finished)
    }
}
