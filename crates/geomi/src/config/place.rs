//! Where a value came from, and everything that is wrong with all of them.

use std::fmt;
use std::path::PathBuf;

/// Where a value was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Nowhere: it is the default.
    Default,
    /// In the preset of this name.
    Preset(&'static str),
    /// In a file, on this line.
    File(PathBuf, usize),
    /// On the command line, by this flag or argument.
    Flag(String),
    /// In this variable of the environment.
    Variable(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(name) => write!(f, "preset {name}"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Flag(flag) => f.write_str(flag),
            Self::Variable(name) => write!(f, "variable {name}"),
        }
    }
}

/// All that is wrong with what the user wrote. Reported at once, so that a
/// crawl is not put right one message at a time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Problems(Vec<String>);

impl Problems {
    /// A single thing wrong, with the whole.
    pub(crate) fn one(what: impl Into<String>) -> Self {
        Self(vec![what.into()])
    }

    /// Something wrong at a place.
    pub(crate) fn add(&mut self, place: &Place, what: impl fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// Something wrong with the whole.
    pub(crate) fn add_general(&mut self, what: impl Into<String>) {
        self.0.push(what.into());
    }

    /// Nothing, or everything as one error.
    pub(crate) fn into_result(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// Each problem in words.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for Problems {}
