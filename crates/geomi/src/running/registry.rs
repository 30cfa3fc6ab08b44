//! Where running crawls leave a note, so that `geomi ls` finds them.
//!
//! A note is a file named after the process in a folder only its user can read:
//! `$XDG_RUNTIME_DIR/geomi`, or `geomi-UID` in the folder for temporary files.
//! It names the crawl directory. A note whose process is gone is stale and is
//! removed by whoever finds it.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// A note that is removed when the crawl ends.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
}

impl Note {
    /// Leaves a note of a crawl of this process.
    pub(crate) fn leave(dir: &Path) -> io::Result<Self> {
        let path = folder()?.join(std::process::id().to_string());
        fs::write(&path, dir.canonicalize()?.as_os_str().as_encoded_bytes())?;
        Ok(Self { path })
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // A note that stays is found to be stale by the next reader.
        let _stale = fs::remove_file(&self.path);
    }
}

/// The directories of all crawls that left a note, and the notes.
pub(crate) fn noted() -> io::Result<Vec<(PathBuf, PathBuf)>> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder()?)? {
        let note = entry?.path();
        // One that was removed in this moment is no longer of interest.
        if let Ok(dir) = fs::read(&note) {
            found.push((PathBuf::from(std::ffi::OsString::from_vec(dir)), note));
        }
    }
    found.sort();
    Ok(found)
}

/// The folder, made if it is missing. One that belongs to somebody else, who
/// could mislead us, is not used.
fn folder() -> io::Result<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(base) if !base.is_empty() => PathBuf::from(base).join("geomi"),
        _ => std::env::temp_dir().join(format!("geomi-{user}")),
    };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    let meta = fs::symlink_metadata(&folder)?;
    if !meta.is_dir() || meta.uid() != user {
        return Err(io::Error::other(format!(
            "{} belongs to somebody else",
            folder.display()
        )));
    }
    Ok(folder)
}
