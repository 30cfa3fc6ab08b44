//! The index of captures: one line each, sorted, as `cdxj-indexer --sort` writes it.
//!
//! A line is the URL's archive key, the capture's time in 14 digits, and a JSON
//! object. It is made from the visit alone, without reading the record back, and
//! is the same text `cdxj-indexer` prints for the record:
//!
//! * fields in the order url, mime, status, digest, length, offset, filename,
//!   all of them strings, non-ASCII escaped;
//! * a field without a value is left out: an answer without Content-Type has no
//!   `mime`, one with an empty Content-Type has an empty one;
//! * a revisit's `mime` is `warc/revisit`;
//! * robots.txt and redirects are captures like any other.
//!
//! One thing it cannot know: `cdxj-indexer` keeps the case of a Content-Type,
//! a [`Visit`] has it in lower case, and so does our line.
//!
//! Lines are sorted by their bytes. Each segment of visits brings a sorted part;
//! [`merge`] makes one index of many parts in one pass and little memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use geomi_model::{Capture, CaptureKind, Visit};
use geomi_url::surt::surt_key;
use serde::Deserialize;

use crate::{AtomicFile, StoreError, open_regular};

/// A longer line is not one of ours: URLs and types are bounded far below.
const LINE_BYTES_MAX: usize = 1 << 20;

/// The `mime` of a revisit.
const REVISIT: &str = "warc/revisit";

/// The index line of a visit, without its line end; `None` if nothing was captured.
pub fn line(visit: &Visit) -> Option<String> {
    let capture = visit.capture.as_ref()?;
    let mut line = surt_key(visit.url.as_str());
    line.reserve(256);
    line.push(' ');
    line.push_str(&visit.time.to_compact());
    line.push_str(" {\"url\": ");
    push_json(&mut line, visit.url.as_str());
    let mime = match capture.kind {
        CaptureKind::Revisit => Some(REVISIT),
        CaptureKind::Response => visit.mime.as_deref(),
    };
    let mut field = |name: &str, value: &str| {
        line.push_str(", \"");
        line.push_str(name);
        line.push_str("\": ");
        push_json(&mut line, value);
    };
    if let Some(mime) = mime {
        field("mime", mime);
    }
    if let Some(code) = visit.code {
        field("status", &code.to_string());
    }
    if let Some(digest) = visit.digest {
        field("digest", &digest.to_string());
    }
    field("length", &capture.length.to_string());
    field("offset", &capture.offset.to_string());
    field("filename", &capture.file);
    line.push('}');
    Some(line)
}

/// A JSON string in ASCII, with the escapes Python's `json` uses.
fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='\u{7f}' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}").expect("a string takes any write");
                }
            }
        }
    }
    out.push('"');
}

/// A line of the index, read back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Archive key of the URL.
    pub key: String,
    /// Time of the capture, 14 digits.
    pub timestamp: String,
    /// The JSON object.
    pub fields: Fields,
}

/// The JSON object of a line.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Fields {
    /// The captured URL.
    pub url: String,
    /// Media type, or `warc/revisit`.
    pub mime: Option<String>,
    /// HTTP status code.
    pub status: Option<String>,
    /// Payload digest.
    pub digest: Option<String>,
    /// Compressed length of the record.
    pub length: String,
    /// Offset of the record.
    pub offset: String,
    /// Name of the WARC file.
    pub filename: String,
}

impl Entry {
    /// Reads a line.
    pub fn parse(line: &str) -> Option<Self> {
        let (key, rest) = line.split_once(' ')?;
        let (timestamp, json) = rest.split_once(' ')?;
        Some(Self {
            key: key.to_owned(),
            timestamp: timestamp.to_owned(),
            fields: serde_json::from_str(json).ok()?,
        })
    }

    /// Whether it only refers to content stored before.
    pub fn is_revisit(&self) -> bool {
        self.fields.mime.as_deref() == Some(REVISIT)
    }

