//! Segments: runs of visits turned into files.
//!
//! A segment is the visits numbered FIRST to LAST. Its index part
//! `index/parts/FIRST-LAST.cdxj` is written before its table
//! `visits/visits-FIRST-LAST.parquet`, so a segment exists if and only if its
//! table does: after a crash the listing tells which visits are in files, and a
//! part without a table is left over and removed.
//!
//! Parts are merged into `index/index.cdxj` when the caller asks, at a stop and now
//! and then while a crawl runs, and are gone then. A crash between the two leaves
//! lines in both, which the next merge writes once.
//!
//! Visits in no segment yet have their lines in `index/recent.cdxj`, which is replaced
//! as a whole while a crawl runs, merged into the index like a part, and gone when the
//! crawl is closed. So the index may have lines whose segment is still to come; the
//! part of that segment has them once more, and each reader takes a line once.

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

/// Writes a segment. There is at least one row, and the rows are numbered one
/// after the other.
pub fn write(dir: &CrawlDir, rows: &[Visit]) -> Result<Segment, StoreError> {
    let first = rows.first().expect("a segment has a visit").number;
    let last = first + rows.len() as u64 - 1;
    assert!(
        rows.iter().map(|row| row.number).eq(first..=last),
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

/// All visits in files, in the order of their numbers, a group of rows in memory
/// at a time. Segments that appear later are not seen.
pub fn rows(
    dir: &CrawlDir,
) -> Result<impl Iterator<Item = Result<Visit, StoreError>> + use<>, StoreError> {
    let tables: Vec<PathBuf> = list(dir)?.iter().map(|one| one.table(dir)).collect();
    let tables = tables.into_iter().map(|path| visits::read_visits(&path));
    Ok(tables.flat_map(|opened| match opened {
        Ok(reader) => Rows::Table(reader),
        Err(error) => Rows::Failed(Some(error)),
    }))
}

/// The rows of one table, or why it could not be opened.
enum Rows {
    Table(visits::VisitReader),
    Failed(Option<StoreError>),
}

impl Iterator for Rows {
    type Item = Result<Visit, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Table(reader) => reader.next(),
            Self::Failed(error) => error.take().map(Err),
        }
    }
}

/// The index parts that wait to be merged, with and without a segment.
pub(crate) fn parts(dir: &CrawlDir) -> Result<Vec<Segment>, StoreError> {
    let names = file_names(&dir.index_parts())?;
    Ok(names
        .iter()
        .filter_map(|name| Segment::parse(name.strip_suffix(".cdxj")?))
        .collect())
}

/// Removes what a crash left behind: index parts that belong to no segment, lines of
/// visits in none, and files that were not complete. For the directory's owner, before it writes.
pub fn remove_leftovers(dir: &CrawlDir) -> Result<(), StoreError> {
    let delete = |path: PathBuf| fs::remove_file(&path).map_err(StoreError::io("delete", &path));
    let segments = list(dir)?;
    for part in parts(dir)? {
        if segments.binary_search(&part).is_err() {
            delete(part.index_part(dir))?;
        }
    }
    if dir.index_recent().exists() {
        delete(dir.index_recent())?;
    }
    for folder in [dir.visits(), dir.index(), dir.index_parts()] {
        for name in file_names(&folder)? {
            let path = folder.join(name);
            if path.extension().is_some_and(|extension| extension == "tmp") {
                delete(path)?;
            }
        }
    }
    Ok(())
}

/// Merges the parts of all segments into the index.
///
/// An index is written even if nothing was captured: its absence would be a
/// question, an empty file is the answer.
pub fn merge_index(dir: &CrawlDir) -> Result<(), StoreError> {
    remove_leftovers(dir)?;
    merge_parts(dir, parts(dir)?, None)
}

/// The index parts of segments that are not merged yet.
pub fn unmerged(dir: &CrawlDir) -> Result<Vec<Segment>, StoreError> {
    let segments = list(dir)?;
    let mut parts = parts(dir)?;
    parts.retain(|part| segments.binary_search(part).is_ok());
    Ok(parts)
}

/// Writes the index lines of visits that are in no segment yet.
pub fn write_recent(dir: &CrawlDir, rows: &[Visit]) -> Result<(), StoreError> {
    cdxj::write_part(&dir.index_recent(), rows)
}

