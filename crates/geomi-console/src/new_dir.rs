//! The directory of a crawl that is being started: made exclusively, and removed
//! again if the crawl refuses to start.
//!
//! Two requests may want the same name at once. The one that makes the directory has
//! it; the other makes and removes nothing. What is removed is what this request made,
//! known by device and inode of the file, which stays open until then. A directory with a `lock` belongs to a process that
//! began a crawl there, and stays whole.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use geomi_store::{CrawlDir, StoreError};

/// Folders that a crawl makes before it can refuse to start.
const FOLDERS: [&str; 5] = ["warc", "index/parts", "index", "visits", "frontier"];

/// A new directory. Dropping it removes it, unless it was [kept](NewDir::keep).
#[derive(Debug)]
pub(crate) struct NewDir {
    root: PathBuf,
    /// Open, so that no other file gets the same inode.
    made: Vec<(PathBuf, File)>,
    is_kept: bool,
}

/// What tells a file from another of its name.
type Id = (u64, u64);

impl NewDir {
    /// Makes a directory; `None` if the name is taken.
    pub(crate) fn make(root: &Path) -> Result<Option<Self>, StoreError> {
        match fs::create_dir(root) {
            Ok(()) => Ok(Some(Self {
                root: root.to_owned(),
                made: Vec::new(),
                is_kept: false,
            })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(StoreError::from_io("create", root, error)),
        }
    }

    /// Makes a file that only its owner may read.
    pub(crate) fn make_file(&mut self, path: &Path, text: &str) -> Result<File, StoreError> {
        let failed = |error| StoreError::from_io("create", path, error);
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .map_err(failed)?;
        let kept = file.try_clone().map_err(failed)?;
        self.made.push((path.to_owned(), kept));
        file.write_all(text.as_bytes()).map_err(failed)?;
        Ok(file)
    }

    /// The crawl has begun: the directory is its own.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewDir {
    fn drop(&mut self) {
        let lock = CrawlDir::new(&self.root).lock_file();
        if self.is_kept || fs::symlink_metadata(lock).is_ok() {
            return;
        }
        for (path, made) in &self.made {
            // What is not there, or cannot be looked at, is not ours to remove.
            let there = fs::symlink_metadata(path).ok();
            let ours = made.metadata().ok();
            if there
                .zip(ours)
                .is_some_and(|(there, ours)| id(&there) == id(&ours))
            {
                // What cannot be removed stays: the name is taken then.
                let _stays = fs::remove_file(path);
            }
        }
        for name in FOLDERS {
            // A folder that is not empty is not ours, and stays.
            let _stays = fs::remove_dir(self.root.join(name));
        }
        let _stays = fs::remove_dir(&self.root);
    }
}

fn id(meta: &Metadata) -> Id {
    (meta.dev(), meta.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_had_once_and_only_what_was_made_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("one");
        let mut first = NewDir::make(&root).unwrap().unwrap();
        assert!(NewDir::make(&root).unwrap().is_none());
        first.make_file(&root.join("run.log"), "").unwrap();
        let toml = root.join("geomi.toml");
        first.make_file(&toml, "[crawl]").unwrap();
        // Another process has put its own file there.
        fs::remove_file(&toml).unwrap();
        fs::write(root.join("other.toml"), "theirs").unwrap();
        fs::rename(root.join("other.toml"), &toml).unwrap();
        drop(first);
        assert_eq!(fs::read_to_string(&toml).unwrap(), "theirs");
        assert!(!root.join("run.log").exists());
    }

    #[test]
    fn a_directory_that_nobody_took_is_gone_and_one_with_a_lock_stays() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("one");
        let mut made = NewDir::make(&root).unwrap().unwrap();
        made.make_file(&root.join("run.log"), "").unwrap();
        fs::create_dir(root.join("warc")).unwrap();
        drop(made);
        assert!(!root.exists());

        let mut made = NewDir::make(&root).unwrap().unwrap();
        made.make_file(&root.join("run.log"), "").unwrap();
        fs::write(root.join("lock"), "").unwrap();
        drop(made);
        assert!(root.join("lock").exists() && root.join("run.log").exists());
    }
}
