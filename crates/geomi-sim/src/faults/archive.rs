//! The archive of a history, and the outside world of its engines.
//!
//! Each process of a worker writes one file. Records become durable when the file is
//! synced; what a crash leaves of the rest is cut back to where the last durable commit
//! says that the file ended.

use std::collections::BTreeMap;

use geomi_cluster::PartitionId;
use geomi_engine::{EngineError, Stored, VisitRows, World};
use geomi_model::{Capture, CaptureKind, Timestamp, Visit};
use geomi_url::CrawlUrl;

/// A record of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Record {
    pub(super) url: CrawlUrl,
    /// By the clock of the worker.
    pub(super) time: Timestamp,
}

/// A file.
#[derive(Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) records: Vec<Record>,
    /// How many of them are durable.
    pub(super) synced: usize,
}

/// All files, and the rows of visits that left the state.
#[derive(Debug, Default)]
pub(super) struct Archive {
    pub(super) files: Vec<File>,
    /// Rows in files, by partition, in order.
    pub(super) rows: Vec<Vec<Visit>>,
}

impl Archive {
    pub(super) fn new(partitions: u16) -> Self {
        Self {
            files: Vec::new(),
            rows: vec![Vec::new(); partitions.into()],
        }
    }

    /// Begins a file; its number.
    pub(super) fn begin(&mut self, worker: usize) -> usize {
        let number = self.files.len();
        self.files.push(File {
            name: format!("w{worker}-{number}.warc"),
            records: Vec::new(),
            synced: 0,
        });
        number
    }

    /// The record that a capture names, if it is durable.
    pub(super) fn durable(&self, capture: &Capture) -> Option<&Record> {
        let file = self.files.iter().find(|file| file.name == capture.file)?;
        let at = usize::try_from(capture.offset).ok()?;
        file.records.get(at).filter(|_| at < file.synced)
    }

    /// Writes rows into a file: the first rows of a partition, if they are not there yet.
    pub(super) fn write_rows(&mut self, partition: u16, rows: Vec<Visit>) {
        let kept = &mut self.rows[usize::from(partition)];
        let last = kept.last().map_or(0, |visit| visit.number);
        kept.extend(rows.into_iter().filter(|visit| visit.number > last));
    }
}

/// Where the archive ended after the records of each partition, in records.
pub(super) type RecordEnds = BTreeMap<u16, usize>;

/// The world of one engine during one call.
pub(super) struct SimWorld<'a> {
    pub(super) archive: &'a mut Archive,
    /// The file of the worker.
    pub(super) file: usize,
    pub(super) partition: u16,
    pub(super) ends: &'a mut RecordEnds,
    /// The answer at hand.
    pub(super) record: Option<Record>,
}

impl World for SimWorld<'_> {
    fn keep(&mut self, original: Option<&Stored>) -> Result<Capture, EngineError> {
        let record = self.record.take();
        let record = record.expect("one answer is kept once, and only a complete one");
        let file = &mut self.archive.files[self.file];
        let offset = file.records.len();
        file.records.push(record);
        self.ends.insert(self.partition, offset + 1);
        let kind = match original {
            Some(_) => CaptureKind::Revisit,
            None => CaptureKind::Response,
        };
        Ok(Capture {
            file: file.name.clone(),
            offset: offset as u64,
            length: 1,
            kind,
        })
    }

    fn is_quarantined(&self, _: &CrawlUrl) -> bool {
        false
    }

    fn visits(
        &self,
        partition: PartitionId,
        after: u64,
        until: u64,
    ) -> Result<VisitRows, EngineError> {
        let rows = self.archive.rows[usize::from(partition.0)].iter();
        let wanted = rows.filter(|visit| visit.number > after && visit.number <= until);
        let wanted: Vec<Visit> = wanted.cloned().collect();
        Ok(Box::new(wanted.into_iter().map(Ok)))
    }
}
