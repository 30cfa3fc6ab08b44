//! log.jsonl: one line a visit, for people and their tools.
//!
//! Lines are written after their visits are committed, in the order of the commits. So a
//! crash loses lines at the end only, and of each partition those with the greatest
//! numbers: opening the log finds the last line of each partition, and what comes behind
//! it is written again. In a crawl of several partitions, `n` is unique in its partition
//! `p` only; there a line has its own number `line`, by which readers find it.

mod tail;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use geomi_engine::LogLine;
use geomi_model::{Timestamp, Visit};
use geomi_store::{StoreError, open_in_place};

/// The visits of a partition that have numbers when the log is opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbered {
    /// `None` in a crawl of one partition.
    pub(crate) partition: Option<u16>,
    /// Number of its last visit. A log that has more of them belongs to a frontier that
    /// was deleted.
    pub(crate) last: u64,
    /// When the first of its visits that are in no segment yet began. Without any, nothing
    /// is missing in the log.
    pub(crate) loose_since: Option<Timestamp>,
}

/// The log being written.
#[derive(Debug)]
pub(crate) struct VisitLog {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    bytes_max: u64,
    /// Number of the last visit in the log, for each partition.
    last: BTreeMap<Option<u16>, u64>,
    /// Number of the last line: the number of its visit with one partition.
    line: u64,
}

impl VisitLog {
    /// Opens the log at its end, less a line that was torn by a crash. `numbered` has
    /// one element for each partition.
    pub(crate) fn open(
        path: PathBuf,
        bytes_max: u64,
        numbered: &[Numbered],
    ) -> Result<Self, StoreError> {
        let mut file = open_file(&path)?;
        let end = tail::find_end(&mut file).map_err(|source| io(&path, source))?;
        let line = if end.bytes == 0 {
            last_rotated(&path)
        } else {
            end.line
        };
        let (line, last) = match numbered {
            [whole] if whole.partition.is_none() => {
                let last = line.min(whole.last);
                (last, [(None, last)].into())
            }
            _ => (line, tail::last_numbers(&path, numbered)?),
        };
        file.set_len(end.bytes)
            .map_err(|source| io(&path, source))?;
        file.seek(SeekFrom::End(0))
            .map_err(|source| io(&path, source))?;
        Ok(Self {
            file: BufWriter::with_capacity(64 << 10, file),
            path,
            bytes: end.bytes,
            bytes_max,
            last,
            line,
        })
    }

    /// Adds a visit, unless it is there already.
    pub(crate) fn add(&mut self, partition: Option<u16>, visit: &Visit) -> Result<(), StoreError> {
        let last = self.last.entry(partition).or_default();
        if visit.number <= *last {
            return Ok(());
        }
        *last = visit.number;
        let mut line = LogLine::new(partition, visit);
        self.line = if partition.is_some() {
            line.line = Some(self.line + 1);
            self.line + 1
        } else {
            visit.number
        };
        let mut line = serde_json::to_vec(&line).expect("a log line is plain data");
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|source| io(&self.path, source))?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Hands everything to the system, and rotates a log that has grown large.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.file.flush().map_err(|source| io(&self.path, source))?;
        if self.bytes < self.bytes_max {
            return Ok(());
        }
        let rotated = self
            .path
            .with_file_name(format!("log-{:012}.jsonl", self.line));
        std::fs::rename(&self.path, &rotated).map_err(|source| io(&rotated, source))?;
        self.file = BufWriter::with_capacity(64 << 10, open_file(&self.path)?);
        self.bytes = 0;
        Ok(())
    }
}

fn open_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    open_in_place(&mut options, path).map_err(|source| io(path, source))
}

/// The last line of the newest rotated log, from its name.
fn last_rotated(path: &Path) -> u64 {
    let siblings = path.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    // A folder that cannot be listed has no rotated logs to repeat.
    let names = siblings.into_iter().flatten().filter_map(Result::ok);
    let number = |name: &str| {
        name.strip_prefix("log-")?
            .strip_suffix(".jsonl")?
            .parse()
            .ok()
    };
    let numbers = names.filter_map(|entry| number(entry.file_name().to_str()?));
    numbers.max().unwrap_or(0)
}

fn io(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::from_io("write", path, source)
}

#[cfg(test)]
mod tests {
    use geomi_store::CrawlDir;
    use geomi_url::CrawlUrl;

