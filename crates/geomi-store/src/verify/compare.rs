//! The closer look at one WARC file about which the sources do not agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sources::{IndexLines, VisitRows, record_claim};
use super::tally::{Claim, hash64};
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
    partition: Option<u16>,
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
    collect_records(&path, file, &mut places)?;
    VisitRows::new(dir).each_capture(|partition, visit, claim, line| {
        if claim.file == file {
            let place = places.entry(claim.offset).or_default();
            place.is_claimed_twice |= place.visit.is_some();
            place.visit = Some(VisitSays {
                partition,
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
    for (offset, place) in &places {
        place.report(&path, *offset, report);
    }
    Ok(())
}

fn existing(dir: &CrawlDir, file: &str) -> Option<PathBuf> {
    let closed = dir.warc().join(file);
    let open = dir.warc().join(format!("{file}.open"));
    [closed, open].into_iter().find(|path| path.exists())
}

/// Collects the captures of a file. Damaged records, which have been reported, are
/// skipped.
fn collect_records(
    path: &Path,
    file: &str,
    places: &mut BTreeMap<u64, Place>,
) -> Result<(), StoreError> {
    let mut reader = WarcReader::open(path)?;
    loop {
        match next_capture(&mut reader, file) {
            Ok(None) => return Ok(()),
            Ok(Some((offset, claim))) => {
                if let Some(claim) = claim {
                    places.entry(offset).or_default().record = Some(hash64(&claim));
                }
            }
            Err(ReadError::Store(error)) => return Err(error),
            Err(ReadError::Damaged { offset, .. }) => {
                match WarcReader::open_behind(path, offset)? {
                    Some(behind) => reader = behind,
                    None => return Ok(()),
                }
            }
        }
    }
}

/// Reads one record: where it starts, and a claim if it is a capture.
fn next_capture(
    reader: &mut WarcReader,
    file: &str,
) -> Result<Option<(u64, Option<Claim>)>, ReadError> {
    let Some(info) = reader.next_record()? else {
        return Ok(None);
    };
    let length = reader.finish_record()?;
    Ok(Some((info.offset, record_claim(file, &info, length))))
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
        if let Some(VisitSays {
            partition,
            number,
            claim,
            ..
        }) = self.visit
        {
            match self.record {
                None => report.add(Problem::VisitWithoutRecord {
                    partition,
                    number,
                    path: path(),
                    offset,
                }),
                Some(record) if record != claim => report.add(Problem::VisitDisagrees {
                    partition,
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
