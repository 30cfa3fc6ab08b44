//! Segments: runs of visits turned into files.
//!
//! A segment is the visits numbered FIRST to LAST. Its index part
//! `index/parts/FIRST-LAST.cdxj` is written before its table
//! `visits/visits-FIRST-LAST.parquet`, so a segment exists if and only if its
//! table does: after a crash the listing tells which visits are in files, and a
//! part without a table is left over and removed.
//!
//! A crawl of several partitions numbers the visits of each partition from 1. A visit
//! is then identified by its partition and its number, and the files of a segment are
//! `index/parts/pNNNN-FIRST-LAST.cdxj` and
//! `visits/partition=NNNN/visits-FIRST-LAST.parquet`. All visits of a page are in one
//! partition. [`rows`] goes through the partitions one after the other, which keeps the
//! order of the visits of each page; [`by_time`] merges them where the order over all
//! pages matters.
//!
//! Parts are merged into `index/index.cdxj` when the caller asks, at a stop and now
//! and then while a crawl runs, and are gone then. A crash between the two leaves
//! lines in both, which the next merge writes once.
//!
//! Visits in no segment yet have their lines in `index/recent.cdxj`, which is replaced
//! as a whole while a crawl runs, merged into the index like a part, and gone when the
//! crawl is closed. So the index may have lines whose segment is still to come; the
//! part of that segment has them once more, and each reader takes a line once.

mod by_time;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use geomi_model::Visit;

use crate::dir::{file_names, sync_dir};
use crate::{CrawlDir, StoreError, cdxj, visits};
pub use by_time::{ByTime, by_time};

/// Index parts open at once while merging.
const MERGE_PARTS_MAX: usize = 128;

/// The numbers of a segment's visits, both included. Segments are ordered by partition,
/// then by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Segment {
    /// Its partition; `None` in a directory of one partition.
    pub partition: Option<u16>,
    /// Number of its first visit.
    pub first: u64,
    /// Number of its last visit.
    pub last: u64,
}

impl Segment {
    /// Its table of visits.
    pub fn table(self, dir: &CrawlDir) -> PathBuf {
        let Self { first, last, .. } = self;
        dir.visits_of(self.partition)
            .join(format!("visits-{first:010}-{last:010}.parquet"))
    }

    /// Its part of the index, until that is merged.
    pub fn index_part(self, dir: &CrawlDir) -> PathBuf {
        let Self { first, last, .. } = self;
        let partition = self
            .partition
            .map_or_else(String::new, |partition| format!("p{partition:04}-"));
        dir.index_parts()
            .join(format!("{partition}{first:010}-{last:010}.cdxj"))
    }

    /// How many visits it has.
    pub fn visits(self) -> u64 {
        self.last - self.first + 1
    }

    /// A segment by the name of its table, without the folder.
    fn of_table(partition: Option<u16>, name: &str) -> Option<Self> {
        let numbers = name.strip_prefix("visits-")?.strip_suffix(".parquet")?;
        Self::parse(partition, numbers)
    }

    /// A segment by the name of its index part.
    fn of_index_part(name: &str) -> Option<Self> {
        let name = name.strip_suffix(".cdxj")?;
        match name.strip_prefix('p') {
            None => Self::parse(None, name),
            Some(name) => {
                let (partition, numbers) = name.split_once('-')?;
                Self::parse(Some(partition.parse().ok()?), numbers)
            }
        }
    }

    fn parse(partition: Option<u16>, numbers: &str) -> Option<Self> {
        let (first, last) = numbers.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some(Self {
            partition,
            first,
            last,
        })
    }
}

