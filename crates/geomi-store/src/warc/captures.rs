//! Single captures, found by what a visit says of them.
//!
//! A [`Capture`] names a file, an offset and a length; its request record lies
//! right behind it. [`Captures`] copies both as the gzip members they are, or
//! hands out what is in the record. Either way the members are read to their
//! checksums first, so that damage is an error here and never a silent copy.
//!
//! A file that a crawl is still writing is found by its name with `.open`.

use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use geomi_model::Capture;

use super::reader::{ReadError, RecordInfo, WarcReader};
use crate::{CrawlDir, StoreError, open_within};

/// Bytes copied at once.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads captures of one crawl directory.
#[derive(Clone, Debug)]
pub struct Captures {
    folder: PathBuf,
}

/// How much was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copied {
    /// Bytes of the members.
    pub bytes: u64,
    /// Whether the capture's request record was there.
    pub has_request: bool,
}

/// A record and its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// The record's header.
    pub info: RecordInfo,
    /// Its content: an HTTP header and, in a response, the body as received.
    pub bytes: Vec<u8>,
    /// Whether it was longer than the reader wanted, and was cut there.
    pub truncated: bool,
}

impl Captures {
    /// Those of a crawl directory.
    pub fn of(dir: &CrawlDir) -> Self {
        Self { folder: dir.warc() }
    }

    /// Copies a capture and its request to `out`, byte for byte; `out` is called
    /// `name` in errors.
    pub fn copy(
        &self,
        capture: &Capture,
        out: &mut impl Write,
        name: &Path,
    ) -> Result<Copied, ReadError> {
        let (path, mut reader) = self.open(capture)?;
        let info = self.expect(&mut reader, capture)?;
        let mut bytes = reader.finish_record()?;
        if bytes != capture.length {
            return Err(disagrees(&path, capture));
        }
        let mut has_request = false;
        if let Some(next) = reader.next_record()?
            && next.kind() == "request"
            && next.field("WARC-Concurrent-To") == info.field("WARC-Record-ID")
        {
            bytes += reader.finish_record()?;
            has_request = true;
        }
        let mut file = open_within(&self.folder, &path).map_err(StoreError::io("open", &path))?;
        file.seek(SeekFrom::Start(capture.offset))
            .map_err(StoreError::io("read", &path))?;
        let mut left = bytes;
        let mut chunk = vec![0; CHUNK_BYTES];
        while left > 0 {
            let len = left.min(CHUNK_BYTES as u64) as usize;
            file.read_exact(&mut chunk[..len])
                .map_err(StoreError::io("read", &path))?;
            out.write_all(&chunk[..len])
                .map_err(StoreError::io("write", name))?;
            left -= len as u64;
        }
        Ok(Copied { bytes, has_request })
    }

    /// Reads the header of a capture's record and nothing of its content.
    pub fn info(&self, capture: &Capture) -> Result<RecordInfo, ReadError> {
        let (_, mut reader) = self.open(capture)?;
        self.expect(&mut reader, capture)
    }

    /// Reads a capture's record with at most `bytes_max` of its content.
    pub fn read(&self, capture: &Capture, bytes_max: usize) -> Result<Block, ReadError> {
        let (_, mut reader) = self.open(capture)?;
        let info = self.expect(&mut reader, capture)?;
        let announced = usize::try_from(info.content_length).unwrap_or(usize::MAX);
        let mut bytes = vec![0; announced.min(bytes_max)];
        let mut filled = 0;
        while filled < bytes.len() {
            match reader.read_block(&mut bytes[filled..])? {
                0 => break,
                len => filled += len,
            }
        }
        bytes.truncate(filled);
        let truncated = announced > bytes_max;
        if !truncated {
            // Checks the end of the record; one that was cut is not read to it.
            reader.finish_record()?;
        }
        Ok(Block {
            info,
            bytes,
            truncated,
        })
    }

    fn open(&self, capture: &Capture) -> Result<(PathBuf, WarcReader), ReadError> {
        let closed = self.folder.join(&capture.file);
        let open = self.folder.join(format!("{}.open", capture.file));
        // A file may be closed between two looks: the last look is at the name
        // it has then.
        for path in [&closed, &open] {
            match open_within(&self.folder, path) {
                Ok(file) => {
                    let reader = WarcReader::of_file(path, file, capture.offset)?;
                    return Ok((path.clone(), reader));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(StoreError::io("open", path)(error).into()),
            }
        }
        let file = open_within(&self.folder, &closed).map_err(StoreError::io("open", &closed))?;
        let reader = WarcReader::of_file(&closed, file, capture.offset)?;
        Ok((closed, reader))
    }

    fn expect(&self, reader: &mut WarcReader, capture: &Capture) -> Result<RecordInfo, ReadError> {
        match reader.next_record()? {
            Some(info) if matches!(info.kind(), "response" | "revisit") => Ok(info),
            _ => Err(disagrees(&self.folder.join(&capture.file), capture)),
        }
    }
}

fn disagrees(path: &Path, capture: &Capture) -> ReadError {
    let reason = format!(
        "no capture of {} bytes lies at {}",
        capture.length, capture.offset
    );
    StoreError::damaged(path, reason).into()
}
