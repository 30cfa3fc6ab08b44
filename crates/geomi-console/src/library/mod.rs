//! Which crawls there are, and how each stands.
//!
//! The root is a crawl directory, or a folder with some below it. Folders are
//! walked every few seconds at most; a crawl nobody is at work on is read again
//! only when its status.json has changed, so that a thousand crawls at rest
//! cost a thousand looks at a file's date. Everybody shares one answer, at most
//! a second old. A running crawl that does not answer holds nobody up
//! ([`inquiry`]): it is shown as it stood last, and that it does not answer.

pub(crate) mod captures;
pub(crate) mod changes;
mod find;
pub(crate) mod freshness;
pub(crate) mod id;
mod inquiry;
pub(crate) mod reach;
pub(crate) mod stats;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use geomi_crawler::remote;
use geomi_engine::{Ending, Phase, Status};
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError, open_regular};
use tokio::task::{JoinSet, spawn_blocking};

use crate::accounts::hold;
pub(crate) use find::is_crawl;
use inquiry::{Heard, Inquiry};

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
    /// Whether its process does not answer.
    pub(crate) is_silent: bool,
    /// Why it could not be asked or read.
    pub(crate) trouble: Option<String>,
    /// Which status.json was read.
    mark: Option<Mark>,
}

impl Crawl {
    /// Whether a process is at work on it.
    pub(crate) fn is_running(&self) -> bool {
        self.pid.is_some() || self.is_silent
    }

    /// How it stands, in a word for machines.
    pub(crate) fn state(&self) -> &'static str {
        if self.is_silent {
            return "silent";
        }
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
            is_silent: false,
            trouble: None,
            mark: None,
        }
    }

    /// A crawl whose process said this. Reads status.json where it said nothing.
    /// Blocks.
    fn new(folder: Folder, heard: Heard, before: Option<&Self>) -> Self {
        let mut crawl = Self {
            id: folder.id,
            name: folder.name,
            dir: folder.dir,
            pid: None,
            status: None,
            is_silent: false,
            trouble: None,
            mark: None,
        };
        match heard {
            Heard::Status(pid, status) => {
                crawl.pid = Some(pid);
                crawl.status = Some(Status::clone(&status));
            }
            Heard::Nobody => {}
            Heard::Silence => {
                crawl.is_silent = true;
                crawl.pid = before.and_then(|before| before.pid);
                crawl.status = before.and_then(|before| before.status.clone());
                crawl.trouble = Some("its process does not answer: it may be suspended".to_owned());
            }
            Heard::Trouble(why) => crawl.trouble = Some(why),
        }
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
        Ending::Incomplete => "incomplete",
        Ending::SeedsFailed => "seeds-failed",
        Ending::NothingSaved => "nothing-saved",
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
    let read =
        open_regular(path).and_then(|file| file.take(STATUS_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| format!("status.json cannot be read: {error}")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("status.json cannot be read: {error}")),
    }
}

/// Where a crawl lies.
#[derive(Clone, Debug)]
struct Folder {
    id: String,
    name: String,
    dir: CrawlDir,
}

impl From<(String, String, CrawlDir)> for Folder {
    fn from((id, name, dir): (String, String, CrawlDir)) -> Self {
        Self { id, name, dir }
    }
}

/// All crawls below a root.
#[derive(Debug)]
pub(crate) struct Library {
    root: PathBuf,
    seen: Mutex<Seen>,
    inquiry: Inquiry,
    /// One look at all crawls at a time; the others wait for it.
    looking: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Seen {
    folders: Vec<Folder>,
    walked: Option<Timestamp>,
    crawls: Arc<Vec<Arc<Crawl>>>,
    looked: Option<Timestamp>,
    /// How often it was forgotten: a look that began before is not fresh.
    forgotten: u64,
}

fn is_fresh(time: Option<Timestamp>, age: Duration, now: Timestamp) -> bool {
    time.is_some_and(|time| now.since(time) < age)
}

/// Runs what waits for the disk.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = spawn_blocking(work).await;
    done.expect("a panic in there is a bug, and was reported by its message")
}

