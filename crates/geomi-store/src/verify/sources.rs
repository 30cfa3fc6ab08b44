//! The three sources that must agree, each read once from start to end.

use std::path::{Path, PathBuf};

use geomi_model::{CaptureKind, Digest, Visit};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::tally::{Claim, Tally, hash64};
use super::{Problem, VerifyReport};
use crate::cdxj::{self, Entry, LineReader};
use crate::segment::{self, Segment};
use crate::visits::read_visits;
use crate::warc::{Damage, ReadError, RecordInfo, WarcReader, payload_start};
use crate::{CrawlDir, StoreError};

/// An HTTP header longer than this was never fetched.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// Index parts read at once. More wait only in directories of versions that merged
/// them at the end, where no line is in two of them.
const FILES_OPEN_MAX: usize = 512;

/// Reads the records of one WARC file.
pub(super) struct RecordPass<'a> {
    path: &'a Path,
    /// Its name without `.open`, by which others refer to it.
    file: &'a str,
}

impl<'a> RecordPass<'a> {
    pub(super) fn new(path: &'a Path, file: &'a str) -> Self {
        Self { path, file }
    }

    pub(super) fn run(
        &self,
        report: &mut VerifyReport,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        report.counts.warc_files += 1;
        let mut reader = WarcReader::open(self.path)?;
        let mut is_first = true;
        loop {
            match self.check_record(&mut reader, is_first, report) {
                Ok(None) => break,
                Ok(Some((claim, length))) => {
                    report.counts.warc_bytes += length;
                    if let Some(claim) = claim {
                        tally.add_record(&claim);
                    }
                }
                Err(ReadError::Store(error)) => return Err(error),
                Err(ReadError::Damaged { offset, damage, .. }) => {
                    self.damaged(offset, damage, report);
                    match WarcReader::open_behind(self.path, offset)? {
                        Some(behind) => reader = behind,
                        None => break,
                    }
                }
            }
            is_first = false;
        }
        Ok(())
    }

    fn damaged(&self, offset: u64, damage: Damage, report: &mut VerifyReport) {
        report.add(Problem::RecordDamaged {
            path: self.path.to_owned(),
            offset,
            damage,
        });
    }

    /// Reads one record; gives its length, and a claim if it is a capture.
    fn check_record(
        &self,
        reader: &mut WarcReader,
        is_first: bool,
        report: &mut VerifyReport,
    ) -> Result<Option<(Option<Claim>, u64)>, ReadError> {
        let Some(info) = reader.next_record()? else {
            return Ok(None);
        };
        let digest = match info.kind() {
            "response" => Some(block_digest(reader)?),
            _ => None,
        };
        let length = reader.finish_record()?;
        let claim = record_claim(self.file, &info, length);
        let unexpected = match info.kind() {
            "warcinfo" if is_first => None,
            "warcinfo" => Some("a warcinfo record that is not the first"),
            _ if is_first => Some("the first record is not warcinfo"),
            "request" if info.field("WARC-Concurrent-To").is_none() => {
                Some("a request without its answer")
            }
            "response" | "revisit" if claim.is_none() => Some("a capture lacks a field"),
            "request" | "response" | "revisit" => None,
            _ => Some("a kind of record we do not write"),
        };
        if let Some(reason) = unexpected {
            report.add(Problem::RecordUnexpected {
                path: self.path.to_owned(),
                offset: info.offset,
                reason,
            });
        }
        count_record(&info, report);
        let stated = info.field("WARC-Payload-Digest").and_then(Digest::parse);
        if digest.is_some() && digest != stated {
            report.add(Problem::WrongDigest {
                path: self.path.to_owned(),
                offset: info.offset,
            });
        }
        Ok(Some((claim, length)))
    }
}

fn count_record(info: &RecordInfo, report: &mut VerifyReport) {
    match info.kind() {
        "response" => report.counts.responses += 1,
        "revisit" => report.counts.revisits += 1,
        "request" => report.counts.requests += 1,
        _ => {}
    }
}

/// What a capture's record says of itself; `None` for other records.
pub(super) fn record_claim(file: &str, info: &RecordInfo, length: u64) -> Option<Claim> {
    let is_revisit = match info.kind() {
        "response" => false,
        "revisit" => true,
        _ => return None,
    };
    let date = info.field("WARC-Date")?;
    Some(Claim {
        file: file.to_owned(),
        offset: info.offset,
        length,
        url: info.field("WARC-Target-URI")?.to_owned(),
        timestamp: date.chars().filter(char::is_ascii_digit).collect(),
        digest: info.field("WARC-Payload-Digest")?.to_owned(),
        is_revisit,
    })
}

