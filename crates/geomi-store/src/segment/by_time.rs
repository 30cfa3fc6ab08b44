//! The visits of several partitions in one order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use geomi_model::{Timestamp, Visit};

use super::Segment;
use crate::visits::{VisitReader, read_visit_columns, read_visits};
use crate::{CrawlDir, StoreError};

/// The visits of these segments, merged over the partitions by time; all columns, or
/// those named and the time.
///
/// The visits of each partition come in the order of their numbers, so that with one
/// partition the order is that of [`rows`](super::rows). Of two visits at the same time
/// the one of the lower partition comes first. A file is open, and a group of rows in
/// memory, for each partition.
pub fn by_time(
    dir: &CrawlDir,
    segments: &[Segment],
    columns: Option<&'static [&'static str]>,
) -> ByTime {
    let mut merged = ByTime {
        lanes: Vec::new(),
        order: BinaryHeap::new(),
        error: None,
    };
    let of_one = segments.chunk_by(|one, next| one.partition == next.partition);
    for segments in of_one {
        let tables: Vec<PathBuf> = segments.iter().map(|one| one.table(dir)).collect();
        merged.lanes.push(Lane {
            partition: segments[0].partition,
            tables: tables.into_iter(),
            columns,
            table: None,
            next: None,
        });
    }
    for at in 0..merged.lanes.len() {
        merged.advance(at);
    }
    merged
}

/// Visits by time, each with its partition. It ends after an error.
pub struct ByTime {
    lanes: Vec<Lane>,
    /// Times of the next visits, with the lanes they are in.
    order: BinaryHeap<Reverse<(Timestamp, usize)>>,
    error: Option<StoreError>,
}

/// The visits of one partition.
struct Lane {
    partition: Option<u16>,
    tables: std::vec::IntoIter<PathBuf>,
    columns: Option<&'static [&'static str]>,
    table: Option<VisitReader>,
    next: Option<Visit>,
}

impl Lane {
    fn read(&mut self) -> Result<Option<Visit>, StoreError> {
        loop {
            if let Some(table) = &mut self.table {
                if let Some(visit) = table.next().transpose()? {
                    return Ok(Some(visit));
                }
                self.table = None;
            }
            let Some(path) = self.tables.next() else {
                return Ok(None);
            };
            self.table = Some(match self.columns {
                None => read_visits(&path)?,
                Some(columns) if columns.contains(&"time") => read_visit_columns(&path, columns)?,
                Some(columns) => read_visit_columns(&path, &[columns, &["time"]].concat())?,
            });
        }
    }
}

impl ByTime {
    /// Reads the next visit of a lane.
    fn advance(&mut self, at: usize) {
        match self.lanes[at].read() {
            Ok(Some(visit)) => {
                self.order.push(Reverse((visit.time, at)));
                self.lanes[at].next = Some(visit);
            }
            Ok(None) => {}
            // The first is reported.
            Err(error) => self.error = self.error.take().or(Some(error)),
        }
    }
}

impl Iterator for ByTime {
    type Item = Result<(Option<u16>, Visit), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.error.take() {
            self.order.clear();
            return Some(Err(error));
        }
        let Reverse((_, at)) = self.order.pop()?;
        let lane = &mut self.lanes[at];
        let visit = lane.next.take()?;
        let partition = lane.partition;
        self.advance(at);
        Some(Ok((partition, visit)))
    }
}
