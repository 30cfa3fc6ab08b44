//! The bases of a seen test as files of a folder, merged on a thread.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use geomi_state::StateError;
use geomi_state::seen::{BaseReader, BaseStore, BaseWriter, MergeJob, MergeTask};

use crate::dir::sync_dir;
use crate::{AtomicFile, StoreError};

/// The folder of one seen test. Everything in it belongs to the seen test.
#[derive(Clone, Debug)]
pub struct SeenFolder {
    folder: PathBuf,
}

impl SeenFolder {
    /// Opens a folder, and creates it if it is not there.
    pub fn open(folder: &Path) -> Result<Self, StateError> {
        fs::create_dir_all(folder).map_err(StateError::io("create", folder))?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    fn open_file(&self, generation: u64) -> Result<File, StateError> {
        let path = self.path(generation);
        File::open(&path).map_err(StateError::io("open", &path))
    }
}

impl BaseStore for SeenFolder {
    fn path(&self, generation: u64) -> PathBuf {
        self.folder.join(format!("seen-{generation:08}.base"))
    }

    fn create(&self, generation: u64) -> Result<Box<dyn BaseWriter>, StateError> {
        let file = AtomicFile::create(&self.path(generation));
        Ok(Box::new(FileWriter(file.map_err(state_error)?)))
    }

    fn open(&self, generation: u64) -> Result<Box<dyn BaseReader>, StateError> {
        Ok(Box::new(FileReader(self.open_file(generation)?)))
    }

    fn read(&self, generation: u64) -> Result<Box<dyn Read + Send>, StateError> {
        Ok(Box::new(self.open_file(generation)?))
    }

    fn remove_others(&self, kept: Option<u64>) -> Result<(), StateError> {
        let kept = kept.map(|generation| self.path(generation));
        let failed = || StateError::io("list", &self.folder);
        let mut removed = false;
        for file in fs::read_dir(&self.folder).map_err(failed())? {
            let file = file.map_err(failed())?.path();
            if Some(&file) != kept.as_ref() {
                fs::remove_file(&file).map_err(StateError::io("remove", &file))?;
                removed = true;
            }
        }
        if removed {
            sync_dir(&self.folder).map_err(state_error)?;
        }
        Ok(())
    }

    fn spawn(&self, job: MergeJob) -> Result<Box<dyn MergeTask>, StateError> {
        let thread = std::thread::Builder::new()
            .name("seen-merge".to_owned())
            .spawn(job)
            .map_err(StateError::io("start a thread for", &self.folder))?;
        Ok(Box::new(ThreadTask(thread)))
    }
}

/// Files report what a state store reports, but not as a state error.
fn state_error(error: StoreError) -> StateError {
    match error {
        StoreError::DiskFull { path } => StateError::DiskFull { path },
        StoreError::Io {
            action,
            path,
            source,
        } => StateError::Io {
            action,
            path,
            source,
        },
        other => StateError::Store(other.to_string()),
    }
}

struct FileWriter(AtomicFile);

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl BaseWriter for FileWriter {
    fn finish(self: Box<Self>) -> Result<(), StateError> {
        self.0.commit().map_err(state_error)
    }
}

#[derive(Debug)]
struct FileReader(File);

impl BaseReader for FileReader {
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
    }
}

struct ThreadTask(JoinHandle<()>);

impl MergeTask for ThreadTask {
    fn is_done(&self) -> bool {
        self.0.is_finished()
    }

    fn wait(self: Box<Self>) {
        // A job that panicked reports no result, which its owner notices.
        drop(self.0.join());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use geomi_state::seen::Seen;
    use geomi_state::seen::conformance::{Place, run_all};
    use tempfile::TempDir;

    use super::*;

    struct OnDisk(TempDir);

    impl Place for OnDisk {
        fn fresh() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn open(&self) -> Arc<dyn BaseStore> {
            Arc::new(SeenFolder::open(self.0.path()).unwrap())
        }
    }

    #[test]
    fn conforms() {
        run_all::<OnDisk>();
    }

    fn names(folder: &Path) -> Vec<String> {
        crate::dir::file_names(folder).unwrap()
    }

    #[test]
    fn only_the_base_of_the_manifest_is_left_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let bases = Arc::new(SeenFolder::open(&folder.path().join("p.seen")).unwrap());
        let mut seen = Seen::open(bases.clone(), 8 << 10, None).unwrap();
        (1..200_u64).for_each(|n| seen.insert(n << 50));
        seen.freeze_if_due(7).unwrap();
        (200..400_u64).for_each(|n| seen.insert(n << 50));
        // The young table is full again, so that this waits for the merge.
        let manifest = seen.merged().unwrap().expect("a merge was due");
        assert_eq!((manifest.len, manifest.log_from), (199, 7));
        seen.adopt().unwrap();
        drop(seen);
        let folder = folder.path().join("p.seen");
        assert_eq!(names(&folder), ["seen-00000001.base"]);
        for left_over in ["seen-00000002.base", "seen-00000002.base.tmp"] {
            fs::write(folder.join(left_over), [7; 100]).unwrap();
        }
        let seen = Seen::open(bases, 8 << 10, Some(manifest)).unwrap();
        assert!(seen.contains(1 << 50).unwrap() && !seen.contains(2).unwrap());
        assert_eq!(names(&folder), ["seen-00000001.base"]);
    }
}