/// Writes a segment. There is at least one row, and the rows are numbered one
/// after the other.
pub fn write(
    dir: &CrawlDir,
    partition: Option<u16>,
    rows: &[Visit],
) -> Result<Segment, StoreError> {
    let first = rows.first().expect("a segment has a visit").number;
    let last = first + rows.len() as u64 - 1;
    assert!(
        rows.iter().map(|row| row.number).eq(first..=last),
        "visits of a segment are numbered without gaps"
    );
    let segment = Segment {
        partition,
        first,
        last,
    };
    let folder = dir.visits_of(partition);
    if partition.is_some() && !folder.is_dir() {
        fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        sync_dir(&dir.visits())?;
    }
    cdxj::write_part(&segment.index_part(dir), rows)?;
    visits::write_visits(&segment.table(dir), rows)?;
    Ok(segment)
}

/// The segments that exist, by partition and number.
pub fn list(dir: &CrawlDir) -> Result<Vec<Segment>, StoreError> {
    let mut segments = list_of(dir, None)?;
    for partition in partitions(dir)? {
        segments.extend(list_of(dir, Some(partition))?);
    }
    Ok(segments)
}

/// The segments of one partition that exist, by their numbers.
pub fn list_of(dir: &CrawlDir, partition: Option<u16>) -> Result<Vec<Segment>, StoreError> {
    let mut segments: Vec<Segment> = file_names(&dir.visits_of(partition))?
        .iter()
        .filter_map(|name| Segment::of_table(partition, name))
        .collect();
    segments.sort_unstable();
    Ok(segments)
}

/// The partitions that have a folder of tables, in order.
fn partitions(dir: &CrawlDir) -> Result<Vec<u16>, StoreError> {
    let mut partitions: Vec<u16> = file_names(&dir.visits())?
        .iter()
        .filter_map(|name| CrawlDir::partition_of_folder(name))
        .collect();
    partitions.sort_unstable();
    Ok(partitions)
}

/// The number of the last visit in files, for each partition that has any.
pub fn last_numbers(segments: &[Segment]) -> BTreeMap<Option<u16>, u64> {
    let mut last = BTreeMap::new();
    for segment in segments {
        let number = last.entry(segment.partition).or_insert(0);
        *number = segment.last.max(*number);
    }
    last
}

