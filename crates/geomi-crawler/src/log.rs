//! log.jsonl: one line a visit, for people and their tools.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use geomi_model::Visit;
use geomi_store::{StoreError, open_in_place};
use serde::Serialize;

/// One line of log.jsonl, and of `--format jsonl`.
#[derive(Debug, Serialize)]
pub struct LogLine<'a> {
    n: u64,
    time: String,
    url: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    bytes: u64,
    depth: u16,
    priority: u8,
    attempt: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<std::net::IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_ms: Option<f64>,
    total_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    links: u32,
    new: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    revisit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// The line for a visit.
    pub fn new(visit: &'a Visit) -> Self {
        let millis = |span: std::time::Duration| (span.as_secs_f64() * 1e6).round() / 1e3;
        Self {
            n: visit.number,
            time: visit.time.to_rfc3339_millis(),
            url: visit.url.as_str(),
            state: visit.state.as_str(),
            code: visit.code,
            mime: visit.mime.as_deref(),
            bytes: visit.body_bytes,
            depth: visit.depth,
            priority: visit.priority,
            attempt: visit.attempt,
            ip: visit.ip,
            rtt_ms: visit.phases.first_byte.map(millis),
            total_ms: millis(visit.phases.total),
            via: visit.via.as_ref().map(geomi_url::CrawlUrl::as_str),
            seed: visit.seed.as_ref().map(geomi_url::CrawlUrl::as_str),
            topic: visit.topic.as_deref(),
            location: visit.location.as_ref().map(geomi_url::CrawlUrl::as_str),
            digest: visit.digest.map(|digest| digest.to_string()),
            links: visit.links,
            new: visit.links_admitted,
            revisit: visit
                .capture
                .as_ref()
                .is_some_and(|capture| capture.kind == geomi_model::CaptureKind::Revisit),
            error: visit.error.as_deref(),
        }
    }
}

/// The log being written.
#[derive(Debug)]
pub(crate) struct VisitLog {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    bytes_max: u64,
    /// Number of the last visit in the log.
    pub(crate) last: u64,
}

impl VisitLog {
    /// Opens the log at its end, less a line that was torn by a crash.
    /// `visits` have been numbered: a log that knows of more belongs to a
    /// frontier that was deleted.
    pub(crate) fn open(path: PathBuf, bytes_max: u64, visits: u64) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        let mut file = open_in_place(&mut options, &path).map_err(|source| io(&path, source))?;
        let (bytes, last) = find_end(&mut file).map_err(|source| io(&path, source))?;
        let last = if bytes == 0 {
            last_rotated(&path)
        } else {
            last
        };
        let last = last.min(visits);
        file.set_len(bytes).map_err(|source| io(&path, source))?;
        file.seek(SeekFrom::End(0))
            .map_err(|source| io(&path, source))?;
        let file = BufWriter::with_capacity(64 << 10, file);
        Ok(Self {
            path,
            file,
            bytes,
            bytes_max,
            last,
        })
    }

    /// Adds a visit, unless it is there already.
    pub(crate) fn add(&mut self, visit: &Visit) -> Result<(), StoreError> {
        if visit.number <= self.last {
            return Ok(());
        }
        let mut line = serde_json::to_vec(&LogLine::new(visit)).expect("a log line is plain data");
        line.push(b'\n');
        self.file
            .write_all(&line)
            .map_err(|source| io(&self.path, source))?;
        self.bytes += line.len() as u64;
        self.last = visit.number;
        Ok(())
    }

    /// Hands everything to the system, and rotates a log that has grown large.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.file.flush().map_err(|source| io(&self.path, source))?;
        if self.bytes < self.bytes_max {
            return Ok(());
        }
        let rotated = self
            .path
            .with_file_name(format!("log-{:012}.jsonl", self.last));
        std::fs::rename(&self.path, &rotated).map_err(|source| io(&rotated, source))?;
        *self = Self::open(self.path.clone(), self.bytes_max, self.last)?;
        Ok(())
    }
}

/// The last visit of the newest rotated log, from its name.
fn last_rotated(path: &Path) -> u64 {
    let siblings = path.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    // A folder that cannot be listed has no rotated logs to repeat.
    let names = siblings.into_iter().flatten().filter_map(Result::ok);
    let number = |name: &str| {
        name.strip_prefix("log-")?
            .strip_suffix(".jsonl")?
            .parse()
            .ok()
    };
    let numbers = names.filter_map(|entry| number(entry.file_name().to_str()?));
    numbers.max().unwrap_or(0)
}

fn io(path: &Path, source: std::io::Error) -> StoreError {
    StoreError::from_io("write", path, source)
}

/// Where the last whole line ends, and the number it carries.
fn find_end(file: &mut File) -> std::io::Result<(u64, u64)> {
    const TAIL: u64 = 64 << 10;
    let len = file.seek(SeekFrom::End(0))?;
    let from = len.saturating_sub(TAIL);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = vec![0; (len - from) as usize];
    file.read_exact(&mut tail)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else {
        return Ok((from, 0));
    };
    let begin = tail[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let number = serde_json::from_slice::<serde_json::Value>(&tail[begin..end])
        .ok()
        .and_then(|line| line.get("n")?.as_u64());
    // A line that cannot be read is left; numbering then starts from the rows.
    Ok((from + end as u64 + 1, number.unwrap_or(0)))
}
