//! Which crawls there are, and how each stands.
//!
//! The root is a crawl directory, or a folder with some below it. Folders are
//! walked every few seconds at most; a crawl nobody is at work on is read again
//! only when its status.json has changed, so that a thousand crawls at rest
//! cost a thousand looks at a file's date. Everybody shares one answer, at most
//! a second old.

pub(crate) mod captures;
pub(crate) mod changes;
mod find;
pub(crate) mod freshness;
pub(crate) mod id;
pub(crate) mod reach;
pub(crate) mod stats;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use geomi_crawler::{Ending, Phase, Status, remote};
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError};

use crate::accounts::hold;
pub(crate) use find::is_crawl;

/// How old the list of folders may be.
const WALK_EVERY: Duration = Duration::from_secs(5);
/// How old what is told of a crawl may be.
const LOOK_EVERY: Duration = Duration::from_millis(900);
/// A longer status is none of ours.
const STATUS_BYTES_MAX: u64 = 16 << 20;

/// What tells a file from the one that takes its place: each is a new file, and
/// two of them may have the same date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mark {
    modified: SystemTime,
    inode: u64,
    bytes: u64,
}

impl Mark {
    pub(crate) fn of(path: &Path) -> std::io::Result<Self> {
        let meta = std::fs::metadata(path)?;
        Ok(Self {
            modified: meta.modified()?,
            inode: meta.ino(),
            bytes: meta.len(),
        })
    }
}

/// A crawl, as it stood when it was looked at.
#[derive(Clone, Debug)]
pub(crate) struct Crawl {
    /// Name in addresses.
    pub(crate) id: String,
    /// Name for people: its path below the root.
    pub(crate) name: String,
    /// Its directory.
    pub(crate) dir: CrawlDir,
    /// The process at work on it.
    pub(crate) pid: Option<u32>,
    /// How it stands; `None` before its first status.
    pub(crate) status: Option<Status>,
    /// Why it could not be asked or read.
    pub(crate) trouble: Option<String>,
    /// Which status.json was read.
    mark: Option<Mark>,
}

impl Crawl {
    /// Whether a process is at work on it.
    pub(crate) fn is_running(&self) -> bool {
        self.pid.is_some()
    }

    /// How it stands, in a word for machines.
    pub(crate) fn state(&self) -> &'static str {
        let Some(status) = &self.status else {
            return if self.is_running() {
                "starting"
            } else {
                "empty"
            };
        };
        if self.is_running() {
            return match status.state {
                Phase::Starting => "starting",
                Phase::Running => "running",
                Phase::Paused => "paused",
                Phase::Stopping => "stopping",
                Phase::Done => "done",
            };
        }
        match status.reason {
            Some(reason) => ending(reason),
            None => "not-closed",
        }
    }

    /// A crawl that is not there, for tests of what is made of one.
    #[cfg(test)]
    pub(crate) fn sample(name: &str, pid: Option<u32>, status: Status) -> Self {
        Self {
            id: name.to_owned(),
            name: name.to_owned(),
            dir: CrawlDir::new(name),
            pid,
            status: Some(status),
            trouble: None,
            mark: None,
        }
    }

    /// Looks at a directory.
    fn look(id: String, name: String, dir: CrawlDir, before: Option<&Self>) -> Self {
        let (pid, status, trouble) = match remote::status(dir.root()) {
            Ok(Some((pid, status))) => (Some(pid), Some(status), None),
            Ok(None) => (None, None, None),
            Err(error) => (None, None, Some(error.to_string())),
        };
        let mut crawl = Self {
            id,
            name,
            dir,
            pid,
            status,
            trouble,
            mark: None,
        };
        if crawl.status.is_none() {
            crawl.read_status(before);
        }
        crawl
    }

    /// Reads status.json, unless it is the one that was read before.
    fn read_status(&mut self, before: Option<&Self>) {
        let path = self.dir.status();
        // A file that is not there has no mark.
        self.mark = Mark::of(&path).ok();
        let is_same = |before: &&Self| before.mark == self.mark && before.status.is_some();
        if let Some(before) = before.filter(is_same) {
            self.status.clone_from(&before.status);
            return;
        }
        match read_status(&path) {
            Ok(status) => self.status = status,
            Err(reason) => self.trouble = Some(reason),
        }
    }
}

/// Why a crawl ended, in a word for machines.
pub(crate) const fn ending(reason: Ending) -> &'static str {
    match reason {
        Ending::Finished => "finished",
        Ending::SeedsFailed => "seeds-failed",
        Ending::TooManyFailures => "too-many-failures",
        Ending::PageLimit => "page-limit",
        Ending::ByteLimit => "byte-limit",
        Ending::TimeLimit => "time-limit",
        Ending::DiskFull => "disk-full",
        Ending::Stopped => "stopped",
    }
}

fn read_status(path: &Path) -> Result<Option<Status>, String> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(STATUS_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| format!("status.json cannot be read: {error}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("status.json cannot be read: {error}")),
    }
}

/// All crawls below a root.
#[derive(Debug)]
pub(crate) struct Library {
    root: PathBuf,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    folders: Vec<(String, String, CrawlDir)>,
    walked: Option<Timestamp>,
    crawls: Arc<Vec<Arc<Crawl>>>,
    looked: Option<Timestamp>,
}

