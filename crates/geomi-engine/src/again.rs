//! Again: every page known is queued for another visit.
//!
//! A *round* is a crawl of a directory that has been crawled: it visits anew
//! what was visited before, and goes on from there as every crawl does. What is
//! known is read from visits/, a few rows between two rounds of the loop, so
//! that it costs no memory and the first requests leave while the last pages
//! are still being queued.
//!
//! A row is queued if it is the last visit of its page and the page does not
//! wait already: its record says both. Queueing sets the record's attempts back
//! in the commit that writes the queue, and visiting moves its time on, so that
//! reading a row twice, as after a crash, queues nothing twice. The round's
//! place in visits/ is a convenience and lags one commit behind.
//!
//! A round stays open until the crawl comes to its end; a run that was stopped
//! or killed continues where it was, with or without `--again`.

use geomi_frontier::Entry;
use geomi_model::{LinkKind, Timestamp, UrlRecord, Visit};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::engine::{Around, Engine, VisitRows};
use geomi_model::Fate;

use crate::{Counters, EngineError};

/// Rows read between two commits.
const ROWS_MAX: usize = 1_024;

/// Where a round of one partition stands; kept in its state.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// How many there were, the first crawl not counted.
    number: u32,
    /// When it began.
    started: Timestamp,
    /// The last visit made before it.
    until: u64,
    /// The last visit that was read and, if due, queued.
    read: u64,
    /// Whether everything known is queued.
    is_queued: bool,
    /// Whether there is something left to do in it.
    is_open: bool,
    /// What was counted before it: the crawl's limits hold for each round.
    before: Counted,
}

/// What limits are about: visits, not pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counted {
    /// Visits that saved a page or found it unchanged.
    pub saved: u64,
    /// Bytes received.
    pub wire_bytes: u64,
    /// Visits that failed.
    pub failed: u64,
}

impl Counted {
    pub(crate) const fn of(counters: &Counters) -> Self {
        Self {
            saved: counters.visits_saved,
            wire_bytes: counters.wire_bytes,
            failed: counters.visits_failed,
        }
    }
}

impl Round {
    /// Limits hold from here on, unless a round is open that they hold for.
    pub(crate) const fn count_from(&mut self, counted: Counted) {
        if !self.is_open {
            self.before = counted;
        }
    }

    /// What was counted before it.
    pub const fn before(&self) -> Counted {
        self.before
    }

    /// The round that partitions are to be in, where another one is asked for or not. A
    /// crash may have come while some had begun the last one, or had ended it: it is
    /// then gone through, and no other is begun.
    pub fn wanted<'a>(
        rounds: impl Iterator<Item = &'a Self> + Clone,
        again: bool,
        is_clean: bool,
    ) -> u32 {
        let last = rounds.clone().map(|round| round.number).max().unwrap_or(0);
        let is_over = rounds
            .clone()
            .all(|round| round.number == last && !round.is_open);
        last + u32::from(again && is_over && (is_clean || last == 0))
    }

    /// When it began; the epoch in a first crawl.
    pub(crate) const fn started(&self) -> Timestamp {
        self.started
    }
}

/// Reads what is known: the rows of visits first, then what was refused, which no row
/// shows.
pub(crate) struct Rereading {
    rows: VisitRows,
    /// The last row handed out.
    at: u64,
    rows_over: bool,
    /// The last refused URL handed out.
    refused: Option<CrawlUrl>,
}

impl Rereading {
    fn next(&mut self) -> Result<Option<Visit>, EngineError> {
        let visit = self.rows.next().transpose()?;
        if let Some(visit) = &visit {
            self.at = visit.number;
        }
        Ok(visit)
    }
}

impl Engine {
    /// Begins round `wanted` unless it was begun before, or takes up the one that is
    /// open. All visits are in files: the worker has seen to that.
    pub fn take_up_round(
        &mut self,
        wanted: u32,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        if self.rounds.round.number < wanted {
            let visits = self.outgoing.last_visit;
            self.rounds.round = Round {
                number: wanted,
                started: around.now,
                until: visits,
                read: 0,
                is_queued: visits == 0,
                is_open: visits > 0,
                before: Counted::of(&self.store.counters),
            };
            tracing::info!(
                partition = self.id.0,
                round = wanted,
                visits,
                "visiting all known pages again"
            );
            self.save_round();
        }
        if self.rounds.round.is_open && !self.rounds.round.is_queued {
            let Round { read, until, .. } = self.rounds.round;
            self.rounds.rereading = Some(Rereading {
                rows: around.world.visits(self.id, read, until)?,
                at: read,
                rows_over: false,
                refused: None,
            });
        }
        Ok(())
    }