    /// Where the record lies; `None` if offset or length are no numbers, or the
    /// name leads out of the folder of WARC files.
    pub fn capture(&self) -> Option<Capture> {
        let file = &self.fields.filename;
        let is_name = Path::new(file)
            .file_name()
            .is_some_and(|name| name == &**file);
        is_name.then_some(())?;
        Some(Capture {
            file: file.clone(),
            offset: self.fields.offset.parse().ok()?,
            length: self.fields.length.parse().ok()?,
            kind: if self.is_revisit() {
                CaptureKind::Revisit
            } else {
                CaptureKind::Response
            },
        })
    }
}

/// Writes the sorted lines of `rows` to `path`, atomically.
pub fn write_part(path: &Path, rows: &[Visit]) -> Result<(), StoreError> {
    let mut lines: Vec<String> = rows.iter().filter_map(line).collect();
    lines.sort_unstable();
    let mut out = AtomicFile::create(path)?;
    for line in lines {
        writeln!(out, "{line}").map_err(StoreError::io("write", path))?;
    }
    out.commit()
}

/// Merges sorted files into `out`, atomically; a line that several of them hold
/// is written once. Returns the number of lines. `out` may be one of the inputs.
pub fn merge(inputs: &[PathBuf], out: &Path) -> Result<u64, StoreError> {
    let mut merged = Merged::open(inputs)?;
    let mut file = AtomicFile::create(out)?;
    let mut count = 0;
    while let Some(line) = merged.next_line()? {
        file.write_all(&line)
            .and_then(|()| file.write_all(b"\n"))
            .map_err(StoreError::io("write", out))?;
        count += 1;
    }
    file.commit()?;
    Ok(count)
}

/// The lines of sorted files in one order, each once.
pub(crate) struct Merged {
    readers: Vec<LineReader>,
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    last: Option<Vec<u8>>,
}

impl Merged {
    pub(crate) fn open(inputs: &[PathBuf]) -> Result<Self, StoreError> {
        let mut readers = inputs
            .iter()
            .map(|path| LineReader::open(path))
            .collect::<Result<Vec<_>, _>>()?;
        let mut heads = BinaryHeap::new();
        for (index, reader) in readers.iter_mut().enumerate() {
            if let Some(line) = reader.next_line()? {
                heads.push(Reverse((line, index)));
            }
        }
        Ok(Self {
            readers,
            heads,
            last: None,
        })
    }

    pub(crate) fn next_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        while let Some(Reverse((line, index))) = self.heads.pop() {
            if let Some(next) = self.readers[index].next_line()? {
                self.heads.push(Reverse((next, index)));
            }
            if self.last.as_ref() != Some(&line) {
                self.last = Some(line.clone());
                return Ok(Some(line));
            }
        }
        Ok(None)
    }
}

/// Lines of a file, without their ends, under a bound.
pub(crate) struct LineReader {
    path: PathBuf,
    input: BufReader<File>,
}

impl LineReader {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let file = open_regular(path).map_err(StoreError::io("open", path))?;
        Ok(Self {
            path: path.to_owned(),
            input: BufReader::new(file),
        })
    }

    /// Bytes of the file.
    pub(crate) fn file_len(&self) -> Result<u64, StoreError> {
        let metadata = self.input.get_ref().metadata();
        let metadata = metadata.map_err(StoreError::io("read", &self.path))?;
        Ok(metadata.len())
    }

    /// Goes on reading from there.
    pub(crate) fn go_to(&mut self, offset: u64) -> Result<(), StoreError> {
        let moved = self.input.seek(SeekFrom::Start(offset));
        moved
            .map(|_| ())
            .map_err(StoreError::io("read", &self.path))
    }

    /// The next line; a file that does not end in a line end is damaged.
    pub(crate) fn next_line(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut line = Vec::new();
        let len = (&mut self.input)
            .take(LINE_BYTES_MAX as u64)
            .read_until(b'\n', &mut line)
            .map_err(StoreError::io("read", &self.path))?;
        if len == 0 {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            let reason = "a line has no end or is too long";
            return Err(StoreError::damaged(&self.path, reason));
        }
        Ok(Some(line))
    }
}