impl Library {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            seen: Mutex::default(),
        }
    }

    /// What is served.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Every crawl, by name. Reads the disk where it is time to.
    pub(crate) fn list(&self, now: Timestamp) -> Result<Arc<Vec<Arc<Crawl>>>, StoreError> {
        let mut seen = hold(&self.seen);
        let is_fresh =
            |time: Option<Timestamp>, age| time.is_some_and(|time| now.since(time) < age);
        if is_fresh(seen.looked, LOOK_EVERY) {
            return Ok(Arc::clone(&seen.crawls));
        }
        if !is_fresh(seen.walked, WALK_EVERY) {
            seen.folders = find::crawls(&self.root)?;
            seen.walked = Some(now);
        }
        let before = Arc::clone(&seen.crawls);
        let crawls = seen.folders.iter().map(|(id, name, dir)| {
            let at = before.binary_search_by(|crawl| crawl.name.as_str().cmp(name));
            let before = at.ok().map(|at| &*before[at]);
            Arc::new(Crawl::look(id.clone(), name.clone(), dir.clone(), before))
        });
        seen.crawls = Arc::new(crawls.collect());
        seen.looked = Some(now);
        Ok(Arc::clone(&seen.crawls))
    }

    /// One crawl, as it stands now.
    pub(crate) fn get(&self, id: &str, now: Timestamp) -> Result<Option<Arc<Crawl>>, StoreError> {
        let known = self.find(id, now)?;
        Ok(known.map(|known| {
            let (id, name) = (known.id.clone(), known.name.clone());
            Arc::new(Crawl::look(id, name, known.dir.clone(), Some(&known)))
        }))
    }

    fn find(&self, id: &str, now: Timestamp) -> Result<Option<Arc<Crawl>>, StoreError> {
        let of = |crawls: &[Arc<Crawl>]| crawls.iter().find(|crawl| crawl.id == id).cloned();
        // Where a crawl lies does not change: an older list will do.
        let known = of(&hold(&self.seen).crawls);
        if known
            .as_ref()
            .is_some_and(|crawl| is_crawl(crawl.dir.root()))
        {
            return Ok(known);
        }
        if let Some(listed) = of(&self.list(now)?) {
            return Ok(Some(listed));
        }
        // Made since folders were walked last, perhaps by a terminal: look there.
        let Some((id, name, dir)) = find::one(&self.root, id) else {
            return Ok(None);
        };
        self.forget();
        Ok(Some(Arc::new(Crawl::look(id, name, dir, None))))
    }

    /// There may be another crawl now: look again next time.
    pub(crate) fn forget(&self) {
        let mut seen = hold(&self.seen);
        seen.walked = None;
        seen.looked = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crawl(root: &Path, name: &str, status: &Status) {
        let dir = CrawlDir::create(root.join(name)).unwrap();
        CrawlDir::write_atomic(&dir.status(), &serde_json::to_vec(status).unwrap()).unwrap();
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    #[test]
    fn crawls_are_found_named_and_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut status = Status {
            state: Phase::Done,
            reason: Some(Ending::PageLimit),
            ..Status::default()
        };
        crawl(folder.path(), "a", &status);
        crawl(folder.path(), "deep/er/한글 b", &status);
        let library = Library::new(folder.path());
        let crawls = library.list(at(0)).unwrap();
        let names: Vec<&str> = crawls.iter().map(|crawl| &*crawl.name).collect();
        assert_eq!(names, ["a", "deep/er/한글 b"]);
        assert_eq!(crawls[0].state(), "page-limit");
        for crawl in crawls.iter() {
            let found = library.get(&crawl.id, at(0)).unwrap().unwrap();
            assert_eq!(found.name, crawl.name);
        }
        assert!(library.get("..~2Fa", at(0)).unwrap().is_none());

        status.counters.saved = 7;
        crawl(folder.path(), "a", &status);
        let crawls = library.list(at(2)).unwrap();
        assert_eq!(crawls[0].status.as_ref().unwrap().counters.saved, 7);
    }

    #[test]
    fn a_crawl_made_a_moment_ago_is_found_at_once() {
        let folder = tempfile::tempdir().unwrap();
        crawl(folder.path(), "a", &Status::default());
        let library = Library::new(folder.path());
        assert_eq!(library.list(at(0)).unwrap().len(), 1);
        crawl(folder.path(), "new/한글", &Status::default());
        let id = id::encode("new/한글");
        assert_eq!(library.get(&id, at(0)).unwrap().unwrap().name, "new/한글");
        assert_eq!(library.list(at(0)).unwrap().len(), 2);
        // Nothing outside the root, nor inside a crawl, has an id.
        crawl(folder.path(), "a/inside", &Status::default());
        let root = Library::new(&folder.path().join("new"));
        for name in ["../a", "/etc", "a/inside", "", "한글/..", "./한글"] {
            assert!(
                library.get(&id::encode(name), at(0)).unwrap().is_none(),
                "{name}"
            );
            assert!(
                root.get(&id::encode(name), at(0)).unwrap().is_none(),
                "{name}"
            );
        }
    }

    #[test]
    fn a_crawl_directory_is_a_library_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("news");
        crawl(folder.path(), "news", &Status::default());
        let crawls = Library::new(&root).list(at(0)).unwrap();
        assert_eq!(crawls.len(), 1);
        assert_eq!(crawls[0].name, "news");
        assert_eq!(crawls[0].state(), "not-closed");
    }

    #[test]
    fn a_broken_status_is_told_and_breaks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        crawl(folder.path(), "a", &Status::default());
        std::fs::write(folder.path().join("a/status.json"), "rubbish").unwrap();
        let crawls = Library::new(folder.path()).list(at(0)).unwrap();
        let trouble = crawls[0].trouble.as_deref().unwrap();
        assert!(trouble.contains("status.json cannot be read"), "{trouble}");
        assert_eq!(crawls[0].state(), "empty");
    }
}
