//! What a worker gives its engines of the outside world.

use geomi_cluster::PartitionId;
use geomi_engine::{Around, EngineError, Stored, VisitRows, World, keeper};
use geomi_frontier::Work;
use geomi_model::Capture;
use geomi_store::{segment, visits};
use geomi_url::CrawlUrl;

use super::{Files, Worker};
use crate::CrawlError;
use crate::refresh::PLAN_COLUMNS;
use crate::stage::keep::keep;
use crate::stage::read::Read;

/// The world of one engine during one call.
pub(super) struct WorkerWorld<'a> {
    files: &'a mut Files,
    /// Which engine it is, and of how many.
    index: usize,
    of: usize,
    /// The records of the answer at hand.
    read: Option<&'a Records>,
}

/// An answer as far as the archive is concerned.
struct Records {
    url: CrawlUrl,
    started: geomi_model::Timestamp,
    serial: u64,
    ip: Option<std::net::IpAddr>,
    is_not_modified: bool,
    stored: crate::stage::read::Storable,
}

impl<'a> WorkerWorld<'a> {
    /// A world without an answer at hand.
    pub(super) fn new(files: &'a mut Files, index: usize, of: usize) -> Self {
        Self {
            files,
            index,
            of,
            read: None,
        }
    }
}

impl World for WorkerWorld<'_> {
    fn keep(&mut self, original: Option<&Stored>) -> Result<Capture, EngineError> {
        let read = self.read.expect("only a complete answer is kept");
        let archive = &mut self.files.archive;
        let capture = match original {
            None => archive.append(&read.stored.encoded, read.started)?,
            Some(original) => {
                let revisit = keep(read.visit(), &read.stored, original, archive.gzip());
                archive.append(&revisit, read.started)?
            }
        };
        self.files.ends[self.index] = archive.end();
        Ok(capture)
    }

    fn is_quarantined(&self, url: &CrawlUrl) -> bool {
        self.files.quarantine.holds(url)
    }

    fn visits(
        &self,
        partition: PartitionId,
        after: u64,
        until: u64,
    ) -> Result<VisitRows, EngineError> {
        let dir = self.files.dir.clone();
        let id = (self.of > 1).then_some(partition.0);
        let mut segments = segment::list_of(&dir, id).map_err(CrawlError::from)?;
        segments.retain(|segment| segment.last > after && segment.first <= until);
        let tables = segments
            .into_iter()
            .map(move |segment| visits::read_visit_columns(&segment.table(&dir), PLAN_COLUMNS));
        let rows = tables.flat_map(|table| match table {
            Ok(rows) => Rows::Table(rows),
            Err(error) => Rows::Failed(Some(error)),
        });
        let is_wanted = move |row: &Result<geomi_model::Visit, EngineError>| match row {
            Ok(visit) => visit.number > after && visit.number <= until,
            Err(_) => true,
        };
        Ok(Box::new(
            rows.map(|row| row.map_err(|error| CrawlError::from(error).into()))
                .filter(is_wanted),
        ))
    }
}

/// The rows of one table, or why it could not be opened.
enum Rows {
    Table(visits::VisitReader),
    Failed(Option<geomi_store::StoreError>),
}

impl Iterator for Rows {
    type Item = Result<geomi_model::Visit, geomi_store::StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Table(rows) => rows.next(),
            Self::Failed(error) => error.take().map(Err),
        }
    }
}

impl Worker<'_> {
    /// Gives an engine an answer that was read.
    pub(super) fn arrive_read(&mut self, index: usize, read: Read) -> Result<(), CrawlError> {
        let Read {
            mut arrival,
            stored,
            culprit,
        } = read;
        if let Some(culprit) = culprit {
            self.files.quarantine.take(&arrival.url, &culprit)?;
        }
        if let Some(digest) = self.engines[index].unknown_content(&arrival)? {
            let keeper = keeper(self.map, &digest);
            arrival.original = self.engines[usize::from(keeper.0)].stored(&digest)?;
        }
        let records = stored.map(|stored| Records {
            url: arrival.url.clone(),
            started: arrival.started,
            serial: arrival.lease.id().number(),
            ip: arrival.answer.ip,
            is_not_modified: arrival.answer.is_not_modified(),
            stored,
        });
        debug_assert!(!matches!(arrival.lease.work(), Work::Resolve { .. }));
        let mut world = WorkerWorld::new(&mut self.files, index, self.engines.len());
        world.read = records.as_ref();
        let mut around = Around {
            now: self.clock.now(),
            shared: &mut self.shared,
            world: &mut world,
        };
        Ok(self.engines[index].arrived(arrival, &mut around)?)
    }
}

impl Records {
    fn visit(&self) -> crate::stage::keep::KeptVisit<'_> {
        crate::stage::keep::KeptVisit {
            url: &self.url,
            time: self.started,
            serial: self.serial,
            ip: self.ip,
            is_not_modified: self.is_not_modified,
        }
    }
}
