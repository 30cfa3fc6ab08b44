//! The file of a schedule table, and a run that follows it while it is edited.
//!
//! Whoever paints the week in the console, edits the file or has it planned anew each
//! Sunday means the run that follows it. So a run looks at the file with every report, and
//! once it is another one goes on by it, from the hour that is under way. A wrong line is
//! told of once and the last good table stays in force, as it does while the file is not
//! there. Half a table, as an editor may leave it for a moment, is followed for that moment.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use geomi_refresh::upkeep::TableRows;
use geomi_store::StoreError;
use geomi_store::schedule::{self, FreeHours, Row};

/// Problems told of one file.
const TOLD_MAX: usize = 5;

/// Why a table cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read.
    #[error(transparent)]
    Unread(#[from] StoreError),
    /// It can, and these things are wrong in it.
    #[error("{}", .0.join("; "))]
    Wrong(Vec<String>),
}

/// Reads a table. Visits of hours that are left free have moved.
pub fn read_table(path: &Path) -> Result<TableRows, TableError> {
    let (mut rows, mut free, mut wrong) = (Vec::new(), FreeHours::default(), Vec::new());
    schedule::read(path, |line, row| {
        match row {
            Ok(Row::Visit(hour, url)) => rows.push((hour, url)),
            Ok(Row::Free(hour)) => free.set(hour, true),
            Err(why) => wrong.push(format!("{}: line {line}: {why}", path.display())),
        }
        if wrong.len() < TOLD_MAX {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    if wrong.is_empty() && (free.is_whole_week() || rows.is_empty()) {
        let why = if free.is_whole_week() {
            "leaves the whole week free: open an hour to visit in"
        } else {
            "has no visits: write lines such as Monday,9,https://example.com/"
        };
        wrong.push(format!("{} {why}", path.display()));
    }
    if !wrong.is_empty() {
        return Err(TableError::Wrong(wrong));
    }
    for (hour, _) in &mut rows {
        *hour = free.moved(*hour);
    }
    Ok(rows)
}

/// The file that a run follows.
#[derive(Debug)]
pub(crate) struct TableFile {
    pub(crate) path: PathBuf,
    /// By what it was known when it was last read.
    known_by: Option<Stamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
}

impl TableFile {
    /// One that will be read when it is first asked.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            known_by: None,
        }
    }

    /// What is in it, if it is another file than it was when last asked.
    pub(crate) fn if_new(&mut self) -> Option<Result<TableRows, TableError>> {
        // An editor may take it away for a moment.
        let found = fs::metadata(&self.path).ok()?;
        let stamp = Stamp {
            modified: found.modified().ok()?,
            bytes: found.len(),
        };
        if self.known_by.replace(stamp) == Some(stamp) {
            return None;
        }
        Some(read_table(&self.path))
    }
}

/// Warns of visits of a schedule that are left out.
pub(crate) fn warn_of_unknown(visits: u64) {
    if visits > 0 {
        tracing::warn!(visits, "the schedule names pages of which there is no copy");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_of_free_hours_have_moved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        let text = "day,hour,url\nMon,9,http://a.test/\nMon,9,-\nMon,10,-\nMon,12,http://b.test/\n";
        fs::write(&path, text).unwrap();
        let rows = read_table(&path).unwrap();
        let hours: Vec<usize> = rows.iter().map(|(hour, _)| *hour).collect();
        assert_eq!(hours, [35, 36]);
    }

    #[test]
    fn a_file_is_read_when_it_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        let mut file = TableFile::new(path.clone());
        assert!(file.if_new().is_none(), "there is none");
        fs::write(&path, "Mon,9,http://a.test/\n").unwrap();
        assert_eq!(file.if_new().unwrap().unwrap().len(), 1);
        assert!(file.if_new().is_none());
        fs::write(&path, "Mon,9,http://a.test/\nMon,10,http://a.test/\n").unwrap();
        assert_eq!(file.if_new().unwrap().unwrap().len(), 2);
        fs::write(&path, "Someday,9,http://a.test/\n").unwrap();
        let wrong = file.if_new().unwrap().unwrap_err().to_string();
        let words = "line 1: \"Someday\" is no day: write Sunday to Saturday";
        assert!(wrong.ends_with(words), "{wrong}");
        assert!(file.if_new().is_none(), "it is told once");
    }
}
