//! Segments: runs of visits turned into files.
//!
//! A segment is the visits numbered FIRST to LAST. Its index part
//! `index/parts/FIRST-LAST.cdxj` is written before its table
//! `visits/visits-FIRST-LAST.parquet`, so a segment exists if and only if its
//! table does: after a crash the listing tells which visits are in files, and a
//! part without a table is left over and removed.
//!
//! Parts are merged into `index/index.cdxj` when the caller asks, at a stop for
//! instance, and are gone then. A crash between the two leaves lines in both,
//! which the next merge writes once.

use std::fs;
use std::path::PathBuf;

use geomi_model::Visit;

use crate::dir::{file_names, sync_dir};
use crate::{CrawlDir, StoreError, cdxj, visits};

/// Index parts open at once while merging.
const MERGE_PARTS_MAX: usize = 128;

/// The numbers of a segment's visits, both included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Segment {
    /// Number of its first visit.
    pub first: u64,
    /// Number of its last visit.
    pub last: u64,
}

impl Segment {
    /// Its table of visits.
    pub fn table(self, dir: &CrawlDir) -> PathBuf {
        let Self { first, last } = self;
        dir.visits()
            .join(format!("visits-{first:010}-{last:010}.parquet"))
    }

    /// Its part of the index, until that is merged.
    pub fn index_part(self, dir: &CrawlDir) -> PathBuf {
        let Self { first, last } = self;
        dir.index_parts()
            .join(format!("{first:010}-{last:010}.cdxj"))
    }

    fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(Self { first, last })
    }
}

/// Writes a segment. The rows are numbered one after the other.
pub fn write(dir: &CrawlDir, rows: &[Visit]) -> Result<Segment, StoreError> {
    let [first, .., last] = rows else {
        return match rows {
            [only] => write_rows(dir, rows, only.number, only.number),
            _ => unreachable!("a segment has at least one visit"),
        };
    };
    write_rows(dir, rows, first.number, last.number)
}

fn write_rows(
    dir: &CrawlDir,
    rows: &[Visit],
    first: u64,
    last: u64,
) -> Result<Segment, StoreError> {
    assert!(
        rows.iter()
            .zip(first..=last)
            .all(|(row, number)| row.number == number)
            && rows.len() as u64 == last - first + 1,
        "visits of a segment are numbered without gaps"
    );
    let segment = Segment { first, last };
    cdxj::write_part(&segment.index_part(dir), rows)?;
    visits::write_visits(&segment.table(dir), rows)?;
    Ok(segment)
}

/// The segments that exist, by their numbers.
pub fn list(dir: &CrawlDir) -> Result<Vec<Segment>, StoreError> {
    let mut segments: Vec<Segment> = file_names(&dir.visits())?
        .iter()
        .filter_map(|name| {
            let numbers = name.strip_prefix("visits-")?.strip_suffix(".parquet")?;
            Segment::parse(numbers)
        })
        .collect();
    segments.sort_unstable();
    Ok(segments)
}

/// The index parts that wait to be merged, with and without a segment.
pub(crate) fn parts(dir: &CrawlDir) -> Result<Vec<Segment>, StoreError> {
    let names = file_names(&dir.index_parts())?;
    Ok(names
        .iter()
        .filter_map(|name| Segment::parse(name.strip_suffix(".cdxj")?))
        .collect())
}

/// Removes index parts that belong to no segment, left by a crash. For the
/// directory's owner, before it writes.
pub fn remove_leftovers(dir: &CrawlDir) -> Result<(), StoreError> {
    let segments = list(dir)?;
    for part in parts(dir)? {
        if segments.binary_search(&part).is_err() {
            let path = part.index_part(dir);
            fs::remove_file(&path).map_err(StoreError::io("delete", &path))?;
        }
    }
    Ok(())
}

/// Merges the parts of all segments into the index; returns the number of
/// lines added or already there, which is the index's length.
pub fn merge_index(dir: &CrawlDir) -> Result<u64, StoreError> {
    remove_leftovers(dir)?;
    let index = dir.cdxj();
    let parts: Vec<PathBuf> = parts(dir)?
        .into_iter()
        .map(|part| part.index_part(dir))
        .collect();
    // An index is written even if nothing was captured: its absence would be
    // a question, an empty file is the answer.
    let rounds = parts.chunks(MERGE_PARTS_MAX).map(<[PathBuf]>::to_vec);
    let rounds: Vec<Vec<PathBuf>> = match rounds.collect::<Vec<_>>() {
        rounds if rounds.is_empty() => vec![Vec::new()],
        rounds => rounds,
    };
    let mut lines = 0;
    for round in rounds {
        let mut inputs = round.clone();
        if index.exists() {
            inputs.push(index.clone());
        }
        lines = cdxj::merge(&inputs, &index)?;
        for part in round {
            fs::remove_file(&part).map_err(StoreError::io("delete", &part))?;
        }
    }
    sync_dir(&dir.index_parts())?;
    Ok(lines)
}
