//! One line of JSON to a running crawl, one line back.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use geomi_engine::Status;
use geomi_engine::explain::{Explanation, QueuedSample, SiteOrder, SitesPage};

/// The longest line: room for some hundred thousand seeds.
pub(super) const LINE_BYTES_MAX: u64 = 64 << 20;
/// Whoever says nothing for so long has gone away.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked of a crawl.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Say how it stands.
    Status,
    /// Start no new request.
    Pause,
    /// Go on.
    Resume,
    /// End in good order.
    Stop {
        /// Without waiting for what is under way.
        now: bool,
    },
    /// Change keys: `KEY=VALUE`, or `KEY+=VALUE` to add to a list.
    Set {
        /// The settings.
        settings: Vec<String>,
    },
    /// Take in seeds: URL and topic.
    Add {
        /// The seeds.
        seeds: Vec<(String, Option<String>)>,
    },
    /// Explain the crawl, or a URL, or the site of one.
    Explain {
        /// A URL; the crawl if there is none.
        url: Option<String>,
        /// Whether its site is meant.
        is_site: bool,
    },
    /// List sites.
    Sites {
        /// In which order.
        order: SiteOrder,
        /// Those behind this place, as the page before named it.
        after: Option<String>,
        /// How many at most.
        limit: usize,
        /// Only those whose name has this in it.
        part: Option<String>,
    },
    /// Name some of the URLs that wait.
    Queued {
        /// How many at most.
        limit: usize,
    },
}

/// What a crawl answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Response {
    /// How it stands.
    Status {
        /// The process that runs it.
        pid: u32,
        /// Its last status.
        status: Box<Status>,
    },
    /// It was done.
    Done,
    /// What became of the seeds.
    Added {
        /// Queued.
        added: u64,
        /// Known already.
        known: u64,
        /// Refused: URL and reason.
        refused: Vec<(String, String)>,
    },
    /// The explanation.
    Explained {
        /// All of it.
        explanation: Box<Explanation>,
    },
    /// A page of sites.
    Sites {
        /// The page.
        page: Box<SitesPage>,
    },
    /// Some of the URLs that wait.
    Queued {
        /// The sample.
        sample: QueuedSample,
    },
    /// It was not done, and why; all reasons at once.
    Refused {
        /// The reasons.
        problems: Vec<String>,
    },
}

/// Sends one line.
pub fn send<T: Serialize>(stream: &UnixStream, message: &T) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    (&*stream).write_all(&line(message)?)
}

/// A message as a line.
pub(super) fn line<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// The message in a line, which has to be whole.
pub(super) fn message<T: DeserializeOwned>(line: &[u8]) -> io::Result<T> {
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(line)?)
}

/// Receives one line. `patience` is how long a silence may last.
pub fn receive<T: DeserializeOwned>(stream: &UnixStream, patience: Duration) -> io::Result<T> {
    stream.set_read_timeout(Some(patience))?;
    let mut line = Vec::new();
    BufReader::new(stream.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line)?;
    message(&line)
}
