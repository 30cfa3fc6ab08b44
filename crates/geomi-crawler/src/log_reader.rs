//! log.jsonl read back, from any visit on and in either direction.
//!
//! Lines are numbered without gaps and stand in that order, over the rotated
//! files (`log-LAST.jsonl`) and then the present one, so that the line of a
//! number is found by bisection: no index is kept and nothing but the lines
//! asked for is read. The number of a line is that of its visit; in a crawl of several
//! partitions it is a field of its own ([`LoggedVisit::position`]). A line that is being written is not seen until it is
//! whole.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use geomi_store::{CrawlDir, StoreError, open_regular};
use serde::{Deserialize, Serialize};

/// A longer line is none of ours: URLs and reasons are bounded far below.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// A line of the log, read back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoggedVisit {
    /// Number of the visit, in its partition.
    pub n: u64,
    /// Its partition, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u16>,
    /// Number of the line, where it is not that of the visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// When it started.
    pub time: String,
    /// What was asked for.
    pub url: String,
    /// Network state by name.
    pub state: String,
    /// Status code.
    #[serde(default)]
    pub code: Option<u16>,
    /// Content type as sent, without parameters.
    #[serde(default)]
    pub mime: Option<String>,
    /// Bytes of the body, decoded.
    #[serde(default)]
    pub bytes: u64,
    /// Links from the seed.
    #[serde(default)]
    pub depth: u16,
    /// Which try.
    #[serde(default)]
    pub attempt: u8,
    /// Time to the first byte, in milliseconds.
    #[serde(default)]
    pub rtt_ms: Option<f64>,
    /// Time in all, in milliseconds.
    #[serde(default)]
    pub total_ms: f64,
    /// The page that linked to it.
    #[serde(default)]
    pub via: Option<String>,
    /// Redirect target.
    #[serde(default)]
    pub location: Option<String>,
    /// What went wrong.
    #[serde(default)]
    pub error: Option<String>,
    /// Whether it was stored as a revisit.
    #[serde(default)]
    pub revisit: bool,
}

impl LoggedVisit {
    /// Number of the line in the whole log.
    pub fn position(&self) -> u64 {
        self.line.unwrap_or(self.n)
    }
}

/// Which lines are wanted.
pub type Filter<'a> = &'a dyn Fn(&LoggedVisit) -> bool;

/// Lines, and how far was looked.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The lines, in the order they were looked through.
    pub lines: Vec<LoggedVisit>,
    /// Number of the last line looked at, wanted or not.
    pub looked_to: Option<u64>,
    /// Whether the end of the log (or its beginning) was reached.
    pub is_all: bool,
}

/// How much is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Lines to return.
    pub lines: usize,
    /// Lines to look at.
    pub looks: usize,
}

/// The lines after number `after`, oldest first.
pub fn after(
    dir: &CrawlDir,
    after: u64,
    bounds: Bounds,
    filter: Filter<'_>,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let mut looks = bounds.looks;
    for path in files(dir)? {
        if rotated_last(&path).is_some_and(|last| last <= after) {
            continue;
        }
        let Some(mut lines) = open(&path)? else {
            continue;
        };
        lines.seek_behind(after).map_err(io_error(&path))?;
        while let Some(line) = lines.next_line().map_err(io_error(&path))? {
            let Some(line) = parse(&line) else { continue };
            if line.position() <= after {
                continue;
            }
            if found.lines.len() == bounds.lines || looks == 0 {
                return Ok(found);
            }
            looks -= 1;
            found.looked_to = Some(line.position());
            if filter(&line) {
                found.lines.push(line);
            }
        }
    }
    found.is_all = true;
    Ok(found)
}

/// The lines before number `before` (the last ones if there is none), newest
/// first.
pub fn before(
    dir: &CrawlDir,
    before: Option<u64>,
    bounds: Bounds,
    filter: Filter<'_>,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    let mut looks = bounds.looks;
    // Nobody walks down from a number there never was.
    let behind_last = last(dir)?.map_or(0, |last| last + 1);
    let mut end = before.map_or(behind_last, |before| before.min(behind_last));
    while end > 1 {
        // Read forward in pieces, each before the one that was read last.
        let from = end.saturating_sub(STRIDE).max(1);
        let piece = Bounds {
            lines: usize::MAX,
            looks: (end - from) as usize,
        };
        let piece = after(dir, from - 1, piece, &|line| line.position() < end)?;
        for line in piece.lines.into_iter().rev() {
            if found.lines.len() == bounds.lines || looks == 0 {
                return Ok(found);
            }
            looks -= 1;
            found.looked_to = Some(line.position());
            if filter(&line) {
                found.lines.push(line);
            }
        }
        end = from;
    }
    found.is_all = true;
    Ok(found)
}

/// Lines read at once when going backwards.
const STRIDE: u64 = 2_000;

/// Number of the last line; `None` if there is no log.
pub fn last(dir: &CrawlDir) -> Result<Option<u64>, StoreError> {
    for path in files(dir)?.iter().rev() {
        if let Some(last) = rotated_last(path) {
            return Ok(Some(last));
        }
        let Some(mut lines) = open(path)? else {
            continue;
        };
        if let Some(last) = lines.last_number().map_err(io_error(path))? {
            return Ok(Some(last));
        }
    }
    Ok(None)
}

/// The files of the log, oldest first.
fn files(dir: &CrawlDir) -> Result<Vec<PathBuf>, StoreError> {
    files_in(dir.root(), dir.log())
}

