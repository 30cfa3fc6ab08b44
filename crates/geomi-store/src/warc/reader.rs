//! Reading WARC files back, member by member, under bounds.
//!
//! The reader is strict: it accepts what our writer writes, so that any other
//! byte is noticed. Content is streamed; only a record's header is held, and
//! that is bounded.
//!
//! The order of calls is [`WarcReader::next_record`], any number of
//! [`WarcReader::read_block`], [`WarcReader::finish_record`] (or the next
//! `next_record`, which finishes for you). After an error the place of the next
//! record is unknown, and the reader stays at its end; [`WarcReader::open_behind`] looks
//! for it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::gzip::HEADER;
use crate::{StoreError, open_regular};

/// A WARC header longer than this is not one of ours.
const HEADER_BYTES_MAX: usize = 64 << 10;
const CHUNK_BYTES: usize = 32 << 10;

/// Why a record could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The system could not give us the bytes.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bytes are not what was written.
    #[error("{} is damaged at {offset}: {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the damaged record starts.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// The member does not start as our members do.
    #[error("not a gzip header of ours")]
    GzipHeader,
    /// The compressed data makes no sense.
    #[error("broken compressed data")]
    Deflate,
    /// The data does not have the checksum or length the member states.
    #[error("wrong checksum")]
    Checksum,
    /// The file ends inside the record.
    #[error("the file ends inside a record")]
    Torn,
    /// The header is no WARC header.
    #[error("not a WARC header")]
    WarcHeader,
    /// The content is shorter or longer than Content-Length.
    #[error("wrong Content-Length")]
    ContentLength,
}

/// Header of a record, and where it lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordInfo {
    /// Where its member starts.
    pub offset: u64,
    /// Name and value of each field, in order.
    pub fields: Vec<(String, String)>,
    /// Bytes of its block.
    pub content_length: u64,
}

impl RecordInfo {
    /// Value of a field, by its name in any case.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// `response`, `request`, …
    pub fn kind(&self) -> &str {
        self.field("WARC-Type").unwrap_or("")
    }

    fn parse(offset: u64, header: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(header).ok()?;
        let mut lines = text.strip_prefix("WARC/1.1\r\n")?.split("\r\n");
        let fields: Vec<(String, String)> = lines
            .by_ref()
            .take_while(|line| !line.is_empty())
            .map(|line| {
                let (name, value) = line.split_once(": ")?;
                Some((name.to_owned(), value.to_owned()))
            })
            .collect::<Option<_>>()?;
        let mut info = Self {
            offset,
            fields,
            content_length: 0,
        };
        info.content_length = info.field("Content-Length")?.parse().ok()?;
        Some(info)
    }
}

/// Reads the records of one `.warc.gz` in order.
pub struct WarcReader {
    path: PathBuf,
    state: State,
    /// Where the current record starts, or the next one will.
    offset: u64,
}

enum State {
    Between(Counted),
    Inside(Member),
    /// The end was reached, or an error met.
    Over,
}

impl WarcReader {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_at(path, 0)
    }

    /// Opens a file at a record that is known to start there.
    pub fn open_at(path: &Path, offset: u64) -> Result<Self, StoreError> {
        let file = open_regular(path).map_err(StoreError::io("open", path))?;
        Self::of_file(path, file, offset)
    }

    /// Reads an open file from a record that is known to start there.
    pub(super) fn of_file(path: &Path, mut file: File, offset: u64) -> Result<Self, StoreError> {
        file.seek(SeekFrom::Start(offset))
            .map_err(StoreError::io("read", path))?;
        Ok(Self {
            path: path.to_owned(),
            state: State::Between(Counted {
                input: BufReader::with_capacity(64 << 10, file),
                count: offset,
            }),
            offset,
        })
    }

    /// Opens a damaged file at the first record behind `offset` whose header can be read;
    /// `None` if there is none.
    ///
    /// It is found by the bytes with which our gzip members begin. If the damaged record
    /// itself contains a WARC file, a record of that one may be found.
    pub fn open_behind(path: &Path, offset: u64) -> Result<Option<Self>, StoreError> {
        let mut from = offset + 1;
        while let Some(found) = find_member(path, from)? {
            match Self::open_at(path, found)?.next_record() {
                Ok(Some(_)) => return Self::open_at(path, found).map(Some),
                Err(ReadError::Store(error)) => return Err(error),
                Ok(None) | Err(ReadError::Damaged { .. }) => from = found + 1,
            }
        }
        Ok(None)
    }

    /// The next record's header; `None` at the end of the file.
    pub fn next_record(&mut self) -> Result<Option<RecordInfo>, ReadError> {
        if let State::Inside(_) = self.state {
            self.finish_record()?;
        }
        let State::Between(input) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(None);
        };
        let offset = self.offset;
        match Member::begin(input).map_err(|fault| self.error(fault))? {
            None => Ok(None),
            Some(mut member) => {
                let info = member.header(offset).map_err(|fault| self.error(fault))?;
                self.state = State::Inside(member);
                Ok(Some(info))
            }
        }
    }

    /// Reads on in the current record's block; 0 at its end.
    pub fn read_block(&mut self, out: &mut [u8]) -> Result<usize, ReadError> {
        let State::Inside(member) = &mut self.state else {
            return Ok(0);
        };
        match member.read_block(out) {
            Ok(len) => Ok(len),
            Err(fault) => {
                self.state = State::Over;
                Err(self.error(fault))
            }
        }
    }

    /// Reads the rest of the current record and checks its end; returns its
    /// compressed length.
    pub fn finish_record(&mut self) -> Result<u64, ReadError> {
        let State::Inside(member) = std::mem::replace(&mut self.state, State::Over) else {
            return Ok(0);
        };
        let input = member.finish().map_err(|fault| self.error(fault))?;
        let length = input.count - self.offset;
        self.offset = input.count;
        self.state = State::Between(input);
        Ok(length)
    }

    fn error(&self, fault: Fault) -> ReadError {
        match fault {
            Fault::Io(source) => StoreError::io("read", &self.path)(source).into(),
            Fault::Damage(damage) => ReadError::Damaged {
                path: self.path.clone(),
                offset: self.offset,
                damage,
            },
        }
    }
}

