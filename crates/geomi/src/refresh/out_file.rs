//! A file that is written when the work is done, and begun before it: a wrong path is told
//! at once, and what the file held stays until there is something better.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use geomi_store::AtomicFile;

/// The file.
pub(super) struct OutFile {
    path: PathBuf,
    out: Out,
}

/// What it is written through.
enum Out {
    /// It takes the place of what was there when it is complete.
    Replacing(AtomicFile),
    /// A pipe or a terminal: there is nothing to keep, and it cannot be replaced.
    Streaming(BufWriter<File>),
}

impl OutFile {
    /// Begins it, and changes nothing of what is there.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        anyhow::ensure!(!path.is_dir(), "{}: it is a folder", failure(path));
        let out = if path.exists() && !path.is_file() {
            let stream = File::options().write(true).open(path);
            Out::Streaming(BufWriter::new(stream.with_context(|| failure(path))?))
        } else {
            Out::Replacing(AtomicFile::create(path).with_context(|| failure(path))?)
        };
        Ok(Self {
            path: path.to_owned(),
            out,
        })
    }

    /// Writes it anew.
    pub(super) fn write(
        self,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let written = match self.out {
            Out::Replacing(mut file) => write(&mut file)
                .map_err(anyhow::Error::from)
                .and_then(|()| Ok(file.commit()?)),
            Out::Streaming(mut stream) => write(&mut stream)
                .and_then(|()| stream.flush())
                .map_err(anyhow::Error::from),
        };
        written.with_context(|| failure(&self.path))
    }
}

fn failure(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_a_file_held_stays_until_the_new_text_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        fs::write(&path, "old").unwrap();
        let begun = OutFile::open(&path).unwrap();
        drop(begun);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let broken = OutFile::open(&path).unwrap().write(|out| {
            out.write_all(b"half")?;
            Err(std::io::Error::other("the disk is full"))
        });
        assert!(format!("{:#}", broken.unwrap_err()).contains("the disk is full"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        let file = OutFile::open(&path).unwrap();
        file.write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_wrong_path_is_told_before_the_work_begins() {
        let folder = tempfile::tempdir().unwrap();
        assert!(OutFile::open(folder.path()).is_err(), "a folder");
        assert!(OutFile::open(&folder.path().join("none/x.csv")).is_err());
    }
}
