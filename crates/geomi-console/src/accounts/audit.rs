//! Who did what: one line of JSON for each change, in `console/audit.jsonl`.
//!
//! A line is written when something was done, or was refused for a reason a
//! person should know of (a failed log-in). Looking is not written down.
//!
//! Of failed log-ins, 60 a minute have a line; others, and those refused with
//! 429, are counted, and the count is written every minute and when the console ends.
//!
//! Lines have a bounded length. A file that reaches 8 MiB is renamed to
//! `audit-NNNNNN.jsonl` and kept; nothing is deleted. The log is read backwards
//! over all files, page by page. A place in it ([`Place`]) stays valid when
//! files are renamed, because the current file already has the number it will be
//! renamed to.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
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
/// The size from which on a file is renamed and another begun.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// How much is read for one page at most.
const PAGE_BYTES_MAX: u64 = 4 << 20;
/// How much is read at once.
const BLOCK_BYTES: u64 = 64 << 10;
/// Longer lines were written by no version that bounds them and are left out.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The longest texts of an entry, in characters.
const WHO_MAX: usize = 100;
const TO_MAX: usize = 2_000;

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

/// A place in the log: in the file with this number, before this byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    file: u32,
    before: u64,
}

impl Place {
    /// Reads what [`Display`](std::fmt::Display) writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (file, before) = text.split_once('-')?;
        Some(Self {
            file: file.parse().ok()?,
            before: before.parse().ok()?,
        })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}-{}", self.file, self.before)
    }
}

/// A page of the log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Page {
    /// The newest first.
    pub(crate) entries: Vec<Entry>,
    /// Where older entries are; `None` at the beginning of the log.
    pub(crate) older: Option<Place>,
}

/// The log of what was done.
#[derive(Debug)]
pub(crate) struct Audit {
    folder: PathBuf,
    file_bytes_max: u64,
    /// One line at a time; readers wait for a rename.
    writing: Mutex<()>,
}

impl Audit {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            file_bytes_max: FILE_BYTES_MAX,
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
        let path = self.folder.join(FILE);
        let failed = |error| StoreError::from_io("write", &path, error);
        let _one_at_a_time = hold(&self.writing);
        make_folder(&path)?;
        // A file that is not there yet has no size.
        let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        if bytes >= self.file_bytes_max {
            let number = self.rotated()?.last().map_or(1, |last| last + 1);
            std::fs::rename(&path, self.path(Some(number))).map_err(failed)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        if is_cut(&mut file).map_err(failed)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line).map_err(failed)
    }

    /// The file with this number, or the current one.
    fn path(&self, number: Option<u32>) -> PathBuf {
        match number {
            Some(number) => self.folder.join(format!("audit-{number:06}.jsonl")),
            None => self.folder.join(FILE),
        }
    }

    /// Numbers of the files that were renamed, in order.
    fn rotated(&self) -> Result<Vec<u32>, StoreError> {
        let failed = |error| StoreError::from_io("list", &self.folder, error);
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix("audit-")?.strip_suffix(".jsonl"))
                .and_then(|number| number.parse::<u32>().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Opens the newest file, or the one a place is in or the next older one.
    /// Its number, the file, and the byte before which it is to be read.
    fn open(&self, from: Option<Place>) -> Result<Option<(u32, File, u64)>, StoreError> {
        let _no_rename_meanwhile = hold(&self.writing);
        let rotated = self.rotated()?;
        let current = rotated.last().map_or(1, |last| last + 1);
        let numbers = rotated.into_iter().map(|number| (number, Some(number)));
        let newest_first = numbers.chain([(current, None)]).rev();
        for (number, name) in newest_first.filter(|(number, _)| {
            from.is_none_or(|place| {
                *number < place.file || (*number == place.file && place.before > 0)
            })
        }) {
            let path = self.path(name);
            let failed = |error| StoreError::from_io("read", &path, error);
            let mut file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            let end = file.seek(SeekFrom::End(0)).map_err(failed)?;
            let before = from.filter(|place| place.file == number);
            let end = before.map_or(end, |place| end.min(place.before));
            return Ok(Some((number, file, end)));
        }
        Ok(None)
    }

    /// A page of entries, the newest first, from a place on. It is shorter than
    /// `limit` where much would have to be read.
    pub(crate) fn page(&self, from: Option<Place>, limit: usize) -> Result<Page, StoreError> {
        let mut page = Page::default();
        let (mut from, mut read) = (from, 0);
        while let Some((file, opened, end)) = self.open(from)? {
            let mut lines = Backwards::new(opened, end);
            while page.entries.len() < limit && read < PAGE_BYTES_MAX {
                let place = lines.place;
                let next = lines.next_line();
                let next =
                    next.map_err(|error| StoreError::from_io("read", &self.folder, error))?;
                let Some(line) = next else { break };
                read += place - lines.place;
                // A line cut by a crash is no entry.
                page.entries
                    .extend(serde_json::from_slice::<Entry>(&line).ok());
            }
            let before = lines.place;
            from = Some(Place { file, before });
            if before > 0 {
                page.older = from;
                break;
            }
        }
        Ok(page)
    }
}

/// Whether the last line of a file was cut by a crash.
fn is_cut(file: &mut File) -> std::io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Reads the lines of a file from its end.
struct Backwards {
    file: File,
    /// Where the part that was read begins.
    begin: u64,
    /// What was read and not given yet.
    read: Vec<u8>,
    /// Before this byte nothing was given yet.
    place: u64,
}

