//! Who did what: one line of JSON for each change, in `console/audit.jsonl`.
//!
//! A line is written when something was done, or was refused for a reason a
//! person should know of (a failed log-in). Looking is not written down.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use geomi_model::Timestamp;
use geomi_store::StoreError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hold;
use super::store::make_folder;

const FILE: &str = "audit.jsonl";
/// How much of the end is read to show the latest lines.
const TAIL_BYTES: u64 = 4 << 20;

/// One thing that was done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Entry {
    /// When, RFC 3339 in UTC.
    pub(crate) time: String,
    /// Id of the user; what was typed where a log-in failed.
    pub(crate) who: String,
    /// Address it came from.
    pub(crate) from: String,
    /// What was done, in a word: `log-in`, `pause`, `add-user` and so on.
    pub(crate) did: String,
    /// To what.
    pub(crate) to: String,
    /// Whether it succeeded.
    pub(crate) ok: bool,
}

/// The log of what was done.
#[derive(Debug)]
pub(crate) struct Audit {
    path: PathBuf,
    /// One line at a time.
    writing: Mutex<()>,
}

impl Audit {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            path: folder.join(FILE),
            writing: Mutex::default(),
        }
    }

    /// Adds a line. A line that cannot be written is told to the operator; what
    /// it tells of is done already.
    pub(crate) fn write(&self, entry: &Entry) {
        if let Err(error) = self.add(entry) {
            tracing::error!(%error, ?entry, "the audit log cannot be written");
        }
    }

    fn add(&self, entry: &Entry) -> Result<(), StoreError> {
        let mut line = serde_json::to_vec(entry).expect("an entry is plain data");
        line.push(b'\n');
        let _one_at_a_time = hold(&self.writing);
        make_folder(&self.path)?;
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.path)
            .and_then(|mut file| file.write_all(&line))
            .map_err(|error| StoreError::from_io("write", &self.path, error))
    }

    /// The latest lines, newest first. `skip` of them are left out.
    pub(crate) fn latest(&self, skip: usize, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let read = |source| StoreError::from_io("read", &self.path, source);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(read(error)),
        };
        let end = file.seek(SeekFrom::End(0)).map_err(read)?;
        let from = end.saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from)).map_err(read)?;
        let lines = BufReader::new(file).split(b'\n');
        // The first line of a tail may be the end of another.
        let lines = lines.skip(usize::from(from > 0));
        let mut entries: Vec<Entry> = lines
            .map_while(Result::ok)
            .filter_map(|line| serde_json::from_slice(&line).ok())
            .collect();
        entries.reverse();
        Ok(entries.into_iter().skip(skip).take(limit).collect())
    }
}

impl Entry {
    /// An entry of something that succeeded.
    pub(crate) fn new(now: Timestamp, who: &str, from: &str, did: &str, to: &str) -> Self {
        Self {
            time: now.to_rfc3339_millis(),
            who: who.to_owned(),
            from: from.to_owned(),
            did: did.to_owned(),
            to: to.to_owned(),
            ok: true,
        }
    }

    /// The same, refused.
    #[must_use]
    pub(crate) fn refused(mut self) -> Self {
        self.ok = false;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(folder.path());
        assert_eq!(audit.latest(0, 10).unwrap(), []);
        for n in 0..5 {
            let to = format!("crawl\n{n}");
            audit.write(&Entry::new(Timestamp::EPOCH, "kim", "::1", "pause", &to));
        }
        let names = |entries: Vec<Entry>| -> Vec<String> {
            entries.into_iter().map(|entry| entry.to).collect()
        };
        assert_eq!(names(audit.latest(0, 2).unwrap()), ["crawl\n4", "crawl\n3"]);
        assert_eq!(names(audit.latest(4, 9).unwrap()), ["crawl\n0"]);
    }
}