/// Merges these parts and the lines of visits in no segment into the index. For one
/// thread at a time; others may write segments meanwhile.
pub fn publish_index(dir: &CrawlDir, parts: Vec<Segment>) -> Result<(), StoreError> {
    let recent = Some(dir.index_recent()).filter(|path| path.exists());
    merge_parts(dir, parts, recent)
}

/// Makes the index anew from the segments, where it may have lines of visits that are
/// nowhere else any more.
pub fn rebuild_index(dir: &CrawlDir) -> Result<(), StoreError> {
    for segment in list(dir)? {
        let rows = visits::read_visits(&segment.table(dir))?.collect::<Result<Vec<_>, _>>()?;
        cdxj::write_part(&segment.index_part(dir), &rows)?;
    }
    let index = dir.cdxj();
    if index.exists() {
        fs::remove_file(&index).map_err(StoreError::io("delete", &index))?;
    }
    merge_index(dir)
}

/// Merges parts, which are deleted then, and perhaps another file into the index.
fn merge_parts(
    dir: &CrawlDir,
    mut waiting: Vec<Segment>,
    mut other: Option<PathBuf>,
) -> Result<(), StoreError> {
    let index = dir.cdxj();
    while !waiting.is_empty() || other.is_some() || !index.exists() {
        let later = waiting.split_off(waiting.len().min(MERGE_PARTS_MAX));
        let round: Vec<PathBuf> = waiting.iter().map(|part| part.index_part(dir)).collect();
        let mut inputs = round.clone();
        inputs.extend(other.take());
        if index.exists() {
            inputs.push(index.clone());
        }
        cdxj::merge(&inputs, &index)?;
        for part in round {
            fs::remove_file(&part).map_err(StoreError::io("delete", &part))?;
        }
        waiting = later;
    }
    sync_dir(&dir.index_parts())
}

#[cfg(test)]
mod tests {
    use geomi_model::NetworkState;
    use geomi_url::CrawlUrl;

    use super::*;

    fn folder() -> (tempfile::TempDir, CrawlDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        (folder, dir)
    }

    #[test]
    fn parts_without_a_table_are_left_over() {
        let (_folder, dir) = folder();
        let orphan = Segment { first: 8, last: 9 };
        fs::write(orphan.index_part(&dir), "com,example)/ 2026 {}\n").unwrap();
        fs::write(dir.visits().join("visits-1-2.parquet.tmp"), "half").unwrap();
        merge_index(&dir).unwrap();
        assert_eq!(fs::read(dir.cdxj()).unwrap(), b"");
        assert_eq!(parts(&dir).unwrap(), []);
        assert_eq!(file_names(&dir.visits()).unwrap(), [""; 0]);
    }

    #[test]
    fn a_merge_that_was_cut_short_repeats_no_line() {
        let (_folder, dir) = folder();
        let segment = Segment { first: 1, last: 1 };
        fs::write(segment.table(&dir), "only its name matters here").unwrap();
        fs::write(segment.index_part(&dir), "a 1 {}\nc 1 {}\n").unwrap();
        fs::write(dir.cdxj(), "a 1 {}\nb 1 {}\n").unwrap();
        merge_index(&dir).unwrap();
        let merged = fs::read_to_string(dir.cdxj()).unwrap();
        assert_eq!(merged, "a 1 {}\nb 1 {}\nc 1 {}\n");
        assert_eq!(list(&dir).unwrap(), [segment]);
    }

    #[test]
    fn more_parts_than_can_be_open_are_merged_in_rounds() {
        let (_folder, dir) = folder();
        let count = MERGE_PARTS_MAX as u64 * 2 + 3;
        for first in (1..=count).rev() {
            let segment = Segment { first, last: first };
            fs::write(segment.table(&dir), "").unwrap();
            fs::write(segment.index_part(&dir), format!("{first:05} 1 {{}}\n")).unwrap();
        }
        merge_index(&dir).unwrap();
        let merged = fs::read_to_string(dir.cdxj()).unwrap();
        assert_eq!(merged.lines().count() as u64, count);
        assert!(merged.lines().is_sorted());
    }

    #[test]
    #[should_panic(expected = "numbered without gaps")]
    fn a_gap_is_our_own_mistake() {
        let (_folder, dir) = folder();
        let rows = [1, 3].map(|number| Visit {
            number,
            priority: 1,
            attempt: 1,
            state: NetworkState::NoIp,
            ..Visit::unknown(CrawlUrl::parse("http://example.com/").unwrap())
        });
        drop(write(&dir, &rows));
    }
}
