//! The end of the log, read back when it is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_store::{StoreError, open_regular};
use serde::Deserialize;

use super::{Numbered, io as io_error};
use crate::log_reader::files_in;

/// Bytes read at once.
const BLOCK: u64 = 64 << 10;
/// Lines are looked at that are older by this than the visits looked for: a line has the
/// time its visit began, and is written when the visit is committed.
const OLDER: Duration = Duration::from_hours(1);
/// Lines that are looked at whatever their time: the clock may have been set.
const LINES_LEAST: u64 = 1_000;

/// Where the last whole line ends.
pub(super) struct End {
    pub(super) bytes: u64,
    /// Its number; 0 if there is none.
    pub(super) line: u64,
}

/// What is read of a line.
#[derive(Deserialize)]
struct Line {
    n: u64,
    p: Option<u16>,
    /// The number of the line, where it is not that of the visit.
    #[serde(rename = "line")]
    own: Option<u64>,
    time: Option<String>,
}

/// Finds the end of a file of the log.
pub(super) fn find_end(file: &mut File) -> io::Result<End> {
    let len = file.seek(SeekFrom::End(0))?;
    let from = len.saturating_sub(BLOCK);
    let tail = read_at(file, from, len)?;
    let Some(end) = tail.iter().rposition(|byte| *byte == b'\n') else {
        return Ok(End {
            bytes: from,
            line: 0,
        });
    };
    let begin = tail[..end]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let line = serde_json::from_slice::<Line>(&tail[begin..end]).ok();
    Ok(End {
        bytes: from + end as u64 + 1,
        // A line that cannot be read is left; numbering then starts from the rows.
        line: line.map_or(0, |line| line.own.unwrap_or(line.n)),
    })
}

/// The number of the last visit in the log, for each partition. Where visits are in no
/// segment yet, the log is read back to the last line of their partition, or to a line
/// that is older than all of them.
pub(super) fn last_numbers(
    path: &Path,
    numbered: &[Numbered],
) -> Result<BTreeMap<Option<u16>, u64>, StoreError> {
    let mut last: BTreeMap<Option<u16>, u64> = BTreeMap::new();
    let mut wanted = BTreeSet::new();
    let mut oldest: Option<Timestamp> = None;
    for one in numbered {
        if let Some(since) = one.loose_since {
            wanted.insert(one.partition);
            oldest = Some(oldest.map_or(since, |oldest| oldest.min(since)));
            last.insert(one.partition, 0);
        } else {
            last.insert(one.partition, one.last);
        }
    }
    let Some(oldest) = oldest else {
        return Ok(last);
    };
    let mut looked = 0;
    let mut look = |line: &[u8]| {
        let Ok(line) = serde_json::from_slice::<Line>(line) else {
            return true;
        };
        if wanted.remove(&line.p) {
            last.insert(line.p, line.n);
        }
        looked += 1;
        let time = line.time.as_deref().and_then(Timestamp::parse_rfc3339);
        let is_older = time.is_some_and(|time| oldest.since(time) > OLDER);
        !wanted.is_empty() && (looked < LINES_LEAST || !is_older)
    };
    let root = path.parent().unwrap_or(Path::new("."));
    for path in files_in(root, path.to_owned())?.iter().rev() {
        let file = match open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(io_error(path, error)),
        };
        if !each_line_back(file, &mut look).map_err(|error| io_error(path, error))? {
            break;
        }
    }
    for one in numbered {
        // More than are known belong to a frontier that was deleted.
        let last = last.entry(one.partition).or_default();
        *last = one.last.min(*last);
    }
    Ok(last)
}

/// Calls `each` for the whole lines of a file, the last one first, while it says so.
/// Whether it was called for all.
fn each_line_back(mut file: File, mut each: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut at = file.seek(SeekFrom::End(0))?;
    // What was read of a line that begins further ahead, and at first a torn line.
    let mut rest = Vec::new();
    let mut is_torn = true;
    while at > 0 {
        let from = at.saturating_sub(BLOCK);
        let mut block = read_at(&mut file, from, at)?;
        block.append(&mut rest);
        at = from;
        if is_torn {
            let Some(end) = block.iter().rposition(|byte| *byte == b'\n') else {
                rest = block;
                continue;
            };
            block.truncate(end + 1);
            is_torn = false;
        }
        let first_end = block.iter().position(|byte| *byte == b'\n');
        let begin = match first_end {
            _ if from == 0 => 0,
            Some(end) => end + 1,
            None => block.len(),
        };
        let lines = block[begin..].split(|byte| *byte == b'\n').rev();
        for line in lines.filter(|line| !line.is_empty()) {
            if !each(line) {
                return Ok(false);
            }
        }
        block.truncate(begin);
        rest = block;
    }
    Ok(true)
}

fn read_at(file: &mut File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; (to - from) as usize];
    file.seek(SeekFrom::Start(from))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_come_back_whole_whatever_their_length() {
        let mut file = tempfile::tempfile().unwrap();
        let lines: Vec<String> = (0..40)
            .map(|n| n.to_string().repeat(n * n * 7 + 1))
            .collect();
        file.write_all((lines.join("\n") + "\ntorn").as_bytes())
            .unwrap();
        let mut found = Vec::new();
        let all = each_line_back(file, |line| {
            found.push(String::from_utf8(line.to_vec()).unwrap());
            true
        });
        assert!(all.unwrap());
        found.reverse();
        assert_eq!(found, lines);
    }
}
