//! The crawl directory: where each file lies, who may write, how files appear.
//!
//! The layout is a contract with the user; this is the only place that spells
//! it. One process may write at a time: it holds an advisory lock of the
//! operating system on the file `lock`, so that a process that died does not
//! keep the next one out, and its name stands in the file so that a refused
//! process can say who is in the way. Whole files appear atomically: written
//! beside their name, synced, renamed. Files that are written in place are opened with
//! [`open_in_place`], which follows no symbolic link.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock, statvfs};
use rustix::io::Errno;

use crate::{StoreError, open_regular};

/// A crawl directory, by its paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrawlDir {
    root: PathBuf,
}

impl CrawlDir {
    /// Names a directory; nothing is touched.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Creates the directory and its folders where they are missing.
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let dir = Self::new(root);
        for folder in [dir.warc(), dir.index_parts(), dir.visits(), dir.frontier()] {
            fs::create_dir_all(&folder).map_err(StoreError::io("create", &folder))?;
        }
        sync_dir(&dir.root)?;
        Ok(dir)
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Configuration as used.
    pub fn config(&self) -> PathBuf {
        self.root.join("geomi.toml")
    }

    /// State, reason and counters, rewritten every second.
    pub fn status(&self) -> PathBuf {
        self.root.join("status.json")
    }

    /// One line every ten seconds.
    pub fn stats(&self) -> PathBuf {
        self.root.join("stats.jsonl")
    }

    /// One line a visit.
    pub fn log(&self) -> PathBuf {
        self.root.join("log.jsonl")
    }

    /// Folder of the WARC files.
    pub fn warc(&self) -> PathBuf {
        self.root.join("warc")
    }

    /// Folder of the indexes.
    pub fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    /// Folder of index parts that are not merged yet.
    pub fn index_parts(&self) -> PathBuf {
        self.index().join("parts")
    }

    /// The sorted index of captures.
    pub fn cdxj(&self) -> PathBuf {
        self.index().join("index.cdxj")
    }

    /// Index lines of visits that are in no segment yet, while a crawl runs.
    pub fn index_recent(&self) -> PathBuf {
        self.index().join("recent.cdxj")
    }

    /// Folder of the tables of visits.
    pub fn visits(&self) -> PathBuf {
        self.root.join("visits")
    }

    /// Folder of the tables of one partition's visits.
    pub fn visits_of(&self, partition: Option<u16>) -> PathBuf {
        match partition {
            None => self.visits(),
            Some(partition) => self.visits().join(format!("partition={partition:04}")),
        }
    }

    /// The partition whose tables a folder of `visits/` holds, by the folder's name.
    pub fn partition_of_folder(name: &str) -> Option<u16> {
        let digits = name.strip_prefix("partition=")?;
        let partition = digits.parse().ok()?;
        // Another spelling of the number is not a folder of ours.
        (digits == format!("{partition:04}")).then_some(partition)
    }

    /// Extracted rows.
    pub fn items(&self) -> PathBuf {
        self.root.join("items.db")
    }

    /// The output URL list.
    pub fn seeds_out(&self) -> PathBuf {
        self.root.join("seeds-out.txt")
    }

    /// The seed table.
    pub fn seeds_table(&self) -> PathBuf {
        self.root.join("seeds.parquet")
    }

    /// The schedule table that the console paints.
    pub fn schedule(&self) -> PathBuf {
        self.root.join("schedule.csv")
    }

    /// Folder of answers that broke the reader.
    pub fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// Private state; deleting it loses only the ability to resume.
    pub fn frontier(&self) -> PathBuf {
        self.root.join("frontier")
    }

    /// The owner's mark.
    pub fn lock_file(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// Bytes an ordinary user may still write to this disk.
    pub fn free_bytes(&self) -> Result<u64, StoreError> {
        let stat = statvfs(&self.root)
            .map_err(|errno| StoreError::io("measure the disk of", &self.root)(errno.into()))?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Becomes the only writer, until the returned lock is dropped or the
    /// process ends in whatever way.
    pub fn lock(&self, owner: &Owner) -> Result<DirLock, StoreError> {
        let path = self.lock_file();
        let mut options = File::options();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = open_in_place(&mut options, &path).map_err(StoreError::io("open", &path))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(StoreError::Locked {
                    path: self.root.clone(),
                    owner: read_owner(&mut file, &path)?,
                });
            }
            Err(errno) => return Err(StoreError::io("lock", &path)(errno.into())),
        }
        file.set_len(0)
            .and_then(|()| write!(file, "{owner}"))
            .map_err(StoreError::io("write", &path))?;
        Ok(DirLock { file })
    }

