//! Names of WARC files: `NAME-TIME-SERIAL-WORKER.warc.gz`.

use std::fmt;

const SUFFIX: &str = ".warc.gz";
const OPEN: &str = ".open";

/// A file's name in its parts. It prints without `.open`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileName {
    pub(super) name: String,
    /// When the file was begun, as 14 digits.
    pub(super) time: String,
    /// Counts a worker's files, over all runs.
    pub(super) serial: u32,
    pub(super) worker: String,
}

impl FileName {
    /// Reads a name as found in the folder, and whether it ends in `.open`.
    pub(crate) fn parse(text: &str) -> Option<(Self, bool)> {
        let (text, is_open) = match text.strip_suffix(OPEN) {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut parts = text.strip_suffix(SUFFIX)?.rsplitn(4, '-');
        let worker = parts.next()?.to_owned();
        let serial = parts.next()?.parse().ok()?;
        let time = parts.next()?.to_owned();
        let name = parts.next()?.to_owned();
        let name = Self {
            name,
            time,
            serial,
            worker,
        };
        Some((name, is_open))
    }

    /// The name while the file is being written.
    pub(super) fn open_name(&self) -> String {
        format!("{self}{OPEN}")
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            time,
            serial,
            worker,
        } = self;
        write!(f, "{name}-{time}-{serial:05}-{worker}{SUFFIX}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        let name = FileName {
            name: "my-crawl".into(),
            time: "20261115094200".into(),
            serial: 7,
            worker: "w0".into(),
        };
        let text = "my-crawl-20261115094200-00007-w0.warc.gz";
        assert_eq!(name.to_string(), text);
        assert_eq!(FileName::parse(text), Some((name.clone(), false)));
        assert_eq!(FileName::parse(&name.open_name()), Some((name, true)));
        assert_eq!(FileName::parse("notes.txt"), None);
        assert_eq!(FileName::parse("a-b.warc.gz"), None);
    }
}
