//! A file that is written when the work is done, and opened before it: a wrong path
//! is told at once, and what the file held stays until there is something better.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// What it is written through.
pub(super) type Out = BufWriter<File>;

/// The file.
pub(super) struct OutFile {
    path: PathBuf,
    file: File,
}

impl OutFile {
    /// Opens it, or makes it, and changes nothing of what it holds.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(path);
        Ok(Self {
            file: file.with_context(|| failure(path))?,
            path: path.to_owned(),
        })
    }

    /// Writes it anew.
    pub(super) fn write(
        self,
        write: impl FnOnce(&mut Out) -> std::io::Result<()>,
    ) -> anyhow::Result<()> {
        let written = emptied(self.file).and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out)?;
            out.flush()
        });
        written.with_context(|| failure(&self.path))
    }
}

/// Without what it held; a pipe or a terminal holds nothing.
fn emptied(file: File) -> std::io::Result<File> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    Ok(file)
}

fn failure(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