impl Library {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            seen: Mutex::default(),
            inquiry: Inquiry::default(),
            looking: tokio::sync::Mutex::default(),
        }
    }

    /// What is served.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Every crawl, by name. Looks at them where it is time to.
    pub(crate) async fn list(&self, now: Timestamp) -> Result<Arc<Vec<Arc<Crawl>>>, StoreError> {
        if let Some(crawls) = self.fresh(now) {
            return Ok(crawls);
        }
        let _one_at_a_time = self.looking.lock().await;
        if let Some(crawls) = self.fresh(now) {
            return Ok(crawls);
        }
        let forgotten = hold(&self.seen).forgotten;
        let folders = self.folders(now).await?;
        let before = Arc::clone(&hold(&self.seen).crawls);
        let folders = blocking(move || with_sockets(folders)).await;
        let heard = self.ask_all(&folders).await;
        let crawls = blocking(move || {
            let look = |((folder, _), heard): ((Folder, bool), Heard)| {
                let at = before.binary_search_by(|crawl| crawl.name.cmp(&folder.name));
                let before = at.ok().map(|at| &*before[at]);
                Arc::new(Crawl::new(folder, heard, before))
            };
            Arc::new(folders.into_iter().zip(heard).map(look).collect::<Vec<_>>())
        });
        let crawls = crawls.await;
        let mut seen = hold(&self.seen);
        seen.crawls = Arc::clone(&crawls);
        if seen.forgotten == forgotten {
            seen.looked = Some(now);
        }
        Ok(crawls)
    }

    fn fresh(&self, now: Timestamp) -> Option<Arc<Vec<Arc<Crawl>>>> {
        let seen = hold(&self.seen);
        is_fresh(seen.looked, LOOK_EVERY, now).then(|| Arc::clone(&seen.crawls))
    }

    /// Where crawls lie. Walks the folders where it is time to.
    async fn folders(&self, now: Timestamp) -> Result<Vec<Folder>, StoreError> {
        let (known, forgotten) = {
            let seen = hold(&self.seen);
            let is_fresh = is_fresh(seen.walked, WALK_EVERY, now);
            (is_fresh.then(|| seen.folders.clone()), seen.forgotten)
        };
        if let Some(folders) = known {
            return Ok(folders);
        }
        let root = self.root.clone();
        let found = blocking(move || find::crawls(&root)).await?;
        let folders: Vec<Folder> = found.into_iter().map(Folder::from).collect();
        let mut seen = hold(&self.seen);
        seen.folders.clone_from(&folders);
        if seen.forgotten == forgotten {
            seen.walked = Some(now);
        }
        Ok(folders)
    }

    /// Asks all crawls that have a socket, at the same time.
    async fn ask_all(&self, folders: &[(Folder, bool)]) -> Vec<Heard> {
        let mut asked = JoinSet::new();
        for (at, (folder, _)) in folders.iter().enumerate().filter(|(_, (_, has))| *has) {
            let (inquiry, dir) = (self.inquiry.clone(), folder.dir.root().to_owned());
            asked.spawn(async move { (at, inquiry.status(&dir).await) });
        }
        let mut heard = vec![Heard::Nobody; folders.len()];
        while let Some(answered) = asked.join_next().await {
            let (at, answer) = answered.expect("asking does not panic");
            heard[at] = answer;
        }
        heard
    }

    /// One crawl, as it stands now.
    pub(crate) async fn get(
        &self,
        id: &str,
        now: Timestamp,
    ) -> Result<Option<Arc<Crawl>>, StoreError> {
        let Some((folder, before)) = self.find(id, now).await? else {
            return Ok(None);
        };
        let heard = self.inquiry.status(folder.dir.root()).await;
        let looked = blocking(move || Crawl::new(folder, heard, before.as_deref())).await;
        Ok(Some(Arc::new(looked)))
    }

    /// Where a crawl lies, and how it stood last.
    async fn find(
        &self,
        id: &str,
        now: Timestamp,
    ) -> Result<Option<(Folder, Option<Arc<Crawl>>)>, StoreError> {
        let of = |crawls: &[Arc<Crawl>]| crawls.iter().find(|crawl| crawl.id == id).cloned();
        // Where a crawl lies does not change: an older list will do.
        let known = of(&hold(&self.seen).crawls);
        let known = match known {
            Some(known) => {
                let root = known.dir.root().to_owned();
                blocking(move || is_crawl(&root)).await.then_some(known)
            }
            None => None,
        };
        let known = match known {
            Some(known) => Some(known),
            None => of(&self.list(now).await?),
        };
        if let Some(known) = known {
            let folder = Folder {
                id: known.id.clone(),
                name: known.name.clone(),
                dir: known.dir.clone(),
            };
            return Ok(Some((folder, Some(known))));
        }
        // Made since folders were walked last, perhaps by a terminal: look there.
        let (root, id) = (self.root.clone(), id.to_owned());
        let found = blocking(move || find::one(&root, &id)).await;
        if found.is_some() {
            self.forget();
        }
        Ok(found.map(|found| (found.into(), None)))
    }

    /// There may be another crawl now: look again next time.
    pub(crate) fn forget(&self) {
        let mut seen = hold(&self.seen);
        seen.walked = None;
        seen.looked = None;
        seen.forgotten += 1;
    }
}