/// All visits in files, one partition after the other and in each in the order of their
/// numbers, a group of rows in memory at a time. A page is always in one partition, so
/// its visits come in their order. Segments that appear later are not seen.
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
        .filter_map(|name| Segment::of_index_part(name))
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
    let mut folders = vec![dir.visits(), dir.index(), dir.index_parts()];
    for partition in partitions(dir)? {
        folders.push(dir.visits_of(Some(partition)));
    }
    for folder in folders {
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
    use geomi_model::{NetworkState, Timestamp};
    use geomi_url::CrawlUrl;

    use super::*;

    fn folder() -> (tempfile::TempDir, CrawlDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        (folder, dir)
    }

    /// A segment of a directory of one partition.
    fn whole(first: u64, last: u64) -> Segment {
        Segment {
            partition: None,
            first,
            last,
        }
    }

    /// Visits of a site, a minute apart, the first `start` seconds after 1970.
    fn visits(site: &str, start: i64, numbers: std::ops::RangeInclusive<u64>) -> Vec<Visit> {
        let visit = |number: u64| Visit {
            number,
            time: Timestamp::from_secs(start + 60 * number as i64),
            priority: 1,
            attempt: 1,
            state: NetworkState::NoIp,
            ..Visit::unknown(CrawlUrl::parse(&format!("http://{site}/{number}")).unwrap())
        };
        numbers.map(visit).collect()
    }

    /// Two partitions, of three visits in two segments and of two in one.
    fn two_partitions(dir: &CrawlDir) -> Vec<Segment> {
        [
            (7, visits("b.test", 30, 1..=2)),
            (3, visits("a.test", 0, 1..=2)),
            (3, visits("a.test", 0, 3..=3)),
        ]
        .map(|(partition, rows)| write(dir, Some(partition), &rows).unwrap())
        .to_vec()
    }

    fn names(rows: impl Iterator<Item = Visit>) -> Vec<String> {
        rows.map(|row| row.url.as_str().replace("http://", ""))
            .collect()
    }

    #[test]
    fn partitions_number_their_visits_by_themselves() {
        let (_folder, dir) = folder();
        let [other, first, second] = two_partitions(&dir)[..] else {
            unreachable!("there are three segments");
        };
        assert_eq!(list(&dir).unwrap(), [first, second, other]);
        assert_eq!(list_of(&dir, Some(3)).unwrap(), [first, second]);
        assert_eq!(list_of(&dir, None).unwrap(), []);
        let relative = |path: PathBuf| path.strip_prefix(dir.root()).unwrap().to_owned();
        assert_eq!(
            relative(first.table(&dir)),
            PathBuf::from("visits/partition=0003/visits-0000000001-0000000002.parquet")
        );
        assert_eq!(
            relative(first.index_part(&dir)),
            PathBuf::from("index/parts/p0003-0000000001-0000000002.cdxj")
        );
        let last = last_numbers(&list(&dir).unwrap());
        assert_eq!(last, BTreeMap::from([(Some(3), 3), (Some(7), 2)]));
        assert_eq!(
            names(rows(&dir).unwrap().map(Result::unwrap)),
            ["a.test/1", "a.test/2", "a.test/3", "b.test/1", "b.test/2"]
        );
    }

    #[test]
    fn partitions_are_merged_by_time() {
        let (_folder, dir) = folder();
        two_partitions(&dir);
        let segments = list(&dir).unwrap();
        for columns in [None, Some(&["url"][..])] {
            let merged = by_time(&dir, &segments, columns).map(Result::unwrap);
            let (partitions, rows): (Vec<_>, Vec<_>) = merged.unzip();
            assert_eq!(partitions, [3, 7, 3, 7, 3].map(Some));
            assert_eq!(
                names(rows.into_iter()),
                ["a.test/1", "b.test/1", "a.test/2", "b.test/2", "a.test/3"]
            );
        }
    }

    #[test]
    fn the_parts_of_all_partitions_become_one_index() {
        let (_folder, dir) = folder();
        for segment in two_partitions(&dir) {
            let line = format!("line of {:?} 1 {{}}\n", segment.partition);
            fs::write(segment.index_part(&dir), line).unwrap();
        }
        let orphan = Segment {
            partition: Some(4),
            ..whole(1, 2)
        };
        fs::write(orphan.index_part(&dir), "orphan 1 {}\n").unwrap();
        let torn = dir.visits_of(Some(3)).join("visits-4-5.parquet.tmp");
        fs::write(&torn, "half").unwrap();
        assert_eq!(unmerged(&dir).unwrap(), list(&dir).unwrap());
        merge_index(&dir).unwrap();
        let merged = fs::read_to_string(dir.cdxj()).unwrap();
        assert_eq!(merged, "line of Some(3) 1 {}\nline of Some(7) 1 {}\n");
        assert_eq!(parts(&dir).unwrap(), []);
        assert!(!torn.exists());
        rebuild_index(&dir).unwrap();
        assert_eq!(fs::read(dir.cdxj()).unwrap(), b"", "nothing was captured");
    }

    #[test]
    fn visits_of_all_partitions_match_a_glob_over_folders() {
        let (_folder, dir) = folder();
        two_partitions(&dir);
        write(&dir, None, &visits("c.test", 0, 1..=1)).unwrap();
        let mut found = Vec::new();
        let mut folders = vec![dir.visits()];
        // As `visits/**/*.parquet`.
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "parquet") {
                    found.extend(
                        crate::visits::read_visits(&path)
                            .unwrap()
                            .map(Result::unwrap),
                    );
                }
            }
        }
        let mut found = names(found.into_iter());
        found.sort_unstable();
        let mut all = names(rows(&dir).unwrap().map(Result::unwrap));
        all.sort_unstable();
        assert_eq!(found, all);
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn parts_without_a_table_are_left_over() {
        let (_folder, dir) = folder();
        let orphan = whole(8, 9);
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
        let segment = whole(1, 1);
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
            let segment = whole(first, first);
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
        drop(write(&dir, None, &rows));
    }
}