    /// Who holds the lock now; `None` if nobody does.
    pub fn lock_owner(&self) -> Result<Option<String>, StoreError> {
        let path = self.lock_file();
        let mut file = match open_regular(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("open", &path)(error)),
        };
        match flock(&file, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(None),
            Err(Errno::WOULDBLOCK) => read_owner(&mut file, &path).map(Some),
            Err(errno) => Err(StoreError::io("lock", &path)(errno.into())),
        }
    }

    /// Puts `bytes` at `path` so that a reader sees the old file or the new
    /// one, and a crash leaves one of the two.
    pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        AtomicFile::create(path)?.write_whole(bytes)
    }

    /// The same for a file that only its owner may read: it holds a secret. Its mode
    /// is 0600 from the beginning.
    pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        AtomicFile::create_private(path)?.write_whole(bytes)
    }
}

/// Who writes to a crawl directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Owner {
    /// Process id.
    pub pid: u32,
    /// Name of the machine.
    pub host: String,
    /// When the process began, as the caller writes times.
    pub started: String,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, host, started } = self;
        write!(f, "process {pid} on {host} since {started}")
    }
}

fn read_owner(file: &mut File, path: &Path) -> Result<String, StoreError> {
    let mut owner = String::new();
    file.take(1024)
        .read_to_string(&mut owner)
        .map_err(StoreError::io("read", path))?;
    if owner.is_empty() {
        // The winner of a race has the lock but has not written its name yet.
        owner.push_str("a process that is just starting");
    }
    Ok(owner)
}

/// The right to write to a crawl directory; dropping it gives it up.
#[derive(Debug)]
pub struct DirLock {
    file: File,
}

impl Drop for DirLock {
    fn drop(&mut self) {
        // The name is only a courtesy to whoever finds the lock taken, and the
        // lock itself goes with the file handle: a failure changes nothing.
        let _ = self.file.set_len(0);
    }
}

/// Opens a file of a crawl directory that is written in place.
///
/// Only a regular file is opened: a symbolic link could lead to any file of the
/// operator, which would be emptied or appended to. Opening never waits, not even for the
/// other end of a FIFO.
pub fn open_in_place(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let refused = |what: &str| {
        let remedy = "only regular files are written in a crawl directory; remove it";
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("it is {what}: {remedy}"),
        )
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) => refused("a symbolic link"),
            _ => error,
        })?;
    if !file.metadata()?.is_file() {
        return Err(refused("not a regular file"));
    }
    Ok(file)
}

/// A file that appears under its name only when it is complete.
///
/// Until then it lies beside its place, under a name of its own. It is created
/// exclusively, so that a link somebody put there is not followed, and with its
/// final mode, so that nobody reads it in between. Dropping it without
/// [`AtomicFile::commit`] leaves the old file as it was.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    out: BufWriter<File>,
    committed: bool,
}

impl AtomicFile {
    /// Starts a file that will be called `path`. It has the mode of the file it
    /// replaces, or the usual one.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let temporary = temporary(path);
        let failed = StoreError::io("create", &temporary);
        let file = match replaced_mode(path) {
            None => create_exclusively(&temporary, 0o666),
            // The umask is not to take away what the old file grants.
            Some(mode) => create_exclusively(&temporary, mode).and_then(|file| {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
                Ok(file)
            }),
        };
        Ok(Self::new(path, temporary.clone(), file.map_err(failed)?))
    }

    /// The same with mode 0600.
    fn create_private(path: &Path) -> Result<Self, StoreError> {
        let temporary = temporary(path);
        let file = create_exclusively(&temporary, 0o600);
        let file = file.map_err(StoreError::io("create", &temporary))?;
        Ok(Self::new(path, temporary, file))
    }

    fn new(path: &Path, temporary: PathBuf, file: File) -> Self {
        Self {
            path: path.to_owned(),
            temporary,
            out: BufWriter::with_capacity(64 << 10, file),
            committed: false,
        }
    }

    fn write_whole(mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_all(bytes)
            .map_err(StoreError::io("write", &self.path))?;
        self.commit()
    }

    /// Makes the file durable and gives it its name.
    pub fn commit(mut self) -> Result<(), StoreError> {
        self.out
            .flush()
            .and_then(|()| self.out.get_ref().sync_all())
            .map_err(StoreError::io("write", &self.path))?;
        fs::rename(&self.temporary, &self.path)
            .map_err(StoreError::io("rename", &self.temporary))?;
        self.committed = true;
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => sync_dir(folder),
            _ => sync_dir(Path::new(".")),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // A leftover is overwritten by the next attempt; it costs only space.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Where a file is written before it has its name.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    PathBuf::from(name)
}