/// Which crawls have a socket, or a lock without one: the others need not be
/// asked. Blocks.
fn with_sockets(folders: Vec<Folder>) -> Vec<(Folder, bool)> {
    let has = |folder: &Folder| {
        // A lock that cannot be looked at is somebody's.
        folder.dir.root().join(remote::SOCKET).exists()
            || !matches!(folder.dir.lock_owner(), Ok(None))
    };
    let folders = folders.into_iter();
    folders
        .map(|folder| (folder.clone(), has(&folder)))
        .collect()
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

    #[tokio::test]
    async fn crawls_are_found_named_and_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut status = Status {
            state: Phase::Done,
            reason: Some(Ending::PageLimit),
            ..Status::default()
        };
        crawl(folder.path(), "a", &status);
        crawl(folder.path(), "deep/er/한글 b", &status);
        let library = Library::new(folder.path());
        let crawls = library.list(at(0)).await.unwrap();
        let names: Vec<&str> = crawls.iter().map(|crawl| &*crawl.name).collect();
        assert_eq!(names, ["a", "deep/er/한글 b"]);
        assert_eq!(crawls[0].state(), "page-limit");
        for crawl in crawls.iter() {
            let found = library.get(&crawl.id, at(0)).await.unwrap().unwrap();
            assert_eq!(found.name, crawl.name);
        }
        assert!(library.get("..~2Fa", at(0)).await.unwrap().is_none());

        status.counters.saved = 7;
        crawl(folder.path(), "a", &status);
        let crawls = library.list(at(2)).await.unwrap();
        assert_eq!(crawls[0].status.as_ref().unwrap().counters.saved, 7);
    }

    #[tokio::test]
    async fn a_crawl_made_a_moment_ago_is_found_at_once() {
        let folder = tempfile::tempdir().unwrap();
        crawl(folder.path(), "a", &Status::default());
        let library = Library::new(folder.path());
        assert_eq!(library.list(at(0)).await.unwrap().len(), 1);
        crawl(folder.path(), "new/한글", &Status::default());
        let id = id::encode("new/한글");
        assert_eq!(
            library.get(&id, at(0)).await.unwrap().unwrap().name,
            "new/한글"
        );
        assert_eq!(library.list(at(0)).await.unwrap().len(), 2);
        // Nothing outside the root, nor inside a crawl, has an id.
        crawl(folder.path(), "a/inside", &Status::default());
        let root = Library::new(&folder.path().join("new"));
        for name in ["../a", "/etc", "a/inside", "", "한글/..", "./한글"] {
            assert!(
                library
                    .get(&id::encode(name), at(0))
                    .await
                    .unwrap()
                    .is_none(),
                "{name}"
            );
            assert!(
                root.get(&id::encode(name), at(0)).await.unwrap().is_none(),
                "{name}"
            );
        }
    }

    #[tokio::test]
    async fn a_crawl_directory_is_a_library_of_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("news");
        crawl(folder.path(), "news", &Status::default());
        let crawls = Library::new(&root).list(at(0)).await.unwrap();
        assert_eq!(crawls.len(), 1);
        assert_eq!(crawls[0].name, "news");
        assert_eq!(crawls[0].state(), "not-closed");
    }

    #[tokio::test]
    async fn a_broken_status_is_told_and_breaks_nothing() {
        let folder = tempfile::tempdir().unwrap();
        crawl(folder.path(), "a", &Status::default());
        std::fs::write(folder.path().join("a/status.json"), "rubbish").unwrap();
        let crawls = Library::new(folder.path()).list(at(0)).await.unwrap();
        let trouble = crawls[0].trouble.as_deref().unwrap();
        assert!(trouble.contains("status.json cannot be read"), "{trouble}");
        assert_eq!(crawls[0].state(), "empty");
    }
}