/// SHA-1 of what follows the HTTP header in the current record.
fn block_digest(reader: &mut WarcReader) -> Result<Digest, ReadError> {
    let mut sha1 = Sha1::new();
    let mut head = Vec::new();
    let mut is_payload = false;
    let mut chunk = vec![0; 32 << 10];
    loop {
        let len = reader.read_block(&mut chunk)?;
        if len == 0 {
            return Ok(Digest(sha1.finalize().into()));
        }
        if is_payload {
            sha1.update(&chunk[..len]);
            continue;
        }
        head.extend_from_slice(&chunk[..len]);
        if let Some(start) = payload_start(&head) {
            sha1.update(&head[start..]);
            is_payload = true;
        } else if head.len() > HEAD_BYTES_MAX {
            // No header was ever this long; the digest will not match.
            is_payload = true;
        }
    }
}

/// Reads the tables of visits.
pub(super) struct VisitRows<'a> {
    dir: &'a CrawlDir,
}

impl<'a> VisitRows<'a> {
    pub(super) fn new(dir: &'a CrawlDir) -> Self {
        Self { dir }
    }

    pub(super) fn check(
        &self,
        report: &mut VerifyReport,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        let segments = segment::list(self.dir)?;
        let mut numbered = 0;
        for segments in segments.chunk_by(|one, next| one.partition == next.partition) {
            numbered += self.check_partition(segments, report, tally)?;
        }
        let has_partitions = segments.iter().any(|one| one.partition.is_some());
        if has_partitions && !report.awaits_more() {
            check_count(self.dir, numbered, report);
        }
        Ok(())
    }

    /// Checks the tables of one partition; returns its last number.
    fn check_partition(
        &self,
        segments: &[Segment],
        report: &mut VerifyReport,
        tally: &mut Tally,
    ) -> Result<u64, StoreError> {
        let mut numbers = Numbers {
            partition: segments[0].partition,
            next: 1,
        };
        for segment in segments {
            let path = segment.table(self.dir);
            numbers.reach(segment.first, report);
            let done = each_row(&path, report, |visit, report| {
                numbers.check(&visit, &path, report);
                report.counts.visits += 1;
                if let Some((claim, line)) = visit_claim(&visit) {
                    report.counts.captured += 1;
                    tally.add_visit(&claim, line);
                }
            })?;
            if done {
                numbers.reach(segment.last + 1, report);
            }
            numbers.next = numbers.next.max(segment.last + 1);
        }
        Ok(numbers.next - 1)
    }

    /// Calls `each` for every visit that has a capture; what cannot be read was
    /// reported before.
    pub(super) fn each_capture(
        &self,
        mut each: impl FnMut(Option<u16>, &Visit, Claim, u64),
    ) -> Result<(), StoreError> {
        for segment in segment::list(self.dir)? {
            let path = segment.table(self.dir);
            each_row(&path, &mut VerifyReport::default(), |visit, _| {
                if let Some((claim, line)) = visit_claim(&visit) {
                    each(segment.partition, &visit, claim, line);
                }
            })?;
        }
        Ok(())
    }
}

/// The numbers of one partition's visits.
struct Numbers {
    partition: Option<u16>,
    /// The one that should come next.
    next: u64,
}

impl Numbers {
    fn check(&mut self, visit: &Visit, path: &Path, report: &mut VerifyReport) {
        if visit.number < self.next {
            report.add(Problem::VisitRepeated {
                path: path.to_owned(),
                number: visit.number,
            });
            return;
        }
        self.reach(visit.number, report);
        self.next = visit.number + 1;
    }

    /// Reports what is missing before `number`, if anything is.
    fn reach(&mut self, number: u64, report: &mut VerifyReport) {
        if number > self.next {
            report.add(Problem::VisitsMissing {
                partition: self.partition,
                first: self.next,
                last: number - 1,
            });
            self.next = number;
        }
    }
}

/// Compares the last numbers of all partitions, added up, with what the crawl counted.
/// There may be more visits than were counted, because counters begin anew where
/// `frontier/` was deleted.
fn check_count(dir: &CrawlDir, numbered: u64, report: &mut VerifyReport) {
    // A crawl without this file is sound as well.
    let status = std::fs::read(dir.status()).unwrap_or_default();
    let status: Value = serde_json::from_slice(&status).unwrap_or_default();
    let counted = status["counters"]["visits"].as_u64().unwrap_or(0);
    if status["state"] == "done" && counted > numbered {
        report.add(Problem::VisitsUncounted { counted, numbered });
    }
}

/// Whether the table could be read to its end.
fn each_row(
    path: &Path,
    report: &mut VerifyReport,
    mut each: impl FnMut(Visit, &mut VerifyReport),
) -> Result<bool, StoreError> {
    let rows = match read_visits(path) {
        Ok(rows) => rows,
        Err(error) => return unreadable(path, error, report).map(|()| false),
    };
    for row in rows {
        match row {
            Ok(visit) => each(visit, report),
            Err(error) => return unreadable(path, error, report).map(|()| false),
        }
    }
    Ok(true)
}

