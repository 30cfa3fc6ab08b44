//! The lines of a list of seeds, one at a time, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;
use geomi_engine::SeedInput;

use super::typed;

/// A line longer than this is no URL.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Bytes read at once.
const BUFFER_BYTES: usize = 64 << 10;
/// How a file compressed with gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The file, behind its first bytes: they were looked at.
type Whole = io::Chain<Cursor<Vec<u8>>, File>;

/// Lines being read.
#[derive(Debug)]
pub(crate) struct Lines {
    input: Input,
    line: Vec<u8>,
    /// Lines read so far.
    number: usize,
}

#[derive(Debug)]
enum Input {
    Plain(BufReader<Whole>),
    Gzip(Box<BufReader<MultiGzDecoder<BufReader<Whole>>>>),
}

impl Input {
    fn reader(&mut self) -> &mut dyn BufRead {
        match self {
            Self::Plain(input) => input,
            Self::Gzip(input) => &mut **input,
        }
    }

    fn buffer(&self) -> &[u8] {
        match self {
            Self::Plain(input) => input.buffer(),
            Self::Gzip(input) => input.buffer(),
        }
    }
}

impl Lines {
    /// Looks at the first bytes instead of the name: standard input has none.
    pub(super) fn open(mut file: File) -> io::Result<Self> {
        let mut start = Vec::new();
        while start.len() < GZIP.len() {
            let mut byte = [0];
            match file.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => start.extend(byte),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let is_gzip = start == GZIP;
        let whole = Cursor::new(start).chain(file);
        let whole = BufReader::with_capacity(BUFFER_BYTES, whole);
        let input = if is_gzip {
            let unpacked = MultiGzDecoder::new(whole);
            let unpacked = BufReader::with_capacity(BUFFER_BYTES, unpacked);
            Input::Gzip(Box::new(unpacked))
        } else {
            Input::Plain(whole)
        };
        Ok(Self {
            input,
            line: Vec::new(),
            number: 0,
        })
    }

    /// Whether the next line may have to be waited for.
    pub(super) fn may_wait(&self) -> bool {
        !self.input.buffer().contains(&b'\n')
    }

    /// The next seed, or why a line is none, with the number of the line; `None`
    /// at the end. Blank lines and comments are passed over.
    pub(super) fn next_seed(&mut self) -> io::Result<Option<(usize, Result<SeedInput, String>)>> {
        loop {
            self.line.clear();
            // One line at a time and never more than the longest: a compressed
            // file cannot fill the memory.
            let mut capped = self.input.reader().take(LINE_BYTES_MAX);
            if capped.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let is_cut = self.line.len() as u64 == LINE_BYTES_MAX && !self.line.ends_with(b"\n");
            if is_cut {
                skip_line(self.input.reader())?;
                return Ok(Some((self.number, Err("the line is too long".to_owned()))));
            }
            if let Some(seed) = read_line(&self.line).transpose() {
                return Ok(Some((self.number, seed)));
            }
        }
    }
}

fn skip_line(lines: &mut dyn BufRead) -> io::Result<()> {
    loop {
        let buffer = lines.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let newline = buffer.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(buffer.len(), |at| at + 1);
        lines.consume(used);
        if newline.is_some() {
            return Ok(());
        }
    }
}

/// A seed, or nothing where the line is blank or a comment.
fn read_line(line: &[u8]) -> Result<Option<SeedInput>, String> {
    let line = str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (url, topic) = match line.split_once('\t') {
        Some((url, topic)) => (
            url.trim(),
            Some(topic.trim()).filter(|topic| !topic.is_empty()),
        ),
        None => (line, None),
    };
    let seed = typed(url).map_err(|what| format!("{url:?}: {what}"))?;
    Ok(Some(SeedInput {
        topic: topic.map(str::to_owned),
        ..seed
    }))
}
