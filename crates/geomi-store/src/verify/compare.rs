//! The closer look at one WARC file about which the sources do not agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sources::{IndexLines, VisitRows, record_claim};
use super::tally::hash64;
use super::{Problem, VerifyReport};
use crate::warc::{ReadError, WarcReader};
use crate::{CrawlDir, StoreError};

/// What is known of the place at one offset: hashes of what each source says.
#[derive(Default)]
struct Place {
    record: Option<u64>,
    visit: Option<VisitSays>,
    line: Option<LineSays>,
    is_claimed_twice: bool,
}

struct VisitSays {
    number: u64,
    claim: u64,
    line: u64,
}

struct LineSays {
    claim: u64,
    line: u64,
}

/// Names every difference about `file`.
pub(super) fn compare_file(
    dir: &CrawlDir,
    file: &str,
    report: &mut VerifyReport,
) -> Result<(), StoreError> {
    let Some(path) = existing(dir, file) else {
        report.add(Problem::FileMissing {
            path: dir.warc().join(file),
        });
        return Ok(());
    };
    let mut places: BTreeMap<u64, Place> = BTreeMap::new();
    let readable_end = collect_records(&path, file, &mut places)?;
    VisitRows::new(dir).each_capture(|visit, claim, line| {
        if claim.file == file {
            let place = places.entry(claim.offset).or_default();
            place.is_claimed_twice |= place.visit.is_some();
            place.visit = Some(VisitSays {
                number: visit.number,
                claim: hash64(&claim),
                line,
            });
        }
    })?;
    IndexLines::new(dir).each_claim(|claim, line| {
        if claim.file == file {
            let place = places.entry(claim.offset).or_default();
            place.is_claimed_twice |= place.line.is_some();
            place.line = Some(LineSays {
                claim: hash64(&claim),
                line,
            });
        }
    })?;
    // Behind the damage nothing is known, and the damage has been reported.
    for (offset, place) in places.range(..readable_end) {
        place.report(&path, *offset, report);
    }
    Ok(())
}

fn existing(dir: &CrawlDir, file: &str) -> Option<PathBuf> {
    let closed = dir.warc().join(file);
    let open = dir.warc().join(format!("{file}.open"));
    [closed, open].into_iter().find(|path| path.exists())
}

/// Collects the captures of a file; returns where its readable part ends, or
/// the largest number if it is readable as a whole.
fn collect_records(
    path: &Path,
    file: &str,
    places: &mut BTreeMap<u64, Place>,
) -> Result<u64, StoreError> {
    let mut reader = WarcReader::open(path)?;
    loop {
        let info = match reader.next_record() {
            Ok(Some(info)) => info,
            Ok(None) => return Ok(u64::MAX),
            Err(error) => return damaged_at(error),
        };
        let length = match reader.finish_record() {
            Ok(length) => length,
            Err(error) => return damaged_at(error),
        };
        if let Some(claim) = record_claim(file, &info, length) {
            places.entry(info.offset).or_default().record = Some(hash64(&claim));
        }
    }
}

fn damaged_at(error: ReadError) -> Result<u64, StoreError> {
    match error {
        ReadError::Store(error) => Err(error),
        ReadError::Damaged { offset, .. } => Ok(offset),
    }
}

impl Place {
    fn report(&self, path: &Path, offset: u64, report: &mut VerifyReport) {
        let path = || path.to_owned();
        if self.is_claimed_twice {
            report.add(Problem::ClaimedTwice {
                path: path(),
                offset,
            });
        }
        if let Some(VisitSays { number, claim, .. }) = self.visit {
            match self.record {
                None => report.add(Problem::VisitWithoutRecord {
                    number,
                    path: path(),
                    offset,
                }),
                Some(record) if record != claim => report.add(Problem::VisitDisagrees {
                    number,
                    path: path(),
                    offset,
                }),
                Some(_) => {}
            }
        } else if self.record.is_some() && !report.awaits_more() {
            report.add(Problem::RecordWithoutVisit {
                path: path(),
                offset,
            });
        }
        let Some(line) = &self.line else {
            if self.record.is_some() && !report.awaits_more() {
                report.add(Problem::RecordWithoutLine {
                    path: path(),
                    offset,
                });
            }
            return;
        };
        let made = self.visit.as_ref().map(|visit| visit.line);
        if self.record.is_none() {
            report.add(Problem::LineWithoutRecord {
                path: path(),
                offset,
            });
        } else if self.record != Some(line.claim) || made.is_some_and(|made| made != line.line) {
            report.add(Problem::LineDisagrees {
                path: path(),
                offset,
            });
        }
    }
}