/// The mode of the regular file that is there now.
fn replaced_mode(path: &Path) -> Option<u32> {
    let found = fs::symlink_metadata(path).ok()?;
    found.is_file().then(|| found.permissions().mode() & 0o777)
}

/// Creates a file that was not there. What an earlier attempt left is removed, a
/// link itself and not what it leads to.
fn create_exclusively(path: &Path, mode: u32) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
}

/// Makes names that appeared in or vanished from a folder durable.
pub(crate) fn sync_dir(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io("sync", path))
}

/// Names of the files in a folder, sorted; a missing folder is empty.
pub(crate) fn file_names(folder: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io("list", folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io("list", folder))?;
        // We write no names that are not UTF-8, so others' are none of ours.
        if let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(pid: u32) -> Owner {
        Owner {
            pid,
            host: "crawler-1".into(),
            started: "2026-11-15T09:42:00Z".into(),
        }
    }

    #[test]
    fn a_second_writer_is_told_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        assert_eq!(dir.lock_owner().unwrap(), None);
        let lock = dir.lock(&owner(41)).unwrap();
        let refused = dir.lock(&owner(42)).unwrap_err();
        assert!(matches!(
            &refused,
            StoreError::Locked { owner, .. } if owner == "process 41 on crawler-1 since 2026-11-15T09:42:00Z"
        ));
        assert_eq!(dir.lock_owner().unwrap(), Some(owner(41).to_string()));
        drop(lock);
        assert_eq!(dir.lock_owner().unwrap(), None);
        dir.lock(&owner(42)).unwrap();
    }

    #[test]
    fn a_dead_owners_name_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        fs::write(dir.lock_file(), "process 7 on elsewhere since long ago").unwrap();
        let _lock = dir.lock(&owner(8)).unwrap();
        assert_eq!(dir.lock_owner().unwrap(), Some(owner(8).to_string()));
    }

    #[test]
    fn a_lock_that_is_a_link_is_refused_and_its_target_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path().join("crawl")).unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, dir.lock_file()).unwrap();
        let refused = dir.lock(&owner(8)).unwrap_err();
        let StoreError::Io { source, .. } = &refused else {
            panic!("{refused:?}")
        };
        assert!(source.to_string().contains("a symbolic link"), "{source}");
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        fs::remove_file(dir.lock_file()).unwrap();
        fs::create_dir(dir.lock_file()).unwrap();
        assert!(dir.lock(&owner(8)).is_err());
    }

    #[test]
    fn an_abandoned_file_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        CrawlDir::write_atomic(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(file_names(folder.path()).unwrap(), ["status.json"]);
        CrawlDir::write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_link_in_the_place_of_a_temporary_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, temporary(&path)).unwrap();
        CrawlDir::write_atomic(&path, b"new").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_file_has_its_final_mode_from_the_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("geomi.toml");
        CrawlDir::write_atomic(&path, b"open").unwrap();
        // What an earlier attempt left has the mode of that attempt.
        fs::write(temporary(&path), "left over").unwrap();
        let private = AtomicFile::create_private(&path).unwrap();
        assert_eq!(mode(&temporary(&path)), 0o600);
        private.write_whole(b"secret").unwrap();
        assert_eq!(mode(&path), 0o600);
        // Whoever replaces it keeps it private.
        let next = AtomicFile::create(&path).unwrap();
        assert_eq!(mode(&temporary(&path)), 0o600);
        next.write_whole(b"other").unwrap();
        assert_eq!(
            (mode(&path), fs::read(&path).unwrap()),
            (0o600, b"other".to_vec())
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        CrawlDir::write_atomic(&path, b"again").unwrap();
        assert_eq!(mode(&path), 0o666, "whatever the umask");
    }

    #[test]
    fn a_full_disk_has_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("status.json");
        CrawlDir::write_atomic(&path, b"old").unwrap();
        let full = File::options().write(true).open("/dev/full").unwrap();
        let file = AtomicFile::new(&path, temporary(&path), full);
        let error = file.write_whole(b"new").unwrap_err();
        assert!(matches!(error, StoreError::DiskFull { path: named } if named == path));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn the_disk_has_room() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        assert!(dir.free_bytes().unwrap() > 0);
    }
}
