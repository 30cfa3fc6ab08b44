//! A list of seeds before it is read: where it is, and what is in it.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use super::cannot_read;
use super::hosts::InternalHosts;
use super::lines::Lines;
use crate::config::{Locality, Place, Problems};

/// Bad lines told one by one; a file of another kind would have millions.
const BAD_LINES_MAX: usize = 20;

/// A list, opened.
#[derive(Debug)]
pub(crate) struct List {
    path: PathBuf,
    file: File,
    /// Where it begins, if it can be read more than once.
    start: Option<u64>,
}

impl List {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut file = if path == Path::new("-") {
            File::from(io::stdin().as_fd().try_clone_to_owned()?)
        } else {
            File::open(path)?
        };
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // A file that was redirected to standard input is a file like any other.
        let start = if kind.is_file() {
            Some(file.stream_position()?)
        } else {
            None
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            start,
        })
    }

    /// Whether it can be looked through before it is read.
    pub(crate) const fn is_repeatable(&self) -> bool {
        self.start.is_some()
    }

    /// Reads it, from its beginning if that is possible.
    pub(super) fn lines(mut self) -> io::Result<Lines> {
        if let Some(start) = self.start {
            self.file.seek(SeekFrom::Start(start))?;
        }
        Lines::open(self.file)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What it is called in messages.
    pub(crate) fn name(&self) -> PathBuf {
        name(&self.path)
    }

    /// Looks through the whole of it and keeps only what a configuration needs
    /// to know. What is wrong with it goes to the problems.
    pub(crate) fn survey(
        &self,
        flag: &str,
        locality: &Locality<'_>,
        problems: &mut Problems,
    ) -> Survey {
        let mut survey = Survey::default();
        let mut bad = BadLines::new(&self.path);
        let outcome = self
            .try_clone()
            .and_then(List::lines)
            .and_then(|mut lines| {
                while let Some((number, line)) = lines.next_seed()? {
                    match line {
                        Ok(seed) => survey.take(&seed.url, locality),
                        Err(what) => bad.add(number, &what, problems),
                    }
                }
                Ok(())
            });
        survey.has_problems = bad.count > 0 || outcome.is_err();
        bad.tell_rest(problems);
        if let Err(error) = outcome {
            cannot_read(flag, &self.path, &error, problems);
        }
        survey
    }

    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            path: self.path.clone(),
            file: self.file.try_clone()?,
            start: self.start,
        })
    }
}

/// What a list has in it.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Lines that are seeds.
    pub(crate) seeds: u64,
    /// The first host on the public internet.
    pub(crate) public: Option<String>,
    /// Hosts that are plainly not.
    pub(crate) internal: InternalHosts,
    /// Whether something was wrong with it.
    pub(crate) has_problems: bool,
}

impl Survey {
    fn take(&mut self, url: &geomi_url::CrawlUrl, locality: &Locality<'_>) {
        self.seeds += 1;
        self.internal.take(url);
        if self.public.is_none() && !locality.is_local(url.host()) {
            self.public = Some(url.host().to_owned());
        }
    }
}

/// Lines that cannot be used: the first are told one by one, then their number.
#[derive(Debug)]
pub(crate) struct BadLines {
    path: PathBuf,
    count: usize,
}

impl BadLines {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: name(path),
            count: 0,
        }
    }

    /// What the list is called.
    pub(super) fn name(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// Takes one; in words, if it is among the first.
    pub(super) fn tell(&mut self, number: usize, what: &str) -> Option<String> {
        self.count += 1;
        let place = Place::File(self.path.clone(), number);
        (self.count <= BAD_LINES_MAX).then(|| format!("{place}: {what}"))
    }

    pub(super) fn add(&mut self, number: usize, what: &str, problems: &mut Problems) {
        if let Some(words) = self.tell(number, what) {
            problems.add_general(words);
        }
    }

    /// How many there were beside those that were told.
    pub(super) fn rest(&self) -> Option<String> {
        let more = self
            .count
            .checked_sub(BAD_LINES_MAX)
            .filter(|more| *more > 0)?;
        Some(format!("{}: {more} more lines cannot be used", self.name()))
    }

    pub(super) fn tell_rest(&self, problems: &mut Problems) {
        if let Some(words) = self.rest() {
            problems.add_general(words);
        }
    }
}

/// What a list is called in messages.
fn name(path: &Path) -> PathBuf {
    if path == Path::new("-") {
        return PathBuf::from("standard input");
    }
    path.to_owned()
}
