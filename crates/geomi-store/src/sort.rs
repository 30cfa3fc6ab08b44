//! Sorting more lines than fit into memory.
//!
//! Lines are gathered up to a bound, sorted and put into a temporary file; at
//! the end the files are merged in one pass, or in rounds when there are very
//! many. Equal lines come out once. Few lines never touch the disk.

use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::cdxj::{self, Merged};
use crate::{AtomicFile, StoreError};

/// Bytes of lines held in memory.
const HELD_BYTES_MAX: usize = 64 << 20;
/// Files merged at once.
const MERGE_PARTS_MAX: usize = 128;

/// Takes lines in any order and gives them sorted by their bytes.
#[derive(Debug)]
pub struct LineSorter {
    beside: PathBuf,
    folder: Option<TempDir>,
    parts: Vec<PathBuf>,
    named: usize,
    held: Vec<String>,
    held_bytes: usize,
    held_bytes_max: usize,
}

impl LineSorter {
    /// A sorter whose temporary files, if it needs any, lie in a folder of their
    /// own inside `folder`; they are gone when it is.
    pub fn new(folder: &Path) -> Self {
        Self {
            beside: folder.to_owned(),
            folder: None,
            parts: Vec::new(),
            named: 0,
            held: Vec::new(),
            held_bytes: 0,
            held_bytes_max: HELD_BYTES_MAX,
        }
    }

    /// Takes a line without its end; there is no line end in it.
    pub fn push(&mut self, line: String) -> Result<(), StoreError> {
        self.held_bytes += line.len() + size_of::<String>();
        self.held.push(line);
        if self.held_bytes > self.held_bytes_max {
            self.put_away()?;
        }
        Ok(())
    }

    /// Writes all lines to `out`, which is called `name` in errors; returns how
    /// many there were without repetitions.
    pub fn write_to(mut self, out: &mut impl Write, name: &Path) -> Result<u64, StoreError> {
        if self.parts.is_empty() {
            self.sort_held();
            for line in &self.held {
                writeln!(out, "{line}").map_err(StoreError::io("write", name))?;
            }
            return Ok(self.held.len() as u64);
        }
        self.put_away()?;
        while self.parts.len() > MERGE_PARTS_MAX {
            let round: Vec<PathBuf> = self.parts.drain(..MERGE_PARTS_MAX).collect();
            let merged = self.next_part()?;
            cdxj::merge(&round, &merged)?;
            for part in round {
                std::fs::remove_file(&part).map_err(StoreError::io("delete", &part))?;
            }
            self.parts.push(merged);
        }
        let mut count = 0;
        let mut merged = Merged::open(&self.parts)?;
        while let Some(line) = merged.next_line()? {
            out.write_all(&line)
                .and_then(|()| out.write_all(b"\n"))
                .map_err(StoreError::io("write", name))?;
            count += 1;
        }
        Ok(count)
    }

    fn sort_held(&mut self) {
        self.held.sort_unstable();
        self.held.dedup();
    }

    fn put_away(&mut self) -> Result<(), StoreError> {
        self.sort_held();
        let path = self.next_part()?;
        let mut part = AtomicFile::create(&path)?;
        for line in self.held.drain(..) {
            writeln!(part, "{line}").map_err(StoreError::io("write", &path))?;
        }
        part.commit()?;
        self.held_bytes = 0;
        self.parts.push(path);
        Ok(())
    }

    fn next_part(&mut self) -> Result<PathBuf, StoreError> {
        if self.folder.is_none() {
            let made = tempfile::Builder::new()
                .prefix(".geomi-sort-")
                .tempdir_in(&self.beside);
            let made =
                made.map_err(StoreError::io("create a temporary folder in", &self.beside))?;
            self.folder = Some(made);
        }
        self.named += 1;
        let folder = self.folder.as_ref().expect("it was just made");
        Ok(folder.path().join(format!("{:08}", self.named)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(held_bytes_max: usize, count: u32) -> (Vec<u32>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = LineSorter {
            held_bytes_max,
            ..LineSorter::new(folder.path())
        };
        for n in 0..count {
            // A full cycle in a mixed order, and every third line twice.
            let mixed = n * 7919 % count;
            sorter.push(format!("{mixed:06}")).unwrap();
            if n % 3 == 0 {
                sorter.push(format!("{mixed:06}")).unwrap();
            }
        }
        let mut out = Vec::new();
        let written = sorter.write_to(&mut out, Path::new("out")).unwrap();
        let lines = String::from_utf8(out).unwrap();
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "temporary files are gone");
        (
            lines.lines().map(|line| line.parse().unwrap()).collect(),
            written,
        )
    }

    #[test]
    fn lines_come_out_sorted_and_once_however_little_memory_there_is() {
        let expected: Vec<u32> = (0..1000).collect();
        for held_bytes_max in [usize::MAX, 5_000, 100] {
            let (lines, written) = sorted(held_bytes_max, 1000);
            assert_eq!(lines, expected, "{held_bytes_max}");
            assert_eq!(written, 1000);
        }
        assert_eq!(sorted(100, 0), (Vec::new(), 0));
    }
}
