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
//! or killed is taken up where it was, with or without being told `again`.

use geomi_frontier::Entry;
use geomi_model::{LinkKind, Timestamp, UrlRecord, Visit};
use geomi_store::CrawlDir;
use geomi_store::segment::{self, Segment};
use geomi_store::visits::{self, VisitReader};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::control::Desired;
use crate::journey::Journey;
use crate::{Counters, CrawlError, Ending, Fate};

/// Rows read between two commits.
const ROWS_MAX: usize = 1_024;

/// What queueing needs of a row.
const COLUMNS: &[&str] = &[
    "number",
    "time",
    "url",
    "seed",
    "via",
    "depth",
    "priority",
    "attempt",
    "is_robots",
    "state",
    "code",
    "location",
    "total_us",
];

/// Where a round stands; kept in the state of the first partition.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Round {
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
pub(crate) struct Counted {
    pub(crate) saved: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) failed: u64,
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
    pub(crate) const fn before(&self) -> Counted {
        self.before
    }

    /// When it began; the epoch in a first crawl.
    pub(crate) const fn started(&self) -> Timestamp {
        self.started
    }
}

/// Reads what is known: the rows of visits/ first, then what was refused, which
/// no row tells of.
pub(crate) struct Rereading {
    dir: CrawlDir,
    /// Segments not opened yet, the next one last.
    segments: Vec<Segment>,
    table: Option<VisitReader>,
    /// The last row handed out.
    at: u64,
    until: u64,
    rows_over: bool,
    /// Partition and URL of the last refusal handed out.
    refusal: (usize, Option<CrawlUrl>),
}

impl Rereading {
    fn open(dir: &CrawlDir, after: u64, until: u64) -> Result<Self, CrawlError> {
        let mut segments = segment::list_of(dir, None)?;
        segments.retain(|segment| segment.last > after && segment.first <= until);
        segments.reverse();
        Ok(Self {
            dir: dir.clone(),
            segments,
            table: None,
            at: after,
            until,
            rows_over: false,
            refusal: (0, None),
        })
    }

    fn next(&mut self) -> Result<Option<Visit>, CrawlError> {
        loop {
            if let Some(table) = &mut self.table {
                match table.next().transpose()? {
                    Some(visit) if visit.number > self.until => return Ok(None),
                    Some(visit) if visit.number <= self.at => continue,
                    Some(visit) => {
                        self.at = visit.number;
                        return Ok(Some(visit));
                    }
                    None => self.table = None,
                }
            }
            let Some(segment) = self.segments.pop() else {
                return Ok(None);
            };
            let table = visits::read_visit_columns(&segment.table(&self.dir), COLUMNS)?;
            self.table = Some(table);
        }
    }
}

impl Journey<'_> {
    /// Begins a round where one is wanted, or takes up the one that is open.
    pub(crate) fn take_up_round(&mut self) -> Result<(), CrawlError> {
        let visits = self.archive.mark().visits;
        if self.config.again && !self.round.is_open && visits > 0 {
            // Rows that a crash left in the state are read from a file, too.
            self.write_segment()?;
            let counters = self.counters();
            self.round = Round {
                number: self.round.number + 1,
                started: self.clock.now(),
                until: visits,
                read: 0,
                is_queued: false,
                is_open: true,
                before: Counted::of(&counters),
            };
            tracing::info!(
                round = self.round.number,
                visits,
                "visiting all known pages again"
            );
            self.save_round();
        }
        if self.round.is_open && !self.round.is_queued {
            let Round { read, until, .. } = self.round;
            self.rereading = Some(Rereading::open(self.reporter.dir(), read, until)?);
        }
        Ok(())
    }

    /// Whether there are rows to read now.
    pub(crate) fn is_rereading(&self) -> bool {
        self.rereading.is_some() && self.control.desired() == Desired::Run
    }

    /// Reads on in what is known and queues what is due.
    pub(crate) fn queue_again(&mut self) -> Result<(), CrawlError> {
        if !self.is_rereading() {
            return Ok(());
        }
        let Some(mut known) = self.rereading.take() else {
            return Ok(());
        };
        // What was read before is committed, in every partition.
        self.round.read = known.at;
        let over = if known.rows_over {
            self.queue_refused(&mut known)?
        } else {
            self.queue_rows(&mut known)?;
            false
        };
        self.round.is_queued = over;
        self.save_round();
        self.rereading = (!over).then_some(known);
        Ok(())
    }

    fn queue_rows(&mut self, known: &mut Rereading) -> Result<(), CrawlError> {
        for _ in 0..ROWS_MAX {
            let Some(visit) = known.next()? else {
                known.rows_over = true;
                return Ok(());
            };
            self.queue_row(visit)?;
        }
        Ok(())
    }

    /// Queues some of what was refused; says whether that was all. It is taken
    /// from its place in the commit that queues it, and what is refused again
    /// lies behind us.
    fn queue_refused(&mut self, known: &mut Rereading) -> Result<bool, CrawlError> {
        let (partition, after) = &mut known.refusal;
        let Some(from) = self.partitions.get_mut(*partition) else {
            return Ok(true);
        };
        let entries = from.refused(after.as_ref(), ROWS_MAX)?;
        *after = entries.last().map(|entry| entry.url.clone());
        if entries.is_empty() {
            *partition += 1;
        }
        let partition = *partition;
        for entry in entries {
            self.partitions[partition].forget_refused(&entry.url);
            if let Some(record) = self.partitions[partition].record(&entry.url)? {
                self.put_back(partition, entry, record)?;
            }
        }
        Ok(false)
    }

    fn queue_row(&mut self, visit: Visit) -> Result<(), CrawlError> {
        // A page that is tried again waits in its queue.
        if visit.is_robots || Fate::of(&visit, self.config.tries) == Fate::Retry {
            return Ok(());
        }
        let partition = self.partition_of(visit.url.site_hash());
        let Some(record) = self.partitions[partition].record(&visit.url)? else {
            return Ok(());
        };
        let Some(seed) = visit.seed.and_then(|seed| self.seeds.number_of(&seed)) else {
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
        self.put_back(partition, entry, record)
    }

    /// Queues a URL again.
    pub(crate) fn put_back(
        &mut self,
        partition: usize,
        entry: Entry,
        record: UrlRecord,
    ) -> Result<(), CrawlError> {
        let waiting = UrlRecord {
            attempts: 0,
            ..record
        };
        self.partitions[partition].set_record(&entry.url, &waiting);
        self.partitions[partition].counters.admitted += 1;
        let entry = Entry {
            attempts: 0,
            is_revisit: true,
            ..entry
        };
        let now = self.clock.now();
        self.enqueue(partition, entry, now)
    }

    /// Closes the round, if the crawl has come to its end.
    pub(crate) fn end_round(&mut self, ending: Ending) {
        if self.round.is_open && ending.is_natural() {
            self.round.is_open = false;
            self.save_round();
        }
    }

    fn save_round(&mut self) {
        self.partitions[0].set_meta("round", &self.round);
    }
}
