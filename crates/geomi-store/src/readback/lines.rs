//! A sorted file of lines, searched without reading it.

use std::path::Path;

use crate::StoreError;
use crate::cdxj::LineReader;

/// Lines sorted by their bytes, from wherever they were searched for.
pub(super) struct SortedLines {
    lines: LineReader,
    len: u64,
}

impl SortedLines {
    /// Opens a file; `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        match LineReader::open(path) {
            Ok(lines) => {
                let len = lines.file_len()?;
                Ok(Some(Self { lines, len }))
            }
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Goes to the first line that is not below `wanted` and returns the line
    /// before it, if there is one.
    ///
    /// A binary search over bytes: `from` is always the start of a line, and no
    /// line that starts at or after `to` is below `wanted`.
    pub(super) fn search(&mut self, wanted: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let (mut from, mut to) = (0, self.len);
        let mut before = None;
        while from < to {
            let middle = from + (to - from) / 2;
            let start = self.line_start(from, middle)?;
            if start >= to {
                to = middle;
                continue;
            }
            match self.lines.next_line()? {
                Some(line) if line.as_slice() < wanted => {
                    from = start + line.len() as u64 + 1;
                    before = Some(line);
                }
                _ => to = middle,
            }
        }
        self.lines.go_to(from)?;
        Ok(before)
    }

    /// The next line, without its end.
    pub(super) fn next_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.lines.next_line()
    }

    /// Goes to the first line that starts at or after `middle`, where `from` is
    /// the start of a line.
    fn line_start(&mut self, from: u64, middle: u64) -> Result<u64, StoreError> {
        if middle == from {
            self.lines.go_to(from)?;
            return Ok(from);
        }
        self.lines.go_to(middle - 1)?;
        let skipped = self.lines.next_line()?;
        Ok(middle + skipped.map_or(0, |line| line.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_and_so_is_every_gap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        assert!(SortedLines::open(&path).unwrap().is_none());
        for count in [0_usize, 1, 2, 3, 17, 100] {
            // Lines of very different lengths, the numbers odd.
            let name = |at: usize| format!("{:04}", at * 2 + 1);
            let line = |at: usize| format!("{} {}", name(at), "x".repeat(at * at % 301));
            let text: String = (0..count).map(|at| line(at) + "\n").collect();
            std::fs::write(&path, text).unwrap();
            let mut lines = SortedLines::open(&path).unwrap().unwrap();
            for at in 0..=count {
                // Even: before the line at this place, and after the last one.
                for wanted in [format!("{:04}", at * 2), name(at)] {
                    let before = lines.search(wanted.as_bytes()).unwrap();
                    let expected = at.checked_sub(1).map(|at| line(at).into_bytes());
                    assert_eq!(before, expected, "{wanted} in {count}");
                    let next = lines.next_line().unwrap();
                    let expected = (at < count).then(|| line(at).into_bytes());
                    assert_eq!(next, expected, "{wanted} in {count}");
                }
            }
        }
    }
}