/// Damage becomes a problem; what the system refuses stays an error.
fn unreadable(path: &Path, error: StoreError, report: &mut VerifyReport) -> Result<(), StoreError> {
    let reason = match error {
        StoreError::Table { source, .. } => source.to_string(),
        StoreError::Damaged { reason, .. } => reason,
        error => return Err(error),
    };
    report.add(Problem::FileUnreadable {
        path: path.to_owned(),
        reason,
    });
    Ok(())
}

fn visit_claim(visit: &Visit) -> Option<(Claim, u64)> {
    let capture = visit.capture.as_ref()?;
    let line = cdxj::line(visit)?;
    let claim = Claim {
        file: capture.file.clone(),
        offset: capture.offset,
        length: capture.length,
        url: visit.url.to_string(),
        timestamp: visit.time.to_compact(),
        digest: visit.digest.map(|d| d.to_string()).unwrap_or_default(),
        is_revisit: capture.kind == CaptureKind::Revisit,
    };
    Some((claim, hash64(&line.as_bytes())))
}

/// Reads the index, and the parts that are not merged into it yet.
pub(super) struct IndexLines<'a> {
    dir: &'a CrawlDir,
}

impl<'a> IndexLines<'a> {
    pub(super) fn new(dir: &'a CrawlDir) -> Self {
        Self { dir }
    }

    pub(super) fn check(
        &self,
        report: &mut VerifyReport,
        tally: &mut Tally,
    ) -> Result<(), StoreError> {
        let index = self.dir.cdxj();
        if !index.exists() && !report.awaits_more() && report.counts.warc_files > 0 {
            report.add(Problem::IndexMissing { path: index });
        }
        for path in self.files()? {
            if path != self.dir.cdxj() && !report.awaits_more() {
                report.add(Problem::LeftUnmerged { path: path.clone() });
            }
            let mut above = Vec::new();
            each_line(&path, report, |number, line, report| {
                if above.as_slice() > line {
                    report.add(Problem::LineUnsorted {
                        path: path.clone(),
                        line: number,
                    });
                }
                line.clone_into(&mut above);
                if line_claim(line).is_none() {
                    report.add(Problem::LineUnreadable {
                        path: path.clone(),
                        line: number,
                    });
                }
            })?;
        }
        self.each_line_once(|line| {
            report.counts.index_lines += 1;
            if let Some(claim) = line_claim(line) {
                tally.add_line(&claim, hash64(&line));
            }
        })
    }

    /// Calls `each` for every readable line.
    pub(super) fn each_claim(&self, mut each: impl FnMut(Claim, u64)) -> Result<(), StoreError> {
        self.each_line_once(|line| {
            if let Some(claim) = line_claim(line) {
                each(claim, hash64(&line));
            }
        })
    }

    /// Calls `each` for every line. One that is in a part and, already merged, in the
    /// index counts once; what cannot be read was reported before.
    fn each_line_once(&self, mut each: impl FnMut(&[u8])) -> Result<(), StoreError> {
        let files = self.files()?;
        if (2..=FILES_OPEN_MAX).contains(&files.len()) {
            let mut merged = cdxj::Merged::open(&files)?;
            while let Ok(Some(line)) = merged.next_line() {
                each(&line);
            }
            return Ok(());
        }
        for path in files {
            each_line(&path, &mut VerifyReport::default(), |_, line, _| each(line))?;
        }
        Ok(())
    }

    fn files(&self) -> Result<Vec<PathBuf>, StoreError> {
        let index = self.dir.cdxj();
        let mut files = Vec::new();
        if index.exists() {
            files.push(index);
        }
        let parts = segment::parts(self.dir)?;
        files.extend(parts.into_iter().map(|part| part.index_part(self.dir)));
        Ok(files)
    }
}

fn each_line(
    path: &Path,
    report: &mut VerifyReport,
    mut each: impl FnMut(u64, &[u8], &mut VerifyReport),
) -> Result<(), StoreError> {
    let mut lines = LineReader::open(path)?;
    let mut number = 0;
    loop {
        match lines.next_line() {
            Ok(Some(line)) => {
                number += 1;
                each(number, &line, report);
            }
            Ok(None) => return Ok(()),
            Err(error) => return unreadable(path, error, report),
        }
    }
}

fn line_claim(line: &[u8]) -> Option<Claim> {
    let Entry {
        timestamp, fields, ..
    } = Entry::parse(std::str::from_utf8(line).ok()?)?;
    Some(Claim {
        file: fields.filename,
        offset: fields.offset.parse().ok()?,
        length: fields.length.parse().ok()?,
        url: fields.url,
        timestamp,
        digest: fields.digest.unwrap_or_default(),
        is_revisit: fields.mime.as_deref() == Some("warc/revisit"),
    })
}
