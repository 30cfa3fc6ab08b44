//! Where an export goes, and that it appears there whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use geomi_store::{AtomicFile, StoreError};

use super::args::{ExportArgs, Kind};
use crate::config::Problems;
use crate::terminal;

/// Where to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Standard output.
    Stdout,
    /// A file that will appear when it is complete.
    File(PathBuf),
    /// A folder that will.
    Folder(PathBuf),
}

impl Target {
    /// Reads `-o` and refuses what would overwrite something or cannot work.
    pub(crate) fn of(args: &ExportArgs) -> anyhow::Result<Self> {
        let kind = args.kind.as_str();
        let refuse = |what: String| {
            let mut problems = Problems::default();
            problems.add_general(what);
            Err(problems.into())
        };
        let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) else {
            return match args.kind {
                Kind::Parquet => refuse(format!("a {kind} export is no text: name a file with -o")),
                Kind::Files => refuse(format!("a {kind} export is a folder: name it with -o")),
                Kind::Warc if terminal::is_stdout_terminal() => refuse(
                    "a warc export is no text for a terminal: name a file with -o, or pipe it"
                        .to_owned(),
                ),
                _ => Ok(Self::Stdout),
            };
        };
        // A name alone lies in a folder too, which its writer must be able to name.
        let path = std::path::absolute(out)?;
        if is_inside(&path, &args.dir) {
            return refuse(format!(
                "{} lies inside the crawl directory: choose a place outside",
                out.display()
            ));
        }
        if !is_free(&path, args.kind)? {
            return refuse(format!(
                "{} is there already and not empty: choose another name or remove it",
                out.display()
            ));
        }
        Ok(match args.kind {
            Kind::Files => Self::Folder(path),
            _ => Self::File(path),
        })
    }

    /// For people.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdout => "standard output".to_owned(),
            Self::File(path) | Self::Folder(path) => path.display().to_string(),
        }
    }

    /// Where temporary files may lie: where the result will, if that is known.
    pub(crate) fn scratch(&self) -> PathBuf {
        match self {
            Self::File(path) | Self::Folder(path) => path
                .parent()
                .map_or_else(std::env::temp_dir, Path::to_owned),
            Self::Stdout => std::env::temp_dir(),
        }
    }

    /// Opens a target that is not a folder.
    pub(crate) fn open(&self) -> Result<Sink, StoreError> {
        Ok(match self {
            Self::Stdout => Sink::Stdout(terminal::stdout_lines()),
            Self::File(path) | Self::Folder(path) => Sink::File(AtomicFile::create(path)?),
        })
    }
}

fn is_inside(path: &Path, dir: &Path) -> bool {
    // What cannot be resolved is not there, so nothing can lie inside it.
    let (Some(Ok(parent)), Ok(dir)) = (path.parent().map(fs::canonicalize), dir.canonicalize())
    else {
        return false;
    };
    parent.starts_with(&dir) || parent.join(path.file_name().unwrap_or_default()) == dir
}

/// Whether nothing would be lost under this name.
fn is_free(path: &Path, kind: Kind) -> anyhow::Result<bool> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(StoreError::from_io("look at", path, error).into()),
    };
    Ok(if kind == Kind::Files {
        let entries = found.is_dir().then(|| fs::read_dir(path)).transpose();
        let entries = entries.map_err(|error| StoreError::from_io("list", path, error))?;
        entries.is_some_and(|mut entries| entries.next().is_none())
    } else {
        found.is_file() && found.len() == 0
    })
}

/// A target that is being written. Dropping it unfinished leaves no file.
#[derive(Debug)]
pub(crate) enum Sink {
    /// Standard output.
    Stdout(terminal::Lines),
    /// A file.
    File(AtomicFile),
}

impl Sink {
    /// Hands everything on and gives a file its name.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        match self {
            Self::Stdout(mut out) => out
                .flush()
                .map_err(|error| StoreError::from_io("write", Path::new("standard output"), error)),
            Self::File(file) => file.commit(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::File(file) => file.flush(),
        }
    }
}