/// The rotated files in a folder, oldest first, then the present one.
pub(crate) fn files_in(root: &Path, present: PathBuf) -> Result<Vec<PathBuf>, StoreError> {
    let mut paths = Vec::new();
    let entries = std::fs::read_dir(root).map_err(io_error(root))?;
    for entry in entries {
        let path = entry.map_err(io_error(root))?.path();
        if rotated_last(&path).is_some() {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    paths.push(present);
    Ok(paths)
}

/// The last number in a rotated file, which its name tells.
fn rotated_last(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let number = name.strip_prefix("log-")?.strip_suffix(".jsonl")?;
    number.parse().ok()
}

/// A file that is not there, or was renamed just now, has no lines.
fn open(path: &Path) -> Result<Option<Lines>, StoreError> {
    match open_regular(path) {
        Ok(file) => Ok(Some(Lines {
            input: BufReader::with_capacity(64 << 10, file),
        })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io_error(path)(error)),
    }
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> StoreError + '_ {
    |source| StoreError::from_io("read", path, source)
}

/// A line that cannot be read belongs to no visit.
fn parse(line: &[u8]) -> Option<LoggedVisit> {
    serde_json::from_slice(line).ok()
}

/// The whole lines of one file.
struct Lines {
    input: BufReader<File>,
}

impl Lines {
    /// The next whole line.
    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)?;
        Ok((line.pop() == Some(b'\n')).then_some(line))
    }

    /// Goes to a line at or before the first one whose number is above `after`.
    fn seek_behind(&mut self, after: u64) -> io::Result<()> {
        let mut low = 0;
        let mut high = self.input.seek(SeekFrom::End(0))?;
        // Below this a run over the lines is quicker than another look.
        while high - low > 16 << 10 {
            let middle = low + (high - low) / 2;
            match self.number_behind(middle)? {
                Some(number) if number <= after => low = middle,
                _ => high = middle,
            }
        }
        self.input.seek(SeekFrom::Start(low))?;
        if low > 0 {
            self.next_line()?;
        }
        Ok(())
    }

    /// Number of the first line that begins behind `offset`.
    fn number_behind(&mut self, offset: u64) -> io::Result<Option<u64>> {
        self.input.seek(SeekFrom::Start(offset))?;
        self.next_line()?;
        let line = self.next_line()?;
        Ok(line.and_then(|line| Some(parse(&line)?.position())))
    }

    /// Number of the last whole line.
    fn last_number(&mut self) -> io::Result<Option<u64>> {
        let end = self.input.seek(SeekFrom::End(0))?;
        let from = end.saturating_sub(LINE_BYTES_MAX);
        self.input.seek(SeekFrom::Start(from))?;
        if from > 0 {
            self.next_line()?;
        }
        let mut last = None;
        while let Some(line) = self.next_line()? {
            last = parse(&line).map(|line| line.position()).or(last);
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const ANY: Bounds = Bounds {
        lines: 1_000_000,
        looks: 1_000_000,
    };

    fn text(numbers: std::ops::RangeInclusive<u64>) -> String {
        numbers.fold(String::new(), |mut text, n| {
            let pad = "x".repeat((n % 37) as usize);
            let time = "2026-11-15T00:00:00.000Z";
            let state = if n % 10 == 0 { "cErr" } else { "OK" };
            writeln!(
                text,
                r#"{{"n":{n},"time":"{time}","url":"http://a.test/{pad}","state":"{state}"}}"#
            )
            .unwrap();
            text
        })
    }

    fn log() -> (tempfile::TempDir, CrawlDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let name = |last: u64| folder.path().join(format!("log-{last:012}.jsonl"));
        std::fs::write(name(3_000), text(1..=3_000)).unwrap();
        std::fs::write(name(4_000), text(3_001..=4_000)).unwrap();
        // The last line is being written.
        std::fs::write(dir.log(), text(4_001..=9_000) + "{\"n\":9001,").unwrap();
        (folder, dir)
    }

    fn numbers(found: &Found) -> Vec<u64> {
        found.lines.iter().map(|line| line.n).collect()
    }

    #[test]
    fn every_line_is_found_from_every_place() {
        let (_folder, dir) = log();
        assert_eq!(last(&dir).unwrap(), Some(9_000));
        for from in [0, 1, 2_999, 3_000, 3_001, 4_000, 6_500, 8_999, 9_000] {
            let found = after(&dir, from, ANY, &|_| true).unwrap();
            assert_eq!(numbers(&found), (from + 1..=9_000).collect::<Vec<_>>());
            assert!(found.is_all);
            let found = before(&dir, Some(from), ANY, &|_| true).unwrap();
            assert_eq!(numbers(&found), (1..from).rev().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_filtered_look_says_how_far_it_came() {
        let (_folder, dir) = log();
        let bounds = Bounds {
            lines: 3,
            looks: 1_000,
        };
        let failed = |line: &LoggedVisit| line.state == "cErr";
        let found = before(&dir, None, bounds, &failed).unwrap();
        assert_eq!(numbers(&found), [9_000, 8_990, 8_980]);
        assert!(!found.is_all);
        let few = Bounds {
            lines: 3,
            looks: 15,
        };
        let found = before(&dir, Some(found.looked_to.unwrap()), few, &failed).unwrap();
        assert_eq!(numbers(&found), [8_970]);
        assert_eq!(found.looked_to, Some(8_965));
    }

    #[test]
    fn a_number_there_never_was_is_behind_the_last() {
        let (_folder, dir) = log();
        let bounds = Bounds { lines: 2, looks: 9 };
        let found = before(&dir, Some(u64::MAX), bounds, &|_| true).unwrap();
        assert_eq!(numbers(&found), [9_000, 8_999]);
        let found = after(&dir, u64::MAX, bounds, &|_| true).unwrap();
        assert_eq!(numbers(&found), [] as [u64; 0]);
    }

    #[test]
    fn no_log_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        assert_eq!(last(&dir).unwrap(), None);
        assert_eq!(before(&dir, None, ANY, &|_| true).unwrap().lines, []);
    }
}
