//! One stored record, by the place its visit names.
//!
//! A visit says in which file, where and how long its capture is; this reads
//! that one record, without the rest of the file. The reader is the strict one
//! of [`warc`](crate::warc), so damage is noticed, not handed on.

use std::io;

use geomi_model::Capture;

use crate::warc::{ReadError, RecordInfo, WarcReader};
use crate::{CrawlDir, StoreError};

/// A record in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredRecord {
    /// Its WARC header.
    pub info: RecordInfo,
    /// Its block: for a response the HTTP header and the body as received, for
    /// a revisit the HTTP header.
    pub block: Vec<u8>,
    /// Whether the block was longer than the bound and was cut there.
    pub truncated: bool,
}

/// Reads the WARC header of a capture and nothing of its content.
pub fn read_info(dir: &CrawlDir, capture: &Capture) -> Result<Option<RecordInfo>, ReadError> {
    open(dir, capture)?.next_record()
}

/// Reads a capture with at most `bytes_max` of its block; `None` where the file
/// ends before it.
pub fn read(
    dir: &CrawlDir,
    capture: &Capture,
    bytes_max: usize,
) -> Result<Option<StoredRecord>, ReadError> {
    let mut reader = open(dir, capture)?;
    let Some(info) = reader.next_record()? else {
        return Ok(None);
    };
    let announced = usize::try_from(info.content_length).unwrap_or(usize::MAX);
    let mut block = vec![0; announced.min(bytes_max)];
    let mut filled = 0;
    while filled < block.len() {
        match reader.read_block(&mut block[filled..])? {
            0 => break,
            len => filled += len,
        }
    }
    block.truncate(filled);
    let truncated = announced > bytes_max;
    if !truncated {
        // Checks the end of the record; one that was cut is not read to it.
        reader.finish_record()?;
    }
    Ok(Some(StoredRecord {
        info,
        block,
        truncated,
    }))
}

fn open(dir: &CrawlDir, capture: &Capture) -> Result<WarcReader, ReadError> {
    let open = || WarcReader::open_at(&dir.warc_file(&capture.file), capture.offset);
    match open() {
        // A file that is being written may get its last name in between.
        Err(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(open()?)
        }
        opened => Ok(opened?),
    }
}