/// Where the first member at or behind `from` seems to begin.
fn find_member(path: &Path, from: u64) -> Result<Option<u64>, StoreError> {
    let failed = |error| StoreError::from_io("read", path, error);
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut chunk = vec![0; CHUNK_BYTES];
    let (mut seen, mut start) = (Vec::new(), from);
    loop {
        let len = file.read(&mut chunk).map_err(failed)?;
        if len == 0 {
            return Ok(None);
        }
        seen.extend_from_slice(&chunk[..len]);
        let mut windows = seen.windows(HEADER.len());
        if let Some(at) = windows.position(|window| window == HEADER) {
            return Ok(Some(start + at as u64));
        }
        // A header may begin in this chunk and end in the next one.
        let passed = seen.len().saturating_sub(HEADER.len() - 1);
        seen.drain(..passed);
        start += passed as u64;
    }
}

enum Fault {
    Io(io::Error),
    Damage(Damage),
}

impl From<Damage> for Fault {
    fn from(damage: Damage) -> Self {
        Self::Damage(damage)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damage(Damage::Torn),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Damage(Damage::Deflate)
            }
            _ => Self::Io(error),
        }
    }
}

/// One gzip member being read: what is inflated but not handed out, and what
/// its checksum is so far.
struct Member {
    inflate: DeflateDecoder<Counted>,
    crc: Crc,
    buffer: Vec<u8>,
    at: usize,
    block_left: u64,
}

impl Member {
    fn begin(mut input: Counted) -> Result<Option<Self>, Fault> {
        if input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut header = [0; HEADER.len()];
        input.read_exact(&mut header)?;
        if header != HEADER {
            return Err(Damage::GzipHeader.into());
        }
        Ok(Some(Self {
            inflate: DeflateDecoder::new(input),
            crc: Crc::new(),
            buffer: Vec::new(),
            at: 0,
            block_left: 0,
        }))
    }

    fn header(&mut self, offset: u64) -> Result<RecordInfo, Fault> {
        let mut searched = 0;
        let end = loop {
            let found = self.buffer[searched..]
                .windows(4)
                .position(|window| window == b"\r\n\r\n");
            if let Some(found) = found {
                break searched + found + 4;
            }
            searched = self.buffer.len().saturating_sub(3);
            if self.buffer.len() > HEADER_BYTES_MAX || self.inflate_more()? == 0 {
                return Err(Damage::WarcHeader.into());
            }
        };
        let info = RecordInfo::parse(offset, &self.buffer[..end]).ok_or(Damage::WarcHeader)?;
        self.at = end;
        self.block_left = info.content_length;
        Ok(info)
    }

    fn read_block(&mut self, out: &mut [u8]) -> Result<usize, Fault> {
        if self.block_left == 0 || out.is_empty() {
            return Ok(0);
        }
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
            if self.inflate_more()? == 0 {
                return Err(Damage::ContentLength.into());
            }
        }
        let ready = &self.buffer[self.at..];
        let len = ready
            .len()
            .min(out.len())
            .min(usize::try_from(self.block_left).unwrap_or(usize::MAX));
        out[..len].copy_from_slice(&ready[..len]);
        self.at += len;
        self.block_left -= len as u64;
        Ok(len)
    }

    /// Checks that the block is followed by two line ends and the member's
    /// checksum, and by nothing else.
    fn finish(mut self) -> Result<Counted, Fault> {
        let mut skipped = [0; 4096];
        while self.read_block(&mut skipped)? > 0 {}
        while self.buffer.len() - self.at <= 4 {
            if self.inflate_more()? == 0 {
                break;
            }
        }
        if &self.buffer[self.at..] != b"\r\n\r\n" {
            return Err(Damage::ContentLength.into());
        }
        let mut input = self.inflate.into_inner();
        let mut trailer = [0; 8];
        input.read_exact(&mut trailer)?;
        let stated = u64::from_le_bytes(trailer);
        if stated != u64::from(self.crc.amount()) << 32 | u64::from(self.crc.sum()) {
            return Err(Damage::Checksum.into());
        }
        Ok(input)
    }

    fn inflate_more(&mut self) -> Result<usize, Fault> {
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK_BYTES, 0);
        let len = self.inflate.read(&mut self.buffer[filled..]);
        self.buffer.truncate(filled + *len.as_ref().unwrap_or(&0));
        let len = len?;
        self.crc.update(&self.buffer[filled..]);
        Ok(len)
    }
}

/// Input that knows how much of it was used.
struct Counted {
    input: BufReader<File>,
    count: u64,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(out)?;
        self.count += len as u64;
        Ok(len)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.input.consume(len);
        self.count += len as u64;
    }
}