impl Backwards {
    fn new(file: File, end: u64) -> Self {
        Self {
            file,
            begin: end,
            read: Vec::new(),
            place: end,
        }
    }

    /// The line before the last one; of a line that is too long, its beginning.
    fn next_line(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        // The line end that closes the line we look for.
        if self.read.is_empty() {
            self.read_block()?;
        }
        if self.read.last() == Some(&b'\n') {
            self.read.pop();
        } else if self.read.is_empty() {
            return Ok(None);
        }
        loop {
            let found = self.read.iter().rposition(|byte| *byte == b'\n');
            if let Some(at) = found {
                let line = self.read.split_off(at + 1);
                self.place = self.begin + self.read.len() as u64;
                return Ok(Some(line));
            }
            if self.begin == 0 {
                self.place = 0;
                return Ok(Some(std::mem::take(&mut self.read)));
            }
            if self.read.len() > LINE_BYTES_MAX {
                self.read.clear();
            }
            self.read_block()?;
        }
    }

    fn read_block(&mut self) -> std::io::Result<()> {
        let begin = self.begin.saturating_sub(BLOCK_BYTES);
        let mut block = vec![0; (self.begin - begin) as usize];
        self.file.seek(SeekFrom::Start(begin))?;
        self.file.read_exact(&mut block)?;
        block.append(&mut self.read);
        self.read = block;
        self.begin = begin;
        Ok(())
    }
}

impl Entry {
    /// An entry of something that succeeded. Long texts are cut.
    pub(crate) fn new(now: Timestamp, who: &str, from: &str, did: &str, to: &str) -> Self {
        let cut = |text: &str, max: usize| text.chars().take(max).collect();
        Self {
            time: now.to_rfc3339_millis(),
            who: cut(who, WHO_MAX),
            from: cut(from, WHO_MAX),
            did: cut(did, WHO_MAX),
            to: cut(to, TO_MAX),
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

    fn entry(to: &str) -> Entry {
        Entry::new(Timestamp::EPOCH, "kim", "::1", "pause", to)
    }

    fn names(page: &Page) -> Vec<&str> {
        page.entries.iter().map(|entry| &*entry.to).collect()
    }

    /// All entries, a page at a time.
    fn all(audit: &Audit, limit: usize) -> Vec<String> {
        let (mut found, mut from) = (Vec::new(), None);
        loop {
            let page = audit.page(from, limit).unwrap();
            found.extend(page.entries.into_iter().map(|entry| entry.to));
            let Some(older) = page.older else {
                return found;
            };
            from = Place::parse(&older.to_string());
            assert_eq!(from, Some(older));
        }
    }

    #[test]
    fn the_latest_come_first() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(folder.path());
        assert_eq!(audit.page(None, 10).unwrap(), Page::default());
        for n in 0..5 {
            audit.write(&entry(&format!("crawl\n{n}")));
        }
        let page = audit.page(None, 2).unwrap();
        assert_eq!(names(&page), ["crawl\n4", "crawl\n3"]);
        let older = audit.page(page.older, 9).unwrap();
        assert_eq!(names(&older), ["crawl\n2", "crawl\n1", "crawl\n0"]);
        assert_eq!(older.older, None);
    }

    #[test]
    fn files_are_rotated_and_nothing_is_lost_from_view() {
        let folder = tempfile::tempdir().unwrap();
        let mut audit = Audit::new(folder.path());
        audit.file_bytes_max = 1_000;
        let page = |audit: &Audit| audit.page(None, 3).unwrap();
        for n in 0..10 {
            audit.write(&entry(&n.to_string()));
        }
        let (before, place) = (page(&audit), page(&audit).older);
        for n in 10..100 {
            audit.write(&entry(&n.to_string()));
        }
        assert!(audit.rotated().unwrap().len() > 5);
        // A place taken before files were renamed is the same place.
        assert_eq!(names(&before), ["9", "8", "7"]);
        assert_eq!(names(&audit.page(place, 2).unwrap()), ["6", "5"]);
        let expected: Vec<String> = (0..100).rev().map(|n| n.to_string()).collect();
        for limit in [1, 7, 100, 1_000] {
            assert_eq!(all(&audit, limit), expected);
        }
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let bytes = entry.unwrap().metadata().unwrap().len();
            assert!(bytes < 1_200, "{bytes}");
        }
    }

    #[test]
    fn long_texts_are_cut_and_long_lines_of_old_logs_hide_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(folder.path());
        audit.write(&entry("first"));
        let long = "x".repeat(2 << 20);
        let mut old = entry("old");
        old.who.clone_from(&long);
        for _ in 0..4 {
            let mut line = serde_json::to_vec(&old).unwrap();
            line.push(b'\n');
            let path = folder.path().join(FILE);
            let mut file = OpenOptions::new().append(true).open(path).unwrap();
            file.write_all(&line).unwrap();
        }
        audit.write(&Entry::new(Timestamp::EPOCH, &long, "::1", "log-in", &long));
        let found = audit.page(None, 10).unwrap();
        assert!(found.entries[0].who.len() == WHO_MAX && found.entries[0].to.len() == TO_MAX);
        assert_eq!(all(&audit, 10).last().unwrap(), "first");
    }

    #[test]
    fn a_line_cut_by_a_crash_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::new(folder.path());
        audit.write(&entry("whole"));
        let path = folder.path().join(FILE);
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(b"{\"time\":\"20").unwrap();
        assert_eq!(all(&audit, 10), ["whole"]);
        audit.write(&entry("next"));
        assert_eq!(all(&audit, 10), ["next", "whole"]);
    }
}