    use super::*;
    use crate::log_reader;

    fn visit(number: u64) -> Visit {
        Visit {
            number,
            time: Timestamp::from_secs(1_794_744_000 + number as i64),
            ..Visit::unknown(CrawlUrl::parse("http://a.test/").unwrap())
        }
    }

    /// Those of a crawl of one partition that has no visits.
    const NONE: Numbered = Numbered {
        partition: None,
        last: 0,
        loose_since: None,
    };

    fn numbered(partition: u16, last: u64, is_loose: bool) -> Numbered {
        Numbered {
            partition: Some(partition),
            last,
            loose_since: is_loose.then_some(visit(1).time),
        }
    }

    /// Lines as pairs of partition and number, oldest first.
    fn lines(dir: &CrawlDir) -> Vec<(u16, u64)> {
        let bounds = log_reader::Bounds {
            lines: 10_000,
            looks: 10_000,
        };
        let found = log_reader::after(dir, 0, bounds, &|_| true).unwrap();
        let positions: Vec<u64> = found
            .lines
            .iter()
            .map(super::super::log_reader::LoggedVisit::position)
            .collect();
        assert!(positions.is_sorted(), "{positions:?}");
        let lines = found.lines.iter();
        lines.map(|line| (line.p.unwrap(), line.n)).collect()
    }

    #[test]
    fn a_crawl_of_one_partition_has_lines_as_ever() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut log = VisitLog::open(dir.log(), 1 << 20, &[NONE]).unwrap();
        log.add(None, &visit(1)).unwrap();
        log.flush().unwrap();
        let text = std::fs::read_to_string(dir.log()).unwrap();
        assert!(text.starts_with("{\"n\":1,\"time\":"), "{text}");
        // A frontier that was deleted begins to number behind its segments.
        let mut log = VisitLog::open(dir.log(), 1 << 20, &[NONE]).unwrap();
        log.add(None, &visit(1)).unwrap();
        log.flush().unwrap();
        let twice = std::fs::read_to_string(dir.log()).unwrap();
        assert_eq!(twice, text.repeat(2));
    }

    #[test]
    fn lines_that_a_crash_lost_are_found_by_partition_and_number() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        // A log of a few lines: some of those looked for are in rotated files.
        let open = |numbered: &[Numbered]| VisitLog::open(dir.log(), 400, numbered).unwrap();
        let mut log = open(&[numbered(1, 0, false), numbered(2, 0, false)]);
        for (partition, number) in [(1, 1), (2, 1), (1, 2), (1, 3), (2, 2)] {
            log.add(Some(partition), &visit(number)).unwrap();
            log.flush().unwrap();
        }
        drop(log);
        let mut file = OpenOptions::new().append(true).open(dir.log()).unwrap();
        file.write_all(b"{\"n\":3,\"p\":2,\"torn").unwrap();
        // Committed, but perhaps not logged: all of 1, and 2 to 4 of 2. A third
        // partition has nothing in the log.
        let mut log = open(&[
            numbered(1, 4, true),
            numbered(2, 4, true),
            numbered(3, 1, true),
        ]);
        for (partition, last) in [(1, 4), (2, 4), (3, 1)] {
            for number in 1..=last {
                log.add(Some(partition), &visit(number)).unwrap();
            }
        }
        log.flush().unwrap();
        let before = [(1, 1), (2, 1), (1, 2), (1, 3), (2, 2)];
        let added = [(1, 4), (2, 3), (2, 4), (3, 1)];
        assert_eq!(lines(&dir), [&before[..], &added].concat());
        assert_eq!(log_reader::last(&dir).unwrap(), Some(9));
    }

    #[test]
    fn lines_of_a_frontier_that_was_deleted_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut log = VisitLog::open(dir.log(), 1 << 20, &[numbered(1, 0, false)]).unwrap();
        for number in 1..=5 {
            log.add(Some(1), &visit(number)).unwrap();
        }
        log.flush().unwrap();
        let mut log = VisitLog::open(dir.log(), 1 << 20, &[numbered(1, 3, false)]).unwrap();
        log.add(Some(1), &visit(3)).unwrap();
        log.add(Some(1), &visit(4)).unwrap();
        log.flush().unwrap();
        assert_eq!(lines(&dir), [1, 2, 3, 4, 5, 4].map(|number| (1, number)));
    }
}