    /// Whether there are rows to read now.
    pub(crate) fn is_rereading(&self) -> bool {
        self.rounds.rereading.is_some() && self.is_running
    }

    /// Reads on in what is known and queues what is due.
    pub(crate) fn queue_again(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        if !self.is_rereading() {
            return Ok(());
        }
        let Some(mut known) = self.rounds.rereading.take() else {
            return Ok(());
        };
        // What was read before is committed.
        self.rounds.round.read = known.at;
        let over = if known.rows_over {
            self.queue_refused(around, &mut known)?
        } else {
            self.queue_rows(around, &mut known)?;
            false
        };
        self.rounds.round.is_queued = over;
        self.save_round();
        self.rounds.rereading = (!over).then_some(known);
        Ok(())
    }

    fn queue_rows(
        &mut self,
        around: &mut Around<'_>,
        known: &mut Rereading,
    ) -> Result<(), EngineError> {
        for _ in 0..ROWS_MAX {
            let Some(visit) = known.next()? else {
                known.rows_over = true;
                return Ok(());
            };
            self.queue_row(around, visit)?;
        }
        Ok(())
    }

    /// Queues some of what was refused; says whether that was all. It is taken
    /// from its place in the commit that queues it, and what is refused again
    /// lies behind us.
    fn queue_refused(
        &mut self,
        around: &mut Around<'_>,
        known: &mut Rereading,
    ) -> Result<bool, EngineError> {
        let entries = self.store.refused(known.refused.as_ref(), ROWS_MAX)?;
        let Some(last) = entries.last() else {
            return Ok(true);
        };
        known.refused = Some(last.url.clone());
        for entry in entries {
            self.store.forget_refused(&entry.url);
            if let Some(record) = self.store.record(&entry.url)? {
                self.put_back(around, entry, record)?;
            }
        }
        Ok(false)
    }

    fn queue_row(&mut self, around: &mut Around<'_>, visit: Visit) -> Result<(), EngineError> {
        // A page that is tried again waits in its queue.
        if visit.is_robots || Fate::of(&visit, self.rules.config.tries) == Fate::Retry {
            return Ok(());
        }
        let Some(record) = self.store.record(&visit.url)? else {
            return Ok(());
        };
        let Some(seed) = visit.seed.and_then(|seed| self.seeds.book.number_of(&seed)) else {
            return Ok(());
        };
        if record.attempts == 0 || record.last_visit != visit.time {
            return Ok(());
        }
        let entry = Entry {
            url: visit.url,
            seed,
            via: visit.via,
            // Kinds serve to set priorities, and that was done.
            kind: LinkKind::Other,
            depth: visit.depth,
            priority: visit.priority.max(1),
            attempts: 0,
            redirects: 0,
            // A redirect keeps its page's depth: only seeds, and where they
            // lead, have none.
            is_seed: visit.depth == 0,
            is_revisit: true,
            not_before: None,
        };
        self.put_back(around, entry, record)
    }

    /// Queues a URL again.
    pub(crate) fn put_back(
        &mut self,
        around: &mut Around<'_>,
        entry: Entry,
        record: UrlRecord,
    ) -> Result<(), EngineError> {
        let waiting = UrlRecord {
            attempts: 0,
            ..record
        };
        self.store.set_record(&entry.url, &waiting);
        self.store.counters.admitted += 1;
        let entry = Entry {
            attempts: 0,
            is_revisit: true,
            ..entry
        };
        let now = around.now;
        self.enqueue(entry, now)
    }

    /// Closes the round, if the crawl has come to its end.
    pub fn end_round(&mut self) {
        if self.rounds.round.is_open {
            self.rounds.round.is_open = false;
            self.save_round();
        }
    }

    fn save_round(&mut self) {
        self.store.set_meta("round", &self.rounds.round);
    }
}
